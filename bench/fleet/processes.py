"""Processes of one user that call as fast as they are let: how much of the limit they use together."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bench import pace


class Processes(BaseModel):
    """What is measured. ``processes``: callers, each a process with leases of its own, ``at_once`` calls at a
    time each. ``seconds``: real ones, for which they call.
    """

    name: str
    processes: int = 1
    seconds: float = 120.0
    at_once: int = 20


async def measured_processes(part: Processes) -> dict[str, Any]:
    """``over``: calls in the fullest window beyond those that are allowed; ``refused``: what callers saw of
    the limit; ``done``: the calls of the process with the fewest, and with the most.
    """
    found = await pace.measured(part.processes, part.seconds, part.at_once)
    said = found.pop("said")
    done = sorted(one["done"] for one in said)
    return {
        "asked": part.model_dump(),
        **found,
        "over": max(0, found["fullest_window"] - found["of"]),
        "refused": sum(one["refused"] for one in said),
        "done": [done[0], done[-1]],
    }
