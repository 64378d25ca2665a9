"""Goals of campaigns at a limit, met or not, and the page that says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench.fleet import figures
from bench.fleet.__main__ import of_one_code
from bench.fleet.goals import missed, verdicts
from bench.fleet.many import Many
from bench.fleet.page import BEGIN, END, put
from bench.fleet.parts import KEYS, summed_up
from bench.fleet.picture import line_chart
from bench.fleet.tables import markdown_goals
from tests.rules.fleet_kit import paced


def missed_by(found: dict[str, Any]) -> list[str]:
    """The goals that parts miss."""
    return missed(verdicts(found))


def test_goals_that_were_missed_are_named() -> None:
    """Each with its figure; what was not measured is missed too, and a rule that was broken."""
    assert missed_by({"paced-1": paced()}) == []
    late = {"sign_off": 0.2, "pause": 65.0, "status": None}
    broken = [{"rule": 2, "title": "t", "broken": 1, "violations": ["x"]}]
    found = missed_by({"paced-1": paced(makespan_ratio=1.4, answer_p99_seconds=late, rules=broken)})
    assert found == [
        "paced-1: makespan_ratio: 1.4, not <= 1.05",
        "paced-1: answer_p99_seconds.pause: 65, not <= 1",
        "paced-1: answer_p99_seconds.status: not measured (<= 1)",
        "paced-1: rules_broken: 1, not <= 0",
    ]


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"worker_cpu_per_zone": 0.07}, "worker_cpu_per_zone: 0.07, not <= 0.06"),
        ({"worker_rss_growth": 1.2}, "worker_rss_growth: 1.2, not <= 1.15"),
        ({"state_bytes": 256_000}, "state_bytes: 256000, not < 256000"),
        ({"busiest_window": {"over": 2}}, "busiest_window.over: 2, not <= 1"),
        (
            {"unanswered": {"status": 0, "sign_off": 1, "pause": 0, "resume": 0}},
            "unanswered.sign_off: 1, not <= 0",
        ),
        (
            {"history_events_per_zone": {"pro": {"median": 24}, "enterprise": {"median": 36}}},
            "history_events_per_zone.pro.median: 24, not <= 23",
        ),
        (
            {"history_events_per_zone": {"pro": {"median": 23}, "enterprise": {"median": 37}}},
            "history_events_per_zone.enterprise.median: 37, not <= 36",
        ),
    ],
)
def test_every_goal_of_the_limit_is_judged(figures: dict[str, Any], said: str) -> None:
    """Each is missed by itself, and the file of figures says of each whether it is met."""
    assert missed_by({"paced-4": paced(**figures)}) == [f"paced-4: {said}"]
    goals = summed_up({"paced-4": paced(**figures)})["goals"]
    assert [f"{one['part']}: {one['figure']}" for one in goals if not one["met"]] == [
        f"paced-4: {said.partition(':')[0]}"
    ]
    assert len([one for one in goals if one["met"]]) > 15


def test_a_goal_that_is_not_met_by_design_is_told_and_fails_no_run() -> None:
    """Up to what the design costs. The tables say that it is not met, and why."""

    def calls(enterprise: float | None) -> dict[str, Any]:
        return paced(calls_per_zone={"pro": 5.0, "enterprise": enterprise, "plan": 11.0})

    assert missed_by({"paced-1": calls(12.05)}) == []
    [told] = [one for one in summed_up({"paced-1": calls(12.05)})["goals"] if not one["met"]]
    assert told["figure"] == "calls_per_zone.enterprise" and told["by_design"].startswith(
        "12 calls by design"
    )
    assert f"| ≤ 9.2 | 12.05 | **not met**: {told['by_design']} |" in markdown_goals([told])
    assert missed_by({"paced-1": calls(12.5)}) == ["paced-1: calls_per_zone.enterprise: 12.5, not <= 9.2"]
    assert missed_by({"paced-1": calls(None)}) == [
        "paced-1: calls_per_zone.enterprise: not measured (<= 9.2)"
    ]


def test_the_quota_is_judged_over_ten_windows_where_there_are_ten() -> None:
    """The window's growth does not count then; where the work is shorter, all of it does."""
    assert missed_by({"paced-1": paced(quota_used=0.7)}) == []
    short = paced(quota_used=0.97, quota_ten_windows=None)
    assert missed_by({"paced-1": short}) == ["paced-1: quota_used: 0.97, not >= 0.98"]


