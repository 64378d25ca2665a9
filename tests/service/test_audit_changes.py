"""Every change of an audit file is found, with its chain as it was or made anew, with a seal or without."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.audit.chain import Kind, NoAudit, SealStatement
from edgeshift.stores.archive import ArchiveUnavailable
from tests.kit.audited import AGREED, HALTED, Audited, audited, chained, rows, sealed
from tests.kit.tiers import tiered

NOBODY = {"signature": None, "statement": None}
Row = dict[str, Any]


@pytest.fixture
async def done(tmp_path: Path) -> Audited:
    """A campaign that has changed all its zones."""
    return await audited(tmp_path)


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the plain values of JSON stand."""
    if isinstance(value, dict | list):
        some = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, item in some for leaf in _leaves(item, (*path, key))]
    return [path]


def _other(value: Any, chance: random.Random) -> Any:
    """Another value of its kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + chance.choice((-1, 1, 1000))
        case str() if value:
            at = chance.randrange(len(value))
            return value[:at] + chance.choice("0123456789abcdefZ".replace(value[at], "")) + value[at + 1 :]
    return "something"


def _value_changed(some: list[Row], chance: random.Random) -> list[Row]:
    some = copy.deepcopy(some)
    row = chance.choice([row for row in some if _leaves(row["data"])])
    *way, last = chance.choice(_leaves(row["data"]))
    place = row["data"]
    for step in way:
        place = place[step]
    place[last] = _other(place[last], chance)
    return some


def _removed(some: list[Row], chance: random.Random) -> list[Row]:
    at = chance.randrange(1, len(some))
    return some[:at] + some[at + 1 :]


def _doubled(some: list[Row], chance: random.Random) -> list[Row]:
    at = chance.randrange(len(some))
    return [*some[: at + 1], *some[at:]]


def _swapped(some: list[Row], chance: random.Random) -> list[Row]:
    one, other = sorted(chance.sample(range(1, len(some)), 2))
    some = list(some)
    some[one], some[other] = some[other], some[one]
    return some


def _cut(some: list[Row], chance: random.Random) -> list[Row]:
    return some[: chance.randrange(1, len(some))]


BY_LINES: tuple[Callable[[list[Row], random.Random], list[Row]], ...] = (
    _value_changed,
    _removed,
    _doubled,
    _swapped,
    _cut,
)


def _by_bytes(data: bytes, chance: random.Random) -> bytes:
    """One byte flipped, left out or put in; the tail cut off; two lines changed about, one left out or
    doubled, as they are.
    """
    at, lines = chance.randrange(len(data)), data.splitlines(keepends=True)
    one, other = sorted(chance.sample(range(len(lines)), 2))
    match chance.randrange(8):
        case 0 | 1:
            return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        case 2:
            return data[:at] + data[at + 1 :]
        case 3:
            return data[:at] + chance.choice((b" ", b"\n", b"0", b"\r\n", b"}")) + data[at:]
        case 4:
            return data[:at]
        case 5:
            return b"".join([*lines[:one], *lines[one + 1 :]])
        case 6:
            return b"".join([*lines[: one + 1], *lines[one:]])
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _changed(data: bytes, others: list[bytes], stranger: Any, chance: random.Random) -> bytes:
    """The file with one change, by somebody who has no key of these people's. They can make the chain anew,
    and put there the old seal, none, that of another file, or one with a key of their own.
    """
    if chance.randrange(2):
        return _by_bytes(data, chance)
    some = rows(data)
    seal = some.pop()["data"]
    some = chance.choice(BY_LINES)(some, chance)
    match chance.randrange(5):
        case 0 | 1:
            return sealed(some, seal)
        case 2:
            return sealed(some, NOBODY)
        case 3:
            return sealed(some, rows(chance.choice(others))[-1]["data"])
    whole = chained(some)
    statement = SealStatement.model_validate(
        {
            **seal["statement"],
            "count": len(some),
            "head": json.loads(sealed(some, NOBODY).splitlines()[-1])["prev"],
        }
    )
    forged = {"signature": stranger.sign(statement.bytes), "statement": statement.model_dump(mode="json")}
    return whole + sealed(some, forged)[len(whole) :]


@pytest.mark.parametrize("count", tiered([100, 1_000]))
async def test_each_of_many_changes_is_found(done: Audited, count: int) -> None:
    """Bytes, lines and values, with the chain as it was or made anew by somebody without a key."""
    data = await done.export()
    others = [await done.export(by=by) for by in ("ada", "sam")]
    chance, tried = random.Random(7), 0
    while tried < count:
        changed = _changed(data, others, done.stranger, chance)
        if changed == data:
            continue
        tried += 1
        try:
            proof = done.prove(changed)
        except NoAudit:
            continue
        assert not proof.holds and proof.findings, (tried, changed)
    assert done.prove(data).holds


@pytest.mark.parametrize("of", ["intent/{zone}", "intent/{zone}/waf"], ids=["a zone", "a zone's area"])
@pytest.mark.parametrize("there", [True, False], ids=["to a folder", "to nothing"])
async def test_requests_behind_a_link_are_named(of: str, there: bool, done: Audited, tmp_path: Path) -> None:
    """Workers find them by the link; whoever lists the archive does not follow it."""
    folder, name, kept = done.archive.folder, of.format(zone=done.zones[0].id), tmp_path / "kept"
    assert folder is not None
    (folder / name).rename(kept)
    (folder / name).symlink_to(kept)
    assert [key async for key in done.archive.list(f"intent/{done.zones[0].id}/waf")]
    if not there:
        kept.rename(tmp_path / "elsewhere")
    proof = done.prove(await done.export())
    (finding,) = proof.findings
    assert not proof.holds and name in finding.text and proof.agreed == {"ada, grace": 4}


@pytest.mark.parametrize("place", ["intent", "intent/{zone}", "intent/{zone}/waf"])
async def test_requests_that_nobody_may_list_are_named(
    place: str, done: Audited, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as in a folder of the workers' user; of all of them nothing is written."""
    folder, name, scandir = done.archive.folder, place.format(zone=done.zones[0].id), os.scandir
    assert folder is not None

    def refused(path: Path) -> Any:
        if path == folder / name:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("edgeshift.stores.folder_files.os.scandir", refused)
    if place == "intent":
        with pytest.raises(ArchiveUnavailable, match="Permission denied"):
            await done.export()
        return
    proof = done.prove(await done.export())
    (finding,) = proof.findings
    assert not proof.holds and name in finding.text


