"""Pause and abort while permits are out, abort at every stage, retry, reopen, and rivals."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from edgeshift.messages import CampaignResult, CampaignSummary, ZonePhase, ZoneState
from edgeshift.model.fleet import ZoneOutcome, campaign_id
from edgeshift.model.sign_off import Choice
from edgeshift.runtime.queues import Queue
from tests.harness.disturbances.operators import start_again
from tests.harness.running.share import shared
from tests.kit import TOO_MANY_RULES, eventually
from tests.kit.faults import Stage, again, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.long]

NO_ENTERPRISE = frozenset({3, 4})


async def sent(stage: Stage, call: str = "entrypoint.put") -> int:
    """How many requests of this call the service has seen."""
    return len(await stage.play.journal(call))


async def test_a_pause_while_permits_are_out_answers_once_they_are_settled(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Six commits are on the wire and slow; none begins after the answer; a resume ends it."""
    names = [f"z{number}" for number in range(10)]
    async with staged(temporal_client, tmp_path, *map(zone, names), begin=False, window=6) as stage:
        await stage.play.control.send(
            "POST", "faults", {"kind": "latency", "match": {"call": "entrypoint.put"}, "seconds": 1.5}
        )
        await stage.play.begin()
        await stage.play.until(lambda seen: seen.places.get("awaiting") == 10)
        states = [await stage.waits(name) for name in names]
        await stage.play.sign({state.fingerprint for state in states})
        await stage.play.until(lambda seen: seen.permits_out > 0)
        answer = await stage.play.ask("pause", "lunch")
        assert answer.text.startswith("is paused; ")
        before = await sent(stage)
        # Zones that have nothing more to send are told after the answer.
        await stage.play.until(lambda seen: seen.permits_out == 0)
        await asyncio.sleep(2.5)
        assert await sent(stage) == before
        assert (await stage.play.summary()).state == "paused"
        await stage.play.ask("resume")
        assert (await stage.finish()).outcomes == {"migrated": 10}
        await stage.check(NO_ENTERPRISE)


