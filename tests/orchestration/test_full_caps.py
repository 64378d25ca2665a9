"""Zones beyond what the roots let through wait until they let more through: nothing is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import Client

from edgeshift.messages import ChangeResult, ChangeStatus, ReportKind, ZonePhase
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode
from tests.harness.campaigns.authority import ONE
from tests.kit.clock import eventually
from tests.kit.faults import staged, zone
from workflows.zone import changing
from workflows.zone.changing import Changes
from workflows.zone.reporting import ZoneWord

ABSENT = {3, 4, 7}

MINUTE = timedelta(minutes=1)


async def test_a_step_for_which_the_roots_have_no_room_is_tried_again_without_end() -> None:
    """After a minute, then after longer, up to a quarter of an hour. Its permit goes back each time."""
    paused: list[timedelta] = []
    told: list[ReportKind] = []

    async def pause(limit: timedelta, summary: str) -> None:
        paused.append(limit)

    async def tell(word: ZoneWord) -> None:
        told.append(word.kind)
        full_by_roots = (Reason(code=ReasonCode.NO_ROOM_BY_ROOTS, said="full"),)
        assert word.why == full_by_roots and text_of(*word.why) == "full"

    entered: list[ZonePhase] = []
    zone = SimpleNamespace(times_full=0, without_turn=0, refused_starts=0, enter=entered.append)
    parts = (zone, SimpleNamespace(tell=tell), SimpleNamespace(pause=pause), None)
    changes = Changes(*(cast(Any, part) for part in parts))
    full = ChangeResult(status=ChangeStatus.NOTHING_HAPPENED, reason="full", turn=False, full=True)
    for _ in range(300):
        await changes.pause_before_again(full)
    assert paused == [MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE] + [15 * MINUTE] * 296
    assert told == [ReportKind.WAITING] * 300 and set(entered) == {ZonePhase.AWAITING_PERMIT}
    assert (zone.without_turn, zone.refused_starts) == (0, 0)


@pytest.mark.embedded
@pytest.mark.timeout(180)
async def test_a_zone_beyond_what_the_roots_let_through_waits_and_does_not_fail(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds no permit meanwhile, and is migrated once people let more through."""
    for name in ("MOST_WITHOUT_A_TURN", "MOST_REFUSED_STARTS"):
        monkeypatch.setattr(changing, name, 2)
    for name in ("WITHOUT_A_TURN", "LONGEST_FULL"):
        monkeypatch.setattr(changing, name, timedelta(seconds=0.5))
    roster = replace(ONE, most_commits_an_hour=1)
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), authority=roster) as stage:
        play = stage.play
        state = await stage.waits("a")
        await stage.waits("b")
        await play.sign([state.fingerprint])
        await play.until(lambda seen: seen.places == {"migrated": 1, "waiting": 1}, 60)
        states = [await play.state(stage.name(name)) for name in stage.names]
        (other,) = (found.zone.name for found in states if found.phase is not ZonePhase.CLOSED)

        async def tried_often() -> bool:
            history = await play.zone(other).fetch_history()
            named = (event.activity_task_scheduled_event_attributes for event in history.events)
            return sum(one.activity_type.name == "change_zone" for one in named) > 6

        await eventually(tried_often)
        assert play.keys is not None
        play.keys.write(ONE)
        assert (await stage.finish(60)).outcomes == {"migrated": 2}
        await stage.check(ABSENT)
