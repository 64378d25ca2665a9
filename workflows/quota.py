"""The quota of one user of the service: who calls as that user leases timed slots here."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.messages import Blocked, LeaseRequest, QuotaStart
    from edgeshift.pace import Lease, SlotBook, block, lease, with_terms
    from workflows.signals import one_message

MOST_EVENTS = 2_000


@workflow.defn(name="Quota")
class Quota:
    """One user's slots, handed out in blocks of about ten seconds (edgeshift/pace.py)."""

    @workflow.init
    def __init__(self, start: QuotaStart) -> None:
        self._start = start
        self._book = start.book or SlotBook(terms=start.terms)

    @workflow.run
    async def run(self, start: QuotaStart) -> None:
        """Hand out slots for good, in a new run now and then."""
        workflow.set_current_details(
            f"rate limit of **{start.user}**: {start.terms.limit} in {start.terms.window:g} s"
        )
        await workflow.wait_condition(self._too_long)
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(QuotaStart(user=start.user, terms=self._book.terms, book=self._book))

    def _too_long(self) -> bool:
        info = workflow.info()
        return info.get_current_history_length() > MOST_EVENTS or info.is_continue_as_new_suggested()

    @workflow.update
    def lease(self, request: LeaseRequest) -> Lease:
        """Slots for a process. The terms of the latest request count for all of the user."""
        now = workflow.now().timestamp()
        self._book = with_terms(self._book, now, request.terms)
        self._book, found = lease(self._book, now, request.holder, request.lane, request.want)
        return found

    @workflow.signal
    @one_message
    def blocked(self, message: Blocked) -> None:
        """The service refuses this user's calls for a while: nobody gets a slot until then."""
        self._book = block(self._book, workflow.now().timestamp(), message.seconds)

    @workflow.query
    def book(self) -> SlotBook:
        """What has been handed out."""
        return self._book
