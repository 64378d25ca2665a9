"""One zone's memory, which its workflow's parts are handed; and what follows from it at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import NoReturn

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.areas import area_of
    from edgeshift.areas.evidence import EvidenceVerdict
    from edgeshift.messages import (
        CANCELLATION,
        LEFT_ALONE,
        OUTLIVED,
        Gathered,
        PermitGrant,
        Prepared,
        Stop,
        SupportResolved,
        ZoneCarried,
        ZonePhase,
        ZoneResult,
        ZoneStart,
    )
    from edgeshift.model.fleet import ZoneOutcome
    from edgeshift.model.reason_texts import text_of
    from edgeshift.model.reasons import Reason, ReasonCode
    from edgeshift.model.sign_off import Decision
    from edgeshift.rate_limit.circuit import OpenCircuit

MOST_DECISIONS = 100
"""Decisions kept of one zone."""

MOST_PUT_BACK = 2_000
"""Numbers of permits of which a zone keeps that they were put back: each is sent within minutes, or never."""

MOST_IGNORED = 20
"""Messages kept in view that did not count."""


SAID_AS_CAUSE = {
    CANCELLATION: ReasonCode.CANCELLED,
    OUTLIVED: ReasonCode.ATTEMPT_OVER,
    LEFT_ALONE: ReasonCode.CAMPAIGN_OVER,
}
"""Why a zone was stopped, of a word of before that names no cause."""


class Ended(Exception):
    """The zone's attempt is over, with this outcome."""

    def __init__(self, outcome: ZoneOutcome, *why: Reason) -> None:
        self.reason = text_of(*why)
        super().__init__(self.reason)
        self.outcome = outcome
        self.why = why


class SeenThrough(Exception):
    """What was sent to the zone before this run has come to show. ``record``: the archived result."""

    def __init__(self, record: str) -> None:
        super().__init__("what was sent before has come to show")
        self.record = record


