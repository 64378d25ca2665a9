"""How a zone's attempt ends: its outcome, kept before it is told; and what earlier attempts may have left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.messages import LookBack, Part, ReportKind, ZonePhase, ZoneResult
    from edgeshift.model.fleet import DONE, ZoneOutcome
    from edgeshift.model.reasons import Reason, ReasonCode, Reasons
    from edgeshift.runtime.temporal import OUTCOME, PHASE
    from workflows import options
    from workflows.local import locally
    from workflows.zone.failures import LOCAL_FAILURES, failed
    from workflows.zone.reporting import Reporter, ZoneWord
    from workflows.zone.state import Ended, ZoneMemory

LOOKS_BACK = Reason(code=ReasonCode.EARLIER_CHANGE_AWAITED)
"""What a target says that is about to end, and that may have been changed by an earlier attempt."""

KEPT_BY_THEMSELVES = frozenset({ZoneOutcome.MIGRATED, ZoneOutcome.SETTLED, ZoneOutcome.ROLLED_BACK})
"""Ends that follow from what the history has already. To any other one, a reading or a message of the very
task may have led: where that task is lost, and the zone reads or hears otherwise when it is done again, the
zone goes on. So its campaign must not have heard of the end yet.
"""


@dataclass(frozen=True)
class Reached:
    """Where a target's course has led: the outcome, why, and the archived record of it."""

    outcome: ZoneOutcome
    why: Reasons
    record: str = ""


Course = Callable[[], Awaitable[Reached]]


async def nothing_held() -> None:
    """What a target lets go of that holds nothing beside itself."""


class Ending:
    """Takes a zone's course to an outcome."""

    def __init__(self, zone: ZoneMemory, reporter: Reporter) -> None:
        self._zone = zone
        self._reporter = reporter

    async def to_an_end(
        self, course: Course, let_go: Callable[[], Awaitable[None]] = nothing_held
    ) -> ZoneResult:
        """Take the target to an outcome, tell the campaign, and say how it ended. ``let_go``: releases what
        the target holds beside itself.
        """
        zone, record = self._zone, ""
        try:
            reached = await course()
            outcome, why, record = reached.outcome, reached.why, reached.record
        except Ended as ended:
            outcome, why = ended.outcome, ended.why
        except LOCAL_FAILURES as failure:
            # Whoever may have committed does not know that it failed.
            outcome = ZoneOutcome.FAILED if zone.sent is None else ZoneOutcome.UNKNOWN
            why = (failed(failure),)
        await let_go()
        zone.enter(ZonePhase.CLOSED)
        prepared = zone.prepared
        zone.result = ZoneResult(
            outcome=outcome,
            why=why,
            digest=prepared.digest if prepared else "",
            fingerprint=prepared.fingerprint if prepared else "",
            record=record,
            rejected=zone.rejected,
        )
        workflow.upsert_search_attributes(
            [PHASE.value_set(ZonePhase.CLOSED.value), OUTCOME.value_set(outcome.value)]
        )
        if outcome not in KEPT_BY_THEMSELVES:
            await workflow.sleep(timedelta(milliseconds=1), summary="the end is kept before it is told")
        took = zone.took if outcome in DONE else None
        await self._reporter.tell(ZoneWord(ReportKind.FINISHED, outcome=outcome, why=why, took=took))
        await workflow.wait_condition(workflow.all_handlers_finished)
        return zone.result

    async def part_left(self, look: Callable[..., Awaitable[Part]], ended: Ended) -> Part:
        """What the campaign may have left at a target that is about to end, though this run knows of nothing:
        an earlier attempt sent it, or a run that was reset, or a step whose word was lost. Raises Ended where
        nobody can say, and the end would say that the target was not touched.
        """
        self._zone.enter(ZonePhase.VERIFYING)
        try:
            return await self.left(look)
        except LOCAL_FAILURES as failure:
            if ended.outcome is ZoneOutcome.FAILED:
                return Part()
            left = ReasonCode.PART_MAY_BE_LEFT
            raise Ended(
                ZoneOutcome.UNKNOWN, Reason(code=left, because=ended.why, then=(failed(failure),))
            ) from None

    async def left(self, look: Callable[..., Awaitable[Part]]) -> Part:
        """What the campaign may have left at the target, by the archive. Raises LOCAL_FAILURES."""
        start = self._zone.bare_start
        message = LookBack(**dict(start), asked=workflow.now())
        summary = "what is left of earlier attempts"
        part: Part = await locally(look, message, summary=summary, **options.reading(start.policy))
        return part

    async def looked_for(self, part: Part) -> timedelta:
        """Tell the campaign that what is left is looked for, and for how long: as long as it may show, or for
        one look more.
        """
        await self._reporter.tell(ZoneWord(ReportKind.WAITING, why=(LOOKS_BACK,)))
        policy = self._zone.start.policy
        return policy.migration_limit if part.may_show else 2 * policy.poll
