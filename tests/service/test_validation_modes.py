"""In which mode a zone may be validated. Nobody signs a validation, and one in which the new WAF acts blocks
live traffic: it rests on the campaign's file, and on what a worker has seen while the rules only logged.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import ChangeResult, ChangeStatus, Step
from edgeshift.model.fleet import Area, Plan
from edgeshift.stores.documents import Intent, SnapshotTaken, create_record, intent_key, snapshot_key
from tests.forgeries.doors import Guarded, guarded

CONSENT = {"enforce_validation": True}


@asynccontextmanager
async def begun(folder: Path, *modes: str, **more: Any) -> AsyncIterator[Guarded]:
    """A zone of a campaign whose signed file has these modes and the consent."""
    async with guarded(
        folder, plan=Plan.ENTERPRISE, validation={"modes": list(modes)}, consents=CONSENT, **more
    ) as door:
        await door.begin()
        yield door


async def validate(
    door: Guarded, permit: int, evidence: str = "", mode: ValidationMode | None = ValidationMode.ENFORCE
) -> ChangeResult:
    """Let the door send a validation in which the rules act, unless another mode is named."""
    body = door.gate.body
    return await door.gate.change(body, body, step=Step.VALIDATE, mode=mode, permit=permit, evidence=evidence)


async def of_others(door: Guarded, by: str) -> str:
    """Evidence that passes, and that this one says to have gathered."""
    found = await door.evidence(EvidenceVerdict.PASS, gathered=False)
    await door.gathers(found, by)
    return found


async def test_rules_act_in_a_validation_only_once_their_shadow_passed(tmp_path: Path) -> None:
    """Whatever a message names: not without evidence, nor by some that did not pass, that is of other rules
    or of another window, or that no worker has gathered for this campaign.
    """
    async with begun(tmp_path, "shadow", "enforce") as door:
        short = datetime.now(UTC) - timedelta(hours=1)
        kept = [
            "",
            await door.evidence(EvidenceVerdict.FAIL, false_positives=1, agreed=39),
            await door.evidence(EvidenceVerdict.PASS, false_positives=1, agreed=39),
            await door.evidence(EvidenceVerdict.PASS, since=short),
            await door.evidence(EvidenceVerdict.PASS, proposal="7" * 64),
            await door.evidence(EvidenceVerdict.PASS, zone="f" * 32),
            await door.evidence(EvidenceVerdict.PASS, mode="enforce"),
            *[await of_others(door, by) for by in ("nobody", "a stranger", "an approver", "another run")],
        ]
        for permit, evidence in enumerate(kept, start=1):
            result = await validate(door, permit, evidence)
            assert result.status is ChangeStatus.NOTHING_HAPPENED, permit
            assert "only logged has passed" in result.reason, (permit, result.reason)
        assert await door.gate.sent() == []
        passed = await door.evidence(EvidenceVerdict.PASS, events=41)
        assert (await validate(door, 20, passed)).status is ChangeStatus.ANSWERED
        # It is sent again by the same evidence, as where the first one was refused.
        assert (await validate(door, 21, passed)).status is ChangeStatus.ANSWERED
        assert [log_only for _, log_only in await door.gate.sent()] == [False, False]


@pytest.mark.parametrize("mode", ["shadow", None])
async def test_a_shadow_that_passed_before_the_last_one_does_not_count(
    tmp_path: Path, mode: str | None
) -> None:
    """What a worker has begun since may have found more. A record of an earlier version names no mode."""
    async with begun(tmp_path, "shadow", "enforce") as door:
        passed = await door.evidence(EvidenceVerdict.PASS)
        start = door.gate.start
        record = Intent(step="validate", at=datetime.now(UTC), campaign=start.campaign, mode=mode)
        key = intent_key(door.gate.zone, start.area, "p-1-again")
        await door.gate.connections.records.create(key, record)
        assert (await validate(door, 2, passed)).status is ChangeStatus.NOTHING_HAPPENED
        assert await door.gate.sent() == []


async def test_a_mode_that_the_file_does_not_name_is_not_sent(tmp_path: Path) -> None:
    """A consent is none to a window that nobody has signed, though its shadow has passed."""
    async with begun(tmp_path, "shadow") as door:
        passed = await door.evidence(EvidenceVerdict.PASS)
        for permit, mode in enumerate((ValidationMode.ENFORCE, None), start=1):
            result = await validate(door, permit, passed, mode)
            assert result.status is ChangeStatus.NOTHING_HAPPENED and "names no validation" in result.reason
        assert await door.gate.sent() == []
        assert (await validate(door, 3, mode=ValidationMode.SHADOW)).status is ChangeStatus.ANSWERED


async def test_rules_act_at_once_where_the_file_says_so(tmp_path: Path) -> None:
    """Then there is no shadow window, and none may be had."""
    async with begun(tmp_path, "enforce") as door:
        shadow = await validate(door, 1, mode=ValidationMode.SHADOW)
        assert shadow.status is ChangeStatus.NOTHING_HAPPENED
        assert (await validate(door, 2)).status is ChangeStatus.ANSWERED
        assert [log_only for _, log_only in await door.gate.sent()] == [False]


async def test_what_is_on_record_of_a_validation_names_its_mode(tmp_path: Path) -> None:
    """So that a later look tells a shadow from what followed it."""
    async with begun(tmp_path, "shadow", "enforce") as door:
        await validate(door, 1, mode=ValidationMode.SHADOW)
        found = door.gate.connections.records.each(Intent, f"intent/{door.gate.zone.id}")
        said = [record async for _, record in found]
        assert [record.mode for record in said if isinstance(record, Intent)] == ["shadow"]


async def test_a_window_that_passed_is_not_begun_again_for_a_snapshot_of_before(tmp_path: Path) -> None:
    """As an earlier version has recorded it, unsigned: what the rules showed while they only logged stands.
    Where they act at once, there is nothing but the snapshot to go by.
    """
    for number, modes in enumerate((("shadow", "enforce"), ("enforce",))):
        async with begun(tmp_path / str(number), *modes) as door:
            passed = await door.evidence(EvidenceVerdict.PASS)
            key = snapshot_key(door.gate.zone, Area.WAF, door.gate.snapshot)
            assert door.archive.folder is not None
            (door.archive.folder / key).unlink()
            assert await create_record(door.archive, key, SnapshotTaken(taken_at=datetime.now(UTC)))
            found = await validate(door, 1, passed)
            went_on = found.status is ChangeStatus.ANSWERED
            assert went_on is (len(modes) == 2), found
