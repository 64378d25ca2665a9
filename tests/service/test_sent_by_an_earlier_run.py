"""A zone's workflow was reset while its request was on the wire, and its new run makes the same step again:
whatever stands in its way says nothing of what was sent (rules 2 and 9).
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from activities.change import door
from activities.change.fence import Fence
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import Change, ChangeResult, ChangeStatus, Step
from edgeshift.stores.archive import ArchiveUnavailable
from edgeshift.stores.documents import get_document
from tests.kit import eventually
from tests.service.gate_kit import Gate, gate
from tests.service.test_called_off import begun

ON_THE_WIRE = 3.0
"""Seconds until the service takes the first request."""

WINDOW = timedelta(seconds=2)
"""How long after it began a step may be sent."""

SENT_BEFORE = "it has been sent under this permit before"
SENT_UNDER_ANOTHER = "a validation has been sent under another permit before"


async def _validation(play: Gate, *, anew: bool) -> Change:
    mode = ValidationMode.SHADOW
    message = await play.message(play.body, play.body, step=Step.VALIDATE, mode=mode)
    return message.model_copy(update={"anew": anew})


async def _under(play: Gate, number: int, *, anew: bool, used: tuple[int, ...] = ()) -> Change:
    """The same, under a permit of its campaign's, which is in another run for each of them."""
    message = await _validation(play, anew=anew)
    permit = message.permit.model_copy(update={"number": number, "name": f"gate-run{number}-{number}"})
    return message.model_copy(update={"permit": permit, "used": used})


async def _made(play: Gate, message: Change) -> ChangeResult:
    _, made = begun(play, message)
    return await made


async def _under_way(play: Gate) -> asyncio.Task[object]:
    """The step as an earlier run has it made: its intent is there, and its request under way."""
    slow = {
        "kind": "latency",
        "effect": "before",
        "seconds": ON_THE_WIRE,
        "match": {"call": "entrypoint.put"},
    }
    await play.control.send("POST", "faults", slow)
    _, first = begun(play, await _validation(play, anew=False))

    async def intended() -> bool:
        return bool([key async for key in play.connections.archive.list(f"intent/{play.zone.id}")])

    await eventually(intended, what="the intent is there")
    return asyncio.ensure_future(first)


@pytest.mark.parametrize("anew", [True, False])
async def test_an_archive_that_fails_does_not_say_that_nothing_was_sent(
    anew: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proposal cannot be read for a moment. A run that was never reset knows that it has sent nothing."""

    async def broken(*_: object) -> None:
        raise ArchiveUnavailable("503 for a moment")

    async with gate(tmp_path) as play:
        first = await _under_way(play)
        monkeypatch.setattr(door, "get_document", broken)
        _, again = begun(play, await _validation(play, anew=anew))
        result = await again
        assert result.status is (ChangeStatus.UNKNOWN if anew else ChangeStatus.NOTHING_HAPPENED)
        assert (result.reason == SENT_BEFORE) is anew
        monkeypatch.undo()
        await first
        assert len(await play.sent()) == 1


async def test_what_is_called_off_may_have_been_sent_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a pause, while the new run still reads what it would send."""
    reads = asyncio.Event()

    async def slow(*what: object) -> object:
        reads.set()
        await asyncio.sleep(2 * ON_THE_WIRE)
        return await get_document(*what)  # type: ignore[arg-type]

    async with gate(tmp_path) as play:
        first = await _under_way(play)
        monkeypatch.setattr(door, "get_document", slow)
        environment, again = begun(play, await _validation(play, anew=True))
        await reads.wait()
        environment.cancel()
        result = await again
        assert (result.status, result.reason) == (ChangeStatus.UNKNOWN, SENT_BEFORE)
        assert not first.done()
        await first


async def test_where_the_intent_cannot_be_read_nobody_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the archive can be."""

    async def broken(*_: object) -> None:
        raise ArchiveUnavailable("503 for a moment")

    async with gate(tmp_path) as play:
        message = await _validation(play, anew=True)
        monkeypatch.setattr(play.connections.archive, "get_named", broken)
        _, again = begun(play, message)
        result = await again
        assert result.status is ChangeStatus.UNKNOWN
        assert "it may have been sent before, which cannot be read: 503 for a moment" in result.reason


async def test_the_time_that_runs_out_as_its_turn_comes_does_not_say_that_nothing_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a busy machine, just before the new run would find the intent."""

    async def slow(self: Fence) -> None:
        await asyncio.sleep(WINDOW.total_seconds())

    async with gate(tmp_path) as play:
        await _made(play, await _validation(play, anew=False))
        monkeypatch.setattr(Fence, "_refuse_what_was_used", slow)
        again = (await _validation(play, anew=True)).model_copy(update={"window": WINDOW})
        result = await _made(play, again)
        assert (result.status, result.reason) == (ChangeStatus.UNKNOWN, SENT_BEFORE)
        assert len(await play.sent()) == 1


@pytest.mark.parametrize("known", [False, True])
async def test_a_validation_of_an_earlier_run_is_not_sent_again_under_another_permit(
    known: bool, tmp_path: Path
) -> None:
    """The first one's ran out, or was taken back, and the new run was reset to before it: it shows, so that
    nothing more is sent. What the run knows of itself it may send anew, and costs no reading.
    """
    async with gate(tmp_path) as play:
        await _made(play, await _under(play, 1, anew=False))
        again = await _under(play, 2, anew=True, used=(1, 2) if known else (2,))
        result = await _made(play, again)
        assert (result.status, result.reason) == (
            (ChangeStatus.ANSWERED, "") if known else (ChangeStatus.UNKNOWN, SENT_UNDER_ANOTHER)
        )
        assert len(await play.sent()) == (2 if known else 1)


async def test_a_validation_of_an_earlier_run_that_does_not_show_in_time_is_sent_again(
    tmp_path: Path,
) -> None:
    """It came to nothing, which its answer did not say: as long as it may show, no other one crosses it. Just
    before the next one goes, the status is read.
    """
    lost = {"kind": "server_error", "effect": "before", "status": 502, "match": {"call": "entrypoint.put"}}
    async with gate(tmp_path) as play:
        await play.control.send("POST", "faults", lost)
        await _made(play, await _under(play, 1, anew=False))
        again = await _under(play, 2, anew=True, used=(2,))
        result = await _made(play, again)
        assert (result.status, result.reason) == (ChangeStatus.UNKNOWN, SENT_UNDER_ANOTHER)
        assert len(await play.sent()) == 1
        await play.control.send("DELETE", "faults")
        over = {"migration_limit": timedelta(0), "request_limit": timedelta(seconds=3)}
        start = again.start.model_copy(update={"policy": again.start.policy.model_copy(update=over)})
        await asyncio.sleep(3)
        result = await _made(play, again.model_copy(update={"start": start}))
        assert result.status is ChangeStatus.ANSWERED
        assert len(await play.sent()) == 2


async def test_a_validation_of_an_earlier_run_that_was_refused_holds_no_other_one_up(tmp_path: Path) -> None:
    """Nothing came of it, as its answer says, and as is on record."""
    refused = {"kind": "rate_limit", "match": {"call": "entrypoint.put"}}
    async with gate(tmp_path) as play:
        await play.control.send("POST", "faults", refused)
        first = await _made(play, await _under(play, 1, anew=False))
        assert first.status is ChangeStatus.NOTHING_HAPPENED, first
        await play.control.send("DELETE", "faults")
        again = await _made(play, await _under(play, 2, anew=True, used=(2,)))
        assert (again.status, again.reason) == (ChangeStatus.ANSWERED, "")


async def test_a_validation_of_an_earlier_run_with_other_rules_is_taken_up(tmp_path: Path) -> None:
    """As of the mode before: it shows, and is not what would be looked for. Nothing is sent over it."""
    validation = {"modes": ["shadow", "enforce"], "window": "1m"}
    async with gate(tmp_path, consents={"enforce_validation": True}, validation=validation) as play:
        first = await _made(play, await _under(play, 1, anew=False))
        assert first.status is ChangeStatus.ANSWERED
        next_mode = await _under(play, 2, anew=True, used=(2,))
        now = datetime.now(UTC)
        evidence = await play.evidence(since=now, until=now + timedelta(minutes=1))
        more = {"mode": ValidationMode.ENFORCE, "evidence": evidence}
        again = await _made(play, next_mode.model_copy(update=more))
        assert (again.status, again.earlier) == (ChangeStatus.UNKNOWN, True)
        assert len(await play.sent()) == 1
