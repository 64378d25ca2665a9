"""The audit file: what it proves, what it does not, and what cannot be read of it."""

from __future__ import annotations

import gc
import io
import re
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.audit.chain import NoAudit
from edgeshift.audit.collecting import NothingSigned
from edgeshift.audit.exporting import export
from edgeshift.audit.proving import prove
from edgeshift.authority import worker_records
from edgeshift.authority.records import statement_at
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import StartStatement, WordStatement
from edgeshift.model.digests import anonymous, digest, fingerprint, named, sha256
from edgeshift.model.fleet import Target
from edgeshift.model.sign_off import Choice
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import FrozenTargets, put_document
from tests.kit.audited import AGREED, BEGAN, SENT, Audited, audited, body, rows, zone


@pytest.fixture
async def done(tmp_path: Path) -> Audited:
    """A campaign that has changed all its zones."""
    return await audited(tmp_path)


async def test_a_file_proves_who_agreed_to_what(done: Audited) -> None:
    """By the file and the keys alone: every request, who agreed, who sealed it; a stranger's word is none."""
    proof = done.prove(await done.export())
    assert proof.holds and not proof.findings, proof.findings
    assert proof.sent == {"commit": 5} and proof.agreed == {"ada, grace": 5} and proof.zones == 5
    assert proof.sealed is not None and proof.sealed.name == "olga"
    said = {who.name: who.said for who in proof.people}
    assert said == {
        "ada": {"approve commit": 2, "reject commit": 1},
        "grace": {"approve commit": 2},
        "olga": {"start": 1},
        "sam": {"pause": 1, "resume": 1, "retry": 1, "repair": 1},
    }
    assert all(who.key == done.keys[who.name].public.id for who in proof.people)
    assert proof.strangers == 1 and proof.targets == 5


async def test_two_exports_are_alike_but_for_when_and_by_whom(done: Audited) -> None:
    """So that two people can compare what each of them has."""
    one, other = rows(await done.export()), rows(await done.export(by="ada"))
    assert [row["data"] for row in one[1:-1]] == [row["data"] for row in other[1:-1]]
    assert len(one) == 1 + 1 + 1 + 5 + 11 + 2 + 6 + 6 + 1


def test_a_body_without_names_is_that_of_each_zone() -> None:
    """One body in the file stands for those of all zones that propose alike."""
    for number in range(3):
        for extra in ("", "log"):
            own = body(zone(number), extra)
            alike = anonymous(own, zone(number))
            assert named(alike, zone(number)) == own
            assert alike == anonymous(body(zone(9), extra), zone(9))
            assert fingerprint(own, zone(number)) == digest(alike) != digest(own)
    with pytest.raises(ValueError, match="stands for nothing"):
        named({"name": "a\x00b"}, zone(1))


async def test_a_seal_counts_by_a_known_key_alone(done: Audited) -> None:
    """Not by a stranger's, nor by one person's in the name of another."""
    for by, key in (("olga", done.stranger), ("ada", done.keys["olga"])):
        proof = done.prove(await done.export(by, key))
        assert not proof.holds and "its seal does not count" in proof.findings[0].text


async def test_the_rules_of_the_door_are_those_of_the_proof(done: Audited) -> None:
    """One approval of two, by whoever has started, of another attempt, after the request, or rejected."""
    zones = [zone(number) for number in range(20, 27)]
    done.zones[:0] = zones
    for name, decisions, said in (
        ("one of two", [done.of_own("ada")], "1 of 2 needed people"),
        ("the starter", [done.of_own("ada"), done.of_own("olga")], "1 of 2 needed people"),
        ("attempt", [done.of_own("ada"), done.of_own("grace", attempt=2)], "1 of 2"),
        ("evidence", [done.of_own("ada"), done.of_own("grace", evidence="0" * 64)], "1 of 2"),
        ("late", [done.of_own("ada"), done.of_own("grace", issued=SENT + timedelta(hours=1))], "1 of 2"),
        (
            "rejected",
            [done.of_own("ada"), done.of_own("grace"), done.of_own("ada", choice=Choice.REJECT)],
            "ada rejected it",
        ),
    ):
        other = Audited(Archive(done.archive.folder / name.replace(" ", "-")), done.zones, done.keys)  # type: ignore[operator]
        await other.begin()
        for statement in decisions:
            await other.put(statement.model_copy(update={"start": other.start}))
        await other.send(other.own, extra="log")
        proof = other.prove(await other.export())
        assert not proof.holds and said in proof.findings[0].text, (name, proof.findings)


