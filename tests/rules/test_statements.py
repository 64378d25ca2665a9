"""Signed statements: whatever is changed of one, it is none any more; and what hostile bytes are."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from edgeshift.authority.last_word import last_word
from edgeshift.authority.roots import LeastPolicy, PersonRoot, Role, Roots, RootsFile, ServiceRoot
from edgeshift.authority.signers import AllowedKey, Signers
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import (
    LONGEST,
    MOST_PLACES,
    MOST_WAVES,
    MOST_ZONES,
    AgainStatement,
    Attested,
    BadStatement,
    DecisionStatement,
    ElsewhereSigned,
    StartStatement,
    Statement,
    WaveSaid,
    WordStatement,
    opened,
    sealed,
)
from edgeshift.messages import Step
from edgeshift.model.digests import canonical_bytes
from edgeshift.model.fleet import Area
from edgeshift.model.rollout import WaveSpec, plan_waves
from edgeshift.model.sign_off import Choice

KEY, MALLORY = PrivateKey.made(), PrivateKey.made()
NOW = datetime(2026, 6, 1, tzinfo=UTC)
ABOUT: dict[str, Any] = {
    "service": "https://api.example.com/client/v4",
    "campaign": "autumn",
    "area": Area.WAF,
    "by": "olga",
    "issued": NOW,
    "expires": NOW + timedelta(days=30),
    "nonce": "0" * 32,
}
START = StartStatement(
    **ABOUT, spec="a" * 64, targets="b" * 64, count=3, waves=(WaveSaid(name="all", first=0, end=3),)
)
LISTED = START.model_copy(update={"listed": True})
DECISION = DecisionStatement(
    **ABOUT,
    start=START.digest,
    step=Step.COMMIT,
    choice=Choice.APPROVE,
    about="proposal",
    subjects=("c" * 64,),
    zone="d" * 32,
    attempt=1,
    evidence="e" * 64,
)


def word(said: str, number: int = 1, key: PrivateKey = KEY, **changed: Any) -> Attested:
    """A signed word to the campaign."""
    about = ABOUT | {"start": START.digest, "issued": NOW + timedelta(hours=number)} | changed
    statement = WordStatement(**about, word=said, number=number)  # type: ignore[arg-type]
    return signed(statement, key)


def signed(statement: Statement, key: PrivateKey = KEY) -> Attested:
    """A statement with its signature, as it is read from the archive."""
    return opened(sealed(statement, key.sign(statement.bytes)))


ROOTS = Roots(
    RootsFile(
        signers="allowed_signers",
        people={"olga": PersonRoot(roles=frozenset(Role))},
        policy=LeastPolicy(),
        services=(ServiceRoot(base_url=ABOUT["service"], credentials=("env:TOKEN",)),),
    ),
    Signers([AllowedKey(KEY.public, ("olga",))]),
)


@pytest.mark.parametrize("statement", [START, LISTED, DECISION])
def test_a_statement_is_read_back_as_it_was_signed(statement: Statement) -> None:
    """With the key that signed it."""
    found = signed(statement)
    assert found.statement == statement and found.key == KEY.public and found.digest == statement.digest


@pytest.mark.parametrize("statement", [START, LISTED, DECISION])
def test_no_field_of_a_statement_can_be_changed(statement: Statement) -> None:
    """Each taken from another statement, left out, or added: the signature is none of it."""
    sealed_ = json.loads(sealed(statement, KEY.sign(statement.bytes)))
    fields = sealed_["statement"]
    for field, value in fields.items():
        others: list[Any] = [None, "", "f" * 64, 0, 2, [], not value]
        for other in others:
            if other == value:
                continue
            changed = {**sealed_, "statement": {**fields, field: other}}
            with pytest.raises(BadStatement):
                opened(canonical_bytes(changed))
        less = {name: kept for name, kept in fields.items() if name != field}
        with pytest.raises(BadStatement):
            opened(canonical_bytes({**sealed_, "statement": less}))
    with pytest.raises(BadStatement):
        opened(canonical_bytes({**sealed_, "statement": {**fields, "more": 1}}))


def test_a_start_of_an_earlier_version_is_what_it_was() -> None:
    """It says nothing of who made its list, and its bytes have no such field: nobody can add or take it."""
    assert b"listed" not in START.bytes and json.loads(LISTED.bytes)["listed"] is True
    for one in (START, LISTED):
        assert {**json.loads(one.bytes), "listed": True} == json.loads(LISTED.bytes)
    plain = {**json.loads(START.bytes), "listed": False}
    with pytest.raises(BadStatement):
        opened(canonical_bytes({"statement": plain, "signature": KEY.sign(canonical_bytes(plain))}))


def test_a_statement_that_is_written_otherwise_than_it_is_read_is_none() -> None:
    """A key may sign it all the same: two readers could take it for two things."""
    plain = json.loads(DECISION.bytes)
    for changed in (
        {**plain, "issued": "2026-06-01T00:00:00Z"},
        {**plain, "attempt": "1"},
        {**plain, "by": " olga "},
        {name: value for name, value in plain.items() if name != "reason"},
        {**plain, "kind": "test"},
        {**plain, "edgeshift": 2},
        {**plain, "nonce": "0"},
    ):
        data = canonical_bytes(changed)
        with pytest.raises(BadStatement):
            opened(canonical_bytes({"statement": changed, "signature": KEY.sign(data)}))


AGAIN = AgainStatement(**ABOUT, start=START.digest, verb="retry", places=("failed",))


def unbounded(statement: Statement, **changed: Any) -> bytes:
    """A statement as no model lets it be written, with its signature."""
    said = json.loads(statement.bytes) | changed
    return canonical_bytes({"statement": said, "signature": KEY.sign(canonical_bytes(said))})


def test_a_start_has_as_many_waves_as_a_campaign_file_can_ask_for() -> None:
    """A hundred, and one for what they leave over."""
    waves = plan_waves([WaveSpec(name="w" * 100, zones=1)] * 100, 1_000)
    said = tuple(WaveSaid(name=wave.name, first=wave.first, end=wave.end) for wave in waves)
    assert len(said) == MOST_WAVES
    assert signed(StartStatement(**START.model_dump() | {"waves": said})).statement.bytes


@pytest.mark.parametrize(
    "data",
    [
        unbounded(START, waves=[{"name": "", "first": 0, "end": 0}] * (MOST_WAVES + 1)),
        unbounded(AGAIN, places=["failed"] * (MOST_PLACES + 1)),
        unbounded(AGAIN, zones=["f" * 32] * (MOST_ZONES + 1)),
        unbounded(AGAIN, **{f"more{number}": 1 for number in range(100)}),
    ],
    ids=["waves", "places", "zones", "fields"],
)
def test_more_than_a_statement_can_have_is_none(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before anything that takes long for as much as that: whoever has signed it."""
    assert len(data) <= LONGEST
    monkeypatch.setattr("edgeshift.authority.statements.canonical_bytes", None)
    with pytest.raises(BadStatement):
        opened(data)


