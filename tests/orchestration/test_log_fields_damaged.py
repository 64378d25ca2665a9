"""A record of what a campaign has written, damaged in the archive before its rollback: nobody can tell then
what is the campaign's own, and the zone does not end as if it had been taken back.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode, codes_of
from tests.kit import STRANGER, Scene, fleet_of, scene
from tests.kit.log_fields import SPEC, logged_zone, ruleset
from tests.kit.queue import on_queue
from tests.kit.signing import Roster

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(180)]

NAME = "damaged.example"


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


async def ours(play: Scene) -> bool:
    """Whether a rule of the campaign's is in the zone."""
    return any("edgeshift" in rule["description"] for rule in (await ruleset(play, NAME))["rules"])


async def record_of(play: Scene, what: str) -> str:
    """The archive's name of the one record of the zone that begins so."""
    prefix = f"before/{play.zone_id(NAME)}/log-fields"
    (found,) = [key async for key in play.archive.list(prefix) if key.rpartition("/")[2].startswith(what)]
    return found


@pytest.mark.parametrize("what", ["base", "put-", "job-"])
async def test_a_zone_whose_trail_is_damaged_is_not_called_rolled_back(
    client: Client, tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change stays in force; the zone is failed, for a person to undo it, and names what could not be
    read.
    """
    monkeypatch.setattr("workflows.reversible.MOST_TRIES_BACK", 2)
    async with scene(client, tmp_path, fleet_of(logged_zone(NAME)), **SPEC) as play:
        await play.zone_until(NAME, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
        await play.sign_zone(NAME)
        await play.zone_until(NAME, lambda found: found.phase is ZonePhase.WATCHING)
        key = await record_of(play, what)
        assert play.archive.folder is not None
        path = play.archive.folder / key
        path.write_bytes(path.read_bytes()[:-1])
        result = await asyncio.wait_for(play.zone(NAME).result(), 120)
        assert await ours(play)
        assert result.outcome is ZoneOutcome.FAILED, result.reason
        assert codes_of(result.why) == (ReasonCode.NOT_ROLLED_BACK,)
        (then,) = result.why[0].then
        assert then.code in (ReasonCode.ROLLBACK_NOT_MADE, ReasonCode.ARCHIVE_DAMAGED) and key in then.said
        assert key in result.reason, result.reason


async def written_over(play: Scene, attempt: int, what: str = "") -> None:
    """Somebody writes over the intents of an attempt that have this in their names."""
    assert play.archive.folder is not None
    async for key in play.archive.list(f"intent/{play.zone_id(NAME)}/log-fields"):
        path = play.archive.folder / key
        there = json.loads(path.read_bytes())
        if what in key and there["attempt"] == attempt:
            path.write_text(json.dumps({**there, "signed": None}))


async def committed(play: Scene) -> None:
    """The zone waits for its sign-off, gets it, and is watched."""
    await play.zone_until(NAME, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
    await play.sign_zone(NAME)
    await play.zone_until(NAME, lambda found: found.phase is ZonePhase.WATCHING)


@pytest.mark.parametrize("what", ["", "-rules-"])
async def test_a_watched_zone_whose_intents_count_no_more_is_unknown(
    client: Client, tmp_path: Path, what: str
) -> None:
    """Nobody can tell whether what stands is the campaign's; where some of them count, it is taken back."""
    async with scene(client, tmp_path, fleet_of(logged_zone(NAME)), authority=Roster(), **SPEC) as play:
        await committed(play)
        await written_over(play, 1, what)
        result = await asyncio.wait_for(play.zone(NAME).result(), 120)
        if what:
            assert result.outcome is ZoneOutcome.ROLLED_BACK and not await ours(play), result.reason
        else:
            assert result.outcome is ZoneOutcome.UNKNOWN and await ours(play), result.reason
            assert "does not count, and may be the campaign's" in result.reason


async def test_a_zone_whose_intents_count_no_more_is_not_called_rolled_back(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the second attempt; the first one's let the rollback through, and were seen to their end. A
    stranger has taken the rules out: the log job still lists what the campaign added.
    """
    monkeypatch.setattr("workflows.reversible.MOST_TRIES_BACK", 2)
    fleet = fleet_of(logged_zone(NAME), logged_zone("other.example"))
    async with scene(client, tmp_path, fleet, authority=Roster(), **SPEC) as play:
        await committed(play)
        first = await asyncio.wait_for(play.zone(NAME).result(), 120)
        assert first.outcome is ZoneOutcome.ROLLED_BACK, first.reason
        await play.until(lambda found: found.places.get("rolled_back") == 1)
        await play.again("reopen", NAME)
        await play.zone_until(NAME, lambda found: found.attempt == 2)
        # Statements are told to the second: one of the same second as the rollback may be of before it.
        await asyncio.sleep(1)
        await committed(play)
        await written_over(play, 2)
        await play.stranger(NAME, [STRANGER], when="now", how="replace")
        result = await asyncio.wait_for(play.zone(NAME).result(), 120)
        # Into its list and out again, and in once more.
        assert len(await play.journal("logpush.jobs.update", NAME)) == 3
        assert result.outcome is ZoneOutcome.FAILED, result.reason
        assert codes_of(result.why) == (ReasonCode.NOT_ROLLED_BACK,)
        assert "does not count, and may be the campaign's" in result.reason
