"""Failures as people and scripts read them, and their exit codes. docs/cli.md lists the codes."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from edgeshift.cli.streams import speaks_unicode
from edgeshift.model.exit_codes import ExitCode as ExitCode
from edgeshift.views.chosen import as_chosen

if TYPE_CHECKING:
    from rich.console import Console

    from edgeshift.model.failures import Failure

_HINTS: dict[ExitCode, str] = {
    ExitCode.FAILED: "`edgeshift doctor` checks Temporal, the worker and the archive",
    ExitCode.BAD_INPUT: "`edgeshift VERB --help` lists arguments and options",
    ExitCode.TEMPORAL: "`edgeshift doctor` checks Temporal and the worker",
    ExitCode.SERVICE: "`edgeshift doctor FILE` checks the service and each credential",
    ExitCode.NOTHING: "`edgeshift status` lists the campaigns",
    ExitCode.REFUSED: "`edgeshift status` shows where each campaign stands",
}
"""What to do where a failure itself says nothing better."""


class CommandError(Exception):
    """A verb's own failure: what failed, what to do (``hint``), and the code to exit with. ``details``:
    further lines, shown as they are.
    """

    def __init__(
        self,
        text: str,
        code: ExitCode = ExitCode.FAILED,
        *,
        hint: str = "",
        details: tuple[str, ...] = (),
    ) -> None:
        super().__init__(text)
        self.text = text
        self.code = code
        self.hint = hint or _HINTS.get(code, "")
        self.details = details

    def as_json(self) -> dict[str, object]:
        """The failure for scripts (docs/output.md)."""
        return {
            "code": self.code.name.lower(),
            "exit_code": int(self.code),
            "message": self.text,
            "details": list(self.details),
            "hint": as_chosen(self.hint),
        }


def bad_input(text: str, hint: str) -> CommandError:
    """What somebody typed, or a file that they named, is wrong: how, and what would be right."""
    return CommandError(text, ExitCode.BAD_INPUT, hint=hint)


def described(problem: BaseException) -> CommandError | None:
    """The failure as a person should read it, or None for one that nobody expected."""
    if isinstance(problem, CommandError):
        return problem
    hint = getattr(problem, "hint", "")
    if isinstance(code := getattr(problem, "exit_code", None), ExitCode):
        details = getattr(problem, "details", ())
        return CommandError(getattr(problem, "text", str(problem)), code, hint=hint, details=details)
    if (known := _expected(type(problem))) is not None:
        from edgeshift.model.failures import hint_of

        kind, failure = known
        first, *rest = getattr(problem, "text", str(problem)).splitlines() or [kind]
        return CommandError(first, failure.exit, hint=hint or hint_of(kind), details=tuple(rest))
    if isinstance(problem, OSError) and not isinstance(problem, (ConnectionError, TimeoutError)):
        where = f"{problem.filename}: " if problem.filename else ""
        return CommandError(
            f"{where}{problem.strerror or problem}",
            ExitCode.FAILED,
            hint="check the path, its permissions and the free space",
        )
    return None


def _expected(kind: type[BaseException]) -> tuple[str, Failure] | None:
    """The failure that an error of edgeshift's or of the SDK's is, with its kind; None for all others."""
    from edgeshift.model.failures import FAILURES

    for base in kind.__mro__:
        ours = base.__module__.partition(".")[0] in ("edgeshift", "temporalio")
        if ours and base.__name__ in FAILURES:
            return base.__name__, FAILURES[base.__name__]
    return None


def show(console: Console, failure: CommandError, *, as_json: bool = False) -> None:
    """Print a failure on stderr: ``error:`` and what failed, its details if it has any, a blank line, and
    ``hint:`` with what to do. As JSON it is one line, so that a script finds it after lines of progress.
    """
    from edgeshift.runtime.safe_text import json_text

    if as_json:
        ascii_only = not speaks_unicode(sys.stderr)
        sys.stderr.write(json_text(json.dumps(failure.as_json(), ensure_ascii=ascii_only)) + "\n")
        return
    from rich.text import Text

    line = Text("error: ", style="bold red")
    line.append(failure.text, style="default")
    console.print(line, soft_wrap=True, highlight=False)
    for detail in failure.details:
        console.print(Text(detail), soft_wrap=True, highlight=False)
    if failure.hint:
        hint = Text("\nhint: ", style="bold").append(as_chosen(failure.hint), style="not bold")
        console.print(hint, soft_wrap=True, highlight=False)
