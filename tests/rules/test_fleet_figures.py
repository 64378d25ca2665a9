"""Campaigns at a limit: what counts as needed, as used, as answered, and as a goal that was missed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench.fleet import figures
from bench.fleet.__main__ import of_one_code
from bench.fleet.asking import asked
from bench.fleet.campaign import Course, faults_of
from bench.fleet.counted import answers, counted_up, pauses_of, peaks
from bench.fleet.kept import Kept, code_digest
from bench.fleet.page import BEGIN, END, put
from bench.fleet.parts import KEYS, missed, summed_up
from bench.fleet.picture import line_chart
from bench.fleet.records import Answered, Asked, Kind, Standing, Used
from bench.fleet.usage import Usage
from bench.fleet.zones import fleet_of, plans_of
from edgeshift.testbed.invariants.requests import Request

BEGAN = datetime(2026, 11, 1, 8, tzinfo=UTC)
PLANS = {"a": "pro", "b": "pro", "e": "enterprise"}


def after(seconds: float) -> datetime:
    """A moment so many seconds after the beginning."""
    return BEGAN + timedelta(seconds=seconds)


def call(at: float, zone: str | None = "a", name: str = "waf.status", **more: Any) -> Request:
    """One call, so many seconds after the beginning."""
    given: dict[str, Any] = {"method": "GET", "status": 200, "user": "u"} | more
    return Request(seq=0, time=after(at), call=name, zone=zone, **given)


def commit(at: float, zone: str = "a") -> Request:
    """A commit."""
    return call(at, zone, "entrypoint.put", method="PUT", query="waf_migration=pending", effect="scheduled")


def answer(kind: Kind, at: float, seconds: float, trouble: str = "") -> Answered:
    """An answer."""
    return Answered(kind=kind, at=after(at), seconds=seconds, trouble=trouble)


def test_a_percentile_is_a_value_that_was_seen() -> None:
    """The least one that so many do not exceed; of few values, the largest."""
    assert figures.percentile(range(1, 101), 0.99) == 99
    assert figures.percentile([3.0, 1.0, 2.0], 0.99) == 3.0
    assert figures.percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert figures.percentile([], 0.99) is None


def test_a_makespan_is_compared_with_its_calls_and_one_latency() -> None:
    """300 Professional zones at 40 calls a second and a migration of 30 s need 67.5 s."""
    assert figures.makespan_ratio(67.5, {"pro": 300}, 40, 30) == 1.0
    assert figures.makespan_ratio(287, {"pro": 300}, 40, 30) == pytest.approx(4.25, abs=0.01)
    assert figures.makespan_ratio(2 * 37.5, {"pro": 100, "enterprise": 100}, 40, 0) == 2.0
    with pytest.raises(KeyError):
        figures.makespan_ratio(1, {"free": 1}, 40, 30)


def test_the_quota_counts_from_the_first_call_to_the_last_commit() -> None:
    """Polls that wait for migrations are no work; calls in a pause do not count, nor does its time."""
    journal = [*(call(at / 2) for at in range(20)), commit(10), *(call(at) for at in range(11, 60))]
    work = figures.work_of(journal)
    assert work == (BEGAN, after(10))
    assert figures.quota_used(journal, work, 2.1) == pytest.approx(1.0)
    # Five of the ten seconds, and the ten calls within them, are a pause's.
    assert figures.quota_used(journal, work, 2.2, [(after(0), after(5))]) == pytest.approx(1.0)
    assert figures.quota_used(journal, work, 2.0, [(after(-1), after(20))]) is None
    assert figures.work_of([call(1)]) is None


def test_windows_are_full_ones() -> None:
    """The last, which the work does not fill, is left out; an empty one is 0."""
    journal = [call(0), call(1), call(2), call(25), commit(34)]
    assert figures.windows(journal, (BEGAN, after(34)), 10, 0.3) == [1.0, 0.0, round(1 / 3, 4)]


def test_only_the_limit_s_own_refusals_are_ours() -> None:
    """A 429 that a fault made is none of edgeshift's making."""
    journal = [call(0), call(1, status=429), call(2, status=429, fault="rate_limit:before")]
    assert figures.own_429(journal) == 1


