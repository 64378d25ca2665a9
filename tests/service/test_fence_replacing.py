"""Plan and fenced activity of waf, where a zone has rules of the new WAF that edgeshift did not write: they
are told, and nothing is sent over them unless somebody has agreed to that for this zone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from activities.change.intent_records import intents_of
from activities.snapshots import archive_snapshot
from activities.waf.proposing import prepared_from
from activities.waf.zone import read_zone
from edgeshift.areas.assessment import Verdict
from edgeshift.messages import ChangeStatus, Step
from edgeshift.model.fleet import Area, Plan
from edgeshift.model.reason_codes import ReasonCode
from edgeshift.service_api import ServiceError
from tests.service.gate_kit import Gate, gate
from tests.service.test_waf_plan_lines import line_of

SKIP: dict[str, Any] = {
    "action": "skip",
    "action_parameters": {"ruleset": "current"},
    "expression": 'http.request.uri.path eq "/upload"',
    "description": "uploads",
}
TOLD = "rule 1 of the new WAF as it is: skip (uploads)"
AGREED = {"replaced_rules": ["Bank.example"]}
PLANS = pytest.mark.parametrize("plan", [Plan.PRO, Plan.ENTERPRISE])


async def given(play: Gate, *more: dict[str, Any], **patch: Any) -> None:
    """Somebody gives the zone rules of the new WAF."""
    body = {"name": "default", "rules": [SKIP, *more]}
    await play.control.send("PATCH", f"zones/{play.zone.id}", {"entry_point": body, **patch})


async def read_again(play: Gate) -> None:
    """What the gate's changes rest on is another reading of the zone."""
    reading = await read_zone(await play.connections.service(play.start.spec, play.zone), play.zone)
    play.snapshot = await archive_snapshot(play.connections, play.zone, Area.WAF, reading)


@PLANS
async def test_a_zone_with_rules_of_its_own_is_blocked_in_the_plan(plan: Plan, tmp_path: Path) -> None:
    """With the rules, what lifts it, nothing to sign, and no reading that the zone could begin with."""
    async with gate(tmp_path, plan=plan) as play:
        await given(play)
        line = await line_of(play)
    assert (line.verdict, line.causes) == (Verdict.BLOCKED, ["rules_replaced"])
    assert TOLD in line.reasons[0] and "consents.replaced_rules" in line.reasons[0]
    assert TOLD in line.losses and "/upload" not in str(line.losses)
    assert (line.fingerprint, line.reading) == ("", "")


