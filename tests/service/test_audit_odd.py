"""What somebody who writes to the archive can put there of odd times and shapes: the audit file names it, and
is read to its end.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from edgeshift.audit.chain import Kind
from edgeshift.authority.records import SignedRecords, statement_at
from edgeshift.authority.statements import (
    BadStatement,
    ResultStatement,
    StartStatement,
    WordStatement,
    opened,
    sealed,
)
from edgeshift.model.digests import NotCanonical, canonical_bytes, digest, sha256
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.stores.documents import contents_of
from edgeshift.views.words import moment
from tests.kit.audited import BEGAN, HALTED, Audited, audited, body, chained, rows


@pytest.fixture
async def done(tmp_path: Path) -> Audited:
    """A campaign that has changed all its zones."""
    return await audited(tmp_path)


LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)

ODD_REQUESTS: dict[str, dict[str, Any]] = {
    "the last second": {"at": "9999-12-31T23:59:59+00:00"},
    "after the last second": {"at": "9999-12-31T23:59:59-12:00"},
    "the first second": {"at": "0001-01-01T00:00:00+00:00"},
    "before the first second": {"at": "0001-01-01T00:00:00+12:00"},
    "opened in the last second": {"at": "9999-12-31T23:59:59+00:00", "step": "opened"},
    "a number for a step": {"step": 5},
    "no time": {"at": "soon"},
}


@pytest.mark.parametrize("odd", ODD_REQUESTS.values(), ids=ODD_REQUESTS)
async def test_a_planted_request_is_named_and_the_rest_is_proved(odd: dict[str, Any], done: Audited) -> None:
    """One finding, with its name; whatever else the file says is read and counted."""
    some = done.zones[0]
    record = {**contents_of(done.intent(some, body(some))), **odd}
    key = f"intent/{some.id}/waf/planted"
    await done.archive.create_once(key, canonical_bytes(record))
    proof = done.prove(await done.export())
    (finding,) = proof.findings
    assert key in finding.text and not proof.holds and not proof.truncated
    assert proof.agreed == {"ada, grace": 5} and proof.sealed is not None


@pytest.mark.parametrize("issued", [LAST, datetime(1, 1, 1, tzinfo=UTC)], ids=["the last", "the first"])
async def test_a_result_of_no_time_of_ours_is_counted_and_the_rest_is_proved(
    issued: datetime, done: Audited
) -> None:
    """Whoever has signed it may have written any."""
    zone, expires = done.zones[0].id, LAST + timedelta(microseconds=1)
    start = (await SignedRecords(done.archive).starts("autumn"))[0].statement
    assert isinstance(start, StartStatement)
    result = ResultStatement(
        **done.about("sam", BEGAN) | {"issued": issued, "expires": expires},
        run="r",
        spec=start.spec,
        zone=zone,
        attempt=1,
        outcome=ZoneOutcome.MIGRATED,
        proposal=digest(body(done.zones[0])),
    )
    await done.put(result)
    proof = done.prove(await done.export())
    assert proof.holds and proof.agreed == {"ada, grace": 5}, proof.findings
    assert proof.results == {"migrated": 1}


async def test_a_statement_with_a_field_beside_it_is_none(done: Audited) -> None:
    """The archive's record of one has two fields: what has more is named, and ends no reading."""
    word = WordStatement(**done.about("sam", HALTED), start=done.start, word="abort", number=9)
    record = json.loads(sealed(word, done.keys["sam"].sign(word.bytes)))
    assert opened(canonical_bytes(record)).statement == word
    for more in ({"more": 1}, {"statement": word.model_dump(mode="json"), "signature": None}):
        with pytest.raises(BadStatement, match="no signed statement"):
            opened(canonical_bytes({**record, **more}))
    key = statement_at("autumn", word.digest)
    await done.archive.create_once(key, canonical_bytes({**record, "more": 1}))
    proof = done.prove(await done.export())
    (finding,) = proof.findings
    assert key in finding.text and not proof.truncated and proof.agreed == {"ada, grace": 5}


LISTS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "no wave": lambda some: [*some[:-1], {"zone": some[-1]["zone"]}],
    "no array": lambda some: {"targets": some},
    "a number past 2^53": lambda some: [*some[:-1], {**some[-1], "more": 2**60}],
}


