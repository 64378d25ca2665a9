"""``edgeshift repair``: reset a workflow whose history does not replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from edgeshift.cli.shell import Shell, current, person, run

if TYPE_CHECKING:
    from temporalio.client import WorkflowHistory


def repair(
    workflow: Annotated[
        str, typer.Argument(help="The workflow's identifier, as `alarms` says it.", show_default=False)
    ],
    reason: Annotated[str, typer.Option(help="Why; it is kept.", show_default=False)],
    by: Annotated[
        str, typer.Option(help="Who asks. Default: EDGESHIFT_USER or your login.", show_default=False)
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
) -> None:
    """Reset a workflow that does not replay to the last place from which it does.

    Run it with the version of edgeshift that the workers have.
    """
    run(_repair(current(), workflow, by or person(), reason, dry_run=dry_run))


async def _repair(shell: Shell, workflow: str, by: str, reason: str, *, dry_run: bool) -> None:
    from edgeshift.operations.repair import repair as repaired
    from worker.wiring import replayer

    async def replay(history: WorkflowHistory) -> Exception | None:
        result = await replayer().replay_workflow(history, raise_on_replay_failure=False)
        return result.replay_failure

    shell.errors.print("Replaying its history …", highlight=False)
    async with shell.temporal() as client:
        found = await repaired(client, workflow, by=by, reason=reason, replay=replay, dry_run=dry_run)
    again = "would be reset" if dry_run else "was reset"
    lines = [
        f"Workflow {found.workflow} does not replay: {found.why}",
        f"It {again} to event {found.task} of {found.events};"
        " signals and updates since then are applied again.",
    ]
    lines.append("Nothing was changed." if dry_run else f"It continues in run {found.run}.")
    for line in lines:
        shell.console.print(line, markup=False, soft_wrap=True)
