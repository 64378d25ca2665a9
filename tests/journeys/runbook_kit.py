"""The runbook at work: an embedded stack in this process, the command line in this process too, and the
commands of an entry as they stand on the page, with their placeholders filled in.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from temporalio.client import Client

from edgeshift import operations
from edgeshift.alarms.kinds import filled
from edgeshift.cli.main import called
from edgeshift.cli.shell import Shell
from edgeshift.messages import ZonePhase, ZoneState
from edgeshift.model.fleet import Area
from edgeshift.operations.pen import Pen
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.stores.archive import Archive
from edgeshift.testbed.simulator.fleet_file import load_fleet
from edgeshift.testbed.stack import Stack, stack
from edgeshift.testbed.stack.serving import until_served
from tests.journeys.cli_kit import CLI, POLICY, Ran
from tests.kit.stack_file import without_rehearsed
from tests.runbook import ENTRIES, commands_of

Found = TypeVar("Found")

SCALE = 14_400
"""Four hours a second."""

PATIENCE = "1000d"


@dataclass
class Desk:
    """Where an operator sits: a folder with a stack, and its commands. ``names``: what fills placeholders."""

    folder: Path
    stack: Stack
    temporal: Path
    loop: asyncio.AbstractEventLoop
    names: dict[str, str]
    workers: list[subprocess.Popen[str]] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)
    pausing: asyncio.Future[Any] | None = None
    _ran: set[str] = field(default_factory=set)

    def wait(self, work: Coroutine[Any, Any, Found]) -> Found:
        """The result of something asynchronous, on the stack's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(120)

    def pen(self, by: str) -> Pen:
        """Who signs with the key of a person."""
        return Pen(self.stack.keyring.signer(by), self.archive, by)

    async def client(self) -> Client:
        """Temporal, in the namespace that commands are for."""
        return await connect(TemporalSettings(address=self.stack.address, namespace=self.names["NAMESPACE"]))

    # --- the command line

    def call(self, *words: str) -> Ran:
        """Call a verb in this process, as a person at a terminal who answers yes. Nothing is a traceback or
        a fault of edgeshift's own.
        """
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            patch.object(Shell, "interactive", True),
            patch.object(Shell, "_answer", lambda shell, question: "y"),
        ):
            code = called(words)
        assert "Traceback" not in err.getvalue() and "a fault of its own" not in err.getvalue(), (
            err.getvalue()
        )
        return Ran(code, out.getvalue(), err.getvalue())

    def ok(self, *words: str) -> str:
        """The output of a verb that has to succeed."""
        ran = self.call(*words)
        assert ran.code == 0, (words, ran)
        return ran.out

    def alarms(self, *words: str) -> dict[str, list[dict[str, Any]]]:
        """The alarms by their codes; the exit code says whether there are any."""
        ran = self.call("alarms", *words, "--json")
        found: dict[str, list[dict[str, Any]]] = {}
        for alarm in json.loads(ran.out)["alarms"]:
            found.setdefault(alarm["code"], []).append(alarm)
        assert ran.code == (7 if found else 0), ran
        return found

    def alarmed(self, code: str, *words: str, zone: str = "", seconds: float = 180) -> dict[str, Any]:
        """The alarm of this code (and of this zone), once there is one."""
        limit = time.monotonic() + seconds
        while True:
            alarms = self.alarms(*words)
            for alarm in alarms.get(code, ()):
                if not zone or zone in alarm["zones"]:
                    return alarm
            assert time.monotonic() < limit, (code, zone, _short(alarms))
            time.sleep(0.5)

    def over(self, code: str, *words: str, zone: str = "", seconds: float = 240) -> None:
        """Wait until there is no alarm of this code (for this zone) any more."""
        limit = time.monotonic() + seconds
        while found := self._named(code, zone, *words):
            assert time.monotonic() < limit, (code, zone, found)
            time.sleep(0.5)

    def _named(self, code: str, zone: str, *words: str) -> list[dict[str, Any]]:
        alarms = self.alarms(*words).get(code, [])
        return [alarm for alarm in alarms if not zone or zone in alarm["zones"]]

    # --- the runbook

    def look(self, code: str, names: Mapping[str, str] | None = None) -> None:
        """Run what the entry says to look at. What is looked at may itself say that something is wrong."""
        look, _ = _parts(code)
        for command in look:
            self.run(code, command, {**self.names, **(names or {})}, allowed=(0, 1, 3))

    def act(
        self, code: str, names: Mapping[str, str] | None = None, *, only: Sequence[int] | None = None
    ) -> None:
        """Run what the entry says to do; ``only``: which of its blocks, counted from 0."""
        _, blocks = _parts(code)
        for number, block in enumerate(blocks):
            if only is None or number in only:
                for command in block:
                    self.run(code, command, {**self.names, **(names or {})})

    def run(self, code: str, command: str, names: dict[str, str], *, allowed: tuple[int, ...] = (0,)) -> None:
        """Run a command as it stands on the page, its placeholders filled in. Nothing else counts as run."""
        words = [filled(word, names) for word in shlex.split(command)]
        assert not any(word.isupper() and len(word) > 3 for word in words), (code, words)
        if words[0] == "temporal":
            done = subprocess.run(
                [str(self.temporal), *words[1:]], capture_output=True, text=True, timeout=60
            )
            assert done.returncode == 0, (command, done.stdout[-500:], done.stderr[-500:])
        elif words[1] == "worker":
            self.workers.append(self.worker(words[2:]))
        else:
            ran = self.call(*words[1:])
            answers = (*allowed, 7) if words[1] == "alarms" else allowed
            assert ran.code in answers, (code, words, ran)
        self._ran.add(f"{code}: {command}")

    def assert_ran(self, codes: Sequence[str]) -> None:
        """Every command of these entries was run."""
        for entry in ENTRIES:
            if entry.code in codes:
                assert {f"{entry.code}: {command}" for command in entry.commands} <= self._ran, entry.code

    def worker(self, words: Sequence[str] = (), program: Sequence[str] = CLI) -> subprocess.Popen[str]:
        """A worker of its own, once it runs. ``program``: the command line, or one that stands for it."""
        process = subprocess.Popen(
            [*program, "worker", *words],
            cwd=self.folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        assert "worker runs" in (line := process.stderr.readline()), line
        threading.Thread(target=process.stderr.read, daemon=True).start()
        return process

    def end_workers(self) -> None:
        """End the workers that entries started."""
        for process in self.workers:
            process.send_signal(signal.SIGTERM)
        for process in self.workers:
            process.wait(60)
        self.workers.clear()

    # --- campaigns and the simulated service

    def campaign(self, name: str, zones: Sequence[str], more: str = POLICY, area: str = "waf") -> str:
        """A campaign file over these zones; its name. Most scenes have zones that fail and others that are to
        go on.
        """
        made = self.stack.places.campaign_of(Area(area))
        first = "rehearsal" if area == "waf" else f"rehearsal-{area}"
        text = without_rehearsed(made.read_text()).replace(f"name: {first}", f"name: {name}")
        text = text.replace("  all: true\n", f"  include: [{', '.join(zones)}]\n")
        # Durations are short here, and a busy machine takes its time.
        text = text.replace("\nservice:\n", f"\nservice:\n  patience: {PATIENCE}\n")
        more += "" if "advance:" in more else "advance: {failures: 100}\n"
        (self.folder / f"{name}.yaml").write_text(text + more)
        return f"{name}.yaml"

    def start(self, name: str, zones: Sequence[str], more: str = POLICY, area: str = "waf") -> None:
        """Start a campaign over these zones."""
        self.ok("start", self.campaign(name, zones, more, area), "--yes", "--by", "olga")

    def places(self, campaign: str) -> dict[str, int]:
        """The counts of a campaign by place."""

        async def asked() -> dict[str, int]:
            return (await operations.summary(await self.client(), campaign)).places

        return self.wait(asked())

    def until(self, campaign: str, found: Callable[[dict[str, int]], bool], seconds: float = 240) -> None:
        """Wait until the counts of a campaign are as wanted."""
        limit = time.monotonic() + seconds
        while not found(places := self.places(campaign)):
            assert time.monotonic() < limit, places
            time.sleep(0.3)

    def until_in(self, phase: ZonePhase, zone: str, area: str, seconds: float = 240) -> ZoneState:
        """A zone's own word once it is in this phase: its campaign may hear of it before, or after."""

        async def asked() -> ZoneState:
            client = await self.client()
            handle = client.get_workflow_handle(f"zone/{self.zone_id(zone)}/{area}")
            state: ZoneState = await handle.query("state", result_type=ZoneState)
            return state

        limit = time.monotonic() + seconds
        while (found := self.wait(asked())).phase is not phase:
            assert time.monotonic() < limit, found.phase
            time.sleep(0.3)
        return found

    def until_polled(self) -> None:
        """Wait until the stack's worker is there, which takes a while on a busy machine."""

        async def served() -> bool:
            return await until_served(await self.client(), 100.0)

        assert self.wait(served()), "no worker"

    def zone_id(self, name: str) -> str:
        """A zone's identifier."""
        return next(zone.id for zone in self.stack.fleet.zones if zone.name == name)

    def control(self, method: str, path: str, body: object = None) -> Any:
        """Ask the simulator's control API for something."""
        return self.wait(self.stack.control.send(method, path, body))

    def fault(self, kind: str, zone: str = "", call: str = "", *, user: str = "", **more: object) -> str:
        """A fault of the service, until it is taken away; its id."""
        match = {"zone": self.zone_id(zone)} if zone else {}
        match |= {"path" if call.startswith("/") else "call": call} if call else {}
        match |= {"user": user} if user else {}
        return str(self.control("POST", "faults", {"kind": kind, "match": match, **more})["id"])

    def fix(self, *faults: str) -> None:
        """Take faults away."""
        for one in faults:
            self.control("DELETE", f"faults/{one}")

    @property
    def archive(self) -> Archive:
        """The stack's archive."""
        return Archive(self.stack.archive)


def _short(alarms: Mapping[str, list[dict[str, Any]]]) -> list[str]:
    """Alarms, for whoever reads why a test failed."""
    return [f"{one['code']} {one['since']}: {one['text'][:80]}" for some in alarms.values() for one in some]


def _parts(code: str) -> tuple[list[str], list[list[str]]]:
    """An entry's commands to look with; its blocks of commands to act with."""
    (entry,) = [entry for entry in ENTRIES if entry.code == code]
    look, _, do = entry.text.partition("**Do.**")
    blocks = [commands_of(f"{part}```\n") for part in do.split("```\n\n")]
    return commands_of(look), [block for block in blocks if block]


@contextmanager
def desk(folder: Path, temporal: Path, fleet: str, clock: datetime | None = None) -> Iterator[Desk]:
    """A stack over this fleet, on a loop and a thread of its own, and the command line in its folder."""
    (folder / "fleet.yaml").write_text(fleet)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="stack", daemon=True)
    thread.start()
    running = stack(
        folder / ".edgeshift",
        fleet=load_fleet(folder / "fleet.yaml"),
        time_scale=SCALE,
        clock=clock,
    )
    before, here = dict(os.environ), Path.cwd()
    try:
        made = asyncio.run_coroutine_threadsafe(running.__aenter__(), loop).result(120)
        for name in before.keys() - {"EDGESHIFT_TEMPORAL_CLI"}:
            if name.startswith("EDGESHIFT_"):
                del os.environ[name]
        os.environ["EDGESHIFT_USER"] = "ada"
        os.chdir(folder)
        names = {
            "ADDRESS": made.address,
            "NAMESPACE": made.namespace,
            "ARCHIVE": made.archive,
            "REASON": "as told",
        }
        found = Desk(folder, made, temporal, loop, names)
        try:
            found.until_polled()
            yield found
        finally:
            found.end_workers()
            asyncio.run_coroutine_threadsafe(running.__aexit__(None, None, None), loop).result(180)
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
