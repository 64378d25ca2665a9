"""Campaigns at a limit: what counts as needed, as used and as answered."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.fleet import figures
from bench.fleet.asking import asked, next_signed
from bench.fleet.campaign import Course, faults_of
from bench.fleet.counted import answers, counted_up, fullest, pauses_of, peaks
from bench.fleet.records import Asked, Standing, Used
from bench.fleet.usage import Usage, usage_of_workers, with_children
from bench.fleet.zones import fleet_of, plans_of
from edgeshift.testbed.invariants.requests import Request
from tests.rules.fleet_kit import BEGAN, PLANS, after, answer, call, commit


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
    assert figures.makespan_ratio(2 * 45, {"pro": 100, "enterprise": 100}, 40, 0) == 2.0
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


def test_ten_windows_are_those_in_the_middle_of_the_work() -> None:
    """What a window that grows leaves unused at first, and the last zones, are not in them; a pause is left
    out; less work has no ten.
    """
    # Fourteen windows of ten seconds: nothing in the first two, then one call a second.
    journal = [call(0), *(call(at + 0.5) for at in range(20, 120)), commit(140)]
    work = (BEGAN, after(140))
    assert figures.quota_used(journal, work, 1.0) == pytest.approx(102 / 140)
    assert figures.ten_windows(journal, work, 10, 1.0) == 1.0
    without = [one for one in journal if not after(50) <= one.time < after(55)]
    assert figures.ten_windows(without, work, 10, 1.0) == 0.95
    assert figures.ten_windows(without, work, 10, 1.0, [(after(50), after(55))]) == 1.0
    assert figures.ten_windows(journal, (BEGAN, after(99)), 10, 1.0) is None


def test_only_the_limit_s_own_refusals_are_ours() -> None:
    """A 429 that a fault made is none of edgeshift's making."""
    journal = [call(0), call(1, status=429), call(2, status=429, fault="rate_limit:before")]
    assert figures.own_429(journal) == 1


def test_calls_are_counted_by_plan_and_phase() -> None:
    """Before the start they are the plan's; what evidence calls, and lists, are figures of their own."""
    journal = [
        *(call(-1, zone) for zone in "abe" for _ in range(11)),
        call(-1, None, "zones.list"),
        *(call(1, zone) for zone in "ab" for _ in range(5)),
        *validated(2),
        call(20, None, "zones.list"),
    ]
    assert figures.calls_per_zone(journal, PLANS, BEGAN) == {
        "pro": 5.0,
        "enterprise": 10.0,
        "evidence": 3.0,
        "shared": 1.0,
        "plan": 11.0,
    }
    none = figures.calls_per_zone([], {"a": "pro"}, BEGAN)
    assert (none["pro"], none["enterprise"], none["plan"]) == (0.0, None, 0.0)


BEFORE = ("zones.get", "waf.config", "pagerules.list", "entrypoint.put", "entrypoint.get")
EVIDENCE = ("waf.status", "graphql", "entrypoint.get")
COMMITTED = ("waf.config", "pagerules.list", "entrypoint.put", "waf.status", "entrypoint.get")


def validated(at: float) -> list[Request]:
    """The calls of an Enterprise zone, one every half second."""
    names = (*BEFORE, *EVIDENCE, *COMMITTED)
    return [call(at + place / 2, "e", name) for place, name in enumerate(names)]


def test_evidence_is_a_query_of_events_and_what_is_read_around_it() -> None:
    """A longer window takes more queries; another zone's calls in between change nothing; a try more of the
    status, and readings of a zone without evidence, are no evidence.
    """
    journal = validated(1)
    among = figures.evidence_among(journal)
    found = [one.call for one, evident in zip(journal, among, strict=True) if evident]
    assert found == [*EVIDENCE]
    names = ("waf.status", "waf.status", "graphql", "graphql", "entrypoint.get", "entrypoint.get")
    tried = [call(at, "e", name) for at, name in enumerate(names)]
    both = [one for at, own in enumerate(tried) for one in (own, call(at + 0.5, "a"))]
    assert figures.evidence_among(both)[::2] == [False, True, True, True, True, False]
    assert not any(figures.evidence_among(both)[1::2])
    assert figures.evidence_among([call(1, None, "graphql", status=400)]) == [True]


