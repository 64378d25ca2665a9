"""Plays single cases, and lets nothing that goes wrong with one pass for anything but a complaint."""

from __future__ import annotations

import asyncio
import shutil
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.temporal_server.embedded import embedded_temporal
from tests.harness.cases import Case, World
from tests.harness.verdict import Verdict


async def played(case: Case, world: World) -> Verdict:
    """The case's verdict. A case that fails to play, or that does not end in time, has a complaint."""
    began = time.monotonic()
    await asyncio.to_thread(world.folder.mkdir, parents=True, exist_ok=True)
    try:
        verdict = await asyncio.wait_for(case.play(world), case.within)
    except TimeoutError as late:
        verdict = _broken(case, f"did not end within {case.within:g} s ({late})")
    except Exception as error:
        kept = world.folder / "error.txt"
        await asyncio.to_thread(kept.write_text, traceback.format_exc())
        verdict = _broken(case, f"{type(error).__name__}: {error}"[:2000])
    return verdict.model_copy(update={"seconds": round(time.monotonic() - began, 2)})


def _broken(case: Case, why: str) -> Verdict:
    return Verdict(zone_schedules=case.zones, complaints=[f"{case.id}: {why}"])


async def alone(
    cases: Sequence[Case], keep: Path, told: Callable[[str, Verdict], None] = lambda identifier, verdict: None
) -> dict[str, Verdict]:
    """Each case's verdict, by its id; played one after the other on a server of this process.
    ``keep``: an absolute path; ``told``: is told of each as soon as it is there.
    """
    found: dict[str, Verdict] = {}
    async with embedded_temporal(None) as server:
        client = await connect(TemporalSettings(address=server.address), identity="harness")
        for case in cases:
            folder = keep / case.id.replace("/", "-")
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            found[case.id] = await played(case, World(client, server.address, folder))
            told(case.id, found[case.id])
    return found
