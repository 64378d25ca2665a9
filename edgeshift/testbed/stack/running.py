"""Running the embedded stack: Temporal, then the simulator, then the workers; ended in the opposite order."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from edgeshift.authority.keyring import Keyring
from edgeshift.campaign_file.spec import CredentialSpec
from edgeshift.model.fleet import Area
from edgeshift.testbed.invariants.control import Control, ControlError
from edgeshift.testbed.simulator.fleet_file import Fleet, dump_fleet, load_fleet
from edgeshift.testbed.stack.children import Child
from edgeshift.testbed.stack.credentials import campaign_text, credential_specs, keep_credentials
from edgeshift.testbed.stack.paths import StackError, StackFile, StackPaths, put
from edgeshift.testbed.temporal_server.embedded import embedded_temporal
from edgeshift.testbed.temporal_server.fetching import Progress, print_progress

HISTORY = timedelta(days=90)
"""How long Temporal keeps the histories of what has ended."""

READY_WITHIN = 60.0
RESTART_AFTER = 1.0

WORKER_GRACE = 100.0
"""Seconds that a worker is given to see through what is on the wire, a little more than it takes itself."""

LOOKS_EVERY = 1.0

Say = Callable[[str], None]


@dataclass
class Stack:
    """A running stack. ``ui``: of Temporal's web pages, where they were asked for. ``service``: the base URL
    of the simulator. ``edge``: where it serves the zones' traffic, by Host header.
    """

    places: StackPaths
    address: str
    namespace: str
    ui: str | None
    service: str
    edge: str
    control: Control
    fleet: Fleet
    time_scale: float
    simulator: Child
    temporal_pid: int
    workers: list[Child] = field(default_factory=list)

    @property
    def archive(self) -> str:
        """The URL of the archive."""
        return self.places.archive.as_uri()

    @property
    def keyring(self) -> Keyring:
        """The keys of those who take part, and the roots of the workers."""
        return Keyring(self.places.authority)

    @property
    def campaign_file(self) -> Path:
        """A campaign file for the whole fleet."""
        return self.places.campaign

    @property
    def campaign_files(self) -> tuple[Path, ...]:
        """A campaign file of each area for the whole fleet."""
        return tuple(self.places.campaign_of(area) for area in Area)

    @property
    def credentials(self) -> tuple[CredentialSpec, ...]:
        """References to credentials, one for each account, for a campaign's specification."""
        return credential_specs(self.places, self.fleet)

    @property
    def secrets(self) -> dict[str, str]:
        """Every secret of the fleet by the label of its credential."""
        return {credential.label: credential.value for credential in self.fleet.credentials}

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which workers find this stack."""
        return {**self._places, "EDGESHIFT_AUTHORITY_WORKER_KEY": str(self.keyring.worker())}

    def environment_of(self, person: str) -> dict[str, str]:
        """The variables by which a person's commands find this stack elsewhere, with a key of theirs: it lets
        signatures alone count. Raises SigningFailed where they cannot have one, RootsError.
        """
        return {**self._places, "EDGESHIFT_AUTHORITY_KEY": str(self.keyring.key_of(person))}

    @property
    def _places(self) -> dict[str, str]:
        return {
            "EDGESHIFT_TEMPORAL_ADDRESS": self.address,
            "EDGESHIFT_TEMPORAL_NAMESPACE": self.namespace,
            "EDGESHIFT_ARCHIVE_URL": self.archive,
            "EDGESHIFT_AUTHORITY_ROOTS": str(self.keyring.roots),
        }

    async def broken(self) -> None:
        """Returns never; raises StackError once Temporal has ended by itself. All else is started again."""
        while True:
            await asyncio.sleep(LOOKS_EVERY)
            try:
                os.kill(self.temporal_pid, 0)
            except ProcessLookupError:
                raise StackError(
                    f"Temporal ended by itself (log: {self.places.temporal})", "start it again to continue"
                ) from None


@asynccontextmanager
async def stack(
    folder: Path,
    *,
    fleet: Fleet | None = None,
    time_scale: float | None = None,
    clock: datetime | None = None,
    workers: int = 1,
    ui: bool = False,
    tickets: Path | None = None,
    say: Say = lambda text: None,
    progress: Progress = print_progress,
) -> AsyncIterator[Stack]:
    """Run the stack of ``folder`` until the block is left.

    ``fleet`` is needed the first time; afterwards the folder has its own, and its state goes on where it was.
    ``clock`` is the simulator's present at the first start, the machine's if absent; from there it goes on.
    ``ui``: whether Temporal's web pages are served, behind a door. ``tickets``: where its tickets go, if not
    into the folder.
    ``say`` hears what is being done, ``progress`` how the Temporal CLI is got if there is none yet.
    Raises StackError; of another stack in the folder, a port that is taken, a part that does not start.
    """
    places = StackPaths(folder, tickets)
    places.make()
    async with AsyncExitStack() as running:
        running.enter_context(places.held())
        fleet = _kept_fleet(places, fleet)
        keep_credentials(places, fleet)
        scale = _kept_scale(places, time_scale)
        ports = places.ports()
        say("starting Temporal")
        temporal = await running.enter_async_context(
            embedded_temporal(
                places.temporal,
                port=ports.temporal,
                ui_port=ports.ui if ui else None,
                retention=HISTORY,
                progress=progress,
            )
        )
        say("starting the simulator")
        command = [sys.executable, "-m", "edgeshift.cli.main", "simulator", "--fleet", str(places.fleet)]
        command += ["--listen", f"127.0.0.1:{ports.simulator}", "--data", str(places.simulator)]
        command += ["--edge-port", str(ports.edge)]
        if clock is not None:
            command += ["--clock", clock.isoformat()]
        simulator = Child("simulator", [*command, "--time-scale", f"{scale:g}"], places.logs, {})
        found = Stack(
            places=places,
            address=temporal.address,
            namespace=temporal.namespace,
            ui=temporal.ui_url,
            service=f"http://127.0.0.1:{ports.simulator}/client/v4",
            edge=f"http://127.0.0.1:{ports.edge}",
            control=Control(f"http://127.0.0.1:{ports.simulator}/_simulator"),
            fleet=fleet,
            time_scale=scale,
            simulator=simulator,
            temporal_pid=temporal.pid,
        )
        found.keyring.make()
        await simulator.start()
        running.push_async_callback(simulator.stop)
        await _until_ready(simulator, found.control)
        say(f"starting {workers} worker{'s' if workers != 1 else ''}")
        for number in range(1, workers + 1):
            worker = Child(
                f"worker-{number}",
                [sys.executable, "-m", "edgeshift.cli.main", "worker"],
                places.logs,
                found.environment,
            )
            await worker.start()
            running.push_async_callback(worker.stop, WORKER_GRACE)
            found.workers.append(worker)
        keepers = [asyncio.create_task(_keep_running(child, say)) for child in [simulator, *found.workers]]
        running.push_async_callback(_end, keepers)
        _tell_others(found)
        running.callback(places.stack_file.unlink, missing_ok=True)
        yield found


async def _keep_running(child: Child, say: Say) -> None:
    """Start a child again whenever it has ended by itself: nothing is lost by that, so nothing is given
    up.
    """
    while True:
        code = await child.wait()
        why = child.ended_with()[:200]
        said = f": {why}" if why else ""
        say(f"{child.name} ended with {code}{said}; starting it again (its log: {child.log})")
        await asyncio.sleep(RESTART_AFTER)
        await child.start()


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _until_ready(simulator: Child, control: Control) -> None:
    """Wait until it answers, and no other one at its port: a stack of somebody else may have chosen the same
    port in the same moment. Raises StackError.
    """
    limit = asyncio.get_running_loop().time() + READY_WITHIN
    while True:
        with contextlib.suppress(ControlError):
            if (await control.get("health")).get("process") == simulator.pid:
                return
        if simulator.ended is not None or asyncio.get_running_loop().time() > limit:
            raise StackError(
                "the simulator did not start; its log ends with:",
                f"see {simulator.log}",
                details=tuple(simulator.last_words().splitlines()),
            )
        await asyncio.sleep(0.1)


def _kept_fleet(places: StackPaths, fleet: Fleet | None) -> Fleet:
    """The folder's fleet; kept there the first time. Raises StackError for none, or for another one."""
    if not places.fleet.exists():
        if fleet is None:
            raise StackError(f"{places.folder} has no fleet yet", "give one with --fleet FILE or --zones N")
        dump_fleet(fleet, places.fleet)
        places.fleet.chmod(0o600)
        return load_fleet(places.fleet)
    kept = load_fleet(places.fleet)
    if fleet is not None and kept != fleet:
        raise StackError(
            f"{places.folder} has another fleet, of {len(kept.zones)} zones",
            "leave --fleet and --zones out to go on with it, or name another --folder",
        )
    return kept


def _kept_scale(places: StackPaths, given: float | None) -> float:
    """The folder's time scale: the one given now, or else the last one, or else 1."""
    path = places.folder / "time-scale"
    if given is None:
        try:
            return max(1.0, float(path.read_text()))
        except (OSError, ValueError):
            return 1.0
    put(path, f"{given:g}\n")
    return given


def _tell_others(found: Stack) -> None:
    """Write the file by which other commands in this folder find the stack, and a campaign file to begin
    with.
    """
    places = found.places
    for area in Area:
        if not (path := places.campaign_of(area)).exists():
            put(path, campaign_text(places, found.fleet, found.service, found.time_scale, area, found.edge))
    put(
        places.stack_file,
        StackFile(
            pid=os.getpid(),
            address=found.address,
            namespace=found.namespace,
            ui=found.ui,
            service=found.service,
            control=found.control.url,
            archive=found.archive,
            tickets=str(places.tickets),
            campaign=str(places.campaign),
            time_scale=found.time_scale,
            edge=found.edge,
            authority=str(places.authority),
        ).model_dump_json(indent=2)
        + "\n",
    )
