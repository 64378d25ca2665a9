"""Signals that come twice, early, late, out of order, from nobody, or as nonsense: none does any harm."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.service import RPCError

from edgeshift.messages import (
    Answer,
    CampaignSignOff,
    Permit,
    PermitGrant,
    ReportKind,
    Step,
    ZonePhase,
    ZoneReport,
)
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice, Decision
from tests.kit.faults import ASIDE, Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.long]

LISTED = {"approvers": ["ann", "bob"]}


async def signal(stage: Stage, short: str, name: str, message: object) -> None:
    """Send a zone a plain signal."""
    await stage.play.zone(stage.name(short)).signal(name, message)


def decision(digest: str, by: str = "ann", choice: Choice = Choice.APPROVE) -> Decision:
    """A person's word."""
    return Decision(choice=choice, digest=digest, by=by)


async def test_decisions_that_come_twice_or_too_late_change_nothing(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Ten equal approvals are one; what comes to a closed zone is refused by the server."""
    async with staged(temporal_client, tmp_path, zone("a"), zone("open"), window=40) as stage:
        state = await stage.waits("a")
        for _ in range(10):
            await stage.play.sign_zone(stage.name("a"), digest=state.digest)
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        with pytest.raises(RPCError):
            await signal(stage, "a", "sign_off", decision(state.digest, choice=Choice.REJECT))
        result = await stage.finish()
        assert result.outcomes == {"migrated": 2}
        assert await stage.changes("a") == [("entrypoint.put", "pending")]
        await stage.check()


async def test_an_early_approval_counts_once_its_digest_is_proposed(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The digest of an equal zone is signed while this one is still being read; once is enough."""
    async with staged(temporal_client, tmp_path, zone("first"), zone("late"), begin=False) as stage:
        await stage.fault("latency", "waf.config", "late", seconds=4)
        await stage.play.begin()
        state = await stage.waits("first")
        await stage.play.sign_zone(stage.name("late"), digest=state.digest)
        assert await stage.outcome("late") is ZoneOutcome.MIGRATED
        result = await stage.finish()
        assert result.outcomes == {"migrated": 2}
        await stage.check()


async def test_only_listed_people_count_and_a_quorum_counts_people(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A stranger's approval, one person twice, an old digest: the zone goes on waiting and says why."""
    policy = {**LISTED, "required": 2}
    async with staged(temporal_client, tmp_path, zone("a"), sign_off=policy) as stage:
        state = await stage.waits("a")
        await signal(stage, "a", "sign_off", decision(state.digest, by="mallory"))
        await signal(stage, "a", "sign_off", decision("0" * 64, by="bob"))
        for _ in range(3):
            await stage.play.sign_zone(stage.name("a"), by="ann")
        await asyncio.sleep(1)
        found = await stage.play.state(stage.name("a"))
        assert found.phase is ZonePhase.AWAITING_SIGN_OFF
        assert any("mallory" in text for text in found.ignored)
        assert any("not the one that waits" in text for text in found.ignored)
        assert await stage.changes() == []
        await stage.play.sign_zone(stage.name("a"), by="bob")
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        await stage.play.result()
        await stage.closed()
        await stage.check()


async def test_updates_refuse_at_once_what_cannot_count(temporal_client: Client, tmp_path: Path) -> None:
    """Each refusal says what is wrong: not listed, four eyes, old digest, unknown fingerprint or wave."""
    policy = {"approvers": ["ann", "olga"], "four_eyes": True}
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), sign_off=policy) as stage:
        play = stage.play
        state = await stage.waits("a")
        await stage.waits("b")

        async def decide(message: Decision, short: str = "a") -> str:
            with pytest.raises(WorkflowUpdateFailedError) as refused:
                await play.zone(stage.name(short)).execute_update("decide", message, result_type=Answer)
            return str(refused.value.cause)

        async def book(**more: Any) -> str:
            asked = {"choice": Choice.APPROVE, "fingerprints": (state.fingerprint,), "by": "ann", **more}
            with pytest.raises(WorkflowUpdateFailedError) as refused:
                await play.campaign.execute_update(
                    "sign_off", CampaignSignOff.model_validate(asked), result_type=Answer
                )
            return str(refused.value.cause)

        assert "not an approver" in await decide(decision(state.digest, by="mallory"))
        assert "four eyes" in await decide(decision(state.digest, by="olga"))
        assert state.digest in await decide(decision("f" * 64))
        assert "not an approver" in await book(by="mallory")
        assert "four eyes" in await book(by="olga")
        assert "no zone of this campaign has proposed" in await book(fingerprints=("e" * 64,))
        assert "there is no wave 8; there is wave 1 alone" in await book(wave=7)
        await play.sign_zone(stage.name("b"), Choice.REJECT)
        assert await stage.outcome("b") is ZoneOutcome.REJECTED
        await play.sign_zone(stage.name("a"), plain=False)
        await stage.closed()
        assert (await play.result()).outcomes == {"migrated": 1, "rejected": 1}
        assert await stage.changes("b") == []
        await stage.check()


