"""Rejections from before a campaign was started again, of which people hear when a zone begins: those that
the door would hold against it, and no others.
"""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from activities.proof.rejections import SignedRejections
from activities.rulings import RulingActivities, ends_by_the_book
from edgeshift.areas.assessment import Verdict
from edgeshift.authority.editing import RootsEditor
from edgeshift.messages import ChangeStatus, Prepared, RecordRulings, RulingNote
from edgeshift.model.digests import fingerprint
from edgeshift.model.sign_off import Choice, SignOffPolicy
from tests.forgeries.doors import Guarded, guarded
from tests.service.gate_kit import ago
from tests.service.test_restarted_at_the_door import OTHER, in_waves, restarted


def proposed(door: Guarded, mark: str = "") -> Prepared:
    """What a plan has read of the zone. ``mark``: of another fingerprint."""
    return Prepared(
        verdict=Verdict.READY,
        snapshot="0" * 64,
        digest=door.digest,
        fingerprint=mark or door.fingerprint,
    )


def rejections(door: Guarded) -> SignedRejections:
    """As of a worker that has looked for none yet."""
    found, gate = door.gate.connections, door.gate
    return SignedRejections(found.authority, found.archive, gate.connections.clock, found.spec, found.targets)


async def binding(door: Guarded) -> str:
    """Who has rejected it, by what is found when the zone begins; empty where that is nobody. The door says
    the same of a zone that somebody has approved.
    """
    found = await rejections(door).of(door.gate.start, proposed(door))
    await door.approve()
    result = await door.commit()
    refused = result.status is not ChangeStatus.ANSWERED
    by = found.statement.by if found else ""
    assert refused is bool(by) and (not refused or f"{by} rejected it" in result.reason), result
    return by


@pytest.mark.parametrize(
    "sign_off", [{"per": "zone"}, {"approvers": ("ada",)}, {"valid_for": timedelta(days=3)}], ids=str
)
async def test_one_is_found_by_whatever_file_the_campaign_is_started_again(
    sign_off: dict[str, Any], tmp_path: Path
) -> None:
    """Where each zone is signed for itself by now, and where the file lists whoever rejected it no more."""
    async with guarded(tmp_path) as before:
        await before.begin(issued=ago(hours=1))
        await before.approve_alike("grace", choice=Choice.REJECT, issued=ago(minutes=30))
        assert await binding(await restarted(before, **sign_off)) == "grace"


async def test_one_whose_author_has_approved_since_is_found(tmp_path: Path) -> None:
    """It binds until the zone is reopened."""
    async with guarded(tmp_path) as before:
        await before.begin(issued=ago(hours=1))
        await before.approve_alike("grace", choice=Choice.REJECT, issued=ago(minutes=30))
        await before.approve_alike("grace", issued=ago(minutes=20))
        assert await binding(await restarted(before, valid_for=timedelta(days=3))) == "grace"


async def test_one_of_a_wave_is_found_once_the_waves_are_others(tmp_path: Path) -> None:
    """The zone was in the wave that was rejected, and is in another one by now."""
    async with guarded(tmp_path) as found:
        zone = found.gate.zone
        before = await in_waves(found, zone, OTHER, wave=0, issued=ago(hours=1))
        await before.approve_alike("grace", choice=Choice.REJECT, wave=0, issued=ago(minutes=30))
        assert await binding(await in_waves(found, OTHER, zone, wave=1, issued=ago(seconds=10))) == "grace"


async def test_one_of_another_wave_is_not_while_the_waves_are_the_same(tmp_path: Path) -> None:
    """It never was about the zone."""
    async with guarded(tmp_path) as found:
        zone = found.gate.zone
        before = await in_waves(found, OTHER, zone, wave=1, issued=ago(hours=1))
        await before.approve_alike("grace", choice=Choice.REJECT, wave=0, issued=ago(minutes=30))
        assert await binding(await in_waves(found, OTHER, zone, wave=1, issued=ago(seconds=10))) == ""


async def test_one_under_a_start_by_somebody_whose_key_was_revoked_is_found(tmp_path: Path) -> None:
    """What was rejected stays so, whoever had started the campaign, and whoever has left since."""
    async with guarded(tmp_path) as before:
        before.grant("sam", "starter")
        await before.begin("sam", issued=ago(hours=1))
        await before.approve_alike("grace", choice=Choice.REJECT, issued=ago(minutes=30))
        door = await restarted(before, per="zone")
        for name in ("sam", "grace"):
            assert RootsEditor(door.keyring.roots).revoke(name)
        assert await binding(door) == "grace"


