"""How long a person waits for the command line itself: its help, and the list of campaigns."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from temporalio.client import Client

ROUNDS = 7

CALLS: dict[str, tuple[tuple[str, ...], float]] = {
    "edgeshift --help": (("--help",), 0.3),
    "edgeshift status": (("status",), 0.8),
    "edgeshift plan FILE, with a mistake in it": (("plan", "mistake.yaml"), 0.8),
}
"""What is called, and within how many seconds it should answer on an idle machine."""


async def measure(console: Console, client: Client, folder: Path) -> dict[str, Any]:
    """Call each some times, each time as a process of its own; seconds by the clock and of the processor."""
    (folder / "mistake.yaml").write_text("name: a\ntargets: {all: true}\nwindw: 1\n")
    address = client.service_client.config.target_host
    found: dict[str, Any] = {"load": os.getloadavg()[0], "rounds": ROUNDS, "calls": {}}
    for name, (arguments, goal) in CALLS.items():
        command = [sys.executable, "-m", "edgeshift.cli.entry", *arguments, "--address", address]
        # The first one compiles what was not compiled yet.
        await _timed(command, folder)
        took = [await _timed(command, folder) for _ in range(ROUNDS)]
        found["calls"][name] = judged(goal, took)
    return found


def judged(goal: float, took: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """The figures of a call, and whether half of its rounds kept to the goal: which they are held to on an
    idle machine, so that no test asks for it.
    """
    median = statistics.median(seconds for seconds, _ in took)
    return {
        "goal": goal,
        "least": min(seconds for seconds, _ in took),
        "median": median,
        "cpu": min(cpu for _, cpu in took),
        "met": median <= goal,
    }


async def _timed(command: list[str], folder: Path) -> tuple[float, float]:
    surroundings = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before, began = os.times(), time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**surroundings, "PYTHONPATH": str(Path.cwd())},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    await process.wait()
    seconds, after = time.perf_counter() - began, os.times()
    user = after.children_user - before.children_user
    return seconds, user + after.children_system - before.children_system


def tell(console: Console, found: dict[str, Any]) -> None:
    """Print the figures beside the goals."""
    table = Table("call", "goal, s", "least, s", "median, s", "processor, s", "goal met")
    for name, figures in found["calls"].items():
        values = (figures[key] for key in ("goal", "least", "median", "cpu"))
        table.add_row(name, *(f"{value:.2f}" for value in values), "yes" if figures["met"] else "no")
    console.print(table)
    console.print(f"{found['rounds']} calls each; the machine's load was {found['load']:.1f} at the begin")
