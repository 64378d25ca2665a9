"""An area in a distribution of its own, from plan to report over the command line.

Nothing in edgeshift names it. What was planned, and how the campaign went, are fixtures of the module: the
tests hold in any order, and on whichever worker.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from edgeshift.testbed.invariants.control import Control
from tests.journeys.cli_kit import CLI, Place, running_stack

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "always_https"
AREA = "always-https"
SLOW = [pytest.mark.stack, pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(600)]


def slow(test: Any) -> Any:
    """A test that runs a stack."""
    for mark in SLOW:
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where Python finds edgeshift and the installed example."""
    folder = tmp_path_factory.mktemp("installed")
    # Built from a copy, so that nothing is left in the sources.
    source = shutil.copytree(EXAMPLE, folder / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--no-index", "--target", str(folder / "site"), str(source)], check=True)
    return os.pathsep.join([str(ROOT), str(folder / "site")])


@pytest.fixture(scope="module")
def place(path: str, tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Place]:
    """A stack whose worker has the example; one zone has the setting on already."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
        patch.setenv("PYTHONPATH", path)
        with running_stack(tmp_path_factory.mktemp("stack")) as found:
            turn(found, "shop-3.example", "on")
            made = (found.folder / f".edgeshift/campaign-{AREA}.yaml").read_text()
            # A minute a second: there is time to do something while zones are watched.
            text = made.replace(f"rehearsal-{AREA}", "https").replace("time_scale: 14400", "time_scale: 60")
            found.write("https.yaml", text + "advance: {failures: 3}\n")
            yield found


def turn(place: Place, zone: str, value: str) -> None:
    """Turn the setting of a zone on or off as somebody else does, past edgeshift."""

    async def sent() -> None:
        control = Control(place.stack["control"])
        listed = (await control.get("zones"))["zones"]
        found = next(one["id"] for one in listed if one["name"] == zone)
        await control.send("PATCH", f"zones/{found}", {"settings": {"always_use_https": value}})

    asyncio.run(sent())


def until(place: Place, found: Callable[[dict[str, int]], bool], name: str = "https") -> dict[str, int]:
    """The counts of the campaign, once they are as wanted. By the command line: this process does not have
    the example, and so cannot read what is said of it.
    """
    limit = time.monotonic() + 240
    while not found(places := place.json("status", name)["summary"]["places"]):
        assert time.monotonic() < limit, places
    return dict(places)


def test_nothing_in_edgeshift_names_the_example() -> None:
    """Its name, its workflow and its package stand in its own folder, in documents and in this test alone."""
    rooms = ("edgeshift", "workflows", "activities", "worker")
    sources = [file for room in rooms for file in (ROOT / room).rglob("*") if file.suffix in (".py", ".j2")]
    assert sources
    for file in sources:
        text = file.read_text(encoding="utf-8")
        assert not any(name in text for name in (AREA, "AlwaysHttps", "edgeshift_always_https")), file


def test_without_the_distribution_there_is_no_such_area(tmp_path: Path) -> None:
    """A campaign file of it cannot be begun, and the areas that there are are named."""
    said = Place(tmp_path, PYTHONPATH=str(ROOT)).refused(2, "init", "--area", AREA)
    assert "'waf', 'esc', 'log-fields'" in said


def test_a_new_campaign_file_is_of_the_area(path: str, tmp_path: Path) -> None:
    """With every option that the area has, and none of another one's."""
    here = Place(tmp_path, PYTHONPATH=path)
    here.ok("init", "new.yaml", "--area", AREA)
    text = (tmp_path / "new.yaml").read_text()
    assert f"# What is changed: {AREA} (Always Use HTTPS on, or off).\narea: {AREA}\n" in text
    assert "no setting is changed without a sign-off" in text
    assert not any(f"\n{section}:" in text for section in ("validation", "esc", "log_fields", "tickets"))
    assert (
        "\nalways_https:\n  # on: http is redirected to https. off: it is answered as it is.\n  value: on\n"
        in text
    )
    assert text.index("\nalways_https:") < text.index("\ncommit:")


MINE = "name: https\narea: always-https\ntargets: {all: true}\n"
SECTION_MISTAKES = [
    (MINE + "always_https: {value: maybe}\n", "4:16: always_https.value: is 'maybe'; it must be on or off"),
    (MINE + "always_https: {vale: off}\n", "4:16: always_https.vale: unknown key; did you mean value?"),
    (
        MINE + "always_https:\n  watch: 5m\n  every: 6m\n",
        "6:3: always_https.every: is longer than always_https.w",
    ),
    (
        "name: a\ntargets: {all: true}\nalways_https: {value: off}\n",
        "3:1: always_https: belongs to campaigns of area always-https, and this one is of area waf",
    ),
]


@pytest.mark.parametrize(("text", "said"), SECTION_MISTAKES)
def test_a_mistake_in_its_section_is_named_with_line_and_column(
    path: str, tmp_path: Path, text: str, said: str
) -> None:
    """As in every other part of a campaign file."""
    (tmp_path / "wrong.yaml").write_text(text)
    assert f"wrong.yaml:{said}" in Place(tmp_path, PYTHONPATH=path).refused(2, "plan", "wrong.yaml")


def test_its_section_and_its_reasons_are_in_what_is_generated(path: str, tmp_path: Path) -> None:
    """The JSON schema, and the tables of one area."""
    schema = json.loads(Place(tmp_path, PYTHONPATH=path).ok("campaign-schema"))
    part = schema["$defs"][schema["properties"]["always_https"]["$ref"].rpartition("/")[2]]
    assert part["properties"]["value"]["enum"] == ["on", "off"]
    made = python(path, "-m", "edgeshift.campaign_file.reference", AREA)
    assert (
        "| `always_https.watch` | `10m` | How long a zone is watched after its setting was changed. |" in made
    )
    assert "| `always-https.set-by-others` | `value` | Somebody else has given the setting" in made
    assert "`name`" not in made and "esc" not in made


def test_campaigns_of_other_areas_are_archived_as_without_it(path: str) -> None:
    """Byte for byte, so that their digests stay; its own are read back with their section."""
    program = """
from edgeshift.campaign_file.load import parse_campaign
print(parse_campaign("name: a\\ntargets: {all: true}\\narea: esc\\n").model_dump_json())
"""
    assert python(path, "-c", program) == python(str(ROOT), "-c", program)
    program = """
from edgeshift.campaign_file.load import parse_campaign
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift_always_https.section import AlwaysHttpsSection
spec = parse_campaign("name: a\\ntargets: {all: true}\\narea: always-https\\nalways_https: {value: off}\\n")
back = CampaignSpec.model_validate_json(spec.model_dump_json())
print(back == spec, back.section(AlwaysHttpsSection).value)
"""
    assert python(path, "-c", program) == "True off\n"


def test_what_people_see_of_it_is_its_own(path: str) -> None:
    """A section of the report, its JSON, a line of a history, and one before a sign-off."""
    program = """
from edgeshift.model.fleet import Area
from edgeshift.views.parts import VIEWS
from edgeshift.views.report_data import as_json
from edgeshift_always_https.documents import AlwaysHttpsRecord
from edgeshift_always_https.rules import Reading
from tests.pages.waiting_kit import preview
from tests.pages.page_kit import zones
from tests.rules.test_timeline_report_areas import page, row, source
from dataclasses import replace
area = Area("always-https")
record = AlwaysHttpsRecord.model_construct(value="on")
found = source(area, [row(0, area, "settled")], records={0: record})
print('<caption>Always Use HTTPS, as the last looks have read it</caption>' in page(found))
print(as_json(found)["own"], *VIEWS.of(area).lines("record", record))
shown = replace(preview(zones()[0], 0, None), area=area, own=Reading(value="off"))
print(*VIEWS.of(area).seen_lines(shown))
"""
    assert python(path, "-c", program).splitlines() == [
        "True",
        "{'last': {'on': 1}} Always Use HTTPS was on at the last look",
        "Always Use HTTPS is off now",
    ]


LOOKS = [
    ("nothing", "done", ["settled"], True),
    ("rollback", "no worker has signed that this campaign made the change", [], False),
    ("archive", "failed: ArchiveUnavailable: not now", [], False),
]


@pytest.mark.parametrize(("meanwhile", "told", "signed", "seen_through"), LOOKS)
def test_a_rollback_that_comes_while_a_zone_is_read_is_not_told_as_settled(
    path: str, tmp_path: Path, meanwhile: str, told: str, signed: list[str], seen_through: bool
) -> None:
    """Nor does it count as seen through before it is signed as that: the look may end between the two."""
    said = python(path, "-m", "tests.journeys.installed_area_looks", str(tmp_path), meanwhile)
    assert json.loads(said) == {"told": told, "signed": signed, "seen_through": seen_through}


def test_its_checker_judges_its_own_setting_alone(path: str) -> None:
    """Another setting is of the area that changes it, where one is installed that does."""
    program = """
from datetime import UTC, datetime
from edgeshift.testbed.invariants.requests import Request
for name in ("always_use_https", "min_tls_version"):
    sent = {"name": name, "before": "off", "sent": "on", "after": "on"}
    asked = dict(seq=1, time=datetime.now(UTC), method="PATCH", call="settings.patch", zone="z")
    print([Request(**asked, setting=sent).area])
"""
    assert python(path, "-c", program).splitlines() == ["['always-https']", "['']"]


def python(path: str, *given: str) -> str:
    """What Python prints with these folders on its path."""
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, *given], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True)
class Planned:
    """Before the campaign began: what `plan` said, as JSON and as text, and the changes sent until then."""

    told: dict[str, Any]
    shown: str
    sent: list[dict[str, Any]]


