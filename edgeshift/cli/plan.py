"""``edgeshift plan``: read every zone and show what would happen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from edgeshift.cli.approvers import warnings_here
from edgeshift.cli.errors import ExitCode
from edgeshift.cli.options import checked_apart, checked_out
from edgeshift.cli.shell import current, person, run
from edgeshift.runtime.files import write_whole
from edgeshift.views.chosen import command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from edgeshift.campaign_file.forecast import Measured
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
    if out is not None:
        checked_apart("--out", out, "the campaign file", file)
        checked_out("--out", out)
    report, result, kept, measured = run(_assess(shell, spec))
    warned = warnings_here(shell, spec)
    told = _as_data(spec, report, result, measured, warned) | {"plan": kept, **shell.where}
    if out is not None:
        import json

        from edgeshift.runtime.safe_text import json_text

        write_whole(out, json_text(json.dumps(told, indent=2, ensure_ascii=False)) + "\n")
    if as_json:
        shell.print_json(told)
    else:
        from edgeshift.cli.plan_tables import show_plan

        show_plan(shell.console, spec, report, result, str(file), measured, warned=warned)
        if out is not None:
            shell.console.print(f"written to {out}", soft_wrap=True, markup=False)
            shell.advise(f"  {command('start', '--plan', str(out))}    starts it as it is")
    if any(line.error for line in report.zones):
        raise typer.Exit(ExitCode.FAILED)


async def _assess(
    shell: Shell, spec: CampaignSpec
) -> tuple[PlanReport, AssessmentResult, str, Mapping[bool, Measured]]:
    """What was read, the digest under which the plan is kept, and what targets of earlier campaigns cost."""
    from edgeshift.cli.reading import archive_to_begin, reading_shown, said_once
    from edgeshift.operations import assess, store_spec
    from edgeshift.operations.forecasts import measured_calls
    from edgeshift.operations.plans import keep_plan

    async with shell.temporal(writes=True) as client:
        archive = await archive_to_begin(shell, client)
        with reading_shown(shell) as heard:
            report, result = await assess(
                client, archive, spec, by=person(), progress=heard, trouble=said_once(shell)
            )
        kept = await keep_plan(archive, await store_spec(archive, spec), report, result)
        return report, result, kept, await measured_calls(archive, spec.area)


def _as_data(
    spec: CampaignSpec,
    report: PlanReport,
    result: AssessmentResult,
    measured: Mapping[bool, Measured],
    warned: list[str],
) -> dict[str, Any]:
    from collections import Counter

    from edgeshift.campaign_file.forecast import forecast
    from edgeshift.cli.parts import CLI
    from edgeshift.cli.plan_tables import to_move
    from edgeshift.views.waves import assessment_data, wave_data

    moving, enterprise = to_move(report)
    found = forecast(spec, enterprise=enterprise, others=moving - enterprise, measured=measured)
    told: dict[str, Any] = {
        "campaign": spec.name,
        "area": spec.area.value,
        "made_at": report.made_at.isoformat(),
        "verdicts": dict(Counter(line.verdict.value if line.verdict else "error" for line in report.zones)),
        "waves": [wave_data(wave) for wave in result.waves],
        "fingerprints": dict(Counter(line.fingerprint for line in report.zones if line.fingerprint)),
        "warnings": warned,
        "forecast": found.as_data(),
        "targets": result.targets,
        "zones": [assessment_data(line) for line in report.zones],
    }
    return told | CLI.of(spec.area).plan_data(spec, report, result)