def test_calls_are_counted_by_plan_and_phase() -> None:
    """Before the start they are the plan's; queries of events and lists are figures of their own."""
    journal = [
        *(call(-1, zone) for zone in "abe" for _ in range(11)),
        call(-1, None, "zones.list"),
        *(call(1, zone) for zone in "ab" for _ in range(5)),
        *(call(2, "e") for _ in range(9)),
        call(3, None, figures.EVIDENCE, method="POST"),
        call(4, None, "zones.list"),
    ]
    assert figures.calls_per_zone(journal, PLANS, BEGAN) == {
        "pro": 5.0,
        "enterprise": 9.0,
        "evidence": 1.0,
        "shared": 1.0,
        "plan": 11.0,
    }
    none = figures.calls_per_zone([], {"a": "pro"}, BEGAN)
    assert (none["pro"], none["enterprise"], none["plan"]) == (0.0, None, 0.0)


def test_calls_have_their_names_and_validation_one_of_its_own() -> None:
    """The same call is another one with another meaning."""
    validation = call(1, "e", "entrypoint.put", method="PUT", query="waf_migration=validation")
    found = figures.calls_by_name([validation, commit(2, "e"), call(3, "a"), call(4, None)], PLANS)
    assert found["enterprise"] == {"entrypoint.put": 1.0, "entrypoint.put validation": 1.0}
    assert found["pro"] == {"waf.status": 0.5}


def test_growth_is_that_of_the_end() -> None:
    """A series that has grown at first and is flat then does not grow."""
    assert figures.growth([1, 50, 90, *[100] * 6]) == 1.0
    assert figures.growth([100, 100, 100, 100, 100, 100, 150, 150, 150]) == 1.5
    assert figures.growth([1, 2, 3]) is None


def test_series_are_thinned_evenly_and_rates_have_no_holes() -> None:
    """The first and the last point stay; seconds without calls are 0."""
    series = [(float(at), float(at)) for at in range(1000)]
    thin = figures.thinned(series, 10)
    assert (len(thin), thin[0], thin[-1]) == (10, series[0], series[-1])
    assert figures.thinned(series[:3], 10) == series[:3]
    moments = [after(at) for at in (0, 1, 2, 11)]
    assert figures.a_second(moments, BEGAN, 5) == [(2.5, 0.6), (7.5, 0.0), (12.5, 0.2)]


def test_a_pause_lasts_from_its_answer_to_the_next_resume_s() -> None:
    """Until it is answered, what was permitted goes on; one that nobody answered is none."""
    noted = Asked(
        answers=[
            answer("pause", 10, 2),
            answer("resume", 12, 0.5),
            answer("pause", 40, 20, "nobody answers"),
            answer("resume", 60, 1),
            answer("pause", 90, 1),
        ]
    )
    assert pauses_of(noted) == [(after(12), after(12.5))]
    assert figures.overlap(pauses_of(noted), after(12.25), after(100)) == 0.25


def test_a_question_without_an_answer_counts_with_its_time() -> None:
    """It is slow, and it is unanswered."""
    noted = Asked(answers=[answer("status", at, 0.1) for at in range(9)])
    noted.answers.append(answer("status", 10, 20.0, "nobody answers for campaign x"))
    found = answers(noted)
    assert found["answer_p99_seconds"]["status"] == 20.0
    assert found["unanswered"]["status"] == 1
    assert found["answer_p99_seconds"]["pause"] is None


def test_peaks_are_the_most_at_each_place() -> None:
    """Over all standings, permits too."""
    seen = [({"awaiting": 3, "working": 2}, 1), ({"awaiting": 2, "permitted": 1, "working": 1}, 4)]
    noted = Asked(standings=[Standing(at=BEGAN, state="running", places=p, permits=n) for p, n in seen])
    assert peaks(noted) == {
        "at_work": 2,
        "awaiting": 3,
        "permits_out": 4,
        "permitted": 1,
        "working": 2,
    }


def test_notes_are_read_as_they_were_written(tmp_path: Path) -> None:
    """A line for each thing, in its own model."""
    file = tmp_path / "asked.txt"
    noted, standing = answer("status", 1, 0.2), Standing(at=BEGAN, state="running", places={}, permits=0)
    file.write_text(f"answer {noted.model_dump_json()}\nstanding {standing.model_dump_json()}\n")
    assert asked(file) == Asked(answers=[noted], standings=[standing])


