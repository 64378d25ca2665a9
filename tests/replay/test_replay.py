"""Workflows that wait for weeks must go on under today's code: committed histories replay, offline."""

from __future__ import annotations

import ast
import base64
import copy
import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from edgeshift.messages import ZonePhase
from tests.replay.commands import COMMANDS, found, patch_of
from worker.wiring import replayer

HISTORIES = Path(__file__).parent / "histories"
WORKFLOW_FILES = sorted((Path(__file__).parents[2] / "workflows").rglob("*.py"))
OF_TARGETS = [
    name for name in sorted(path.stem for path in HISTORIES.glob("*.json")) if "campaign" not in name
]
"""Histories without those of campaigns: words to a campaign name its first run, which has to stay."""

UNMARKED = [
    name
    for name in OF_TARGETS
    if not any(map(patch_of, json.loads((HISTORIES / f"{name}.json").read_text())["events"]))
]
"""Those of which no marker says that a version which marks resets has made them."""

WAITING = {
    "zone": (
        ZonePhase.AWAITING_VALIDATION,
        ZonePhase.VALIDATING,
        ZonePhase.AWAITING_SIGN_OFF,
        ZonePhase.AWAITING_PERMIT,
        ZonePhase.NEEDS_SUPPORT,
        ZonePhase.WAITING_FOR_SERVICE,
    ),
    "esc": (
        ZonePhase.AWAITING_FIRST_PERMIT,
        ZonePhase.AWAITING_SIGN_OFF,
        ZonePhase.AWAITING_PERMIT,
        ZonePhase.WATCHING,
        ZonePhase.WAITING_FOR_SERVICE,
    ),
    "log-fields": (
        ZonePhase.AWAITING_SIGN_OFF,
        ZonePhase.AWAITING_PERMIT,
        ZonePhase.WATCHING,
        ZonePhase.WAITING_FOR_SERVICE,
    ),
}
"""In which phases a target of each area may wait for weeks; ``zone`` is one of the area waf."""

WAIT_TOO = (
    "account-awaiting_sign_off",
    "hold-held",
    "zone-reset-to-its-beginning-awaiting_sign_off",
    "zone-reset-midway-awaiting_sign_off",
    "esc-reset-gives-its-permit-back",
    "zone-gone-on-awaiting_sign_off",
    "esc-gone-on-awaiting_sign_off",
    "log-fields-gone-on-awaiting_sign_off",
)
"""An account, a zone that is held with it, and what waits in a later run: reset, or continued as new."""

OTHERS = (
    "campaign-running",
    "campaign-paused",
    "campaign-halted",
    "campaign-held",
    "campaign-shared-begun",
    "campaign-shared-left",
    "assessment-assessing",
    "quota",
)
"""What waits beside zones and accounts: campaigns, a plan's assessment, a user's quota."""

PLANNED = (
    "planned-professional-awaiting_sign_off",
    "planned-professional-migrated",
    "planned-enterprise-validating",
    "planned-enterprise-awaiting_sign_off",
    "planned-enterprise-migrated",
    "planned-esc-awaiting_sign_off",
    "planned-esc-settled",
    "planned-log-fields-awaiting_sign_off",
    "planned-log-fields-settled",
    "told-professional-awaiting_sign_off",
    "told-professional-migrated",
    "told-log-fields-awaiting_sign_off",
    "told-log-fields-settled",
)
"""Zones that began with what a plan has read, as those of most campaigns do; ``told``: of which whoever
started them told the campaign that they wait.
"""


@workflow.defn(name="WafZone", sandboxed=False)
class Other:
    """A workflow of the same name that does something else."""

    @workflow.run
    async def run(self, start: dict[str, object]) -> None:
        """Sleep, where the real one reads the zone."""
        await workflow.sleep(1)


def history(path: Path) -> WorkflowHistory:
    """A committed history; its workflow id is in its first event. The replayer takes the run that wrote this
    event for the run itself, which it is not in one that was reset.
    """
    document = json.loads(path.read_text())
    started = document["events"][0]["workflowExecutionStartedEventAttributes"]
    for event in document["events"]:
        if reset := event.get("workflowTaskFailedEventAttributes", {}).get("newRunId"):
            started["originalExecutionRunId"] = reset
    return WorkflowHistory.from_json(started["workflowId"], document)


