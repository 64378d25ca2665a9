"""Whoever can reach Temporal can have a worker look at a target, with a message of their choice. What it
signs of that is what it has read itself, of what is on record as sent.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.client import Client

from edgeshift.areas.waf import Mode
from edgeshift.messages import (
    CompareOutcomes,
    Confirm,
    Prepare,
    Watch,
)
from edgeshift.messages.areas.waf import Verify
from edgeshift.model.digests import digest
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.runtime.queues import Queue
from edgeshift.stores.documents import FrozenTargets, Proposal, get_document, put_document
from tests.faults.strangers_kit import (
    LONG,
    beside,
    committed,
    in_flight,
    sent_by,
    signed_of,
    stranger,
    way_back,
    without_differences,
)
from tests.forgeries.running.attack import Attack
from tests.forgeries.running.foreign import scheduled
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import (
    FAILS_WHEN_OFF,
    esc_stage,
    esc_zone,
)
from tests.kit import eventually
from tests.kit.faults import staged, zone

pytestmark = pytest.mark.embedded


async def test_a_scope_that_is_off_is_never_signed_as_rolled_back(
    temporal_client: Client, tmp_path: Path
) -> None:
    """By a proposal whose probe found no difference, whatever its URLs answer says nothing: the setting does.
    Nor is it signed as settled before it was watched to the end.
    """
    async with esc_stage(temporal_client, tmp_path, esc_zone("a"), authority=ONE, esc=LONG) as stage:
        a, prepared = await committed(stage, "a")
        start = await a.started_with()
        forged = await without_differences(stage, prepared)
        for asked in (
            {"prepared": forged, "back": True},
            {"prepared": prepared, "back": True},
            {"prepared": forged},
            {"prepared": prepared},
        ):
            message = Watch(start=start, since=a.stage.play.now(), last=True, **asked)
            _, told = await scheduled(a, "watch_esc_scope", message, Queue.LONG)
            assert told is not None and not told["done"] and not told["record"], told
        assert await signed_of(stage, "a") == []
        assert beside(stage, "a", "seen") == []
        assert await stage.play.is_off(stage.name("a"))


async def test_no_way_back_crosses_a_commit_that_is_on_its_way(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Whoever schedules it: of two requests that cross, either may come last (rule 9)."""
    async with esc_stage(temporal_client, tmp_path, esc_zone("a"), authority=ONE, esc=LONG) as stage:
        a, prepared = await committed(stage, "a")
        await in_flight(a)
        _, told = await scheduled(a, "change_zone", await way_back(a, prepared), Queue.CHANGES)
        assert (told["status"], told["turn"]) == ("nothing_happened", False), told
        assert await stage.play.is_off(stage.name("a"))


