"""``edgeshift plan``: read every zone and show what would happen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.shell import current, run, said_once

if TYPE_CHECKING:
    from edgeshift.campaign_file.spec import CampaignSpec
    from edgeshift.cli.shell import Shell
    from edgeshift.messages import AssessmentResult, PlanReport


def plan(
    file: Annotated[Path, typer.Argument(help="The campaign file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/cli.md).")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the JSON there too.", show_default=False)
    ] = None,
) -> None:
    """Read every zone and show what would happen. Changes nothing."""
    from edgeshift.campaign_file.load import load_campaign

    shell = current()
    spec = load_campaign(file)
    if out is not None and not out.absolute().parent.is_dir():
        raise CommandError(
            f"{out}: there is no folder {out.parent}", ExitCode.BAD_INPUT, hint="create the folder first"
        )
    report, result = run(_assess(shell, spec))
    told = _as_data(spec, report, result)
    if out is not None:
        import json

        out.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if as_json:
        shell.print_json(told)
    else:
        from edgeshift.cli.plan_tables import show_plan

        show_plan(shell.console, spec, report, result, str(file))
        if out is not None:
            shell.console.print(f"written to {out}", soft_wrap=True)
    if any(line.error for line in report.zones):
        raise typer.Exit(ExitCode.FAILED)


async def _assess(shell: Shell, spec: CampaignSpec) -> tuple[PlanReport, AssessmentResult]:
    from edgeshift.cli.reading import reading_shown
    from edgeshift.operations import assess

    async with shell.temporal() as client:
        with reading_shown(shell) as heard:
            return await assess(client, shell.archive(), spec, progress=heard, trouble=said_once(shell))


def _as_data(spec: CampaignSpec, report: PlanReport, result: AssessmentResult) -> dict[str, Any]:
    from collections import Counter

    from edgeshift.campaign_file.warnings import warnings
    from edgeshift.cli.parts import CLI

    told: dict[str, Any] = {
        "campaign": spec.name,
        "area": spec.area.value,
        "made_at": report.made_at.isoformat(),
        "verdicts": dict(Counter(line.verdict.value if line.verdict else "error" for line in report.zones)),
        "waves": [wave.model_dump(mode="json") | {"size": wave.size} for wave in result.waves],
        "fingerprints": dict(Counter(line.fingerprint for line in report.zones if line.fingerprint)),
        "warnings": warnings(spec),
        "targets": result.targets,
        "zones": [line.model_dump(mode="json") for line in report.zones],
    }
    return told | CLI.of(spec.area).plan_data(spec, report, result)
