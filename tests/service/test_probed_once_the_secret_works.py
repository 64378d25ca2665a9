"""A scope is probed once the secret that a worker has set works at the edge, whoever asks for the probe:
before that, nothing differs with it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.change.door import MutationActivities
from activities.change.intent_records import ClosedAs
from activities.change.intents import close_intent
from activities.esc.changes import EscWork
from activities.esc.scope import EscActivities
from edgeshift.messages import Change, ChangeStatus, Gathered, Prepared, Step
from edgeshift.messages.areas.esc import Probe, Probed
from edgeshift.model.fleet import Area
from tests.kit.names import BEFORE_REMOVAL
from tests.service.gate_kit import begun
from tests.service.test_clock_ahead import ClockAhead
from tests.service.test_probed_at_the_door import Prober, Probing, probing, report

TAKES, MAY_SHOW = timedelta(seconds=30), timedelta(minutes=5)
"""By a campaign's file that says nothing else: ``esc.secret_takes``, and ``esc.effect_limit``."""

A_MOMENT = timedelta(seconds=5)
"""What a test may take."""


def records(folder: Path, pattern: str) -> list[Path]:
    """The archive's records of this kind."""
    return list(folder.rglob(pattern))


def remove(folder: Path, pattern: str) -> None:
    """As if they had never been written."""
    for path in records(folder, pattern):
        path.unlink()


@dataclass
class Scope:
    """A scope whose secret is set, and what is asked of it."""

    scope: Probing
    clock: ClockAhead
    folder: Path

    async def set_secret(self) -> datetime:
        """Have the door set a test secret; when it had answered."""
        prepared = await self.scope.reads()
        assert prepared.step is Step.SET_SECRET
        gate = self.scope.gate
        said = await gate.message(gate.body, gate.body, step=Step.SET_SECRET, window=timedelta(seconds=20))
        update = {name: getattr(prepared, name) for name in ("snapshot", "proposal", "digest", "fingerprint")}
        change: Change = said.model_copy(update=update)
        activities = MutationActivities(gate.connections, {Area.ESC: EscWork(gate.connections)})
        found = await begun().run(activities.change, change)
        assert found.status is ChangeStatus.ANSWERED, found
        return datetime.now(UTC)

    async def probed(self, at: datetime) -> Probed:
        """What a probe gives that began then, by the server's clock."""
        prepared = await self.scope.reads()
        assert prepared.step is not Step.SET_SECRET
        return await self._probed(prepared, at)

    async def _probed(self, prepared: Prepared, at: datetime) -> Probed:
        worker = begun()
        worker.info = dataclasses.replace(worker.info, started_time=at)
        message = Probe(start=self.scope.gate.start, prepared=prepared, sequence=1)
        found = await worker.run(EscActivities(self.scope.gate.connections).probe, message)
        assert isinstance(found, Probed)
        return found

    async def waits(self, at: datetime) -> timedelta:
        """How long a probe is put off that began then: by a failure that ends nothing, and with no record."""
        with pytest.raises(ApplicationError, match="may not work at the edge yet") as caught:
            await self.probed(at)
        assert caught.value.type == "SecretNotShown" and not caught.value.non_retryable
        assert not records(self.folder, "gathered/*/*")
        assert caught.value.next_retry_delay is not None
        return caught.value.next_retry_delay


@asynccontextmanager
async def scope(folder: Path, patch: pytest.MonkeyPatch, **how: Any) -> AsyncIterator[Scope]:
    """A scope of which a probe finds that nothing differs."""
    clock = ClockAhead(timedelta(0))
    options = {"clock": BEFORE_REMOVAL, "visibility_seconds": 0}
    async with probing(folder, patch, clock=clock, simulator=options, **how) as found:
        patch.setattr(EscActivities, "_prober", lambda *_: Prober(report()))
        yield Scope(found, clock, folder)


async def test_it_is_not_probed_before_the_secret_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither right after it was set, nor by a clock that is ahead. What the workflow waits is enough."""
    async with scope(tmp_path, monkeypatch, own=False) as at:
        answered = await at.set_secret()
        assert TAKES - A_MOMENT < await at.waits(answered) <= TAKES
        at.clock.ahead = timedelta(hours=2)
        assert await at.waits(answered + TAKES - A_MOMENT) <= A_MOMENT
        at.clock.ahead = timedelta(hours=-2)
        found = await at.probed(answered + TAKES)
        assert isinstance(found.gathered, Gathered)


async def test_one_that_nobody_saw_show_may_come_to_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where its worker was lost: it counts as set when it may no longer be expected to show."""
    async with scope(tmp_path, monkeypatch, own=False) as at:
        answered = await at.set_secret()
        remove(tmp_path, "nothing/*/esc/*")
        assert await at.waits(answered + TAKES) > MAY_SHOW - TAKES - A_MOMENT
        assert (await at.probed(answered + MAY_SHOW)).gathered is not None


async def test_what_another_campaign_has_set_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a worker's record alone, and not where nothing came of it."""
    async with scope(tmp_path, monkeypatch) as at:
        sent, now = at.scope.door.sent_before, datetime.now(UTC)
        step: dict[str, Any] = {"step": Step.SET_SECRET.value, "campaign": "other", "run": "s"}
        await sent("planted", 0, by_worker=False, **step)
        refused = await sent("refused", 0, **step)
        await begun().run(close_intent, at.scope.gate.connections, refused, ClosedAs.NOTHING_CAME)
        await sent("old", 1, **step)
        await sent("commit", 0, **{**step, "step": Step.ROLL_BACK.value})
        assert (await at.probed(now)).gathered is not None
        remove(tmp_path, "gathered/*/*")
        await sent("other", 0, **step)
        assert await at.waits(now) > MAY_SHOW - A_MOMENT