def test_another_campaigns_statement_is_told_by_its_bytes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has signed it, and however long it is; one that is not written as statements are has no
    digest, and may have taken another's place.
    """
    whole = sealed(DECISION, KEY.sign(DECISION.bytes))
    monkeypatch.setattr("edgeshift.authority.statements.attested", None)
    for data, digest in (
        (whole, DECISION.digest),
        (sealed(DECISION, "nobody's"), DECISION.digest),
        (whole + b" ", ""),
        (json.dumps(json.loads(whole)).encode(), ""),
        (whole.replace(b',"statement"', b',"statement":{},"statement"'), None),
        (canonical_bytes({"statement": {"campaign": 1}, "signature": "x"}), None),
    ):
        with pytest.raises(ElsewhereSigned) as other:
            opened(data, "winter")
        assert other.value.digest == digest or (digest is None and other.value.digest != DECISION.digest)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"statement":{}}',
        b'{"statement":{},"signature":1}',
        b'{"statement":{},"signature":"x"}',
        b'{"statement":{"a":NaN},"signature":"x"}',
        b'{"statement":{"a":1e400},"signature":"x"}',
        b'{"statement":{"a":12345678901234567890123},"signature":"x"}',
        b'{"statement":{"a":"\\ud800"},"signature":"x"}',
        b'{"statement":{},"signature":"\\ud800"}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"signature":"x","statement":' + b"[" * 900 + b"]" * 900 + b"}",
        b"9" * 5_000,
        b" " * 1_000_001,
    ],
    ids=range(17),
)
def test_hostile_bytes_are_no_statement(data: bytes) -> None:
    """Whatever lies in the archive ends in one kind of error, and quickly."""
    with pytest.raises(BadStatement):
        opened(data)


def test_a_stop_counts_whatever_start_it_names() -> None:
    """Somebody may have put a start of their own into the archive, and a person paused that one. A resume
    counts for its own start alone; so does a stop that was said before this one.
    """
    start, forged = signed(START), "9" * 64
    assert last_word([word("pause", start=forged)], start, ROOTS, NOW) is not None
    assert last_word([word("abort", start=forged)], start, ROOTS, NOW) is not None
    later = NOW + timedelta(hours=3)
    found = last_word([word("pause"), word("resume", 2, start=forged)], start, ROOTS, later)
    assert found is not None and found.word == "pause"
    before = word("abort", start=forged, issued=NOW - timedelta(days=1))
    assert last_word([before], start, ROOTS, NOW) is None
    elsewhere = word("abort", start=forged, service="https://other.example.com")
    assert last_word([elsewhere], start, ROOTS, NOW) is None


def test_a_strangers_word_is_none() -> None:
    """Neither a resume that lets a campaign go on, nor a stop."""
    start = signed(START)
    words = [word("pause"), word("resume", 2, key=MALLORY)]
    found = last_word(words, start, ROOTS, NOW + timedelta(hours=3))
    assert found is not None and found.word == "pause"
    assert last_word([word("abort", key=MALLORY)], start, ROOTS, NOW) is None


def test_a_stop_outlives_its_time() -> None:
    """Nothing goes on by itself because a pause has expired."""
    found = last_word([word("pause")], signed(START), ROOTS, NOW + timedelta(days=400))
    assert found is not None and found.word == "pause"
