"""The exit codes of the command line. docs/cli.md lists them."""

from __future__ import annotations

from enum import IntEnum


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
    TIMEOUT = 8
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
    ExitCode.TIMEOUT: "it did not come about in time (`status --until`)",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C",
}
"""The meanings of the exit codes, for people."""