async def test_a_second_pause_without_a_reason_leaves_the_first_ones(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Who comes later is told why it stands still; a reason of theirs takes its place."""
    async with staged(temporal_client, tmp_path, zone("a")) as stage:
        await stage.waits("a")
        for reason, told in (("lunch", "lunch"), ("", "lunch"), ("freeze", "freeze")):
            assert (await stage.play.ask("pause", reason)).text.startswith("is paused; ")
            found = await stage.play.summary()
            assert found.state == "paused" and found.why.endswith(f": {told}")
        await stage.play.ask("resume")
        await stage.play.ask("pause")
        assert (await stage.play.summary()).why.endswith(": no reason given")


async def test_an_abort_while_permits_are_out_sees_through_what_was_sent(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Commits on the wire are verified to the end; whatever was not sent ends as aborted."""
    names = [f"z{number}" for number in range(8)]
    async with staged(temporal_client, tmp_path, *map(zone, names), begin=False, window=4) as stage:
        await stage.play.control.send(
            "POST", "faults", {"kind": "latency", "match": {"call": "entrypoint.put"}, "seconds": 1.5}
        )
        await stage.play.begin()
        summary = await stage.play.until(lambda seen: seen.places.get("awaiting") == 8)
        await stage.play.sign(item.fingerprint for item in summary.waiting)
        await stage.play.until(lambda seen: seen.permits_out >= 4)

        async def on_the_wire() -> bool:
            return not await stage.unfired()

        await eventually(on_the_wire, 60, "a commit is on the wire")
        await stage.play.ask("abort", "enough")
        result = await stage.play.result()
        await stage.closed()
        migrated = sum(entry["effect"] != "none" for entry in await stage.play.commits())
        assert result.aborted
        assert migrated >= 1
        assert result.outcomes == {"migrated": migrated, "aborted": 8 - migrated}
        await stage.check(NO_ENTERPRISE)


async def test_a_pause_during_the_start_holds_for_zones_that_are_just_starting(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Enterprise zones are started with a permit: those that start while the pause is asked give it back."""
    names = [f"big{number}" for number in range(30)]
    zones = [zone(name, "enterprise") for name in names]
    async with staged(temporal_client, tmp_path, *zones, window=30) as stage:
        await stage.play.ask("pause", "wait")
        before = await sent(stage)
        await stage.play.until(lambda seen: seen.permits_out == 0)
        await asyncio.sleep(3)
        assert await sent(stage) == before
        found = await stage.play.summary()
        assert not set(found.places) & {"failed", "unknown", "excluded"}
        await stage.play.ask("resume")
        assert (await stage.finish(120)).outcomes == {"migrated": 30}
        await stage.check({4})


STAGES: dict[str, tuple[ZonePhase, dict[str, Any], dict[str, Any]]] = {
    "assessing": (ZonePhase.ASSESSING, zone("z"), {"call": "waf.check", "seconds": 2}),
    "window": (ZonePhase.VALIDATING, zone("z", "enterprise"), {}),
    "validation": (
        ZonePhase.STARTING_VALIDATION,
        zone("z", "enterprise"),
        {"call": "entrypoint.put", "seconds": 2},
    ),
    "sign-off": (ZonePhase.AWAITING_SIGN_OFF, zone("z"), {}),
    "evidence": (ZonePhase.AWAITING_SIGN_OFF, zone("z", "enterprise"), {}),
    "support": (
        ZonePhase.NEEDS_SUPPORT,
        zone("z", firewall_rules=TOO_MANY_RULES),
        {},
    ),
    "permit": (ZonePhase.AWAITING_PERMIT, zone("z"), {}),
    "commit": (ZonePhase.COMMITTING, zone("z"), {"call": "entrypoint.put", "seconds": 2}),
    "verification": (ZonePhase.VERIFYING, zone("z"), {}),
}


@pytest.mark.parametrize("stage_name", shared("stages of an abort", STAGES, least=3))
async def test_an_abort_ends_a_zone_at_every_stage(
    stage_name: str, temporal_client: Client, tmp_path: Path
) -> None:
    """Aborted where nothing irreversible was sent; seen through where it was. The answer names zones that are
    past return or left in validation.
    """
    phase, described, slow = STAGES[stage_name]
    window = {"window": "72h"} if stage_name == "window" else {}
    simulator = {"migration_seconds": 40_000} if stage_name == "verification" else None
    commit = {"migration_limit": "8s"}
    async with staged(
        temporal_client,
        tmp_path,
        described,
        begin=False,
        validation=window,
        commit=commit,
        simulator=simulator,
    ) as stage:
        if slow:
            await stage.fault("latency", short="z", **slow)
        await stage.play.begin()
        if phase in (ZonePhase.AWAITING_PERMIT, ZonePhase.COMMITTING, ZonePhase.VERIFYING):
            await stage.waits("z")
            if phase is ZonePhase.AWAITING_PERMIT:
                await stage.play.ask("pause")
            await stage.play.sign_zone(stage.name("z"))
        if phase is ZonePhase.ASSESSING:
            # A zone answers no query while it reads: it has been started, and its first answer is slow.
            await stage.play.until(lambda seen: seen.places.get("working") == 1)
        else:
            await stage.phase("z", phase)
        answer = await stage.play.ask("abort", "enough")
        if stage_name in ("window", "evidence", "sign-off", "permit", "verification"):
            assert answer.in_validation == ((0,) if stage_name in ("window", "evidence") else ())
            assert answer.sent == ((0,) if stage_name == "verification" else ())
        through = phase in (ZonePhase.COMMITTING, ZonePhase.VERIFYING)
        expected = ZoneOutcome.MIGRATED if through else ZoneOutcome.ABORTED
        assert await stage.outcome("z", 30) is expected
        await stage.closed()
        assert (await stage.play.result()).aborted
        assert len(await stage.play.commits()) == int(through)
        with pytest.raises((RPCError, WorkflowUpdateFailedError)):
            await stage.play.ask("pause")
        absent = {1, 2, 3, 4, 5, 8, 9} if not through else {3, 4}
        await stage.check(absent)


async def test_retry_and_reopen_begin_zones_again(temporal_client: Client, tmp_path: Path) -> None:
    """A failed and an unknown zone by retry, a rejected and an expired one by reopen."""
    names = ("refused", "lost", "rejected", "expired")
    async with staged(
        temporal_client,
        tmp_path,
        *map(zone, names),
        zone("open", "enterprise"),
        begin=False,
        validation={"window": "80h"},
        commit={"resend_unchanged": 0},
        sign_off={"expires_after": "48h"},
    ) as stage:
        play = stage.play
        refusal: dict[str, Any] = {
            "status": 400,
            "body": '{"success":false,"errors":[{"message":"no"}],"result":null}',
        }
        await stage.fault("not_json", "entrypoint.put", "refused", effect="before", **refusal)
        await stage.fault("server_error", "entrypoint.put", "lost", effect="before")
        await play.begin()
        for name in names:
            await stage.waits(name)
        await play.sign_zone(stage.name("refused"))
        await play.sign_zone(stage.name("lost"))
        await play.sign_zone(stage.name("rejected"), Choice.REJECT)
        assert await stage.outcome("refused") is ZoneOutcome.FAILED
        assert await stage.outcome("rejected") is ZoneOutcome.REJECTED
        assert await stage.outcome("lost") is ZoneOutcome.UNKNOWN
        assert await stage.outcome("expired") is ZoneOutcome.ON_HOLD
        assert len(await play.commits(stage.name("lost"))) == 1
        await again(stage, "retry", "refused", "lost")
        await again(stage, "reopen", "rejected", "expired")
        for name in names:
            assert (await play.zone_until(stage.name(name), _second_try)).decisions == []
        await play.sign_zone(stage.name("rejected"), Choice.REJECT)
        for name in ("refused", "lost", "expired"):
            await play.sign_zone(stage.name(name))
        result = await stage.finish()
        assert result.outcomes == {"migrated": 4, "rejected": 1}
        assert await play.commits(stage.name("rejected")) == []
        await stage.check({4, 7})


def _second_try(state: ZoneState) -> bool:
    return state.attempt == 2 and state.phase is ZonePhase.AWAITING_SIGN_OFF


async def test_a_campaign_is_started_once_and_a_zone_belongs_to_one(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The second start is refused; a second campaign names, and spares, the zones of the first one."""
    async with staged(temporal_client, tmp_path, zone("a"), zone("b")) as stage:
        play = stage.play
        await stage.waits("a")
        await stage.waits("b")
        assert play.start is not None
        with pytest.raises(WorkflowAlreadyStartedError):
            await play.client.start_workflow(
                "Campaign",
                args=play.start.arguments(),
                id=campaign_id(play.spec.name),
                task_queue=Queue.CONTROL,
            )
        rival = await play.client.start_workflow(
            "Campaign",
            args=play.start.model_copy(update={"name": f"{play.spec.name}-two"}).arguments(),
            id=campaign_id(f"{play.spec.name}-two"),
            task_queue=Queue.CONTROL,
        )
        ended = CampaignResult.model_validate(await rival.result())
        assert ended.outcomes == {"excluded": 2}
        summary = await rival.query("summary", result_type=CampaignSummary)
        assert summary.excluded == {index: f"already in {campaign_id(play.spec.name)}" for index in (0, 1)}
        assert (await stage.finish()).outcomes == {"migrated": 2}
        await stage.check()


async def test_a_rejection_stands_when_its_campaign_is_started_anew(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A zone is rejected by name while its campaign is gone, and by the time that it begins again its
    fingerprint has been approved: it is sent nothing until somebody reopens it.
    """
    other = zone("c", firewall_rules=[{"expression": "ip.src eq 192.0.2.1", "products": ["waf"]}])
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), other) as stage:
        first = await stage.waits("a")
        for name in ("b", "c"):
            await stage.waits(name)
        await stage.play.campaign.terminate("by mistake")
        await stage.play.sign_zone(stage.name("a"), Choice.REJECT)
        assert await stage.outcome("a") is ZoneOutcome.REJECTED
        await start_again(stage)
        await stage.play.until(lambda seen: seen.places.get("awaiting") == 2)
        await stage.play.sign([first.fingerprint])
        ends = {"awaiting": 1, "migrated": 1, "rejected": 1}
        await stage.play.until(lambda seen: seen.places == ends)
        assert "rejected before" in (await stage.play.zone(stage.name("a")).result()).reason
        assert await stage.changes("a") == []
        await again(stage, "reopen", "a")
        assert (await stage.finish()).outcomes == {"migrated": 3}
        await stage.check({3, 4, 7})
