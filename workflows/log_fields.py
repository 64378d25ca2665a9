"""Custom log fields rolled out to one zone: read, snapshot, sign-off, rules and log jobs written, real log
entries looked at, settled or taken back (docs/service.md §2.2, §2.3, §4.2).

What people sign is the end state (the fields, and the log fields that jobs have to list), so that a step
which was made in part proposes the same digest again; somebody else's rules are merged, never signed away.
"""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.log_fields.zone import LogFieldsActivities
    from edgeshift.areas.assessment import Verdict
    from edgeshift.messages import ZoneResult, ZoneStart
    from edgeshift.model.fleet import ZoneOutcome
    from workflows.reversible import Reversible, ReversibleWork
    from workflows.zone.ending import Reached
    from workflows.zone.parts import parts_of
    from workflows.zone.state import Ended


@workflow.defn(name="LogFieldsZone")
class LogFieldsZone:
    """One zone. Its id is the zone's lock for the area."""

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        self._parts = parts_of(start)
        self._zone = self._parts.zone
        self._change = Reversible(
            self._parts,
            ReversibleWork(
                confirm=LogFieldsActivities.confirm,
                look_back=LogFieldsActivities.look_back,
                watch=LogFieldsActivities.watch,
            ),
        )

    @workflow.run
    async def run(self, start: ZoneStart) -> ZoneResult:
        """Take the zone to an outcome, tell the campaign, and say how it ended."""
        return await self._change.to_an_end(self._course)

    async def _course(self) -> Reached:
        while True:
            prepared = await self._parts.proposals.make_and_tell(LogFieldsActivities.prepare)
            if prepared.verdict is Verdict.ALREADY_SETTLED:
                raise Ended(ZoneOutcome.ALREADY_SETTLED, *prepared.explained)
            if prepared.begun:
                self._zone.begun = prepared
            if prepared.verdict is not Verdict.READY:
                raise Ended(ZoneOutcome.BLOCKED, *prepared.explained)
            while True:
                grant = await self._parts.sign_offs.signed_off(prepared)
                if reached := await self._change.commit(prepared, grant):
                    return reached
                if self._zone.stands:
                    await self._parts.changes.propose_as_it_is(prepared)
                elif not self._zone.called_off:
                    break