def reset_at(read: dict[str, Any], place: int) -> dict[str, Any]:
    """A history as it is where an operator has reset its workflow to the task that completes at ``place``,
    and it took the same course again.
    """
    events = copy.deepcopy(read["events"])
    number = int(events[place]["eventId"])
    # What the workflow is told meanwhile lies between the two.
    task = int(events[place]["workflowTaskCompletedEventAttributes"]["scheduledEventId"])
    scheduled, started = copy.deepcopy([events[task - 1], events[place - 1]])
    for event in events[place:]:
        event["eventId"] = str(int(event["eventId"]) + 3)
        for value in event.values():
            for key in [key for key in value if key.endswith("EventId")] if isinstance(value, dict) else ():
                # What points to the task points to the one that was made again.
                to = int(value[key])
                value[key] = str(number + 1 if to == task else to + 3 if to >= number - 1 else to)
    scheduled["eventId"], started["eventId"] = str(number + 1), str(number + 2)
    started["workflowTaskStartedEventAttributes"]["scheduledEventId"] = str(number + 1)
    failed = {
        "eventId": str(number),
        "eventTime": started["eventTime"],
        "eventType": "EVENT_TYPE_WORKFLOW_TASK_FAILED",
        "workflowTaskFailedEventAttributes": {
            "scheduledEventId": str(task),
            "startedEventId": str(number - 1),
            "cause": "WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW",
            "baseRunId": str(uuid.UUID(int=1)),
            "newRunId": str(uuid.UUID(int=2)),
        },
    }
    first = events[0]["workflowExecutionStartedEventAttributes"]
    first["firstExecutionRunId"] = str(uuid.UUID(int=0))
    return {"events": [*events[:place], failed, scheduled, started, *events[place:]]}


LEFT = """\
The history {name} does not replay with this code: {why}

A workflow of the released version that stands where this history stands would fail each task, and do nothing
more, until somebody repairs it. Once before, a change of one await in the campaign's loop did that to every
campaign that was paused.

What to do:
- The change of commands is not meant: find it. The commands of the history are in tests/replay/commands.json.
- It is meant: put the new course behind `if workflow.patched("what-is-new"):` and keep the old one beside it.
  The histories stay as they are; capture one of the new course under a name of its own.
- Nothing of the old course is open anywhere (before the first release, or after all have closed): capture the
  histories anew (`python -m tests.replay.capture`), then write their commands (`python -m
  tests.replay.commands`).
"""

ANEW = """\
The commands of {name} are others than tests/replay/commands.json says: the history was captured anew, or the
file was forgotten.

The replays pass with such histories whatever the code does, and workflows that are open under the version
before may not. Restore the old history (`git checkout HEAD -- tests/replay/histories/{name}.json`), see that
it replays, and put what is new behind `workflow.patched`. Where nothing of the old course is open anywhere:
`python -m tests.replay.commands`.

Were: {were}
Are:  {are}
"""


@pytest.mark.parametrize("path", sorted(HISTORIES.glob("*.json")), ids=lambda path: path.stem)
async def test_a_committed_history_replays(path: Path) -> None:
    """No history that may be waiting somewhere meets a different course of events."""
    result = await replayer().replay_workflow(history(path), raise_on_replay_failure=False)
    if result.replay_failure is not None:
        pytest.fail(LEFT.format(name=path.stem, why=str(result.replay_failure)[:600]))


@pytest.mark.parametrize("name", OF_TARGETS)
async def test_a_committed_history_replays_as_the_beginning_of_a_run_that_was_reset(name: str) -> None:
    """An operator's reset has a new run do again what an earlier one did: whoever asks for something because
    the run is not the first one asks for it from the reset on, and not while it does that again.
    """
    read = history(HISTORIES / f"{name}.json").to_json_dict()
    started = read["events"][0]["workflowExecutionStartedEventAttributes"]
    started["firstExecutionRunId"] = str(uuid.UUID(int=0))
    reset = WorkflowHistory.from_json(started["workflowId"], read)
    result = await replayer().replay_workflow(reset, raise_on_replay_failure=False)
    if result.replay_failure is not None:
        pytest.fail(LEFT.format(name=name, why=str(result.replay_failure)[:600]))


