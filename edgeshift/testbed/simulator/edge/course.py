"""What is to be done with one request: Edge Side Code and the rules that replace it both fill this in."""

from collections.abc import Callable
from dataclasses import dataclass, field

from edgeshift.testbed.simulator.edge.messages import EdgeRequest, EdgeResponse, HeaderChange, redirect_to
from edgeshift.testbed.simulator.edge_exchange import Headers
from edgeshift.testbed.simulator.fleet_edge import EdgeFeature

ByStatus = Callable[[int], bool]
"""Whether something is done, by the status that the origin answered."""


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """A body in place of the origin's, and a status where there is one."""

    applies: ByStatus
    body: str
    content_type: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class StatusRedirect:
    """A redirect that depends on what the origin answered."""

    applies: ByStatus
    to: str
    status: int = 302


@dataclass(slots=True)
class Course:
    """The way of one request. What is set later wins; `redirect` and the first fitting page end it."""

    path: str
    query: str
    headers: Headers
    sni: str
    resolved_host: str
    host_header: str
    features: set[EdgeFeature]
    redirect: EdgeResponse | None = None
    status_redirects: list[StatusRedirect] = field(default_factory=list)
    error_pages: list[ErrorPage] = field(default_factory=list)
    response_headers: list[tuple[ByStatus, HeaderChange]] = field(default_factory=list)

    @classmethod
    def of(cls, request: EdgeRequest, headers: Headers, features: set[EdgeFeature]) -> "Course":
        """The way that a request takes when nothing is configured. `headers` go to the origin."""
        return cls(
            path=request.path,
            query=request.query,
            headers=headers,
            sni=request.host,
            resolved_host=request.host,
            host_header=request.host,
            features=features,
        )

    def replaced(self, origin: EdgeResponse) -> EdgeResponse | None:
        """What goes out in place of the origin's answer because of its status, or None."""
        for redirect in self.status_redirects:
            if redirect.applies(origin.status):
                return redirect_to(redirect.to, redirect.status)
        for page in self.error_pages:
            if page.applies(origin.status):
                headers: Headers = [one for one in origin.headers if one[0] not in ("content-type", "etag")]
                headers.append(("content-type", page.content_type))
                return EdgeResponse(page.status or origin.status, headers, page.body.encode())
        return None

    def finish(self, response: EdgeResponse, origin_status: int) -> None:
        """Make the changes to the response's headers, in place."""
        for applies, change in self.response_headers:
            if applies(origin_status):
                change.apply(response.headers)
