"""Readings of security events that meet the limit of queries (docs/service.md §8)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest

from edgeshift.rate_limit.others import Told
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import Credential, QueryFailed, RateLimited, ServiceClient
from edgeshift.service_api.events import MOST_WINDOWS, EventLog
from edgeshift.testbed.simulator.options import QueryLimit, SimulatorOptions
from edgeshift.testbed.simulator.server import running
from tests.kit.names import fleet_of
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


def second_of(refused: asyncio.Event) -> Callable[[int], bool]:
    """The second query alone is refused; ``refused`` is set then."""

    def full(made: int) -> bool:
        if made == 2:
            refused.set()
        return made == 2

    return full


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
    async with (
        raw_service(limited(second_of(refused))) as service,
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
    refused = asyncio.Event()
    async with (
        raw_service(limited(second_of(refused))) as service,
        client(service, assumed_block=timedelta(minutes=5)) as calls,
    ):
        waits = asyncio.create_task(read(calls, 2))
        await refused.wait()
        await asyncio.sleep(0.5)
        waits.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waits
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


BUDGET = "rate limiter budget depleted, try again after 5 minutes"
MET: tuple[dict[str, Any], ...] = (
    {"message": BUDGET},
    {"message": "Quota exceeded"},
    {"message": "limit reached."},
    {"message": "no", "extensions": {"code": "budget"}},
)
NOT_MET: tuple[dict[str, Any], ...] = (
    {"message": "cannot request more than 10000 rows: limit reached"},
    {"message": "limit must be a whole number from 1 to 10000"},
    {"message": "quota exceeded for the time range: query a shorter one"},
    {"message": "zone is not authorized", "extensions": {"code": "authz"}},
)


def errors(*found: dict[str, Any]) -> bytes:
    return http(200, {"data": None, "errors": list(found)})


@pytest.mark.parametrize("error", MET)
async def test_a_limit_that_is_told_with_200_is_waited_for_as_for_a_429(error: dict[str, Any]) -> None:
    """What was read by then is kept."""
    full = limited(lambda made: made == 2)

    def answer(request: Request) -> Answer:
        found = full(request)
        return errors(error) if found is FULL else found

    async with (
        raw_service(answer) as service,
        client(service, assumed_block=timedelta(milliseconds=20)) as calls,
    ):
        assert len((await read(calls, 2)).events) == 2
        assert queries(service) == 3


@pytest.mark.parametrize("error", NOT_MET)
async def test_another_error_of_a_query_is_no_limit_of_them(error: dict[str, Any]) -> None:
    """It would be waited for without end."""
    async with raw_service(lambda request: errors(error)) as service, client(service) as calls:
        with pytest.raises(QueryFailed):
            await read(calls, 1)


@pytest.mark.parametrize("told", ["429", "200"])
async def test_the_simulators_limit_of_queries_is_waited_for(
    tmp_path: Path, told: Literal["429", "200"]
) -> None:
    """Five queries, of which two fit into each second."""
    limit = QueryLimit(queries=2, window_seconds=1, told=told)
    fleet = fleet_of({"name": "shop.example", "plan": "enterprise"})
    second = timedelta(seconds=1)
    async with (
        running(fleet, tmp_path, options=SimulatorOptions(query_limit=limit)) as served,
        ServiceClient(
            served.base_url,
            Credential(token=fleet.credentials[0].value),
            pacer=Unpaced(),
            assumed_block=second,
        ) as calls,
    ):
        now, began = datetime.now(UTC), time.monotonic()
        found = await calls.event_log(fleet.zones[0].id, now - timedelta(days=150), now)
    assert found.whole and time.monotonic() - began > 1
