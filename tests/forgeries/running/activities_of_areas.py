"""Activities of the areas, done for a workflow of the enemy's: what reads zones, proves and
watches changes, and holds zones.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from edgeshift.areas.waf import Mode
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import Confirm, GatherEvidence, Hold, HoldZones, Prepare, Watch
from edgeshift.messages.areas.esc import Probe
from edgeshift.messages.areas.waf import Verify
from edgeshift.stores.documents import CoveredZones, put_document
from tests.forgeries.running.attack import ENEMY, Attack
from tests.forgeries.running.dresses import (
    Dress,
    by_a_strangers_edge,
    in_a_later_attempt,
    in_its_own_name,
    with_a_planted_proposal,
)
from tests.forgeries.running.scheduling import ATTEMPTS, PLANTED, SPECS, ZONES, done, waits

A_MOMENT = timedelta(seconds=1)


# --- waf


@waits("prepare_waf_zone", *ZONES, *SPECS)
@waits("prepare_esc_scope", *ZONES, *SPECS)
@waits("prepare_log_fields_zone", *ZONES, *SPECS)
async def _prepared(a: Attack, dress: Dress) -> Prepare:
    return Prepare(start=dress.start)


@waits("verify_waf_zone", *ZONES, *ATTEMPTS, *SPECS, *PLANTED)
async def _verified(a: Attack, dress: Dress) -> Verify:
    prepared = dress.prepared
    return Verify(
        start=dress.start,
        mode=Mode.PENDING,
        proposal=prepared.proposal,
        snapshot=prepared.snapshot,
        digest=prepared.digest,
        limit=A_MOMENT,
        since=dress.since,
        answered=True,
    )


@waits("gather_evidence", *ZONES, *SPECS, with_a_planted_proposal)
async def _gathered(a: Attack, dress: Dress) -> GatherEvidence:
    prepared, now = dress.prepared, datetime.now(UTC)
    return GatherEvidence(
        start=dress.start,
        since=now - timedelta(days=1),
        until=now,
        mode=ValidationMode.SHADOW,
        proposal=prepared.proposal,
        digest=prepared.digest,
        fingerprint=prepared.fingerprint,
        sequence=60_000,
        announce=True,
    )


# --- changes that can be undone


@waits("probe_esc_scope", *ZONES, *SPECS)
@waits("probe_esc_scope", by_a_strangers_edge, areas=("esc",))
async def _probed(a: Attack, dress: Dress) -> Probe:
    return Probe(start=dress.start, prepared=dress.prepared, sequence=60_000)


@waits("settle_esc_scope", *ZONES, *ATTEMPTS, *SPECS, *PLANTED)
@waits("settle_log_fields_zone", *ZONES, *ATTEMPTS, *SPECS, *PLANTED)
async def _settled(a: Attack, dress: Dress) -> Confirm:
    return Confirm(
        start=dress.start,
        prepared=dress.prepared,
        wanted=not dress.back,
        limit=A_MOMENT,
        since=dress.since,
    )


@waits("watch_esc_scope", *ZONES, *ATTEMPTS, *SPECS, *PLANTED)
@waits("watch_log_fields_zone", *ZONES, *ATTEMPTS, *SPECS, *PLANTED)
async def _watched(a: Attack, dress: Dress) -> Watch:
    return Watch(
        start=dress.start,
        prepared=dress.prepared,
        since=dress.since,
        last=True,
        back=dress.back,
        why=ENEMY,
    )


@done("look_back_at_log_fields_zone", *ZONES, *SPECS)
async def _looked_back_at(a: Attack, dress: Dress) -> BaseModel:
    return dress.start


async def _held(a: Attack, dress: Dress) -> HoldZones:
    zones = CoveredZones(tuple(target.zone for target in a.stage.play.targets))
    listed = await put_document(a.archive, zones)
    return HoldZones(start=dress.start, holder=a.zone.id, zones=listed)


@waits("hold_zones", in_its_own_name, in_a_later_attempt)
async def _holds(a: Attack, dress: Dress) -> HoldZones:
    """For a campaign's account, in the place of the zones' own workflows; whoever looks after Temporal ends
    those that came about.
    """
    return await _held(a, dress)


@waits("release_zones", in_its_own_name, in_a_later_attempt)
async def _lets_go(a: Attack, dress: Dress) -> HoldZones:
    return await _held(a, dress)


@done("holder_is_there", in_its_own_name)
async def _is_there(a: Attack, dress: Dress) -> Hold:
    return Hold(
        zone_id=dress.zone.id, holder=a.zone.id, campaign=dress.start.campaign, look_every=timedelta(days=365)
    )
