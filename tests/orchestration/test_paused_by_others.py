"""While a pause waits for the steps in flight, somebody resumes the campaign, or pauses it again: whoever
asked first hears how it stands, and only success where it is paused.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift import operations
from edgeshift.cli import control
from edgeshift.messages import Answer, CampaignSummary
from edgeshift.model.campaign_phase import CampaignPhase
from edgeshift.operations import campaigns, steering
from edgeshift.operations.errors import Failed, Refused, TemporalTrouble
from edgeshift.operations.steering import abort, pause, resume
from edgeshift.testbed.simulator.delivery import Deliverer
from tests.journeys.cli_kit import in_process
from tests.kit import eventually
from tests.kit.faults import Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]


class Wire:
    """Holds requests up at the service until it is let go: a pause has to wait for what is on it."""

    def __init__(self) -> None:
        self.busy, self.go = False, threading.Event()

    async def wait(self, *how: Any) -> None:
        """Of a request that is to be late."""
        self.busy = True
        await asyncio.to_thread(self.go.wait)


@asynccontextmanager
async def at_its_commit(client: Client, folder: Path) -> AsyncIterator[tuple[Stage, Wire]]:
    """A campaign whose zone is being committed."""
    wire = Wire()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Deliverer, "_wait", wire.wait)
        more: dict[str, Any] = {"request_limit": "60s", "commit": {"lease": "60s"}}
        async with staged(client, folder, zone("a"), **more) as stage:
            state = await stage.waits("a")
            await stage.fault("latency", "entrypoint.put")
            await stage.play.sign([state.fingerprint])

            async def on_the_wire() -> bool:
                return wire.busy

            await eventually(on_the_wire, what="its commit is on the wire")
            try:
                yield stage, wire
            finally:
                wire.go.set()


async def pausing(stage: Stage) -> asyncio.Task[Answer]:
    """A pause by alice that waits."""
    task = asyncio.create_task(pause(stage.play.client, stage.play.spec.name, by="alice"))
    await stage.play.until(lambda seen: seen.state == CampaignPhase.PAUSING)
    return task


async def test_a_pause_that_somebody_ended_is_refused(temporal_client: Client, tmp_path: Path) -> None:
    """The campaign runs, and no script is to begin its freeze."""
    async with at_its_commit(temporal_client, tmp_path) as (stage, wire):
        name = stage.play.spec.name
        first = await pausing(stage)
        seen = control._Stands.of(await stage.play.summary())
        assert control._is_meant("resume", seen)
        assert (await resume(stage.play.client, name, by="bob")).text == "is running again; it was pausing"
        wire.go.set()
        with pytest.raises(Refused, match=f"campaign {name} was resumed meanwhile, and runs") as refused:
            await first
        assert f"`edgeshift pause {name}`" in refused.value.hint


async def test_a_pause_that_somebody_has_given_again_holds(temporal_client: Client, tmp_path: Path) -> None:
    """Both hear that it is paused, and the first by whom."""
    async with at_its_commit(temporal_client, tmp_path) as (stage, wire):
        first = await pausing(stage)
        second = asyncio.create_task(pause(stage.play.client, stage.play.spec.name, by="bob"))
        await stage.play.until(lambda seen: seen.stopped_by == "bob")
        wire.go.set()
        assert (await second).text.startswith("is paused; ")
        assert (await first).text == "is paused by bob, who paused it again meanwhile"
        assert (await stage.play.summary()).state == CampaignPhase.PAUSED


async def test_a_pause_that_an_abort_overtook_says_so(temporal_client: Client, tmp_path: Path) -> None:
    """Somebody resumes the campaign, and aborts it: it is not paused, and ends."""
    async with at_its_commit(temporal_client, tmp_path) as (stage, wire):
        name = stage.play.spec.name
        first = await pausing(stage)
        await resume(stage.play.client, name, by="bob")
        ending = asyncio.create_task(abort(stage.play.client, name, by="bob"))
        await stage.play.until(lambda seen: seen.state == CampaignPhase.ABORTING)
        wire.go.set()
        with pytest.raises(Refused, match=f"campaign {name} was aborted meanwhile"):
            await first
        await ending


@pytest.mark.parametrize("every", [False, True])
async def test_the_command_line_ends_with_an_error(
    every: bool, temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 6, and nothing on stdout; of all campaigns it is one of those that failed."""
    async with at_its_commit(temporal_client, tmp_path) as (stage, wire):
        play, name = stage.play, stage.play.spec.name

        async def this_one(client: Client, verb: str) -> dict[str, Any]:
            return {name: control._Stands(CampaignPhase.RUNNING)}

        monkeypatch.setattr(control, "_running", this_one)
        monkeypatch.setattr(control, "LAGS", 0)
        assert play.archive.folder is not None
        at = ("--address", play.client.service_client.config.target_host, "--archive", play.archive.folder)
        what = ("--all", "--yes") if every else (name,)
        verb = ("pause", *what, "--by", "alice", "--json", *map(str, at))
        ran = asyncio.create_task(asyncio.to_thread(in_process, *verb))
        await play.until(lambda seen: seen.state == CampaignPhase.PAUSING)
        await resume(play.client, name, by="bob")
        wire.go.set()
        told = await ran
    said = f"campaign {name} was resumed meanwhile, and runs"
    if every:
        document = json.loads(told.out)
        assert told.code == 1 and document["campaigns"] == []
        assert [(one["campaign"], one["message"]) for one in document["failed"]] == [(name, said)]
        assert f"`edgeshift {shlex.join(map(str, at))} pause {name}`" in document["failed"][0]["hint"]
    else:
        assert (told.code, told.out) == (6, "")
        assert json.loads(told.err.splitlines()[-1])["message"] == said


