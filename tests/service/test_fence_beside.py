"""Two who may both send a commit of one zone at the same time, and records whose answer was lost."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from activities.change import fence, own
from activities.change.intents import commit_may_show, intent_key
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import Change, ChangeResult, ChangeStatus, Step
from edgeshift.model.fleet import Area
from edgeshift.stores.archive import ArchiveUnavailable
from edgeshift.stores.documents import Intent
from tests.service.gate_kit import Gate, gate

PENDING = "waf_migration=pending&phase_two=1"

TAKES_ALL = {"repeated_commit": "accept", "validation_after_commit": "always"}
"""Answers of a service that refuses no change to a zone that is migrated."""


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


@pytest.mark.parametrize("step", [Step.COMMIT, Step.VALIDATE])
@pytest.mark.parametrize("earlier", [False, True])
async def test_a_permit_named_as_the_beginning_of_another_is_not_blind_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: Step, earlier: bool
) -> None:
    """Permits are called what their callers like. Both have looked before either has its intent, the commit
    under the longer name has its turn first, and the service takes whatever comes later: one change is sent.
    ``earlier``: the other's worker is of a version that keeps no permit's name.
    """
    async with gate(tmp_path) as play:
        await play.control.send("PUT", "options", TAKES_ALL)
        archive, both, first = play.connections.archive, asyncio.Barrier(2), asyncio.Event()
        create, noted = archive.create_once, own.record_of

        async def by_turns(key: str, data: bytes, **how: bool) -> bool:
            if key.startswith("intent/"):
                await both.wait()
                if key.endswith("/p"):
                    await first.wait()
            return await create(key, data, **how)

        def without_name(change: Change, *more: Any, **how: Any) -> Intent:
            named = noted(change, *more, **how)
            return named.model_copy(update={"permit": None}) if change.permit.name == "p-1" else named

        async def commits() -> ChangeResult:
            try:
                return await play.change(play.body, play.body, name="p-1")
            finally:
                first.set()

        monkeypatch.setattr(archive, "create_once", by_turns)
        if earlier:
            monkeypatch.setattr(fence, "record_of", without_name)
        mode = ValidationMode.SHADOW if step is Step.VALIDATE else None
        other = play.change(play.body, play.body, name="p", step=step, mode=mode)
        sent, kept = await asyncio.gather(commits(), other)
        assert sent.status is ChangeStatus.ANSWERED
        assert await play.sent() == [(PENDING, False)]
        assert kept.status is ChangeStatus.UNKNOWN and kept.earlier


async def test_the_requests_of_a_step_are_in_nobodys_way_but_other_permits(tmp_path: Path) -> None:
    """A step of several requests is not stopped by its own, also where an earlier version has recorded them
    without the permit's name; one whose permit has a longer name is.
    """
    async with gate(tmp_path) as play:
        there, limit = play.connections, play.start.policy.migration_limit
        said = {"step": "commit", "at": datetime.now(UTC), "campaign": play.start.campaign}
        for request, permit in (("-rules-1", "p"), ("-job-7-1", "p"), ("-rules-2", None), ("", None)):
            await there.records.create(
                intent_key(play.zone, Area.WAF, f"p{request}"),
                Intent.model_validate({**said, "permit": permit}),
            )
        assert not await commit_may_show(there, play.zone, Area.WAF, limit, beside="p")
        assert await commit_may_show(there, play.zone, Area.WAF, limit, beside="q")
        await there.records.create(
            intent_key(play.zone, Area.WAF, "p-rules-9"),
            Intent.model_validate({**said, "permit": "p-rules-9"}),
        )
        assert await commit_may_show(there, play.zone, Area.WAF, limit, beside="p")


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
