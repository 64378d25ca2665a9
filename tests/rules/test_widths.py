"""Every table fits every terminal: at 40, 80 and 200 columns no name and no digest of it is broken or cut."""

from __future__ import annotations

import io
import re
import shlex
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.text import Text

from edgeshift.alarms import Alarm, Severity
from edgeshift.areas.assessment import Verdict
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.cli.alarms import paragraphs
from edgeshift.cli.doctor import lines_of
from edgeshift.cli.fleet import tables
from edgeshift.cli.plan_tables import show_plan
from edgeshift.doctor.check import Check as DoctorCheck
from edgeshift.doctor.check import State
from edgeshift.messages import (
    AssessmentResult,
    Book,
    CampaignSummary,
    PlanReport,
    Step,
    Waiting,
    WaveSummary,
    ZoneAssessment,
)
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.fleet import Area, Plan, Wave, Zone, ZoneOutcome
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.testbed.demo.show import outcome_table, rule_table
from edgeshift.testbed.invariants import RuleCheck
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.views.entries import Attempt, Entry, EntryKind, Timeline
from edgeshift.views.figures import Pace
from edgeshift.views.history_view import history_view
from edgeshift.views.lists import CampaignLine, campaigns_table, rows_table, zone_lists
from edgeshift.views.live import campaign_view, totals_view
from edgeshift.views.rows import ZoneRow
from edgeshift.views.widths import Columns, Paragraph, spread

BEGAN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DIGEST = "3bed57c67adb" + "0" * 52
NAMES = ("ivory-pharmacy.example", "autumn-radio.example", "a-name-of-thirty-letters.example")
APPROVAL = Decision(choice=Choice.APPROVE, digest=DIGEST, by="grace@the-shops.example", at=BEGAN)
CAMPAIGN, WAVE = "waf-autumn-2026-north", "the-shops-of-the-north"
WIDTHS = pytest.mark.parametrize("width", [40, 80, 200])


def drawn(shown: RenderableType, width: int) -> str:
    """What a terminal of this width shows."""
    console = Console(width=width, file=io.StringIO(), color_system=None, legacy_windows=False)
    console.print(shown)
    found: str = console.file.getvalue()  # type: ignore[attr-defined]
    return found


def check(text: str, width: int, *words: str) -> None:
    """Each of these words is whole, no line is wider than the terminal, and none is cut off."""
    assert not [word for word in words if word not in text], text
    assert max(map(cell_len, text.splitlines())) <= width, text
    assert not re.search(r"\w…", text), text
    broken = {word for word in text.split() for name in NAMES if len(word) > 9 and name.startswith(word)}
    assert not broken - set(NAMES), broken


def rows() -> list[ZoneRow]:
    """Zones in every state, three each."""
    states = [
        *("awaiting", "awaiting_separate", "support", "rolling_back", "excluded"),
        *ZoneOutcome,
    ]
    return [
        ZoneRow(
            index=index,
            id=DIGEST[:32],
            name=name,
            account="a" * 32,
            plan="enterprise",
            wave=index,
            place=str(state),
            reason=f"260 firewall rules of {name} are over the limit {number}",
            fingerprint=DIGEST,
        )
        for number, state in enumerate(states)
        for index, name in enumerate(NAMES)
    ]


def summary(state: str) -> CampaignSummary:
    """A campaign with two waves and fingerprints that wait."""
    places = {"migrated": 90, "awaiting_separate": 7, "failed": 3}
    waiting = [
        Waiting(fingerprint=DIGEST, zones=7, waves=list(range(9)), example=0, step=step, separate=2)
        for step in Step
    ]
    return CampaignSummary(
        name=CAMPAIGN,
        area=Area.WAF,
        state=state,
        why=f"paused by olga: {NAMES[2]} is slow",
        fix=f"edgeshift resume {CAMPAIGN}",
        started_by="olga",
        started_at=BEGAN,
        now=BEGAN + timedelta(hours=2),
        time_scale=14_400,
        count=12_345,
        wave=0,
        waves=[WaveSummary(number=n, name=f"{WAVE}-{n}", size=6_172, places=places) for n in range(2)],
        places=places,
        permits_out=3,
        waiting=waiting,
        book=[Book(fingerprint=DIGEST, decisions=[APPROVAL])],
        excluded={7: f"already in campaign {CAMPAIGN}"},
        notes=[f"{NAMES[2]} was left out"],
        targets=DIGEST,
        spec=DIGEST,
    )


