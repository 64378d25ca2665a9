"""A request on its way to an answer: the routes it may take, and what a handler is given."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil, isfinite
from typing import TYPE_CHECKING

from edgeshift.testbed.simulator.answers import (
    Answer,
    ApiError,
    Json,
    error,
    failed,
    refuse,
    require_object,
    succeeded,
)
from edgeshift.testbed.simulator.credentials import Caller
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.zone_records import ZoneRecord

if TYPE_CHECKING:
    from edgeshift.testbed.simulator.state import State

BASE_PATH = "/client/v4"
DEEPEST = 100
"""Levels of objects and arrays in each other that a body can have."""


@dataclass(frozen=True, slots=True)
class Route:
    """One method and path below the base path. `{zone_id}` in it makes the zone's record be looked up.

    `call` is the name in the journal and in faults. The caller needs one of `permissions`. `legacy_waf`
    calls stop once the zone is migrated (docs/service.md §3.2). `refusal` writes what is refused before the
    handler is reached. The body of a `confidential` call holds a secret that could be guessed: the journal
    has no digest of it.
    """

    method: str
    path: str
    call: str
    handler: "Handler"
    permissions: tuple[str, ...] = ()
    legacy_waf: bool = False
    refusal: "Refuser" = failed
    confidential: bool = False


@dataclass(slots=True)
class Call:
    """A recognised request. A handler that changes something says so by `effect`: `applied` or
    `scheduled`. `esc` is what the journal says of a call that disables Edge Side Code."""

    state: "State"
    route: Route
    caller: Caller
    now: datetime
    method: str
    path: str
    params: dict[str, str]
    raw_query: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    record: ZoneRecord | None = None
    effect: str = "none"
    esc: dict[str, Json] | None = None
    _parsed: list[Json] = field(default_factory=list)

    @property
    def options(self) -> SimulatorOptions:
        return self.state.options

    @property
    def dry_run(self) -> bool:
        """Whether a write is only to be checked; a profile that knows no such parameter passes it over."""
        return self.options.facts.dry_run and self.query.get("dry_run", "").lower() == "true"

    @property
    def zone(self) -> ZoneRecord:
        """The zone that the path names."""
        if self.record is None:
            raise LookupError(f"{self.route.path} names no zone")
        return self.record

    def json(self) -> Json:
        """The body as JSON. Raises a 400 when it is none."""
        if not self._parsed:
            try:
                self._parsed.append(parse_json(self.body))
            except ValueError:
                raise refuse(400, "Malformed JSON in request body", 6007) from None
        return self._parsed[0]

    def object(self) -> dict[str, Json]:
        """The body as a JSON object. Raises a 400 when it is none."""
        return require_object(self.json())

    def settings_changed(self) -> None:
        """Keep the zone's previous settings after a change in place."""
        self.state.zones.save_settings(self.zone)
        self.effect = "applied"


Handler = Callable[[Call], Answer]
Refuser = Callable[[int, list[Json], dict[str, str] | None], Answer]


def parse_json(body: bytes) -> Json:
    """Strict JSON in UTF-8: no NaN, no Infinity, by whatever number, no half of a character. Raises
    ValueError (also for more than DEEPEST levels)."""

    def no_constant(name: str) -> Json:
        raise ValueError(f"{name} is not JSON")

    def finite(text: str) -> float:
        number = float(text)
        return number if isfinite(number) else no_constant(text)

    text = body.decode("utf-8")
    try:
        found = json.loads(text, parse_constant=no_constant, parse_float=finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("[") + text.count("{") > DEEPEST and _levels(found) > DEEPEST:
        raise ValueError("nested too deeply")
    if "\\u" in text:
        # An escape can be half of a character, which can be neither stored nor sent.
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found


def _levels(document: Json) -> int:
    """How many objects and arrays are in each other."""
    levels, there = 0, [document]
    while there := [one for one in there if isinstance(one, dict | list)]:
        levels += 1
        there = [inner for one in there for inner in (one.values() if isinstance(one, dict) else one)]
    return levels


class Routes:
    """Finds the route of a method and path; later modules add theirs with `add`."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._by_length: dict[int, list[tuple[list[str], dict[str, Route]]]] = {}
        self._by_pattern: dict[str, dict[str, Route]] = {}
        self.add(routes)

    def add(self, routes: Sequence[Route]) -> None:
        for route in routes:
            known = self._by_pattern.get(route.path)
            if known is None:
                known = self._by_pattern[route.path] = {}
                parts = route.path.strip("/").split("/")
                same_length = self._by_length.setdefault(len(parts), [])
                same_length.append((parts, known))
                # A literal part goes before a parameter in the same place.
                same_length.sort(key=lambda one: [part.startswith("{") for part in one[0]])
            if route.method in known:
                raise ValueError(f"{route.method} {route.path} is routed twice")
            known[route.method] = route

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """The route and the path's parameters. `path` is below the base path.

        Raises 400 with 7003 and 7000 for a path that leads nowhere, 405 with 7001 for a wrong method.
        """
        parts = path.strip("/").split("/")
        for pattern, methods in self._by_length.get(len(parts), []):
            if all(part == known or known[0] == "{" for part, known in zip(parts, pattern, strict=True)):
                route = methods.get(method)
                if route is None:
                    raise refuse(405, f"Method {method} not available for that URI.", 7001)
                found = zip(pattern, parts, strict=True)
                return route, {known[1:-1]: part for known, part in found if known[0] == "{"}
        raise no_route(f"{BASE_PATH}/{path.strip('/')}")


def no_route(path: str) -> ApiError:
    """The gateway's answer to an unknown path (docs/service.md §7)."""
    said = f"Could not route to {path[:200]}, perhaps your object identifier is invalid?"
    return ApiError(400, error(said, 7003), error("No route for that URI", 7000))


def page_numbers(call: Call, *, least: int, most: int, usual: int) -> tuple[int, int]:
    """(page, per_page) of a list call. Raises a 400 for what is no page."""
    page = _number(call, "page", 1)
    per_page = _number(call, "per_page", usual)
    if page < 1:
        raise refuse(400, "page must be a positive integer", 1003)
    if not least <= per_page <= most:
        raise refuse(400, f"per_page must be between {least} and {most}", 1003)
    return page, per_page


def result_info(page: int, per_page: int, count: int, total: int) -> dict[str, int]:
    """The envelope's paging part."""
    return {
        "page": page,
        "per_page": per_page,
        "total_pages": ceil(total / per_page),
        "count": count,
        "total_count": total,
    }


def paged(call: Call, items: Sequence[Json], *, least: int, most: int, usual: int) -> Answer:
    """One page of `items`; past the last page the result is empty."""
    page, per_page = page_numbers(call, least=least, most=most, usual=usual)
    part = list(items[(page - 1) * per_page : page * per_page])
    return succeeded(part, result_info=result_info(page, per_page, len(part), len(items)))


def _number(call: Call, name: str, usual: int) -> int:
    text = call.query.get(name)
    if text is None or text == "":
        return usual
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise refuse(400, f"{name} must be a positive integer", 1003)
    return int(text)
