"""In an audit file, too, an approval lets one effective change of a target through, and another attempt needs
an operator's word that it begins.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.authority.statements import AgainStatement, ResultStatement
from edgeshift.messages import Step
from edgeshift.model.digests import digest, sha256
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.model.sign_off import Choice
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import NothingMore
from edgeshift.stores.documents.intents import ClosedAs
from tests.kit.audited import BEGAN, SENT, Audited, audited, body, zone

REFUSED = NothingMore.of(ClosedAs.NOTHING_CAME, "the service refused it")
NOT_SENT = NothingMore.of(ClosedAs.NOTHING_CAME, "it was not sent")


def later(hours: float) -> datetime:
    """So long after the first commit."""
    return SENT + timedelta(hours=hours)


@pytest.fixture
async def done(tmp_path: Path) -> Audited:
    """A campaign that has changed all its zones."""
    return await audited(tmp_path)


async def again(done: Audited, hours: float, verb: Any = "retry", by: str = "sam", **more: Any) -> None:
    """Somebody signs that the first zone begins again."""
    said = {"start": done.start, "verb": verb, "zones": (done.zones[0].id,), **more}
    await done.put(AgainStatement(**{**done.about(by, later(hours)), **said}))


async def approved(done: Audited, hours: float) -> None:
    """Two people approve the fingerprint of all once more."""
    for by in ("ada", "grace"):
        await done.put(done.decision(by, issued=later(hours)))


async def was_rolled_back(done: Audited) -> None:
    """The rollback was sent."""
    await done.send(done.zones[0], "back", step=Step.ROLL_BACK.value, at=later(1))


async def ended(done: Audited, outcome: ZoneOutcome, key: Any = None, **more: Any) -> None:
    """A worker has signed how the first zone's attempt ended."""
    of = done.zones[0]
    said: dict[str, Any] = {
        "run": "r",
        "spec": sha256(b"spec"),
        "zone": of.id,
        "attempt": 1,
        "outcome": outcome,
        "proposal": digest(body(of)),
    }
    await done.put(ResultStatement(**{**done.about("sam", later(1)), **said, **more}), key)


async def was_settled(done: Audited) -> None:
    """It was seen to its end."""
    await ended(done, ZoneOutcome.SETTLED)


async def was_seen_undone(done: Audited) -> None:
    """A worker has signed that it is rolled back."""
    await ended(done, ZoneOutcome.ROLLED_BACK)


ENDS = (was_rolled_back, was_settled, was_seen_undone)


def said_of(done: Audited, data: bytes) -> str:
    """What keeps a file from holding; empty where it holds."""
    proof = done.prove(data)
    assert proof.holds is not bool(proof.findings)
    return " | ".join(finding.text for finding in proof.findings)


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
async def test_an_approval_that_was_used_lets_nothing_more_through(end: Any, done: Audited) -> None:
    """In the same attempt, whoever signs; in a later one, by what was signed after it was used alone."""
    await end(done)
    await done.send(done.zones[0], "p-3", at=later(3))
    assert "attempt 1 has sent it" in said_of(done, await done.export())


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
async def test_a_later_attempt_needs_new_approvals(end: Any, done: Audited) -> None:
    """An operator alone begins it, and lets nothing through."""
    await end(done)
    await again(done, 2)
    await done.send(done.zones[0], "p-3", attempt=2, at=later(3))
    assert "what ada signed was used" in said_of(done, await done.export())
    await approved(done, 2.5)
    assert not said_of(done, await done.export())


AGAIN: dict[str, dict[str, Any]] = {
    "by nobody": {"hours": -10},
    "of another start": {"start": "f" * 64},
    "of a rehearsal's service": {"service": "https://rehearsal.example/client/v4"},
    "of another area": {"area": Area.ESC},
    "of another zone": {"zones": ("f" * 32,)},
    "that support has fixed it": {"verb": "support-resolved"},
    "before the attempt before": {"hours": -0.5},
    "after it": {"hours": 4},
}


