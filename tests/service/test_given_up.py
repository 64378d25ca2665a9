"""A change that was never answered: either it is kept from being sent, or it may have been sent."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from activities.change.intents import commit_may_show
from activities.change.not_sent import NotSent
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import ChangeStatus, Step
from edgeshift.model.fleet import Area
from edgeshift.stores.archive import ArchiveUnavailable
from tests.service.gate_kit import gate


async def test_what_was_given_up_is_not_sent_any_more(tmp_path: Path) -> None:
    """A worker that was frozen wakes up late: nothing happened, and no commit is waited for."""
    async with gate(tmp_path) as play:
        assert await play.give_up(play.body, play.body)
        assert await play.give_up(play.body, play.body), "asked again, its answer may have been lost"
        result = await play.change(play.body, play.body)
        assert result.status is ChangeStatus.NOTHING_HAPPENED and "given up" in result.reason
        assert await play.sent() == []
        limit = play.start.policy.migration_limit
        assert not await commit_may_show(play.connections, play.zone, Area.WAF, limit)


async def test_what_was_sent_cannot_be_given_up(tmp_path: Path) -> None:
    """Its intent is there: whoever asks is told so, as often as they ask."""
    async with gate(tmp_path) as play:
        assert (await play.change(play.body, play.body)).status is ChangeStatus.ANSWERED
        assert not await play.give_up(play.body, play.body)
        assert not await play.give_up(play.body, play.body)
        assert len(await play.sent()) == 1


async def test_of_sending_and_giving_up_at_once_one_comes_about(tmp_path: Path) -> None:
    """Whoever is first keeps the other from it: never both, never neither."""
    async with gate(tmp_path) as play:

        async def given_up(permit: int) -> bool:
            await asyncio.sleep(permit * 0.002)
            how = {"step": Step.VALIDATE, "mode": ValidationMode.SHADOW, "config": "", "permit": permit}
            return await play.give_up(play.body, play.body, **how)

        for permit in range(1, 16):
            before = len(await play.sent())
            result, gone = await asyncio.gather(play.validate(permit=permit), given_up(permit))
            assert (result.status is ChangeStatus.ANSWERED) is not gone
            assert len(await play.sent()) - before == (0 if gone else 1)


async def test_a_step_of_several_requests_is_given_up_before_its_first_alone(tmp_path: Path) -> None:
    """Each of them has an intent of its own, and all of them stand under the permit's record."""
    async with gate(tmp_path) as play:
        await play.intend("-1")
        assert not await play.give_up(play.body, play.body)
        with pytest.raises(NotSent) as refused:
            await play.intend("-1")
        assert refused.value.status is ChangeStatus.UNKNOWN
        await play.intend("-2")


async def test_no_request_of_a_step_is_sent_that_was_given_up(tmp_path: Path) -> None:
    """Neither its first nor any other."""
    async with gate(tmp_path) as play:
        assert await play.give_up(play.body, play.body)
        for what in ("", "-1", "-2"):
            with pytest.raises(NotSent) as refused:
                await play.intend(what)
            assert refused.value.status is ChangeStatus.NOTHING_HAPPENED


async def test_what_may_have_been_sent_before_is_unknown_where_its_record_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it is there is known; that it is one that gives the permit up is not."""

    async def unread(key: str) -> bytes | None:
        raise ArchiveUnavailable(f"could not reach {key}")

    async with gate(tmp_path) as play:
        await play.intend("-1")
        monkeypatch.setattr(play.connections.archive, "get_named", unread)
        for what in ("", "-1", "-2"):
            with pytest.raises(NotSent) as refused:
                await play.intend(what)
            assert refused.value.status is ChangeStatus.UNKNOWN