def test_what_processes_used_is_told_by_phase() -> None:
    """CPU of the plan and of the campaign apart, by zone; no figures where nothing was seen."""
    workers, rest = Usage(list), Usage(list)
    workers.seen = [Used(at=after(at), rss_mb=100 + at, cpu=float(at)) for at in range(21)]
    found = counted_up(
        journal=[call(-5), call(11), commit(12), call(13)],
        noted=Asked(),
        plans=PLANS,
        planned_at=after(0),
        began=after(5),
        over=after(20),
        makespan=15.0,
        calls_per_second=1.0,
        limit_seconds=10,
        latency=5.0,
        workers=workers,
        rest=rest,
    )
    assert found["worker_cpu_per_zone"] == 5.0
    assert found["plan_cpu_per_zone"] == pytest.approx(5 / 3, abs=0.001)
    assert found["rest_cpu_per_zone"] is None
    assert found["worker_rss_mb"] == 120
    assert found["makespan_ratio"] == pytest.approx(15 / (20 + 5))
    assert found["quota_used"] == 2.0
    assert found["busiest_window"] == {"calls": 3, "allowed": 10}


def test_fleets_have_even_plans_and_fingerprints() -> None:
    """Every tenth zone is Enterprise, and a rule of its own gives each kind its proposal."""
    fleet = fleet_of(40, enterprise=10, fingerprints=4, settled=2)
    plans = list(plans_of(fleet).values())
    assert (plans.count("enterprise"), plans.count("pro")) == (4, 36)
    assert [zone.migration.state for zone in fleet.zones[:3]] == ["complete", "complete", "start"]
    assert len({zone.firewall_rules[0].expression for zone in fleet.zones[2:]}) == 4


def test_faults_lose_readings_and_answers_of_changes() -> None:
    """A reading fails before its effect, a change's answer is lost after it."""
    found = faults_of(Course(name="x", zones=1, faults=0.03))
    assert [(one["match"]["method"], one["effect"], one["probability"]) for one in found] == [
        ("GET", "before", 0.03),
        ("PUT", "after", 0.03),
    ]
    assert faults_of(Course(name="x", zones=1)) == []


def test_figures_are_kept_for_one_course_on_one_code(tmp_path: Path) -> None:
    """Another course and another code are measured again."""
    course = Course(name="paced-1", zones=10)
    Kept(tmp_path, "one").keep("paced-1", course, {"zones": 10})
    assert Kept(tmp_path, "one").figures("paced-1", course) == {"zones": 10}
    assert Kept(tmp_path, "two").figures("paced-1", course) is None
    assert Kept(tmp_path, "one").figures("paced-1", course.model_copy(update={"zones": 20})) is None
    assert Kept(tmp_path, "one").figures("paced-4", course) is None
    (tmp_path / "paced-1.json").write_text("{")
    assert Kept(tmp_path, "one").figures("paced-1", course) is None


def test_the_code_s_digest_is_that_of_every_module(tmp_path: Path) -> None:
    """A change of any module is another code."""
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "a.py").write_text("1")
    before = code_digest(tmp_path)
    (tmp_path / "bench" / "b.py").write_text("2")
    assert code_digest(tmp_path) != before


def paced(**more: Any) -> dict[str, Any]:
    """The figures of a campaign that reaches every goal."""
    return {
        "course": {"name": "paced-1", "workers": 1, "scale": 10.0, "faults": 0.0},
        "window": 400,
        "zones": 300,
        "makespan_seconds": 70.0,
        "paused_seconds": 0.5,
        "makespan_ratio": 1.02,
        "quota_used": 0.99,
        "own_429": 0,
        "calls_per_zone": {"pro": 5.0, "enterprise": 9.0, "evidence": 1.0, "plan": 11.0},
        "answer_p99_seconds": {"sign_off": 0.2, "pause": 0.5, "status": 0.1, "resume": 0.1},
        "answer_seconds": {"status": {"count": 3}},
        "unanswered": {"status": 0},
        "peaks": {"at_work": 5},
        "state_bytes": 3_000,
        "history_events_per_run": 100,
        "history_events_per_zone": {"pro": {"median": 23}},
        "worker_rss_mb": 150.0,
        "worker_rss_growth": 1.0,
        "worker_cpu_per_zone": 0.05,
        "plan_cpu_per_zone": 0.05,
        "lost": 0,
        "rules": [{"rule": 1, "title": "t", "broken": 0, "violations": []}],
        "plots": {"calls_per_second": [(0.0, 1.0), (5.0, 40.0)], "worker_rss_mb": [(0.0, 100.0)]},
        **more,
    }


