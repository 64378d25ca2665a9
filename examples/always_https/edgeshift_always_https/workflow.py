"""One zone: read, snapshot, sign-off, the setting changed, seen to show, watched, settled or taken back.

What comes after the sign-off is that of every change that can be undone (workflows/reversible.py).
"""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.change.door import MutationActivities
    from edgeshift.areas.assessment import Verdict
    from edgeshift.messages import (
        ChangeResult,
        ChangeStatus,
        Prepared,
        ZoneResult,
        ZoneStart,
    )
    from edgeshift.model.fleet import ZoneOutcome
    from edgeshift_always_https.activities import AlwaysHttpsActivities
    from workflows.reversible import Reversible, ReversibleWork
    from workflows.zone.ending import Reached
    from workflows.zone.parts import parts_of
    from workflows.zone.state import Ended


@workflow.defn(name="AlwaysHttpsZone")
class AlwaysHttpsZone:
    """One zone. Its id is the zone's lock for the area."""

    @workflow.init
    def __init__(self, start: ZoneStart) -> None:
        self._parts = parts_of(start)
        self._zone = self._parts.zone
        self._change = Reversible(
            self._parts,
            ReversibleWork(
                confirm=AlwaysHttpsActivities.confirm,
                look_back=MutationActivities.look_back,
                watch=AlwaysHttpsActivities.watch,
                asks_whether_it_shows=True,
            ),
        )

    @workflow.run
    async def run(self, start: ZoneStart) -> ZoneResult:
        """Take the zone to an outcome, tell the campaign, and say how it ended."""
        return await self._change.to_an_end(self._course)

    async def _course(self) -> Reached:
        while True:
            prepared = await self._parts.proposals.make_and_tell(AlwaysHttpsActivities.prepare)
            if prepared.verdict is Verdict.ALREADY_SETTLED:
                if reached := await self._found_set(prepared):
                    return reached
                continue
            grant = await self._parts.sign_offs.signed_off(prepared)
            if reached := await self._change.commit(prepared, grant):
                return reached

    async def _found_set(self, prepared: Prepared) -> Reached | None:
        """The setting is as wanted: by this campaign, which is seen through, or by somebody else."""
        if self._zone.sent is None and prepared.begun:
            self._zone.sent = prepared
        if self._zone.sent is None:
            raise Ended(ZoneOutcome.ALREADY_SETTLED, *prepared.explained)
        late = ChangeResult(status=ChangeStatus.UNKNOWN, reason="it took effect late")
        self._zone.prepared = self._zone.sent
        return await self._change.see_through(self._zone.sent, late)
