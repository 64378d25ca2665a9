"""The command line by itself: help, usage, files with mistakes, and Temporal that is not there."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.core
import typer.main

from edgeshift.cli.errors import ExitCode
from edgeshift.cli.found_stack import settings_here
from edgeshift.cli.main import VERBS, arranged, build, called
from edgeshift.model.exit_codes import MEANINGS
from edgeshift.operations.again import outcomes_for, outcomes_of
from tests.journeys.cli_kit import CLI, Place, in_process

DOCS = (Path(__file__).parents[2] / "docs/cli.md").read_text(encoding="utf-8")
NOWHERE = "127.0.0.1:9"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty folder."""
    return Place(tmp_path)


def commands() -> dict[str, typer.core.TyperCommand]:
    """Every verb, really loaded."""
    group = typer.main.get_command(build(None))
    return dict(group.commands)  # type: ignore[attr-defined]


def test_help_names_every_verb_without_loading_it(place: Place) -> None:
    """Help is for somebody who waits for it (`make bench AREA=startup` measures how long)."""
    command = [sys.executable, "-X", "importtime", *CLI[1:], "--help"]
    done = subprocess.run(command, cwd=place.folder, env=place.environment, capture_output=True, text=True)
    assert all(verb in done.stdout for verb in VERBS)
    assert max(map(len, done.stdout.splitlines())) <= 80
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "edgeshift.cli.main" in loaded
    assert not loaded & {"temporalio", "pydantic", "httpx", "asyncio"}
    assert not loaded & {f"edgeshift.cli.{entry.module}" for entry in VERBS.values()}


def test_every_verb_loads_and_is_documented() -> None:
    """Each stands in docs/cli.md with each of its options."""
    for name, command in commands().items():
        assert f"## {name}" in DOCS, name
        section = DOCS.split(f"\n## {name}\n")[1].split("\n## ")[0]
        parts = getattr(command, "commands", None) or {"": command}
        for part in parts.values():
            for parameter in part.params:
                for option in parameter.opts:
                    shown = not getattr(parameter, "hidden", False) and option.startswith("--")
                    assert not shown or option == "--help" or f"`{option}" in section, (name, option)


def test_the_help_of_every_verb_is_plain() -> None:
    """Every terminal has its characters, at 80 columns, and no line of it is cut off."""
    group: Any = typer.main.get_command(build(None))
    pages = []

    def read(command: Any, parent: Any) -> None:
        with command.make_context(command.name, [], parent=parent, resilient_parsing=True) as context:
            context.terminal_width = 80
            pages.append(command.get_help(context))
            for part in getattr(command, "commands", {}).values():
                read(part, context)

    read(group, None)
    assert len(pages) > len(VERBS)
    for page in pages:
        assert page.isascii() and "..." not in page.replace("[ARGS]...", ""), page
        assert max(map(len, page.splitlines())) <= 80, page


def test_exit_codes_are_documented() -> None:
    """Every code with its meaning."""
    for code in ExitCode:
        assert f"| {code.value} | {MEANINGS[code]} |" in DOCS


@pytest.mark.parametrize(
    ("given", "wanted", "verb"),
    [
        (["status", "x", "--address", "h:1"], ["--address", "h:1", "status", "x"], "status"),
        (["--debug", "plan", "--address=h:1", "f"], ["--debug", "--address=h:1", "plan", "f"], "plan"),
        (["start", "--", "--debug"], ["start", "--", "--debug"], "start"),
        (["--help"], ["--help"], None),
        (["plan", "--address"], ["--address", "plan"], "plan"),
        (["plan", "f", "-qv"], ["-q", "-v", "plan", "f"], "plan"),
        (["start", "--", "-qv"], ["start", "--", "-qv"], "start"),
    ],
)
def test_shared_options_may_stand_after_the_verb(
    given: list[str], wanted: list[str], verb: str | None
) -> None:
    """They are moved to where the parser expects them."""
    assert arranged(given) == (wanted, verb)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("statu",), "No such command 'statu'. Did you mean 'status', 'start'?"),
        (("plan",), "Missing argument 'file'"),
        (("plan", "a", "b"), "unexpected extra argument (b)"),
        (("status", "--nonsense"), "No such option: --nonsense"),
        (("sign-off", "approve", "x"), "exactly one of --zone, --fingerprint, --wave and --cause"),
        (("plan", "none.yaml"), "`edgeshift init none.yaml` writes one"),
        (("status", "--timeout", "5m"), "--timeout needs --until"),
        (("status", "--address", "nonsense"), "write it as HOST:PORT"),
        (("retry", "x", "--zone", "a", "--outcome", "failed"), "--zone and --outcome exclude each other"),
    ],
)
def test_wrong_usage_is_an_error_and_code_2(place: Place, arguments: tuple[str, ...], said: str) -> None:
    """With what would be right, or where to read it."""
    assert said in place.refused(2, *arguments)


