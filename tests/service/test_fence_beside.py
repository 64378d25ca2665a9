"""Two who may both send a commit of one zone at the same time, and records whose answer was lost."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.change import fence, own
from activities.change.beside import others_of
from activities.change.intents import commit_may_show, intent_key, request_answered
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import Change, ChangeResult, ChangeStatus, Step
from edgeshift.model.fleet import Area
from edgeshift.stores.archive import ArchiveUnavailable
from edgeshift.stores.documents import Intent
from tests.service.gate_kit import Gate, gate

SECOND = timedelta(seconds=1)

PENDING = "waf_migration=pending&phase_two=1"

TAKES_ALL = {"repeated_commit": "accept", "validation_after_commit": "always"}
"""Answers of a service that refuses no change to a zone that is migrated."""


async def sent_by_another(play: Gate, step: str, at: datetime) -> str:
    """Record what another campaign's worker was about to send; the record's name."""
    key = intent_key(play.zone, Area.WAF, f"another-{step}")
    said = {"step": step, "at": at, "campaign": "campaign/another", "permit": f"another-{step}"}
    assert await play.connections.records.create(key, Intent.model_validate(said))
    return key


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
        there, change = play.connections, await play.message(play.body, play.body)
        said = {"step": "commit", "at": datetime.now(UTC), "campaign": play.start.campaign}
        for request, permit in (("-rules-1", "p"), ("-job-7-1", "p"), ("-rules-2", None), ("", None)):
            await there.records.create(
                intent_key(play.zone, Area.WAF, f"p{request}"),
                Intent.model_validate({**said, "permit": permit}),
            )
        assert not await others_of(there, change, beside="p")
        assert await others_of(there, change, beside="q")
        await there.records.create(
            intent_key(play.zone, Area.WAF, "p-rules-9"),
            Intent.model_validate({**said, "permit": "p-rules-9"}),
        )
        assert await others_of(there, change, beside="p")


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


@pytest.mark.parametrize("answered", [False, True], ids=["no answer", "answered"])
async def test_a_commit_that_was_not_answered_may_have_left_as_late_as_its_request_may(
    tmp_path: Path, answered: bool
) -> None:
    """Whoever asks says that no run was reset, and the limit of a migration is over since a second: what is
    left of the other's request is waited for, and no more.
    """
    async with gate(tmp_path, request_limit="20s") as play:
        at = datetime.now(UTC) - play.start.policy.migration_limit - SECOND
        key = await sent_by_another(play, "commit", at)
        if not answered:
            held = await play.change(play.body, play.body, window=2 * SECOND)
            assert (held.status, held.turn) == (ChangeStatus.NOTHING_HAPPENED, False), held
            assert await play.sent() == []
            assert (await play.change(play.body, play.body, permit=2)).status is ChangeStatus.ANSWERED
            assert datetime.now(UTC) >= at + play.start.policy.migration_limit + 20 * SECOND
        else:
            await request_answered(play.connections, key)
            assert (await play.change(play.body, play.body)).status is ChangeStatus.ANSWERED
            assert datetime.now(UTC) < at + play.start.policy.migration_limit + 20 * SECOND
        assert len(await play.sent()) == 1


async def test_a_commit_that_may_show_for_longer_than_a_request_takes_is_not_waited_for(
    tmp_path: Path,
) -> None:
    """It is told that one was sent before, at once."""
    async with gate(tmp_path) as play:
        at = datetime.now(UTC) - play.start.policy.migration_limit + 10 * SECOND
        await sent_by_another(play, "commit", at)
        began = datetime.now(UTC)
        result = await play.change(play.body, play.body)
        assert result.status is ChangeStatus.UNKNOWN and result.earlier
        assert datetime.now(UTC) - began < 5 * SECOND and await play.sent() == []


async def test_a_commit_is_not_sent_while_a_validation_is_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has looked before the commit had its intent, and waits for another turn: landing last, it would
    leave a zone that is migrated with rules that only log. Nothing is left behind that would be waited for.
    """
    async with gate(tmp_path) as play:
        archive = play.connections.archive
        create, keys = archive.create_once, list[str]()

        async def validated_just_before(key: str, data: bytes, **how: bool) -> bool:
            if key.startswith("intent/") and not keys:
                keys.append("")
                keys[0] = await sent_by_another(play, "validate", datetime.now(UTC))
            return await create(key, data, **how)

        monkeypatch.setattr(archive, "create_once", validated_just_before)
        held = await play.change(play.body, play.body)
        assert (held.status, held.turn, held.stands) == (ChangeStatus.NOTHING_HAPPENED, False, True), held
        assert await play.sent() == []
        assert not await commit_may_show(
            play.connections, play.zone, Area.WAF, play.start.policy.migration_limit
        )
        await request_answered(play.connections, keys[0])
        assert (await play.change(play.body, play.body, permit=2)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("step", [Step.COMMIT, Step.VALIDATE])
async def test_a_validation_that_was_not_answered_holds_a_commit_until_its_request_is_over(
    tmp_path: Path, step: Step
) -> None:
    """As where the zone's own has timed out. Another validation it does not hold."""
    async with gate(tmp_path, request_limit="2s", commit={"margin": "2s"}) as play:
        at = datetime.now(UTC)
        await sent_by_another(play, "validate", at)
        if step is Step.VALIDATE:
            assert (await play.validate()).status is ChangeStatus.ANSWERED
            return
        assert (await play.change(play.body, play.body)).status is ChangeStatus.ANSWERED
        assert datetime.now(UTC) >= at + 6 * SECOND