def test_each_part_has_goals_of_its_own() -> None:
    """Nothing may be lost in any; a crowd is not at the limit, and has to be one; its worker has a bound of
    memory.
    """
    assert missed_by({"faults-0": paced(lost=1)}) == ["faults-0: lost: 1, not <= 0"]
    course = {"hold_back": 0.8, "zones": 10_000, "window": 2_000}
    crowd = paced(makespan_ratio=None, worker_rss_mb=301.0, course=course)
    assert missed_by({"crowd": crowd | {"fullest": {"at_work": 1_999, "awaiting": 8_000}}}) == [
        "crowd: worker_rss_mb: 301, not <= 300",
        "crowd: fullest.at_work: 1999, not >= 2000",
    ]
    smaller = {"hold_back": 0.8, "zones": 600, "window": 120}
    assert missed_by(
        {"crowd (zones 600)": paced(course=smaller, fullest={"at_work": 120, "awaiting": 470})}
    ) == ["crowd (zones 600): fullest.awaiting: 470, not >= 480"]


def many(**more: Any) -> dict[str, Any]:
    """The figures of a campaign over many zones that reaches every goal."""
    plots = {"worker_rss_mb": [(0.0, 100.0)], "campaign_history_events": [(0.0, 9.0), (5.0, 90.0)]}
    times = {"seconds": 1.0, "went_on": False}
    stage = {"status_p99_seconds": 0.1, "rss_growth": 1.0, "plots": plots, "rss_mb": 100.0, **times}
    return {
        "zones": 40,
        "course": {"name": "many"},
        "state_bytes": 30_000,
        "packing_seconds": 0.01,
        "packing_most_seconds": 0.4,
        "listed": {"waves": 2, "seconds": 3.0, "went_on": True},
        "waiting": stage,
        "signed": {
            "fingerprints": 4,
            "approvers": 3,
            "sign_off_seconds": [0.3],
            "sign_off_most_seconds": 0.3,
            "statement_seconds": [0.6],
            "statement_most_seconds": 0.6,
            "refused": 0,
        },
        "sweep": {"found_share": 1.0, "found_within_seconds": 60.0, "terminated": 2},
        "migrated": {
            **stage,
            "migrated": 10,
            "zones_per_second": 1.0,
            "pause_seconds": 0.5,
            "cpu_per_zone": 0.05,
        },
        "refused": 0,
        "double_commits": 0,
        "worker_rss_mb": 100.0,
        "history_events_per_run": 90,
        **more,
    }


def test_signing_for_many_zones_is_judged() -> None:
    """Each sign-off of a thousand fingerprints within a second, the state bounded."""
    assert missed_by({"many": many()}) == []
    signed = {**many()["signed"], "sign_off_most_seconds": 1.4}
    assert missed_by({"many": many(state_bytes=300_000, signed=signed)}) == [
        "many: state_bytes: 300000, not < 256000",
        "many: signed.sign_off_most_seconds: 1.4, not <= 1",
    ]


