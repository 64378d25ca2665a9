"""Who may come in by a local web address: whoever is on this machine, and of browsers only pages that the
address itself serves.

A browser of this machine runs pages of strangers. They reach a local address by a request across sites, which
names their own `Origin`, or by a name of theirs that resolves to this machine (DNS rebinding), which is then
the `Host`. Neither comes in.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_BY_A_STRANGERS_PAGE = frozenset({"cross-site", "same-site"})
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class LocalDoor:
    """Refuses, with 403, peers of other machines, names that are not this machine's, and pages of others; and
    with 415 bodies that are not ``application/json``, where ``json_only`` says so.

    ``what``: what is behind it, for people. ``listens_on``: the address it has. ``port``: only requests to
    this one are for it; None: whichever the Host header names. ``links``: a page of others may link to it.
    """

    def __init__(
        self,
        app: ASGIApp,
        what: str,
        listens_on: str,
        *,
        port: int | None = None,
        json_only: bool = False,
        links: bool = False,
    ) -> None:
        self._app = app
        self._what = what
        self._names = {"localhost", listens_on.strip("[]").lower()}
        self._port = port
        self._json_only = json_only
        self._links = links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refused := self._refusal(scope)):
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        peer = scope.get("client")
        headers = _Headers(scope["headers"])
        host = headers.only("host")
        if peer is None or not is_loopback(peer[0]) or not self._is_ours(host):
            return _refused(403, f"{self._what} answers this machine alone, under its own name")
        # A browser names where a request comes from with all but plain reading, and never lets a page say so.
        origins = headers.all("origin")
        if any(origin != f"http://{host}" for origin in origins) or self._is_strangers(scope, headers):
            return _refused(403, f"{self._what} takes no requests of other sites' pages")
        if self._json_only and scope["method"] in _CHANGING and headers.has_body():
            kind = headers.only("content-type").partition(";")[0].strip().lower()
            if kind != "application/json":
                return _refused(415, f"{self._what} takes Content-Type: application/json alone")
        return None

    def _is_strangers(self, scope: Scope, headers: _Headers) -> bool:
        if headers.only("sec-fetch-site").lower() not in _BY_A_STRANGERS_PAGE:
            return False
        follows_a_link = (
            scope["method"] == "GET"
            and headers.only("sec-fetch-mode").lower() == "navigate"
            and headers.only("sec-fetch-dest").lower() == "document"
        )
        return not (self._links and follows_a_link)

    def _is_ours(self, host: str) -> bool:
        if host.startswith("["):
            name, _, rest = host[1:].partition("]")
            port = rest.removeprefix(":")
        else:
            name, _, port = host.partition(":")
        if self._port is not None and port != str(self._port):
            return False
        return name.lower() in self._names or is_loopback(name)


class _Headers:
    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._raw = [(name.decode("latin-1"), value.decode("latin-1").strip()) for name, value in raw]

    def all(self, name: str) -> list[str]:
        return [value for key, value in self._raw if key == name]

    def only(self, name: str) -> str:
        """The header's value; empty where it is not there, or there more than once."""
        found = self.all(name)
        return found[0] if len(found) == 1 else ""

    def has_body(self) -> bool:
        return self.all("content-length") not in ([], ["0"]) or bool(self.all("transfer-encoding"))


def is_loopback(address: str) -> bool:
    """Whether an address is one of this machine's own; False for what is no address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _refused(status: int, text: str) -> JSONResponse:
    return JSONResponse({"error": text}, status)
