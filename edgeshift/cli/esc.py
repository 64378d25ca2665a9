"""``edgeshift esc secret``: the secret of a scope, for a person who tests by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.options import AsJson
from edgeshift.cli.shell import current, run

app = typer.Typer(help="Test by hand what changes without Edge Side Code.", no_args_is_help=True)


@app.callback()
def esc() -> None:
    """Test by hand what changes without Edge Side Code."""


@app.command()
def secret(
    scope: Annotated[str, typer.Argument(help="A zone or an account, by name or identifier.")],
    file: Annotated[
        Path,
        typer.Option("--file", help="The campaign file: its service and credentials.", show_default=False),
    ],
    stdout: Annotated[
        bool, typer.Option("--stdout", help="Print it alone, also where stdout is no terminal.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read a scope's secret from the service and show it at a terminal, with the cookie to send."""
    from edgeshift.campaign_file.load import load_campaign
    from edgeshift.operations.areas.esc_secret import scope_secret

    shell = current()
    spec = load_campaign(file)
    if not stdout and not sys.stdout.isatty():
        raise CommandError(
            "a secret is shown at a terminal only, and stdout is none",
            ExitCode.REFUSED,
            hint="--stdout prints it all the same",
        )
    found = run(scope_secret(spec, scope), waiting="asking the service")
    value = found.secret.get_secret_value()
    if as_json:
        scope_ = {"kind": found.kind, "id": found.id, "name": found.name}
        rest = {"whose": found.whose.value, "always": found.always, "secret": value}
        shell.print_json({**scope_, **rest})
        return
    if stdout:
        # Nothing else, so that a script can take it; nothing is logged.
        sys.stdout.write(value + "\n")
        return
    whose = "made by edgeshift" if found.whose.value == "test" else "the scope's own"
    say = shell.console.print
    say(Text(f"{found.kind} {found.name} ({found.id}): secret {whose}"), soft_wrap=True)
    say(Text("Requests that send this cookie go without Edge Side Code, others as before:"), soft_wrap=True)
    say(Text(f"  Cookie: disable_esc={value}"), soft_wrap=True)
    if found.always:
        say(Text("It changes nothing now: esc is off for all requests.", style="yellow"), soft_wrap=True)