def test_what_is_needed_is_what_a_zone_calls_where_all_goes_well() -> None:
    """Its evidence too."""
    assert {"pro": len(COMMITTED), "enterprise": len(validated(1))} == figures.NEEDED


def test_calls_have_their_names_and_validation_one_of_its_own() -> None:
    """The same call is another one with another meaning."""
    evidence = figures.calls_by_name(validated(1), PLANS)["enterprise"]
    assert evidence["waf.status"] == evidence["waf.status evidence"] == 1.0
    assert (evidence["entrypoint.get"], evidence["entrypoint.get evidence"]) == (2.0, 1.0)
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


def test_the_fullest_moment_is_one_and_not_two() -> None:
    """Those that waited before anything was signed were not beside those at work."""
    seen = [{"awaiting": 10}, {"working": 2, "awaiting": 8}, {"permitted": 1, "working": 1, "awaiting": 7}]
    noted = Asked(
        standings=[Standing(at=BEGAN, state="running", places=places, permits=0) for places in seen]
    )
    assert fullest(noted) == {"at_work": 2, "awaiting": 8}
    assert fullest(Asked()) == {"at_work": 0, "awaiting": 0}


def test_what_is_held_back_is_counted_and_not_left_to_chance() -> None:
    """One fingerprint in five of 200 are 40, whichever they are, and however often somebody signs."""
    course = Course(name="x", zones=10_000, fingerprints=200, hold_back=0.8)
    known = {f"{number:03}" for number in range(200)}
    assert len(next_signed(known, set(), course.signed_first)) == 40
    assert len(next_signed(known, set(list(known)[:30]), course.signed_first)) == 10
    assert next_signed(known, set(list(known)[:40]), course.signed_first) == []
    assert len(next_signed(known, set(list(known)[:40]), None)) == 160


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
    assert found["makespan_ratio"] == pytest.approx(15 / (23 + 5), abs=1e-4)
    assert found["quota_used"] == 2.0
    assert found["busiest_window"] == {"calls": 3, "allowed": 10, "over": 0}
    assert found["quota_ten_windows"] is None


def test_of_workers_the_processes_that_they_start_count_too() -> None:
    """Most of a worker may run in its child."""
    child = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]
    parent = [sys.executable, "-c", f"import subprocess; subprocess.run({child!r})"]
    with subprocess.Popen(parent, stdout=subprocess.PIPE) as worker:
        try:
            assert worker.stdout is not None and worker.stdout.readline()
            alone, found = Usage(lambda: [worker.pid]), usage_of_workers([worker])
            assert found.look().rss_mb > alone.look().rss_mb > 0
        finally:
            for pid in reversed(with_children(worker.pid)):
                os.kill(pid, signal.SIGKILL)


def test_fleets_have_even_plans_and_fingerprints() -> None:
    """Every tenth zone is Enterprise, and a page rule gives each kind its proposal."""
    fleet = fleet_of(40, enterprise=10, fingerprints=4, settled=2)
    plans = list(plans_of(fleet).values())
    assert (plans.count("enterprise"), plans.count("pro")) == (4, 36)
    assert [zone.migration.state for zone in fleet.zones[:3]] == ["complete", "complete", "start"]
    assert len({zone.page_rules[0].targets[0] for zone in fleet.zones[2:]}) == 4
    assert not any(zone.firewall_rules for zone in fleet.zones)


def test_faults_lose_readings_and_answers_of_changes() -> None:
    """A reading fails before its effect, a change's answer is lost after it."""
    found = faults_of(Course(name="x", zones=1, faults=0.03))
    assert [(one["match"]["method"], one["effect"], one["probability"]) for one in found] == [
        ("GET", "before", 0.03),
        ("PUT", "after", 0.03),
    ]
    assert faults_of(Course(name="x", zones=1)) == []
