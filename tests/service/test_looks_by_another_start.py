"""A look in the name of a start that has not sent what is there: of another run, or by another campaign file.
Whoever can send Temporal anything can have a worker take it, and nothing is signed or recorded of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from activities.boundary import named_failures
from activities.change.intents import seen_through
from activities.change.settled import unless_settled
from activities.standing import on_record, signed_end
from edgeshift.areas.assessment import Verdict
from edgeshift.messages import Prepared, Watch, Watched, ZoneStart
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.stores.documents import put_document
from tests.forgeries.doors import Guarded, guarded
from tests.service.test_may_still_show import begun

T = TypeVar("T")


def ago(hours: float) -> datetime:
    return (datetime.now(UTC) - timedelta(hours=hours)).replace(microsecond=0)


async def in_activity(work: Callable[[], Awaitable[T]]) -> T:
    """As a worker does it."""
    return await begun().run(named_failures(work))


async def other_file(door: Guarded, **commit: Any) -> str:
    """The campaign's file with other terms, in the archive: the digest."""
    spec = await door.gate.connections.spec(door.gate.start.spec)
    terms = spec.commit.model_copy(update={"resend_unchanged": spec.commit.resend_unchanged + 1, **commit})
    return await put_document(door.archive, spec.model_copy(update={"commit": terms}))


async def sent(door: Guarded, name: str, hours: float, **more: Any) -> str:
    """A commit of the campaign's, so many hours ago, with all that it names; its record's name."""
    proposal = await door.archive.put_json({"body": door.gate.body})
    named: dict[str, Any] = {"proposal": proposal, "snapshot": door.gate.snapshot, "start": door.start}
    return await door.sent_before(name, hours, **{**named, **more})


async def worse(door: Guarded, start: ZoneStart) -> Watched:
    """What a look tells that found something worse, by a message that says what it likes."""
    told = Prepared(verdict=Verdict.READY, snapshot=door.gate.snapshot)
    message = Watch(start=start, prepared=told, since=datetime.now(UTC))
    seen = Watched.as_worse(Reason(code=ReasonCode.URLS_WORSE, names=("/",)))
    return await in_activity(lambda: unless_settled(door.gate.connections, message, seen))


@pytest.mark.parametrize("same", [True, False], ids=["the same file", "another file"])
async def test_what_an_earlier_run_has_settled_is_not_signed_as_settled_for_a_later_one(
    tmp_path: Path, same: bool
) -> None:
    """It has sent nothing yet, and may send it any time: its honest end would be told as wrong. Of the run
    that has settled it, it stands.
    """
    async with guarded(tmp_path) as door:
        start, there = door.gate.start, door.gate.connections
        await door.begin(issued=ago(5))
        key = await sent(door, "first", 4)
        settled = ZoneOutcome.SETTLED

        async def settle() -> None:
            await there.results.record(start, settled, proposal=door.digest, seen="")
            await seen_through(there, door.gate.zone, start.area, {key})

        await in_activity(settle)
        assert (await worse(door, start)).done
        spec = start.spec if same else await other_file(door)
        await door.begin(spec=spec, issued=ago(0.1))
        later = start.model_copy(update={"campaign_run": "second", "spec": spec})
        told = await worse(door, later)
        assert (told.done, bool(told.worse)) == (False, True)
        named = there, spec, "second", start.target, 1
        assert not await on_record(*named, settled)
        assert await signed_end(*named) is None
