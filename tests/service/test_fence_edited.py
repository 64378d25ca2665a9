"""The fenced activity of waf, where a zone is no more what people saw of it: nothing is sent over that."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from edgeshift.areas import waf
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence_terms import Evidence
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import ChangeStatus, Step
from edgeshift.stores.documents import put_document
from tests.service.gate_kit import Body, Gate, gate

CONSENT: Body = {"enforce_validation": True}
BOTH: Body = {"modes": ["shadow", "enforce"], "window": "1m"}


@pytest.mark.parametrize(("age", "anew"), [(timedelta(hours=23), False), (timedelta(hours=25), True)])
async def test_a_zone_that_was_read_long_ago_is_read_anew_before_its_commit(
    age: timedelta, anew: bool, tmp_path: Path
) -> None:
    """What the commit takes away for good may have changed where the configuration does not show it."""
    async with gate(tmp_path) as play:
        result = await play.change(play.body, play.body, read_at=datetime.now(UTC) - age)
        assert result.status is (ChangeStatus.NOTHING_HAPPENED if anew else ChangeStatus.ANSWERED)
        assert ("is read again" in result.reason, result.stands) == (anew, False)
        assert len(await play.sent()) == (0 if anew else 1)


async def _next_mode(play: Gate) -> Body:
    """The validation in which the rules act, once a window has passed in which they only logged."""
    now = datetime.now(UTC)
    window: Body = {"since": now, "until": now + timedelta(minutes=1)}
    evidence = await play.evidence(**window)
    return {"step": Step.VALIDATE, "mode": ValidationMode.ENFORCE, "evidence": evidence}


async def _edits(play: Gate) -> None:
    """Somebody edits the zone's rules of the new WAF."""
    client = await play.connections.service(play.start.spec, play.zone)
    stored = await client.entry_point(play.zone.id)
    assert stored is not None
    skip = {"action": "skip", "action_parameters": {"ruleset": "current"}, "expression": "true"}
    rules = [{**skip, "description": "theirs", "enabled": True}, *play.body["rules"]]
    await client.put_entry_point(
        play.zone.id,
        {"name": "default", "rules": rules},
        waf_migration=waf.Mode.VALIDATION.value,
        before_send=_at_once,
    )


async def _at_once() -> None:
    """Nothing comes before it."""


async def _evidence(play: Gate, stored: str = "") -> str:
    """Evidence of a zone that runs its rules as they are now, or others; its digest in the archive."""
    found = await (await play.connections.service(play.start.spec, play.zone)).entry_point(play.zone.id)
    assert found is not None
    seen = Evidence(
        mode="shadow",
        verdict=EvidenceVerdict.PASS,
        why="",
        events=0,
        requests=0,
        agreed=0,
        false_positives=0,
        gaps=0,
        stored=stored or waf.rules_digest(found.raw),
    )
    return await put_document(play.connections.archive, seen)


async def test_rules_that_were_edited_since_the_evidence_are_not_replaced(tmp_path: Path) -> None:
    """A commit would replace them for good, and who signed was not shown them."""
    async with gate(tmp_path) as play:
        assert (await play.validate()).status is ChangeStatus.ANSWERED
        evidence = await _evidence(play)
        await _edits(play)
        result = await play.change(play.body, play.body, evidence=evidence)
        assert (result.status, result.final) == (ChangeStatus.REFUSED, True)
        assert "somebody has changed its rules" in result.reason
        assert len(await play.sent()) == 2
        evidence = await _evidence(play)
        assert (await play.change(play.body, play.body, evidence=evidence)).status is ChangeStatus.ANSWERED


async def test_a_second_validation_does_not_replace_what_somebody_edited(tmp_path: Path) -> None:
    """Of the next mode, or after a drift: nobody signs it."""
    async with gate(tmp_path, consents=CONSENT, validation=BOTH) as play:
        assert (await play.validate()).status is ChangeStatus.ANSWERED
        enforce = await _next_mode(play)
        await _edits(play)
        result = await play.change(play.body, play.body, permit=2, **enforce)
        assert (result.status, result.final) == (ChangeStatus.REFUSED, True)
        assert len(await play.sent()) == 2


@pytest.mark.parametrize("version", ["latest", "number"])
async def test_versions_that_the_service_gives_are_no_edit(version: str, tmp_path: Path) -> None:
    """Neither between two validations nor before the commit, whatever the evidence has read of them."""
    simulator = {"execute_version": version}
    async with gate(tmp_path, consents=CONSENT, validation=BOTH, simulator=simulator) as play:
        assert (await play.validate()).status is ChangeStatus.ANSWERED
        enforce = await _next_mode(play)
        result = await play.change(play.body, play.body, permit=2, **enforce)
        assert result.status is ChangeStatus.ANSWERED, result.reason
        evidence = await _evidence(play, stored="0" * 64)
        result = await play.change(play.body, play.body, permit=3, evidence=evidence)
        assert result.status is ChangeStatus.ANSWERED, result.reason


async def _pins(play: Gate) -> None:
    """Somebody pins the managed rulesets of the zone's rules to a version."""
    client = await play.connections.service(play.start.spec, play.zone)
    stored = await client.entry_point(play.zone.id)
    assert stored is not None
    rules = [
        {**rule, "action_parameters": {**rule["action_parameters"], "version": "57"}}
        if rule["action"] == "execute"
        else rule
        for rule in stored.raw["rules"]
    ]
    await client.put_entry_point(
        play.zone.id,
        {"name": "default", "rules": rules},
        waf_migration=waf.Mode.VALIDATION.value,
        before_send=_at_once,
    )


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("absent", ChangeStatus.REFUSED),
        ("latest", ChangeStatus.REFUSED),
        ("number", ChangeStatus.ANSWERED),
    ],
)
async def test_a_version_that_was_pinned_since_the_evidence_is_not_replaced(
    version: str, status: ChangeStatus, tmp_path: Path
) -> None:
    """A number where the evidence saw none is not the service's. Where the service stores numbers, nobody can
    tell one that it has moved from one that somebody has pinned.
    """
    async with gate(tmp_path, simulator={"execute_version": version}) as play:
        assert (await play.validate()).status is ChangeStatus.ANSWERED
        evidence = await _evidence(play)
        await _pins(play)
        result = await play.change(play.body, play.body, permit=2, evidence=evidence)
        assert result.status is status, result.reason
        assert ("somebody has changed its rules" in result.reason) == (status is ChangeStatus.REFUSED)
