"""Two who may both send a commit of one zone at the same time, and records whose answer was lost."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from activities.change.intents import commit_may_show, intent_key
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Area
from edgeshift.stores.archive import ArchiveUnavailable
from tests.service.gate_kit import Gate, gate


def commits_at_once(play: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of two creates its intent before both have looked for others."""
    both, create = asyncio.Barrier(2), play.connections.archive.create_once

    async def together(key: str, data: bytes, **options: bool) -> bool:
        if key.startswith("intent/"):
            await both.wait()
        return await create(key, data, **options)

    monkeypatch.setattr(play.connections.archive, "create_once", together)


async def test_of_two_commits_at_once_at_most_one_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under two permits, such as those of two campaigns, one of whose zones was terminated. Whoever is not
    sent leaves nothing behind that would be waited for.
    """
    async with gate(tmp_path) as play:
        commits_at_once(play, monkeypatch)
        results = await asyncio.gather(*(play.change(play.body, play.body, permit=one) for one in (1, 2)))
        sent = len(await play.sent())
        assert sent == sum(result.status is ChangeStatus.ANSWERED for result in results) <= 1
        others = [result for result in results if result.status is not ChangeStatus.ANSWERED]
        assert all(one.earlier or one.status is ChangeStatus.NOTHING_HAPPENED for one in others)
        limit = play.start.policy.migration_limit
        assert await commit_may_show(play.connections, play.zone, Area.WAF, limit) is bool(sent)


async def test_an_intent_that_was_stored_and_not_answered_is_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is known by what was drawn for it: the change is sent, once."""
    async with gate(tmp_path) as play:
        archive = play.connections.archive
        create = archive.create_once

        async def unanswered(key: str, data: bytes, **options: bool) -> bool:
            await create(key, data, **options)
            raise ArchiveUnavailable("no answer")

        monkeypatch.setattr(archive, "create_once", unanswered)
        assert (await play.change(play.body, play.body)).status is ChangeStatus.ANSWERED
        assert len(await play.sent()) == 1


async def test_an_intent_that_is_not_known_to_be_there_is_not_acted_upon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive can be neither written nor read: nothing is sent."""

    async def gone(*_: object, **options: bool) -> bool:
        raise ArchiveUnavailable("gone")

    async with gate(tmp_path) as play:
        monkeypatch.setattr(play.connections.archive, "create_once", gone)
        result = await play.change(play.body, play.body)
        assert result.status is ChangeStatus.NOTHING_HAPPENED and "could not be archived" in result.reason
        assert await play.sent() == []


async def test_an_intent_that_cannot_be_read_keeps_everything_from_being_sent_and_is_named(
    tmp_path: Path,
) -> None:
    """It may stand for a commit. Once a person has recorded that nothing came of it, the zone is changed
    once, and not again under another permit.
    """
    async with gate(tmp_path) as play:
        key = intent_key(play.zone, Area.WAF, "damaged")
        await play.connections.archive.create_once(key, b"{")
        for permit in (1, 2):
            result = await play.change(play.body, play.body, permit=permit)
            assert result.status is ChangeStatus.NOTHING_HAPPENED and key in result.reason
            assert result.damaged
        assert await play.sent() == []
        beside = key.replace("intent/", "nothing/", 1)
        await play.connections.archive.create_once(beside, b'{"reason": "ann looked"}')
        assert (await play.change(play.body, play.body, permit=3)).status is ChangeStatus.ANSWERED
        again = await play.change(play.body, play.body, permit=4)
        assert again.status is not ChangeStatus.ANSWERED
        assert len(await play.sent()) == 1


async def test_an_intent_from_the_future_does_not_keep_a_zone_for_ever(tmp_path: Path) -> None:
    """Stored longer ago than a migration may take, it keeps nobody; stored just now, it is waited for."""
    async with gate(tmp_path) as play:
        archive = play.connections.archive
        assert archive.folder is not None
        key = intent_key(play.zone, Area.WAF, "later")
        planted = b'{"at":"9999-01-01T00:00:00+00:00","campaign":"c","step":"commit"}'
        await archive.create_once(key, planted)
        result = await play.change(play.body, play.body, permit=1)
        assert result.status is ChangeStatus.UNKNOWN and result.earlier
        assert await play.sent() == []
        os.utime(archive.folder / key, (1_600_000_000, 1_600_000_000))
        assert (await play.change(play.body, play.body, permit=2)).status is ChangeStatus.ANSWERED
        assert len(await play.sent()) == 1
