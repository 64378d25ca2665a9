"""``edgeshift init``: write a commented campaign file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.shell import current
from edgeshift.model.fleet import DEFAULT_AREA, Area


def init(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("campaign.yaml"),
    area: Annotated[Area, typer.Option(help="What the campaign changes.")] = DEFAULT_AREA,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a commented campaign file."""
    from edgeshift.campaign_file.template import PLACEHOLDER, campaign_text
    from edgeshift.cli.parts import CLI

    shell = current()
    name = re.sub(r"[^a-z0-9-]+", "-", file.stem.lower()).strip("-")[:60] or "campaign"
    text = campaign_text(name, area)
    if file.is_dir():
        raise CommandError(
            f"{file} is a folder", ExitCode.BAD_INPUT, hint=f"name a file in it: {file}/campaign.yaml"
        )
    try:
        with file.open("w" if force else "x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise CommandError(
            f"{file} exists already", ExitCode.REFUSED, hint="--force overwrites it; or name another file"
        ) from None
    except FileNotFoundError:
        raise CommandError(
            f"{file}: there is no folder {file.parent}", ExitCode.BAD_INPUT, hint="create the folder first"
        ) from None
    shell.console.print(f"Wrote {file}: every option with its default.", soft_wrap=True)
    besides = CLI.of(area).besides
    shell.console.print(
        f"Put your zones in place of {PLACEHOLDER}{besides}, then: edgeshift plan {file}", soft_wrap=True
    )
