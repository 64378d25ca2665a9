"""The door asks its own roots and what people signed with their keys; what messages say proves nothing."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.change.area_work import AreaWork
from activities.change.fence import CHECKED_AGAIN_AFTER
from activities.commit_caps import Cap, CommitCaps
from activities.records import WorkerRecords
from activities.standing import standing_of
from activities.waf.changes import WafWork
from edgeshift.areas.waf.evidence import EvidenceVerdict
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.statements import WordStatement
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Area, Plan, ZoneOutcome
from edgeshift.model.sign_off import Choice
from edgeshift.rate_limit.slots import Lane
from edgeshift.runtime.clock import SystemClock
from edgeshift.stores.archive import Archive, ArchiveCorrupt
from edgeshift.stores.documents import Intent, contents_of, create_record, intent_key, unproven_there
from tests.forgeries.doors import Guarded, guarded
from tests.forgeries.kinds import FORGERIES
from tests.kit.signing import signed
from tests.service.gate_kit import Gate, gate
from tests.service.test_called_off import READINGS, Turns, begun


async def test_what_people_signed_is_sent_once(tmp_path: Path) -> None:
    """A start by a starter and an approval by an approver, of exactly this: it is sent."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        assert (await door.commit()).status is ChangeStatus.ANSWERED
        assert await door.sent() == 1


