"""One request through the edge: Edge Side Code where it is on, the rules, the origin, and back."""

from dataclasses import dataclass
from email.utils import format_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

from edgeshift.testbed.simulator.answers import new_ray
from edgeshift.testbed.simulator.edge import origin
from edgeshift.testbed.simulator.edge.behaviours import behave, matches
from edgeshift.testbed.simulator.edge.course import Course
from edgeshift.testbed.simulator.edge.features import featured
from edgeshift.testbed.simulator.edge.messages import (
    EdgeRequest,
    EdgeResponse,
    HeaderChange,
    cookies,
    error_page,
    without_cookie,
)
from edgeshift.testbed.simulator.edge.rules import rule
from edgeshift.testbed.simulator.edge_exchange import EdgeExchange, Headers
from edgeshift.testbed.simulator.esc_settings import COOKIE, account_scope, zone_scope
from edgeshift.testbed.simulator.fleet_models import FleetZone

if TYPE_CHECKING:
    from edgeshift.testbed.simulator.state import State


@dataclass(frozen=True)
class EscStanding:
    """Whether Edge Side Code acts. `off`: it is disabled for every request, by the zone or its account;
    `removed`: the removal date has come."""

    off: bool
    removed: bool


def serve(state: "State", request: EdgeRequest) -> EdgeResponse:
    """The answer to a client's request, which is also recorded for the log jobs of its zone.

    421 for a host of no zone, 409 for a zone that is not active.
    """
    started = state.clock.now()
    ray = new_ray()
    zone = zone_of(state, request.host)
    if zone is None:
        return _out(error_page(421, 1001, "no zone of this edge has that host"), ray, format_date(state))
    if zone.status != "active":
        return _out(error_page(409, 1001, f"the zone is {zone.status}"), ray, format_date(state))
    exchange = EdgeExchange(
        zone_id=zone.id,
        ray=ray.partition("-")[0],
        at=started,
        method=request.method,
        scheme=request.scheme,
        host=request.host,
        path=request.path,
        query=request.query,
        client_ip=request.client_ip,
        request_headers=list(request.headers),
    )
    response = _out(_answered(state, zone, request, exchange), ray, format_date(state))
    exchange.status = response.status
    exchange.response_headers = list(response.headers)
    exchange.response_bytes = 0 if request.method == "HEAD" else len(response.body)
    exchange.ended_at = state.clock.now()
    state.logs.record(exchange)
    return response


def zone_of(state: "State", host: str) -> FleetZone | None:
    """The zone that a host belongs to: its name, or a name below it."""
    labels = host.lower().rstrip(".").split(".")
    for place in range(len(labels) - 1):
        row = state.database.connection.execute(
            "SELECT id FROM zones WHERE name = ?", (".".join(labels[place:]),)
        ).fetchone()
        if row is not None:
            record = state.zones.get(row[0])
            return record.zone if record else None
    return None


def esc_standing(state: "State", zone: FleetZone) -> EscStanding:
    """Whether a zone's Edge Side Code is disabled for every request, as the edge acts on it now."""
    scopes = (zone_scope(zone.id), account_scope(zone.account))
    off = any(state.esc.in_force(scope).always for scope in scopes)
    return EscStanding(off=off, removed=state.esc.removed)


def format_date(state: "State") -> str:
    """The present as a `Date` header has it."""
    return format_datetime(state.clock.now(), usegmt=True)


def _answered(state: "State", zone: FleetZone, request: EdgeRequest, exchange: EdgeExchange) -> EdgeResponse:
    standing = esc_standing(state, zone)
    passed_on = list(request.headers)
    if not state.options.esc.cookie_reaches_origin:
        passed_on = without_cookie(passed_on, COOKIE)
    course = Course.of(request, passed_on, set() if zone.paused else set(zone.edge.features))
    # Traffic of a paused zone goes straight to its origin.
    if not zone.paused:
        if not (standing.off or standing.removed or _carries_secret(state, zone, request.headers)):
            behave(course, zone.esc.behaviours, request)
        rule(course, state.database, zone.id, request)
    if course.redirect is not None:
        return course.redirect
    answer = _of_origin(state, zone, request, course, standing)
    exchange.origin_status = answer.status
    exchange.origin_headers = list(answer.headers)
    response = course.replaced(answer) or EdgeResponse(answer.status, list(answer.headers), answer.body)
    if response.is_html and course.features and response.body:
        page = featured(response.body.decode(), course.features, host=zone.name, zone_id=zone.id)
        response.body = page.encode()
    course.finish(response, answer.status)
    return response


def _carries_secret(state: "State", zone: FleetZone, headers: Headers) -> bool:
    values = [value for name, value in cookies(headers) if name == COOKIE]
    if not values:
        return False
    scopes = (zone_scope(zone.id), account_scope(zone.account))
    return any(state.esc.in_force(scope).admits(values) for scope in scopes)


def _of_origin(
    state: "State", zone: FleetZone, request: EdgeRequest, course: Course, standing: EscStanding
) -> EdgeResponse:
    for failure in zone.edge.failures:
        due = failure.when == "any" or standing.off or standing.removed
        if due and matches(failure.path, request.path):
            text = f"the origin fails: {failure.status}\n"
            return EdgeResponse(failure.status, [("content-type", "text/plain")], text.encode())
    return origin.respond(
        zone,
        origin.OriginRequest(
            method=request.method,
            scheme=request.scheme,
            host=course.host_header,
            sni=course.sni,
            resolved_host=course.resolved_host,
            path=course.path,
            query=course.query,
            headers=[*course.headers, ("x-forwarded-proto", request.scheme)],
            at=state.clock.now(),
            body=request.body,
        ),
    )


def _out(response: EdgeResponse, ray: str, date: str) -> EdgeResponse:
    """The response with the headers that every answer of the edge has."""
    for name, value in (("date", date), ("cf-ray", ray), ("server", "edge")):
        HeaderChange(name, "set", value).apply(response.headers)
    if response.status >= HTTPStatus.OK and response.status not in (204, 304):
        HeaderChange("content-length", "set", str(len(response.body))).apply(response.headers)
    return response
