"""Commands that are offered act where this call has acted: they carry what was chosen by its options."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgeshift.cli.main import THERE
from edgeshift.model.fleet import Area, ScopeKind
from edgeshift.views.chosen import as_chosen, choose
from edgeshift.views.figures import sign_command
from edgeshift.views.lists import zone_card
from edgeshift.views.rows import ZoneRow
from tests.journeys.cli_kit import in_process
from tests.rules.test_next_steps import drawn


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Nothing is chosen before a test, or after it."""
    choose()
    yield
    choose()


def test_what_was_given_by_options_is_in_each_command() -> None:
    """In the form of a shell, before the verb; the environment of a variable is there for the next call."""
    said = "`edgeshift status a` lists them; edgeshift retry a --zone b"
    assert as_chosen(said) == said
    choose(THERE, env="the prod")
    assert as_chosen(said) == (
        "`edgeshift --env 'the prod' status a` lists them; edgeshift --env 'the prod' retry a --zone b"
    )
    choose(THERE, address="h:1", archive="/a", namespace="n")
    assert shlex.split(as_chosen("edgeshift doctor")) == [
        *("edgeshift", "--address", "h:1", "--namespace", "n", "--archive", "/a", "doctor")
    ]


def test_what_asks_no_temporal_or_is_no_command_stays() -> None:
    """Such as `up`, or a sentence; so does an archive that would show a password."""
    choose(THERE, env="prod", archive="s3://u:secret@b")
    for said in ("`edgeshift up` starts it", "edgeshift keys make NAME", "edgeshift statuses"):
        assert as_chosen(said) == said
    assert as_chosen("edgeshift show a") == "edgeshift --env prod show a"


def test_screens_have_it() -> None:
    """A zone's card, and what a campaign's screen offers."""
    choose(THERE, env="prod")
    row = ZoneRow(
        index=0,
        id="a" * 32,
        name="a.example",
        account="b" * 32,
        plan="pro",
        wave=0,
        place="awaiting",
        area=Area.WAF,
        kind=ScopeKind.ZONE,
        covers=0,
    )
    shown = drawn(zone_card(row, "autumn"), 200)
    assert shown.count("edgeshift --env prod ") == 3 and "edgeshift --env prod sign-off approve" in shown
    assert sign_command("autumn", "ab" * 32).startswith("edgeshift --env prod sign-off approve autumn")


def test_hints_and_alarms_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a Temporal that is not there; the next call has nothing of it."""
    monkeypatch.chdir(tmp_path)
    nowhere = ("--address", "127.0.0.1:9", "--archive", str(tmp_path))
    there = f"edgeshift --address 127.0.0.1:9 --archive {tmp_path} "
    ran = in_process("status", "NO NAME", *nowhere)
    assert ran.code == 2 and f"`{there}status` lists the campaigns" in ran.err, ran
    assert "`edgeshift status` lists the campaigns" in in_process("status", "NO NAME").err
    told = json.loads(in_process("alarms", "--json", *nowhere).out)["alarms"]
    commands = [command for alarm in told for command in (*alarm["look_at"], *alarm["do"])]
    offered = [command for command in commands if command.startswith("edgeshift ")]
    assert any(command.startswith(there) for command in offered), commands
    assert as_chosen("edgeshift status") == "edgeshift status"