def test_the_task_that_hands_the_state_on_is_judged_as_it_usually_is() -> None:
    """By its median: a task waits for a worker and the server, too, and two cores are full then. The slowest
    is told beside it.
    """
    found = figures.of_last_tasks([0.02, 1.3, 0.03])
    assert found == {
        "packing_seconds": 0.03,
        "packing_most_seconds": 1.3,
        "last_tasks_seconds": [0.02, 1.3, 0.03],
    }
    assert missed_by({"many": many(**found)}) == []
    assert missed_by({"many": many(**figures.of_last_tasks([0.2]))}) == [
        "many: packing_seconds: 0.2, not < 0.05"
    ]
    assert missed_by({"many": many(**figures.of_last_tasks([]))}) == [
        "many: packing_seconds: not measured (< 0.05)"
    ]


def test_many_zones_have_a_window_that_is_a_number() -> None:
    """Without a limit, one of ``auto`` would grow to thousands, which no campaign has at a limit."""
    assert Many(name="many").course.window == 400


def test_a_stop_that_is_slow_or_does_not_hold_is_missed() -> None:
    """Of the part whose zones are stuck: each answer within a second, and nothing sent after it."""
    most = {"pause": 0.4, "abort": 1.2, "status": 0.1}
    found = {"answer_most_seconds": most, "sent_after_pause": 1, "sent_after_abort": 0, "double_commits": 0}
    assert missed_by({"stuck": {**found, "rules": []}}) == [
        "stuck: answer_most_seconds.abort: 1.2, not <= 1",
        "stuck: sent_after_pause: 1, not <= 0",
    ]


def test_cpu_is_flat_or_missed_and_faults_cost_little_or_are_missed() -> None:
    """15 % from the smallest fleet's; 2 % longer for each per cent of faults, of the same course."""
    cpu = {"cpu-100": paced(), "cpu-1000": paced(worker_cpu_per_zone=0.057)}
    assert missed_by(cpu) == []
    assert missed_by(cpu | {"cpu-10000": paced(worker_cpu_per_zone=0.06)}) == [
        "cpu-10000: worker_cpu_per_zone, ratio: 1.2, not within 15% of cpu-100"
    ]
    faulty = paced(makespan_seconds=74.0, course={"name": "faults-3", "faults": 0.03})
    assert missed_by({"faults-0": paced(), "faults-3": faulty}) == []
    longer = faulty | {"makespan_seconds": 75.0}
    said = "makespan_seconds, ratio to faults-0: 1.071, not <= 1.06"
    assert missed_by({"faults-0": paced(), "faults-3": longer}) == [f"faults-3: {said}"]
    other = {"faults-0": paced(makespan_seconds=700.0), "faults-0 (zones 9)": paced()}
    assert missed_by({**other, "faults-3 (zones 9)": longer}) == [f"faults-3 (zones 9): {said}"]


def test_the_sum_has_the_figures_of_the_limit_and_the_largest_state() -> None:
    """What was not measured is null, not left out; another course stands in for one that was not run."""
    found = summed_up({"paced-1": paced(), "paced-4": paced(state_bytes=9_000)})
    assert set(KEYS) <= set(found)
    assert (found["makespan_ratio"], found["state_bytes"]) == (1.02, 9_000)
    assert (found["figures_of"], found["quota_ten_windows"]) == ("paced-1", 0.99)
    assert summed_up({})["makespan_ratio"] is None
    assert summed_up({"paced-1 (zones 60)": paced()})["figures_of"] == "paced-1 (zones 60)"


def test_the_page_says_which_code_it_is_about(tmp_path: Path) -> None:
    """Tables between the marks, what is around them as it was, pictures beside it that are well-formed."""
    page = tmp_path / "performance.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    about = {"code": "c" * 64, "commit": "abc", "cores": 2, "measured_at": "2026-11-01T08:00+00:00"}
    put(page, {**summed_up({"paced-1": paced(makespan_ratio=1.4)}), **about}, None)
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "commit abc" in text and "cccccccccccc`" in text
    assert "| makespan ratio | 1.4 | ≤ 1.05 |" in text
    assert "- paced-1: makespan_ratio: 1.4, not <= 1.05" in text
    assert "| paced-1 | `makespan_ratio` | ≤ 1.05 | 1.4 | **not met** |" in text
    assert "| paced-1 | `lost` | ≤ 0 | 0 | met |" in text
    pictures = sorted((tmp_path / "images").iterdir())
    assert [one.stem.removeprefix("fleet-paced-1-") for one in pictures] == [
        "calls-per-second",
        "campaign-history-events",
        "campaign-state-bytes",
        "worker-rss-mb",
    ]
    for picture in pictures:
        assert f"images/{picture.name})" in text
        ElementTree.fromstring(picture.read_text())
    page.write_text("no marks")
    with pytest.raises(ValueError, match="has no"):
        put(page, {**summed_up({}), **about}, None)


