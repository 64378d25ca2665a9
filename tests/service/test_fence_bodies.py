"""The fenced activity, given bodies that nobody signed: whatever it is told, nothing of them is sent."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from activities.change.intents import ClosedAs, close_intent, intent_key
from edgeshift.areas import waf
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import ChangeStatus, Step
from edgeshift.model.digests import canonical_bytes, digest
from edgeshift.model.fleet import Area
from edgeshift.service_api import ServiceClient
from tests.service.gate_kit import Body, gate
from tests.service.simulated import STRICT


async def test_a_body_that_only_logs_is_never_committed_even_if_it_was_signed(tmp_path: Path) -> None:
    """The shadow of the proposal, with a sign-off of exactly its digest."""
    async with gate(tmp_path) as play:
        shadowed = waf.shadow(play.body)
        result = await play.change(shadowed, shadowed)
        assert result.status is ChangeStatus.NOTHING_HAPPENED and "only logs" in result.reason
        assert await play.sent() == []


async def test_a_body_of_which_a_part_was_shadowed_is_not_committed(tmp_path: Path) -> None:
    """Each ruleset alone, and each override alone: with the sign-off of the proposal it is refused, whether
    the message names the body's own digest or the one that was signed.
    """
    async with gate(tmp_path) as play:
        shadowed = waf.shadow(play.body)
        parts = []
        for place, rule in enumerate(play.body["rules"]):
            if rule["action"] != "execute":
                continue
            whole = copy.deepcopy(play.body)
            whole["rules"][place] = shadowed["rules"][place]
            parts.append(whole)
            single = copy.deepcopy(play.body)
            parameters = single["rules"][place]["action_parameters"]
            overrides = parameters.setdefault("overrides", {})
            overrides["rules"] = [*overrides.get("rules", []), {"id": "f" * 32, "action": "log"}]
            parts.append(single)
        assert len(parts) == 4
        for part in parts:
            assert waf.weakened(part, play.body) and not waf.is_log_only(part)
            own = await play.change(part, play.body)
            named = await play.change(part, play.body, said=play.body)
            assert (own.status, named.status) == (ChangeStatus.NOTHING_HAPPENED,) * 2
            assert "no valid sign-off" in own.reason
            assert "not the one that the digest names" in named.reason
        assert await play.sent() == []


@pytest.mark.parametrize("refs", ["empty", "given"])
async def test_nothing_that_was_planted_is_sent_beside_what_a_digest_is_of(refs: str, tmp_path: Path) -> None:
    """Whoever may write to the archive lays a proposal there of the very digest, with what that leaves out:
    the service stores none of it, neither by a commit nor by a validation. Where its configuration has a
    ``ref`` for each rule, those are stored. A service that takes the commit to the letter takes it.
    """
    planted: Body = {"description": "nobody signed this", "phase": "other", "more": {"x": 1}}
    of_rules: Body = {"ref": "planted", "version": "9", "last_updated": "2020-01-01T00:00:00Z"}
    options: Body = {"config_refs": refs, "bodies": STRICT}
    async with gate(tmp_path, simulator=options) as play:
        zone = play.zone
        own = [rule["ref"] for rule in play.body["rules"]]
        assert all(own) == (refs == "given")
        client = await play.connections.service(play.start.spec, zone)

        async def stored() -> Body:
            found = await client.entry_point(zone.id)
            assert found is not None
            return found.raw

        body = {**copy.deepcopy(play.body), **planted}
        for number, rule in enumerate(body["rules"]):
            rule.update(of_rules, id=f"{number:032x}")
        for result in (
            await play.change(body, play.body, step=Step.VALIDATE, mode=ValidationMode.SHADOW),
            await play.change(body, play.body),
        ):
            assert result.status is ChangeStatus.ANSWERED, result
            found = await stored()
            assert not {key for key, value in planted.items() if found.get(key) == value}, found
            for number, rule in enumerate(found["rules"]):
                assert rule["id"] != f"{number:032x}" and rule["ref"] == (own[number] or rule["id"])
        assert digest(await stored()) == digest(play.body)


SHELL: Body = {"migration": {"configuration": "disabled"}}


async def test_a_body_that_runs_nothing_is_not_committed_over_a_waf_that_protects(tmp_path: Path) -> None:
    """Even if it was signed: the zone is read again, which blocks it. Nothing was sent by then."""
    async with gate(tmp_path, settings=SHELL) as play:
        assert waf.runs_nothing(play.body)
        result = await play.change(play.body, play.body)
        assert result.status is ChangeStatus.DRIFTED and "runs no managed rule" in result.reason
        assert await play.sent() == []


@pytest.mark.parametrize(
    ("settings", "consents"),
    [
        (SHELL, {"unprotected": ["Bank.example"]}),
        ({"previous_waf": {"enabled": False}}, {}),
    ],
)
async def test_a_body_that_runs_nothing_is_committed_where_nothing_is_lost_by_it(
    tmp_path: Path, settings: Body, consents: Body
) -> None:
    """With a consent for this zone, by its name; or where the previous WAF was off anyway."""
    async with gate(tmp_path, settings=settings, consents=consents) as play:
        assert waf.runs_nothing(play.body)
        assert (await play.change(play.body, play.body)).status is ChangeStatus.ANSWERED
        assert len(await play.sent()) == 1


async def test_a_consent_for_another_zone_does_not_count(tmp_path: Path) -> None:
    """Each zone is named."""
    async with gate(tmp_path, settings=SHELL, consents={"unprotected": ["other.example"]}) as play:
        assert (await play.change(play.body, play.body)).status is ChangeStatus.DRIFTED


async def test_the_rules_themselves_are_validated_with_consent_alone(tmp_path: Path) -> None:
    """Whatever mode a message names: without the consent nothing but the form that logs is sent."""
    async with gate(tmp_path) as play:
        for mode in (ValidationMode.ENFORCE, None):
            refused = await play.change(play.body, play.body, step=Step.VALIDATE, mode=mode)
            assert refused.status is ChangeStatus.NOTHING_HAPPENED and "consented" in refused.reason
        assert await play.sent() == []
        shadowed = await play.change(play.body, play.body, step=Step.VALIDATE, mode=ValidationMode.SHADOW)
        assert shadowed.status is ChangeStatus.ANSWERED
        assert [log_only for _, log_only in await play.sent()] == [True]


async def test_with_consent_the_rules_themselves_are_validated(tmp_path: Path) -> None:
    """The body that is sent then is the one that is committed."""
    both: Body = {"consents": {"enforce_validation": True}, "validation": {"modes": ["enforce"]}}
    async with gate(tmp_path, **both) as play:
        result = await play.change(play.body, play.body, step=Step.VALIDATE, mode=ValidationMode.ENFORCE)
        assert result.status is ChangeStatus.ANSWERED
        committed = await play.change(play.body, play.body)
        assert committed.status is ChangeStatus.ANSWERED
        assert [log_only for _, log_only in await play.sent()] == [False, False]


@pytest.mark.parametrize("config", [None, "", "0" * 64])
async def test_only_what_follows_from_the_zone_is_validated(config: str | None, tmp_path: Path) -> None:
    """Nobody signs it: rules that somebody has laid into the archive are not sent, whatever configuration the
    message names.
    """
    async with gate(tmp_path) as play:
        planted = {**play.body, "rules": play.body["rules"][:1]}
        shadow: Body = {"step": Step.VALIDATE, "mode": ValidationMode.SHADOW, "config": config}
        assert (await play.change(planted, planted, **shadow)).status is ChangeStatus.DRIFTED
        assert await play.sent() == []


async def test_no_validation_is_sent_while_a_commit_may_show(tmp_path: Path) -> None:
    """Landing after it, a validation would leave the zone with rules that only log."""
    async with gate(tmp_path) as play:
        sent = {"step": "commit", "at": datetime.now(UTC).isoformat(), "campaign": "another"}
        key = intent_key(play.zone, Area.WAF, "permit-of-another")
        await play.connections.archive.create_once(key, canonical_bytes(sent))
        shadow: Body = {"step": Step.VALIDATE, "mode": ValidationMode.SHADOW}
        refused = await play.change(play.body, play.body, **shadow)
        assert refused.status is ChangeStatus.UNKNOWN and "may still come to show" in refused.reason
        assert await play.sent() == []
        await close_intent(play.connections, key, ClosedAs.NOTHING_CAME)
        allowed = await play.change(play.body, play.body, **shadow)
        assert allowed.status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("answers", [1, 2])
async def test_an_answer_without_the_zones_plan_is_no_enterprise_plan(
    answers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read once more; where that says nothing either, no validation is sent (rule 3)."""
    real, lacking = ServiceClient.zone, [None] * answers

    async def zone(client: ServiceClient, zone_id: str, *, urgent: bool = False) -> Any:
        found = await real(client, zone_id, urgent=urgent)
        return found.model_copy(update={"plan": lacking.pop()}) if lacking else found

    async with gate(tmp_path) as play:
        monkeypatch.setattr(ServiceClient, "zone", zone)
        result = await play.validate()
        sent = [log_only for _, log_only in await play.sent()]
        if answers == 1:
            assert result.status is ChangeStatus.ANSWERED and sent == [True]
        else:
            assert result.status is ChangeStatus.NOTHING_HAPPENED and sent == []
            assert "plan is not in the answer" in result.reason
