"""``edgeshift export terraform``: configuration for zones that have migrated."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from rich.text import Text

from edgeshift.areas.waf.terraform import (
    DEFAULT_RANGE,
    RANGES,
    ProviderRange,
    TerraformVersion,
    terraform_version,
    versions_file,
)
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import Campaign, OnlyWave, OnlyZone, checked_folder, checked_out
from edgeshift.cli.shell import Shell, current, run
from edgeshift.model.counts import counted
from edgeshift.runtime.files import write_whole
from edgeshift.views.areas.waf_export import TerraformExport, terraform_of

MOST_NAMED = 20
"""Zones that are left out which are named on the screen; JSON has all."""

app = typer.Typer(help="Write what has changed for other tools.", no_args_is_help=True)


@app.callback()
def export() -> None:
    """Write what has changed for other tools."""


@app.command()
def terraform(
    campaign: Campaign,
    zone: OnlyZone = "",
    wave: OnlyWave = None,
    provider: Annotated[
        str, typer.Option(metavar="RANGE", help="The range of the provider: 3.35, 4 or 5.")
    ] = DEFAULT_RANGE.name,
    version: Annotated[
        str,
        typer.Option(
            "--terraform",
            metavar="VERSION",
            help="Terraform's version: import blocks from 1.5 on, else a script.",
        ),
    ] = "1.5",
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write files there.", show_default=False)
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Overwrite files without asking.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say as JSON what was written.")] = False,
) -> None:
    """Write the entry points of migrated zones as Terraform, with imports, for a range of the provider."""
    shell = current()
    chosen = _range(provider)
    try:
        least = terraform_version(version)
    except ValueError as why:
        raise CommandError(
            f"--terraform: {why}", ExitCode.BAD_INPUT, hint="`terraform version` says which one you have"
        ) from None
    if out is None and not zone:
        raise CommandError(
            "--out is needed for more than one zone",
            ExitCode.BAD_INPUT,
            hint="--out FOLDER writes the files; --zone ZONE prints one zone",
        )

    if out is not None:
        checked_folder("--out", out)

    async def gather() -> TerraformExport:
        async with shell.temporal() as client:
            index = wave - 1 if wave else None
            return await terraform_of(client, shell.archive(), campaign, chosen, least, zone=zone, wave=index)

    found = run(gather(), waiting="gathering the migrated zones")
    if not found.zones:
        raise _nothing(found, zone)
    files = found.files(chosen, least) if out is not None else {}
    if out is not None:
        _save(shell, out, files, yes=yes)
    if as_json:
        shell.print_json(_json(found, out, files))
    elif out is None:
        # As it is: what is printed may be a file.
        sys.stdout.write(_printed(found, chosen, least))
        sys.stdout.flush()
    _tell(shell, found, out, files, as_json=as_json)
    if found.left_out:
        raise typer.Exit(ExitCode.FAILED)


def _range(name: str) -> ProviderRange:
    if (found := RANGES.get(name.strip().removeprefix("v"))) is None:
        raise CommandError(
            f"--provider {name!r} is not a range of the provider; use {', '.join(RANGES)}",
            ExitCode.BAD_INPUT,
            hint="`terraform providers` says which version you use; docs/terraform.md describes the ranges",
        )
    return found


def _nothing(found: TerraformExport, zone: str) -> CommandError:
    """Why there is nothing to write."""
    details = _names(found)
    if zone and len(found.left_out) == 1:
        only = found.left_out[0]
        code = ExitCode.NOTHING if only.place not in ("migrated", "already_migrated") else ExitCode.REFUSED
        hint = f"`edgeshift status {found.campaign} --zone {quote(only.name)}` shows where it stands"
        return CommandError(f"zone {only.name} is not exported: {only.why}", code, hint=hint)
    return CommandError(
        f"no zone of campaign {found.campaign} can be exported",
        ExitCode.NOTHING,
        hint=f"`edgeshift status {found.campaign}` shows where its zones stand",
        details=details,
    )


def _names(found: TerraformExport) -> tuple[str, ...]:
    shown = tuple(f"{one.name}: {one.why}" for one in found.left_out[:MOST_NAMED])
    more = len(found.left_out) - MOST_NAMED
    return (*shown, f"and {counted(more, 'more zone')}: --json names all") if more > 0 else shown


def _save(shell: Shell, folder: Path, files: dict[str, str], *, yes: bool) -> None:
    """Write the files. Those that are there are overwritten only when a person says so."""
    there = sorted(name for name in files if (folder / name).exists())
    for name in there:
        checked_out("--out", folder / name)
    if there:
        names = ", ".join(there[:5]) + (", …" if len(there) > 5 else "")
        shell.errors.print(
            Text(f"{folder} has {counted(len(there), 'file')} of these names: {names}"), soft_wrap=True
        )
        shell.confirm("Overwrite?", yes=yes)
    for name, text in files.items():
        write_whole(folder / name, text)


def _printed(found: TerraformExport, provider: ProviderRange, version: TerraformVersion) -> str:
    parts = [versions_file(provider, version), *(one.text for one in found.zones)]
    if not version.import_blocks:
        parts += [f"# terraform import '{one.address}' '{one.import_id}'\n" for one in found.zones]
    return "\n".join(parts)


def _json(found: TerraformExport, out: Path | None, files: dict[str, str]) -> dict[str, object]:
    told: dict[str, object] = found.model_dump(mode="json")
    told["zones"] = [
        {
            "name": one.zone.name,
            "id": one.zone.id,
            "address": one.address,
            "import_id": one.import_id,
            "file": one.file,
            "digest": one.digest,
            **({} if out is not None else {"text": one.text}),
        }
        for one in found.zones
    ]
    return {**told, "out": str(out) if out is not None else None, "files": sorted(files)}


def _tell(
    shell: Shell, found: TerraformExport, out: Path | None, files: dict[str, str], *, as_json: bool
) -> None:
    """On stderr: what it is for, what to know, who is left out, what to do next."""
    say = shell.notes.print
    for warning in found.warnings:
        say(Text.assemble(("warning: ", "yellow"), warning), soft_wrap=True)
    if found.left_out:
        say(Text(f"left out: {counted(len(found.left_out), 'zone')}", style="yellow"))
        for line in _names(found):
            say(Text(f"  {line}"), soft_wrap=True)
    range_ = f"provider {found.constraint}, Terraform {found.terraform}"
    if out is None:
        say(Text(f"for {range_}"), soft_wrap=True)
    elif not as_json:
        wrote = f"written: {counted(len(files), 'file')} in {out} for {counted(len(found.zones), 'zone')}"
        shell.console.print(Text(f"{wrote}: {range_}"), soft_wrap=True)
        shell.advise(f"Next: {out}/README.md, step by step")
