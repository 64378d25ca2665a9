"""The documents say what is true: verbs, options, links, settings, files and errors that they name exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer.main
from pydantic import BaseModel

from edgeshift.campaign_file.load import load_campaign
from edgeshift.cli.main import build
from edgeshift.runtime.settings import (
    AuthoritySettings,
    LogSettings,
    Settings,
    TemporalSettings,
    WorkerSettings,
)

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
KNOWN_HOSTS = {"127.0.0.1", "localhost", "temporal.io", "keepachangelog.com", "semver.org", "www.w3.org"}
RESERVED = (".example", "example.com", "example.org")
NOT_SETTINGS = {
    "EDGESHIFT_SHARE",
    "EDGESHIFT_SHARE_SEED",
    "EDGESHIFT_USER",
    "EDGESHIFT_ENV",
    "EDGESHIFT_TOKEN",
    "EDGESHIFT_TEMPORAL_CLI",
    "EDGESHIFT_TEMPORAL_CLI_SHA256",
    "EDGESHIFT_TEMPORAL_TEST_SERVER",
}
"""Read by the command line, by campaign files, and by whoever looks for Temporal's binaries."""

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TOLD = re.compile(r"`(edgeshift(?: [^`\n]+)?)`")


def named(page: Path) -> str:
    """A page's name within the project."""
    return page.relative_to(ROOT).as_posix()


def calls(page: Path) -> Iterator[list[str]]:
    """Each call of the command line on a page, in words: at a prompt, or within a sentence."""
    text = page.read_text(encoding="utf-8")
    for _, block in FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ edgeshift"):
                yield shlex.split(line.removeprefix("$ "), comments=True)
    for told in TOLD.findall(FENCE.sub("", text)):
        yield re.sub(r"[\[\]()]", " ", told).replace("|", " ").split()


def wrong(words: list[str]) -> str:
    """What is wrong with a call of the command line, or empty."""
    command: Any = typer.main.get_command(build(None))
    shared = {"--help", *(option for parameter in command.params for option in parameter.opts)}
    for at, word in enumerate(words[1:], 1):
        if not hasattr(command, "commands") or word.startswith("-") or word in ("VERB", "…"):
            break
        if word not in command.commands:
            return f"no verb {' '.join(words[1 : at + 1])}"
        command = command.commands[word]
    parts = getattr(command, "commands", {"": command}).values()
    options = shared | {option for part in parts for parameter in part.params for option in parameter.opts}
    unknown = [word for word in words if word.startswith("-") and word.partition("=")[0] not in options]
    return f"no option {unknown[0]}" if unknown else ""


