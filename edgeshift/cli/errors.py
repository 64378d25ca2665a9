"""Exit codes, and one line for every expected failure. docs/cli.md lists the codes."""

from __future__ import annotations

import sys
from enum import IntEnum

from rich.console import Console
from rich.text import Text


class ExitCode(IntEnum):
    """What a verb's exit code says."""

    OK = 0
    FAILED = 1
    BAD_INPUT = 2
    TEMPORAL = 3
    SERVICE = 4
    NOTHING = 5
    REFUSED = 6
    ALARMS = 7
    INTERRUPTED = 130


MEANINGS: dict[ExitCode, str] = {
    ExitCode.OK: "done",
    ExitCode.FAILED: "failed, or a check or rule was violated",
    ExitCode.BAD_INPUT: "wrong usage, or a mistake in a file",
    ExitCode.TEMPORAL: "Temporal is not reachable, or no worker answers there",
    ExitCode.SERVICE: "the service is not reachable, or does not take the credential",
    ExitCode.NOTHING: "no such campaign or zone, or nothing waits",
    ExitCode.REFUSED: "refused: sign-off refused, already started, not confirmed, conflict",
    ExitCode.ALARMS: "something asks for a person (`alarms`)",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C",
}
"""The meanings of the exit codes, for people."""


class CommandError(Exception):
    """A verb's own failure: a text for people and the code to exit with. ``details``: further lines,
    shown as they are.
    """

    def __init__(self, text: str, code: ExitCode = ExitCode.FAILED, *, details: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.details = details


def said(problem: BaseException) -> CommandError | None:
    """The failure as a person should read it, or None for one that nobody expected."""
    if isinstance(problem, CommandError):
        return problem
    for find in (_of_campaign_file, _of_operations, _of_outside):
        if (found := find(problem)) is not None:
            return found
    return None


def show(console: Console, failure: CommandError) -> None:
    """Print a failure: one line that begins with ``error:``, and its details if it has any."""
    line = Text("error: ", style="bold red")
    line.append(failure.text, style="default")
    console.print(line, soft_wrap=True, highlight=False)
    for detail in failure.details:
        console.print(Text(detail), soft_wrap=True, highlight=False)


def _loaded(module: str, name: str) -> type[BaseException] | None:
    """The class of an error if its module was imported at all: only then can it have been raised."""
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def _is(problem: BaseException, module: str, name: str) -> bool:
    found = _loaded(module, name)
    return found is not None and isinstance(problem, found)


def _of_campaign_file(problem: BaseException) -> CommandError | None:
    if not _is(problem, "edgeshift.campaign_file.load", "CampaignFileError"):
        return None
    first, *rest = str(problem).splitlines()
    return CommandError(first, ExitCode.BAD_INPUT, details=tuple(rest))


def _of_operations(problem: BaseException) -> CommandError | None:
    codes = {
        "BadInput": ExitCode.BAD_INPUT,
        "NotFound": ExitCode.NOTHING,
        "Refused": ExitCode.REFUSED,
        "TemporalTrouble": ExitCode.TEMPORAL,
        "ServiceTrouble": ExitCode.SERVICE,
        "OperationError": ExitCode.FAILED,
    }
    for name, code in codes.items():
        if _is(problem, "edgeshift.operations.errors", name):
            return CommandError(str(problem), code)
    return None


def _of_outside(problem: BaseException) -> CommandError | None:
    known = (
        ("edgeshift.runtime.temporal", "TemporalError", ExitCode.TEMPORAL),
        ("temporalio.service", "RPCError", ExitCode.TEMPORAL),
        ("edgeshift.testbed.temporal_server.fetching", "BinaryError", ExitCode.FAILED),
        ("edgeshift.testbed.stack", "StackError", ExitCode.FAILED),
        ("edgeshift.runtime.settings", "SettingsError", ExitCode.BAD_INPUT),
        ("edgeshift.service_api.errors", "ServiceError", ExitCode.SERVICE),
        ("edgeshift.runtime.secret_refs", "SecretRefError", ExitCode.SERVICE),
        ("edgeshift.stores.archive", "ArchiveError", ExitCode.FAILED),
        ("edgeshift.testbed.simulator.fleet_file", "FleetFileError", ExitCode.BAD_INPUT),
    )
    for module, name, code in known:
        if _is(problem, module, name):
            first, *rest = str(problem).splitlines() or [type(problem).__name__]
            return CommandError(first, code, details=tuple(rest))
    if isinstance(problem, OSError) and not isinstance(problem, (ConnectionError, TimeoutError)):
        where = f"{problem.filename}: " if problem.filename else ""
        return CommandError(f"{where}{problem.strerror or problem}", ExitCode.FAILED)
    return None
