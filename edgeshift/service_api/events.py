"""Security events, by GraphQL (docs/service.md §4.3, observed)."""

from __future__ import annotations

import asyncio
import functools
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from edgeshift.service_api.caller import Caller
from edgeshift.service_api.envelope import refusal, said, understood_not, wait_told
from edgeshift.service_api.errors import QueryFailed, RateLimited
from edgeshift.service_api.identifiers import hex_id
from edgeshift.service_api.models import SecurityEvent
from edgeshift.service_api.transport import Call

MOST_EVENTS = 10_000
"""Events that one query asks for at most."""

MOST_QUERIES = 100
"""Queries that one reading of a zone's events makes at most; a million events."""

MOST_WINDOWS = 12
"""For how many windows of their limit queries of a reading that has begun are refused, in a row, until it is
given up.
"""

SHORTEST_SPAN = timedelta(milliseconds=1)
LONGEST_SPAN = timedelta(days=30)
"""Of one query; the service refuses longer ones."""

_LIMIT_MET = re.compile(
    r"""\s*(?:rate[ ]limiter[ ]budget[ ](?:depleted|exceeded)
          | (?:(?:rate|query|request|api)[ ])?(?:quota[ ]exceeded|limit[ ]reached)
          | too[ ]many[ ](?:queries|requests))
        \s* (?: [,;:.] \s* (?:please[ ])? (?:re)?try\b .* )? \.? \s* """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""What a query is answered, with 200, where the limit of queries is used up (docs/service.md §8, observed). A
sentence that only has such words in it is of another limit, as that of the rows or the span of one query.
"""

SOURCES = ("waf", "firewallManaged")
"""The previous and the new WAF, as sources of events."""

_QUERY = """
query SecurityEvents($zoneTag: string, $filter: FirewallEventsAdaptiveFilter_InputObject) {
  viewer {
    zones(filter: {zoneTag: $zoneTag}) {
      firewallEventsAdaptive(filter: $filter, limit: LIMIT, orderBy: [datetime_ASC]) {
        action source ruleId rulesetId description
        rayName datetime clientIP sampleInterval
        clientRequestHTTPHost clientRequestHTTPMethodName clientRequestPath clientRequestQuery
      }
    }
  }
}
"""


@dataclass(frozen=True)
class EventLog:
    """Events of a zone, oldest first. ``whole``: whether all that the service holds of the span are here."""

    events: list[SecurityEvent]
    whole: bool


class EventCalls(Caller):
    """Reading the activity log. Queries have a limit of their own (docs/service.md §8): where it is met, a
    reading that has begun keeps what it has, and goes on when there is room again. Were all that meet it to
    begin again together, those of several queries would never come to their end.
    """

    _room_from = 0.0
    """When the limit of queries has room again, by the monotonic clock."""

    _kept_waiting = 0
    """Readings that have begun, and wait for it."""

    async def security_events(
        self,
        zone_id: str,
        since: datetime,
        until: datetime,
        *,
        sources: Sequence[str] = SOURCES,
        limit: int = MOST_EVENTS,
    ) -> list[SecurityEvent]:
        """The events in ``[since, until)``, oldest first. Both are aware; the service samples its events.

        Raises NotUnderstood where there are more than can be read.
        """
        found = await self.event_log(zone_id, since, until, sources=sources, limit=limit)
        if not found.whole:
            raise self._not_understood(_call(), f"expected fewer than {limit} events in each millisecond")
        return found.events

    async def event_log(
        self,
        zone_id: str,
        since: datetime,
        until: datetime,
        *,
        sources: Sequence[str] = SOURCES,
        limit: int = MOST_EVENTS,
        queries: int = MOST_QUERIES,
    ) -> EventLog:
        """The events in ``[since, until)`` as far as they can be read; both are aware.

        Where a query brings as many events as ``limit``, its span is halved until none does: down to a
        millisecond, and to so many ``queries``. An event is in the result once.

        Raises RateLimited where the first query is refused, and without sending it while others wait for the
        same in the middle of theirs: they go first.
        """
        if since.tzinfo is None or until.tzinfo is None:
            raise ValueError("since and until need a time zone")
        hex_id(zone_id, "zone id")
        found: list[SecurityEvent] = []
        whole, begun = True, False
        spans = _spans(since.astimezone(UTC), until.astimezone(UTC))
        while spans:
            begin, end = spans.pop()
            if queries <= 0:
                return EventLog(found, whole=False)
            queries -= 1
            ask = functools.partial(self._events, zone_id, begin, end, sources, limit)
            events, begun = await self._in_turn(ask, begun), True
            if len(events) < limit:
                found += events
                continue
            if end - begin <= SHORTEST_SPAN:
                found += events
                whole = False
                continue
            middle = _middle(begin, end)
            # The earlier half is popped first, so that the events stay in order.
            spans += [(middle, end), (begin, middle)]
        return EventLog(found, whole)

    async def _in_turn(
        self, ask: Callable[[], Awaitable[list[SecurityEvent]]], begun: bool
    ) -> list[SecurityEvent]:
        """What a query brings. ``begun``: whether its reading has something to lose."""
        if not begun:
            room_in = self._room_from - time.monotonic()
            if room_in > 0 and self._kept_waiting:
                raise _no_room(room_in)
            return await ask()
        give_up_at = time.monotonic() + MOST_WINDOWS * self._assumed_block
        while True:
            await self._room()
            try:
                return await ask()
            except RateLimited as refused:
                if refused.blocked or time.monotonic() >= give_up_at:
                    raise

    async def _room(self) -> None:
        """Wait until the limit has room again, by what is known."""
        self._kept_waiting += 1
        try:
            # It may be put off meanwhile.
            while True:
                room_in = self._room_from - time.monotonic()
                if room_in <= 0:
                    return
                await asyncio.sleep(room_in)
        finally:
            self._kept_waiting -= 1

    async def _events(
        self, zone_id: str, since: datetime, until: datetime, sources: Sequence[str], limit: int
    ) -> list[SecurityEvent]:
        variables = {
            "zoneTag": zone_id,
            "filter": {
                "datetime_geq": timestamp(since),
                "datetime_lt": timestamp(until),
                "source_in": list(sources),
            },
        }
        call = _call({"query": _QUERY.replace("LIMIT", str(int(limit))), "variables": variables})
        document = await self._answered(call)
        zones = _inside(document, "data", "viewer", "zones")
        if not isinstance(zones, list):
            raise self._not_understood(call, "expected data.viewer.zones to be an array")
        if not zones:
            raise self._not_understood(call, "expected the zone in data.viewer.zones")
        events = _inside(zones[0], "firewallEventsAdaptive")
        return [self._read(call, SecurityEvent, item) for item in self._array(call, events)]

    async def _answered(self, call: Call) -> dict[str, Any]:
        received = await self._received(call)
        document = received.document
        if not 200 <= received.status < 300:
            error = refusal(call, received, document, secrets=self._secrets)
            if isinstance(error, RateLimited):
                if error.blocked:
                    self._hold_back(error)
                else:
                    self._no_room_after(error)
            error.credential = self._credential
            raise error
        if not isinstance(document, dict) or "data" not in document:
            raise understood_not(call, received, "expected a JSON object with data and errors")
        if document.get("errors"):
            codes, messages = said(document)
            met = _meets_the_limit(document)
            failure = call.failed(
                RateLimited if met else QueryFailed,
                "the query was answered with errors",
                status=received.status,
                codes=codes,
                messages=messages or ("no message",),
                ray=received.ray,
                secrets=self._secrets,
            )
            if isinstance(failure, RateLimited):
                wait_told(failure, received)
                failure.credential = self._credential
                self._no_room_after(failure)
            raise failure
        return document

    def _no_room_after(self, refused: RateLimited) -> None:
        """Queries have a limit of their own beside that of calls, over as long a window: these go on, and
        whoever asks for events comes back later (docs/service.md §8, observed).
        """
        if refused.retry_after is None:
            refused.retry_after = self._assumed_block
        self._room_from = max(self._room_from, time.monotonic() + refused.retry_after)


def _meets_the_limit(document: dict[str, Any]) -> bool:
    """Whether an error of a 200 says that the limit of queries is used up, by its code or in known words."""
    errors = document.get("errors")
    for one in errors if isinstance(errors, list) else ():
        code, message = _inside(one, "extensions", "code"), _inside(one, "message")
        if code == "budget" or (isinstance(message, str) and _LIMIT_MET.fullmatch(message)):
            return True
    return False


def timestamp(moment: datetime) -> str:
    """A moment as the service's filters take it, in UTC, with a fraction only where it has one."""
    moment = moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if moment.microsecond else "%Y-%m-%dT%H:%M:%SZ")


def _call(query: dict[str, Any] | None = None) -> Call:
    return Call("graphql.security_events", "POST", "/graphql", json=query, limited_apart=True)


def _no_room(seconds: float) -> RateLimited:
    what = "the limit of queries is used up, and others wait for it"
    refused = RateLimited(what, call=_call().name)
    refused.retry_after = seconds
    return refused


def _spans(since: datetime, until: datetime) -> list[tuple[datetime, datetime]]:
    """The time between two moments in spans of one query each, the earliest last."""
    found = []
    while since < until:
        end = min(until, since + LONGEST_SPAN)
        found.append((since, end))
        since = end
    return found[::-1]


def _middle(begin: datetime, end: datetime) -> datetime:
    middle = begin + (end - begin) / 2
    whole = middle.replace(microsecond=0)
    return whole if begin < whole < end else middle


def _inside(document: Any, *names: str) -> Any:
    for name in names:
        document = document.get(name) if isinstance(document, dict) else None
    return document