class ZoneMemory:
    """The state of one zone: of an account as well, where the area is for those too."""

    def __init__(self, start: ZoneStart) -> None:
        carried, fresh = start.carried or ZoneCarried(), start.carried is None
        self.start = start
        self.first_step = area_of(start.area).asks_first
        """The step before the sign-off that the area's targets need a permit for, where they need one."""

        self._first: Callable[[], Awaitable[bool]] | None = None
        self.looks_back = False
        """Whether something may have been sent of which this run knows nothing, and that is to be seen
        through before the zone says any word that gives up its place in the window (docs/rules.md, rule 8).
        """
        self.phase_before: ZonePhase | None = None
        """Where the zone is while that is seen through."""
        info = workflow.info()
        self.is_later_run = info.run_id != info.first_execution_run_id
        """Whether this run follows on another one of the attempt, also while it does again what that one did
        before an operator's reset. What goes into an activity may depend on it; what makes a command may not.
        """
        # A run that an operator's reset began at its first task sees this; of one that was reset to a later
        # one, what came before is done again as it was done, without the marker.
        self._begun_later = self.is_later_run and workflow.patched("begun-later")
        self._noticed = True
        workflow.register_random_seed_callback(self._reset)

        self.phase = ZonePhase.ASSESSING
        self.since = workflow.now()
        self.result: ZoneResult | None = None
        self.rejected = ""
        """The digest that a person rejected."""
        self.sequence = carried.sequence
        """The number of the last word to the campaign."""
        self.heard = not fresh
        """Whether the campaign has heard anything of this zone's run."""
        self.untold = False
        """Whether the campaign could not be told the last word."""
        self.ignored: list[str] = []
        """Messages that did not count, and why, for people."""

        # What is proposed, and what speaks for it.
        self.planned: Prepared | None = start.reading if fresh else None
        """What the plan has read of the zone, as long as nothing has been made of it."""
        self.told = start.told and fresh and not self._begun_later
        """Whether whoever has started the zone tells the campaign that it waits with this. A run that was
        begun later by a reset says so itself: the campaign may have heard of more by then.
        """
        self.listed_as = start.reading.fingerprint if start.reading and start.asks_at_once else ""
        """The fingerprint with which Temporal's list shows that it waits for a sign-off."""
        self.prepared: Prepared | None = None
        if self.told:
            # People may decide before its first task is over: the campaign says already that it waits.
            self.phase, self.prepared = ZonePhase.AWAITING_SIGN_OFF, self.planned
        self.gathered: Gathered | None = None
        if carried.evidence and carried.evidence_verdict:
            self.gathered = Gathered(evidence=carried.evidence, verdict=carried.evidence_verdict, why="")
        self.validated_rules = carried.validated or ""
        """The digest that the evidence is about."""
        # In the middle of it, some of the evidence is there already.
        self.validated = self.gathered is not None and carried.validated != ""
        """Whether the validation window is over for what is proposed."""
        self.validates_itself = carried.validates_itself
        """Whether the zone is in validation by this workflow, and not by somebody else's hand."""
        self.drifted_from = carried.drifted_from
        """The digest that was no longer true when it was to be sent; ``drifted_proposal``: where the last one
        lies that had been signed.
        """
        self.drifted_proposal = carried.drifted_proposal

        # What people have decided.
        self.decisions: dict[tuple[str, str], Decision] = {}
        """By digest and person."""
        for decision in carried.decisions:
            self.decisions[decision.digest, decision.by] = decision
        self.ruling: Decision | None = None
        """The rejection of its fingerprint, of which the campaign has told."""
        self.asked_at: datetime | None = carried.asked_at
        """Since when people can see what they are asked to sign."""
        self.expired = False
        self.stop: Stop | None = None
        self.resolved: SupportResolved | None = None
        self.tickets: list[str] = list(carried.tickets)

        # Permits.
        self.grant: PermitGrant | None = carried.grant
        """The permit that is there to be used."""
        if start.permit:
            self.grant = PermitGrant(campaign_run=start.campaign_run, permit=start.permit)
        self.using: int | None = None
        """The number of the permit under which a step is under way; below 0 on the rollback."""
        self.called_off = False
        """Whether that step is called off, or the last one was: nothing of it was sent then."""
        self.stands = False
        """Whether nothing was sent by the last step, and nothing speaks against what was signed."""
        self.to_release: int | None = carried.to_release
        """The number of a permit that goes back to the campaign with the next word."""
        self.used: set[int] = set(carried.used)
        self.revoked: set[int] = set(carried.revoked)
        self.gone_back: set[int] = set(carried.put_back)
        """Numbers of permits that were put back: the campaign may have given others for them since."""

        # What was sent.
        self.sent: Prepared | None = carried.sent
        """What was sent, or may have been, and is to be seen through."""
        self.begun: Prepared | None = carried.begun
        """What was made in part, and is taken back where it cannot go on."""
        self.read_back = False
        """Whether a commit has shown, and the stored rules were read."""
        self.went_back = False
        """Whether the rollback was begun: it is not tried by another way once it has failed."""
        self.resends = carried.resends
        self.took: timedelta | None = None
        """How long its change took to show by itself, once it has."""
        self.refused_starts = 0
        self.without_turn = 0
        self.times_full = 0
        """How often the roots had no room for its commit."""

        # Waiting for the service.
        self.service_hold: OpenCircuit | None = None
        self.told_to_go_on = False
        self.waits = 0
        self.stood = timedelta(0)
        """How long it has waited for the service in all."""

    def enter(self, phase: ZonePhase) -> None:
        """The zone is in this phase from now on."""
        self.phase, self.since = phase, workflow.now()
        workflow.set_current_details(
            f"**{phase.value.replace('_', ' ')}** since {self.since:%Y-%m-%d %H:%M:%S} UTC"
        )

    @property
    def bare_start(self) -> ZoneStart:
        """What the target was started with, without what only its own workflow needs."""
        return self.start.model_copy(update={"permit": None, "carried": None, "planned": None})

    @property
    def joins(self) -> bool:
        """Whether a decision on the fingerprint may count for this zone."""
        if self.start.policy.sign_off.per == "zone":
            return False
        return self.gathered is None or self.gathered.verdict is EvidenceVerdict.PASS

    @property
    def idle(self) -> bool:
        """Whether nothing that its campaign ever sent to the target can be in flight. Only the first run of
        the first attempt knows: one that was reset has forgotten what it sent.
        """
        first = self.start.attempt == 1 and not self.is_later_run
        return first and self.sent is None and self.begun is None and self.using is None

    def _reset(self, _seed: int) -> None:
        """An operator has reset the workflow to here: the engine draws other numbers from here on. It says so
        outside of the workflow's course, and only after what the workflow is told by then has been heard.
        """
        self._noticed = False

    def comes_first(self, seen_through: Callable[[], Awaitable[bool]]) -> None:
        """What sees through what an earlier run may have sent, and says whether there was anything, where the
        area's changes cannot be undone.
        """
        self._first, self.looks_back = seen_through, self._begun_later

    def look_back(self) -> None:
        """Something may have been sent of which this run knows nothing. One that was reset to its first task
        looks for that anyway, and marks nothing more: only its replay hears of that reset, since a replay
        makes the workflow earlier in the task.
        """
        self.looks_back = self.looks_back or workflow.patched("sent-before-comes-first")

    def _notice_a_reset(self) -> None:
        if not self._noticed:
            self._noticed = True
            if self._first is not None:
                self.look_back()

    async def notices_resets(self) -> None:
        """Have the zone look back as soon as its workflow is reset, also while it waits."""
        while True:
            await workflow.wait_condition(lambda: not self._noticed)
            self._notice_a_reset()

    @property
    def looks(self) -> bool:
        """Whether something may be in flight of which this run does not know yet."""
        unnoticed = self._first is not None and not self._noticed
        return self.looks_back or unnoticed or self.phase_before is not None

    @property
    def waits_in(self) -> ZonePhase:
        """The phase that the zone is in, whatever it sees through first."""
        return self.phase if self.phase_before is None else self.phase_before

    async def see_first(self) -> bool:
        """See through what an earlier run may have sent, where nobody has looked yet. Whether there was
        anything: then the campaign has been told, and does not know any more what the zone waits for.
        """
        self._notice_a_reset()
        if not self.looks_back or self._first is None:
            return False
        self.looks_back, self.phase_before = False, self.phase
        try:
            found = await self._first()
        finally:
            before, self.phase_before = self.phase_before, None
        if found:
            self.enter(before)
        return found

    def drift(self, prepared: Prepared) -> None:
        """The zone is no more as it was when this was signed: people see what has changed since."""
        self.drifted_from, self.drifted_proposal = prepared.digest, prepared.proposal

    def nothing_validated(self) -> None:
        """What the evidence was about is not proposed any more."""
        self.validated, self.validated_rules = False, ""
        self.gathered, self.asked_at = None, None

    def ignore(self, text: str) -> None:
        """Keep in view that something did not count."""
        self.ignored = [*self.ignored[1 - MOST_IGNORED :], text[:200]]

    def keep(self, decision: Decision) -> None:
        """Keep a decision with the time at which it came. Where there are too many, one that is about another
        digest than the present one gives way.
        """
        key = (decision.digest, decision.by)
        if key not in self.decisions and len(self.decisions) >= MOST_DECISIONS:
            prepared = self.prepared
            present = {prepared.digest, prepared.fingerprint} if prepared else set()
            others = (kept for kept in self.decisions if kept[0] not in present)
            if (other := next(others, None)) is None:
                return
            del self.decisions[other]
        self.decisions[key] = decision.model_copy(update={"at": workflow.now()})

    # --- permits

    @property
    def moves_forward(self) -> bool:
        """Whether a step is under way for which the campaign gave a permit. The rollback, whose numbers are
        below zero, is held up by nothing, and holds nothing up.
        """
        return self.using is not None and self.using >= 0

    def call_off(self) -> None:
        """End the step that is under way, if any, where nothing of it was sent; what was is seen through."""
        if self.moves_forward:
            self.called_off = True

    @property
    def usable_grant(self) -> PermitGrant | None:
        """The permit that is there, unless it was revoked."""
        if self.grant is None or self.grant.permit.number in self.revoked:
            return None
        return self.grant

    def put_back(self) -> None:
        """The permit that is there, if any, goes back with the next word. Where an earlier run may have used
        it, which may go on, it does not: the campaign takes it back once it has run out.
        """
        if self.grant is not None:
            if not self.is_later_run:
                self.to_release = self.grant.permit.number
            if len(self.gone_back) >= MOST_PUT_BACK:
                self.gone_back.discard(min(self.gone_back))
            self.gone_back.add(self.grant.permit.number)
            self.grant = None

    def put_back_what_ran_out(self) -> None:
        """Nothing could be sent under a permit that ran out while the zone paused: it goes back with the next
        word, which asks for another.
        """
        if self.grant is not None and self.grant.permit.expires_at <= workflow.now():
            self.put_back()

    # --- ends

    def cancelled(self) -> None:
        """Somebody has cancelled the workflow: the zone stops as soon as nothing is under way."""
        self.stop = self.stop or Stop(by=CANCELLATION, cause=ReasonCode.CANCELLED)

    def check_stop(self) -> None:
        """Raise Ended where the zone is to stop."""
        stop = self.stop
        if stop is None:
            return
        cause = stop.cause or SAID_AS_CAUSE.get(stop.by, ReasonCode.CAMPAIGN_ABORTED)
        if cause not in SAID_AS_CAUSE.values():
            # Whoever may signal may have named any.
            cause = ReasonCode.CAMPAIGN_ABORTED
        stands = stop.ended_as if cause is ReasonCode.ATTEMPT_OVER else None
        said = stop.reason if cause is ReasonCode.CAMPAIGN_ABORTED else ""
        raise Ended(stands or ZoneOutcome.ABORTED, Reason(code=cause, by=stop.by, said=said))

    def carried(self) -> ZoneCarried:
        """What a new run needs of it."""
        return ZoneCarried(
            sequence=self.sequence,
            resends=self.resends,
            decisions=tuple(self.decisions.values()),
            evidence=self.gathered.evidence if self.gathered else "",
            evidence_verdict=self.gathered.verdict if self.gathered else None,
            sent=self.sent,
            begun=self.begun,
            validates_itself=self.validates_itself,
            validated=self.validated_rules,
            asked_at=self.asked_at,
            grant=self.grant,
            to_release=self.to_release,
            used=tuple(sorted(self.used)),
            revoked=tuple(sorted(self.revoked)),
            put_back=tuple(sorted(self.gone_back)),
            tickets=tuple(self.tickets),
            drifted_from=self.drifted_from,
            drifted_proposal=self.drifted_proposal,
        )

    def go_on_in_a_new_run(self) -> NoReturn:
        """Continue as new, with what is carried."""
        workflow.continue_as_new(self.bare_start.model_copy(update={"carried": self.carried()}))
