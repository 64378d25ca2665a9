"""The parts of the measurement of fleets: which there are, and users of one campaign side by side."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from bench.fleet.asking import beat
from bench.fleet.campaign import Course, spec_of
from bench.fleet.growing import series
from bench.fleet.parts import PARTS, chosen
from bench.fleet.records import Grown
from bench.fleet.users import by_user, users_of
from bench.fleet.zones import email_of, fleet_of
from edgeshift.campaign_file.service import CredentialSpec
from edgeshift.testbed.invariants.requests import Request

BEGAN = datetime(2026, 11, 1, 8, tzinfo=UTC)


LOOKS = ((-5, 50, 1), (0, 100, 3), (10, 100, 4_000), (20, 900, 40), (25, 900, 45))
"""Seconds, bytes and events."""


def after(seconds: float) -> datetime:
    """A moment so many seconds after the beginning."""
    return BEGAN + timedelta(seconds=seconds)


def call(at: float, user: str, **more: Any) -> Request:
    """One call, so many seconds after the beginning."""
    given: dict[str, Any] = {"method": "GET", "call": "waf.status", "status": 200} | more
    return Request(seq=0, time=after(at), zone=user, user=user, **given)


def commit(at: float, user: str) -> Request:
    """A commit."""
    more = {"query": "waf_migration=pending", "effect": "scheduled"}
    return call(at, user, method="PUT", call="entrypoint.put", **more)


def test_users_share_a_fleet_evenly_each_with_a_token_of_its_own() -> None:
    """Nobody's token reaches another's account."""
    fleet = fleet_of(9, users=3)
    accounts = [account.id for account in fleet.accounts]
    assert [zone.account for zone in fleet.zones] == accounts * 3
    assert [credential.accounts for credential in fleet.credentials] == [[one] for one in accounts]
    assert len({credential.user for credential in fleet.credentials}) == 3
    assert list(users_of(fleet).values()) == [email_of(number) for number in range(3)]


def test_what_others_use_during_an_outage_is_compared_with_before() -> None:
    """One user is out for ten seconds, and the other calls at half its pace then."""
    fast = [call(at + 0.5, "a") for at in (*range(20), *range(20, 30, 2))]
    out = [*(call(at, "b", status=503) for at in (20, 25)), call(34, "b")]
    ends = [commit(35, user) for user in ("a", "b")]
    calls = sorted([*fast, *out, *ends], key=lambda one: one.time)
    found = by_user(calls, {"a": "a@x", "b": "b@x"}, 1.0, (), [(after(20), after(30))])
    assert found["others_kept"] == 0.5, found
    assert (found["calls_in_vain"], found["back_in_seconds"], found["outage_seconds"]) == (2, 4.0, 10.0)
    assert found["quota_used_by_user"] == {"a@x": pytest.approx(26 / 34.5, abs=1e-4), "b@x": 0.4}


def test_of_several_others_the_one_that_kept_least_counts() -> None:
    """One that is slowed by another's outage is not made good by one that is not."""
    even, half = [call(at + 0.5, "a") for at in range(30)], [*range(20), *range(20, 30, 2)]
    slowed = [call(at + 0.5, "c") for at in half]
    ends = [commit(35, user) for user in ("a", "b", "c")]
    calls = sorted([*even, *slowed, call(20, "b", status=503), *ends], key=lambda one: one.time)
    users = {"a": "a@x", "c": "c@x", "b": "b@x"}
    assert by_user(calls, users, 1.0, (), [(after(20), after(30))])["others_kept"] == 0.5


async def test_what_a_late_answer_kept_from_being_asked_counts() -> None:
    """Of a hundred moments, an answer of ten of them is ten questions that waited."""
    seconds: list[float] = []
    async for due in beat(0.02):
        if len(seconds) == 20:
            await asyncio.sleep(0.2)
        seconds.append(time.perf_counter() - due)
        if len(seconds) == 60:
            break
    assert sum(one > 0.03 for one in seconds) >= 7


def test_a_long_course_makes_a_campaign_file_that_is_read() -> None:
    """Migrations and windows of weeks are written as a campaign file has them."""
    course = Course(name="long", zones=5, window_seconds=1.5e6, migration=2e6)
    tokens = [CredentialSpec(token="env:EDGE_TOKEN")]
    running: Any = SimpleNamespace(service="http://127.0.0.1:1/client/v4", credentials=tokens)
    spec = spec_of(course, running)
    assert spec.validation.window == timedelta(seconds=1_500_000)
    assert spec.commit.migration_limit == timedelta(seconds=4_000_000)


def test_parts_are_chosen_by_the_beginning_of_their_names() -> None:
    """A number of zones stands in place of theirs; a name that none has is refused."""
    assert [one.name for one in chosen(["paced"], zones=50)] == ["paced-1", "paced-4"]
    assert {one.zones for one in chosen(["paced"], zones=50) if isinstance(one, Course)} == {50}
    assert [one.name for one in chosen(["cpu-100", "many"])] == ["cpu-100", "many"]
    assert chosen([]) == list(PARTS)
    assert chosen(["processes-12"], zones=50) == [one for one in PARTS if one.name == "processes-12"]


def test_every_part_is_had_in_minutes_too() -> None:
    """A short part is the same with less of it; a number that is given stands in place of that, too."""
    for whole, short in zip(PARTS, chosen([], short=True), strict=True):
        assert short.name == whole.name
        assert short != whole or whole.name == "cpu-100"
    assert [one.zones for one in chosen(["users"], zones=50, short=True) if isinstance(one, Course)] == [50]


def test_the_time_scale_is_given_to_parts_at_the_limit_alone() -> None:
    """A machine that does not reach the limit ten times as fast measures them slower; no faster than ten."""
    scales = {
        one.name: one.scale
        for one in chosen(["paced", "crowd", "faults"], scale=4)
        if isinstance(one, Course)
    }
    assert (scales.pop("paced-1"), scales.pop("paced-4")) == (4, 4)
    assert set(scales.values()) == {10.0}
    for wrong in (0.5, 11):
        with pytest.raises(ValueError, match="it must be from 1 to 10"):
            chosen(["paced"], scale=wrong)


def test_a_window_is_the_one_that_is_asked_for_or_an_error() -> None:
    """Never silently a smaller one: of a crowd, 2,000 zones are in flight."""
    tokens = [CredentialSpec(token="env:EDGE_TOKEN")]
    running: Any = SimpleNamespace(service="http://127.0.0.1:1/client/v4", credentials=tokens)
    (crowd,) = (one for one in PARTS if isinstance(one, Course) and one.name == "crowd")
    assert spec_of(crowd, running).window == 2_000
    assert spec_of(crowd.model_copy(update={"window": "auto"}), running).window == "auto"
    with pytest.raises(ValueError, match="5000"):
        spec_of(crowd.model_copy(update={"window": 5_001}), running)


def test_what_a_campaign_carries_is_told_over_its_seconds() -> None:
    """A point for each look while it ran: the state that its run began with, and the run's events so far."""
    seen = [Grown(at=after(at), state_bytes=size, events=events) for at, size, events in LOOKS]
    assert series(seen, after(0), after(20)) == {
        "campaign_state_bytes": [(0.0, 100.0), (10.0, 100.0), (20.0, 900.0)],
        "campaign_history_events": [(0.0, 3.0), (10.0, 4_000.0), (20.0, 40.0)],
    }


def test_a_name_that_no_part_has_is_refused() -> None:
    """The error lists the names that there are."""
    with pytest.raises(ValueError, match="there is no part 'fast'"):
        chosen(["fast"])