async def test_one_that_was_reopened_since_is_not_found(tmp_path: Path) -> None:
    """By an operator, who has named the zone; a stranger reopens nothing, nor who names another zone."""
    async with guarded(tmp_path) as before:
        zone = before.gate.zone.id
        await before.begin(issued=ago(hours=1))
        await before.approve_alike("grace", choice=Choice.REJECT, issued=ago(minutes=30))
        await before.again("reopen", zones=(zone,), issued=ago(minutes=20), signer=before.stranger)
        await before.again("reopen", zones=(OTHER.id,), issued=ago(minutes=20))
        door = await restarted(before, approvers=("ada",))
        assert await rejections(door).of(door.gate.start, proposed(door)) is not None
        await before.again("reopen", zones=(zone,), issued=ago(minutes=20))
        assert await binding(door) == ""


async def test_one_by_whoever_may_not_is_not_found(tmp_path: Path) -> None:
    """By a stranger's key, and by somebody who is no approver."""
    async with guarded(tmp_path) as before:
        await before.begin(issued=ago(hours=1))
        reject = {"choice": Choice.REJECT, "issued": ago(minutes=30)}
        await before.approve_alike("grace", signer=before.stranger, **reject)
        await before.approve_alike("sam", **reject)
        assert await binding(await restarted(before, approvers=("ada",))) == ""


async def test_nor_is_one_by_whom_the_same_file_never_listed(tmp_path: Path) -> None:
    """It counted for nothing under the start that it names."""
    async with guarded(tmp_path, sign_off={"approvers": ["ada"]}) as found:
        policy = found.gate.start.policy
        door = found.with_start(policy=policy.model_copy(update={"sign_off": SignOffPolicy()}))
        await door.begin(issued=ago(hours=1))
        await door.approve_alike("grace", choice=Choice.REJECT, issued=ago(minutes=30))
        await door.begin(issued=ago(seconds=10))
        assert await binding(door) == ""


async def test_of_its_own_start_the_campaign_hears_by_itself(tmp_path: Path) -> None:
    """And of a start that was superseded nothing is found: nothing rests on it."""
    async with guarded(tmp_path) as before:
        await before.begin(issued=ago(hours=1))
        await before.approve_alike("grace", choice=Choice.REJECT, issued=ago(minutes=30))
        assert await rejections(before).of(before.gate.start, proposed(before)) is None
        door = await restarted(before, per="zone")
        assert await rejections(before).of(before.gate.start, proposed(before)) is None
        assert await rejections(door).of(door.gate.start, proposed(door)) is not None


async def test_what_cannot_be_read_keeps_no_zone_from_beginning(tmp_path: Path) -> None:
    """The door asks again, and keeps it back."""
    async with guarded(tmp_path) as before:
        await before.begin(issued=ago(hours=1))
        await before.approve_alike("grace", choice=Choice.REJECT, issued=ago(minutes=30))
        door = await restarted(before, per="zone")
        await door.archive.create_once(
            f"signed/{door.campaign}/decision/{door.fingerprint}/{'d' * 64}", b"{}"
        )
        assert await rejections(door).of(door.gate.start, proposed(door)) is None


async def test_2000_rejected_fingerprints_are_found_quickly(tmp_path: Path) -> None:
    """Each is looked for once, however many zones propose it."""
    async with guarded(tmp_path) as before:
        await before.begin(issued=ago(hours=1))
        marks = tuple(fingerprint({"number": number}, before.gate.zone) for number in range(2_000))
        await before.approve_alike("grace", choice=Choice.REJECT, issued=ago(minutes=30), subjects=marks)
        door = await restarted(before, per="zone")
        found, began = rejections(door), time.process_time()
        for mark in marks:
            assert await found.of(door.gate.start, proposed(door, mark)) is not None
        took = time.process_time() - began
        for mark in marks[:100]:
            assert await found.of(door.gate.start, proposed(door, mark)) is not None
        assert took < 30, f"{took:.1f} s"


async def test_where_the_book_ends_a_zone_it_says_who_has_rejected_it(tmp_path: Path) -> None:
    """The campaign's book has what was said for the zone's wave or all, by people whom the file lists."""
    async with guarded(tmp_path) as door:
        start, mark = door.gate.start, door.fingerprint
        assert not await ends_by_the_book(door.archive, start, mark)
        note = RulingNote(verb="rejected", at=ago(hours=1), by="grace", fingerprints=(mark,), wave=1)
        message = RecordRulings(campaign=start.campaign, run="earlier", targets="0" * 64, notes=(note,))
        record = RulingActivities(door.gate.connections).record
        await ActivityEnvironment().run(record, message)
        assert not await ends_by_the_book(door.archive, start, mark)
        whole = note.model_copy(update={"wave": None})
        await ActivityEnvironment().run(record, message.model_copy(update={"notes": (whole,)}))
        assert await ends_by_the_book(door.archive, start, mark)
        policy = start.policy.model_copy(update={"sign_off": SignOffPolicy(approvers=("ada",))})
        other = start.model_copy(update={"policy": policy})
        assert not await ends_by_the_book(door.archive, other, mark)
        over = whole.model_copy(update={"verb": "reopened", "at": ago(minutes=1)})
        await ActivityEnvironment().run(record, message.model_copy(update={"notes": (over,)}))
        assert not await ends_by_the_book(door.archive, start, mark)