def test_goals_that_were_missed_are_named() -> None:
    """Each with its figure; what was not measured is missed too, and a rule that was broken."""
    assert missed({"paced-1": paced()}) == []
    late = {"sign_off": 0.2, "pause": 65.0, "status": None}
    broken = [{"rule": 2, "title": "t", "broken": 1, "violations": ["x"]}]
    found = missed({"paced-1": paced(makespan_ratio=1.4, answer_p99_seconds=late, rules=broken)})
    assert found == [
        "paced-1: makespan_ratio: 1.4, not <= 1.05",
        "paced-1: answer_p99_seconds.pause: 65, not <= 1",
        "paced-1: answer_p99_seconds.status: not measured (<= 1)",
        "paced-1: rules_broken: 1, not <= 0",
    ]


def test_each_part_has_goals_of_its_own() -> None:
    """Nothing may be lost in any; a crowd is not at the limit, and its worker has a bound of memory."""
    assert missed({"faults-0": paced(lost=1)}) == ["faults-0: lost: 1, not <= 0"]
    crowd = paced(makespan_ratio=None, worker_rss_mb=301.0)
    assert missed({"crowd": crowd}) == ["crowd: worker_rss_mb: 301, not <= 300"]
    many = {"state_bytes": 300_000, "packing_seconds": 0.01, "sweep": {"found_share": 1.0}}
    assert missed({"many": {**many, "refused": 0, "double_commits": 0}}) == [
        "many: state_bytes: 300000, not <= 256000"
    ]


def test_cpu_is_flat_or_missed_and_faults_cost_little_or_are_missed() -> None:
    """15 % from the smallest fleet's; 2 % longer for each per cent of faults."""
    cpu = {"cpu-100": paced(), "cpu-1000": paced(worker_cpu_per_zone=0.057)}
    assert missed(cpu) == []
    assert len(missed(cpu | {"cpu-10000": paced(worker_cpu_per_zone=0.06)})) == 1
    faulty = paced(makespan_seconds=74.0, course={"name": "faults-3", "faults": 0.03})
    assert missed({"faults-0": paced(), "faults-3": faulty}) == []
    assert missed({"faults-0": paced(), "faults-3": faulty | {"makespan_seconds": 75.0}}) == [
        "faults-3: 7.1% longer than without faults"
    ]


def test_the_sum_has_the_figures_of_the_limit_and_the_largest_state() -> None:
    """What was not measured is null, not left out."""
    found = summed_up({"paced-1": paced(), "paced-4": paced(state_bytes=9_000)})
    assert set(KEYS) <= set(found)
    assert (found["makespan_ratio"], found["state_bytes"]) == (1.02, 9_000)
    assert summed_up({})["makespan_ratio"] is None


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
    for picture in sorted((tmp_path / "images").iterdir()):
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
    engine = {**rates, **beside, **about, "paced": paced(own_429=3)}
    page = tmp_path / "performance.md"
    page.write_text(f"{BEGIN}\n{END}")
    put(page, *of_one_code(None, engine))
    text = page.read_text()
    assert "| ratio (goal ≥ 1) | 0.8 |" in text
    assert "- paced: own_429: 3, not <= 0\n- ratio_to_naive: 0.8, not >= 1" in text
    assert "images/fleet-paced-calls-per-second.svg)" in text
    with pytest.raises(ValueError, match="different code"):
        of_one_code({"code": "d"}, engine)
    with pytest.raises(ValueError, match="measure first"):
        of_one_code(None, None)


def test_a_picture_needs_points() -> None:
    """Its line has as many points as the series; without any there is no picture."""
    root = ElementTree.fromstring(line_chart("a & b", [(0, 0), (5, 3), (10, 7)], limit=8))
    line = root.find("{http://www.w3.org/2000/svg}polyline")
    assert line is not None and len(line.attrib["points"].split()) == 3
    with pytest.raises(ValueError, match="nothing to draw"):
        line_chart("empty", [])
