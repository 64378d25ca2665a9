"""``edgeshift repair``: reset a workflow whose history does not replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from edgeshift.cli.options import AsJson, By, Reason
from edgeshift.cli.shell import Shell, current, run

if TYPE_CHECKING:
    from temporalio.client import WorkflowHistory


def repair(
    workflow: Annotated[
        str, typer.Argument(help="The workflow's identifier, as `alarms` says it.", show_default=False)
    ],
    reason: Reason,
    by: By = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    as_json: AsJson = False,
) -> None:
    """Reset a workflow that does not replay to the last place from which it does. Signed by an operator.

    Run it with the version of edgeshift that the workers have.
    """
    run(_repair(current(), workflow, by, reason, dry_run=dry_run))


async def _repair(shell: Shell, workflow: str, by: str, reason: str, *, dry_run: bool) -> None:
    from edgeshift.cli.receipts import Repaired
    from edgeshift.operations.repair import repair as repaired
    from worker.wiring import replayer

    async def replay(history: WorkflowHistory) -> Exception | None:
        result = await replayer().replay_workflow(history, raise_on_replay_failure=False)
        return result.replay_failure

    async with shell.temporal(writes=not dry_run) as client:
        with shell.waiting("replaying its history"):
            found = await repaired(
                client,
                workflow,
                by=by,
                reason=reason,
                replay=replay,
                archive=shell.archive(),
                dry_run=dry_run,
                pen=None if dry_run else shell.pen(by),
                roots=None if dry_run else shell.roots(),
                say=lambda what: shell.explain(f"Temporal: {what}"),
            )
    again = "would be reset" if dry_run else "was reset"
    lines = [
        f"Workflow {found.workflow} does not replay: {found.why}",
        f"It {again} to event {found.task} of {found.events};"
        " signals and updates since then are applied again.",
    ]
    lines.append("Nothing was changed." if dry_run else f"It continues in run {found.run}.")
    receipt = Repaired(
        workflow=found.workflow,
        by=by,
        reason=reason,
        **shell.where,
        why=found.why,
        events=found.events,
        task=found.task,
        broken_run=found.broken_run,
        run=found.run or None,
        signed=found.signed or None,
    )
    shell.answer(receipt, *lines)