@pytest.fixture(scope="module")
def planned(place: Place) -> Planned:
    """The plan of the campaign, of which nothing was begun."""
    assert place.json("doctor", "https.yaml")["ok"]
    told = place.json("plan", "https.yaml")
    shown = place.ok("plan", "https.yaml")
    return Planned(told, shown, place.writes())


@dataclass(frozen=True)
class Course:
    """The changes sent before somebody signed; what a zone proposed then, as JSON, as text and on the page
    for approvers; the changes sent until the end, and the counts then.
    """

    unsigned: list[dict[str, Any]]
    proposed: dict[str, Any]
    said: str
    to_approve: str
    sent: list[dict[str, Any]]
    ended: dict[str, int]


ENDS = ("settled", "already_settled", "rolled_back")


@pytest.fixture(scope="module")
def course(place: Place, planned: Planned) -> Course:
    """The campaign to its end; while zones are watched, somebody turns the setting of one of them off."""
    place.ok("start", "https.yaml", "--yes")
    until(place, lambda places: places.get("awaiting") == 7)
    unsigned = place.writes()
    proposed, said = place.json("show", "shop-1.example"), place.ok("show", "shop-1.example")
    place.ok("report", "https", "--for-approval", "--out", "to-approve.html")
    to_approve = (place.folder / "to-approve.html").read_text()
    place.ok("sign-off", "approve", "https", "--wave", "1", "--yes", "--by", "ada")
    until(place, lambda places: places.get("waiting") == 7)
    turn(place, "shop-1.example", "off")
    ended = until(place, lambda places: sum(places.get(one, 0) for one in ENDS) == 8)
    return Course(unsigned, proposed, said, to_approve, place.writes(), ended)