async def test_what_lies_in_the_place_of_all_requests_is_named(done: Audited) -> None:
    """A file where their folder belongs."""
    assert done.archive.folder is not None
    place = done.archive.folder / "intent"
    place.rename(place.with_name("aside"))
    place.write_text("")
    proof = done.prove(await done.export())
    (finding,) = proof.findings
    assert not proof.holds and "intent/(no folder)" in finding.text


async def test_a_link_of_nobodys_zone_says_nothing(done: Audited, tmp_path: Path) -> None:
    """Nor do other things of people's tools beside the zones."""
    assert done.archive.folder is not None
    for name in (".DS_Store", "f" * 32, f"{done.zones[0].id}/.DS_Store", f"{done.zones[0].id}/esc"):
        (done.archive.folder / "intent" / name).symlink_to(tmp_path)
    assert done.prove(await done.export()).holds


async def test_what_people_signed_is_proved_without_a_seal(done: Audited) -> None:
    """Nobody without their keys can change it, its target, its body or its policy, nor invent a request."""
    data = await done.export(by="")
    assert not done.prove(data).holds and "nobody signed its end" in done.prove(data).findings[0].text
    assert done.prove(data, unsealed=True).holds
    chance = random.Random(3)
    some = rows(data)[:-1]
    kept = (Kind.SPEC, Kind.TARGETS, Kind.TARGET, Kind.SIGNED, Kind.BODY)
    signed = [number for number, row in enumerate(some) if row["kind"] in kept]
    for number in signed:
        for _ in range(4):
            (changed,) = _value_changed([some[number]], chance)
            forged = [*some[:number], changed, *some[number + 1 :]]
            assert not done.prove(sealed(forged, NOBODY), unsealed=True).holds, changed
    for number, row in enumerate(some):
        if row["kind"] != Kind.REQUEST or row["data"]["record"]["step"] != "commit":
            continue
        own = done.own.id in row["data"]["key"]
        for name, value in (
            ("digest", "0" * 64),
            # What was signed by its digest needs no fingerprint.
            ("digest" if own else "fingerprint", "1" * 64),
            ("step", "delete_overrides"),
            ("campaign", "campaign/winter"),
            ("at", (AGREED - timedelta(minutes=30)).isoformat()),
            ("at", (HALTED + timedelta(days=20)).isoformat()),
        ):
            forged = copy.deepcopy(some)
            forged[number]["data"]["record"][name] = value
            assert not done.prove(sealed(forged, NOBODY), unsealed=True).holds, (name, value)
