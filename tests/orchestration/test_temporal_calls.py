"""Which calls of Temporal a worker makes, and which the command line: those that docs/threat-model.md names,
for whoever puts an authorizer before Temporal.
"""

from __future__ import annotations

import asyncio
import functools
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.runtime import MetricBuffer, Runtime, TelemetryConfig

from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect, ensure_search_attributes
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.journeys.cli_kit import Ran, in_process
from tests.kit import APPROVER, OPERATOR, fleet_of, scene
from tests.kit.signing import Roster, key_of
from worker.recording_roots import recording_roots
from worker.wiring import roots_of, workers

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(300)]

MODEL = (Path(__file__).parents[2] / "docs/threat-model.md").read_text(encoding="utf-8")


class Counting:
    """What is called by clients of one runtime of the SDK, which counts that itself."""

    def __init__(self) -> None:
        self._buffer = MetricBuffer(100_000)
        # Of the interval in which a worker tells that it lives, one passes here, too.
        self.runtime = Runtime(
            telemetry=TelemetryConfig(metrics=self._buffer), worker_heartbeat_interval=timedelta(seconds=1)
        )
        self._seen: set[str] = set()

    @property
    def calls(self) -> set[str]:
        """The names of the calls that were made."""
        for update in self._buffer.retrieve_updates():
            if update.metric.name.removeprefix("temporal_") in ("request", "long_request"):
                self._seen.add(str(update.attributes["operation"]))
        return self._seen


def named(who: str) -> set[str]:
    """The calls that a row of the page's table has."""
    rows = re.findall(rf"^\| {re.escape(who)} \| (.*) \|$", MODEL, re.MULTILINE)
    assert len(rows) == 1, who
    return {word for word in re.findall(r"`(\w+)`", rows[0]) if word[0].isupper()} - {"OperatorService"}


LOOK = named("people who look")
READ = named("people who read the service (`check`, `doctor FILE`)") | LOOK
STEER = named("people who start, sign and steer") | LOOK
WORK = named("workers") | STEER

LOOKS = ("status", "alarms", "show", "history", "report", "watch", "audit", "doctor")
"""Verbs of people who look."""


class Hands:
    """The command line in this process, for people with keys; calls are counted by what a verb does."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch = folder, patch
        self.looking, self.reading, self.steering = Counting(), Counting(), Counting()

    def counting(self, verb: str, *more: str) -> Counting:
        """What counts the calls of a verb."""
        if verb == "check" or (verb == "doctor" and more):
            return self.reading
        return self.looking if verb in LOOKS else self.steering

    async def __call__(self, *line: str, by: str = OPERATOR, codes: tuple[int, ...] = (0,)) -> Ran:
        key = self.folder / f"key-{by}"
        key.touch(mode=0o600)
        key.write_text(key_of(by)._private.text)
        self.patch.setenv("EDGESHIFT_USER", by)
        self.patch.setenv("EDGESHIFT_AUTHORITY_KEY", str(key))
        with self.patch.context() as within:
            counted(within, self.counting(*line))
            ran = await asyncio.to_thread(in_process, *line)
        assert ran.code in codes, (line, ran)
        return ran


def counted(patch: pytest.MonkeyPatch, counting: Counting) -> None:
    """Have every client that connects from now on counted so."""
    connects: Any = Client.connect
    patch.setattr(Client, "connect", functools.partial(connects, runtime=counting.runtime))


async def test_the_table_for_an_authorizer_has_what_is_called(
    own_server: EmbeddedTemporal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By workers and people of one small campaign, from its plan to its report, with what people look at."""
    working, hands = Counting(), Hands(tmp_path, monkeypatch)
    settings = TemporalSettings(address=own_server.address)
    with monkeypatch.context() as within:
        counted(within, working)
        client = await connect(settings, identity="worker")
    await ensure_search_attributes(client)
    fleet = fleet_of({"name": "a.example", "plan": "pro"}, {"name": "b.example", "plan": "pro"})
    async with scene(client, tmp_path, fleet, serve=False, authority=Roster()) as play:
        assert play.keys is not None
        name, file = play.spec.name, tmp_path / "campaign.yaml"
        file.write_text(json.dumps(play.spec.model_dump(mode="json", exclude_defaults=True)))
        monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", own_server.address)
        monkeypatch.setenv("EDGESHIFT_ARCHIVE_URL", play.settings.archive)
        monkeypatch.setenv("EDGESHIFT_AUTHORITY_ROOTS", str(play.keys.roots))
        monkeypatch.chdir(tmp_path)
        async with (
            workers(client, play.settings, grace=timedelta(seconds=5)),
            recording_roots(client.identity, roots_of(play.settings), play.archive),
        ):
            await hands("plan", str(file))
            await hands("start", str(file), "--yes")
            await hands("status", name, "--until", "waiting", "--timeout", "2m")
            for line in (
                ("status",),
                ("show", "a.example"),
                ("history", "a.example"),
                ("doctor",),
                ("doctor", str(file)),
            ):
                # It compares all campaigns, other tests' among them.
                await hands(*line, codes=(0, 1) if line[0] == "doctor" else (0,))
            await hands("alarms", codes=(7,))
            await hands("pause", name)
            await hands("resume", name)
            await hands("sign-off", "approve", name, "--wave", "1", "--yes", by=APPROVER)
            await hands("status", name, "--until", "finished", "--timeout", "2m")
            await hands("report", name)
            await hands("watch", name)
            await hands("check", name, "--all")
            await hands("audit", "export", name, "--out", "a.jsonl")
            await asyncio.sleep(2)
    for counting, allowed in (
        (working, WORK),
        (hands.looking, LOOK),
        (hands.reading, READ),
        (hands.steering, STEER),
    ):
        assert not counting.calls - allowed
        assert "DescribeNamespace" in counting.calls
    assert "RespondQueryTaskCompleted" in working.calls
    assert "QueryWorkflow" in hands.looking.calls and "UpdateWorkflowExecution" in hands.reading.calls