@slow
def test_a_plan_says_what_would_be_done(planned: Planned) -> None:
    """Each zone is read; one needs nothing; all the others share one fingerprint. Nothing is sent."""
    told = planned.told
    assert told["area"] == AREA
    assert told["verdicts"] == {"ready": 7, "already_settled": 1}
    assert list(told["fingerprints"].values()) == [7]
    assert [line["causes"] for line in told["zones"] if line["causes"]] == [["always-https.set-already"]]
    assert "HTTPS was set" in planned.shown and "Forecast: 70 calls" in planned.shown
    assert planned.sent == []


@slow
def test_zones_are_signed_changed_watched_and_one_is_rolled_back(course: Course) -> None:
    """One sign-off counts for all; where somebody turns the setting off meanwhile, it stays off."""
    assert course.unsigned == []
    counts = {one: course.ended.get(one, 0) for one in ENDS}
    assert counts == {"settled": 6, "already_settled": 1, "rolled_back": 1}
    sent = [(line["call"], line["setting"]["sent"]) for line in course.sent]
    assert sorted(sent) == [("settings.patch", "off"), *[("settings.patch", "on")] * 7]


@slow
def test_before_they_sign_people_see_what_the_area_adds(course: Course) -> None:
    """On the screen, on the page for approvers and in the JSON: what the zone was read as."""
    line = "Always Use HTTPS is off now"
    assert f"seen: {line}" in course.said and line in course.to_approve
    assert course.proposed["own"] == {"value": "off"}
    assert (course.proposed["evidence"], course.proposed["names"]) == (None, {})


