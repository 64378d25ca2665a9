"""The measurements' own rules: what counts as a gap, as found and as mapped, and how long a rollback took."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from rich.console import Console
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from bench import startup
from bench.figures import spread, told
from bench.planted import compared, made_worse, planted_in
from bench.roll_back import roll_back
from bench.strangers import draw, gaps
from bench.visitor import Sightings
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.simulator.generate import generate_fleet

BEGAN = datetime(2023, 10, 2, 8, tzinfo=UTC)


def request(call: str, version: int, seq: int = 0, ruleset: str = "r1", status: int = 200) -> Request:
    """A reading of a version, or a write that made it."""
    writes = call in ("rulesets.put", "rulesets.create")
    return Request(
        seq=seq,
        time=BEGAN,
        method="PUT" if writes else "GET",
        call=call,
        zone="z",
        status=status,
        effect="applied" if writes and status == 200 else "none",
        log_fields={"ruleset": ruleset, "version": version},
    )


def test_a_gap_is_a_version_that_was_replaced_unread() -> None:
    """Versions between the last reading and the write's own; not those that were read in time."""
    read, put = "rulesets.get", "rulesets.put"
    assert gaps([request(read, 3), request(put, 4)]) == []
    assert gaps([request(read, 3), request(put, 6)]) == [("r1", 4), ("r1", 5)]
    assert gaps([request(read, 3), request(put, 4), request(read, 6), request(put, 7)]) == []
    assert gaps([request("rulesets.create", 1), request(put, 3)]) == [("r1", 2)]


def test_an_older_version_that_is_read_makes_no_gap_and_the_list_closes_none() -> None:
    """An older version is read to merge it; the list has no rules to merge."""
    older = [request("rulesets.get", 5), request("rulesets.versions.get", 4), request("rulesets.put", 6)]
    assert gaps(older) == []
    listed = [request("rulesets.get", 3), request("rulesets.list", 4), request("rulesets.put", 5)]
    assert gaps(listed) == [("r1", 4)]


def test_a_write_that_was_refused_replaced_nothing() -> None:
    """Only what took effect counts, and each ruleset by itself."""
    refused = [request("rulesets.get", 1), request("rulesets.put", 4, status=400)]
    assert gaps(refused) == []
    assert gaps([request("rulesets.get", 7), request("rulesets.put", 2, ruleset="r2")]) == [("r2", 1)]


def test_the_same_seed_draws_the_same_interleavings() -> None:
    """And a thousand of them have every way and moment of writing, the first write at the first moment."""
    one, other = ([draw(Random(seed), "x-a") for seed in range(1000)] for _ in range(2))
    assert one == other
    writes = [write for interleaving in one for write in interleaving.writes]
    assert {write.how for write in writes} == {"append", "replace", "delete"}
    assert {write.when for write in writes} == {"before_create", "before_put", "after_put"}
    assert all(interleaving.writes[0].skip == 0 for interleaving in one)
    assert any(interleaving.begins is None for interleaving in one)


def test_what_was_found_is_told_from_what_was_mapped_and_from_what_is_not_there() -> None:
    """The wrong feature at the right path was found and not mapped; another path is an alarm."""
    planted = Counter({("/a", "redirect rule"): 1, ("/b", "origin rule"): 2})
    found = Counter({("/a", "origin rule"): 1, ("/b", "origin rule"): 1, ("/c", "redirect rule"): 1})
    result = compared(planted, found)
    assert (result.planted, result.found, result.mapped, result.strange) == (3, 2, 1, 1)


def test_what_is_planted_is_counted_by_path() -> None:
    """A behaviour counts at each known path that it acts on."""
    oracle = {
        "planted": [{"path": "/b*", "replaced_by": "origin rule"}],
        "edge": {"paths": ["/", "/blog", "/basket"]},
    }
    assert planted_in(oracle) == Counter({("/blog", "origin rule"): 1, ("/basket", "origin rule"): 1})