@pytest.mark.parametrize("name", [*LISTS, "written otherwise", "cut short"])
async def test_a_list_of_a_strangers_keeps_nothing_from_being_proved(name: str, done: Audited) -> None:
    """Nor does a specification: what no reader could prove of either is told, and is none of the lines."""
    some = [{"wave": 0, "zone": one.model_dump(mode="json")} for one in done.zones]
    data = json.dumps(LISTS[name](some) if name in LISTS else some, indent=1).encode()
    targets = await done.archive.put_object(data[:-9] if name == "cut short" else data)
    real = next(row["data"]["spec"] for row in rows(await done.export()) if row["kind"] == Kind.SPEC)
    spec = await done.archive.put_object(json.dumps(real, indent=1).encode())
    forged = StartStatement(
        **done.about("olga", BEGAN), spec=spec, targets=targets, count=len(some), waves=()
    )
    await done.put(forged, done.stranger)
    proof = done.prove(await done.export())
    assert proof.holds and proof.agreed == {"ada, grace": 5}, proof.findings
    assert sorted(one.partition(":")[0] for one in proof.odd) == sorted(
        [f"objects/{targets}", f"objects/{spec}"]
    )


async def test_a_seal_that_is_read_alike_and_written_otherwise_does_not_count(done: Audited) -> None:
    """Any change of the seal is found: as it is read it would be what was signed."""
    some = rows(await done.export())
    statement = some[-1]["data"]["statement"]
    at = datetime.fromisoformat(statement["at"])
    for change in (
        {"at": f"{at:%Y-%m-%dT%H:%M:%S}Z"},
        {"at": at.timestamp()},
        {"at": at.astimezone(timezone(timedelta(hours=2))).isoformat()},
        {"count": str(statement["count"])},
        {"edgeshift": True},
        {"edgeshift": None},
        {"kind": None},
    ):
        changed = copy.deepcopy(some)
        new = {key: value for key, value in {**statement, **change}.items() if value is not None}
        changed[-1]["data"]["statement"] = new
        proof = done.prove(b"".join(canonical_bytes(row) + b"\n" for row in changed))
        assert not proof.holds and "seal" in proof.findings[0].text, change
        assert proof.sealed is None
    assert done.prove(await done.export()).holds


def test_a_time_that_utc_has_not_is_shown_as_it_is_written() -> None:
    """Whoever signed may have written any."""
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone(-timedelta(hours=12)))
    assert moment(last) == "9999-12-31T23:59:59-12:00"
    assert moment(datetime(2026, 3, 1, tzinfo=UTC)) == "2026-03-01 00:00:00 UTC"


async def test_a_line_of_no_kind_is_named(done: Audited) -> None:
    """Not even of a word that is none."""
    some = rows(await done.export())
    was = f'"kind":"{some[1]["kind"]}"'.encode()
    for kind in (b"[]", b"{}", b"null", b"5", b'["spec"]', b'"other"'):
        lines = chained(some).splitlines()
        lines[1] = lines[1].replace(was, b'"kind":' + kind)
        proof = done.prove(b"\n".join(lines) + b"\n")
        (finding,) = proof.findings
        assert not proof.holds and finding.line == 2, kind


@pytest.mark.parametrize(
    "at", ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"]
)
async def test_a_file_of_no_time_is_named(at: str, done: Audited) -> None:
    """Anybody can write its first line, and by a time near the end of all nothing can be reckoned."""
    some = rows(await done.export())
    some[0]["data"]["at"] = at
    proof = done.prove(chained(some), unsealed=True)
    assert not proof.holds and proof.findings[0].text == "at: it is no time at which a file is written"


async def test_a_body_of_many_levels_is_named(done: Audited) -> None:
    """However many: also those that can be written, and not be read into what a zone would be sent."""
    lines, zone = rows(await done.export()), done.zones[0].id
    first = next(place for place, row in enumerate(lines) if row["kind"] == Kind.REQUEST)
    sent = next(row["data"] for row in lines if row["kind"] == Kind.REQUEST and zone in row["data"]["key"])
    deep: dict[str, Any] = {"a": []}
    for levels in range(1, 1000):
        deep = {"a": [deep]}
        if levels % 20:
            continue
        try:
            fingerprint = sha256(canonical_bytes(deep))
            record = {**sent["record"], "fingerprint": fingerprint}
            planted = [
                {"kind": "body", "data": {"body": deep, "fingerprint": fingerprint}},
                {"kind": "request", "data": {"key": f"intent/{zone}/waf/planted", "record": record}},
            ]
            data = chained([*lines[:first], *planted, *lines[first:]])
        except NotCanonical:
            break
        proof = done.prove(data, unsealed=True)
        assert not proof.holds and proof.findings, levels
    else:
        pytest.fail("no body was too deep to be written")
