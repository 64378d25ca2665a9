"""Custom log fields rolled out to one zone: read, snapshot, sign-off, rules and log jobs written, real log
entries looked at, settled or taken back (docs/service.md §2.2, §2.3, §4.2).

What people sign is the end state (the fields, and the log fields that jobs have to list), so that a step
which was made in part proposes the same digest again; somebody else's rules are merged, never signed away.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.log_fields.zone import LogFieldsActivities
    from edgeshift.areas.assessment import Verdict
    from edgeshift.messages import Part, Prepare, Prepared, Shown, Watched, ZonePhase, ZoneResult, ZoneStart
    from edgeshift.model.fleet import ZoneOutcome
    from workflows import options
    from workflows.local import locally
    from workflows.reversible import ReversibleZone
    from workflows.zone.protocol import Ended
    from workflows.zone.steps import Reached


@workflow.defn(name="LogFieldsZone")
class LogFieldsZone(ReversibleZone):
    """One zone. Its id is the zone's lock for the area."""

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        super().__init__(start)

    @workflow.run
    async def run(self, start: ZoneStart) -> ZoneResult:
        """Take the zone to an outcome, tell the campaign, and say how it ended."""
        return await self._to_an_end(self._course)

    @property
    def _settling(self) -> Callable[..., Awaitable[Shown]]:
        return LogFieldsActivities.settle

    @property
    def _looking_back(self) -> Callable[..., Awaitable[Part]]:
        return LogFieldsActivities.look_back

    @property
    def _watching(self) -> Callable[..., Awaitable[Watched]]:
        return LogFieldsActivities.watch

    async def _course(self) -> Reached:
        while True:
            prepared = await self._prepare()
            if prepared.verdict is Verdict.ALREADY_SETTLED:
                raise Ended(ZoneOutcome.ALREADY_SETTLED, "; ".join(prepared.reasons))
            if prepared.begun:
                self._begun = prepared
            if prepared.verdict is not Verdict.READY:
                raise Ended(ZoneOutcome.BLOCKED, "; ".join(prepared.reasons))
            grant = await self._signed_off(prepared)
            if grant is None:
                continue
            if reached := await self._commit(prepared, grant):
                return reached

    async def _prepare(self) -> Prepared:
        """Read the zone, archive what was read, propose, and tell the campaign."""
        self._check_stop()
        self._enter(ZonePhase.ASSESSING)
        return await self._served(self._read)

    async def _read(self) -> Prepared:
        async with self._telling:
            self._count_word()
            settles = self._to_settle
            prepared: Prepared = await locally(
                LogFieldsActivities.prepare,
                Prepare(
                    start=self._start,
                    sequence=self._sequence,
                    announce=True,
                    joins=self._joins,
                    settles=settles,
                ),
                summary="read, archive, propose",
                **options.reading(self._start.policy),
            )
        if prepared.verdict is Verdict.READY:
            self._to_settle = None
        self._prepared = prepared
        return prepared