@pytest.mark.parametrize("consents", [{}, AGREED], ids=["blocked", "with consent"])
async def test_a_plan_asks_the_archive_once_who_has_written_the_rules_of_a_zone(
    consents: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time is a look at every record of the zone."""
    asked = []

    def counted(connections: Any, zone: Any, *more: Any, **how: Any) -> Any:
        asked.append(zone.name)
        return intents_of(connections, zone, *more, **how)

    async with gate(tmp_path, consents=consents) as play:
        await given(play)
        monkeypatch.setattr("activities.waf.replacing.intents_of", counted)
        assert TOLD in (await line_of(play)).losses
        assert asked == [play.zone.name]


async def test_with_consent_it_can_be_signed_and_the_loss_is_told(tmp_path: Path) -> None:
    """For that zone alone."""
    async with gate(tmp_path, consents=AGREED) as play:
        assert TOLD not in (await line_of(play)).losses
        await given(play)
        line = await line_of(play)
        assert line.verdict is Verdict.READY and line.fingerprint and line.reading
        assert TOLD in line.losses
    async with gate(tmp_path / "other", consents={"replaced_rules": ["other.example"]}) as play:
        await given(play)
        assert (await line_of(play)).verdict is Verdict.BLOCKED


async def test_one_that_is_in_validation_is_adopted_and_the_loss_is_told(tmp_path: Path) -> None:
    """Nothing is sent to it before somebody signs it by itself."""
    async with gate(tmp_path) as play:
        await given(play, *play.body["rules"], state="validation")
        line = await line_of(play)
    assert line.verdict is Verdict.IN_VALIDATION and line.losses == [TOLD]


@PLANS
async def test_what_edgeshift_has_written_blocks_nothing(plan: Plan, tmp_path: Path) -> None:
    """A validation of before, of other rules than are proposed by now, or a commit that never showed."""
    async with gate(tmp_path, plan=plan) as play:
        before = {"name": "default", "rules": [SKIP, *play.body["rules"]]}
        await given(play, *play.body["rules"])
        assert (await line_of(play)).verdict is Verdict.BLOCKED
        play.body, body = before, play.body
        await play.intend("")
        play.body = body
        line = await line_of(play)
    assert (line.verdict, line.losses) == (Verdict.READY, [])


async def test_a_validation_replaces_nothing_that_somebody_wrote_since_the_reading(tmp_path: Path) -> None:
    """Nobody signs it: the zone is read again, and blocked."""
    async with gate(tmp_path) as play:
        await given(play)
        result = await play.validate()
        assert result.status is ChangeStatus.DRIFTED and TOLD in result.reason
        assert await play.sent() == []
    async with gate(tmp_path / "agreed", consents=AGREED) as play:
        await given(play)
        assert (await play.validate()).status is ChangeStatus.ANSWERED


async def test_one_odd_answer_holds_no_validation_up(tmp_path: Path) -> None:
    """That there are such rules is believed when it stays."""
    async with gate(tmp_path) as play:
        fault = {"kind": "wrong_types", "match": {"call": "entrypoint.get"}, "times": 1}
        await play.control.send("POST", "faults", {**fault, "replace": {"/result/rules": [SKIP]}})
        assert (await play.validate()).status is ChangeStatus.ANSWERED


@PLANS
async def test_a_page_of_something_between_says_of_no_zone_that_it_has_none(
    plan: Plan, tmp_path: Path
) -> None:
    """Its plan is made of another reading, and nothing is sent by such a one."""
    fault = {"kind": "not_json", "status": 404, "body": "<html>not here</html>"}
    async with gate(tmp_path, plan=plan) as play:
        await given(play)
        await play.control.send("POST", "faults", {**fault, "match": {"call": "entrypoint.get"}})
        with pytest.raises(ServiceError):
            await line_of(play)
        if plan is Plan.ENTERPRISE:
            assert (await play.validate()).status is not ChangeStatus.ANSWERED
        assert await play.sent() == []


@PLANS
async def test_a_zone_that_had_such_rules_as_it_was_read_is_not_committed(plan: Plan, tmp_path: Path) -> None:
    """Even if it was signed, as after a proposal of an earlier version: it is read again, which blocks it."""
    async with gate(tmp_path, plan=plan) as play:
        await given(play)
        await read_again(play)
        result = await play.change(play.body, play.body)
        assert result.status is ChangeStatus.DRIFTED and TOLD in result.reason
        assert await play.sent() == []
    async with gate(tmp_path / "agreed", plan=plan, consents=AGREED) as play:
        await given(play)
        await read_again(play)
        assert (await play.change(play.body, play.body)).status is ChangeStatus.ANSWERED


async def test_one_that_was_found_in_validation_with_them_is_committed(tmp_path: Path) -> None:
    """Whoever signed it by itself was told them."""
    async with gate(tmp_path) as play:
        await given(play, state="validation")
        await read_again(play)
        assert (await play.change(play.body, play.body)).status is ChangeStatus.ANSWERED


async def test_a_record_that_cannot_be_read_says_nothing_of_who_wrote_the_rules(tmp_path: Path) -> None:
    """They are somebody's, and the plan of all the other zones is made."""
    async with gate(tmp_path) as play:
        await given(play)
        await play.connections.archive.create_once(f"intent/{play.zone.id}/waf/junk", b"{")
        line = await line_of(play)
    assert (line.verdict, line.causes) == (Verdict.BLOCKED, ["rules_replaced"])


async def test_overrides_of_a_zone_with_rules_of_its_own_are_not_deleted_in_vain(tmp_path: Path) -> None:
    """It could not move afterwards; both reasons are told at once."""
    overrides = [{"urls": ["bank.example/x"], "groups": {}, "rules": {}}]
    async with gate(tmp_path, consents={"delete_uri_overrides": True}) as play:
        await play.control.send("PATCH", f"zones/{play.zone.id}", {"uri_overrides": overrides})
        reading = await read_zone(await play.connections.service(play.start.spec, play.zone), play.zone)
        spec = await play.connections.spec(play.start.spec)
        found = await prepared_from(play.connections, spec, play.zone, reading)
        assert found.step is Step.DELETE_OVERRIDES and found.digest
        await given(play)
        reading = await read_zone(await play.connections.service(play.start.spec, play.zone), play.zone)
        found = await prepared_from(play.connections, spec, play.zone, reading)
    assert found.causes == (ReasonCode.URI_OVERRIDES, ReasonCode.RULES_REPLACED) and not found.digest
