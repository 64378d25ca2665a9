"""What `edgeshift doctor` says of the service's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest

from edgeshift.doctor.check import Check, State
from edgeshift.doctor.checks import _service_clock


def said(behind: timedelta, *, scale: float = 1, host: str = "api.example.com") -> Check:
    """Of a service whose clock is behind."""
    spec: Any = SimpleNamespace(
        time_scale=scale, service=SimpleNamespace(base_url=f"https://{host}/client/v4")
    )
    return _service_clock(format_datetime(datetime.now(UTC) - behind, usegmt=True), spec)


def test_a_clock_that_differs_is_told_as_a_duration() -> None:
    """Work of the machine's owner."""
    found = said(timedelta(days=3, hours=2, minutes=30, seconds=1))
    assert found.state is State.WARNING and "let NTP set" in found.fix
    assert found.text == "this machine is 3d 2h ahead of the service"
    assert said(timedelta(seconds=5)).state is State.OK


@pytest.mark.parametrize(
    ("scale", "host", "state"),
    [
        (3600, "127.0.0.1", State.OK),
        (3600, "api.example.com", State.WARNING),
        (1, "127.0.0.1", State.WARNING),
    ],
)
def test_the_clock_of_a_rehearsal_may_be_set_back(scale: float, host: str, state: State) -> None:
    """As by `up --clock`, for Edge Side Code. What lies elsewhere, or runs in real time, is no rehearsal."""
    found = said(timedelta(days=1155), scale=scale, host=host)
    assert found.state is state and ("--clock" in found.text) is (state is State.OK)