@pytest.mark.parametrize("name", UNMARKED)
async def test_a_committed_history_replays_wherever_it_was_reset(name: str) -> None:
    """A workflow that was reset before an upgrade goes on after it: what the new version asks for once there
    was a reset is not asked of a course that did not have it.
    """
    read = history(HISTORIES / f"{name}.json").to_json_dict()
    tasks = [
        place
        for place, event in enumerate(read["events"])
        if event["eventType"] == "EVENT_TYPE_WORKFLOW_TASK_COMPLETED"
    ]
    for place in tasks:
        reset = reset_at(read, place)
        identifier = reset["events"][0]["workflowExecutionStartedEventAttributes"]["workflowId"]
        result = await replayer().replay_workflow(
            WorkflowHistory.from_json(identifier, reset), raise_on_replay_failure=False
        )
        if result.replay_failure is not None:
            event = read["events"][place]["eventId"]
            pytest.fail(
                LEFT.format(name=f"{name}, reset at event {event},", why=str(result.replay_failure)[:600])
            )


def test_no_history_was_captured_anew_by_the_way() -> None:
    """What the histories ask the engine for is committed twice."""
    committed, now = json.loads(COMMANDS.read_text()), found()
    for name in sorted({*committed, *now}):
        were, are = committed.get(name, "not there"), now.get(name, "not there")
        if were != are:
            pytest.fail(ANEW.format(name=name, were=were, are=are))


def asked_patches() -> set[str]:
    """What the workflows call their patches, as patterns: a name may have a number in it."""
    asked = set()
    for path in WORKFLOW_FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "workflow.patched":
                asked.add(_pattern(node.args[0]))
    return asked


def _pattern(named: ast.expr) -> str:
    parts = named.values if isinstance(named, ast.JoinedStr) else [named]
    return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"\d+" for part in parts)


def kept_patches() -> set[str]:
    """The names of the patches of which a committed history has the marker."""
    read = (json.loads(path.read_text()) for path in HISTORIES.glob("*.json"))
    return {patch for one in read for event in one["events"] if (patch := patch_of(event))}


def test_no_history_has_a_patch_that_the_workflows_do_not_ask_for() -> None:
    """A patch may be deleted once no history of before it is kept; then its marker would not replay."""
    asked = asked_patches()
    assert {name for name in kept_patches() if not any(re.fullmatch(one, name) for one in asked)} == set()


def test_every_patch_has_a_history_with_its_marker() -> None:
    """Also those that only a run asks for which was reset: a command behind them is replayed."""
    kept = kept_patches()
    assert {one for one in asked_patches() if not any(re.fullmatch(one, name) for name in kept)} == set()


def test_every_state_that_waits_has_a_history() -> None:
    """A zone can wait for weeks in each of these, so each is replayed."""
    names = {path.stem for path in HISTORIES.glob("*.json")}
    states = {f"{area}-{phase.value}" for area, phases in WAITING.items() for phase in phases}
    assert {*states, *WAIT_TOO, *OTHERS} <= names


@pytest.mark.parametrize("name", PLANNED)
def test_a_zone_that_began_with_a_plans_reading_has_a_history(name: str) -> None:
    """Its first command is another one than that of a zone that reads by itself."""
    events = json.loads((HISTORIES / f"{name}.json").read_text())["events"]
    (given,) = events[0]["workflowExecutionStartedEventAttributes"]["input"]["payloads"]
    planned = json.loads(base64.b64decode(given["data"]))["planned"]
    assert ("told" in planned) is name.startswith("told-")


async def test_a_changed_course_does_not_replay() -> None:
    """The replay is able to fail: a workflow of the same name that does something else is found out."""

    replayer = Replayer(workflows=[Other], data_converter=pydantic_data_converter)
    with pytest.raises(workflow.NondeterminismError):
        await replayer.replay_workflow(history(HISTORIES / "zone-migrated-professional.json"))


def test_the_decisions_have_a_line_on_every_patch() -> None:
    """On those that the workflows ask for, and on no others: rows of two tables, of three columns."""
    decisions = Path("docs/decisions.md").read_text(encoding="utf-8")
    part = decisions.partition("**The patches.**")[2].partition("\n**")[0]
    told = re.findall(r"^\| `([^`]+)`", part, re.MULTILINE)
    assert {re.escape(name).replace("N", r"\d+") for name in told} == asked_patches()