async def test_an_old_digest_does_not_count_after_drift(temporal_client: Client, tmp_path: Path) -> None:
    """The configuration changes between the sign-off and the commit: it is shown, and signed anew."""
    async with staged(temporal_client, tmp_path, zone("a")) as stage:
        state = await stage.waits("a")
        rule = {"expression": 'http.request.uri.path eq "/x"', "products": ["waf"]}
        await stage.change("a", add_firewall_rules=[rule])
        await stage.play.sign_zone(stage.name("a"))
        found = await stage.play.zone_until(stage.name("a"), lambda seen: bool(seen.drifted_from))
        found = await stage.waits("a")
        assert found.drifted_from == state.digest != found.digest
        assert await stage.changes() == []
        with pytest.raises(WorkflowUpdateFailedError):
            await stage.play.zone(stage.name("a")).execute_update(
                "decide", decision(state.digest), result_type=Answer
            )
        await stage.play.sign_zone(stage.name("a"), plain=False)
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        await stage.closed()
        await stage.check()


@pytest.mark.parametrize(
    "call, place",
    [
        ("waf.config", "/result/rules/0/expression"),
        ("pagerules.list", "/result/0/targets/0/constraint/value"),
    ],
)
async def test_no_validation_begins_with_what_one_wrong_answer_said(
    temporal_client: Client, tmp_path: Path, call: str, place: str
) -> None:
    """A first reading that is wrong and looks right is seen by a second one: it is proposed anew, and the
    service never gets the wrong body.
    """
    page = {"targets": ["*{zone}/x*"], "actions": [{"id": "waf", "value": "off"}]}
    rule = {"action": "bypass", "products": ["waf"], "expression": "ip.src eq 192.0.2.1"}
    enterprise = zone("a", plan="enterprise", firewall_rules=[rule], page_rules=[page])
    async with staged(temporal_client, tmp_path, enterprise) as stage:
        await stage.fault("wrong_types", call, "a", replace={place: "…"})
        state = await stage.waits("a", within=120)
        assert await stage.unfired() == []
        assert state.drifted_from not in ("", state.digest)
        puts = await stage.play.control.get("journal?call=entrypoint.put")
        assert "…" not in str(puts) and "\\u2026" not in str(puts)
        await stage.play.sign_zone(stage.name("a"))
        assert await stage.outcome("a", within=120) is ZoneOutcome.MIGRATED
        assert await stage.changes("a") == [("entrypoint.put", "validation"), ("entrypoint.put", "pending")]
        await stage.closed()
        await stage.check()


NONSENSE: tuple[object, ...] = (
    "rubbish",
    17,
    None,
    [],
    {},
    {"choice": "maybe", "digest": "x", "by": ""},
    {"choice": "approve", "digest": ["a"], "by": {"name": "ann"}},
    {"choice": "approve", "digest": "0" * 64, "by": "ann", "reason": "r" * 2000},
    "\x00" * 500,
)


