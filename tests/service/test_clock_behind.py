"""What a worker does whose clock is behind the server's: it believes the server."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.testing import ActivityEnvironment

from activities.circuit import HeldCallActivities, HeldHere
from edgeshift.authority.loading import RootsFiles
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.statements import StartStatement, WaveSaid
from edgeshift.model.fleet import Area
from edgeshift.rate_limit.circuit import OpenCircuit, Trouble, held
from edgeshift.service_api import ServiceCircuitOpen
from edgeshift.stores.documents import FrozenTargets, put_document
from tests.kit.names import BEFORE_REMOVAL, OPERATOR
from tests.kit.signing import Keys, Roster, key_of
from tests.service.gate_kit import begun, gate
from tests.service.test_clock_ahead import ClockAhead


@pytest.mark.parametrize("behind", [0, 10, 120])
async def test_a_scope_that_was_signed_just_now_is_probed(tmp_path: Path, behind: int) -> None:
    """By its own clock the start is from the future; by the server's it is not: the scope must not fail."""
    keys = Keys(tmp_path / "keys", Roster())
    options = {"clock": BEFORE_REMOVAL, "visibility_seconds": 0}
    terms: dict[str, Any] = {"area": "esc", "esc": {"probe": {"urls": ["/"]}}, "simulator": options}
    clock = ClockAhead(timedelta(minutes=-behind))
    async with gate(tmp_path, clock=clock, roots=RootsFiles(keys.roots), **terms) as play:
        there = play.connections
        start = play.start.model_copy(update={"area": Area.ESC})
        spec = await there.spec(start.spec)
        now = datetime.now(UTC).replace(microsecond=0)
        started = StartStatement(
            service=spec.service.base_url,
            campaign=spec.name,
            area=Area.ESC,
            by=OPERATOR,
            issued=now,
            expires=now + timedelta(days=90),
            nonce=secrets.token_hex(16),
            spec=start.spec,
            targets=await put_document(there.archive, FrozenTargets((start.target,))),
            count=1,
            waves=(WaveSaid(name="all", first=0, end=1),),
        )
        await SignedRecords(there.archive).put(started, await key_of(OPERATOR).sign(started.bytes))
        await begun().run(there.refuse_foreign, start)


class Server(ClockAhead):
    """The server's clock, which moves as somebody sleeps."""

    async def sleep(self, seconds: float) -> None:
        """At once."""
        self.ahead += timedelta(seconds=seconds)


class Worker(Server):
    """A worker's, which is behind by as much all the time."""

    def __init__(self, server: Server, behind: timedelta) -> None:
        super().__init__(-behind)
        self._server = server

    async def sleep(self, seconds: float) -> None:
        """For both."""
        await super().sleep(seconds)
        await self._server.sleep(seconds)


@pytest.mark.parametrize("behind", [0, 600, 7_200])
async def test_a_probe_is_made_when_it_is_due_by_the_server(
    behind: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not once this machine's clock comes to it: nobody else looks meanwhile, and all calls are held."""
    server = Server(timedelta(0))
    worker = Worker(server, timedelta(seconds=behind))
    began, calls = server.now(), HeldHere(server)
    credential = SimpleNamespace(reference="env:T")
    spec: Any = SimpleNamespace(
        service=SimpleNamespace(
            credentials=[credential],
            caller=lambda _: "user",
            rate=SimpleNamespace(requests=1_200, per=timedelta(minutes=5), people=0.1),
        ),
        time_scale=1.0,
    )
    ways = SimpleNamespace(find_all=lambda _: None)
    connections: Any = SimpleNamespace(clock=worker, ways=lambda _: ways)
    waiting = HeldCallActivities(connections, calls)
    probed: list[float] = []

    async def probe(*_: object) -> bool:
        probed.append((server.now() - began).total_seconds())
        await calls.fixed("user", ["env:T"])
        return True

    monkeypatch.setattr(waiting, "_probe", probe)
    monkeypatch.setattr("activities.circuit.users_of", lambda _: {"user": {"env:T": credential}})
    monkeypatch.setattr("activities.change.intent_records.passed", lambda: server.now() - began)
    hold: OpenCircuit = held(Trouble.OUTAGE, "503", server.now())
    await calls.hold(cast(Any, credential), spec, hold)
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, started_time=began)
    await environment.run(waiting.wait_out, spec, ServiceCircuitOpen(hold))
    assert probed and probed[0] == pytest.approx(60, abs=6)