@WIDTHS
@pytest.mark.parametrize("plain", [False, True])
def test_a_status_fits(width: int, plain: bool) -> None:
    """The picture of a campaign, its lists, its totals, the list of all campaigns."""
    now = summary("paused")
    progress = Pace().progress(now, now.now)
    view = Group(
        campaign_view(now, progress, now.now, plain=plain, note="Rehearsal: nothing is signed."),
        zone_lists(rows(), CAMPAIGN, plain=plain),
        rows_table(rows(), places=True),
    )
    waves = (f"{WAVE}-0", f"{WAVE}-1")
    text = drawn(view, width)
    check(text, width, *NAMES, DIGEST[:12], CAMPAIGN, *waves, "12:00:00", "14:00:00")
    # Who has approved what waits still: it takes more people.
    assert "approved by grace@the-shops.example" in re.sub(r"\s+", " ", text)
    # What waits singly for its own sign-off has all the approvals that its fingerprint can have.
    singly = now.model_copy(
        update={"waiting": [one.model_copy(update={"separate": one.zones}) for one in now.waiting]}
    )
    assert "more have to approve" in re.sub(r"\s+", " ", text)
    assert "approve" not in drawn(campaign_view(singly, progress, now.now, plain=plain), width)
    closed = summary("closed")
    check(drawn(totals_view(closed, progress), width), width, CAMPAIGN, "migrated")
    line = CampaignLine(
        name=CAMPAIGN, state="running", started_at=BEGAN, started_by="olga", finished=31, zones=12_345
    )
    check(drawn(campaigns_table([line]), width), width, CAMPAIGN, "31/12,345", "olga")


@WIDTHS
@pytest.mark.parametrize("area", [Area.WAF, Area.ESC, Area.LOG_FIELDS])
def test_a_plan_fits(width: int, area: Area) -> None:
    """Verdicts, waves, fingerprints, zones by name with their reasons, in each area."""
    verdicts = (Verdict.READY, Verdict.BLOCKED, Verdict.NEEDS_SUPPORT)
    zones = [
        ZoneAssessment(
            index=index,
            zone=Zone(id=f"{index:032x}", name=name, account="a" * 32, plan=Plan.ENTERPRISE),
            verdict=verdict,
            wave=index % 2,
            fingerprint=DIGEST if verdict is Verdict.READY else "",
            reasons=[] if verdict is Verdict.READY else ["260 firewall rules are over the limit of 200"],
            losses=["group SQLi of OWASP is off"],
            facts={"esc": "on", "secret": "own", "fields there": "2"},
        )
        for index, (verdict, name) in enumerate((verdict, name) for verdict in verdicts for name in NAMES)
    ]
    result = AssessmentResult(
        report=DIGEST,
        targets=DIGEST,
        count=len(zones),
        waves=tuple(
            Wave(number=n, name=f"{WAVE}-{n}", first=5 * n, end=5 * n + 4 + (n == 0)) for n in range(2)
        ),
        enterprise="",
    )
    report = PlanReport(name=CAMPAIGN, made_at=BEGAN, zones=zones, service_time=BEGAN - timedelta(days=900))
    more = {"log_fields": {"request_headers": ["x-id"]}} if area is Area.LOG_FIELDS else {}
    spec = CampaignSpec.model_validate({"name": CAMPAIGN, "targets": {"all": True}, "area": area, **more})
    console = Console(width=width, file=io.StringIO(), color_system=None)
    show_plan(console, spec, report, result, "waf.yaml")
    text = console.file.getvalue()  # type: ignore[attr-defined]
    check(text, width, *NAMES, f"{WAVE}-0", *([] if area is Area.ESC else [DIGEST[:12]]))


@WIDTHS
def test_a_history_fits(width: int) -> None:
    """When, what, and what led to it: beside one another, or below."""
    entries = [
        Entry(
            at=BEGAN + timedelta(seconds=number),
            kind=kind,
            text=f"{NAMES[2]} {kind.value}",
            details=[f"rule {DIGEST[:12]} stopped 7"],
            because=[f"alice approved the digest {DIGEST[:12]}"],
            outcome="migrated" if kind is EntryKind.OUTCOME else "",
            event=number,
        )
        for number, kind in enumerate(EntryKind)
    ]
    attempt = Attempt(
        number=1,
        campaign=CAMPAIGN,
        wave=0,
        run_ids=["r"],
        started_at=BEGAN,
        entries=entries,
        outcome="migrated",
    )
    told = Timeline(zone=DIGEST[:32], name=NAMES[0], sentence=f"{NAMES[0]} was migrated.", attempts=[attempt])
    check(drawn(history_view(told), width), width, *NAMES[::2], DIGEST[:12], CAMPAIGN, "12:00:00")


@WIDTHS
def test_what_a_demo_and_a_fleet_show_fits(width: int) -> None:
    """Outcomes, the rules with their checkers, a fleet's accounts by plan."""
    checks = [
        RuleCheck(
            rule=number, title="Nothing is sent unsigned", checker="journal-and-archive", checked=12_345
        )
        for number in (1, 11)
    ]
    fleet = generate_fleet(60, 7)
    shown = Group(
        outcome_table({outcome.value: 7 for outcome in ZoneOutcome}), rule_table(checks), *tables(fleet)
    )
    accounts = [word for account in fleet.accounts for word in account.name.split()]
    check(drawn(shown, width), width, "journal-and-archive", "12,345", "enterprise", *accounts)