@pytest.mark.parametrize(
    ("arguments", "code", "name", "said"),
    [
        (("plan", "none.yaml"), 2, "bad_input", "none.yaml: there is no such file"),
        (("status", "--qq"), 2, "bad_input", "No such option: --qq"),
        (("report", "c", "--out", "x.html"), 2, "bad_input", "--json excludes --out and --csv"),
        (("status", "c"), 3, "temporal", f"no Temporal answers at {NOWHERE} (in plain text)"),
    ],
)
def test_with_json_an_error_is_json(
    place: Place, arguments: tuple[str, ...], code: int, name: str, said: str
) -> None:
    """On the last line of stderr, with its code, what failed and what to do; stdout stays empty."""
    ran = place.run(*arguments, "--json", "--address", NOWHERE)
    assert (ran.code, ran.out) == (code, "")
    found = json.loads(ran.err.splitlines()[-1])
    assert (found["code"], found["exit_code"], found["message"]) == (name, code, said)
    assert found["hint"] and "error:" not in ran.err


def test_a_fault_of_our_own_names_no_class(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """It says that it is one, and what to do; --debug alone shows more."""

    def broken() -> None:
        raise KeyError("inner")

    monkeypatch.setattr("edgeshift.cli.init.init", broken)
    assert called(["init"]) == 1
    found = capsys.readouterr().err
    assert "`edgeshift init` failed by a fault of its own\n\nhint: --debug shows where" in found
    assert "KeyError" not in found and "inner" not in found
    assert called(["init", "--debug"]) == 1
    assert "KeyError" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["plan", "start", "doctor"])
def test_a_file_with_mistakes_is_answered_before_anything_else(place: Place, verb: str) -> None:
    """All of them, each with line and field; nothing is looked for at Temporal."""
    place.write(
        "bad.yaml", "name: A\ntargets: {all: true}\nwindw: 1\nservice: {credentials: [{token: sk-1234}]}\n"
    )
    said = place.refused(2, verb, "bad.yaml", "--address", NOWHERE)
    assert "bad.yaml has 3 mistakes" in said
    assert "bad.yaml:3:1: windw: unknown key; did you mean window?" in said
    assert "sk-1234" not in said


def test_init_writes_a_file_and_never_over_one(place: Place) -> None:
    """The file is named after nothing but its own name."""
    out = place.ok("init", "WAF 2024.yaml")
    assert "edgeshift plan" in out
    assert "\nname: waf-2024\n" in (place.folder / "WAF 2024.yaml").read_text()
    assert "--force overwrites it" in place.refused(6, "init", "WAF 2024.yaml")
    place.ok("init", "no/where.yaml")
    assert "\nname: where\n" in (place.folder / "no/where.yaml").read_text()


def test_init_writes_the_file_of_an_area(place: Place) -> None:
    """With the options of that area, and what to put in place of its placeholders."""
    out = place.ok("init", "logs.yaml", "--area", "log-fields")
    assert "your fields in place of x-request-id" in out
    text = (place.folder / "logs.yaml").read_text()
    assert "\narea: log-fields\n" in text and "\nlog_fields:\n" in text and "\nvalidation:" not in text
    place.ok("init", "off.yaml", "--area", "esc")
    assert "\nesc:\n" in (place.folder / "off.yaml").read_text()
    assert "is not one of" in place.refused(2, "init", "x.yaml", "--area", "cdn")


