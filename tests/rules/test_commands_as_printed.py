"""Commands that screens offer work as they are printed: in the place of this call, whatever a file is called,
and on one line.
"""

from __future__ import annotations

import ast
import io
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from edgeshift.cli.main import THERE
from edgeshift.cli.parts import whole_of
from edgeshift.cli.plan_tables import show_plan
from edgeshift.cli.shell import Shell
from edgeshift.cli.show import _print
from edgeshift.cli.signed_elsewhere import Elsewhere
from edgeshift.messages import AssessmentResult, PlanReport
from edgeshift.model.fleet import Area
from edgeshift.operations.hands import Drafts
from edgeshift.operations.preview import preview_of
from edgeshift.operations.showing import NamedProposal
from edgeshift.stores.archive import Archive
from edgeshift.views.archived import loss_lines
from edgeshift.views.chosen import choose, command
from edgeshift.views.lists import zone_card
from tests.journeys.cli_kit import in_process
from tests.rules.test_campaign_plans import EARLY, spec
from tests.rules.test_next_steps import drawn, row
from tests.rules.test_proposal_screens import SIGNED, shell_of, waiting
from tests.rules.test_statements import DECISION

ROOT = Path(__file__).parents[2]
OFFERED = re.compile(rf"(?<![\w./-])edgeshift (?:{'|'.join(sorted(THERE))})(?![\w-])")
CARRYING = {"as_chosen", "advise"}
"""Calls that put what was chosen into a command."""

HINTS = {"CommandError", "bad_input", "BadInput", "NotFound", "Refused", "Failed", "TemporalTrouble"}
"""Errors, whose hints are printed with it."""

TITLES = {"save_picture", "_show"}
"""Calls to which a command is the title of a picture."""

ELSEWHERE = {
    "cli/errors.py": "the usual hints",
    "cli/up.py": "the stack that it has just started, whatever was chosen",
    "views/approval.py": "a page that others open",
    "views/areas/waf_report.py": "a page that others open",
}
"""Files whose commands carry nothing of this call, or get it elsewhere, and why."""


@pytest.fixture(autouse=True)
def production() -> Iterator[None]:
    """What is called was called with ``--env``."""
    choose(THERE, env="prod")
    yield
    choose()


def offers(node: ast.AST, *, carried: bool = False) -> Iterator[tuple[int, str]]:
    """The commands in the texts of a module that do not get what was chosen, as far as it can be read there;
    docstrings offer nothing.
    """
    match node:
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Constant(value=str(text)) if OFFERED.search(text) and not carried:
            yield node.lineno, text
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            carried |= name in CARRYING | HINTS | TITLES
        case ast.Assign(targets=[ast.Name(id="hint")]) | ast.keyword(arg="hint"):
            carried = True
        case _:
            pass
    for inner in ast.iter_child_nodes(node):
        yield from offers(inner, carried=carried)