async def test_those_alone_agreed_whose_approvals_count(tmp_path: Path) -> None:
    """Not whoever is no approver, has started it, has signed for another wave of the same fingerprint, or so
    long ago that it counts no more.
    """
    found = Audited(Archive(tmp_path), [zone(number) for number in range(4)])
    found.keys["bob"] = PrivateKey.made()
    await found.begin()
    signed = [(by, 0, AGREED) for by in ("ada", "grace", "sam", "olga")]
    signed += [("bob", 1, AGREED), ("grace", 1, AGREED), ("ada", 1, SENT - timedelta(days=15))]
    for by, wave, issued in signed:
        await found.put(found.decision(by, wave=wave, issued=issued))
    for one in (found.zones[0], found.zones[2], found.zones[3]):
        await found.send(one)
    proof = found.prove(await found.export())
    assert proof.holds and proof.agreed == {"ada, grace": 1, "bob, grace": 2}, proof
    uncounted = {who.name: who.uncounted for who in proof.people if who.uncounted}
    assert uncounted == {"sam": {"approve commit": 1}, "olga": {"approve commit": 1}}


async def test_a_request_while_paused_and_one_to_another_zone_do_not_hold(done: Audited) -> None:
    """Nor one of a body that nobody saw, though its record says that it is of an approved fingerprint."""
    start: dict[str, Any] = {"start": done.start}
    await done.put(
        WordStatement(**done.about("sam", SENT + timedelta(hours=1)), **start, word="pause", number=3)
    )
    await done.send(done.zones[1], "late", at=SENT + timedelta(hours=2))
    await done.send(zone(77), "elsewhere")
    await done.send(done.zones[2], "other", extra="skip", fingerprint=done.decision("ada").subjects[0])
    found = " | ".join(finding.text for finding in done.prove(await done.export()).findings)
    assert "paused by sam" in found and "none of the signed targets" in found
    assert "its body is another than was agreed to" in found


async def test_what_strangers_put_there_keeps_nothing_from_being_proved(done: Audited) -> None:
    """A start of their own, over a list that calls the zones by other names, before and after the others."""
    others = [one.model_copy(update={"name": f"not-{one.name}"}) for one in done.zones]
    for nonce in ("0" * 32, "f" * 32):
        targets = FrozenTargets(tuple(Target(zone=one, wave=0) for one in others))
        forged = StartStatement(
            **done.about("olga", BEGAN, nonce=nonce),
            spec=sha256(b"nothing"),
            targets=await put_document(done.archive, targets),
            count=len(others),
            waves=(),
        )
        await done.put(forged, done.stranger)
    proof = done.prove(await done.export())
    assert proof.holds and proof.strangers == 3 and proof.agreed == {"ada, grace": 5}, proof.findings


@pytest.mark.parametrize(
    ("key", "data"),
    [
        ("intent/{zone}/waf/broken", b"{"),
        (f"signed/autumn/statement/{'9' * 64}", b"\xff"),
        (f"signed/autumn/word/{'9' * 64}", b"{}"),
        (f"signed/autumn/decision/{'8' * 64}/{'9' * 64}", b"{}"),
        (f"signed/autumn/again/every-zone/{'9' * 64}", b"{}"),
    ],
    ids=["a request", "a statement", "a word that is gone", "a decision", "a reopening"],
)
async def test_what_cannot_be_read_is_a_line_of_its_own_and_does_not_hold(
    key: str, data: bytes, done: Audited
) -> None:
    """No reason not to write the file; but it may be what stopped the campaign, or a request."""
    key = key.format(zone=done.zones[0].id)
    await done.archive.create_once(key, data)
    await done.archive.create_once("intent/short", b"{}")
    proof = done.prove(await done.export())
    assert not proof.holds and len(proof.odd) == 1 and key in proof.odd[0]
    (finding,) = proof.findings
    assert key in finding.text and "cannot be read" in finding.text
    assert finding.odd == proof.odd[0]


