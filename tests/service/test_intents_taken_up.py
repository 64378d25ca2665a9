"""Which commit of a campaign's own is taken up, or taken back, by an attempt that finds it, or ends."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from activities.change.intent_records import intents_of
from activities.change.intents import (
    ClosedAs,
    close_intent,
    close_intents,
    commit_may_show,
    intent_key,
    left_in,
    own_commit,
    seen_through,
)
from activities.change.own import Own
from activities.connections import Connections
from activities.proof.records import WorkerRecords
from edgeshift.model.digests import canonical_bytes
from edgeshift.model.fleet import Area, Plan, ScopeKind, Zone
from edgeshift.runtime.clock import Clock
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import DocumentUnreadable, Intent

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMIT = timedelta(minutes=5)
ZONE = Zone(id="1" * 32, name="a.example", account="2" * 32, plan=Plan.ENTERPRISE, kind=ScopeKind.ZONE)

Record = Callable[["Sent"], Awaitable[None]]


class Sent:
    """An archive with what was sent to a zone."""

    def __init__(self, folder: Path) -> None:
        self.archive = Archive(folder)
        clock = cast(Clock, SimpleNamespace(now=lambda: NOW))
        records = WorkerRecords(None, self.archive, clock)
        found = SimpleNamespace(archive=self.archive, clock=clock, records=records)
        self.connections = cast(Connections, found)

    async def intend(self, step: str, ago: timedelta, campaign: str = "mine", run: str = "run") -> str:
        """A step was about to be sent so long ago."""
        at = (NOW - ago).isoformat()
        key = intent_key(ZONE, Area.ESC, f"{campaign}-{step}-{ago.total_seconds():g}")
        record = {"step": step, "at": at, "campaign": campaign, "run": run, "proposal": f"{campaign}'s"}
        await self.archive.create_once(key, canonical_bytes(record))
        return key

    async def taken_up(self, read: timedelta = timedelta(0)) -> Intent | None:
        """What the campaign ``mine`` takes up of a target that was read so long ago."""
        return await own_commit(self.connections, ZONE, Area.ESC, "mine", LIMIT, read_at=NOW - read)

    async def may_show(self, answered: bool = False) -> bool:
        """Whether a commit may still come to show."""
        return await commit_may_show(self.connections, ZONE, Area.ESC, LIMIT, answered=answered)

    async def seen(self, campaign: str = "") -> None:
        """What was sent so far, or what of it a campaign did, was watched to its end."""
        await seen_through(self.connections, ZONE, Area.ESC, await self.keys(campaign))

    async def shows(self) -> None:
        """What was sent so far has shown."""
        await close_intents(self.connections, ZONE, Area.ESC, await self.keys())

    async def keys(self, campaign: str = "") -> set[str]:
        """The archive's names of what was sent so far."""
        of = intents_of(self.connections, ZONE, Area.ESC)
        return {one.key async for one in of if campaign in ("", one.record.campaign)}

    async def left(self) -> bool:
        """Whether the campaign ``mine``, in its run ``run``, may have left something in."""
        return await left_in(self.connections, ZONE, Area.ESC, "mine", Own("run")) is not None


@pytest.fixture
def sent(tmp_path: Path) -> Sent:
    return Sent(tmp_path)


def ago(**amount: float) -> timedelta:
    return timedelta(**amount)


async def test_a_commit_that_nobody_watched_is_taken_up_however_old_it_is(sent: Sent) -> None:
    """Until somebody has watched it to its end."""
    assert await sent.taken_up() is None
    await sent.intend("commit", ago(days=3))
    found = await sent.taken_up()
    assert found is not None and found.proposal == "mine's"
    await sent.seen()
    assert await sent.taken_up() is None


async def test_a_way_back_that_may_still_show_takes_its_commit_up(sent: Sent) -> None:
    """The target is found changed, and will not stay so, also where the rollback was answered."""
    await close_intent(sent.connections, await sent.intend("commit", ago(minutes=9)), ClosedAs.ANSWERED)
    await close_intent(sent.connections, await sent.intend("roll_back", ago(minutes=4)), ClosedAs.ANSWERED)
    found = await sent.taken_up()
    assert found is not None and found.step == "commit"


async def test_a_way_back_that_was_answered_after_the_reading_says_nothing_of_it(tmp_path: Path) -> None:
    """The target was read as changed while the rollback was on its way: it is taken up."""
    sent = Sent(tmp_path)
    await close_intent(sent.connections, await sent.intend("commit", ago(minutes=9)), ClosedAs.ANSWERED)
    back = LIMIT + timedelta(seconds=1)
    await close_intent(sent.connections, await sent.intend("roll_back", back), ClosedAs.ANSWERED)
    assert await sent.taken_up() is None
    assert await sent.taken_up(read=timedelta(seconds=2)) is not None


@pytest.mark.parametrize("record, stands", [(Sent.seen, False), (Sent.shows, True)])
async def test_a_way_back_is_over_when_it_was_seen(sent: Sent, record: Record, stands: bool) -> None:
    """Then the change that is found now is somebody else's, and stays. That the commit shows again closes
    what was sent before it, and does not say that the rollback was seen.
    """
    await sent.intend("commit", ago(minutes=9))
    await sent.intend("roll_back", ago(minutes=4))
    await record(sent)
    assert (await sent.taken_up() is not None) is stands


async def test_a_way_back_that_was_answered_long_ago_takes_up_nothing(sent: Sent) -> None:
    """It has shown by then: whoever changed the target since did so on purpose."""
    await sent.intend("commit", ago(minutes=30))
    await close_intent(sent.connections, await sent.intend("roll_back", ago(minutes=6)), ClosedAs.ANSWERED)
    assert await sent.taken_up() is None


