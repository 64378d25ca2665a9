"""The origins behind the edge: they say what they were asked, and are as noisy as their zone has it."""

import json
import random
import secrets
from dataclasses import dataclass
from datetime import datetime
from html import escape
from http import HTTPStatus

from edgeshift.testbed.simulator.clock import timestamp
from edgeshift.testbed.simulator.edge.messages import EdgeResponse
from edgeshift.testbed.simulator.edge_exchange import Headers
from edgeshift.testbed.simulator.fleet_models import FleetZone

USUAL_PATHS = (
    "/",
    "/about",
    "/contact",
    "/blog/first-post",
    "/login",
    "/account/profile",
    "/api/items",
    "/api/search",
    "/assets/app.js",
    "/old/catalogue",
    "/legacy/orders",
    "/shop/cart",
    "/shop/checkout",
    "/help/missing",
    "/status/404",
    "/status/503",
)
_PAGES = ("/", "/about", "/contact", "/blog/", "/login", "/help/")


@dataclass(slots=True)
class OriginRequest:
    """A request as the origin gets it. `sni` and `resolved_host`: the name in the TLS handshake, and the one
    whose address was connected to."""

    method: str
    scheme: str
    host: str
    sni: str
    resolved_host: str
    path: str
    query: str
    headers: Headers
    at: datetime
    body: bytes = b""


def known_paths(zone: FleetZone) -> list[str]:
    """The paths of a zone's origin, which its sitemap lists."""
    return zone.edge.paths or list(USUAL_PATHS)


def respond(zone: FleetZone, request: OriginRequest) -> EdgeResponse:
    """The origin's answer: `/sitemap.xml`, `/robots.txt`, HTML pages, `/status/NNN`, a script, 404 where a
    part of the path is `missing`, and everywhere else JSON that says what the request was."""
    noise = _Noise(zone)
    path = request.path
    base = f"{request.scheme}://{request.host}"
    if path == "/sitemap.xml":
        return _answer(zone, noise, "application/xml", _sitemap(base, known_paths(zone)))
    if path == "/robots.txt":
        return _answer(zone, noise, "text/plain", f"User-agent: *\nAllow: /\nSitemap: {base}/sitemap.xml\n")
    if path.startswith("/assets/"):
        return _answer(zone, noise, "text/javascript", "document.body.dataset.ready = '1';\n")
    status = _status(path)
    if path.startswith(_PAGES[1:]) or path == "/" or path.endswith(".html"):
        made = _answer(zone, noise, "text/html; charset=UTF-8", _page(zone, request, status, noise), status)
    else:
        document = {
            "zone": zone.name,
            "method": request.method,
            "host": request.host,
            "sni": request.sni,
            "resolved_host": request.resolved_host,
            "path": path,
            "query": request.query,
            "headers": _joined(request.headers),
            **({"body": request.body.decode(errors="replace")} if request.body else {}),
            **noise.document(request.at),
        }
        made = _answer(zone, noise, "application/json", json.dumps(document, indent=1) + "\n", status)
    if path in ("/login", "/account/profile"):
        made.headers += [
            ("set-cookie", "session=opened; Path=/; HttpOnly"),
            ("set-cookie", "Theme=light; Path=/"),
        ]
    if 300 <= status < 400:
        made.headers.append(("location", "/"))
    return made


def _status(path: str) -> int:
    parts = path.strip("/").split("/")
    if len(parts) == 2 and parts[0] == "status" and parts[1].isascii() and parts[1].isdigit():
        wanted = int(parts[1][:4])
        return wanted if wanted in {one.value for one in HTTPStatus if one >= 200} else 404
    return 404 if "missing" in parts else 200


def _answer(zone: FleetZone, noise: "_Noise", kind: str, text: str, status: int = 200) -> EdgeResponse:
    headers: Headers = [
        ("content-type", kind),
        ("cache-control", "max-age=60"),
        ("x-powered-by", "origin/2.4"),
        ("vary", "accept-encoding"),
        *noise.headers(),
    ]
    return EdgeResponse(status, headers, b"" if status in (204, 304) else text.encode())


def _joined(headers: Headers) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in headers:
        if name != "host":
            found[name] = f"{found[name]}, {value}" if name in found else value
    return dict(sorted(found.items()))


def _sitemap(base: str, paths: list[str]) -> str:
    places = "".join(f"<url><loc>{escape(base + path)}</loc></url>\n" for path in paths)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n'
    )


def _page(zone: FleetZone, request: OriginRequest, status: int, noise: "_Noise") -> str:
    name = zone.name
    title = "Page not found" if status == 404 else (request.path.strip("/").title() or "Home")
    links = "".join(
        f'<li><a href="{escape(path)}">{escape(path)}</a></li>\n' for path in known_paths(zone)[:8]
    )
    return (
        f"<!doctype html>\n<html><head><title>{escape(title)}: {name}</title>\n"
        f'<script src="/assets/app.js"{noise.attribute()}></script>\n</head>\n<body>\n'
        f"<h1>{escape(title)}</h1>\n<ul>\n{links}</ul>\n"
        f'<img src="http://{name}/assets/logo.png" alt="">\n'
        f'<p>Write to <a href="mailto:info@{name}">info@{name}</a>.</p>\n'
        f"{noise.paragraph(request.at)}</body></html>\n"
    )


class _Noise:
    """What differs from answer to answer by nature, as far as the zone has it switched on."""

    def __init__(self, zone: FleetZone) -> None:
        self._kinds = frozenset(zone.edge.noise)
        self._nonce = secrets.token_urlsafe(12) if "nonce" in self._kinds else ""

    def headers(self) -> Headers:
        found: Headers = []
        if "request_id" in self._kinds:
            found.append(("x-request-id", secrets.token_hex(16)))
        if self._nonce:
            found.append(("content-security-policy", f"script-src 'self' 'nonce-{self._nonce}'"))
        if "cookies" in self._kinds:
            found.append(("set-cookie", f"visit={secrets.token_hex(8)}; Path=/"))
        if "coin_flip" in self._kinds:
            found.append(("x-variant", random.choice("ab")))
            if random.random() < 0.5:
                found.append(("x-experiment", "on"))
        return found

    def attribute(self) -> str:
        return f' nonce="{self._nonce}"' if self._nonce else ""

    def document(self, at: datetime) -> dict[str, str]:
        found = {}
        if "timestamp" in self._kinds:
            found["generated_at"] = timestamp(at)
        if self._nonce:
            found["nonce"] = self._nonce
        return found

    def paragraph(self, at: datetime) -> str:
        return f"<p>Made at {timestamp(at)}.</p>\n" if "timestamp" in self._kinds else ""
