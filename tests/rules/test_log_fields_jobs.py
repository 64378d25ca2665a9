"""Parameter strings of log jobs: what is needed is added, and nothing else of them changes."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas import log_fields
from edgeshift.areas.log_fields import OddOptions, Options, needed, new_job, pushes
from edgeshift.areas.log_fields.terms import FieldSet, NewJobSpec
from edgeshift.profiles import SPECIFICATION

listed = partial(log_fields.listed, profile=SPECIFICATION)


RECEIVED = "https://api.example/client/v4/zones/1/logs/received"


def job(options: str | None, **more: Any) -> dict[str, Any]:
    return {"id": 7, "dataset": "http_requests", "enabled": True, "logpull_options": options, **more}


def updated(before: dict[str, Any], names: list[str]) -> str | None:
    """The parameter string that is sent, and nothing beside it."""
    body = log_fields.updated(before, names, SPECIFICATION)
    assert body is None or set(body) == {"logpull_options"}
    return None if body is None else str(body["logpull_options"])


def restored(now: dict[str, Any], before: str, names: list[str]) -> str | None:
    """The parameter string that takes names out again."""
    body = log_fields.restored(now, job(before), names, SPECIFICATION)
    return None if body is None else str(body["logpull_options"])


def test_only_what_is_needed_is_asked_of_a_job() -> None:
    """Each kind of custom field has its log field."""
    assert needed(FieldSet(request_headers=("a",))) == ("RequestHeaders",)
    assert needed(FieldSet(response_headers=("a",), cookies=("B",))) == ("Cookies", "ResponseHeaders")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("fields=RayID&timestamps=rfc3339", "fields=RayID,Cookies&timestamps=rfc3339"),
        ("timestamps=unix&fields=RayID,Cookies&sample_rate=0.1&x", None),
        (
            "CVE-2021-44228=true&fields=RayID%2CClientIP",
            "CVE-2021-44228=true&fields=RayID%2CClientIP%2CCookies",
        ),
        ("fields=RayID,", "fields=RayID,Cookies"),
        ("fields=cookies", "fields=cookies,Cookies"),
        ("?fields=RayID&sample=0.1", "?fields=RayID,Cookies&sample=0.1"),
        (f"{RECEIVED}?start=1&fields=RayID", f"{RECEIVED}?start=1&fields=RayID,Cookies"),
        ("fields=RayID&note=a?b", "fields=RayID,Cookies&note=a?b"),
    ],
)
def test_a_field_is_added_and_all_else_kept_to_the_letter(before: str, after: str | None) -> None:
    """Options that are not known, their order, how commas are written, and the address of a pull."""
    assert updated(job(before), ["Cookies"]) == after


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (None, "no fields="),
        ("", "no fields="),
        ("timestamps=rfc3339", "no fields="),
        ("fields=", "no fields="),
        ("?", "no fields="),
        (RECEIVED, "no fields="),
        ("?fields=RayID&fields=ClientIP", "twice"),
        ("fields=RayID&fields=ClientIP", "twice"),
    ],
)
def test_options_that_need_a_guess_are_left_to_a_person(options: str | None, said: str) -> None:
    """A list of ours would replace the service's own choice; what it is is not known."""
    with pytest.raises(OddOptions, match=said):
        updated(job(options), ["Cookies"])
    assert listed(job(options)) == ()


names = st.lists(st.sampled_from(["RayID", "ClientIP", "Cookies", "RequestHeaders"]), min_size=1, unique=True)
others = st.lists(st.sampled_from(["timestamps=rfc3339", "sample_rate=1", "odd", "k=v%20w"]), unique=True)


heads = st.sampled_from(["", "?", f"{RECEIVED}?"])


@given(heads, names, others, st.integers(0, 4), st.sampled_from([",", "%2C"]))
def test_what_is_added_can_be_taken_out_again(
    head: str, fields: list[str], parts: list[str], place: int, comma: str
) -> None:
    """Whatever the job had: afterwards the string is what it was, to the letter."""
    parts.insert(place, f"fields={comma.join(fields)}")
    before = head + "&".join(parts)
    assert str(Options.of(before)) == before
    after = updated(job(before), ["Cookies", "ResponseHeaders"]) or before
    assert {*fields, "Cookies", "ResponseHeaders"} == set(listed(job(after)))
    back = restored(job(after), before, ["Cookies", "ResponseHeaders"])
    assert listed(job(back or after)) == tuple(fields)
    if comma == "," or len(fields) > 1:
        assert (back or after) == before


def test_taking_out_keeps_what_others_have_added_since() -> None:
    """Only our own log fields go."""
    found = restored(job("fields=RayID,Cookies,ClientIP&timestamps=unix"), "fields=RayID", ["Cookies"])
    assert found == "fields=RayID,ClientIP&timestamps=unix"
    assert restored(job("fields=RayID"), "fields=RayID", ["Cookies"]) is None
    assert restored(job("fields=Cookies"), "fields=RayID", ["Cookies"]) is None


def test_a_job_pushes_when_it_is_on_and_of_the_dataset() -> None:
    """Others are not touched."""
    assert pushes(job(""))
    assert not pushes(job("", enabled=False)) and not pushes(job("", dataset="firewall_events"))
    assert not pushes({"id": 1})


def test_a_new_job_has_the_named_fields_and_those_that_carry_ours() -> None:
    """Each once; the destination is not part of what is signed."""
    found = new_job(
        NewJobSpec(destination="env:D", fields=("RayID", "Cookies")), ["Cookies", "RequestHeaders"]
    )
    assert found == {
        "name": "edgeshift-{zone}",
        "destination": "env:D",
        "dataset": "http_requests",
        "logpull_options": "fields=RayID,Cookies,RequestHeaders&timestamps=rfc3339",
        "frequency": "high",
        "enabled": True,
    }