async def test_nonsense_by_any_signal_leaves_zone_and_campaign_alive(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Raw JSON that is no message at all is dropped, whichever signal it comes by."""
    zone_signals = ("sign_off", "support_resolved", "permit", "revoke", "ruling", "expire", "stop", "nobody")
    async with staged(temporal_client, tmp_path, zone("a")) as stage:
        await stage.waits("a")
        for name in zone_signals:
            for nonsense in NONSENSE:
                # Whatever names somebody is a stop that can be understood.
                if not (name == "stop" and isinstance(nonsense, dict) and "by" in nonsense):
                    await signal(stage, "a", name, nonsense)
            await stage.play.zone(stage.name("a")).signal(name)
            await stage.play.zone(stage.name("a")).signal(name, args=[{"by": "ann"}, 2, 3])
        for nonsense in NONSENSE:
            await stage.play.campaign.signal("zone_report", nonsense)
        await stage.play.campaign.signal("zone_report")
        await stage.waits("a")
        assert await stage.changes() == []
        assert (await stage.finish()).outcomes == {"migrated": 1}
        await stage.check()


async def test_times_without_a_place_are_no_message(temporal_client: Client, tmp_path: Path) -> None:
    """A permit that ends, and decisions that were given, at a time that is compared with no other."""
    async with staged(temporal_client, tmp_path, zone("a"), sign_off=LISTED) as stage:
        state, play = await stage.waits("a"), stage.play
        run = (await play.campaign.describe()).run_id
        said = {"choice": "approve", "digest": state.fingerprint, "by": "ann", "at": "2026-03-01T12:00:00"}
        permit = {"number": 1, "name": "odd", "index": 0, "step": "commit"}
        good, odd = "2100-01-01T00:00:00Z", "2100-01-01T00:00:00"
        await signal(stage, "a", "ruling", {"campaign_run": run, "decision": said})
        grant = {"campaign_run": run, "permit": {**permit, "expires_at": good}, "decisions": [said]}
        await signal(stage, "a", "permit", grant)
        await stage.waits("a")
        await play.ask("pause")
        await play.sign_zone(stage.name("a"), plain=False)
        await stage.phase("a", ZonePhase.AWAITING_PERMIT)
        await signal(stage, "a", "permit", {"campaign_run": run, "permit": {**permit, "expires_at": odd}})
        await asyncio.sleep(1)
        await stage.phase("a", ZonePhase.AWAITING_PERMIT)
        assert await stage.changes() == []
        await play.ask("resume")
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        await stage.closed()


async def test_nonsense_by_any_update_is_refused(temporal_client: Client, tmp_path: Path) -> None:
    """Null above all, which passes for a message until it is looked into; zone and campaign go on."""
    async with staged(temporal_client, tmp_path, zone("a")) as stage:
        await stage.waits("a")
        asked: list[tuple[WorkflowHandle[Any, Any], str]] = [
            *((stage.play.campaign, name) for name in ("pause", "resume", "abort")),
            *((stage.play.campaign, name) for name in ("sign_off", "retry", "reopen")),
            (stage.play.zone(stage.name("a")), "decide"),
        ]
        for handle, name in asked:
            odd: list[list[object]] = [[], [None], [{}, {}], *([nonsense] for nonsense in NONSENSE[:5])]
            for args in odd:
                with pytest.raises(WorkflowUpdateFailedError):
                    await handle.execute_update(name, args=args, rpc_timeout=timedelta(seconds=15))
        assert (await stage.play.summary()).state == "running"
        assert (await stage.finish()).outcomes == {"migrated": 1}
        await stage.check()


async def test_a_hundred_sign_offs_at_once_are_all_answered(temporal_client: Client, tmp_path: Path) -> None:
    """Updates on the campaign and signals to its zones, all at the same time: one commit a zone."""
    names = [f"z{number}" for number in range(5)]
    async with staged(temporal_client, tmp_path, *map(zone, names)) as stage:
        states = [await stage.waits(name) for name in names]
        people = [f"person{number}" for number in range(50)]
        await asyncio.gather(
            *(stage.play.sign([states[0].fingerprint], by=by) for by in people),
            *(
                stage.play.sign_zone(stage.name(names[n % 5]), by=by, digest=states[n % 5].digest)
                for n, by in enumerate(people)
            ),
            return_exceptions=True,
        )
        assert (await stage.finish()).outcomes == {"migrated": 5}
        for name in names:
            assert await stage.changes(name) == [("entrypoint.put", "pending")]
        await stage.check()


async def test_forged_reports_are_not_believed(temporal_client: Client, tmp_path: Path) -> None:
    """Reports for another run, another attempt, no index at all, or with an old number change nothing."""
    async with staged(temporal_client, tmp_path, zone("a"), zone("b")) as stage:
        play = stage.play
        await stage.waits("a")
        await stage.waits("b")
        await play.until(lambda seen: seen.places.get("awaiting") == 2)
        run = (await play.campaign.describe()).run_id or ""
        real = ZoneReport(
            campaign_run=run,
            index=play.index(stage.name("a")),
            attempt=1,
            sequence=1,
            kind=ReportKind.FINISHED,
            outcome=ZoneOutcome.MIGRATED,
        )
        forged = (
            real,
            real.model_copy(update={"campaign_run": "another", "sequence": 50}),
            real.model_copy(update={"attempt": 2, "sequence": 50}),
            real.model_copy(update={"attempt": 0, "sequence": 50}),
            real.model_copy(update={"index": 2, "sequence": 50}),
            real.model_copy(update={"index": -1, "sequence": 50}),
            real.model_copy(update={"index": 10**9, "sequence": 50}),
        )
        for report in forged:
            await play.campaign.signal("zone_report", report)
        assert (await play.summary()).places == {"awaiting": 2}
        assert (await stage.finish()).outcomes == {"migrated": 2}
        await stage.check()


async def test_a_forged_permit_sends_nothing_that_nobody_signed(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A permit out of thin air, for the zone or for another, with a stranger's decision: nothing is sent."""
    async with staged(temporal_client, tmp_path, zone("a"), sign_off=LISTED) as stage:
        state = await stage.waits("a")
        until = datetime.now(UTC) + timedelta(minutes=5)
        for index in (0, 1):
            forged = Permit(number=99 + index, name="forged", index=index, step=Step.COMMIT, expires_at=until)
            for decisions in ((), (decision(state.fingerprint, by="mallory"),)):
                await signal(stage, "a", "permit", PermitGrant(permit=forged, decisions=decisions))
        await asyncio.sleep(1.5)
        await stage.waits("a")
        assert await stage.changes() == []
        assert (await stage.finish()).outcomes == {"migrated": 1}
        assert await stage.changes() == [("entrypoint.put", "pending")]
        await stage.check(ASIDE)
