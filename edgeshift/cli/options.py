"""Options and arguments that several verbs have, each checked before anything is sent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from edgeshift.cli import candidates
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.shell import person
from edgeshift.model.fleet import CAMPAIGN_NAME, Area
from edgeshift.model.sign_off import LONGEST_NAME, LONGEST_REASON
from edgeshift.runtime.safe_text import one_line, visible


def checked_campaign(name: str | None) -> str | None:
    """The name of a campaign. Raises CommandError (2) for what cannot be one."""
    if name is not None and not CAMPAIGN_NAME.fullmatch(name):
        raise CommandError(
            f"{name[:80]!r} is not a campaign's name",
            ExitCode.BAD_INPUT,
            hint="a name has lower-case letters, digits and hyphens; `edgeshift status` lists the campaigns",
        )
    return name


def checked_reason(reason: str) -> str:
    """A person's reason, without space around it. Raises CommandError (2) for one that is too long."""
    reason = reason.strip()
    if len(reason) > LONGEST_REASON:
        raise CommandError(
            f"--reason has {len(reason)} characters",
            ExitCode.BAD_INPUT,
            hint=f"write at most {LONGEST_REASON} characters",
        )
    return _without_hiding("--reason", reason)


def checked_by(context: typer.Context, by: str) -> str:
    """Who asks: what was typed, else EDGESHIFT_USER, else the login. Raises CommandError (2) for a name that
    is empty, too long, or has what a terminal would obey.
    """
    typed = getattr(context.get_parameter_source("by"), "name", "") == "COMMANDLINE"
    named = bool(os.environ.get("EDGESHIFT_USER", "").strip())
    option = "--by" if typed else "EDGESHIFT_USER" if named else "the login"
    by = by.strip() if typed else person()
    if not by:
        hint = "say who you are, such as --by ada; or leave it out"
        raise CommandError(f"{option} is empty", ExitCode.BAD_INPUT, hint=hint)
    if len(by) > LONGEST_NAME:
        raise CommandError(
            f"{option} has {len(by)} characters",
            ExitCode.BAD_INPUT,
            hint=f"a name has at most {LONGEST_NAME} characters",
        )
    return _without_hiding(option, by)


def _without_hiding(option: str, text: str) -> str:
    if (shown := visible(text, keep="")) != text:
        raise CommandError(
            f"{option} has characters that nobody sees: {one_line(shown, 120)}",
            ExitCode.BAD_INPUT,
            hint="leave out control characters and marks that turn the reading direction",
        )
    return text


@contextmanager
def writing(option: str, path: Path) -> Iterator[None]:
    """Something is written where a person said, by ``option`` or, where that is empty, by an argument. Raises
    CommandError (2) where that place does not take it.
    """
    try:
        yield
    except OSError as problem:
        raise CommandError(
            f"{option} {path} cannot be written: {problem.strerror}".lstrip(),
            ExitCode.BAD_INPUT,
            hint="name a file in a folder in which you may write",
        ) from None


def checked_out(option: str, path: Path) -> Path:
    """A file to be written: it is seen to be writable, with its folders, before any work is done. Nothing is
    left of that. Raises CommandError (2).
    """
    from edgeshift.runtime.files import check_writable

    with writing(option, path):
        check_writable(path)
    return path


def checked_apart(option: str, path: Path, other: str, there: Path) -> None:
    """Raises CommandError (2) where a file to be written is that of something else: it would replace it."""
    same = os.path.realpath(path) == os.path.realpath(there)
    with suppress(OSError):
        same = same or path.samefile(there)
    if same and (path.is_file() or not path.exists()):
        raise CommandError(
            f"{option} {path} is {other} {there}, and would replace it",
            ExitCode.BAD_INPUT,
            hint=f"name another file with {option}",
        )


def checked_folder(option: str, folder: Path) -> Path:
    """A folder for files to be written: it is seen to take files before any work is done. Nothing is left of
    that, and no folder made. Raises CommandError (2).
    """
    from edgeshift.runtime.files import check_writable

    with writing(option, folder):
        check_writable(folder / "file")
    return folder


def checked_duration(option: str, text: str) -> timedelta:
    """How long, as people write it. Raises CommandError (2)."""
    from edgeshift.model.durations import parse_duration

    try:
        return parse_duration(text)
    except ValueError as why:
        raise CommandError(
            f"{option} {text[:40]!r}: {why}", ExitCode.BAD_INPUT, hint=f"write it as {option} 10m"
        ) from None


def campaign_option(told: str) -> typer.models.OptionInfo:
    """The option ``--campaign`` of a verb that looks at what one campaign, or any, did."""
    option = typer.Option(
        help=told, show_default=False, callback=checked_campaign, autocompletion=candidates.campaigns
    )
    return option  # type: ignore[no-any-return]


Campaign = Annotated[
    str,
    typer.Argument(
        help="The campaign's name.", callback=checked_campaign, autocompletion=candidates.campaigns
    ),
]
OnlyZone = Annotated[
    str,
    typer.Option(
        help="Only this zone, by name or identifier.", show_default=False, autocompletion=candidates.zones
    ),
]
OnlyWave = Annotated[int | None, typer.Option(min=1, help="Only zones of this wave.", show_default=False)]
ZoneOrAccount = Annotated[
    str,
    typer.Argument(help="The zone's name or identifier, or an account's.", autocompletion=candidates.zones),
]
OfArea = Annotated[
    Area | None, typer.Option(help="Of this area; needed where a zone has several.", show_default=False)
]
Reason = Annotated[str, typer.Option(help="Why; it is kept.", show_default=False, callback=checked_reason)]
By = Annotated[
    str,
    typer.Option(
        help="Who asks. Default: EDGESHIFT_USER or your login.", show_default=False, callback=checked_by
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON (docs/output.md).")]
