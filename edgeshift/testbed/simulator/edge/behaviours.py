"""Edge Side Code: what a zone's planted behaviours do to a request (docs/service.md §1)."""

from collections.abc import Iterable
from functools import lru_cache
from re import Pattern

from edgeshift.testbed.simulator.edge.course import ByStatus, Course, ErrorPage, StatusRedirect
from edgeshift.testbed.simulator.edge.messages import EdgeRequest, HeaderChange, redirect_to
from edgeshift.testbed.simulator.expressions import wildcard_pattern
from edgeshift.testbed.simulator.fleet_edge import EscBehaviour, EscKind

FEATURES: dict[EscKind, str] = {
    "redirect": "redirect rule",
    "tls_sni": "origin rule",
    "resolved_host": "origin rule",
    "host_header": "origin rule",
    "url_rewrite": "URL rewrite rule",
    "request_header": "request header transform rule",
    "feature_exception": "configuration rule",
    "custom_error": "custom error response",
    "response_header": "response header transform rule",
    "status_redirect": "serverless function",
}
"""What the service names as the replacement of each kind (docs/service.md §1; of the host header, public
documents alone).
"""


def behave(course: Course, behaviours: Iterable[EscBehaviour], request: EdgeRequest) -> None:
    """Fill in what the behaviours do to a request; they look at its own path, not at a rewritten one."""
    for one in behaviours:
        if matches(one.path, request.path):
            _behave(course, one)


def matches(pattern: str, path: str) -> bool:
    """Whether a path fits a pattern in which `*` stands for anything."""
    return _compiled(pattern).fullmatch(path) is not None


def _behave(course: Course, one: EscBehaviour) -> None:
    to = one.to or ""
    match one.kind:
        case "redirect":
            course.redirect = course.redirect or redirect_to(to, one.status or 302)
        case "tls_sni":
            course.sni = to
        case "resolved_host":
            course.resolved_host = to
        case "host_header":
            course.host_header = to
        case "url_rewrite":
            course.path = one.to or course.path
            course.query = course.query if one.query is None else one.query
        case "request_header":
            HeaderChange(one.name or "", one.operation, one.value).apply(course.headers)
        case "feature_exception" if one.feature is not None:
            (course.features.add if one.enabled else course.features.discard)(one.feature)
        case "custom_error":
            page = ErrorPage(_statuses(one, least=400), one.body or "", one.content_type, one.status)
            course.error_pages.append(page)
        case "response_header":
            change = HeaderChange(one.name or "", one.operation, one.value)
            course.response_headers.append((_always, change))
        case "status_redirect":
            applies = _statuses(one, only=404)
            course.status_redirects.append(StatusRedirect(applies, to, one.status or 302))


def _always(status: int) -> bool:
    return True


def _statuses(one: EscBehaviour, *, least: int = 0, only: int = 0) -> ByStatus:
    if one.statuses:
        listed = frozenset(one.statuses)
        return lambda status: status in listed
    return lambda status: status == only if only else status >= least


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> Pattern[str]:
    return wildcard_pattern(pattern)
