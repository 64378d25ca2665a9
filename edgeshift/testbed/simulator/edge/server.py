"""The edge over HTTP: a listener whose Host header names the zone."""

import logging
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from edgeshift.testbed.simulator.clock import timestamp
from edgeshift.testbed.simulator.edge.messages import EdgeRequest, cookies, error_page, first
from edgeshift.testbed.simulator.edge.pipeline import serve
from edgeshift.testbed.simulator.esc_settings import COOKIE

if TYPE_CHECKING:
    from edgeshift.testbed.simulator.state import State

log = logging.getLogger("edgeshift.testbed.simulator.edge")
MAX_BODY_BYTES = 1024 * 1024


def edge_app(state: "State") -> ASGIApp:
    """The ASGI application that serves the fleet's traffic. It shares the state, and its thread, with the
    service's.
    """

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = await _body(receive)
        if body is None:
            return
        request = _request(scope, body)
        try:
            response = serve(state, request)
        except Exception:
            log.exception("%s %s failed in the simulator's edge itself", scope["method"], scope["path"])
            response = error_page(500, 1101, "the simulator's edge failed; its log says why")
        state.visits.note(
            time=timestamp(state.clock.now()),
            method=request.method,
            host=request.host,
            path=request.path,
            status=response.status,
            disable_esc=any(name == COOKIE for name, _ in cookies(request.headers)),
        )
        headers = [(name.encode(), value.encode()) for name, value in response.headers]
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        sent = b"" if scope["method"] == "HEAD" else response.body
        await send({"type": "http.response.body", "body": sent})

    return app


def _request(scope: Scope, body: bytes) -> EdgeRequest:
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    host = first(headers, "host") or ""
    client = scope.get("client")
    return EdgeRequest(
        method=scope["method"],
        host=_without_port(host).lower(),
        path=scope["raw_path"].decode("latin-1").partition("?")[0],
        query=scope["query_string"].decode("latin-1"),
        headers=headers,
        body=body,
        scheme=scope.get("scheme", "http"),
        client_ip=client[0] if client else "",
    )


def _without_port(host: str) -> str:
    return host.partition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]


async def _body(receive: Receive) -> bytes | None:
    """The request's body, cut at the limit; None when the client left before its end."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        if size < MAX_BODY_BYTES:
            parts.append(message.get("body", b""))
            size += len(parts[-1])
        if not message.get("more_body"):
            return b"".join(parts)[:MAX_BODY_BYTES]