def test_a_mistake_of_an_area_is_told_before_anything_is_sent(place: Place) -> None:
    """By plan and start alike, with its place and what would be right."""
    place.write(
        "logs.yaml", "name: a\ntargets: {all: true}\narea: log-fields\nlog_fields: {cookies: [a, a]}\n"
    )
    for verb in ("plan", "start"):
        said = place.refused(2, verb, "logs.yaml", "--address", NOWHERE)
        assert "logs.yaml:4:27: log_fields.cookies[1]: 'a' is listed twice" in said


def test_a_secret_is_for_terminals(place: Place) -> None:
    """Refused before the service is asked anything."""
    place.write("off.yaml", "name: a\ntargets: {all: true}\narea: esc\n")
    said = place.refused(6, "esc", "secret", "shop.example", "--file", "off.yaml")
    assert "at a terminal only" in said and "--stdout" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "c.yaml"),
        ("start", "c.yaml", "--yes"),
        ("sign-off", "approve", "c", "--zone", "z"),
        ("pause", "c"),
        ("support-resolved", "c", "--zone", "z"),
        ("show", "z"),
        ("status",),
        ("worker",),
    ],
)
def test_temporal_that_is_not_there_is_named(place: Place, arguments: tuple[str, ...]) -> None:
    """With its address and what to do."""
    place.write("c.yaml", "name: c\ntargets: {all: true}\n")
    # A stop that is neither told nor signed is no stop that was signed.
    said = place.refused(1 if arguments[0] == "pause" else 3, *arguments, "--address", NOWHERE)
    assert f"no Temporal answers at {NOWHERE}" in said and "edgeshift up" in said


def test_the_doctor_says_what_to_fix_where_nothing_is_there(place: Place) -> None:
    """Each part that failed is named; exit 1."""
    place.write("c.yaml", "name: c\ntargets: {all: true}\n")
    ran = place.run("doctor", "c.yaml", "--address", NOWHERE, "--archive", "/proc/no-archive")
    assert ran.code == 1
    for name in ("Temporal", "archive", "credential 1, env:EDGESHIFT_TOKEN"):
        assert f"failed  {name}" in ran.out
    assert "the variable EDGESHIFT_TOKEN is not set" in ran.out


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    """By its variable; what it holds is not shown, it might be a secret in the wrong place."""
    place = Place(tmp_path, EDGESHIFT_TEMPORAL_API_KEY="sk-5678")
    said = place.refused(2, "status")
    assert "EDGESHIFT_TEMPORAL_API_KEY" in said and "sk-5678" not in said


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        (b"y\n", 0, "went on"),
        (b"no\n", 6, "not confirmed; nothing was changed"),
        (b"\x04", 6, "not confirmed; nothing was changed"),
        (b"\x03", 130, "stopped"),
    ],
)
def test_a_person_at_a_terminal_is_asked(tmp_path: Path, typed: bytes, code: int, said: str) -> None:
    """Yes goes on; anything else, the end of input and Ctrl-C change nothing."""
    asking = tmp_path / "asking.py"
    asking.write_text(
        "import edgeshift.cli.main as main, edgeshift.cli.init as init\n"
        "from edgeshift.cli.shell import current, run\n"
        "def asked():\n"
        "    async def work():\n"
        "        current().confirm('Really?', yes=False)\n"
        "        print('went on')\n"
        "    run(work())\n"
        "init.init = asked\n"
        "main.main(['init'])\n"
    )
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, str(asking)])
    seen = b""
    while b"[y/N]" not in seen:
        seen += os.read(terminal, 1000)
    # Nobody types in the microseconds between a question and the reading of its answer.
    time.sleep(0.3)
    os.write(terminal, typed)
    with contextlib.suppress(OSError):
        # The terminal of a process that has ended reports an error in place of an end.
        while more := os.read(terminal, 1000):
            seen += more
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code
    assert said in seen.decode()


