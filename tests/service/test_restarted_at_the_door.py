"""A rejection at the door once the campaign was started again: by another file, or with other waves."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.statements import WaveSaid
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Plan, Target, Zone
from edgeshift.model.sign_off import Choice, SignOffPolicy
from edgeshift.stores.documents import FrozenTargets, put_document
from tests.forgeries.doors import Guarded, guarded
from tests.service.gate_kit import ago

OTHER = Zone(id="e" * 32, name="shop.example", account="a" * 32, plan=Plan.PRO)
TWO_WAVES = (WaveSaid(name="canary", first=0, end=1), WaveSaid(name="rest", first=1, end=2))


async def restarted(door: Guarded, **sign_off: Any) -> Guarded:
    """The campaign is started again by a file with another policy."""
    gate = door.gate
    spec = await gate.connections.spec(gate.start.spec)
    policy = spec.sign_off.model_copy(update=sign_off)
    stored = await put_document(door.archive, spec.model_copy(update={"sign_off": policy}))
    found = replace(door, gate=replace(gate, start=gate.start.model_copy(update={"spec": stored})))
    await found.begin(issued=ago(seconds=10))
    return found


async def in_waves(door: Guarded, *zones: Zone, wave: int, issued: datetime) -> Guarded:
    """The campaign is started with these zones, each in a wave of its own; the door's is in ``wave``."""
    targets = tuple(Target(zone=zone, wave=number) for number, zone in enumerate(zones))
    stored = await put_document(door.archive, FrozenTargets(targets))
    start = door.gate.start.model_copy(update={"target": targets[wave], "index": wave})
    found = replace(door, targets=stored, gate=replace(door.gate, start=start))
    await found.begin(issued=issued, waves=TWO_WAVES, count=2)
    return found


@pytest.mark.parametrize(
    "sign_off", [{"per": "zone"}, {"approvers": ("ada",)}, {"valid_for": timedelta(days=3)}], ids=str
)
async def test_a_rejected_fingerprint_stays_rejected_by_whatever_file_it_is_started_again(
    sign_off: dict[str, Any], tmp_path: Path
) -> None:
    """Where each zone is signed for itself by now, and where the file lists whoever rejected it no more.
    Once the zone is reopened, it is decided anew.
    """
    async with guarded(tmp_path) as before:
        await before.begin(issued=ago(hours=1))
        await before.approve_alike("grace", choice=Choice.REJECT, issued=ago(minutes=30))
        door = await restarted(before, **sign_off)
        await door.approve()
        refused = await door.commit()
        assert refused.uncounted and "grace rejected it" in refused.reason
        assert await door.sent() == 0
        await door.again("reopen", zones=(door.gate.zone.id,), issued=ago(seconds=2))
        await door.approve(issued=ago(seconds=1))
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


async def test_whoever_a_file_does_not_list_rejects_nothing_by_it(tmp_path: Path) -> None:
    """Of the start that goes by it."""
    async with guarded(tmp_path, sign_off={"approvers": ["ada"]}) as found:
        policy = found.gate.start.policy
        door = found.with_start(policy=policy.model_copy(update={"sign_off": SignOffPolicy()}))
        await door.begin()
        await door.approve_alike("grace", choice=Choice.REJECT)
        await door.approve()
        assert (await door.commit()).status is ChangeStatus.ANSWERED


async def test_nor_once_the_campaign_is_started_again_by_the_same_file(tmp_path: Path) -> None:
    """Which lists them no more than before."""
    async with guarded(tmp_path, sign_off={"approvers": ["ada"]}) as found:
        policy = found.gate.start.policy
        door = found.with_start(policy=policy.model_copy(update={"sign_off": SignOffPolicy()}))
        await door.begin(issued=ago(hours=1))
        await door.approve_alike("grace", choice=Choice.REJECT, issued=ago(minutes=30))
        await door.begin(issued=ago(seconds=10))
        await door.approve()
        assert (await door.commit()).status is ChangeStatus.ANSWERED


async def test_a_rejection_of_one_wave_holds_for_all_once_the_waves_are_others(tmp_path: Path) -> None:
    """The zone was in the wave that was rejected, and is in another one by now."""
    async with guarded(tmp_path) as found:
        zone = found.gate.zone
        before = await in_waves(found, zone, OTHER, wave=0, issued=ago(hours=1))
        await before.approve_alike("grace", choice=Choice.REJECT, wave=0, issued=ago(minutes=30))
        door = await in_waves(found, OTHER, zone, wave=1, issued=ago(seconds=10))
        await door.approve()
        refused = await door.commit()
        assert refused.uncounted and "grace rejected it" in refused.reason
        assert await door.sent() == 0


@pytest.mark.parametrize(("rejected", "sent"), [(0, True), (1, False)])
async def test_a_rejection_of_one_wave_holds_for_it_alone_while_the_waves_are_the_same(
    rejected: int, sent: bool, tmp_path: Path
) -> None:
    """In the same start, and once the campaign is started again with the same targets."""
    async with guarded(tmp_path) as found:
        zone = found.gate.zone
        door = await in_waves(found, OTHER, zone, wave=1, issued=ago(hours=1))
        await door.approve_alike("grace", choice=Choice.REJECT, wave=rejected, issued=ago(minutes=30))
        door = await in_waves(found, OTHER, zone, wave=1, issued=ago(seconds=10))
        await door.approve()
        result = await door.commit()
        assert (result.status is ChangeStatus.ANSWERED) is sent, result
        assert sent or "grace rejected it" in result.reason


async def test_a_starter_ends_what_a_revoked_key_has_started_again(tmp_path: Path) -> None:
    """Nothing is sent under the start of before. The later one is dated further ahead than what is signed
    after it, as by a thief who means to end that, too.
    """
    async with guarded(tmp_path) as door:
        door.grant("grace", "starter")
        await door.begin(issued=ago(hours=1))
        await door.approve(issued=ago(minutes=30))
        spec = await door.gate.connections.spec(door.gate.start.spec)
        two = spec.model_copy(update={"sign_off": spec.sign_off.model_copy(update={"required": 2})})
        await door.begin("grace", spec=await put_document(door.archive, two), issued=ago(minutes=-2))
        RootsEditor(door.keyring.roots).revoke("grace")
        refused = await door.commit()
        assert refused.unsigned and "grace has started the campaign again since" in refused.reason
        await door.begin(issued=ago(seconds=-1))
        await door.approve()
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED
