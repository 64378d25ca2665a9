"""Fenced activity of waf: several URI overrides of which only some are deleted, or some were gone already."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.change.fence import Fence
from activities.change.not_sent import NotSent
from activities.waf.proposing import deletion_body
from activities.waf.zone import read_zone
from edgeshift.messages import ChangeResult, ChangeStatus, Step
from edgeshift.service_api.caller import Still
from tests.kit import eventually
from tests.service.gate_kit import Body, Gate, begun, gate

OVERRIDES = [
    {"urls": [f"bank.example/{path}/*"], "groups": {}, "rules": {"100000": "disable"}} for path in "abc"
]
NOT_THERE = '{"result": null, "success": false, "errors": [{"message": "not found"}], "messages": []}'
NOT_ALLOWED = NOT_THERE.replace("not found", "Unauthorized to access requested resource")


@asynccontextmanager
async def signed(
    folder: Path, simulator: Body | None = None, **more: Any
) -> AsyncIterator[tuple[Gate, Body]]:
    """A gate before a zone with three overrides, and what people sign of them."""
    consents = {"delete_uri_overrides": True}
    async with gate(folder, consents=consents, simulator=simulator, **more) as play:
        await play.control.send("PATCH", f"zones/{play.zone.id}", {"uri_overrides": OVERRIDES})
        yield play, deletion_body(await present(play))


async def present(play: Gate) -> list[dict[str, Any]]:
    """The overrides that the zone has now."""
    client = await play.connections.service(play.start.spec, play.zone)
    return (await read_zone(client, play.zone)).overrides


async def refuse(play: Gate, nth: int, status: int, body: str, *, done: bool = False) -> None:
    """The service refuses one of the deletions. ``done``: somebody deletes the override at that moment."""
    fault = {"kind": "server_error", "status": status, "body": body, "effect": "after" if done else "before"}
    match = {"call": "waf.overrides.delete", "nth": nth}
    await play.control.send("POST", "faults", {**fault, "match": match, "times": 1})


async def delete(play: Gate, body: Body, **how: Any) -> ChangeResult:
    """Let the activity delete them."""
    return await play.change(body, body, step=Step.DELETE_OVERRIDES, **how)


@pytest.mark.parametrize("nth", [1, 2, 3])
async def test_one_that_is_gone_already_keeps_no_other_from_being_deleted(nth: int, tmp_path: Path) -> None:
    """All are gone, as was agreed. The zone is read again after a while: a list that is behind may still have
    it, and the service is not asked without end.
    """
    async with signed(tmp_path) as (play, body):
        await refuse(play, nth, 404, NOT_THERE, done=True)
        result = await delete(play, body)
        assert result.status is ChangeStatus.UNKNOWN and "gone already" in result.reason
        assert await present(play) == []


@pytest.mark.parametrize(("nth", "gone"), [(2, 1), (3, 2)])
async def test_a_refusal_after_others_were_deleted_is_no_proof_that_nothing_happened(
    nth: int, gone: int, tmp_path: Path
) -> None:
    """What is left is read, and proposed anew; how many are gone is told."""
    async with signed(tmp_path) as (play, body):
        await refuse(play, nth, 403, NOT_ALLOWED)
        result = await delete(play, body)
        assert result.status is ChangeStatus.UNKNOWN
        assert f"{gone} of 3 URI overrides" in result.reason and "Unauthorized" in result.reason
        left = [rule["override"]["id"] for rule in body["rules"][gone:]]
        assert sorted(found["id"] for found in await present(play)) == left


async def test_a_refusal_of_the_first_proves_that_nothing_happened(tmp_path: Path) -> None:
    """It is told as one."""
    async with signed(tmp_path) as (play, body):
        await refuse(play, 1, 403, NOT_ALLOWED)
        assert (await delete(play, body)).status is ChangeStatus.REFUSED
        assert len(await present(play)) == 3


async def test_time_that_runs_out_between_two_leaves_no_proof_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one is gone: it is not told that nothing was sent."""
    intend, asked = Fence.intend, list[str]()

    async def late(self: Fence, what: str = "") -> Still:
        asked.append(what)
        if len(asked) == 2:
            raise NotSent("the time to send ran out", stands=True)
        return await intend(self, what)

    monkeypatch.setattr(Fence, "intend", late)
    async with signed(tmp_path) as (play, body):
        result = await delete(play, body)
        assert result.status is ChangeStatus.UNKNOWN and not result.stands
        assert "1 of 3 URI overrides" in result.reason and "ran out" in result.reason
        assert len(await present(play)) == 2


async def readings(play: Gate, call: str) -> int:
    """How often the zone was read by this call since its overrides were deleted."""
    journal = await play.control.journal()
    last = max(at for at, entry in enumerate(journal) if entry["call"] == "waf.overrides.delete")
    return sum(entry["call"] == call for entry in journal[last:])


@pytest.mark.parametrize(("listed", "checked"), [(0, 0), (0, 1.5), (1.5, 0), (0.7, 1.5)])
async def test_a_deletion_is_over_once_list_and_check_show_it(
    listed: float, checked: float, tmp_path: Path
) -> None:
    """What is read next is the zone as it is by then: neither blocked for what is gone, nor proposed again.
    Where both show it at once, one look is enough.
    """
    late = {"override_list_late_seconds": listed, "override_check_late_seconds": checked}
    async with signed(tmp_path, late, commit={"poll": "300ms"}) as (play, body):
        assert (await delete(play, body)).status is ChangeStatus.ANSWERED
        looks = await readings(play, "waf.overrides.list")
        assert looks == 1 if listed == checked == 0 else looks > 1
        client = await play.connections.service(play.start.spec, play.zone)
        reading = await read_zone(client, play.zone)
        assert reading.overrides == [] and reading.check["compatible"] is True


async def test_overrides_that_are_left_are_reason_enough_for_the_check(tmp_path: Path) -> None:
    """The second one is refused: of the first, the list is waited for, and the check is not asked."""
    late = {"override_list_late_seconds": 1.0}
    async with signed(tmp_path, late, commit={"poll": "300ms"}) as (play, body):
        await refuse(play, 2, 403, NOT_ALLOWED)
        assert (await delete(play, body)).status is ChangeStatus.UNKNOWN
        left = [rule["override"]["id"] for rule in body["rules"][1:]]
        assert sorted(found["id"] for found in await present(play)) == left
        assert await readings(play, "waf.check") == 1


@pytest.mark.parametrize("fails", ["late", "unread"])
async def test_a_deletion_that_does_not_show_in_the_steps_time_is_answered_all_the_same(
    fails: str, tmp_path: Path
) -> None:
    """Nor does a reading that goes wrong make another answer of it: nothing is sent twice for that."""
    late = {"override_check_late_seconds": 600} if fails == "late" else {}
    async with signed(tmp_path, late, commit={"poll": "300ms"}, request_limit="2s") as (play, body):
        if fails == "unread":
            match = {"call": "waf.check"}
            await play.control.send("POST", "faults", {"kind": "server_error", "match": match})
        began = play.connections.clock.monotonic()
        result = await delete(play, body, window=timedelta(seconds=1))
        assert result.status is ChangeStatus.ANSWERED
        assert 0.9 < play.connections.clock.monotonic() - began < 10


async def test_a_step_that_is_called_off_does_not_look_on(tmp_path: Path) -> None:
    """Whoever pauses the campaign waits for its outcome, which is known."""
    async with signed(tmp_path, {"override_check_late_seconds": 600}) as (play, body):
        message = await play.message(body, body, step=Step.DELETE_OVERRIDES)
        worker = begun()
        task = asyncio.create_task(worker.run(play._activities.change, message))
        await eventually(lambda: looked(play), within=10)
        worker.cancel()
        assert (await asyncio.wait_for(task, 5)).status is ChangeStatus.ANSWERED
        assert (await play.control.get(f"zones/{play.zone.id}"))["settings"]["uri_overrides"] == []


async def looked(play: Gate) -> bool:
    """Whether the check was asked since the last deletion."""
    journal = [entry["call"] for entry in await play.control.journal()]
    return journal.count("waf.overrides.delete") == 3 and journal[-1] == "waf.check"
