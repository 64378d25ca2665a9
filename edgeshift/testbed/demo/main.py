"""``edgeshift demo`` from beginning to end: the stack, the course, the report, the verdict."""

from __future__ import annotations

import asyncio
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.text import Text

from edgeshift.authority.loading import load_roots
from edgeshift.model.fleet import named_for
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.stores.archive import Archive
from edgeshift.testbed.demo.course import Teller, play
from edgeshift.testbed.demo.part import Part
from edgeshift.testbed.demo.scenario import TIME_SCALE, Scenario
from edgeshift.testbed.demo.show import (
    missing_outcomes,
    outcome_table,
    print_violations,
    result,
    rule_table,
    write_result,
)
from edgeshift.testbed.demo.verdict import gather, judge
from edgeshift.testbed.stack import Stack, StackError, stack
from edgeshift.testbed.stack.serving import SERVED_WITHIN, until_served
from edgeshift.testbed.temporal_server.binaries import temporal_cli
from edgeshift.views.console import SafeConsole
from edgeshift.views.report_file import write_report

STATE = "demo-state"
"""The folder, below ``out``, in which the demo's stack keeps its state."""

TICKETS = "demo-tickets"
"""The folder, below ``out``, of the demo's tickets."""


async def run_demo(
    console: Console, part: Part, *, zones: int | None, seed: int, out: Path, keep: bool, ui: bool = False
) -> bool:
    """Run an area's demo; whether every rule held and every outcome was seen.

    Writes its result and its report into ``out``. Raises StackError where the stack cannot run. The state is
    kept where that was asked for, and where the demo fails: errors name its logs.
    """
    _end_as_by_ctrl_c()
    console = SafeConsole(no_color=console.no_color, stderr=console.stderr, quiet=console.quiet, record=True)
    zones = zones or part.zones
    title = named_for(part.area, "edgeshift demo", joint=" ")
    what = f": {zones} simulated zones, seed {seed}, time scale {TIME_SCALE:,.0f} (4 hours a second)"
    console.print(Text.assemble((title, "bold"), what))
    teller = Teller(console)
    await asyncio.to_thread(temporal_cli, progress=teller.say)
    began = time.monotonic()
    folder = out / STATE
    _begin_anew(folder)
    # The report names them, so that they outlive the stack.
    tickets = out / TICKETS
    _remove(tickets)
    arranged = part.arrange(zones, seed)
    try:
        async with stack(
            folder,
            fleet=arranged.fleet,
            time_scale=TIME_SCALE,
            clock=part.clock,
            ui=ui,
            say=teller.say,
            tickets=tickets,
        ) as running:
            held = await _run(console, teller, running, part, arranged, out, began)
            if keep:
                teller.say(f"the state is kept: edgeshift up --folder {folder} shows it")
    except BaseException as ends:
        # No report names them.
        _remove(tickets)
        # Being stopped is no failure, and before there is a fleet nothing is logged.
        keep = keep or (isinstance(ends, Exception) and _is_demos(folder))
        raise
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    if not any(tickets.iterdir()):
        tickets.rmdir()
    return held


async def _run(
    console: Console,
    teller: Teller,
    running: Stack,
    part: Part,
    arranged: Scenario,
    out: Path,
    began: float,
) -> bool:
    await running.control.send("PUT", "options", part.options())
    for method, path, body in arranged.calls:
        await running.control.send(method, path, body)
    for fault in arranged.faults:
        await running.control.send("POST", "faults", fault)
    settings = TemporalSettings(address=running.address, namespace=running.namespace)
    client = await connect(settings, identity="demo")
    archive = Archive(running.archive)
    specs = part.specs(arranged, running)
    edge = f"; the edge of all zones at {running.edge}, by Host header" if part.edge else ""
    pages = f", its pages at {running.ui}" if running.ui else ""
    teller.say(f"Temporal at {running.address}{pages}; faults are on: {len(arranged.faults)}{edge}")
    if not await until_served(client):
        raise StackError(
            f"no worker came within {SERVED_WITHIN:g} s", f"see the logs in {running.places.logs}"
        )
    played = await play(running, client, archive, part, arranged, specs, console=console, teller=teller)
    report = out / f"{specs[0].name}-report.html"
    await write_report(client, archive, specs[0].name, report, roots=load_roots(running.keyring.roots))
    teller.say("checking rules 1 to 12, each by its checker")
    terminal = running.places.logs / "terminal.txt"
    terminal.write_text(console.export_text(clear=False))
    evidence = await gather(running, client, part, played, specs, [report, terminal])
    checks = judge(evidence)
    found = result(evidence, part.shows, checks, time.monotonic() - began, TIME_SCALE)
    for name in (part.result, *part.also):
        write_result(out / name, found)
    for table in (outcome_table(found["outcomes"]), rule_table(checks)):
        console.print()
        console.print(table)
    print_violations(console, checks, part.result)
    missing = missing_outcomes(found["outcomes"], part.shows)
    if missing:
        console.print(
            Text(f"no zone ended as {', '.join(missing)}: the demo did not show all it should", "red")
        )
    console.print()
    console.print(Text(f"report    {report}"), soft_wrap=True)
    console.print(Text(f"result    {out / part.result}"), soft_wrap=True)
    console.print(Text(f"took      {found['seconds']:.0f} s, {found['calls']:,} calls of the service"))
    return not missing and not any(check.violations for check in checks)


def _remove(tickets: Path) -> None:
    """Remove what tickets there are, and their folder unless there is something else in it."""
    for ticket in tickets.glob("*.md"):
        ticket.unlink()
    with suppress(OSError):
        tickets.rmdir()


def _is_demos(folder: Path) -> bool:
    """Whether it is the state of a demo's stack."""
    return (folder / "fleet.json").exists()


def _begin_anew(folder: Path) -> None:
    """Remove what an earlier demo left. Raises StackError where the folder is something else."""
    if not folder.exists():
        return
    if not _is_demos(folder) and any(folder.iterdir()):
        raise StackError(f"{folder} is not an earlier demo's", "move it away, or name another --out")
    shutil.rmtree(folder)


def _end_as_by_ctrl_c() -> None:
    """Let SIGTERM clean up as Ctrl-C does."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
