"""``--json`` over all verbs: each has it or a reason why not, docs/output.md describes every field, and what
is printed is one document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from pydantic import BaseModel

from edgeshift.cli import receipts
from edgeshift.cli.main import build
from tests.journeys.cli_kit import in_process

DOCS = Path(__file__).parents[2] / "docs"
OUTPUT = (DOCS / "output.md").read_text(encoding="utf-8")

WITHOUT = {
    "campaign-schema": "what it prints is JSON",
    "fleet schema": "what it prints is JSON",
    "completion": "what it prints is a script for a shell",
    "watch": "it is a picture for people; `status --until` is for programs",
    "worker": "it prints no result",
}
"""Verbs without ``--json``, each with why."""

ELSEWHERE = {"plan", "doctor"}
"""Verbs whose documents docs/cli.md describes."""

OF: dict[str, type[BaseModel]] = {
    "start FILE": receipts.Started,
    "sign-off approve CAMPAIGN": receipts.Signed,
    "pause CAMPAIGN": receipts.Steered,
    "retry CAMPAIGN": receipts.BegunAgain,
    "support-resolved CAMPAIGN": receipts.ReadAgain,
    "repair WORKFLOW": receipts.Repaired,
    "keys make": receipts.KeyMade,
    "keys add": receipts.KeyAdded,
    "keys revoke": receipts.KeysRevoked,
    "fleet generate": receipts.Written,
}
"""The models of documents, by the beginning of the call under whose heading their fields are."""

ALSO: dict[str, type[BaseModel]] = {"sign-off approve CAMPAIGN": receipts.SignedEach}
"""Further models under such a heading."""


def leaves() -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its whole name."""
    group: Any = typer.main.get_command(build(None))
    for name, command in group.commands.items():
        for inner, leaf in getattr(command, "commands", {"": command}).items():
            yield f"{name} {inner}".strip(), leaf


def options(command: Any) -> set[str]:
    """What may be given to a command."""
    return {option for parameter in command.params for option in parameter.opts}


def section(call: str) -> str:
    """What docs/output.md says under the heading that has this call."""
    parts = re.split(r"^#{2,3} (.+)$", OUTPUT, flags=re.MULTILINE)
    found = [
        text
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
        if f"`edgeshift {call}" in heading
    ]
    assert len(found) == 1, (call, len(found))
    return found[0]


def test_every_verb_prints_json_or_says_why_not() -> None:
    """And none that has it stands among those without."""
    have = {name for name, command in leaves() if "--json" in options(command)}
    everything = {name for name, _ in leaves()}
    assert everything - have == set(WITHOUT)
    # The errors of each are JSON, too, where it is asked for: tests/journeys/test_cli_inputs.py.


def test_every_document_is_described() -> None:
    """Under a heading that has the call with its option."""
    headings = " ".join(re.findall(r"^#{2,3} (.+)$", OUTPUT, re.MULTILINE))
    for name, command in leaves():
        if "--json" in options(command) and name not in ELSEWHERE:
            assert re.search(rf"`edgeshift {re.escape(name)}[^`]*--json`", headings), name
    for name in ELSEWHERE:
        text = (DOCS / "cli.md").read_text(encoding="utf-8").split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert "| `--json` | " in text


@pytest.mark.parametrize("call", OF)
def test_every_field_of_a_receipt_is_described(call: str) -> None:
    """Its own where its verb is, what all have in the table of all; and what is described is a field."""
    model = OF[call]
    shared = set(receipts.Receipt.model_fields)
    own, common = section(call), OUTPUT.split("\n## Receipts\n")[1].split("\n### ")[0]
    for field in model.model_fields:
        assert f"`{field}`" in (common if field in shared else own), field
    if issubclass(model, receipts.Receipt):
        described = {
            name
            for row in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", own, re.MULTILINE)
            for name in re.findall(r"`(\w+)`", row)
        }
        known = set(model.model_fields) | set(ALSO.get(call, receipts.Receipt).model_fields)
        assert described <= known
        assert all(f"`{field}`" in own + common for field in known)


def test_a_receipt_of_several_is_described() -> None:
    """That of `pause --all`."""
    text = section("pause CAMPAIGN")
    for model in (receipts.SteeredAll, receipts.NotSteered):
        assert all(f"`{field}`" in text for field in model.model_fields)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, with nothing of a person's around it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def document(*arguments: str) -> Any:
    """The one document that a call prints; with --quiet, nothing stands beside it."""
    ran = in_process(*arguments, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, ""), ran
    return json.loads(ran.out)


def test_verbs_that_need_nobody_print_their_documents(folder: Path) -> None:
    """A file, keys and roots, a fleet: every field as the model has it."""
    made = document("init", "autumn.yaml", "--area", "esc")
    assert (made["file"], made["name"], made["area"]) == ("autumn.yaml", "autumn", "esc")
    assert set(made) == set(receipts.Written.model_fields)
    fleet = document("fleet", "generate", "--zones", "60", "--out", "fleet.json")
    assert (fleet["zones"], fleet["seed"], fleet["file"]) == (60, 1, "fleet.json")
    checked = document("fleet", "check", "fleet.json")
    assert checked["zones"] == sum(checked["plans"].values()) == 60 and "values" not in checked
    assert document("fleet", "check", "fleet.json", "--credentials")["values"][0]["value"]
    key = document("keys", "make", "ada")
    assert set(key) == set(receipts.KeyMade.model_fields) and key["key"].startswith("SHA256:")
    assert Path(key["private"]).exists() and Path(key["public"]).read_text().endswith(" ada\n")
    assert "PRIVATE" not in json.dumps(key)


def test_beside_a_document_people_read_on_stderr(folder: Path) -> None:
    """Without --json on stdout, advice included; with --quiet only the result."""
    told = in_process("init", "a.yaml")
    assert "Wrote a.yaml" in told.out and "then: edgeshift plan a.yaml" in told.out and told.err == ""
    told = in_process("init", "b.yaml", "--quiet")
    assert told.out == "Wrote b.yaml: every option with its default.\n" and told.err == ""
    told = in_process("keys", "make", "ada", "-q")
    assert len(told.out.splitlines()) == 1 and told.err == ""


def test_verbose_says_where_it_asks(folder: Path) -> None:
    """On stderr, before it asks; stdout is as always."""
    told = in_process("status", "--address", "127.0.0.1:9", "-v")
    assert told.code == 3 and told.out == ""
    assert "· Temporal 127.0.0.1:9, namespace default, in plain text" in told.err
    assert "· archive " in told.err
    assert "·" not in in_process("status", "--address", "127.0.0.1:9").err
