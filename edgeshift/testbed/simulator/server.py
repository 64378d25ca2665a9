"""The simulator as a server: the service under /client/v4, its control API under /_simulator, and the edge
on an address of its own."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from edgeshift.testbed.local_doors import LocalDoor
from edgeshift.testbed.simulator.calls import BASE_PATH, Routes
from edgeshift.testbed.simulator.clock import TimeSource
from edgeshift.testbed.simulator.control import Control
from edgeshift.testbed.simulator.delivery import Deliverer
from edgeshift.testbed.simulator.edge.rule_checks import register
from edgeshift.testbed.simulator.edge.server import edge_app
from edgeshift.testbed.simulator.fleet_file import Fleet
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.routes import (
    accounts,
    esc,
    filters,
    firewall_rules,
    legacy_waf,
    logpush,
    page_rules,
    rulesets,
    security_events,
    waf_migration,
    zone_settings,
)
from edgeshift.testbed.simulator.service import Service
from edgeshift.testbed.simulator.state import State

CONTROL_PATH = "/_simulator"
# A module of routes more is a line more here.
ROUTE_MODULES = (
    accounts,
    waf_migration,
    rulesets,
    legacy_waf,
    logpush,
    filters,
    firewall_rules,
    page_rules,
    security_events,
    esc,
    zone_settings,
)
CLOSING_SECONDS = 2


class ListenError(OSError):
    """The address cannot be listened on; the text names it and what would be right."""


class ConnectionAwareProtocol(H11Protocol):
    """Puts the connection into each request's scope, so that a fault can cut or reset it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.app_state = {**self.app_state, "connection": transport}
        super().connection_made(transport)


def create_app(
    fleet: Fleet,
    data: Path,
    options: SimulatorOptions | None = None,
    clock: TimeSource | None = None,
    *,
    listens_on: str = "127.0.0.1",
) -> Starlette:
    """The ASGI application over the data folder `data`, filled from `fleet` when it is new.

    `clock` is where time comes from, the machine's by default. `app.state.simulator` is its `State`:
    whoever serves the application closes it. Raises `DataFolderError`.
    """
    state = State(fleet, data, options, clock)
    deliverer = Deliverer(state.clock)
    register()
    routes = Routes([route for module in ROUTE_MODULES for route in module.ROUTES])
    control = Starlette(routes=Control(state).routes(), exception_handlers={404: _not_found, 405: _not_found})
    service = Service(state, routes, deliverer)
    door = LocalDoor(control, "the control API", listens_on, json_only=True)
    app = Starlette(routes=[Mount(CONTROL_PATH, door), Mount("", service)])
    app.state.simulator = state
    app.state.deliverer = deliverer
    return app


async def _not_found(request: Any, error: Exception) -> JSONResponse:
    return JSONResponse({"error": "there is no such control call"}, 404)


@dataclass(frozen=True)
class RunningSimulator:
    """Where a running simulator is. `base_url` ends in /client/v4, `control_url` in /_simulator.

    At `edge_url` the edge serves whichever zone the Host header names.
    """

    host: str
    port: int
    edge_port: int
    state: State

    @property
    def url(self) -> str:
        return self._at(self.port)

    @property
    def edge_url(self) -> str:
        return self._at(self.edge_port)

    def _at(self, port: int) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{port}"

    @property
    def base_url(self) -> str:
        return f"{self.url}{BASE_PATH}"

    @property
    def control_url(self) -> str:
        return f"{self.url}{CONTROL_PATH}"


class _Server(uvicorn.Server):
    """Leaves the signals to whoever runs it, and says when it is ready."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def running(
    fleet: Fleet,
    data: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    edge_port: int = 0,
    options: SimulatorOptions | None = None,
    clock: TimeSource | None = None,
) -> AsyncIterator[RunningSimulator]:
    """Serve in the present event loop until the block ends; port 0 takes a free one.

    Raises `ListenError` and `DataFolderError`.
    """
    with contextlib.ExitStack() as opened:
        listening = opened.enter_context(contextlib.closing(listen(host, port)))
        edge_listening = opened.enter_context(contextlib.closing(listen(host, edge_port)))
        app = create_app(fleet, data, options, clock, listens_on=host)
        opened.pop_all()
    state: State = app.state.simulator
    servers = [_Server(configuration(app)), _Server(configuration(edge_app(state)))]
    serving = [
        asyncio.create_task(server.serve(sockets=[one]))
        for server, one in zip(servers, (listening, edge_listening), strict=True)
    ]
    pushing = asyncio.create_task(state.logs.run())
    try:
        for server in servers:
            await server.ready.wait()
        ports = (listening.getsockname()[1], edge_listening.getsockname()[1])
        found = RunningSimulator(host, *ports, state)
        state.edge_url = found.edge_url
        yield found
    finally:
        app.state.deliverer.close()
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*serving)
        pushing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await pushing
        await state.logs.close(CLOSING_SECONDS)
        listening.close()
        edge_listening.close()
        state.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound to the address. Raises `ListenError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, asyncio turns Nagle's algorithm off: without it, each call waits 40 ms for
    # an ACK.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
        # Listening at once makes a second simulator on the same port fail here, not later.
        listening.listen(2048)
    except OSError as error:
        listening.close()
        said = error.strerror or str(error)
        raise ListenError(
            f"cannot listen on {host}:{port} ({said}); name a free port, or 0 for any, "
            "and an address of this machine"
        ) from None
    listening.setblocking(False)
    return listening


def configuration(app: ASGIApp) -> uvicorn.Config:
    """How the application is served."""
    return uvicorn.Config(
        app,
        http=ConnectionAwareProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        # The answers' own Date is that of the simulator's clock.
        date_header=False,
        backlog=2048,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=CLOSING_SECONDS,
    )
