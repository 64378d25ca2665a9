"""Where a verb acts: it names Temporal before it asks or writes, and is refused with another archive than the
campaign's; and what it shows while it waits there. The tests run in their order on one stack.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgeshift.cli import spinner
from edgeshift.stores.archive import Archive
from edgeshift.stores.identity import identity_of
from tests.journeys.cli_kit import Place, in_process, running_stack

pytestmark = [pytest.mark.stack(40), pytest.mark.embedded, pytest.mark.timeout(600), pytest.mark.long]

OTHER = "campaign main keeps its documents in another archive ("


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Place]:
    """A stack over the small fleet, a campaign file for all of it, and one for zones that it has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
        with running_stack(tmp_path_factory.mktemp("where")) as found:
            found.campaign("main", "all: true")
            found.campaign("left", "include: [long.example, shop-2.example]")
            yield found


@pytest.fixture
def within(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process in the stack's folder."""
    monkeypatch.chdir(place.folder)
    monkeypatch.setenv("EDGESHIFT_USER", "olga")


@pytest.fixture
def watched(within: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """And at a terminal on which a sign of life comes at once."""
    monkeypatch.setattr(spinner, "AFTER", 0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


def refused(code: int, *arguments: str) -> str:
    """The error of a verb that has to end with this code, called in this process: they are many."""
    ran = in_process(*arguments)
    assert ran.code == code and ran.err.count("error: ") == 1 and "\n\nhint: " in ran.err, (arguments, ran)
    return ran.err


def where(place: Place) -> dict[str, str | None]:
    """What a document says of the place where its verb acted."""
    return {"environment": None, "address": place.stack["address"], "namespace": "default"}


def at(place: Place) -> str:
    """What a verb that writes says of it on stderr."""
    return f"at Temporal {place.stack['address']}, namespace default\n"


def test_nothing_is_read_for_another_archive(within: None, place: Place, tmp_path: Path) -> None:
    """A plan and a start with an archive that the workers do not have are refused before a zone is read,
    whether or not it is there, though no campaign has named any yet. Nothing is made or written.
    """
    place.ok("plan", "main.yaml")
    there = Archive(tmp_path / "made")
    asyncio.run(identity_of(there))
    kept = sorted(tmp_path.rglob("*"))
    read = place.journal()
    for name, why in (("other", "other is no folder"), ("made", "none of those that poll has recorded")):
        for verb in ("plan main.yaml", "plan left.yaml", "start left.yaml --yes"):
            said = refused(6, "--archive", str(tmp_path / name), *verb.split())
            assert "the workers keep what they read in another archive: " in said and why in said, verb
            assert "hint: name the archive of the workers: --archive URL" in said
    assert sorted(tmp_path.rglob("*")) == kept and place.journal() == read


def test_a_plan_and_a_start_say_where(place: Place) -> None:
    """A plan writes as well: it is kept in the archive. With --quiet, the JSON says it."""
    assert place.run("plan", "main.yaml").err.startswith(at(place))
    quiet = place.run("-q", "plan", "main.yaml", "--json", "--out", "plan.json")
    assert (quiet.code, quiet.err) == (0, ""), quiet
    for told in (json.loads(quiet.out), json.loads((place.folder / "plan.json").read_text())):
        assert where(place).items() <= told.items()
    started = place.run("-q", "start", "--plan", "plan.json", "--yes", "--json")
    assert (started.code, started.err) == (0, ""), started
    assert where(place).items() <= json.loads(started.out).items()
    came_to = {"awaiting": 5, "awaiting_separate": 1, "support": 1, "blocked": 1}
    place.until("main", lambda places: places == came_to)


def test_who_steers_is_told_where_before_the_question(place: Place) -> None:
    """And before anything is sent, once."""
    asked = place.run("abort", "main")
    assert asked.code == 6 and asked.err.startswith(at(place)) and "pass --yes" in asked.err
    for verb in ("pause", "resume"):
        assert place.run(verb, "main").err.startswith(at(place))
    told = place.run("-q", "pause", "main", "--json")
    assert told.err == "" and where(place).items() <= json.loads(told.out).items()
    place.ok("resume", "main")


def test_another_archive_than_the_campaigns_is_refused_at_once(
    within: None, place: Place, tmp_path: Path
) -> None:
    """By whatever looks into it or writes, with both archives' names; the doctor finds it."""
    shown = place.json("show", "odd.example")
    zone = shown["id"]
    other = ("--archive", str(tmp_path / "other"))
    for verb in (
        "resume main",
        "retry main --zone odd.example",
        "reopen main --zone odd.example",
        "support-resolved main --zone long.example",
        "sign-off approve main --wave 1 --yes",
        "sign-off approve main --zone odd.example --yes",
        "sign-off approve main --zone odd.example --zone bank.example --yes",
        "sign-off approve main --cause false --yes",
        "sign-off reject main --wave 1 --yes",
        "sign-off reject main --zone odd.example --yes",
        "sign-off causes main",
        "repair campaign/main --reason x",
        "repair campaign/main --reason x --dry-run",
        f"repair zone/{zone}/waf --reason x",
        "report main",
        "report main --for-approval",
        "export terraform main --out tf",
        "watch main",
        "status main",
        "audit export main --out audit.jsonl",
        "show odd.example",
        "show odd.example --campaign main",
        f"show {zone}",
        f"show {shown['digest']}",
        f"show {shown['fingerprint'][:12]} --campaign main",
        "history odd.example",
        f"history {zone}",
        "snapshot odd.example",
        "snapshot odd.example --campaign main",
        "check odd.example",
        "check main --all",
        "alarms main",
    ):
        said = refused(6, *other, *verb.split())
        assert OTHER in said and "other is no folder" in said, verb
    assert not (place.folder / "audit.jsonl").exists() and not list((place.folder / "tf").glob("*"))
    # What stops it goes on: its disk may not be mounted.
    ran = in_process(*other, "pause", "main")
    assert ran.code == 0 and "other is no folder, and nothing can be signed there" in ran.err, ran
    place.ok("resume", "main")
    assert place.json("status", "main")["summary"]["state"] == "running"
    told = json.loads(place.run(*other, "doctor", "--json").out)
    (found,) = (check for check in told["checks"] if check["name"] == "archive of campaigns")
    assert found["state"] == "failed" and "main" in found["text"] and "EDGESHIFT_ARCHIVE_URL" in found["fix"]
    (found,) = (c for c in place.json("doctor")["checks"] if c["name"] == "archive of campaigns")
    assert found["state"] == "ok"


def test_an_archive_of_others_is_named(within: None, tmp_path: Path) -> None:
    """One that is an archive, too. The alarms of all campaigns say that it is another one, and not that
    something is damaged; a zone that no campaign has is found in neither.
    """
    name = asyncio.run(identity_of(Archive(tmp_path / "made")))
    other = ("--archive", str(tmp_path / "made"))
    for verb in ("watch main", "audit export main --out audit.jsonl", "show odd.example", "alarms main"):
        said = refused(6, *other, *verb.split())
        assert OTHER in said and f"made is archive {name[:12]}" in said, verb
    alarms = json.loads(in_process(*other, "alarms", "--json").out)["alarms"]
    told = {(one["code"], one["campaign"]): one["text"] for one in alarms}
    assert OTHER in told["archive", "main"]
    assert "archive-damaged" not in {code for code, _ in told}
    # One with credentials in it is refused, and repeated nowhere.
    ran = in_process("--archive", "s3://KEY:sup3rs3cret@bucket", "alarms", "--json")
    assert "archive" in {one["code"] for one in json.loads(ran.out)["alarms"]}
    assert "sup3rs3cret" not in ran.out + ran.err
    assert "no campaign has a zone 'none.example'" in refused(5, "history", "none.example")
    # What was signed is looked for in the archive alone where that was asked for: it says in which.
    said = refused(5, *other, "audit", "export", "main", "--archive-only", "--out", "audit.jsonl")
    assert "nobody has signed the start of campaign main in archive " in said and "made" in said


def test_zones_that_are_left_out_are_named(within: None, place: Place) -> None:
    """By `watch` and `status`: no number of a list that people never see."""
    assert in_process("start", "left.yaml", "--yes").code == 0
    place.until("left", lambda places: places.get("excluded") == 2)
    said = in_process("watch", "left").out
    for zone in ("long.example", "shop-2.example"):
        assert f"zone {zone} is left out: already in campaign/main" in said
    assert "2 zones left out, such as zone " in (shown := in_process("status", "left").out)
    assert "such as zone long.example" in shown or "such as zone shop-2.example" in shown


def test_long_work_shows_that_it_goes_on(watched: None) -> None:
    """The page for approvers, and both halves of the audit."""
    ran = in_process("report", "main", "--for-approval")
    assert ran.code == 0 and "gathering what waits for a sign-off …" in ran.err
    ran = in_process("audit", "export", "main", "--out", "audit.jsonl")
    assert ran.code == 0 and "collecting what was signed of campaign main …" in ran.err
    signers = ".edgeshift/authority/allowed_signers"
    ran = in_process("audit", "verify", "audit.jsonl", "--signers", signers)
    assert ran.code == 0 and "proving audit.jsonl …" in ran.err


def test_what_is_asked_of_temporal_is_said_with_v(place: Place) -> None:
    """Each question to a workflow, on stderr; the result is printed as without it."""
    ran = place.run("status", "main", "-v")
    assert ran.code == 0 and "main  waf  running" in ran.out
    asked = re.findall(r"^· Temporal: ask (\S+) for (\S+)$", ran.err, re.MULTILINE)
    assert ("campaign/main", "summary") in asked


def test_whoever_writes_to_zones_is_told_where(place: Place) -> None:
    """Sign-offs, what starts zones again, what is told of support, a repair: before a question and an
    answer, and where they are refused; a receipt says it too.
    """
    asked = place.run("sign-off", "approve", "main", "--wave", "1", "--by", "ada")
    assert asked.code == 6 and asked.err.startswith(at(place)) and "pass --yes" in asked.err
    for code, words in (
        (0, "sign-off reject main --zone shop-3.example --by ada --yes"),
        (0, "sign-off reject main --cause false --by ada --yes"),
        (0, "reopen main --zone shop-3.example"),
        (0, "retry main --zone legacy.example"),
        (0, "support-resolved main --zone long.example"),
        (6, "repair campaign/main --reason x"),
    ):
        ran = place.run(*words.split())
        assert ran.code == code and ran.err.startswith(at(place)) and ran.err.count(at(place)) == 1, ran
        if words.startswith("sign-off"):
            place.until("main", lambda places: places.get("rejected", 0) >= 1)
    place.until("main", lambda places: places.get("blocked") == 1 and places.get("awaiting") == 5)
    for words in (
        "retry main --zone legacy.example",
        "sign-off reject main --zone shop-1.example --zone shop-2.example --by ada --yes",
    ):
        assert where(place).items() <= place.json(*words.split()).items(), words


def test_an_abort_says_it_once(place: Place) -> None:
    """Although it asks first."""
    done = place.run("abort", "main", "--yes")
    assert done.code == 0 and done.err.count(at(place)) == 1 and done.err.startswith(at(place))