@pytest.mark.parametrize("left", ["nothing", "its file"])
def test_a_folder_whose_stack_has_stopped_asks_no_other_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    """Whatever answers at the default address is a stranger's: every verb says that the stack does not run,
    here and in a folder below, unless somebody names another Temporal. What is archived can still be read.
    """
    own = tmp_path / ".edgeshift"
    (own / "archive").mkdir(parents=True)
    (own / "ports.json").write_text("{}")
    if left == "its file":
        dead = subprocess.Popen(["true"])
        dead.wait()
        stack = {"pid": dead.pid, "address": NOWHERE, "namespace": "default", "archive": "elsewhere"}
        (own / "stack.json").write_text(json.dumps(stack))
    for name in [name for name in os.environ if name.startswith("EDGESHIFT_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    assert in_process("init", "campaign.yaml").code == 0
    (tmp_path / "below").mkdir()
    for somewhere in (tmp_path, tmp_path / "below"):
        monkeypatch.chdir(somewhere)
        for verb in (
            ("status",),
            ("abort", "waf-1", "--yes"),
            ("plan", str(tmp_path / "campaign.yaml")),
            ("doctor",),
            ("alarms",),
            ("worker",),
        ):
            ran = in_process(*verb)
            # A stop that is neither told nor signed is no stop that was signed.
            assert ran.code == (1 if verb[0] == "abort" else 3), ran
            assert f"the stack of {own} does not run" in ran.err, ran
            assert "hint: `edgeshift up` starts it again" in ran.err
        assert settings_here(address=None, namespace=None, archive=None).archive == str(own / "archive")
    assert NOWHERE in in_process("status", "--address", NOWHERE).err
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", NOWHERE)
    assert NOWHERE in in_process("status").err


def test_a_stack_that_has_stopped_here_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For one that runs in a folder above: by verbs that need no Temporal either. Above, that one counts."""
    (tmp_path / "campaign.yaml").write_text("service: {base_url: 'http://127.0.0.1:9/client/v4'}\n")
    (tmp_path / ".edgeshift").mkdir()
    stack = {
        "pid": os.getpid(),
        "address": NOWHERE,
        "namespace": "default",
        "archive": str(tmp_path / "above"),
    }
    told = stack | {"authority": str(tmp_path), "campaign": str(tmp_path / "campaign.yaml")}
    (tmp_path / ".edgeshift/stack.json").write_text(json.dumps(told))
    own = tmp_path / "here/.edgeshift"
    (own / "archive").mkdir(parents=True)
    (own / "ports.json").write_text("{}")
    for name in [name for name in os.environ if name.startswith("EDGESHIFT_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    assert "It is about the stack that runs in this folder" in in_process("init", "a.yaml").out
    assert settings_here(address=None, namespace=None, archive=None).archive == str(tmp_path / "above")
    monkeypatch.chdir(own.parent)
    assert "Put your zones in place of " in in_process("init", "b.yaml").out
    for verb in ("list", "test"):
        ran = in_process("keys", verb)
        assert ran.code == 3 and f"the stack of {own} does not run" in ran.err, ran
    ran = in_process("snapshot", "0" * 32, "--area", "waf")
    assert ran.code == 5 and f"the archive {own / 'archive'} has no snapshot" in ran.err, ran


@pytest.mark.parametrize("verb", ["retry", "reopen"])
def test_help_names_what_a_verb_begins_again(verb: str) -> None:
    """Its first sentence has the outcomes of which it does so unasked, its option every one."""
    command = commands()[verb]
    option = next(parameter for parameter in command.params if "--outcome" in parameter.opts)
    named = str(getattr(option, "help", "")).partition(": ")[2].partition(";")[0]
    assert sorted(named.split(", ")) == sorted(outcomes_for(verb))
    usual, _, asked = re.sub("[-_]", " ", str(command.help)).partition(";")
    for outcome in outcomes_for(verb):
        unasked = outcome in outcomes_of(verb, [])
        assert outcome.replace("_", " ") in (usual if unasked else asked)
        assert (outcome.replace("_", " ") in VERBS[verb].help) == unasked
