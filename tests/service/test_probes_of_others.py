"""Waiting for the service by a worker that lacks the secret, while another one has it: half a rollout."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.circuit import HeldCallActivities, HeldHere
from activities.connections import Connections
from activities.ways import Ways
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import AwaitService
from edgeshift.model.failures import PERMANENT
from edgeshift.rate_limit.circuit import OpenCircuit, Trouble, held
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import SystemClock
from edgeshift.runtime.settings import Settings
from edgeshift.stores.archive import Archive
from edgeshift.testbed.simulator.fleet_whole import Fleet
from tests.kit.stored import put_json
from tests.service.simulated import Caller, simulated

FLEET = Fleet.model_validate(
    {
        "users": [{"email": "one@example.org"}],
        "credentials": [{"label": "one", "user": "one@example.org"}],
        "zones": [{"name": "a.example", "plan": "pro"}],
    }
)


class Skipping(SystemClock):
    """Its own time passes at once as somebody sleeps."""

    def __init__(self) -> None:
        self.slept = 0.0

    def now(self) -> datetime:
        """The time, as if everything had been slept."""
        return super().now() + timedelta(seconds=self.slept)

    async def sleep(self, seconds: float) -> None:
        """Let the time pass."""
        self.slept += seconds
        await super().sleep(0)


class Kept(HeldHere):
    """What is held, kept for several workers; counts the turns for a probe."""

    turns = 0

    async def probe(self, user: str, credentials: Iterable[str]) -> OpenCircuit | None:
        """One turn, where one is due."""
        found = await super().probe(user, credentials)
        self.turns += found is not None
        return found


@dataclass
class Wait:
    """A campaign that waits for the service; each try is another worker's."""

    connections: Connections
    spec: str
    clock: Skipping
    calls: Kept
    reference: str
    user: str

    def hold(self, trouble: Trouble) -> OpenCircuit:
        """A hold of the first credential, or an outage."""
        credential = "" if trouble is Trouble.OUTAGE else self.reference
        return held(trouble, "why", self.clock.now(), credential, self.user)

    async def begins(self, hold: OpenCircuit) -> None:
        """The user's calls are held from now on."""
        spec = await self.connections.spec(self.spec)
        await self.calls.hold(spec.service.credentials[0], spec, hold)

    async def once(self, hold: OpenCircuit, *, attempt: int = 1, apart: bool = True) -> None:
        """One try of the activity."""
        environment = ActivityEnvironment()
        environment.info = dataclasses.replace(environment.info, attempt=attempt)
        message = AwaitService(spec=self.spec, holds=(hold,), apart=apart)
        work = HeldCallActivities(self.connections, self.calls).wait
        await asyncio.wait_for(environment.run(work, message), 30)


@asynccontextmanager
async def waiting(folder: Path) -> AsyncIterator[tuple[Wait, Caller]]:
    """A campaign with two credentials of one user, and its service."""
    async with simulated(folder / "simulator", fleet=FLEET) as call:
        references = ("env:FIRST_TOKEN", "env:SECOND_TOKEN")
        credentials = [{"token": name, "user": "u", "accounts": [name[4:]]} for name in references]
        service = {"base_url": call.server.base_url, "credentials": credentials, "request_limit": "5s"}
        said = {"name": "x", "targets": {"all": True}, "service": service}
        spec = CampaignSpec.model_validate(said)
        nobody: Any = None
        archive, clock = Archive(Settings(state_dir=folder).archive), Skipping()
        connections = Connections(nobody, archive, clock, lambda *_: Unpaced(), str(folder))
        digest, calls = await put_json(archive, spec.model_dump(mode="json")), Kept(clock)
        user = spec.service.caller(spec.service.credentials[0])
        try:
            yield Wait(connections, digest, clock, calls, references[0], user), call
        finally:
            await connections.close()


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize(("attempt", "minutes"), [(1, 1), (7, 7)])
@pytest.mark.parametrize("trouble", [Trouble.MISSING, Trouble.REFUSED])
async def test_a_worker_without_the_secret_leaves_the_wait_to_another(
    trouble: Trouble, attempt: int, minutes: int, apart: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes none of the user's turns for a probe; a worker with the secret probes, and calls go on."""
    monkeypatch.delenv("FIRST_TOKEN", raising=False)
    monkeypatch.setenv("SECOND_TOKEN", "of-another-account")
    async with waiting(tmp_path) as (play, call):
        hold, before = play.hold(trouble), play.clock.slept
        with pytest.raises(ApplicationError, match="FIRST_TOKEN") as raised:
            await play.once(hold, attempt=attempt, apart=apart)
        assert raised.value.type == "WorkerLacks" and raised.value.type not in PERMANENT
        assert not raised.value.non_retryable
        assert minutes <= (play.clock.slept - before) / 60 < minutes + 0.5
        assert play.calls.turns == 0 and await call.journal(call="zones.list") == []
        monkeypatch.setenv("FIRST_TOKEN", FLEET.credentials[0].value)
        await play.once(hold, apart=apart)
        assert play.calls.turns == 1 and (await play.calls.standing(play.user)).holds == ()
        assert [one["status"] for one in await call.journal(call="zones.list")] == [200]


async def test_a_worker_without_the_secret_of_its_proxy_leaves_the_wait_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could make no probe by it."""
    for name in ("FIRST_TOKEN", "SECOND_TOKEN"):
        monkeypatch.setenv(name, FLEET.credentials[0].value)
    monkeypatch.delenv("ITS_PROXY", raising=False)
    async with waiting(tmp_path) as (play, _):
        said = (await play.connections.spec(play.spec)).model_dump(mode="json")
        said["service"]["proxy"] = "env:ITS_PROXY"
        play.spec = await put_json(play.connections.archive, said)
        # As where the roots list the proxy.
        monkeypatch.setattr(play.connections, "ways", lambda spec: Ways(spec, lambda _: None))
        with pytest.raises(ApplicationError, match="ITS_PROXY") as raised:
            await play.once(play.hold(Trouble.REFUSED))
        assert raised.value.type == "WorkerLacks" and play.calls.turns == 0


async def test_an_outage_is_probed_with_whichever_secret_the_worker_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the user's; without any it is another worker's."""
    for name in ("FIRST_TOKEN", "SECOND_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    async with waiting(tmp_path) as (play, call):
        hold = play.hold(Trouble.OUTAGE)
        await play.begins(hold)
        with pytest.raises(ApplicationError) as raised:
            await play.once(hold)
        assert raised.value.type == "WorkerLacks" and play.calls.turns == 0
        monkeypatch.setenv("SECOND_TOKEN", FLEET.credentials[0].value)
        await play.once(hold)
        assert play.calls.turns == 1 and len(await call.journal(call="zones.list")) == 1


async def test_a_secret_that_is_away_for_a_moment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a file that is being replaced: each time it is away has its own minute."""
    monkeypatch.setenv("FIRST_TOKEN", "wrong")
    async with waiting(tmp_path) as (play, _):
        began, sleep = play.clock.slept, play.clock.sleep

        async def replaced(seconds: float) -> None:
            await sleep(seconds)
            passed = play.clock.slept - began
            if passed > 600:
                monkeypatch.setenv("FIRST_TOKEN", FLEET.credentials[0].value)
            elif passed % 100 < 50:
                monkeypatch.delenv("FIRST_TOKEN", raising=False)
            else:
                monkeypatch.setenv("FIRST_TOKEN", "wrong")

        monkeypatch.setattr(play.clock, "sleep", replaced)
        await play.once(play.hold(Trouble.REFUSED))
        assert play.clock.slept - began > 600
