"""`edgeshift fleet`: make, check and describe the simulator's fleets (docs/fleet-format.md)."""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.interrupts import heed_interrupts
from edgeshift.cli.options import AsJson, checked_out
from edgeshift.cli.receipts import Written
from edgeshift.cli.shell import current
from edgeshift.runtime.files import whole_path
from edgeshift.testbed.simulator.equivalent import eligible, longest_expression_bytes, rules_to_migrate
from edgeshift.testbed.simulator.fleet_file import Fleet, dump_fleet, load_fleet
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.testbed.simulator.generate_cases import MOST_BYTES, MOST_RULES
from edgeshift.views.widths import Columns

app = typer.Typer(no_args_is_help=True, help="Make, check and describe fleets for the simulator.")

LARGE = 20_000
"""Zones from which YAML takes minutes and JSON seconds."""

HEADER = """\
A fleet for the edgeshift simulator. {note}
The credentials below have the right form and are good for nothing but the simulator.
Start it:  edgeshift simulator --fleet {name} --listen 127.0.0.1:8780 --data simulator-data
Check it:  edgeshift fleet check {name}
What is not said here is a default. The format: docs/fleet-format.md, or `edgeshift fleet schema`.
"""


@app.command()
def generate(
    zones: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many zones.")],
    out: Annotated[Path, typer.Option(help="The file to write; it ends in .yaml, .yml or .json.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same fleet.")] = 1,
    accounts: Annotated[int, typer.Option(min=1, max=10_000, help="Over how many accounts.")] = 3,
    esc: Annotated[
        float, typer.Option(min=0, max=1, help="The share of the zones that have Edge Side Code.")
    ] = 0.0,
    logs: Annotated[
        float, typer.Option(min=0, max=1, help="The share of the Enterprise zones that log already.")
    ] = 0.0,
    shells: Annotated[
        float,
        typer.Option(min=0, max=1, help="The share of the zones with a WAF whose new one runs no rule."),
    ] = 0.0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a plausible fleet; from 60 zones on it has every special case."""
    if out.suffix.lower() not in (".yaml", ".yml", ".json"):
        raise CommandError(
            f"--out {out} has no ending of a fleet file",
            ExitCode.BAD_INPUT,
            hint="use .yaml, .yml or .json",
        )
    if out.exists() and not force:
        raise CommandError(
            f"{out} exists already", ExitCode.REFUSED, hint="--force overwrites it; or give another --out"
        )
    checked_out("--out", out)
    if zones > LARGE and out.suffix.lower() != ".json":
        current().notes.print(f"{zones} zones as YAML take minutes to write and to read; .json takes seconds")

    shell = current()

    def progress(made: int) -> None:
        if sys.stderr.isatty() and not shell.quiet and not as_json and made % 5000 == 0:
            typer.echo(f"\r{made:,} of {zones:,} zones", err=True, nl=False)

    heed_interrupts()
    fleet = generate_fleet(
        zones, seed, accounts=accounts, esc=esc, logs=logs, shells=shells, progress=progress
    )
    with whole_path(out) as place:
        dump_fleet(fleet, place, header=HEADER.format(note=fleet.note, name=out.name))
    shell.answer(
        Written(file=str(out), zones=zones, accounts=accounts, seed=seed),
        f"{out}: {zones:,} zones over {accounts:,} accounts, seed {seed}",
    )


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A fleet file.")],
    credentials: Annotated[
        bool, typer.Option("--credentials", help="Show the simulator's credentials with their values.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what a fleet file holds, or every mistake in it with line, field and what would be right."""
    fleet = load_fleet(file)
    shell = current()
    if as_json:
        shell.print_json(_checked(file, fleet, credentials=credentials))
        return
    console = shell.console
    for table in tables(fleet):
        console.print(table)
    if credentials:
        for line in _credentials(fleet):
            console.print(line, soft_wrap=True)
    typer.echo(
        f"{file}: {len(fleet.zones):,} zones, {len(fleet.accounts):,} accounts, {len(fleet.users):,} users, "
        f"{len(fleet.credentials):,} credentials: nothing wrong"
    )


@app.command()
def schema() -> None:
    """Print the JSON schema of a fleet file."""
    current().print_json(fleet_schema())


def fleet_schema() -> dict[str, Any]:
    """The JSON schema of a fleet file, as docs/fleet.schema.json has it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Fleet.model_json_schema(),
        "title": "An edgeshift fleet",
    }


def tables(fleet: Fleet) -> tuple[Columns, Columns]:
    """What a fleet holds: its zones by account and plan, and where they stand."""
    return _plans(fleet), _situations(fleet)


def _plans(fleet: Fleet) -> Columns:
    names = {account.id: account.name for account in fleet.accounts}
    counted: Counter[tuple[str, str]] = Counter((names[zone.account], zone.plan) for zone in fleet.zones)
    table = Columns("account", *PLANS, "zones", title="Zones by account and plan", right=(*PLANS, "zones"))
    for name in names.values():
        row = [counted[name, plan] for plan in PLANS]
        table.add(name, *(f"{count:,}" for count in row), f"{sum(row):,}")
    return table


PLANS = ("free", "pro", "business", "enterprise")


def _checked(file: Path, fleet: Fleet, *, credentials: bool) -> dict[str, Any]:
    plans: Counter[str] = Counter(zone.plan for zone in fleet.zones)
    found: dict[str, Any] = {
        "file": str(file),
        "zones": len(fleet.zones),
        "accounts": len(fleet.accounts),
        "users": len(fleet.users),
        "credentials": len(fleet.credentials),
        "plans": {plan: plans[plan] for plan in PLANS},
        "situations": {name.strip(): count for name, count in sorted(_counted(fleet).items())},
    }
    if credentials:
        emails = {user.id: user.email for user in fleet.users}
        found["values"] = [
            {"label": one.label, "kind": one.kind, "user": emails[one.user], "value": one.value}
            for one in fleet.credentials
        ]
    return found


def _situations(fleet: Fleet) -> Columns:
    table = Columns("situation", "zones", title="Where the zones stand", right={"zones"})
    for name, count in sorted(_counted(fleet).items(), key=lambda item: (item[0].startswith(" "), -item[1])):
        table.add(name, f"{count:,}")
    return table


def _counted(fleet: Fleet) -> Counter[str]:
    """How many zones are in which situation."""
    counted: Counter[str] = Counter()
    for zone in fleet.zones:
        if zone.migration.state in ("complete", "default"):
            counted["migrated already"] += 1
        elif zone.migration.state == "validation":
            counted["in validation"] += 1
        elif not eligible(zone):
            counted["not eligible: URI-based overrides"] += 1
        elif len(rules_to_migrate(zone)) > MOST_RULES or longest_expression_bytes(zone) > MOST_BYTES:
            counted["needs support: over a limit"] += 1
        else:
            counted["can migrate"] += 1
        counted["  with planted false positives"] += bool(zone.traffic.false_positives)
        counted["  with planted gaps"] += bool(zone.traffic.gaps)
        if zone.esc.behaviours:
            counted["  with Edge Side Code"] += 1
        if zone.logs.jobs:
            counted["  with log jobs"] += 1
    return counted


def _credentials(fleet: Fleet) -> list[str]:
    """Plain lines, not a table, so that a value can be copied whole from a narrow terminal."""
    emails = {user.id: user.email for user in fleet.users}
    return [f"{one.label}  {one.kind}  {emails[one.user]}  {one.value}" for one in fleet.credentials]
