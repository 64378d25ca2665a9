"""A signed abort or pause holds where Temporal has lost the word: zones at the door heed it, and the campaign
comes to know of it.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import Answer, Person
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from edgeshift.operations import calls, steering
from edgeshift.operations.again import begin_again
from edgeshift.operations.errors import NotFound, Refused
from edgeshift.operations.pen import Pen
from edgeshift.operations.steering import abort
from edgeshift.testbed.invariants.seen import StopRecord
from tests.kit import OPERATOR
from tests.kit.faults import staged, zone
from tests.kit.heeded_late import heeded_late
from tests.kit.signing import Roster, key_of

pytestmark = pytest.mark.embedded

OTHER = zone("z", "business", page_rules=[{"targets": ["*z/x*"], "actions": [{"id": "waf", "value": "off"}]}])
"""It proposes something else, and waits."""


async def test_an_abort_that_only_the_archive_has_ends_the_zone_at_the_door_and_the_campaign(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The zone that comes to the door is aborted in the name of who signed that, and not on hold; its
    campaign finds the record and ends, and so does the zone that waits.
    """
    async with staged(temporal_client, tmp_path, zone("a"), OTHER, authority=Roster()) as stage:
        play = stage.play
        state = await stage.waits("a")
        await stage.waits("z")
        asked = play.now()
        await play.sign_word("abort", "the provider called")
        play.stops.append(
            StopRecord(
                campaign=play.spec.name, kind="abort", by=OPERATOR, asked_at=asked, answered_at=play.now()
            )
        )
        await play.sign([state.fingerprint])
        result = await play.result()
        assert (result.aborted, result.outcomes) == (True, {"aborted": 2})
        for short in ("a", "z"):
            assert await stage.outcome(short) is ZoneOutcome.ABORTED
            (why,) = (await play.state(stage.name(short))).why
            known = (why.code, why.by, why.said)
            assert known == (ReasonCode.CAMPAIGN_ABORTED, OPERATOR, "the provider called")
        notes = (await play.summary()).notes
        assert any(f"{OPERATOR} has signed that it is to abort" in note for note in notes)
        assert await stage.changes() == []