async def test_a_fingerprint_that_was_signed_covers_its_zone(tmp_path: Path) -> None:
    """An approval of the fingerprint, for all waves or for this one."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None, wave=0)
        assert (await door.commit()).status is ChangeStatus.ANSWERED


async def test_an_enterprise_zone_joins_its_fingerprint_by_its_own_evidence(tmp_path: Path) -> None:
    """Evidence that passed joins; without it only a decision on the zone counts that names what was shown."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        assert (await door.commit()).unsigned
        failed = await door.evidence(EvidenceVerdict.FAIL)
        assert (await door.commit(permit=2, evidence=failed)).unsigned
        foreign = await door.evidence(EvidenceVerdict.PASS, zone="f" * 32)
        assert (await door.commit(permit=3, evidence=foreign)).unsigned
        other = await door.evidence(EvidenceVerdict.PASS, proposal="0" * 64)
        assert (await door.commit(permit=4, evidence=other)).unsigned
        assert await door.sent() == 0
        passed = await door.evidence(EvidenceVerdict.PASS)
        assert (await door.commit(permit=5, evidence=passed)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize(
    "more",
    [
        {"false_positives": 1, "agreed": 39},
        {"gaps": 1, "agreed": 39},
        {"unseen": 1, "agreed": 39},
        {"unseen": 1, "agreed": 39, "as_before": 1},
        {"compared": 3},
        {"agreed": 10},
        {"whole": False},
        {"since": datetime.now(UTC) - timedelta(hours=1)},
        {"until": datetime.now(UTC) + timedelta(days=30)},
        {"since": None},
    ],
    # Moments would be others in each process of the tests.
    ids=lambda more: " ".join(more),
)
async def test_evidence_is_judged_again_at_the_door(more: dict[str, Any], tmp_path: Path) -> None:
    """A document that says that it passed, and whose own counts or window do not bear that out, lets no zone
    join its fingerprint.
    """
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        planted = await door.evidence(EvidenceVerdict.PASS, **more)
        assert (await door.commit(evidence=planted)).uncounted
        assert await door.sent() == 0
        borne_out = await door.evidence(EvidenceVerdict.PASS)
        assert (await door.commit(permit=2, evidence=borne_out)).status is ChangeStatus.ANSWERED


async def test_a_zone_whose_evidence_failed_takes_a_decision_that_names_it(tmp_path: Path) -> None:
    """A person saw that evidence, and agreed all the same."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        failed = await door.evidence(EvidenceVerdict.FAIL)
        await door.approve()
        assert (await door.commit(evidence=failed)).unsigned
        await door.approve(evidence=failed)
        assert (await door.commit(permit=2, evidence=failed)).status is ChangeStatus.ANSWERED


async def test_as_many_people_as_the_policy_asks_for(tmp_path: Path) -> None:
    """Of two that the roots ask for, one twice is one; and two people are two."""
    async with guarded(tmp_path) as door:
        door.least(required=2)
        await door.begin()
        await door.approve()
        await door.approve()
        assert (await door.commit()).unsigned
        await door.approve("grace", signer=door.key("ada"))
        assert (await door.commit(permit=2)).unsigned
        await door.approve("grace")
        assert (await door.commit(permit=3)).status is ChangeStatus.ANSWERED


async def test_a_paused_campaign_sends_nothing_until_it_is_resumed(tmp_path: Path) -> None:
    """By signed words in the archive alone, whatever Temporal believes; the zone tries again later."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await door.say("pause", 1)
        held = await door.commit()
        assert held.status is ChangeStatus.NOTHING_HAPPENED and not held.unsigned and not held.turn
        await door.say("resume", 2)
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


async def test_a_change_that_finds_a_signed_pause_first_hears_that_it_is_called_off(tmp_path: Path) -> None:
    """The pause is signed before Temporal is told: a moment later the permit is taken back, and the zone need
    not wait for the next turn when the campaign goes on.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await door.say("pause", 1)
        environment, change = begun(door.gate, await door.gate.message(door.gate.body, door.gate.body))
        await asyncio.sleep(1)
        environment.cancel()
        result = await asyncio.wait_for(change, 1.5)
        assert result.status is ChangeStatus.NOTHING_HAPPENED and "called off" in result.reason


class Late(Turns):
    """A pacer that has some turns at once; the next ones come when it is let."""

    def __init__(self, left: int) -> None:
        super().__init__(left)
        self.come = asyncio.Event()

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """Return when the turn has come."""
        if self.left:
            self.left -= 1
            return
        self.waiting.set()
        await self.come.wait()


@pytest.mark.parametrize("word", ["pause", "abort", "reject"])
async def test_what_is_signed_while_a_change_waits_for_its_turn_stops_it(word: str, tmp_path: Path) -> None:
    """The door was passed before; it is asked once more just before the first byte."""
    pacer = Late(READINGS)
    async with guarded(tmp_path, pacer=pacer) as door:
        await door.begin()
        await door.approve()
        change = asyncio.create_task(door.commit())
        await asyncio.wait_for(pacer.waiting.wait(), 30)
        if word == "reject":
            await door.approve("grace", choice=Choice.REJECT)
        else:
            await door.say(word, 1)
        await asyncio.sleep(CHECKED_AGAIN_AFTER)
        pacer.come.set()
        result = await change
        assert result.status is ChangeStatus.NOTHING_HAPPENED
        assert result.unsigned is (word != "pause") and await door.sent() == 0


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


async def test_an_abort_is_the_last_word(tmp_path: Path) -> None:
    """No later word lets anything of that start go on."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await door.say("abort", 1)
        await door.say("resume", 2)
        assert (await door.commit()).unsigned
        assert await door.sent() == 0


async def test_a_reopening_voids_what_was_signed_before_only_where_somebody_had_rejected(
    tmp_path: Path,
) -> None:
    """Zones on hold are reopened together: whoever approved their fingerprint before need not sign anew.
    Where one had rejected, the approval of before counts no more, and one of afterwards does.
    """
    async with guarded(tmp_path) as door:
        earlier = datetime.now(UTC) - timedelta(hours=1)
        await door.begin(issued=earlier - timedelta(hours=1))
        said: dict[str, Any] = {
            "about": "fingerprint",
            "subjects": (door.fingerprint,),
            "zone": None,
            "attempt": None,
        }
        await door.approve(**said, issued=earlier)
        await door.approve("grace", **said, issued=earlier, choice=Choice.REJECT)
        assert "grace rejected it" in (await door.commit()).reason
        await door.again("reopen")
        assert "0 of 1" in (await door.commit(permit=2)).reason
        await door.approve(**said)
        assert (await door.commit(permit=3)).status is ChangeStatus.ANSWERED
    async with guarded(tmp_path / "other") as door:
        await door.begin(issued=earlier - timedelta(hours=1))
        said["subjects"] = (door.fingerprint,)
        await door.approve(**said, issued=earlier)
        await door.again("reopen")
        assert (await door.commit()).status is ChangeStatus.ANSWERED


async def test_no_more_commits_an_hour_than_the_roots_say(tmp_path: Path) -> None:
    """Whoever comes after the last one waits for the next hour: nothing is wrong with the zone."""
    async with guarded(tmp_path) as door:
        door.most_commits(1)
        await door.begin()
        await door.approve()
        archive = door.gate.connections.archive
        for hour in (datetime.now(UTC), datetime.now(UTC) + timedelta(hours=1)):
            await archive.create_once(f"commits/{hour:%Y%m%dT%H}/0", b"another")
        held = await door.commit()
        assert not held.unsigned and not held.turn and "in this hour" in held.reason
        door.most_commits(2)
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED
        assert (await door.commit(permit=3)).status is ChangeStatus.NOTHING_HAPPENED
        assert await door.sent() == 1


async def test_a_revoked_key_signs_nothing_from_then_on(tmp_path: Path) -> None:
    """The roots are read again: no worker has to be started anew."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        file = door.keyring.roots
        (file.parent / "revoked").write_text(door.key("ada").key.line + "\n")
        file.write_text(file.read_text() + "revoked: revoked\n")
        assert (await door.commit()).unsigned


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_forgery_sends_nothing(name: str, tmp_path: Path) -> None:
    """Each is refused before the first byte, and said to be so."""
    async with guarded(tmp_path) as door:
        forged = await FORGERIES[name](door) or door
        result = await forged.commit()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and result.unsigned, result
        assert await door.sent() == 0


async def test_the_checks_ask_the_service_nothing(tmp_path: Path) -> None:
    """A commit makes the same calls with roots as in a rehearsal without."""
    calls = []
    async with guarded(tmp_path / "with") as door:
        await door.begin()
        await door.approve()
        calls.append(await _calls(door.gate))
    async with gate(tmp_path / "without", plan=Plan.PRO) as plain:
        calls.append(await _calls(plain))
    assert calls[0] == calls[1]
    assert sum(method == "PUT" for method, _ in calls[0]) == 1


async def _calls(found: Gate) -> list[tuple[str, str]]:
    """What the service is asked while the door sends the commit."""
    before = len(await found.control.journal())
    assert (await found.change(found.body, found.body)).status is ChangeStatus.ANSWERED
    return [(entry["method"], entry["call"]) for entry in (await found.control.journal())[before:]]


async def test_two_workers_make_as_many_commits_an_hour_as_the_roots_say(tmp_path: Path) -> None:
    """Each keeps which places of the hour are taken, and finds those that the other one took."""
    archive = Archive(tmp_path / "archive")
    one, other = (CommitCaps(archive, WorkerRecords(None, archive, SystemClock())) for _ in range(2))

    async def went(worker: CommitCaps, hour: int, most: int) -> bool:
        return await worker.take([Cap(f"commits/{hour}", most, "in this hour")], "p") is None

    found = [await went(worker, 1, 12) for _ in range(8) for worker in (one, one, other)]
    assert found == [True] * 12 + [False] * 12
    assert await went(other, 2, 1) and not await went(one, 2, 1)


async def test_a_cap_that_has_no_place_left_uses_up_none_of_the_others(tmp_path: Path) -> None:
    """Forty zones of a wave that takes ten: the campaign keeps its places for the waves after it; nor does a
    full campaign, or a full hour, use up places.
    """
    archive = Archive(tmp_path / "archive")
    caps = CommitCaps(archive, WorkerRecords(None, archive, SystemClock()))

    async def tried(zone: int, wave: int, hour: int = 1) -> str:
        found = await caps.take(
            (
                Cap(f"commits/{hour}", 25, "in this hour"),
                Cap(f"commits/wave/x/{wave}", 10, f"of wave {wave}"),
                Cap("commits/campaign/x", 30, "of x"),
            ),
            f"p{zone}",
        )
        return found.of if found else ""

    async def taken(of: str) -> int:
        return len([key async for key in archive.list(f"commits/{of}")])

    assert [await tried(zone, 0) for zone in range(40)] == [""] * 10 + ["of wave 0"] * 30
    assert [await taken(of) for of in ("1", "wave/x/0", "campaign/x")] == [10, 10, 10]
    assert [await tried(zone, zone // 10) for zone in range(10, 40)] == [""] * 15 + ["in this hour"] * 15
    assert [await taken(of) for of in ("wave/x/3", "campaign/x")] == [0, 25]
    assert [await tried(zone, zone // 10, 2) for zone in range(30, 40)] == [""] * 5 + ["of x"] * 5
    assert [await taken(of) for of in ("2", "wave/x/3", "campaign/x")] == [5, 5, 30]


@pytest.mark.parametrize("of", ["wave", "campaign"])
async def test_no_more_commits_of_a_wave_or_a_campaign_than_the_roots_say(tmp_path: Path, of: str) -> None:
    """A commit that is tried again counts once; where the places are taken, the zone waits until the roots
    have more. Who plants a record that it had been counted has won nothing.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        archive, name = door.gate.connections.archive, door.campaign
        places = f"commits/{of}/{name}" + ("/0" if of == "wave" else "")
        counted = f"counted/{places.removeprefix('commits/')}/{door.gate.zone.id}/1"
        door.most_commits(1, of)
        await archive.create_once(f"{places}/0", b"another")
        await archive.create_once(counted, b'{"place": 1}')
        held = await door.commit()
        assert not held.unsigned and not held.turn and f"of {name}, the most by the roots" in held.reason
    async with guarded(tmp_path / "other") as door:
        await door.begin()
        await door.approve()
        archive = door.gate.connections.archive
        door.most_commits(1, of)
        door.most_commits(1)
        for hour in (datetime.now(UTC), datetime.now(UTC) + timedelta(hours=1)):
            await archive.create_once(f"commits/{hour:%Y%m%dT%H}/0", b"another")
        assert "in this hour" in (await door.commit()).reason
        door.most_commits(2)
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED
        assert await door.sent() == 1


@pytest.mark.parametrize("by", ["nobody", "a stranger", "an approver", "another run", "another zone"])
async def test_evidence_that_no_worker_gathered_joins_no_zone(tmp_path: Path, by: str) -> None:
    """However whole it is: it counts where a worker has signed that it read this, for this campaign."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        planted = await door.evidence(EvidenceVerdict.PASS, gathered=False)
        await door.gathers(planted, by)
        assert (await door.commit(evidence=planted)).uncounted
        assert await door.sent() == 0
        passed = await door.evidence(EvidenceVerdict.PASS, clients=1)
        assert (await door.commit(permit=2, evidence=passed)).status is ChangeStatus.ANSWERED


async def test_a_window_from_before_the_zone_was_validated_joins_no_zone(tmp_path: Path) -> None:
    """A message can have a worker gather the events of any time: what counts is what was seen since the zone
    was last set into validation.
    """
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        early = await door.evidence(EvidenceVerdict.PASS)
        assert (await door.gate.validate()).status is ChangeStatus.ANSWERED
        assert (await door.commit(permit=2, evidence=early)).uncounted


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
