"""What a campaign hears: words of its zones, and what people want of it."""

from __future__ import annotations

from collections.abc import Mapping

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from edgeshift.campaign.target_states import AWAITING, FAILURES, Place
    from edgeshift.messages import Again, Answer, Book, CampaignSignOff, Person, Step, ZoneReport
    from edgeshift.model.fleet import REOPENABLE, RETRYABLE, Area, ZoneOutcome
    from edgeshift.model.sign_off import Decision
    from workflows.campaign.outage import ServicePause
    from workflows.campaign.state import SHORT
    from workflows.messages import one_message, refuse_nonsense

FEW = 20
"""Fingerprints of one sign-off up to which each keeps the whole reason."""


MOST_NAMED = 1_000
"""Targets that the answer of an abort names of each kind."""


class CampaignMessages(ServicePause):
    """The signals and updates of a campaign."""

    @workflow.signal
    @one_message
    def zone_report(self, report: ZoneReport) -> None:
        """A zone's word."""
        if report.campaign_run != self._first_run:
            return
        if self._ledger.hear(report, workflow.now()):
            self._apply_book([report.index])
            self._changed = True
            if report.hold is not None and report.index in self._ledger.held:
                self._hear_hold(report.hold)
        if self._ledger.revived:
            self._changed = True

    @workflow.update
    def sign_off(self, message: CampaignSignOff) -> Answer:
        """A decision on fingerprints: checked once, it counts for each zone that waits and for each that
        comes later.
        """
        for fingerprint in message.fingerprints:
            decision = self._decision(message, fingerprint)
            entry = next(
                (
                    item
                    for item in self._ledger.book
                    if (item.fingerprint, item.wave) == (fingerprint, message.wave)
                ),
                None,
            )
            if entry is None:
                entry = Book(fingerprint=fingerprint, wave=message.wave)
                self._ledger.book.append(entry)
            entry.decisions = [*(item for item in entry.decisions if item.by != message.by), decision]
        before = self._ledger.number(Place.READY, Place.REJECTING)
        self._apply_book(list(range(self._start.count)))
        moved = self._ledger.number(Place.READY, Place.REJECTING) - before
        self._changed = True
        return Answer(
            text=f"{message.choice.value} by {message.by}: recorded; {moved} waiting zone(s) go on with it"
        )

    def _decision(self, message: CampaignSignOff, fingerprint: str) -> Decision:
        return Decision(
            choice=message.choice,
            digest=fingerprint,
            by=message.by,
            # The campaign carries every decision with it: of many at once, each keeps a short reason.
            reason=message.reason if len(message.fingerprints) <= FEW else message.reason[:SHORT],
            at=workflow.now(),
        )

    @sign_off.validator
    def _sign_off(self, message: CampaignSignOff) -> None:
        refuse_nonsense(message)
        self._refuse_if_over()
        if self._start.policy.sign_off.per == "zone":
            raise _refused("SignOffRefused", "this campaign is signed off zone by zone (sign_off.per: zone)")
        if reason := self._refusal(self._decision(message, message.fingerprints[0])):
            raise _refused("SignOffRefused", reason)
        if message.wave is not None and not 0 <= message.wave < len(self._start.waves):
            raise _refused(
                "SignOffRefused",
                f"there is no wave {message.wave}; waves are 0 to {len(self._start.waves) - 1}",
            )
        if self._ledger.overtaken:
            # The campaign was reset to before its zones began: what was signed then comes again before it has
            # looked at what they propose.
            return
        known = {shape.fingerprint for shape in self._ledger.known}
        if unknown := [item for item in message.fingerprints if item not in known]:
            raise _refused(
                "SignOffRefused", f"no zone of this campaign has proposed the fingerprint {unknown[0]}"
            )

    @workflow.update
    async def pause(self, message: Person) -> Answer:
        """No new forward step begins once this has answered: permits are taken back or settled."""
        self._paused = message
        self._note(f"paused by {message.by}: {message.reason or 'no reason given'}")
        out = await self._take_back_permits()
        if self._paused is not message:
            return Answer(
                text="not paused: it was resumed, or paused by somebody else, before permits settled"
            )
        return Answer(text=f"paused; {out} permit(s) were out and are settled")

    @workflow.update
    def resume(self, message: Person) -> Answer:
        """Go on: ends a pause, also the campaign's own, and accepts the failures so far."""
        was = "paused" if self._stands_still else "halted" if self._halted else "running"
        self._paused, self._mended_by_hand = None, bool(self._holds)
        again = "; it pauses itself again if the service cannot be called yet" if self._holds else ""
        self._failures_accepted = self._ledger.zones(*FAILURES)
        self._note(f"resumed by {message.by} (was {was}): {message.reason or 'no reason given'}")
        self._changed = True
        return Answer(text=f"running; it was {was}{again}")

    @workflow.update
    async def abort(self, message: Person) -> Answer:
        """End the campaign: nothing new begins, zones that wait end as aborted, what was sent is seen
        through.
        """
        # Before anybody is told: those that wait end by that word.
        steps = {permit.index: permit.step for permit in self._ledger.permits.values()}
        validated = self._in_validation()
        self._stand_down(message)
        await self._take_back_permits()
        at_work = self._ledger.indexes(Place.WORKING, Place.PERMITTED, Place.WAITING)
        validated |= {index for index in at_work if steps.get(index) is Step.VALIDATE}
        permitted = self._ledger.indexes(Place.PERMITTED)
        sent = tuple(index for index in permitted if self._commits(index, steps))
        left = tuple(sorted(validated.difference(sent)))
        others = f"{len(left)} may be left in validation mode"
        if self._start.area is not Area.WAF:
            left, others = (), f"{self._ledger.number(Place.WAITING)} are watched to the end"
        return Answer(
            text=f"aborting; {len(sent)} zone(s) may be past return and are seen through, {others}",
            sent=sent[:MOST_NAMED],
            in_validation=left[:MOST_NAMED],
        )

    def _commits(self, index: int, steps: Mapping[int, Step]) -> bool:
        """Whether a target is at its commit, and not at a step before. ``steps``: of the permits that are
        out, by target; where there is none its last proposal tells.
        """
        shape = self._ledger.shape(index)
        return steps.get(index, shape.step if shape else Step.COMMIT) is Step.COMMIT

    def _in_validation(self) -> set[int]:
        """The targets of waf that are in validation mode, as far as their words tell: in their window, or
        past it and not migrated.
        """
        if self._start.area is not Area.WAF:
            return set()
        steps = {permit.index: permit.step for permit in self._ledger.permits.values()}
        past = self._ledger.indexes(*AWAITING, Place.READY, Place.PERMITTED)
        found = {index for index in past if self._commits(index, steps)}
        # One that is with support may never have come to its validation.
        found.update(index for index in self._ledger.indexes(Place.SUPPORT) if self._ledger.shape(index))
        found.update(self._ledger.indexes(Place.WAITING))
        return {index for index in found if index in self._enterprise}

    @pause.validator
    def _pause(self, message: Person) -> None:
        refuse_nonsense(message)
        self._refuse_if_over()

    @resume.validator
    def _resume(self, message: Person) -> None:
        refuse_nonsense(message)
        self._refuse_if_over()

    @abort.validator
    def _abort(self, message: Person) -> None:
        refuse_nonsense(message)
        self._refuse_if_over()

    @workflow.update
    def retry(self, message: Again) -> Answer:
        """Begin failed, unknown, blocked or unsupported zones again."""
        return self._answer_again(message, RETRYABLE)

    @retry.validator
    def _retry(self, message: Again) -> None:
        self._refuse_again(message, RETRYABLE)

    @workflow.update
    def reopen(self, message: Again) -> Answer:
        """Begin zones again that are on hold, rejected or aborted."""
        return self._answer_again(message, REOPENABLE)

    @reopen.validator
    def _reopen(self, message: Again) -> None:
        self._refuse_again(message, REOPENABLE)

    def _answer_again(self, message: Again, outcomes: frozenset[ZoneOutcome]) -> Answer:
        number = self._begin_again(message, outcomes)
        return Answer(text=f"{number} zone(s) begin again")

    def _refuse_again(self, message: Again, outcomes: frozenset[ZoneOutcome]) -> None:
        refuse_nonsense(message)
        self._refuse_if_over()
        if not self._candidates(message, outcomes):
            names = ", ".join(sorted(outcome.value for outcome in outcomes))
            raise _refused(
                "NothingToDo", f"no such zone has an outcome that this begins again ({names}, excluded)"
            )

    def _refuse_if_over(self) -> None:
        if self._aborted is not None:
            raise _refused("CampaignOver", f"the campaign was aborted by {self._aborted.by}")
        if self._closed:
            raise _refused("CampaignOver", "the campaign is closed")


def _refused(kind: str, text: str) -> ApplicationError:
    return ApplicationError(text, type=kind, non_retryable=True)