def anchors(page: Path) -> set[str]:
    """The places of a page that a link can name: its headings."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_call_on_a_page_is_one(page: Path) -> None:
    """Each verb exists, and each of its options."""
    found = {" ".join(words): why for words in calls(page) if (why := wrong(words))}
    assert not found


def test_a_call_that_is_none_is_seen() -> None:
    """The test above sees a verb and an option that do not exist, and calls in both forms."""
    assert wrong(["edgeshift", "strat", "f"]) == "no verb strat"
    assert wrong(["edgeshift", "sign-off", "aprove"]) == "no verb sign-off aprove"
    assert wrong(["edgeshift", "plan", "f", "--jsn"]) == "no option --jsn"
    assert not wrong(["edgeshift", "--address", "h:1", "plan", "--json"])
    assert len(list(calls(ROOT / "README.md"))) >= 8
    assert ["edgeshift", "up"] in list(calls(ROOT / "docs/operators.md"))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    """Files, pictures and headings that a page links to are there."""
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_page_names_no_machine(page: Path) -> None:
    """No path of the machine it was written on, and no host but reserved names and a few public pages."""
    text = page.read_text(encoding="utf-8")
    assert str(ROOT) not in text and str(Path.home()) + "/" not in text
    assert not re.findall(r"(?<![\w.…-])/(?:home|root|tmp|Users|workspace)/", text)
    for url in re.findall(r"https?://[A-Za-z0-9.\[\]:-]+", text):
        host = urlsplit(url).hostname or ""
        placeholder = host.isupper() or "HOST" in url
        assert placeholder or host in KNOWN_HOSTS or host.endswith(RESERVED), url


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_setting_on_a_page_is_one(page: Path) -> None:
    """A variable that a page names is read by something."""
    parts: dict[str, type[BaseModel]] = {
        "TEMPORAL": TemporalSettings,
        "LOG": LogSettings,
        "AUTHORITY": AuthoritySettings,
        "WORKER": WorkerSettings,
    }
    known = {
        f"EDGESHIFT_{part}_{name.upper()}" for part, model in parts.items() for name in model.model_fields
    }
    known |= {f"EDGESHIFT_{name.upper()}" for name in Settings.model_fields} | NOT_SETTINGS
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"\bEDGESHIFT_[A-Z_]*[A-Z]\b(?!_)", text)) <= known


def test_pictures_are_small_and_ask_nobody_for_anything() -> None:
    """Each at most 300 KB and used; one of text fetches nothing and shows no path of a machine."""
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = sorted((ROOT / "docs/images").iterdir())
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size <= 300_000, picture.name
        assert f"images/{picture.name}" in pages, picture.name
        if picture.suffix == ".svg":
            text = picture.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
            assert "://" not in text and not re.search(r"/(?:home|root|tmp|Users)/", text), picture.name


def test_the_campaign_file_for_operators_is_one(tmp_path: Path) -> None:
    """The example loads as it stands."""
    text = (ROOT / "docs/operators.md").read_text(encoding="utf-8")
    (example,) = [block for language, block in FENCE.findall(text) if language == "yaml"]
    (tmp_path / "waf-autumn.yaml").write_text(example)
    assert load_campaign(tmp_path / "waf-autumn.yaml").name == "waf-autumn"


def test_the_errors_for_operators_are_errors() -> None:
    """What the table of errors quotes, the program says somewhere."""
    text = (ROOT / "docs/operators.md").read_text(encoding="utf-8").split("## When something is wrong")[1]
    quoted = [
        said
        for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        for said in re.findall(r"`(.+?)`", row)
    ]
    source = " ".join(
        re.sub(r'["\']\s*\n\s*f?["\']', "", file.read_text(encoding="utf-8"))
        for package in ("edgeshift", "activities")
        for file in (ROOT / package).rglob("*.py")
    )
    assert len(quoted) > 8
    for said in quoted:
        for part in said.split("…"):
            assert part.strip() in source, part


def test_files_that_the_rules_name_are_there() -> None:
    """docs/rules.md leads to code, checkers and tests that exist."""
    text = (ROOT / "docs/rules.md").read_text(encoding="utf-8")
    everywhere = {path.name for folder in ("edgeshift", "tests") for path in (ROOT / folder).rglob("*.py")}
    for path in re.findall(r"`((?:edgeshift|workflows|activities|tests)/[\w/.]*)`", text):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"`(\w+\.py)`", text):
        assert name in everywhere, name


def test_the_table_of_events_is_the_benchmarks() -> None:
    """docs/decisions.md has each event with its numbers, and their sums."""
    from bench.waf import EVENTS

    text = (ROOT / "docs/decisions.md").read_text(encoding="utf-8").replace("`", "")
    for name, pro, enterprise, purpose in EVENTS:
        assert f"| {name} | {pro or ''} | {enterprise or ''} | {purpose} |".replace("|  |", "| |") in text, (
            name
        )
    sums = (sum(row[1] for row in EVENTS), sum(row[2] for row in EVENTS))
    assert f"| **together** | **{sums[0]}** | **{sums[1]}** | |" in text


def test_the_table_of_events_of_changes_that_can_be_undone_is_the_benchmarks() -> None:
    """docs/decisions.md has each event of esc and log-fields with its numbers, and their sums."""
    from bench.events import EVENTS

    text = (ROOT / "docs/decisions.md").read_text(encoding="utf-8")
    for name, esc, log_fields, purpose in EVENTS:
        row = f"| {name} | {esc or ''} | {log_fields or ''} | {purpose} |".replace("|  |", "| |")
        assert row in text, name
    sums = (sum(row[1] for row in EVENTS), sum(row[2] for row in EVENTS))
    assert f"| **together, with one look** | **{sums[0]}** | **{sums[1]}** | |" in text


def test_make_targets_on_a_page_are_targets() -> None:
    """`make …` in README and CONTRIBUTING is in the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"(?:`|^\$ )make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_make_demo_runs_the_demo() -> None:
    """What the README promises of it; each area's the same of its own."""
    for target, words in {
        "demo": "edgeshift demo",
        "demo-esc": "edgeshift demo --area esc",
        "demo-log-fields": "edgeshift demo --area log-fields",
    }.items():
        told = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True)
        assert any(line.split("/")[-1] == words for line in told.stdout.splitlines()), told.stdout


def test_a_first_run_needs_no_openssh() -> None:
    """The demo signs by itself: `ssh-keygen` is asked for by tests alone, which compare signatures."""
    for target, asked in {"demo": False, "demo-esc": False, "demo-log-fields": False, "test": True}.items():
        told = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True)
        assert ("ssh-keygen" in told.stdout) is asked, target


def test_the_version_of_the_changelog_is_the_projects() -> None:
    """The newest entry is about the version that pyproject.toml has."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    first = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert first is not None and version in first[1]
