"""``edgeshift up``: the embedded stack that stays."""

from __future__ import annotations

import asyncio
import signal
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import AsJson, checked_folder
from edgeshift.cli.shell import Shell, current, person, run

if TYPE_CHECKING:
    from edgeshift.testbed.simulator.fleet_file import Fleet
    from edgeshift.testbed.stack import Stack

DEFAULT_ZONES = 120

LOGS = 0.5
"""The share of Enterprise zones of a generated fleet that have log jobs, so that log-fields has zones too."""

SERVED_WITHIN = 60.0
"""Seconds after which `up` goes on without having seen a worker."""


def up(
    folder: Annotated[Path, typer.Option(help="Where the stack keeps its state.")] = Path(".edgeshift"),
    fleet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The simulated fleet, a YAML or JSON file.")
    ] = None,
    zones: Annotated[
        int | None,
        typer.Option(
            min=60, max=100_000, help=f"Generate a fleet of so many zones ({DEFAULT_ZONES} if new)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of a generated fleet.")] = 1,
    time_scale: Annotated[
        float | None,
        typer.Option(
            min=1,
            max=1_000_000,
            help="Divides the campaign's and the service's durations; the folder remembers it.",
        ),
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option(metavar="MOMENT", help="The simulated service's present when the folder is new."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=16, help="How many worker processes.")] = 1,
    ui: Annotated[bool, typer.Option("--ui", help="Serve Temporal's web pages too, on loopback.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run Temporal, the simulated service and a worker until Ctrl-C.

    Their state is in the folder: started again, everything continues where it was, also a running campaign.
    """
    if fleet is not None and zones is not None:
        raise CommandError(
            "--fleet and --zones exclude each other",
            ExitCode.BAD_INPUT,
            hint="give --fleet for a fleet of your own, or --zones to generate one",
        )
    checked_folder("--folder", folder)
    run(_stay(current(), folder, fleet, zones, seed, time_scale, _moment(clock), workers, ui))


async def _stay(
    shell: Shell,
    folder: Path,
    fleet_file: Path | None,
    zones: int | None,
    seed: int,
    time_scale: float | None,
    clock: datetime | None,
    workers: int,
    ui: bool,
) -> None:
    from edgeshift.testbed.stack import stack

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    say = shell.notes.print
    fleet = _fleet(folder, fleet_file, zones, seed)
    async with stack(
        folder, fleet=fleet, time_scale=time_scale, clock=clock, workers=workers, ui=ui, say=say
    ) as running:
        say("waiting until a worker polls")
        await _present(shell, stop, running)
        await _until(stop, running)
        say("stopping: steps in flight finish; the rest continues at the next start")
    say("stopped")


async def _present(shell: Shell, stop: asyncio.Event, running: Stack) -> None:
    """Say where everything is once it can be used, or that it cannot yet."""
    from rich.text import Text

    from edgeshift.runtime.settings import TemporalSettings
    from edgeshift.runtime.temporal import connect
    from edgeshift.testbed.stack.serving import until_served

    client = await connect(TemporalSettings(address=running.address, namespace=running.namespace))
    served = await until_served(client, SERVED_WITHIN, stop.is_set)
    if shell.as_json:
        shell.print_json(_as_json(running))
    else:
        _introduce(shell, running)
    if not served and not stop.is_set():
        text = "no worker serves every task queue yet; campaigns wait until one does"
        warning = Text.assemble(("warning: ", "yellow"), f"{text} (logs: {running.places.logs})")
        shell.errors.print(warning, soft_wrap=True)


def _moment(text: str | None) -> datetime | None:
    from edgeshift.testbed.simulator.clock import parse_timestamp

    try:
        return None if text is None else parse_timestamp(text)
    except ValueError:
        raise CommandError(
            f"--clock {text} is not a moment", ExitCode.BAD_INPUT, hint="write it as 2023-10-01T00:00:00Z"
        ) from None


async def _until(stop: asyncio.Event, running: Stack) -> None:
    """Wait for Ctrl-C, or for the end of a part that cannot be started again. Raises StackError for the
    latter.
    """
    waiting = [asyncio.ensure_future(stop.wait()), asyncio.ensure_future(running.broken())]
    try:
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            one.result()
    finally:
        for one in waiting:
            one.cancel()


def _fleet(folder: Path, file: Path | None, zones: int | None, seed: int) -> Fleet | None:
    """The fleet that was asked for; a generated one for a folder that has none; else None."""
    from edgeshift.testbed.simulator.fleet_file import load_fleet
    from edgeshift.testbed.simulator.generate import generate_fleet
    from edgeshift.testbed.stack import StackPaths

    if file is not None:
        return load_fleet(file)
    if zones is not None or not StackPaths(folder).fleet.exists():
        return generate_fleet(zones or DEFAULT_ZONES, seed, logs=LOGS)
    return None


def _as_json(running: Stack) -> dict[str, object]:
    return {
        "address": running.address,
        "namespace": running.namespace,
        "ui": running.ui,
        "service": running.service,
        "zones": len(running.fleet.zones),
        "edge": running.edge,
        "control": running.control.url,
        "archive": running.archive,
        "tickets": str(running.places.tickets),
        "logs": str(running.places.logs),
        "campaign_file": str(running.campaign_file),
        "time_scale": running.time_scale,
        "environment": running.environment_of(person()),
    }


def _introduce(shell: Shell, running: Stack) -> None:
    from rich.text import Text

    from edgeshift.views.widths import Columns

    console = shell.console
    table = Columns("name", "value", headed=False)
    for name, value in (
        ("Temporal", f"{running.address}, namespace {running.namespace}"),
        ("Temporal's pages", running.ui or "not served (--ui serves them)"),
        ("service", f"{running.service} ({len(running.fleet.zones)} simulated zones)"),
        ("its edge", f"{running.edge} (the zones' traffic, by Host header)"),
        ("its control", running.control.url),
        ("archive", running.archive),
        ("tickets", str(running.places.tickets)),
        ("logs", str(running.places.logs)),
        ("time scale", f"{running.time_scale:g}" + (" (1 is real time)" if running.time_scale == 1 else "")),
    ):
        table.add(Text(name, style="bold"), value)
    console.print(table, soft_wrap=True)
    found_by_itself = running.places.folder.name == ".edgeshift"
    console.print("\nIt has a campaign file for each area; plan it, then start it:")
    for file in running.campaign_files:
        console.print(Text(f"  edgeshift plan {quote(str(file))}"), soft_wrap=True)
    console.print(
        Text(
            "Edge Side Code is gone after its removal date: for esc, set the service's clock back,\n"
            "by `edgeshift up --clock 2023-10-01T00:00:00Z` in a new folder."
        ),
        soft_wrap=True,
    )
    if found_by_itself:
        console.print(
            Text(
                f"In {running.places.folder.parent}, commands find the stack by themselves; elsewhere, first:"
            )
        )
    else:
        console.print("Before other commands:")
    for name, value in running.environment_of(person()).items():
        console.print(Text(f"  export {name}={quote(value)}"), soft_wrap=True)
    console.print("\nCtrl-C stops it. Started again, it continues where it was.")