async def test_what_is_in_flight_is_said_by_what_is_published(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the pause waits; no worker is asked for it again and again."""
    asked: list[str] = []

    async def counted(client: Client, name: str) -> CampaignSummary:
        asked.append(name)
        return await campaigns.summary(client, name)

    monkeypatch.setattr(operations, "summary", counted)
    async with at_its_commit(temporal_client, tmp_path) as (stage, wire):
        play, name = stage.play, stage.play.spec.name
        assert play.archive.folder is not None
        at = ("--address", play.client.service_client.config.target_host, "--archive", play.archive.folder)
        verb = ("pause", name, "--by", "alice", *map(str, at))
        ran = asyncio.create_task(asyncio.to_thread(in_process, *verb))
        await play.until(lambda seen: seen.state == CampaignPhase.PAUSING)
        await asyncio.sleep(4)
        wire.go.set()
        told = await ran
    assert told.code == 0 and f"{name} is pausing: 1 step still in flight …" in told.err, told
    assert asked == []


async def test_only_an_odd_answer_costs_another_question(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pause is no slower for it. Where the question is not answered, the workflow's own words are told."""
    asked: list[str] = []
    away = asyncio.Event()

    async def counted(client: Client, name: str) -> CampaignSummary:
        asked.append(name)
        if away.is_set():
            raise TemporalTrouble("no worker answers")
        return await campaigns.summary(client, name)

    monkeypatch.setattr(steering, "summary", counted)
    async with at_its_commit(temporal_client, tmp_path) as (stage, wire):
        name = stage.play.spec.name
        first = await pausing(stage)
        second = asyncio.create_task(pause(stage.play.client, name, by="bob"))
        await stage.play.until(lambda seen: seen.stopped_by == "bob")
        away.set()
        wire.go.set()
        with pytest.raises(Failed, match=f"{name} is not paused: somebody .*no worker answers") as failed:
            await first
        assert f"`edgeshift status {name}`" in failed.value.hint
        assert (await second).text.startswith("is paused; ")
        assert asked == [name] * 3


async def test_a_pause_that_was_given_again_waits_for_what_is_in_flight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between a resume and the next pause steps may have begun: the first does not answer before they have
    ended.
    """
    states = ["running", "pausing", "pausing", "paused"]

    async def told(*what: Any, **how: Any) -> Answer:
        return Answer(text="is not paused: …", overtaken=True)

    async def standing(client: Any, name: str) -> Any:
        return SimpleNamespace(state=states.pop(0), stopped_by="bob")

    monkeypatch.setattr(steering, "tell", told)
    monkeypatch.setattr(steering, "summary", standing)
    monkeypatch.setattr(steering, "LOOKS_EVERY", 0.0)
    answer = await pause(None, "waf", by="alice")  # type: ignore[arg-type]
    assert answer.text.startswith("is paused by bob") and states == []
