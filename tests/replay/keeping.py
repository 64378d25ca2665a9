"""Keeping a history as a file, without what names this machine."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

from temporalio.client import WorkflowHandle

from edgeshift.messages import ZonePhase, ZoneState

HISTORIES = Path(__file__).parent / "histories"


async def keep(name: str, handle: WorkflowHandle[object, object]) -> None:
    """Write a history, without what names this machine."""
    history = await handle.fetch_history()
    document = json.loads(history.to_json())
    text = re.sub(r'"identity": ?"[^"]*"', '"identity":"x"', json.dumps(document, separators=(",", ":")))
    text = re.sub(r'"stackTrace":"(?:[^"\\]|\\.)*"', '"stackTrace":""', text)
    await asyncio.to_thread((HISTORIES / f"{name}.json").write_text, text + "\n")
    print(f"{name}: {len(history.events)} events")


def is_in(phase: ZonePhase, state: ZoneState) -> bool:
    """Whether the zone is in this phase."""
    return state.phase is phase