async def test_a_way_back_that_came_to_nothing_leaves_its_commit(sent: Sent) -> None:
    """Refused, or never answered: the target is as the commit left it, which nobody has watched."""
    await sent.intend("commit", ago(minutes=30))
    await sent.intend("roll_back", ago(minutes=9))
    await close_intent(
        sent.connections, await sent.intend("roll_back", ago(minutes=8)), ClosedAs.NOTHING_CAME
    )
    found = await sent.taken_up()
    assert found is not None and found.step == "commit"


async def test_a_commit_that_was_refused_is_nobodys_change(sent: Sent) -> None:
    """Somebody else changed the target; what the campaign did before that stands."""
    await close_intent(sent.connections, await sent.intend("commit", ago(minutes=3)), ClosedAs.NOTHING_CAME)
    assert await sent.taken_up() is None
    await sent.intend("commit", ago(minutes=9), campaign="another")
    assert await sent.taken_up() is None
    await sent.intend("commit", ago(minutes=5))
    found = await sent.taken_up()
    assert found is not None and found.at == NOW - ago(minutes=5)


async def test_an_answered_commit_may_show_until_it_is_seen(sent: Sent) -> None:
    """Nothing more is sent for it, and yet it may come to show within the limit."""
    key = await sent.intend("commit", ago(minutes=2))
    assert await sent.may_show() and await sent.may_show(answered=True)
    await close_intent(sent.connections, key, ClosedAs.ANSWERED)
    assert not await sent.may_show() and await sent.may_show(answered=True)
    await sent.seen()
    assert not await sent.may_show(answered=True)


@pytest.mark.parametrize("step", ["commit", "roll_back"])
async def test_what_another_campaign_did_last_is_its_own(sent: Sent, step: str) -> None:
    """Ours was before that."""
    await sent.intend("commit", ago(minutes=9))
    await sent.intend(step, ago(minutes=2), campaign="another")
    assert await sent.taken_up() is None


@pytest.mark.parametrize("closed", [None, ClosedAs.ANSWERED, ClosedAs.SHOWS])
async def test_what_was_written_is_left_in_until_it_was_seen_undone(
    sent: Sent, closed: ClosedAs | None
) -> None:
    """Whether it is known to have been answered, to show, or neither; and whatever rollback was sent."""
    assert not await sent.left()
    commit = await sent.intend("commit", ago(days=3))
    if closed:
        await close_intent(sent.connections, commit, closed)
    await close_intent(sent.connections, await sent.intend("roll_back", ago(days=2)), ClosedAs.ANSWERED)
    assert await sent.left()
    await sent.seen("another")
    assert await sent.left()
    await sent.seen("mine")
    assert not await sent.left()
    await sent.intend("commit", ago(days=1))
    assert await sent.left()


async def test_what_came_to_nothing_and_what_others_sent_is_not_left_in(sent: Sent) -> None:
    """Nor what another campaign of the same name sent."""
    refused = await sent.intend("commit", ago(minutes=9))
    await close_intent(sent.connections, refused, ClosedAs.NOTHING_CAME, "refused")
    await sent.intend("commit", ago(minutes=8), campaign="another")
    await sent.intend("commit", ago(minutes=7), run="of last year")
    assert not await sent.left()


async def test_an_intent_from_the_future_counts_from_when_it_was_stored(sent: Sent, tmp_path: Path) -> None:
    """It keeps the zone for as long as a change may take from then on, not until its date has come; a clock
    that is an hour ahead is believed.
    """
    key = await sent.intend("commit", ago(days=-300_000))
    stored = tmp_path / key
    os.utime(stored, (NOW.timestamp() - 60, NOW.timestamp() - 60))
    assert await sent.may_show()
    os.utime(stored, (NOW.timestamp() - 301, NOW.timestamp() - 301))
    assert not await sent.may_show()
    await sent.intend("commit", ago(hours=-1))
    assert await sent.may_show()


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[]", b'{"step": "commit"}', b"[" * 100_000])
async def test_an_intent_that_cannot_be_read_is_named_and_counts_until_a_person_says_otherwise(
    sent: Sent, data: bytes
) -> None:
    """Nothing that asks what was sent goes on beside it, however old it is; once it is recorded that nothing
    came of it, the others count as before.
    """
    key = intent_key(ZONE, Area.ESC, "damaged")
    await sent.archive.create_once(key, data)
    for ask in (sent.may_show, sent.taken_up, sent.left):
        with pytest.raises(DocumentUnreadable, match=key):
            await ask()
    for reason in ("answered", "it shows"):
        beside = intent_key(ZONE, Area.ESC, f"{reason[:2]}").replace("intent/", "nothing/", 1)
        unread = intent_key(ZONE, Area.ESC, f"{reason[:2]}")
        await sent.archive.create_once(unread, data)
        await sent.archive.create_once(beside, canonical_bytes({"reason": reason}))
        with pytest.raises(DocumentUnreadable):
            await sent.may_show()
        (sent.archive.folder / unread).unlink()  # type: ignore[operator]
    said = canonical_bytes({"reason": "ann looked: the zone is not migrated"})
    await sent.archive.create_once(key.replace("intent/", "nothing/", 1), said)
    assert not await sent.may_show() and await sent.taken_up() is None
    await sent.intend("commit", ago(minutes=1))
    assert await sent.may_show() and await sent.left()