def test_the_page_takes_the_figures_of_make_bench_too(tmp_path: Path) -> None:
    """By themselves where fleets were not measured; never beside those of another code."""
    about = {"code": "c" * 64, "commit": "abc", "cores": 2, "measured_at": "2026-11-01T08:00+00:00"}
    rates = {"zones_per_second": 5, "bare_per_second": 10, "ratio_to_bare": 0.5}
    beside = {"zones_per_second": 8, "naive_per_second": 10, "ratio_to_naive": 0.8}
    events = {"pro": {"median": 23}, "enterprise": {"median": 36}}
    engine = {**rates, **beside, **about, "events_per_zone": events, "paced": paced(own_429=3)}
    page = tmp_path / "performance.md"
    page.write_text(f"{BEGIN}\n{END}")
    put(page, *of_one_code(None, engine))
    text = page.read_text()
    assert "| ratio (goal ≥ 1) | 0.8 |" in text
    assert "- paced: own_429: 3, not <= 0\n- engine: ratio_to_naive: 0.8, not >= 1" in text
    assert "images/fleet-paced-calls-per-second.svg)" in text
    with pytest.raises(ValueError, match="different code"):
        of_one_code({"code": "d"}, engine)
    with pytest.raises(ValueError, match="measure first"):
        of_one_code(None, None)


def test_the_page_tells_courses_of_one_part_apart(tmp_path: Path) -> None:
    """Each has its label, its tables and its pictures; of many zones, two stages are drawn."""
    page = tmp_path / "performance.md"
    page.write_text(f"{BEGIN}\n{END}")
    about = {"code": "c" * 64, "commit": "abc", "cores": 2, "measured_at": "2026-11-01T08:00+00:00"}
    found = {"paced-1": paced(), "paced-1 (zones 60)": paced(zones=60), "many (zones 40)": many()}
    put(page, {**summed_up(found), **about}, None)
    text = page.read_text()
    assert "| Measure | paced-1 | paced-1 (zones 60) | Goal |" in text
    assert "## One campaign over many zones (zones 40)" in text
    assert "| listed, read and started, seconds | 3 (its last part; it was ended and went on) |" in text
    assert "| all waiting, seconds | 1 |" in text
    assert "| slowest signature on them put into the archive, seconds | 0.6 |" in text
    assert "| task that hands the state on, seconds: median (goal < 0.05); slowest | 0.01; 0.4 |" in text
    named = {one.name for one in (tmp_path / "images").iterdir()}
    assert {
        "fleet-paced-1-calls-per-second.svg",
        "fleet-paced-1-zones-60-calls-per-second.svg",
        "fleet-many-zones-40-waiting-worker-rss-mb.svg",
        "fleet-many-zones-40-migrated-campaign-history-events.svg",
    } <= named
    assert all(f"images/{name})" in text for name in named)


def test_a_picture_needs_points() -> None:
    """Its line has as many points as the series; without any there is no picture."""
    root = ElementTree.fromstring(line_chart("a & b", [(0, 0), (5, 3), (10, 7)], limit=8))
    line = root.find("{http://www.w3.org/2000/svg}polyline")
    assert line is not None and len(line.attrib["points"].split()) == 3
    with pytest.raises(ValueError, match="nothing to draw"):
        line_chart("empty", [])
