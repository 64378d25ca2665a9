"""Readings of security events that meet the limit of queries (docs/service.md §8)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from edgeshift.rate_limit.others import Told
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import RateLimited, ServiceClient
from edgeshift.service_api.events import MOST_WINDOWS, EventLog
from tests.service.client_kit import ZONE, client
from tests.service.raw_service import Answer, RawService, Request, envelope, http, raw_service, refusal

UNTIL = datetime(2023, 10, 1, tzinfo=UTC)
FULL = http(429, refusal({"message": "query limit reached"}))
LIMITS = {"ratelimit": '"graphql";r=0;t=250', "ratelimit_policy": '"graphql";q=300;w=300'}


def brought(request: Request) -> bytes:
    """One event, which has the time from which on it was asked for."""
    since = json.loads(request.body)["variables"]["filter"]["datetime_geq"]
    zones = [{"firewallEventsAdaptive": [{"datetime": since, "rayName": since}]}]
    return http(200, {"data": {"viewer": {"zones": zones}}, "errors": None})


def limited(full: Callable[[int], bool]) -> Callable[[Request], Answer]:
    """Answers of a service that refuses the queries of which ``full`` says so, by their number."""
    made = 0

    def answer(request: Request) -> Answer:
        nonlocal made
        if not request.path.endswith("graphql"):
            return http(200, envelope({"migration_state": "start"}))
        made += 1
        return FULL if full(made) else brought(request)

    return answer


def queries(service: RawService) -> int:
    return sum(1 for request in service.requests if request.path.endswith("graphql"))


def read(calls: ServiceClient, spans: int) -> Any:
    """So many queries, of a month each."""
    return calls.event_log(ZONE, UNTIL - spans * timedelta(days=30), UNTIL)


async def test_a_reading_goes_on_where_it_met_the_limit() -> None:
    """It has room for one query in each window: whoever began again would never come to the second one."""
    async with (
        raw_service(limited(lambda made: made % 2 == 0)) as service,
        client(service, assumed_block=timedelta(milliseconds=20)) as calls,
    ):
        found: EventLog = await read(calls, 5)
        assert queries(service) == 9
    times = [event.datetime for event in found.events]
    assert found.whole and len(set(times)) == 5 and times == sorted(times, key=str)


async def test_while_a_reading_waits_for_room_none_begins_and_others_call() -> None:
    """Whoever has something to lose goes first; a rollback does not wait for either."""
    refused = asyncio.Event()

    def second(made: int) -> bool:
        if made == 2:
            refused.set()
        return made == 2

    async with (
        raw_service(limited(second)) as service,
        client(service, assumed_block=timedelta(seconds=3)) as calls,
    ):
        waits = asyncio.create_task(read(calls, 2))
        await refused.wait()
        await asyncio.sleep(0.5)
        with pytest.raises(RateLimited) as raised:
            await read(calls, 1)
        assert queries(service) == 2 and 0 < (raised.value.retry_after or 0) < 3
        await calls.waf_status(ZONE, urgent=True)
        assert not waits.done()
        assert len((await waits).events) == 2
        assert len((await read(calls, 1)).events) == 1


async def test_a_reading_that_finds_no_room_for_long_is_given_up() -> None:
    """Others may use up the limit for good: whoever waits for the events has to be told."""
    async with (
        raw_service(limited(lambda made: made > 1)) as service,
        client(service, assumed_block=timedelta(milliseconds=20)) as calls,
    ):
        with pytest.raises(RateLimited):
            await read(calls, 2)
        assert 2 < queries(service) <= MOST_WINDOWS + 2


async def test_a_reading_that_is_cancelled_while_it_waits_keeps_nobody_waiting() -> None:
    """As where a person stops the campaign."""
    async with (
        raw_service(limited(lambda made: made == 2)) as service,
        client(service, assumed_block=timedelta(minutes=5)) as calls,
    ):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await read(calls, 2)
        assert queries(service) == 2
        assert len((await read(calls, 1)).events) == 1


@pytest.mark.parametrize("status", [200, 429])
async def test_what_an_answer_to_a_query_says_of_limits_is_of_no_other_call(status: int) -> None:
    """The limit of queries is used up: every call of the user, also a rollback's, would wait for its end."""
    heard: list[Told] = []

    class Hearing(Unpaced):
        def told(self, said: Told, took: float) -> None:
            heard.append(said)

    def answer(request: Request) -> Answer:
        if not request.path.endswith("graphql"):
            return http(200, envelope({"migration_state": "start"}), **LIMITS)
        body = (brought(request) if status == 200 else FULL).partition(b"\r\n\r\n")[2]
        return http(status, body, **LIMITS)

    async with raw_service(answer) as service, client(service, pacer=Hearing()) as calls:
        if status == 200:
            await read(calls, 1)
        else:
            with pytest.raises(RateLimited) as raised:
                await read(calls, 1)
            assert raised.value.retry_after == 250.0
        assert heard == []
        await calls.waf_status(ZONE)
        assert [one.limit for one in heard] == [300]