async def test_an_abort_that_the_campaign_found_first_is_answered(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It heeds what is signed, and closes, before a slow command line tells it: that is what was asked.

    One zone comes to the door, which refuses it; the other one waits, so that the campaign is still open when
    it looks.
    """
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), authority=Roster()) as stage:
        play = stage.play
        for short in ("a", "b"):
            await stage.waits(short)

        async def late(*what: Any, **how: Any) -> Answer:
            await play.sign_zone(stage.name("a"))
            await play.result()
            return await calls.tell(*what, **how)

        monkeypatch.setattr(steering, "tell", late)
        pen = play.pen(OPERATOR)
        answer = await abort(play.client, play.spec.name, by=OPERATOR, reason="enough", pen=pen)
        assert "found the signed word by itself" in answer.text
        with pytest.raises(Refused, match="closed"):
            await abort(play.client, play.spec.name, by=OPERATOR, reason="enough", pen=pen)


async def test_an_abort_that_is_found_with_the_last_zones_end_is_heeded(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The door has ended the only zone, so that the campaign has its outcome as it finds the signed word: it
    says that it was aborted, and by whom, and so does whoever comes late with that word.
    """
    async with heeded_late(temporal_client, tmp_path) as (stage, first):
        play = stage.play

        async def late(*what: Any, **how: Any) -> Answer:
            first.over.clear()
            await play.sign_zone(stage.name("a"))
            await play.result()
            return await calls.tell(*what, **how)

        monkeypatch.setattr(steering, "tell", late)
        pen = play.pen(OPERATOR)
        answer = await abort(play.client, play.spec.name, by=OPERATOR, reason="enough", pen=pen)
        assert "found the signed word by itself" in answer.text
        result = await play.result()
        assert (result.aborted, result.outcomes) == (True, {"aborted": 1})
        found = await play.summary()
        assert (found.stopped_by, found.why) == (OPERATOR, f"by {OPERATOR}: enough")
        assert await stage.changes() == []


@pytest.mark.parametrize("roots", [True, False])
async def test_nothing_of_a_start_begins_again_once_its_abort_is_signed(
    roots: bool, temporal_client: Client, tmp_path: Path
) -> None:
    """Whoever reopens or retries is told how to go on, and nothing is begun; also where no roots are known to
    who asks. Once it is started anew the abort of before is no more in the way.
    """
    async with staged(temporal_client, tmp_path, zone("a"), authority=Roster()) as stage:
        play = stage.play
        await stage.waits("a")
        await abort(play.client, play.spec.name, by=OPERATOR, reason="enough", pen=play.pen(OPERATOR))
        assert (await play.result()).outcomes == {"aborted": 1}
        pen = play.pen(OPERATOR) if roots else Pen(key_of(OPERATOR), play.archive, OPERATOR)
        for verb, place in ("reopen", "aborted"), ("retry", "failed"):
            with pytest.raises(Refused, match=f"was aborted by {OPERATOR}, who signed that") as told:
                await begin_again(play.client, play.spec.name, verb, by=OPERATOR, places=[place], pen=pen)
            assert "`edgeshift start FILE --again`" in told.value.hint
        assert await play.is_closed()
        assert pen is not None and play.start is not None
        # What `support-resolved` signs before it tells the zone.
        zones, before = [play.zone_id(stage.name("a"))], [key async for key in play.archive.list("signed")]
        with pytest.raises(Refused, match=f"was aborted by {OPERATOR}, who signed that") as told:
            await pen.again(play.spec.name, play.start.spec, "support-resolved", zones=zones)
        assert "`edgeshift start FILE --again`" in told.value.hint
        assert [key async for key in play.archive.list("signed")] == before
        await asyncio.sleep(1.1)
        await pen.start(play.start, play.spec)
        await pen.refuse_aborted(play.spec.name, play.start.spec)


async def test_nothing_is_signed_where_nothing_begins_again(temporal_client: Client, tmp_path: Path) -> None:
    """What an operator has signed would count, though the campaign took no notice of it: neither for all
    zones nor for a named one, while the campaign runs and once it has closed.
    """
    async with staged(temporal_client, tmp_path, zone("a"), authority=Roster()) as stage:
        play = stage.play
        state = await stage.waits("a")
        one: dict[str, Any] = {
            "indexes": [play.index(stage.name("a"))],
            "zones": [stage.id("a")],
            "places": ["on_hold", "rejected"],
        }
        for _ in range(2):
            for what in ({"places": ["on_hold", "aborted"]}, one):
                with pytest.raises(NotFound, match="nothing to reopen: none of these zones"):
                    await begin_again(
                        play.client, play.spec.name, "reopen", by=OPERATOR, pen=play.pen(OPERATOR), **what
                    )
            assert [key async for key in play.archive.list(f"signed/{play.spec.name}/again")] == []
            if not await play.is_closed():
                await play.sign([state.fingerprint])
                await play.result()
        await stage.check()


async def test_a_pause_that_only_the_archive_has_pauses_the_campaign_until_it_is_resumed(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The campaign finds it when it sweeps; what is approved waits; a resume ends it, and it stays ended. A
    resume that nobody signed does not: the campaign is paused again.
    """
    async with staged(temporal_client, tmp_path, zone("a"), begin=False, authority=Roster()) as stage:
        play = stage.play

        async def swept_often() -> None:
            assert play.start is not None
            play.start = play.start.model_copy(update={"sweep": timedelta(seconds=1)})

        await play.begin(meanwhile=swept_often)
        state = await stage.waits("a")
        await play.sign_word("pause", "lunch")
        await play.until(lambda seen: seen.state == "paused")
        await play.campaign.execute_update("resume", Person(by="nobody"), result_type=Answer)
        await play.until(lambda seen: seen.state == "paused")
        await play.sign([state.fingerprint])
        await play.until(lambda seen: seen.places.get("ready") == 1)
        assert await stage.changes() == []
        await play.ask("resume")
        await play.result()
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        assert len([note for note in (await play.summary()).notes if "has signed" in note]) == 2
