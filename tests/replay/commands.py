"""The commands of each committed history, as a fingerprint of what the workflows do: ``python -m
tests.replay.commands`` writes it to commands.json.

A replay finds out that today's code leaves an old history. It does not find out that somebody captured the
histories anew, which makes every replay pass and every workflow that waits somewhere fail. So what the
histories hold is committed twice, and a change of it has to be said twice.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.replay.keeping import HISTORIES

COMMANDS = Path(__file__).parent / "commands.json"

Event = Mapping[str, Any]


def commands_of(document: Mapping[str, Any]) -> list[str]:
    """What the workflow asked the engine for, in order; equal commands in a row are counted."""
    found: list[tuple[str, int]] = []
    for event in document["events"]:
        if command := _command(event):
            if found and found[-1][0] == command:
                found[-1] = (command, found[-1][1] + 1)
            else:
                found.append((command, 1))
    return [command if number == 1 else f"{command} x{number}" for command, number in found]


def _command(event: Event) -> str:
    kind = str(event["eventType"]).removeprefix("EVENT_TYPE_")
    match kind:
        case "ACTIVITY_TASK_SCHEDULED":
            named = event["activityTaskScheduledEventAttributes"]["activityType"]["name"]
            return f"activity {named}"
        case "MARKER_RECORDED":
            return _marker(event["markerRecordedEventAttributes"])
        case "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES":
            given = event["upsertWorkflowSearchAttributesEventAttributes"]["searchAttributes"]
            return f"search attributes {', '.join(sorted(given['indexedFields']))}"
        case "TIMER_STARTED":
            return "timer"
        case "TIMER_CANCELED":
            return "timer cancelled"
        case "WORKFLOW_EXECUTION_COMPLETED" | "WORKFLOW_EXECUTION_CONTINUED_AS_NEW":
            return kind.removeprefix("WORKFLOW_EXECUTION_").replace("_", " ").lower()
        case "WORKFLOW_EXECUTION_FAILED" | "WORKFLOW_EXECUTION_CANCELED":
            return kind.removeprefix("WORKFLOW_EXECUTION_").lower()
        case "ACTIVITY_TASK_CANCEL_REQUESTED":
            return "activity cancelled"
        case _:
            return ""


def patch_of(event: Event) -> str:
    """The name of the patch that an event is the marker of; empty where it is none."""
    given = event.get("markerRecordedEventAttributes", {})
    if given.get("markerName") != "core_patch":
        return ""
    (payload,) = given["details"]["patch-data"]["payloads"]
    name: str = json.loads(base64.b64decode(payload["data"]))["id"]
    return name


def _marker(given: Mapping[str, Any]) -> str:
    """A local activity, or a patch, by its name."""
    details = {
        name: base64.b64decode(payload.get("data", "")).decode()
        for name, value in given.get("details", {}).items()
        for payload in value["payloads"]
    }
    if given["markerName"] == "core_local_activity":
        return f"local {json.loads(details['data'])['activity_type']}"
    return f"{given['markerName']} {details.get('patch-data', '')}".strip()


def found() -> dict[str, list[str]]:
    """The commands of every committed history, by its name."""
    return {path.stem: commands_of(json.loads(path.read_text())) for path in sorted(HISTORIES.glob("*.json"))}


if __name__ == "__main__":
    COMMANDS.write_text(json.dumps(found(), indent=1) + "\n")
    print(f"{len(found())} histories -> {COMMANDS.name}")
