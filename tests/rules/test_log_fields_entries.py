"""What log entries tell of each field, and whether the fields fit."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from edgeshift.areas import log_fields
from edgeshift.areas.log_fields import CustomField, FieldState, Kind
from edgeshift.areas.log_fields.terms import FieldSet
from edgeshift.model.reason_texts import text_of
from edgeshift.profiles import SPECIFICATION

judge = partial(log_fields.judge, profile=SPECIFICATION)
sizes = partial(log_fields.sizes, room=8192)
size_reason = partial(log_fields.size_reason, room=8192)

WANTED = FieldSet(request_headers=("x-a",), response_headers=("x-b",), cookies=("Id",))
EMPTY: dict[str, Any] = {"RequestHeaders": {}, "ResponseHeaders": {}, "Cookies": {}}
JOBS = [
    {
        "id": 1,
        "dataset": "http_requests",
        "enabled": True,
        "logpull_options": "fields=RayID,Cookies,RequestHeaders,ResponseHeaders",
    }
]
SETS_A: dict[str, list[dict[str, Any]]] = {
    "http_request_late_transform": [{"action_parameters": {"headers": {"x-a": {"operation": "set"}}}}]
}


def states(entries: list[dict[str, Any]], jobs: Any = JOBS, transforms: Any = None) -> list[FieldState]:
    return [field.state for field in judge(entries, WANTED, transforms or {}, jobs, 5).fields]


def test_a_field_that_is_in_an_entry_is_seen() -> None:
    """Header names in any case, cookies in their own."""
    entries: list[dict[str, Any]] = [
        {"RequestHeaders": {"X-A": "1"}, "ResponseHeaders": {"x-b": ""}, "Cookies": {"id": "1"}},
        {"RequestHeaders": None, "Cookies": {"Id": "1"}},
    ]
    found = judge(entries, WANTED, {}, JOBS, 5)
    assert [field.state for field in found.fields] == [FieldState.SEEN] * 3
    assert [field.entries for field in found.fields] == [1, 1, 1] and found.entries == 2 and found.settled
    lower = judge(entries[:1] * 9, WANTED, {}, JOBS, 5)
    assert lower.fields[2].state is FieldState.NEVER_SENT


def test_a_field_that_is_in_no_entry_is_told_why() -> None:
    """Never sent, set later, not listed by any job: told only when enough entries were seen."""
    empty = [EMPTY]
    assert states(empty * 4) == [FieldState.TOO_FEW] * 3
    assert not judge(empty * 5, WANTED, {}, JOBS, 5).settled
    assert states(empty * 5) == [FieldState.NEVER_SENT] * 3
    assert states(empty * 5, transforms=SETS_A)[0] is FieldState.SET_LATER
    short = [{**JOBS[0], "logpull_options": "fields=RayID,RequestHeaders"}]
    assert states([], jobs=short) == [FieldState.TOO_FEW, FieldState.NOT_LISTED, FieldState.NOT_LISTED]


def test_full_entries_do_not_prove_that_a_field_was_never_sent() -> None:
    """What is not in an entry of 8 KB may have been cut off."""
    full = {**EMPTY, "RequestHeaders": {"x-a": "v" * 8189}, "Cookies": {"Id": ""}}
    found = judge([full] * 6, WANTED, {}, JOBS, 5)
    assert found.full == 6
    assert [field.state for field in found.fields] == [
        FieldState.SEEN,
        FieldState.TRUNCATED,
        FieldState.TRUNCATED,
    ]
    room = judge([full] * 6 + [{**EMPTY, "RequestHeaders": {"x-a": "v"}}] * 5, WANTED, {}, JOBS, 5)
    assert room.fields[1].state is FieldState.NEVER_SENT


def job(fields: str, **more: Any) -> dict[str, Any]:
    """A log job that lists these log fields."""
    return {**JOBS[0], "logpull_options": f"fields={fields}", **more}


def test_entries_of_other_jobs_say_nothing_of_a_field() -> None:
    """What a job writes that does not list the log field, or lists another data set, is no sign that a field
    was not sent; where nothing else came, no entry came at all.
    """
    jobs = [*JOBS, job("RayID,Cookies")]
    others: list[dict[str, Any]] = [{"QueryName": "a.example"}, {"RayID": "7", "Cookies": {}}]
    found = judge(others * 9, WANTED, {}, jobs, 5)
    assert found.entries == 9
    states_of = {field.kind: field.state for field in found.fields}
    assert states_of[Kind.COOKIE] is FieldState.NEVER_SENT
    assert states_of[Kind.REQUEST] is states_of[Kind.RESPONSE] is FieldState.TOO_FEW
    assert judge(others[:1] * 9, WANTED, {}, jobs, 5).entries == 0
    # Of what is not asked for, nothing counts either.
    assert judge(others[1:] * 9, FieldSet(request_headers=("x-a",)), {}, jobs, 5).entries == 0


def test_a_carrier_that_is_left_out_of_an_entry_may_be_empty() -> None:
    """Where all jobs that push request logs list it, and the entry is of one: whether the service leaves it
    out then is unknown.
    """
    timed, plain, other = {"EdgeStartTimestamp": 7, "Cookies": {}}, {"RayID": "7"}, {"Action": "block"}
    never, few = [FieldState.NEVER_SENT] * 3, [FieldState.TOO_FEW] * 3
    assert states([timed] * 5) == states([plain] * 5) == never
    assert states([other] * 5) == few
    # Other data sets have rays, too, where they are pushed; none but that of requests has its time.
    events = job("RayID", dataset="firewall_events")
    assert states([plain] * 5, jobs=[*JOBS, events]) == few
    assert states([timed] * 5, jobs=[*JOBS, events]) == never
    assert states([plain] * 5, jobs=[*JOBS, {**events, "enabled": False}]) == never
    assert states([timed] * 5, jobs=[*JOBS, job("RayID,Cookies")]) == [*few[:2], FieldState.NEVER_SENT]


def sample(size: int) -> dict[str, Any]:
    return {"RequestHeaders": {"x-a": "v" * (size - 3), "x-other": "v" * 9000}}


@pytest.mark.parametrize(
    ("taken", "said"),
    [
        ([100] * 20, None),
        ([100] * 19 + [8192], "up to 8.0 KB of 8 KB: there is little room left"),
        ([100] * 19 + [8193], "in 1 of 20 sampled requests"),
        ([100] * 18 + [9318] * 2, "at the 95th percentile of 20 sampled requests these fields take 9.1 KB"),
    ],
)
def test_the_sizes_of_sampled_requests_warn_of_the_limit(taken: list[int], said: str | None) -> None:
    """Names and values of the wanted fields, in bytes; what is not wanted does not count."""
    found = sizes([sample(size) for size in taken], [CustomField(Kind.REQUEST, "x-a")])
    assert found is not None and found.largest == max(taken) and found.median == 100
    why = size_reason(found)
    assert (why is None) if said is None else (why is not None and said in text_of(why))


def test_bytes_are_counted_not_letters() -> None:
    """A value in UTF-8 takes more bytes than it has letters; without samples nothing is said."""
    found = sizes([{"Cookies": {"Id": "é" * 10}}], [CustomField(Kind.COOKIE, "Id")])
    assert found is not None and found.median == 22
    assert sizes([], [CustomField(Kind.COOKIE, "Id")]) is None
