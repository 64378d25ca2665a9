"""Durations are read as people write them, and nothing is lost between them and what is stored."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from edgeshift.model.durations import LONGEST, Duration, parse_duration, say_duration


class Waits(BaseModel):
    """A model with a duration."""

    window: Duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("10m", 600),
        ("72h", 259_200),
        ("14d", 1_209_600),
        ("2w", 1_209_600),
        ("500ms", 0.5),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        (" 1H30M ", 5400),
        ("1.5h", 5400),
        ("0s", 0),
        (90, 90),
        (0.25, 0.25),
        (timedelta(minutes=2), 120),
    ],
)
def test_what_people_write_is_understood(text: object, seconds: float) -> None:
    """Units from milliseconds to weeks, combined at will; plain numbers are seconds."""
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "wrong",
    ["", "h", "10", "10 minutes", "1h30", "-5m", "1e3s", "one day", "5y", "1:30", None, True, [], {}, "ms1"],
)
def test_anything_else_is_refused_with_what_would_be_right(wrong: object) -> None:
    """The answer shows how a duration is written."""
    with pytest.raises(ValueError, match="90s, 10m, 72h, 14d or 1h30m"):
        parse_duration(wrong)


@pytest.mark.parametrize(
    "wrong", [-1, -0.001, timedelta(seconds=-1), "3661d", float("inf"), float("nan"), 1e300, "9" * 400 + "s"]
)
def test_a_duration_is_neither_negative_nor_endless(wrong: object) -> None:
    """At most ten years, whatever overflows on the way."""
    with pytest.raises(ValueError, match="between 0s and ten years"):
        parse_duration(wrong)


@given(st.timedeltas(timedelta(0), LONGEST))
def test_what_is_stored_is_read_back_exactly(value: timedelta) -> None:
    """Through JSON, to the microsecond: a duration that crosses a boundary does not drift."""
    assert Waits.model_validate_json(Waits(window=value).model_dump_json()).window == value


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0s"),
        (0.25, "250ms"),
        (1, "1s"),
        (2.5, "2.5s"),
        (59, "59s"),
        (60, "1m"),
        (90, "1m 30s"),
        (5400, "1h 30m"),
        (259_200, "3d"),
        (1_209_600, "14d"),
        (90_061, "1d 1h"),
    ],
)
def test_a_duration_is_said_in_at_most_two_units(seconds: float, said: str) -> None:
    """The largest ones that fit."""
    assert say_duration(timedelta(seconds=seconds)) == said


@given(st.sampled_from([("d", 3000, "h", 24), ("h", 24, "m", 60), ("m", 60, "s", 60)]), st.data())
def test_what_is_said_can_be_written_back(units: tuple[str, int, str, int], data: st.DataObject) -> None:
    """A duration of two neighbouring units survives being said and read."""
    large, most, small, fewest = units
    many, few = data.draw(st.integers(1, most - 1)), data.draw(st.integers(0, fewest - 1))
    value = parse_duration(f"{many}{large}{few}{small}")
    assert parse_duration(say_duration(value)) == value


@given(st.timedeltas(timedelta(milliseconds=1), LONGEST))
def test_what_is_said_is_close(value: timedelta) -> None:
    """Never off by more than the second unit it is said in."""
    off = abs(parse_duration(say_duration(value)) - value)
    assert off <= max(timedelta(milliseconds=1), value / 23)


def test_a_field_names_what_is_wrong() -> None:
    """A model's error says where, and what would be right."""
    with pytest.raises(ValidationError, match=r"window[\s\S]*90s, 10m, 72h"):
        Waits.model_validate({"window": "three days"})
