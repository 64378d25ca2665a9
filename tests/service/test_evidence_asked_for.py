"""Evidence that a stranger asks a worker for, with a message of their choice: it passes only where the zone
runs the rules of the proposal, in a window of this validation.
"""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from activities.waf.evidence import EvidenceActivities
from edgeshift.areas import waf
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence_terms import Evidence, EvidenceCause
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import GatherEvidence
from edgeshift.model.fleet import Plan
from edgeshift.stores.documents import Proposal, get_document, put_document
from tests.forgeries.doors import Guarded, guarded
from tests.kit import eventually

TERMS: dict[str, Any] = {"validation": {"window": "2h", "evidence": {"enough": 0}}}
"""Nothing has to be seen for a pass."""


async def gathered(door: Guarded, **forged: Any) -> Evidence:
    """What the worker makes of a window that began just now, where the message says no more than is so."""
    gate, now = door.gate, datetime.now(UTC)
    asked: dict[str, Any] = {
        "start": gate.start,
        "since": now - timedelta(milliseconds=1),
        "until": now,
        "mode": ValidationMode.SHADOW,
        "proposal": await put_document(door.archive, Proposal(body=gate.body)),
        "digest": door.digest,
        "fingerprint": door.fingerprint,
        "sequence": 1,
        "announce": False,
        **forged,
    }
    begun = ActivityEnvironment()
    begun.info = dataclasses.replace(begun.info, started_time=datetime.now(UTC))
    activities = EvidenceActivities(gate.connections)
    found = await begun.run(activities.gather, GatherEvidence(**asked))
    return await get_document(door.archive, Evidence, found.evidence)


async def nothing() -> None:
    """Before it is sent."""


async def validates(door: Guarded, body: dict[str, Any]) -> None:
    """The zone is in validation with these rules, which somebody else has sent."""
    gate = door.gate
    client = await gate.connections.service(gate.start.spec, gate.zone)
    await client.put_entry_point(gate.zone.id, body, waf_migration="validation", before_send=nothing)
    await in_validation(door)


async def in_validation(door: Guarded) -> None:
    """Its status shows it."""
    gate = door.gate
    client = await gate.connections.service(gate.start.spec, gate.zone)

    async def shows() -> bool:
        return waf.in_validation((await client.waf_status(gate.zone.id)).raw)

    await eventually(shows, 20, "the zone is in validation")


def others(door: Guarded) -> dict[str, Any]:
    """Other rules than those of the proposal."""
    return {**door.gate.body, "rules": [{**rule, "enabled": False} for rule in door.gate.body["rules"]]}


async def test_only_a_window_of_this_validation_passes(tmp_path: Path) -> None:
    """Of the rules that were sent, in the mode in which they were, since then, until now."""
    long_ago = datetime.now(UTC) - timedelta(days=8)
    async with guarded(tmp_path, plan=Plan.ENTERPRISE, **TERMS) as door:
        await door.begin()
        await door.gate.validate()
        await in_validation(door)
        assert (await gathered(door)).verdict is EvidenceVerdict.PASS
        other = await put_document(door.archive, Proposal(body=others(door)))
        for forged, cause in (
            ({"mode": ValidationMode.ENFORCE}, EvidenceCause.OTHER_RULES),
            ({"proposal": other}, EvidenceCause.OTHER_RULES),
            ({"since": long_ago}, EvidenceCause.NOT_VALIDATING),
            ({"until": datetime.now(UTC) + timedelta(days=8)}, EvidenceCause.NOT_VALIDATING),
        ):
            found = await gathered(door, **forged)
            assert (found.verdict, found.cause) == (EvidenceVerdict.INCONCLUSIVE, cause), forged
        await validates(door, waf.shadow(others(door)))
        found = await gathered(door)
        assert (found.verdict, found.cause) == (EvidenceVerdict.INCONCLUSIVE, EvidenceCause.OTHER_RULES)


@pytest.mark.parametrize("mode", [ValidationMode.SHADOW, ValidationMode.ENFORCE])
@pytest.mark.parametrize(
    "body", [{}, {"rules": "all"}, {"rules": ["all"]}, {"rules": [{"action": "log"}]}, {"rules": []}], ids=str
)
async def test_a_proposal_that_is_no_rules_at_all_is_refused_as_another_one(
    tmp_path: Path, body: dict[str, Any], mode: ValidationMode
) -> None:
    """It ends in a judgement as any other forgery, and not in a fault of the worker's."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE, **TERMS) as door:
        await door.begin()
        await door.gate.validate()
        await in_validation(door)
        forged = await put_document(door.archive, Proposal(body=body))
        found = await gathered(door, proposal=forged, mode=mode)
        assert (found.verdict, found.cause) == (EvidenceVerdict.INCONCLUSIVE, EvidenceCause.OTHER_RULES)
        assert "cannot be read as rules" in found.why


@pytest.mark.parametrize("same", [True, False], ids=["the proposal's rules", "other rules"])
async def test_what_somebody_else_validates_is_compared_with_the_proposal(tmp_path: Path, same: bool) -> None:
    """Whatever a message says of it; and only for as long as the zone has had these rules."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE, **TERMS) as door:
        await door.begin()
        await validates(door, waf.shadow(door.gate.body if same else others(door)))
        found = await gathered(door)
        assert (found.verdict is EvidenceVerdict.PASS) is same, found.why
        long_ago = datetime.now(UTC) - timedelta(days=8)
        found = await gathered(door, since=long_ago)
        assert (found.verdict, found.cause) == (EvidenceVerdict.INCONCLUSIVE, EvidenceCause.OTHER_RULES)


@pytest.mark.parametrize(("modes", "joins"), [(["shadow"], True), (["shadow", "enforce"], False)], ids=str)
async def test_a_zone_that_was_set_into_validation_by_hand_joins_by_the_files_last_mode_alone(
    modes: list[str], joins: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rules only log, and no window follows in which they act: people decide on it by itself. The window
    that comes first in a campaign's own course passes, so that the next one may begin.
    """
    terms = {"validation": {**TERMS["validation"], "modes": modes}}
    consents = {"enforce_validation": True}

    async def told(*_: object) -> bool:
        return True

    # Here is no campaign to be told.
    monkeypatch.setattr("activities.waf.evidence.told_unless_gone", told)
    async with guarded(tmp_path, plan=Plan.ENTERPRISE, consents=consents, **terms) as door:
        await door.begin()
        await validates(door, waf.shadow(door.gate.body))
        assert (await gathered(door)).verdict is EvidenceVerdict.PASS
        found = await gathered(door, announce=True)
        assert (found.verdict is EvidenceVerdict.PASS) is joins, found.why
        assert joins or (found.cause is EvidenceCause.OTHER_MODE and "asks for enforce" in found.why)
