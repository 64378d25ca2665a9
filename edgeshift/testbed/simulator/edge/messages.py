"""What comes to the edge and what leaves it, and the changes that can be made to headers on the way."""

from dataclasses import dataclass, field
from http import HTTPStatus

from edgeshift.testbed.simulator.edge_exchange import Headers
from edgeshift.testbed.simulator.fleet_edge import HeaderOperation


@dataclass(slots=True)
class EdgeRequest:
    """A request of a client. `host` is without port, `query` without `?`; header names are lower case."""

    method: str
    host: str
    path: str
    query: str = ""
    headers: Headers = field(default_factory=list)
    body: bytes = b""
    scheme: str = "http"
    client_ip: str = "192.0.2.1"

    @property
    def uri(self) -> str:
        """Path and query."""
        return with_query(self.path, self.query)


@dataclass(slots=True)
class EdgeResponse:
    """An answer, of the origin or of the edge. `body` is whole also where HEAD keeps it from being sent."""

    status: int
    headers: Headers = field(default_factory=list)
    body: bytes = b""

    @property
    def is_html(self) -> bool:
        return (first(self.headers, "content-type") or "").startswith("text/html")


@dataclass(frozen=True, slots=True)
class HeaderChange:
    """One change: `set` leaves a single header of the name, `add` puts one more, `remove` leaves none."""

    name: str
    operation: HeaderOperation
    value: str = ""

    def apply(self, headers: Headers) -> None:
        """Change the headers in place; the header that is set stands where the first of its name stood."""
        name = self.name.lower()
        places = [place for place, (known, _) in enumerate(headers) if known == name]
        if self.operation == "add":
            headers.append((name, self.value))
            return
        for place in reversed(places):
            del headers[place]
        if self.operation == "set":
            headers.insert(places[0] if places else len(headers), (name, self.value))


def first(headers: Headers, name: str) -> str | None:
    """The first value of a header (its name in lower case)."""
    return next((value for known, value in headers if known == name), None)


def with_query(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path


def cookies(headers: Headers) -> list[tuple[str, str]]:
    """Names and values of the request's cookies, as they were sent."""
    found = []
    for known, value in headers:
        if known == "cookie":
            for part in value.split(";"):
                name, equals, content = part.strip().partition("=")
                if equals:
                    found.append((name, content))
    return found


def without_cookie(headers: Headers, name: str) -> Headers:
    """The headers without one cookie; a cookie header that held nothing else is left out."""
    kept: Headers = []
    for known, value in headers:
        if known == "cookie":
            parts = [part.strip() for part in value.split(";")]
            parts = [part for part in parts if part and part.partition("=")[0] != name]
            if not parts:
                continue
            value = "; ".join(parts)
        kept.append((known, value))
    return kept


def error_page(status: int, code: int, text: str) -> EdgeResponse:
    """The edge's own answer where no origin is asked."""
    phrase = HTTPStatus(status).phrase
    page = f"<!doctype html><title>{phrase}</title><h1>{phrase}</h1><p>error code: {code}</p><p>{text}</p>\n"
    return EdgeResponse(status, [("content-type", "text/html; charset=UTF-8")], page.encode())


def redirect_to(location: str, status: int) -> EdgeResponse:
    """A redirect that the edge makes itself."""
    return EdgeResponse(status, [("content-type", "text/html; charset=UTF-8"), ("location", location)])
