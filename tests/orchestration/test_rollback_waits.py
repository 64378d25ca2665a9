"""A rollback that has no turn, such as while the roots lack the service, waits for days, and says when it
gives up.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from edgeshift.messages import ChangeResult, ChangeStatus, PermitGrant, Prepared, Step
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode, codes_of
from workflows.reversible import Reversible
from workflows.zone.state import Ended

MOST_EVENTS = 51_200
"""What a history may have: then the server ends the workflow, and nobody hears of it."""

EVENTS_A_TRY = 11
"""An activity, a timer, and the tasks that begin and follow them."""

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


class Passing:
    """The time of a workflow, which passes as it sleeps."""

    def __init__(self) -> None:
        self.pauses: list[timedelta] = []

    def now(self) -> datetime:
        """When it is."""
        return datetime(2026, 3, 1, tzinfo=UTC) + sum(self.pauses, timedelta(0))

    async def sleep(self, pause: timedelta, *, summary: str) -> None:
        """Let a time pass."""
        self.pauses.append(pause)

    def uuid4(self) -> uuid.UUID:
        """Another one each time."""
        return uuid.uuid4()


async def test_a_rollback_without_a_turn_waits_for_days_and_is_told_as_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its history has room for all of that. While it waits, it asks again within an eighth of the time that
    it has waited, within a minute at first, and within an hour: the rollback is urgent.
    """
    monkeypatch.setattr("workflows.reversible.workflow", passing := Passing())
    names = list[str]()

    async def make(back: Prepared, grant: PermitGrant) -> ChangeResult:
        assert back.step is Step.ROLL_BACK
        names.append(grant.permit.name)
        assert len(names) * EVENTS_A_TRY < MOST_EVENTS
        return ChangeResult(status=ChangeStatus.NOTHING_HAPPENED, reason="not by the roots", turn=False)

    start = SimpleNamespace(index=0, campaign_run="r")
    zone = SimpleNamespace(start=start, enter=lambda phase: None)
    parts = SimpleNamespace(zone=zone, changes=SimpleNamespace(make=make))
    change, prepared = Reversible(cast(Any, parts), cast(Any, None)), cast(Any, Prepared).model_construct()
    with pytest.raises(Ended, match="not by the roots") as found:
        await change._roll_back(prepared, "", ())
    assert found.value.outcome is ZoneOutcome.FAILED
    assert codes_of(found.value.why) == (ReasonCode.NOT_ROLLED_BACK,)
    assert len(set(names)) == len(names)
    before = timedelta(0)
    for pause in passing.pauses:
        assert pause <= min(HOUR, max(MINUTE, before / 8)), (before, pause)
        before += pause
    assert timedelta(days=4) <= before < timedelta(days=4, hours=2)
    assert HOUR in passing.pauses
