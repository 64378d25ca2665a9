"""The quota of one user of the service: who calls as that user leases timed slots here."""

from __future__ import annotations

import hashlib
import json

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from edgeshift.messages import (
        HELD,
        AskProbe,
        Blocked,
        Fixed,
        HoldCalls,
        LeaseRequest,
        ProbeTurn,
        QuotaStart,
    )
    from edgeshift.rate_limit.circuit import (
        Circuit,
        Standing,
        closed,
        fresh,
        is_crowded,
        opened,
        probe,
        standing,
        stops,
    )
    from edgeshift.rate_limit.others import Others, keep, reported
    from edgeshift.rate_limit.slots import Lease, SlotBook, begun_again, block, bounded, lease, with_terms
    from edgeshift.rate_limit.terms import PaceTerms
    from workflows.messages import one_message, refuse_nonsense

MOST_EVENTS = 2_000

LONGEST_HOLDER = 100
"""Bytes of a holder's name that are kept as they are. Hundreds of names are kept, several times each."""


@workflow.defn(name="Quota")
class Quota:
    """One user's slots, handed out in blocks of about ten seconds (edgeshift/rate_limit/slots.py), how many
    of them are left to others (edgeshift/rate_limit/others.py), and what is held of the user's calls
    (edgeshift/rate_limit/circuit.py).
    """

    @workflow.init
    def __init__(self, start: QuotaStart) -> None:
        self._start = start
        now = workflow.now().timestamp()
        self._book = _book_of(start, now)
        self._circuit = start.circuit or Circuit()
        self._others = start.others or Others()
        self._publishes = workflow.patched("held-calls-are-published")
        self._published: Standing | None = None

    @workflow.run
    async def run(self, start: QuotaStart) -> None:
        """Hand out slots for good, in a new run now and then."""
        workflow.set_current_details(
            f"rate limit of **{start.user}**: {start.terms.limit} in {start.terms.window:g} s"
        )
        self._publish()
        await workflow.wait_condition(self._too_long)
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(
            QuotaStart(
                user=start.user,
                terms=self._book.terms,
                book=self._book,
                circuit=self._circuit,
                others=self._others,
            )
        )

    def _too_long(self) -> bool:
        info = workflow.info()
        return info.get_current_history_length() > MOST_EVENTS or info.is_continue_as_new_suggested()

    def _publish(self) -> None:
        """Say in the memo what is held, where that is new: whoever waits asks nothing of a worker."""
        found = standing(self._circuit)
        if self._publishes and found != self._published:
            self._published = found
            workflow.upsert_memo({HELD: found})

    @workflow.update
    def lease(self, request: LeaseRequest) -> Lease:
        """Slots for a process. Of the terms that the user's processes ask by, the strictest count for all of
        them. There are none where all that it could call with is held, and none by terms that cannot be
        reckoned with.
        """
        now = workflow.now().timestamp()
        holds = tuple(self._circuit.holds.values())
        try:
            book = with_terms(self._book, now, request.terms)
            holder = _as_kept(request.holder)
            others = reported(self._others, now, _pacer_of(holder, request.terms), request.seen)
            kept = keep(others, now, book.terms)
            if holds and all(stops(holds, credential) for credential in request.credentials or ("",)):
                found = Lease.wait(request.terms.minute)
            else:
                book, found = lease(book, now, holder, request.lane, request.want)
        except (ArithmeticError, ValueError) as why:
            # Any other error would fail the workflow task, and with it every call of the user, for good.
            what = f"no slots by these terms: {why}"[:200]
            raise ApplicationError(what, type="BadInput", non_retryable=True) from None
        self._book, self._others = book, others
        return found.model_copy(update={"holds": holds, "keep": kept})

    @lease.validator
    def _lease(self, request: LeaseRequest) -> None:
        refuse_nonsense(request)

    @workflow.update
    def probe(self, request: AskProbe) -> ProbeTurn:
        """A turn for a probe, at most one a minute for the user in all."""
        now = workflow.now().timestamp()
        self._circuit, hold = probe(self._circuit, now, self._book.terms.minute, request.credentials)
        self._publish()
        return ProbeTurn(hold=hold)

    @probe.validator
    def _probe(self, request: AskProbe) -> None:
        refuse_nonsense(request)

    @workflow.signal
    @one_message
    def hold(self, message: HoldCalls) -> None:
        """Calls are held from now on."""
        self._hold(message)

    @workflow.update
    def hold_calls(self, message: HoldCalls) -> Standing:
        """As ``hold``, for somebody who then waits: once this has answered, it is published."""
        self._hold(message)
        return standing(self._circuit)

    @hold_calls.validator
    def _hold_calls(self, message: HoldCalls) -> None:
        refuse_nonsense(message)

    def _hold(self, message: HoldCalls) -> None:
        now = workflow.now().timestamp()
        hold = fresh(message.hold, now) if message.now else message.hold
        # Before, a hold that there was no room for was not kept, and not published.
        if not is_crowded(self._circuit, hold) or workflow.patched("the-least-asked-for-gives-way"):
            self._circuit = opened(self._circuit, hold, now, self._book.terms.minute)
        self._publish()

    @workflow.signal
    @one_message
    def fixed(self, message: Fixed) -> None:
        """Calls with these credentials go on."""
        self._circuit = closed(self._circuit, message.credentials, workflow.now().timestamp())
        self._publish()

    @workflow.query
    def standing(self) -> Standing:
        """What is held, and when the next probe may be made."""
        return standing(self._circuit)

    @workflow.signal
    @one_message
    def blocked(self, message: Blocked) -> None:
        """The service refuses this user's calls for a while: nobody gets a slot until then."""
        self._book = block(self._book, workflow.now().timestamp(), message.seconds)

    @workflow.query
    def book(self) -> SlotBook:
        """What has been handed out."""
        return self._book


def _book_of(start: QuotaStart, now: float) -> SlotBook:
    """What a run begins with. Processes spend what an earlier quota of the user has given them."""
    if start.book:
        return bounded(start.book, now)
    return begun_again(start.terms, now) if start.again else SlotBook(terms=start.terms)


def _pacer_of(holder: str, terms: PaceTerms) -> str:
    """By what is kept what a process saw. It has a pacer for each terms of its campaigns, which knows its
    own calls alone: by the process's name the last one's would stand for all, and the others' count as
    strangers' calls.
    """
    return f"{holder} {hashlib.sha256(terms.model_dump_json().encode()).hexdigest()[:8]}"


def _as_kept(holder: str) -> str:
    """What a holder is known by: its name, or what stands for a longer one."""
    name = json.dumps(holder).encode()
    return holder if len(name) <= LONGEST_HOLDER else hashlib.sha256(name).hexdigest()
