"""Where what `plan` and `start` read is kept, how far the reading of every zone is while they wait, and why
something of it is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from temporalio.client import Client

    from edgeshift.cli.shell import Shell
    from edgeshift.messages import AssessmentProgress
    from edgeshift.operations.campaigns import Progress as Heard
    from edgeshift.stores.archive import Archive


async def archive_to_begin(shell: Shell, client: Client) -> Archive:
    """The archive, which is made where it is not there and no worker has another one. Raises Refused where
    the workers have.
    """
    from edgeshift import operations

    with shell.waiting("looking whether the workers have this archive"):
        await operations.check_workers(client, shell.archive())
    return shell.archive(make=True)


@contextmanager
def reading_shown(shell: Shell) -> Iterator[Heard]:
    """What hears of the progress, and shows it: as a bar on a terminal, elsewhere as a line each tenth, so
    that a log stays readable.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=shell.notes,
        transient=True,
        disable=not shell.notes.is_terminal,
    )
    said = -1

    def heard(found: AssessmentProgress) -> None:
        nonlocal said
        if bar.disable and found.count:
            tenth = found.done * 10 // found.count
            if tenth > said:
                said = tenth
                shell.notes.print(f"read {found.done} of {found.count} zones", soft_wrap=True)
            return
        bar.update(task, description="reading zones", completed=found.done, total=found.count or None)

    with bar:
        task = bar.add_task("finding zones", total=None)
        yield heard


def said_once(shell: Shell) -> Callable[[str], None]:
    """Something that says on stderr why a thing is being tried again, each reason once."""
    heard: set[str] = set()

    def say(reason: str) -> None:
        # The ray names one request; without it the same failure reads the same.
        key = reason.partition("cf-ray")[0]
        if key not in heard:
            heard.add(key)
            shell.notes.print(f"trying again: {reason}", markup=False, soft_wrap=True)

    return say