@pytest.mark.parametrize("how", AGAIN)
async def test_an_attempt_that_nobody_began_does_not_hold(how: str, done: Audited) -> None:
    """Though what it proposes was approved, and nothing was sent of it with effect."""
    await again(done, **{"hours": 2.0, **AGAIN[how]})
    await done.send(done.zones[0], "p-3", attempt=2, at=later(3))
    assert "nobody has signed that it begins again, for attempt 2" in said_of(done, await done.export())
    await again(done, 2)
    assert not said_of(done, await done.export())


@pytest.mark.parametrize("attempt", [0, -1, 256])
async def test_an_attempt_that_no_campaign_counts_does_not_hold(attempt: int, done: Audited) -> None:
    """Whatever was signed, before it and since what was sent was taken back."""
    await was_rolled_back(done)
    await again(done, 2)
    await approved(done, 2.5)
    await done.send(done.zones[0], "p-3", attempt=attempt, at=later(3))
    assert f"no campaign counts attempt {attempt}" in said_of(done, await done.export())


async def test_a_step_that_nobody_signs_needs_a_word_too(done: Audited) -> None:
    """A validation of a second attempt; not the rollback of one."""
    await done.send(done.zones[0], "v", step=Step.VALIDATE.value, attempt=2, at=later(3))
    await done.send(done.zones[1], "back", step=Step.ROLL_BACK.value, attempt=2, at=later(3))
    found = done.prove(await done.export()).findings
    assert len(found) == 1 and found[0].text.startswith("validate") and "for attempt 2" in found[0].text


async def test_what_came_to_nothing_uses_nothing(done: Audited) -> None:
    """A rollback that was not sent, and a commit that the service refused, of which the next one was sent."""
    of = done.zones[0]
    await done.send(of, "back", step=Step.ROLL_BACK.value, at=later(1), nothing=NOT_SENT)
    await done.send(of, "p-3", at=later(2), nothing=REFUSED)
    await done.send(of, "p-4", at=later(3))
    assert not said_of(done, await done.export())


OTHERS: dict[str, dict[str, Any]] = {
    "by a stranger": {"key": "stranger"},
    "of another run": {"run": "another"},
    "of another service": {"service": "https://rehearsal.example/client/v4"},
    "of another proposal": {"proposal": sha256(b"other")},
    "before it": {"issued": later(-1)},
    "of an outcome that is no end": {"outcome": ZoneOutcome.FAILED},
}


@pytest.mark.parametrize("how", OTHERS)
async def test_results_of_something_else_use_nothing(how: str, done: Audited) -> None:
    """Nor one that a worker signed in the second of the request: it may be of afterwards."""
    said = {"outcome": ZoneOutcome.SETTLED, **OTHERS[how]}
    if said.pop("key", None):
        said["key"] = done.stranger
    await ended(done, **said)
    await done.send(done.zones[0], "p-3", at=later(3))
    assert not said_of(done, await done.export())


async def test_a_result_of_the_second_of_a_request_is_none_of_before(done: Audited) -> None:
    """Results have their time to the second."""
    await ended(done, ZoneOutcome.MIGRATED, issued=later(3))
    await done.send(done.zones[0], "p-3", at=later(3) + timedelta(milliseconds=600))
    assert not said_of(done, await done.export())


@pytest.mark.parametrize("after", [20, 80], ids=["before their clock has it", "later"])
async def test_people_whose_clock_is_a_minute_ahead_are_believed(tmp_path: Path, after: int) -> None:
    """As at the door: the first zone was rejected, reopened and approved again by them, and sent."""
    done = Audited(Archive(tmp_path / "archive"), [zone(number) for number in range(2)])
    await done.begin()
    first, ahead = done.zones[0], timedelta(minutes=1)
    await done.put(done.decision("ada", issued=BEGAN + timedelta(hours=1), choice=Choice.REJECT, reason="no"))
    reopened = BEGAN + timedelta(hours=2)
    said = done.about("sam", reopened + ahead)
    await done.put(AgainStatement(**said, start=done.start, verb="reopen", zones=(first.id,)))
    for by in ("ada", "grace"):
        await done.put(done.decision(by, issued=reopened + ahead + timedelta(seconds=10)))
    await done.send(first, "p-1", attempt=2, at=reopened + timedelta(seconds=after))
    proof = done.prove(await done.export())
    assert proof.holds, proof.findings