@pytest.mark.parametrize("how", ["truncated", "missing"])
async def test_an_abort_that_was_damaged_holds_no_more(how: str, done: Audited) -> None:
    """Whatever was sent after it would be proved otherwise."""
    word = WordStatement(**done.about("sam", AGREED), start=done.start, word="abort", number=9)
    digest = await done.put(word)
    before = done.prove(await done.export())
    assert not before.holds and "aborted by sam" in before.findings[0].text, before.findings
    assert done.archive.folder is not None
    path = done.archive.folder / statement_at("autumn", digest)
    if how == "truncated":
        path.write_bytes(path.read_bytes()[:200])
    else:
        path.unlink()
    proof = done.prove(await done.export())
    assert not proof.holds and digest in proof.findings[0].text and proof.found == 1


async def test_what_else_cannot_be_read_is_told_and_holds(done: Audited) -> None:
    """An answer proves nothing in any case."""
    key = f"nothing/{done.zones[0].id}/waf"
    async for intent in done.archive.list(f"intent/{done.zones[0].id}/waf"):
        await done.archive.create_once(intent.replace("intent/", "nothing/", 1), b"{")
    proof = done.prove(await done.export())
    assert proof.holds and proof.odd and key in proof.odd[0]


async def test_a_campaign_that_nobody_signed_has_no_audit(tmp_path: Path) -> None:
    """There would be nothing to prove."""
    with pytest.raises(NothingSigned, match="nobody has signed the start of campaign autumn"):
        await export(Archive(tmp_path / "empty"), "autumn", io.BytesIO(), datetime.now(UTC))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is empty"),
        (b"\n", "no audit file"),
        (b"{}\n", "no audit file"),
        (b"\xff" * 100, "no audit file"),
        (b'{"data":{"format":2},"kind":"header","n":0,"prev":""}\n', "format 2"),
        (b'{"data":{"format":1},"kind":"seal","n":0,"prev":""}\n', "no audit file"),
    ],
)
async def test_what_is_no_audit_file_is_said_to_be_none(data: bytes, said: str, done: Audited) -> None:
    """It is not said that something in it was changed."""
    with pytest.raises(NoAudit, match=said):
        done.prove(data)


async def _peak(folder: Path, zones: int) -> tuple[int, int]:
    """Bytes that the export, and the proof, of a campaign of so many zones hold at most."""
    done, peaks = await audited(folder, zones), []
    file = folder / "file"
    gc.collect()
    re.purge()
    tracemalloc.start()
    with file.open("wb") as out:
        await export(done.archive, "autumn", out, datetime.now(UTC))
    peaks.append(tracemalloc.get_traced_memory()[1])
    roots = done.roots
    gc.collect()
    tracemalloc.reset_peak()
    with file.open("rb") as lines:
        assert prove(lines, roots, unsealed=True).holds
    peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    return peaks[0], peaks[1]


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_zones_are_not_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the caches are full (Python keeps 512 expressions), twice as many zones take hardly more: at most
    130 bytes for each further one, of the thousand and more that its lines have. That is its share of the
    parts in which lines are sorted, which are small here.
    """
    monkeypatch.setattr("edgeshift.stores.archive.PART", 8 * 1024)
    # A thousand records are remembered, as they come: those of the first measure are fewer than that.
    monkeypatch.setattr(worker_records, "_known", worker_records._signed)
    # What is imported or cached only on the way is there before anything is measured.
    await _peak(tmp_path / "first", 1_200)
    few, many = await _peak(tmp_path / "few", 600), await _peak(tmp_path / "many", 1_200)
    if max(many) > max(few) + 1_000_000:
        # Python's table of interned names, to which each file's path adds some, grows by megabytes at once,
        # and seldom: not in two measures one after the other.
        many = await _peak(tmp_path / "again", 1_200)
    for one, other in zip(few, many, strict=True):
        assert other - one < 130 * 600, (few, many)