async def test_what_was_seen_to_its_end_is_taken_back_by_nobody(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nor by its own workflow, where a look that has signed it was lost on its way and is taken again when
    something is worse: what was signed is told.
    """
    async with esc_stage(temporal_client, tmp_path, esc_zone("a"), esc_zone("b"), authority=ONE) as stage:
        state = await stage.waits("a")
        await stage.play.sign_zone(stage.name("a"), digest=state.digest)
        assert await stage.outcome("a") is ZoneOutcome.SETTLED
        a = await stranger(stage, "a")
        prepared = sent_by(a)
        _, told = await scheduled(a, "change_zone", await way_back(a, prepared), Queue.CHANGES)
        assert told["status"] == "nothing_happened", told
        assert await stage.play.is_off(stage.name("a"))
        await stage.change("a", edge=FAILS_WHEN_OFF)
        again = Watch(start=await a.started_with(), prepared=prepared, since=stage.play.now(), last=True)
        _, told = await scheduled(a, "watch_esc_scope", again, Queue.LONG)
        assert told["done"] and told["record"] and not told["worse"], told


@pytest.mark.parametrize("signs", [True, False])
async def test_what_was_seen_to_its_end_stays_where_its_result_is_not_found(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signs: bool
) -> None:
    """As where somebody floods its place: it is recorded beside the commit, too. Rubbish beside that says
    nothing.
    """
    async with esc_stage(temporal_client, tmp_path, esc_zone("a"), esc_zone("b"), authority=ONE) as stage:
        state = await stage.waits("a")
        await stage.play.sign_zone(stage.name("a"), digest=state.digest)
        assert await stage.outcome("a") is ZoneOutcome.SETTLED
        a = await stranger(stage, "a")
        planted = f"intent/{a.state.zone.id}/esc/x"
        await a.archive.create_once(planted, b"rubbish")
        if not signs:
            monkeypatch.setattr("activities.proof.results.Results.proven", none_found)
        _, told = await scheduled(a, "change_zone", await way_back(a, sent_by(a)), Queue.CHANGES)
        assert (told["status"], told["final"]) == ("nothing_happened", True), told
        assert bool(told["settled"]) is signs
        assert await stage.play.is_off(stage.name("a"))
        (stage.play.folder / "state" / "archive" / planted).unlink()
        _, told = await scheduled(a, "prepare_esc_scope", Prepare(start=await a.started_with()), Queue.LONG)
        assert told["verdict"] == "already_settled", told
        assert await signed_of(stage, "a") == [ZoneOutcome.SETTLED]


async def none_found(*_: Any, **__: Any) -> dict[ZoneOutcome, Any]:
    return {}


async def test_what_was_rolled_back_is_not_turned_on_once_more(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A customer has turned it off on purpose since. While it is on, nothing is sent."""
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("a", worse=True), esc_zone("b"), authority=ONE
    ) as stage:
        state = await stage.waits("a")
        await stage.play.sign_zone(stage.name("a"), digest=state.digest)
        assert await stage.outcome("a") is ZoneOutcome.ROLLED_BACK
        a = await stranger(stage, "a")
        before = len(await stage.play.journal("esc.delete", stage.name("a")))
        _, told = await scheduled(a, "change_zone", await way_back(a, sent_by(a)), Queue.CHANGES)
        assert told["status"] == "answered", told
        path = f"{stage.play.simulator.base_url}/zones/{stage.id('a')}/disable_esc"
        headers = {"authorization": f"Bearer {stage.play.fleet.credentials[0].value}"}
        async with httpx.AsyncClient() as customer:
            answer = await customer.post(path, headers=headers, json={"always": True})
            assert answer.status_code == 200, answer.text
        await eventually(lambda: stage.play.is_off(stage.name("a")))
        _, told = await scheduled(a, "change_zone", await way_back(a, sent_by(a)), Queue.CHANGES)
        assert (told["status"], told["final"]) == ("nothing_happened", True), told
        assert await stage.play.is_off(stage.name("a"))
        assert len(await stage.play.journal("esc.delete", stage.name("a"))) == before
        _, told = await scheduled(a, "prepare_esc_scope", Prepare(start=await a.started_with()), Queue.LONG)
        assert await signed_of(stage, "a") == [ZoneOutcome.ROLLED_BACK]


