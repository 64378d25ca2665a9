"""Headers and names of pages that make no sense: none of them passes for a fault of ours, and a write that is
answered so has an unknown outcome (docs/service.md §7).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import NotUnderstood, Outcome, RateLimited, ServerError
from edgeshift.service_api import transport as transport_module
from tests.service.client_kit import BODY, ZONE, client, failure_of_put
from tests.service.raw_service import envelope, http, raw_service, refusal

DATES = [
    "Fri, 31 Dec 9999 23:59:59 -1200",
    "Mon, 99999999999999999999 Jan 2024 00:00:00 GMT",
    "Mon, 01 Jan 2024 00:00:00 +99999999999999",
    "Mon, 01 Jan 2024 99:99:99 GMT",
    "soon",
]
"""None of them is a date that can be reckoned with."""


@pytest.mark.parametrize("date", [*DATES, "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"])
async def test_a_date_that_no_clock_shows_is_not_believed(date: str) -> None:
    """The answers count all the same, to a reading and to a write; the service's time stays unknown."""
    answer = http(200, envelope({"id": ZONE, "rules": []}), date=date)
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        assert await calls.entry_point(ZONE) is not None
        await calls.put_entry_point(ZONE, BODY, "pending")
        assert calls.service_time() is None
    failure = await failure_of_put(http(500, "oops", date=date))
    assert type(failure) is ServerError
    assert failure.outcome is Outcome.MAY_HAVE_HAPPENED


@pytest.mark.parametrize("ahead", [-1, 0, 2])
async def test_a_clock_that_is_years_ahead_is_believed(ahead: int) -> None:
    """A service in a rehearsal has its own time: by a year or two it may differ from ours."""
    at = (datetime.now(UTC) + timedelta(days=365 * ahead)).replace(microsecond=0)
    answer = http(200, envelope({"id": ZONE, "rules": []}), date=f"{at:%a, %d %b %Y %H:%M:%S} GMT")
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        await calls.entry_point(ZONE)
        told = calls.service_time()
        assert told is not None
        assert at <= told < at + timedelta(minutes=1)


@pytest.mark.parametrize("date", DATES)
async def test_a_retry_after_that_makes_no_sense_holds_back_for_the_usual_while(date: str) -> None:
    """A 429 is a 429: nothing happened, and every other call waits as long as a block is believed to last."""
    blocks: list[float] = []

    class Recording(Unpaced):
        def blocked(self, seconds: float) -> None:
            blocks.append(seconds)

    answer = http(429, refusal({"code": 10100, "message": "x"}), retry_after=date)
    failure = await failure_of_put(answer, pacer=Recording())
    assert isinstance(failure, RateLimited)
    assert failure.nothing_happened
    assert (blocks, failure.retry_after) == ([300.0], None)


async def test_a_name_of_a_page_that_no_address_has_room_for_is_not_asked_by() -> None:
    """It is the service's answer that is wrong."""
    answer = http(200, envelope([], result_info={"cursors": {"after": "x" * 70_000}}))
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        with pytest.raises(NotUnderstood, match="cursor"):
            await calls.rulesets(ZONE)
        assert len(service.requests) == 1


async def test_an_answer_that_cannot_be_read_for_any_reason_may_have_happened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever reading an answer raises that nobody foresaw: the write is known as one that was sent."""

    def unforeseen(date: str | None) -> None:
        raise ZeroDivisionError(date)

    monkeypatch.setattr(transport_module, "http_date", unforeseen)
    failure = await failure_of_put(http(200, envelope({"id": ZONE, "rules": []}), date="now"))
    assert type(failure) is NotUnderstood
    assert failure.outcome is Outcome.MAY_HAVE_HAPPENED
    assert "ZeroDivisionError" in str(failure)
