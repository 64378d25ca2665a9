"""``edgeshift init``: write a commented campaign file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import AsJson, checked_out
from edgeshift.cli.shell import current
from edgeshift.model.fleet import DEFAULT_AREA, Area, named_for
from edgeshift.runtime.files import write_whole
from edgeshift.views.chosen import command


def init(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("campaign.yaml"),
    area: Annotated[Area, typer.Option(help="What the campaign changes.")] = DEFAULT_AREA,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a commented campaign file."""
    from edgeshift.campaign_file.filled import filled
    from edgeshift.campaign_file.template import PLACEHOLDER, campaign_text
    from edgeshift.cli.parts import CLI
    from edgeshift.cli.receipts import Written

    shell = current()
    name = re.sub(r"[^a-z0-9-]+", "-", file.stem.lower()).strip("-")[:60] or "campaign"
    text = campaign_text(name, area)
    known = _of_stack(area)
    if known:
        text = filled(text, known)
    if file.is_dir():
        raise CommandError(
            f"{file} is a folder", ExitCode.BAD_INPUT, hint=f"name a file in it: {file}/campaign.yaml"
        )
    if file.exists() and not force:
        raise CommandError(
            f"{file} exists already", ExitCode.REFUSED, hint="--force overwrites it; or name another file"
        )
    checked_out("", file)
    write_whole(file, text)
    shell.answer(
        Written(file=str(file), name=name, area=area), f"Wrote {file}: every option with its default."
    )
    planned = command("plan", str(file))
    if known:
        shell.advise(f"It is about the stack that runs in this folder, and all its zones: {planned}")
        return
    besides = CLI.of(area).besides
    shell.advise(f"Put your zones in place of {PLACEHOLDER}{besides}, then: {planned}")


def _of_stack(area: Area) -> dict[str, Any]:
    """What a campaign file has to say of the stack that runs here, as the stack's own one says it; nothing
    where there is none.
    """
    from edgeshift.cli.found_stack import stack_here

    stack = stack_here()
    if stack is None or stack.campaign is None:
        return {}
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    usual = Path(stack.campaign)
    own = usual.with_stem(named_for(area, usual.stem))
    try:
        made = YAML(typ="safe").load(own)
        every = {"targets": {"all": True, "include": []}}
        known = {key: made[key] for key in made if key not in ("name", "area", "targets")}
    except (OSError, YAMLError, TypeError):
        # Somebody has changed it: the new file is as anywhere else.
        return {}
    return known | every
