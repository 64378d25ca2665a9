"""`edgeshift simulator`: serve a fleet as the service does, until it is told to stop."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from pydantic import ValidationError

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import AsJson
from edgeshift.cli.shell import current
from edgeshift.profiles import UnknownProfile, profile_named
from edgeshift.testbed.simulator.clock import parse_timestamp
from edgeshift.testbed.simulator.database import DataFolderError
from edgeshift.testbed.simulator.fleet_file import Fleet, load_fleet
from edgeshift.testbed.simulator.options import STRICT, SimulatorOptions
from edgeshift.testbed.simulator.server import ListenError, running

_OPTIONS = "docs/simulator.md describes the file"


def simulator(
    fleet: Annotated[Path, typer.Option(help="The fleet file; `edgeshift fleet generate` makes one.")],
    data: Annotated[Path, typer.Option(help="The folder for its state; what is there goes on.")],
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where to listen; port 0 takes a free one.")
    ] = "127.0.0.1:8780",
    edge_port: Annotated[
        int, typer.Option(min=0, max=65535, help="The edge's port, on the same host; 0 takes a free one.")
    ] = 0,
    clock: Annotated[
        str | None,
        typer.Option(metavar="MOMENT", help="The present when the folder is new: 2023-10-01T00:00:00Z."),
    ] = None,
    time_scale: Annotated[
        float | None, typer.Option(min=0.001, help="Divides the service's durations.")
    ] = None,
    migration_seconds: Annotated[
        float | None, typer.Option(min=0, help="From an accepted migration to its effect.")
    ] = None,
    visibility_seconds: Annotated[
        float | None, typer.Option(min=0, help="From an effect to the reads that show it.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse too much in a body, which the service lets through.")
    ] = False,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which known state of the service it is.")
    ] = None,
    options: Annotated[
        Path | None, typer.Option(help="A JSON file with further options; see docs/simulator.md.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the simulated service: a real HTTP server over a fleet, its state in a folder.

    The service is at /client/v4, its control API (this machine only) at /_simulator. The edge, which serves
    the zones' traffic by Host header, has a port of its own. It runs until Ctrl-C or SIGTERM, and after any
    end, SIGKILL too, goes on where it was when started with the same folder.
    """
    host, port = _address(listen)
    chosen = _options(options)
    for name, value in (
        ("time_scale", time_scale),
        ("migration_seconds", migration_seconds),
        ("visibility_seconds", visibility_seconds),
        ("clock", _moment(clock)),
        ("bodies", STRICT if strict else None),
        ("profile", _profile(profile)),
    ):
        if value is not None:
            chosen = chosen.model_copy(update={name: value})
    try:
        loaded = load_fleet(fleet)
        asyncio.run(_serve(loaded, data, host, port, edge_port, chosen))
    except DataFolderError as problem:
        _refuse(str(problem), "give another --data folder")
    except ListenError as problem:
        _refuse(str(problem), "give another --listen or --edge-port, or end what listens there")


async def _serve(
    fleet: Fleet, data: Path, host: str, port: int, edge_port: int, options: SimulatorOptions
) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with running(fleet, data, host=host, port=port, edge_port=edge_port, options=options) as server:
        scale = server.state.clock.time_scale
        document = {
            "service": server.base_url,
            "control": server.control_url,
            "edge": server.edge_url,
            "zones": len(fleet.zones),
            "time_scale": scale,
            "profile": str(server.state.options.facts),
        }
        current().answer(
            document,
            f"{len(fleet.zones)} zones at {server.base_url}, control at {server.control_url},"
            f" time scale {scale:g}",
            f"the service is that of the profile {server.state.options.facts}",
            f"their traffic, by Host header, at {server.edge_url}",
        )
        sys.stdout.flush()
        await stopped.wait()


def _address(listen: str) -> tuple[str, int]:
    host, colon, port = listen.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        _refuse(f"--listen {listen} is not an address", "write it as HOST:PORT, such as 127.0.0.1:8780")
    return host.strip("[]"), int(port)


def _moment(text: str | None) -> datetime | None:
    try:
        return None if text is None else parse_timestamp(text)
    except ValueError:
        _refuse(f"--clock {text} is not a moment", "write it as 2023-10-01T00:00:00Z")


def _profile(name: str | None) -> str | None:
    try:
        return None if name is None else profile_named(name).name
    except UnknownProfile as problem:
        _refuse(f"--profile: {problem}", "docs/service.md says what each of them is")


def _options(path: Path | None) -> SimulatorOptions:
    if path is None:
        return SimulatorOptions()
    try:
        return SimulatorOptions.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as problem:
        _refuse(f"--options {path} cannot be read: {problem.strerror}", _OPTIONS)
    except ValidationError as problem:
        told = [
            f"{path}: {'.'.join(map(str, one['loc'])) or 'options'}: {one['msg']}"
            for one in problem.errors(include_url=False, include_input=False)[:5]
        ]
        _refuse("\n".join(told), _OPTIONS)
    except ValueError as problem:
        _refuse(f"--options {path} is not JSON: {problem}", _OPTIONS)


def _refuse(text: str, hint: str) -> NoReturn:
    first, *rest = text.splitlines()
    raise CommandError(first, ExitCode.BAD_INPUT, hint=hint, details=tuple(rest))