def test_a_zone_that_gets_worse_does_so_where_nothing_is_planted() -> None:
    """So that a failure is never taken for a planted difference; only zones that esc acts on get worse."""
    fleet = generate_fleet(40, seed=1, esc=0.7)
    worse = made_worse(fleet, 3)
    assert len(worse) > 5
    for zone in fleet.zones:
        if zone.name not in worse:
            assert not zone.edge.failures
            continue
        (failure,) = zone.edge.failures
        assert failure.when == "esc_off" and failure.path == worse[zone.name]
        assert zone.status == "active" and not zone.esc.always


def history(*steps: tuple[str, float, float]) -> Iterator[HistoryEvent]:
    """Remote activities: name, seconds of their beginning and end."""
    number = 0
    for name, begun, ended in steps:
        number += 2
        event = HistoryEvent(event_id=number, event_type=EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
        event.event_time.FromDatetime(BEGAN + timedelta(seconds=begun))
        event.activity_task_scheduled_event_attributes.activity_type.name = name
        yield event
        event = HistoryEvent(event_id=number + 1, event_type=EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED)
        event.event_time.FromDatetime(BEGAN + timedelta(seconds=ended))
        event.activity_task_completed_event_attributes.scheduled_event_id = number
        yield event


def line(call: str, at: float, **esc: Any) -> dict[str, Any]:
    return {"call": call, "wall_time": (BEGAN + timedelta(seconds=at)).isoformat(), "esc": esc}


def test_a_roll_back_is_timed_from_the_look_that_saw_it_worse() -> None:
    """To the call, to the service's showing it, to the edge, and to edgeshift's knowing it."""
    done = history(
        ("change_zone", 0, 1),
        ("watch_esc_scope", 5, 6),
        ("watch_esc_scope", 9, 10),
        ("change_zone", 10.1, 10.6),
        ("settle_esc_scope", 10.7, 11.5),
        ("watch_esc_scope", 11.6, 15),
    )
    calls = [
        line("esc.get", 9.5, shown={"always": True}),
        line("esc.delete", 10.5),
        line("esc.get", 10.8, shown={"always": True}),
        line("esc.get", 11.5, shown={"always": False}),
    ]
    at = {second: BEGAN + timedelta(seconds=second) for second in (3, 13)}
    seen = Sightings(first=200, changes=[(at[3], 503), (at[13], 200)])
    found = roll_back(list(done), calls, seen)
    assert found is not None
    assert (found.sent, found.shown, found.edge) == pytest.approx((0.5, 1.5, 3.0))
    assert (found.known, found.outage) == pytest.approx((5.0, 10.0))


def test_without_a_roll_back_there_is_no_time_of_one() -> None:
    """A scope that settled has none, nor one whose URL never failed."""
    done = list(history(("change_zone", 0, 1), ("watch_esc_scope", 5, 6)))
    assert roll_back(done, [], Sightings(first=200)) is None


def test_figures_are_told_by_their_least_median_and_most() -> None:
    """And where there are none, that is said."""
    assert told(spread([3.0, 1.0, 2.0]), "s") == "1 / 2 / 3 s"
    assert told(spread([])) == "none"


def test_a_start_is_judged_by_its_median() -> None:
    """In the figures, and in the table: half of the rounds keep to the goal, or it is not met."""
    quick = startup.judged(0.3, [(0.1, 0.05), (0.3, 0.06), (0.9, 0.07)])
    slow = startup.judged(0.3, [(0.1, 0.05), (0.31, 0.06), (0.32, 0.07)])
    assert (quick["met"], slow["met"]) == (True, False)
    assert (slow["least"], slow["median"], slow["cpu"]) == (0.1, 0.31, 0.05)
    console = Console(width=120, record=True, file=io.StringIO())
    startup.tell(console, {"calls": {"quick": quick, "slow": slow}, "rounds": 3, "load": 1.5})
    ends = [line.split()[-2] for line in console.export_text().splitlines() if line.startswith("│ ")]
    assert ends == ["yes", "no"]
