"""What the door makes of statements and records that are damaged, gone, or planted: nothing is sent by
them, and what they may have stopped stays stopped until they are put right.
"""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from activities.change.area_work import AreaWork
from activities.standing import standing_of
from activities.waf.changes import WafWork
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.statements import WordStatement
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Area, Plan, ZoneOutcome
from edgeshift.model.sign_off import Choice
from edgeshift.stores.archive import ArchiveCorrupt
from edgeshift.stores.documents import Intent, contents_of, create_record, intent_key, unproven_there
from tests.forgeries.doors import Guarded, guarded
from tests.kit.signing import signed

DAMAGES = ("truncated", "missing", "planted")


async def _damaged(door: Guarded, place: str, digest: str, how: str) -> tuple[Path, bytes]:
    """Damage what was signed, or give it a name that no statement has; where it lay, and what it was."""
    assert door.archive.folder is not None
    signed = door.archive.folder / "signed" / door.campaign
    path = signed / "statement" / digest
    whole = path.read_bytes()
    if how == "truncated":
        path.write_bytes(whole[:200])
    elif how == "missing":
        path.unlink()
    else:
        path.unlink()
        (signed / place / digest).rename(signed / place / ("0" * 64))
    return path, whole


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("word", ["abort", "pause", "reject"])
async def test_what_stops_stops_also_where_it_is_damaged(word: str, how: str, tmp_path: Path) -> None:
    """Nobody can tell what it said: nothing is sent, the name is told, and an alarm names it until it is put
    right.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        if word == "reject":
            place, stops = f"decision/{door.digest}", await door.approve("grace", choice=Choice.REJECT)
        else:
            place, stops = "word", await door.say(word, 1)
        name = f"signed/{door.campaign}/{place}/{'0' * 64 if how == 'planted' else stops}"
        path, whole = await _damaged(door, place, stops, how)
        result = await door.commit()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and result.damaged, result
        assert place.partition("/")[0] in result.reason and await door.sent() == 0
        assert [one.key for one in (await unproven_there(door.archive)).found] == [name]
        if how == "planted":
            (path.parents[3] / name).unlink()
        else:
            path.write_bytes(whole)
        assert (await unproven_there(door.archive)).found == ()
        result = await door.commit(permit=2)
        if how == "planted":
            assert result.status is ChangeStatus.ANSWERED
        else:
            assert result.status is ChangeStatus.NOTHING_HAPPENED and not result.damaged


async def test_a_damaged_word_hides_no_abort(tmp_path: Path) -> None:
    """Whoever plants a name that stands for nothing does not keep the campaign from hearing what was signed.
    Where nothing that can be read stops it, the sweep is told that something cannot.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        there = door.gate.connections

        async def swept() -> WordStatement | None:
            return await there.authority.word_that_stops(door.gate.start.spec, there.spec, there.clock.now())

        await door.archive.create_once(f"signed/{door.campaign}/word/{'0' * 64}", b"{}")
        with pytest.raises(ArchiveCorrupt, match=f"word/{'0' * 64}"):
            await swept()
        assert len((await unproven_there(door.archive)).found) == 1
        await door.say("resume", 1)
        with pytest.raises(ArchiveCorrupt):
            await swept()
        await door.say("abort", 2)
        word = await swept()
        assert word is not None and word.word == "abort"
        assert (await door.commit()).aborted_by == "sam"


async def test_a_damaged_reopening_matters_only_where_somebody_had_rejected(tmp_path: Path) -> None:
    """It may have voided what was approved between the rejection and it; without one it voids nothing."""
    async with guarded(tmp_path) as door:
        then = datetime.now(UTC) - timedelta(hours=1)
        await door.begin(issued=then - timedelta(hours=1))
        name = f"signed/{door.campaign}/again/every-zone/{'0' * 64}"
        await door.archive.create_once(name, b"{}")
        await door.approve("grace", choice=Choice.REJECT, issued=then)
        await door.again("reopen", issued=then + timedelta(minutes=1))
        await door.approve()
        result = await door.commit()
        assert result.damaged and "again/every-zone" in result.reason and await door.sent() == 0
    async with guarded(tmp_path / "other") as door:
        await door.begin()
        await door.approve()
        await door.archive.create_once(name, b"{}")
        assert (await door.commit()).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("place", ["word", "decision", "again/every-zone"])
async def test_a_validation_is_held_back_by_a_damaged_word_alone(place: str, tmp_path: Path) -> None:
    """It needs no sign-off, so that no decision stops it."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        under = f"{place}/{door.digest}" if place == "decision" else place
        await door.archive.create_once(f"signed/{door.campaign}/{under}/{'0' * 64}", b"{}")
        result = await door.gate.validate()
        assert result.damaged is (place == "word")
        assert await door.sent() == (0 if place == "word" else 1)


@pytest.mark.parametrize("how", ["revoked", "truncated", "changed"])
async def test_a_validation_whose_record_does_not_count_was_one_all_the_same(
    tmp_path: Path, how: str
) -> None:
    """The window has to have begun since, as of when the record was stored."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        key = intent_key(door.gate.zone, door.gate.start.area, "earlier")
        said = Intent(step="validate", at=datetime.now(UTC), campaign=door.gate.start.campaign)
        other = door.keyring.signer("worker-2", ("worker",))
        data = await signed(key, contents_of(said), other, by="worker-2")
        changed = {"revoked": data, "truncated": data[:40], "changed": data.replace(b"validate", b"opened")}
        await door.archive.create_once(key, changed[how])
        RootsEditor(door.keyring.roots).revoke("worker-2")
        early = await door.evidence(EvidenceVerdict.PASS)
        assert (await door.commit(evidence=early)).uncounted
        assert await door.sent() == 0


async def test_a_planted_validation_takes_no_zone_its_evidence(tmp_path: Path) -> None:
    """No worker has signed it; the zone was found in validation, and its window counts."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        key = intent_key(door.gate.zone, door.gate.start.area, "planted")
        said = Intent(step="validate", at=datetime.now(UTC), campaign=door.gate.start.campaign)
        await create_record(door.archive, key, said)
        assert door.archive.folder is not None
        os.utime(door.archive.folder / key, (0, 0))
        evidence = await door.evidence(EvidenceVerdict.PASS)
        assert (await door.commit(evidence=evidence)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("how", ["whole", "planted", "truncated"])
async def test_where_an_intent_does_not_count_what_the_zone_runs_is_not_known(
    how: str, tmp_path: Path
) -> None:
    """It may be the campaign's own, with whose rules those of the zone would have been compared."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        assert (await door.commit()).status is ChangeStatus.ANSWERED
        gate, there = door.gate, door.gate.connections
        assert door.archive.folder is not None
        folder = door.archive.folder / "intent" / gate.zone.id / "waf"
        (intent,) = folder.iterdir()
        whole = intent.read_bytes()
        if how == "planted":
            intent.write_bytes(whole.replace(b'"commit"', b'"comnit"'))
        elif how == "truncated":
            intent.write_bytes(whole[:50])
        work: dict[Area, AreaWork] = {Area.WAF: WafWork(there)}

        async def standing() -> tuple[ZoneOutcome | None, str]:
            return await standing_of(there, work, Area.WAF, gate.start.spec, gate.start.target)

        limit = asyncio.get_running_loop().time() + 30
        while (found := await standing())[0] is None:
            assert asyncio.get_running_loop().time() < limit, found
            await asyncio.sleep(0.2)
        expected = ZoneOutcome.MIGRATED if how == "whole" else ZoneOutcome.UNKNOWN
        assert found[0] is expected and (how == "whole" or intent.name in found[1]), found
