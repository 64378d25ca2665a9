"""An area says how its own evidence is judged again at the door; the door knows of none."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel

from edgeshift.areas import area_of
from edgeshift.areas.area import AreaDefinition
from edgeshift.areas.evidence import About, EvidenceAgain
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Area, Zone
from edgeshift.stores.documents import EvidenceGathered, gathered_key, put_document
from tests.forgeries.doors import Guarded, guarded


class Smoke(BaseModel):
    """Evidence of another kind: how many looks found the zone well."""

    where: str
    change: str
    looks: int
    begun: datetime


def asked(spec: CampaignSpec, zone: Zone) -> bool:
    """Of every zone, whatever its plan."""
    return True


def passes(smoke: Smoke, spec: CampaignSpec, now: datetime) -> About | None:
    """Three looks are enough."""
    return About(smoke.where, smoke.change, smoke.begun) if smoke.looks >= 3 else None


async def smoke(door: Guarded, looks: int, *, gathered: bool = True, zone: str = "") -> str:
    """Archive such evidence. ``gathered``: by the worker."""
    begun = datetime.now(UTC) - timedelta(hours=1)
    found = Smoke(where=zone or door.gate.zone.id, change=door.digest, looks=looks, begun=begun)
    stored = await put_document(door.archive, found)
    if gathered:
        start = door.gate.start
        record = EvidenceGathered(run=start.origin or start.campaign_run, spec=start.spec)
        await door.gate.connections.records.create(gathered_key(door.gate.zone, stored), record)
    return stored


async def test_evidence_of_another_kind_is_judged_by_its_area(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The area's own document and its own judgement count, for a zone of a plan that others ask no evidence
    of; whose it is, and who gathered it, the door still asks.
    """
    other = replace(area_of(Area.WAF), evidence=EvidenceAgain(Smoke, asked, passes))

    def defined(area: Area) -> AreaDefinition:
        return other

    monkeypatch.setattr("activities.proof.evidence_at_the_door.area_of", defined)
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        for permit, evidence in enumerate(
            (
                "",
                await smoke(door, 2),
                await smoke(door, 3, zone="f" * 32),
                await smoke(door, 4, gathered=False),
            ),
            start=1,
        ):
            assert (await door.commit(permit=permit, evidence=evidence)).uncounted, permit
        assert await door.sent() == 0
        enough = await smoke(door, 3)
        found = await door.commit(permit=9, evidence=enough)
        # The door lets it through; waf's own step, which is behind it here, reads evidence of waf.
        assert not found.unsigned and "cannot be read" in found.reason, found


async def test_a_zone_of_an_area_without_evidence_needs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An approval of the fingerprint covers it."""
    other = replace(area_of(Area.WAF), validates=False, evidence=None)
    monkeypatch.setattr("activities.proof.evidence_at_the_door.area_of", lambda area: other)
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        assert (await door.commit()).status is ChangeStatus.ANSWERED
