"""Exit codes, and one line for every expected failure. docs/cli.md lists the codes."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from edgeshift.model.exit_codes import MEANINGS as MEANINGS
from edgeshift.model.exit_codes import ExitCode as ExitCode
from edgeshift.model.failures import FAILURES, Failure


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
    if isinstance(code := getattr(problem, "exit_code", None), ExitCode):
        return CommandError(str(problem), code)
    if (known := _expected(type(problem))) is not None:
        first, *rest = str(problem).splitlines() or [type(problem).__name__]
        return CommandError(first, known.exit, details=tuple(rest))
    if isinstance(problem, OSError) and not isinstance(problem, (ConnectionError, TimeoutError)):
        where = f"{problem.filename}: " if problem.filename else ""
        return CommandError(f"{where}{problem.strerror or problem}", ExitCode.FAILED)
    return None


def _expected(kind: type[BaseException]) -> Failure | None:
    """The failure that an error of edgeshift's or of the SDK's is; None for all others."""
    for base in kind.__mro__:
        ours = base.__module__.partition(".")[0] in ("edgeshift", "temporalio")
        if ours and base.__name__ in FAILURES:
            return FAILURES[base.__name__]
    return None


def show(console: Console, failure: CommandError) -> None:
    """Print a failure: one line that begins with ``error:``, and its details if it has any."""
    line = Text("error: ", style="bold red")
    line.append(failure.text, style="default")
    console.print(line, soft_wrap=True, highlight=False)
    for detail in failure.details:
        console.print(Text(detail), soft_wrap=True, highlight=False)