async def test_a_zone_that_the_campaign_has_migrated_is_not_signed_as_found_so(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Whoever has a worker read it once more; one that somebody else had migrated is signed as found."""
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), authority=ONE) as stage:
        state = await stage.waits("a")
        await stage.play.sign_zone(stage.name("a"), digest=state.digest)
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        a = await stranger(stage, "a")
        _, told = await scheduled(a, "prepare_waf_zone", Prepare(start=await a.started_with()), Queue.LONG)
        assert told["verdict"] == "already_migrated", told
        assert await signed_of(stage, "a") == [ZoneOutcome.MIGRATED]
        await stage.waits("b")
        b = await stranger(stage, "b")
        await stage.change("b", state="complete")
        _, told = await scheduled(b, "prepare_waf_zone", Prepare(start=await b.started_with()), Queue.LONG)
        assert told["verdict"] == "already_migrated", told
        assert await signed_of(stage, "b") == [ZoneOutcome.ALREADY_MIGRATED]


async def test_a_commit_that_may_still_show_is_not_closed_while_esc_is_on(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nobody has sent a rollback: that esc is on says nothing of what is in flight."""
    more = {"esc": {**LONG, "effect_limit": "1h"}}
    async with esc_stage(temporal_client, tmp_path, esc_zone("a"), authority=ONE, **more) as stage:
        await stage.waits("a")
        a = await stranger(stage, "a")
        name = await in_flight(a)
        message = Confirm(
            start=await a.started_with(),
            prepared=sent_by(a),
            wanted=False,
            limit=timedelta(seconds=5),
            since=stage.play.now(),
        )
        _, told = await scheduled(a, "settle_esc_scope", message, Queue.LONG)
        assert told is not None and not told["hopeless"]
        assert name not in beside(stage, "a", "nothing") + beside(stage, "a", "seen")


async def test_a_scope_of_ours_is_not_signed_as_found_off_in_another_campaigns_name(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The specification is ours, the campaign that the message names is none that has turned it off."""
    async with esc_stage(temporal_client, tmp_path, esc_zone("a"), authority=ONE, esc=LONG) as stage:
        a, _ = await committed(stage, "a")
        start = (await a.started_with()).model_copy(update={"planned": None})
        elsewhere = start.target.model_copy(update={"wave": 7})
        for forged in ({"campaign": "campaign/other"}, {"target": elsewhere, "attempt": 9}):
            message = Prepare(start=start.model_copy(update=forged))
            _, told = await scheduled(a, "prepare_esc_scope", message, Queue.LONG)
            assert told is not None
        assert await signed_of(stage, "a") == []


async def test_rules_that_the_campaign_has_not_sent_are_not_signed_as_migrated(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Somebody else has migrated the zone, by rules of which a stranger has archived a proposal."""
    async with staged(temporal_client, tmp_path, zone("a"), authority=ONE) as stage:
        await stage.waits("a")
        a = await stranger(stage, "a")
        proposal = await get_document(stage.play.archive, Proposal, a.state.proposal)
        rules = [{**rule, "enabled": False} for rule in proposal.body["rules"]]
        body = {**proposal.body, "rules": rules}
        await stage.change("a", state="complete", entry_point={"rules": rules})
        forged = await put_document(stage.play.archive, proposal.model_copy(update={"body": body}))
        message = Verify(
            start=await a.started_with(),
            mode=Mode.PENDING,
            proposal=forged,
            snapshot=a.state.snapshot,
            digest=digest(body),
            limit=timedelta(seconds=10),
        )
        _, told = await scheduled(a, "verify_waf_zone", message, Queue.LONG)
        assert told is not None and told["reached"], told
        assert await signed_of(stage, "a") == []


async def compared(a: Attack, told: ZoneOutcome, targets: str = "") -> None:
    """Ask a worker to compare an outcome that nobody has signed, at once."""
    start = a.stage.play.start
    assert start is not None
    message = CompareOutcomes(
        origin=await a.run(),
        targets=targets or start.targets,
        spec=start.spec,
        area=start.area,
        indexes=(0,),
        attempts=(1,),
        outcomes=(told,),
        settles_in=timedelta(0),
    )
    _, found = await scheduled(a, "compare_outcomes", message, Queue.LONG)
    assert found is not None and found["read"] == 1, found


async def test_an_outcome_to_compare_is_signed_only_of_what_was_sent(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A scope that nobody has changed was not rolled back; nor was one whose commit may still show, whatever
    time a message leaves it.
    """
    more = {"esc": {**LONG, "effect_limit": "1h"}}
    async with esc_stage(temporal_client, tmp_path, esc_zone("a"), authority=ONE, **more) as stage:
        await stage.waits("a")
        a = await stranger(stage, "a")
        await compared(a, ZoneOutcome.ROLLED_BACK)
        await in_flight(a)
        await compared(a, ZoneOutcome.ROLLED_BACK)
        assert await signed_of(stage, "a") == []


async def test_an_outcome_to_compare_is_signed_only_of_a_signed_list(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The service shows it, of a list of targets that nobody has signed."""
    async with staged(temporal_client, tmp_path, zone("a"), authority=ONE) as stage:
        await stage.waits("a")
        a = await stranger(stage, "a")
        await stage.change("a", state="complete")
        target = (await a.started_with()).target.model_copy(update={"wave": 7})
        forged = await put_document(a.archive, FrozenTargets((target,)))
        await compared(a, ZoneOutcome.MIGRATED, forged)
        assert await signed_of(stage, "a") == []
        await compared(a, ZoneOutcome.MIGRATED)
        assert await signed_of(stage, "a") == [ZoneOutcome.MIGRATED]
