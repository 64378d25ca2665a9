"""The rules that replace Edge Side Code: the zone's rulesets of the phases that act on traffic.

Their expressions are judged on the request as the client sent it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from edgeshift.testbed.simulator.database import Database
from edgeshift.testbed.simulator.edge.course import ByStatus, Course, ErrorPage
from edgeshift.testbed.simulator.edge.messages import (
    EdgeRequest,
    HeaderChange,
    first,
    redirect_to,
    with_query,
)
from edgeshift.testbed.simulator.edge.texts import compile_text
from edgeshift.testbed.simulator.expressions import Expression, ExpressionError, compile_expression
from edgeshift.testbed.simulator.fleet_edge import EDGE_FEATURES

PHASES = (
    "http_request_dynamic_redirect",
    "http_request_transform",
    "http_config_settings",
    "http_request_origin",
    "http_request_late_transform",
    "http_custom_errors",
    "http_response_headers_transform",
)
"""In the order in which they act."""

Json = Any


@dataclass(frozen=True)
class _Rule:
    phase: str
    test: Expression
    parameters: Mapping[str, Json]


def rule(course: Course, database: Database, zone_id: str, request: EdgeRequest) -> None:
    """Fill in what the zone's rules do to a request."""
    rules = _rules(database, zone_id)
    if not rules:
        return
    values = _values(request)
    for one in rules:
        if one.phase in _ON_RESPONSES:
            _ON_RESPONSES[one.phase](course, one.parameters, _by_status(one.test, values))
        elif one.test(values):
            _ON_REQUESTS[one.phase](course, one.parameters, values)


def _rules(database: Database, zone_id: str) -> list[_Rule]:
    marks = ", ".join("?" * len(PHASES))
    rows = database.connection.execute(
        f"SELECT phase, document FROM rulesets WHERE zone = ? AND phase IN ({marks})", (zone_id, *PHASES)
    ).fetchall()
    rows.sort(key=lambda row: PHASES.index(row[0]))
    return [one for phase, document in rows for one in _compiled(phase, document)]


@lru_cache(maxsize=4096)
def _compiled(phase: str, document: str) -> tuple[_Rule, ...]:
    found = []
    for sent in json.loads(document)["rules"]:
        try:
            test = compile_expression(sent.get("expression", ""))
        except ExpressionError:
            continue  # The checks let none in; one that was there before them matches nothing.
        if sent.get("enabled", True):
            found.append(_Rule(phase, test, sent.get("action_parameters") or {}))
    return tuple(found)


def _values(request: EdgeRequest) -> dict[str, Json]:
    headers = request.headers
    return {
        "http.host": request.host,
        "http.request.method": request.method,
        "http.request.uri": request.uri,
        "http.request.uri.path": request.path,
        "http.request.uri.query": request.query,
        "http.request.full_uri": f"{request.scheme}://{request.host}{request.uri}",
        "http.user_agent": first(headers, "user-agent") or "",
        "http.cookie": first(headers, "cookie") or "",
        "http.referer": first(headers, "referer") or "",
        "http.x_forwarded_for": first(headers, "x-forwarded-for") or "",
        "http.request.version": "HTTP/1.1",
        "ip.src": request.client_ip,
        "cf.edge.server_port": 443 if request.scheme == "https" else 80,
        "ssl": request.scheme == "https",
    }


def _by_status(test: Expression, values: dict[str, Json]) -> ByStatus:
    return lambda status: test({**values, "http.response.code": status})


def _text(given: Json, values: Mapping[str, Json]) -> str | None:
    """A text that is given as `value`, or as an `expression` that makes it."""
    if not isinstance(given, dict):
        return None
    if "expression" in given:
        return compile_text(given["expression"])(values)
    return given.get("value")


def _redirect(course: Course, parameters: Mapping[str, Json], values: Mapping[str, Json]) -> None:
    given = parameters["from_value"]
    target = _text(given["target_url"], values) or "/"
    if given.get("preserve_query_string") and "?" not in target:
        target = with_query(target, str(values["http.request.uri.query"]))
    course.redirect = course.redirect or redirect_to(target, given.get("status_code", 301))


def _rewrite(course: Course, parameters: Mapping[str, Json], values: Mapping[str, Json]) -> None:
    uri = parameters["uri"]
    course.path = _text(uri.get("path"), values) or course.path
    query = _text(uri.get("query"), values)
    course.query = course.query if query is None else query


def _configure(course: Course, parameters: Mapping[str, Json], values: Mapping[str, Json]) -> None:
    for feature in EDGE_FEATURES:
        if feature in parameters:
            (course.features.add if parameters[feature] else course.features.discard)(feature)


def _route(course: Course, parameters: Mapping[str, Json], values: Mapping[str, Json]) -> None:
    course.sni = parameters.get("sni", {}).get("value", course.sni)
    course.resolved_host = parameters.get("origin", {}).get("host", course.resolved_host)
    course.host_header = parameters.get("host_header", course.host_header)


def _request_headers(course: Course, parameters: Mapping[str, Json], values: Mapping[str, Json]) -> None:
    for change in _changes(parameters, values):
        change.apply(course.headers)


def _changes(parameters: Mapping[str, Json], values: Mapping[str, Json]) -> list[HeaderChange]:
    return [
        HeaderChange(name, given["operation"], _text(given, values) or "")
        for name, given in parameters["headers"].items()
    ]


def _error(course: Course, parameters: Mapping[str, Json], applies: ByStatus) -> None:
    page = ErrorPage(
        lambda status: status >= 400 and applies(status),
        parameters.get("content", ""),
        parameters.get("content_type", "text/html"),
        parameters.get("status_code"),
    )
    course.error_pages.append(page)


def _response_headers(course: Course, parameters: Mapping[str, Json], applies: ByStatus) -> None:
    course.response_headers += [(applies, change) for change in _changes(parameters, {})]


_ON_REQUESTS: dict[str, Callable[[Course, Mapping[str, Json], Mapping[str, Json]], None]] = {
    "http_request_dynamic_redirect": _redirect,
    "http_request_transform": _rewrite,
    "http_config_settings": _configure,
    "http_request_origin": _route,
    "http_request_late_transform": _request_headers,
}
_ON_RESPONSES: dict[str, Callable[[Course, Mapping[str, Json], ByStatus], None]] = {
    "http_custom_errors": _error,
    "http_response_headers_transform": _response_headers,
}