def test_the_rules_of_a_demo_go_on_below_themselves() -> None:
    """A title that wraps does not run into the column of the numbers."""
    title = "after pause or abort has answered, no forward step of any kind begins"
    check = RuleCheck(rule=7, title=title, checker="journal, the record of who asked", checked=2)
    lines = drawn(rule_table([check]), 80).splitlines()[2:]
    assert len(lines) > 1 and lines[0].startswith("   7  after")
    assert all(line.startswith(" " * 6) and line[6] != " " for line in lines[1:])


def test_a_list_without_spaces_goes_on_after_a_comma() -> None:
    """Nothing of it is lost, and no name in it is broken; what is no list is left whole."""
    said = "fields=RayID,ClientRequestHost,Cookies,RequestHeaders,ResponseHeaders&timestamps=rfc3339"
    text = drawn(Paragraph(Text("    "), f"logpull_options: {said} → nothing", hang=6), 80)
    check(text, 80, "ClientRequestHost,", "RequestHeaders,", "ResponseHeaders&timestamps=rfc3339")
    assert said in "".join(line.strip() for line in text.splitlines())
    for whole in (
        DIGEST * 2,
        f"https://shop.example/?ids={'1,' * 60}2",
        f"s3://logs/{'a' * 90},b",
        f'http.user_agent contains "{"yz" * 40},www"',
        f'http.user_agent contains "a {"yz" * 40},www b"',
        f'matches "^/{"a" * 90}/[a-z]{{1,80}}$"',
    ):
        console = Console(width=80, file=io.StringIO())
        console.print(Paragraph(Text(), whole, hang=2), soft_wrap=True)
        shown = console.file.getvalue()  # type: ignore[attr-defined]
        assert not set(whole.split()) - set(shown.split()), shown


def alarm() -> Alarm:
    """One with everything: names, reasons, commands that are longer than a narrow terminal."""
    return Alarm(
        code="sign-off-waits-singly",
        severity=Severity.WARNING,
        what="zones wait for a sign-off of their own, since their evidence did not pass",
        campaign=CAMPAIGN,
        text=f"{NAMES[2]}: the proposal {DIGEST[:12]} stopped 7 requests",
        zones=NAMES,
        count=12,
        look_at=(f"edgeshift status {CAMPAIGN} --zone {NAMES[2]}",),
        do=(f'edgeshift sign-off approve {CAMPAIGN} --zone {NAMES[2]} --reason "WHY SO"',),
        runbook="docs/runbook.md#sign-off-waits-singly",
    )


@WIDTHS
def test_an_alarm_fits(width: int) -> None:
    """Its names are whole, and each command is one that a shell takes as it is shown."""
    one = alarm()
    text = drawn(paragraphs(one), width)
    check(text, width, *NAMES, DIGEST[:12], CAMPAIGN, one.code)
    typed = re.sub(r" \\\n *", " ", text)
    for command in (*one.look_at, *one.do):
        assert shlex.split(command) in [
            shlex.split(line.partition(": ")[2]) for line in re.sub(r":\n +", ": ", typed).splitlines()
        ], text
    assert "and 4 more" in " ".join(text.split())


@WIDTHS
def test_what_the_doctor_finds_fits(width: int) -> None:
    """Names, digests and what to do, each word whole, and none lost."""
    words = f"{NAMES[2]} is read as {NAMES[0]}; 2 workers have {DIGEST[:12]} (signed)"
    found = DoctorCheck(
        CheckCode.ROOTS, "roots of authority", State.FAILED, words, f"edgeshift keys list --roots {CAMPAIGN}"
    )
    text = drawn(Group(*(Paragraph(lead, said, hang=9) for lead, said in lines_of(found))), width)
    check(text, width, NAMES[0], NAMES[2], DIGEST[:12], CAMPAIGN)
    assert " ".join(words.split()) in " ".join(text.split()) and "fix:" in text


@given(
    cells=st.lists(st.tuples(*[st.text(alphabet="ab c", max_size=30)] * 3), min_size=1, max_size=5),
    width=st.integers(10, 90),
)
def test_a_table_loses_no_word(cells: list[tuple[str, str, str]], width: int) -> None:
    """Whatever it holds and however narrow the terminal: each word is there, unbroken where it fits."""
    table = Columns("one", "two", "three", right={"two"})
    for row in cells:
        table.add(*row)
    words = [word for row in cells for cell in row for word in cell.split() if len(word) <= width - 4]
    text = drawn(table, width).split()
    assert not [word for word in words if word not in text]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 90)), min_size=1), st.integers(0, 300))
def test_columns_share_what_there_is(sizes: list[tuple[int, int]], spare: int) -> None:
    """Each has at least what it needs and at most what it wants; together they fit."""
    least = [low for low, _ in sizes]
    most = [low + more for low, more in sizes]
    found = spread(least, most, sum(least) + spare)
    assert all(low <= size <= high for low, size, high in zip(least, found, most, strict=True))
    assert sum(found) <= sum(least) + spare