@pytest.mark.parametrize("package", ["cli", "views"])
def test_no_screen_offers_a_command_that_acts_elsewhere(package: str) -> None:
    """A new one is made by ``command``, or passes ``as_chosen``; so the next one is found."""
    within = ROOT / "edgeshift"
    found = [
        f"{name}:{line}: {text!r}"
        for file in sorted((within / package).rglob("*.py"))
        if (name := file.relative_to(within).as_posix()) not in ELSEWHERE
        for line, text in offers(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_the_scan_finds_a_command_that_carries_nothing() -> None:
    """And passes those that do."""
    bad = 'print(f"look: edgeshift status {name}")'
    good = 'print(as_chosen("edgeshift status")); raise CommandError("x", hint="edgeshift doctor")'
    assert len(list(offers(ast.parse(bad)))) == 1 and not list(offers(ast.parse(good)))


def test_a_command_is_made_for_a_shell() -> None:
    """Whatever its words are."""
    assert command("plan", "waf autumn.yaml") == "edgeshift --env prod plan 'waf autumn.yaml'"


def test_a_plan_offers_its_file_as_one_word() -> None:
    """It is started with the same options."""
    result = AssessmentResult(report="0" * 64, targets="0" * 64, count=0, waves=(), enterprise="")
    report = PlanReport(name="autumn", made_at=EARLY, zones=[])
    console = Console(width=40, file=io.StringIO(), record=True)
    show_plan(console, spec(Area.WAF), report, result, "waf autumn.yaml")
    assert "Next: edgeshift --env prod start 'waf autumn.yaml'\n" in console.export_text()


def test_a_file_is_one_word_where_it_is_written_and_where_it_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By `init`, and by a verb that needs it; with what this call chose."""
    monkeypatch.chdir(tmp_path)
    said = in_process("--address", "h:1", "init", "waf autumn.yaml").out
    assert "then: edgeshift --address h:1 plan 'waf autumn.yaml'\n" in said
    assert "`edgeshift init 'waf winter.yaml'` writes one" in in_process("plan", "waf winter.yaml").err


async def test_a_statement_is_one_word_where_it_is_signed_elsewhere(tmp_path: Path) -> None:
    """By `ssh-keygen`, and where it is handed back."""
    shell, where = Shell(), Elsewhere(prints=True, out=tmp_path / "to sign")
    shell.notes = Console(file=io.StringIO(), width=40)
    where._drafts = Drafts()
    (tmp_path / "to sign").mkdir()
    await where._drafts.sign(DECISION)
    assert await where.done(shell)
    said = shell.notes.file.getvalue()  # type: ignore[attr-defined]
    (file,) = (tmp_path / "to sign").iterdir()
    assert f"  ssh-keygen -Y sign -n edgeshift -f KEY {shlex.quote(str(file))}\n" in said
    assert f" --statement {shlex.quote(str(file))} in place" in said


async def test_a_proposal_offers_commands_that_find_it(tmp_path: Path) -> None:
    """With the area, since a zone may have been in campaigns of several; each on a line of its own where it
    is to be copied.
    """
    archive = Archive(tmp_path / "archive")
    state = await waiting(archive, SIGNED)
    shown = await preview_of(archive, state, Area.WAF)
    assert whole_of(shown) == "edgeshift --env prod show maple-pottery.example --area waf"
    shell = shell_of(40)
    _print(shell, NamedProposal("autumn", shown, state, waiting=3), shown.body, shown.digest)
    lines = shell.console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    approve = f"edgeshift --env prod sign-off approve autumn --fingerprint {shown.fingerprint[:12]}"
    assert f"  {approve}" in lines
    # What is left out is shown by it, too.
    much = replace(shown, losses=tuple(f"setting {number}" for number in range(900)))
    assert "edgeshift --env prod show" in " ".join(_facts(much).split())


def _facts(shown: Any) -> str:
    from edgeshift.cli.proposals import show_proposal

    shell = shell_of(200)
    show_proposal(shell, shown)
    return str(shell.console.file.getvalue())  # type: ignore[attr-defined]


def test_what_the_doctor_advises_acts_here(tmp_path: Path) -> None:
    """On the screen and in its JSON."""
    nowhere = ("--address", "127.0.0.1:9", "--archive", str(tmp_path / "none"))
    plan = f"`edgeshift {' '.join(nowhere)} plan`"
    assert plan in in_process("doctor", *nowhere).out
    fixes = [check["fix"] for check in json.loads(in_process("doctor", "--json", *nowhere).out)["checks"]]
    assert any(plan in fix for fix in fixes)


def test_a_card_and_a_history_find_the_zone() -> None:
    """Once it was in a campaign of another area, too."""
    shown = drawn(zone_card(row("a.example", "awaiting"), "autumn"), 200)
    for verb in ("show", "history"):
        assert f"edgeshift --env prod {verb} a.example --area waf\n" in shown
    last = loss_lines(["a loss"] * 1_000, "a.example")[-1]
    assert "edgeshift --env prod history a.example --json" in last