@slow
@pytest.mark.usefixtures("course")
def test_people_see_it_in_the_words_of_the_area(place: Place) -> None:
    """Status, history and report."""
    assert "HTTPS set" in place.ok("status", "https")
    told = place.ok("history", "shop-1.example")
    assert "Always Use HTTPS was set back for shop-1.example" in " ".join(told.split())
    assert "ada" in told and "somebody has turned Always Use HTTPS off meanwhile" in " ".join(told.split())
    assert "Always Use HTTPS was on at the last look" in place.ok("history", "shop-2.example")
    place.ok("report", "https", "--out", "https.html")
    page = (place.folder / "https.html").read_text()
    assert "Rolled back" in page and "HTTPS set back" in page and "Always Use HTTPS is on already" in page
    assert "Always Use HTTPS, as the last looks have read it" in page and 'href="#last"' in page
    assert place.run("alarms", "https").code in (0, 7)


@slow
@pytest.mark.usefixtures("course")
def test_programs_see_its_reasons_with_their_facts(place: Place) -> None:
    """In the JSON of status and report, under the area's own codes."""
    report = place.json("report", "https")
    assert report["own"] == {"last": {"on": 6, "off": 1}}
    zones = {zone["name"]: zone for zone in report["zones"]}
    already = {"code": "always-https.set-already", "facts": {"value": "on"}}
    assert without_words(zones["shop-3.example"]["causes"]) == [already]
    (back,) = zones["shop-1.example"]["causes"]
    others = {"code": "always-https.set-by-others", "facts": {"value": "off"}}
    assert (back["code"], without_words(back["because"])) == ("rolled_back", [others])
    (zone,) = place.json("status", "https", "--phase", "already_settled")["zones"]
    assert (zone["code"], without_words(zone["causes"])) == (already["code"], [already])


def without_words(causes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Reasons without their text."""
    return [{key: value for key, value in cause.items() if key != "words"} for cause in causes]


@slow
@pytest.mark.usefixtures("course")
def test_the_option_decides_what_is_sent(place: Place) -> None:
    """A campaign that says so turns the setting off."""
    made = (place.folder / "https.yaml").read_text().replace("name: https", "name: http")
    targets = "targets:\n  include: [shop-3.example]\n"
    place.write(
        "http.yaml", made.replace("targets:\n  all: true\n", targets) + "always_https: {value: off}\n"
    )
    assert place.json("plan", "http.yaml")["verdicts"] == {"ready": 1}
    before = len(place.writes())
    place.ok("start", "http.yaml", "--yes")
    until(place, lambda places: places.get("awaiting") == 1, "http")
    place.ok("sign-off", "approve", "http", "--wave", "1", "--yes", "--by", "ada")
    until(place, lambda places: places.get("settled") == 1, "http")
    assert [line["setting"]["sent"] for line in place.writes()[before:]] == ["off"]


@slow
def test_every_rule_holds_by_its_checkers(path: str, tmp_path: Path, temporal_cli_path: Path) -> None:
    """The demo of the area, with faults on the wire: the checkers of the example, and those of all areas."""
    here = Place(tmp_path, PYTHONPATH=path, EDGESHIFT_TEMPORAL_CLI=str(temporal_cli_path))
    done = subprocess.run(
        [*CLI, "demo", "--area", AREA, "--zones", "60", "--seed", "2"],
        cwd=tmp_path,
        env=here.environment | {"COLUMNS": "160"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no setting is changed without" in done.stdout and done.stdout.count("✓ held") == 12
