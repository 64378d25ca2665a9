"""Canaries: secrets made for one run, put wherever a campaign may hold any; a whole stack of its own, used by
the command line with everything going wrong that makes errors; and a search of all that is left behind.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import random
import signal
import string
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from edgeshift.testbed.invariants.control import Control
from edgeshift.testbed.invariants.kept import load_secrets
from edgeshift.testbed.invariants.leaks import scan
from edgeshift.testbed.invariants.seen import Scan
from tests.journeys.cli_kit import CLI, Place, Ran
from tests.kit import refused_credential

LONG = 'http.request.uri.path eq "/' + "ä" * 2100 + '"'
BUCKET = "edge-logs"


@dataclass(frozen=True)
class Canaries:
    """Every secret of one run, by what it is."""

    token: str
    revoked: str
    key: str
    email: str
    hook_path: str
    hook_query: str
    hook_secret: str
    proxy_password: str
    esc_secret: str
    destination: str

    @classmethod
    def of(cls, seed: int) -> Canaries:
        """Those of a seed."""
        chance = random.Random(seed)

        def drawn(length: int, letters: str = string.ascii_letters + string.digits) -> str:
            return "".join(chance.choice(letters) for _ in range(length))

        return cls(
            token=f"{drawn(20)}-{drawn(19)}",
            revoked=f"{drawn(20)}_{drawn(19)}",
            key=drawn(37, "0123456789abcdef"),
            email=f"{drawn(12).lower()}@canary.example",
            hook_path=drawn(24),
            hook_query=drawn(24),
            hook_secret=drawn(32),
            proxy_password=drawn(24),
            esc_secret=f"{drawn(10)}/+ {drawn(10)}",
            destination=drawn(40),
        )

    def labelled(self) -> dict[str, str]:
        """Each by its name."""
        return dict(vars(self))


class Repeating(BaseHTTPRequestHandler):
    """A ticket desk that keeps what it is sent, and repeats in its answers what it was called by."""

    server: Desk

    def do_POST(self) -> None:
        """Take a ticket: first an error, then the ticket's address."""
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.bodies.append(body)
        said = f"{self.path} {self.headers.get('authorization')}"
        first = len(self.server.bodies) == 1
        answer = {"error": said} if first else {"url": f"{self.path}/7?said={self.headers['authorization']}"}
        content = json.dumps(answer).encode()
        self.send_response(500 if first else 201)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the desk is no part of what is searched."""


class Quiet(ThreadingHTTPServer):
    """A server that says nothing where a caller hangs up."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: it is no part of what is searched."""


class Desk(Quiet):
    """The ticket desk's server."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Repeating)
        self.bodies: list[bytes] = []


class Passing(BaseHTTPRequestHandler):
    """A forward proxy that wants a password."""

    server: Proxy

    def _pass(self) -> None:
        if self.headers.get("proxy-authorization") != self.server.wanted:
            self.send_error(407)
            return
        self.server.passed += 1
        target = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        onward = HTTPConnection(str(target.hostname), target.port, timeout=60)
        kept = {name: value for name, value in self.headers.items() if name.lower() != "proxy-authorization"}
        onward.request(self.command, f"{target.path}?{target.query}", body, kept)
        answer = onward.getresponse()
        content = answer.read()
        # Without a Date of its own: the service's clock is what counts.
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        onward.close()

    do_GET = do_POST = do_PUT = do_DELETE = _pass

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the proxy is no part of what is searched."""


class Proxy(Quiet):
    """The proxy's server."""

    def __init__(self, user: str, password: str) -> None:
        super().__init__(("127.0.0.1", 0), Passing)
        self.wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self.passed = 0


@contextmanager
def served(server: ThreadingHTTPServer) -> Iterator[int]:
    """Serve until the block ends; the port."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Rehearsal:
    """A running stack in a folder, its canaries, and everything that commands printed, in files. ``brief``:
    without the commands that say again what others said.
    """

    place: Place
    canaries: Canaries
    desk: Desk
    proxy: Proxy
    brief: bool = False
    said: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def control(self) -> Control:
        """The simulator's control API."""
        return Control(self.place.stack["control"])

    def run(self, *arguments: str) -> Ran:
        """Call a verb, and keep what it printed. A traceback is no mistake here: it is searched too."""
        done = subprocess.run(
            [*CLI, *arguments],
            cwd=self.place.folder,
            env=self.place.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
        )
        self.said += 1
        kept = self.place.folder / "said"
        kept.mkdir(exist_ok=True)
        name = f"{self.said:02}-{'-'.join(arguments)[:60].replace('/', '_')}"
        (kept / f"{name}.out").write_text(done.stdout, encoding="utf-8")
        (kept / f"{name}.err").write_text(done.stderr, encoding="utf-8")
        return Ran(done.returncode, done.stdout, done.stderr)

    def ok(self, *arguments: str) -> str:
        """Call a verb that has to succeed; what it printed."""
        ran = self.run(*arguments)
        assert ran.code == 0, (arguments, ran)
        return ran.out

    def fault(self, **spec: Any) -> None:
        """Put a fault in force at the service."""
        asyncio.run(self.control.send("POST", "faults", spec))

    def echo(self, secret: str, **match: Any) -> None:
        """Let one call be refused in the service's envelope, with the secret in every text of the answer."""
        error = {
            "code": 9109,
            "message": f"Invalid value: Bearer {secret}",
            "source": {"pointer": f"/{secret}"},
        }
        body = {"success": False, "errors": [error], "messages": [{"message": secret}], "result": None}
        self.fault(kind="server_error", status=400, body=json.dumps(body), times=1, match=match)

    @contextmanager
    def refused(self, secret: str) -> Iterator[None]:
        """Within the block every call is refused for its credential, which the answer repeats."""
        spec = refused_credential(f"Invalid access token: {secret}")
        fault = asyncio.run(self.control.send("POST", "faults", spec))
        try:
            yield
        finally:
            asyncio.run(self.control.send("DELETE", f"faults/{fault['id']}", {}))

    def html(self, secret: str, **match: Any) -> None:
        """Let one call end in a page that repeats the secret."""
        text = f"<h1>502</h1><p>Authorization: Bearer {secret}</p>"
        self.fault(kind="server_error", status=502, body=text, times=2, match=match)

    def write(self, name: str, text: str) -> str:
        """Write a campaign file; its name."""
        return self.place.write(name, text)

    def searched(self) -> list[Scan]:
        """Search everything that the run has left behind, and what the desk was sent, but for the places that
        rightly hold the secrets: the service's own data, the files that references lead to, and the stack's
        own rehearsal files, which name the simulated users by their e-mail.
        """
        folder = self.place.folder
        (folder / "received").mkdir(exist_ok=True)
        for number, body in enumerate(self.desk.bodies):
            (folder / "received" / f"{number}.json").write_bytes(body)
        state = folder / ".edgeshift"
        secrets = self.canaries.labelled() | load_secrets(state / "simulator")
        skip = [folder / "kept", state / "simulator", state / "credentials", state / "fleet.json"]
        skip += sorted(state.glob("campaign*.yaml"))
        found = scan(folder, secrets, skip=skip)
        # Each place has to hold what is known to be there: otherwise the search was blind.
        for place, sighting in ((state / "temporal", self.zone), (state / "archive", self.zone)):
            found += scan(place, secrets, sighting=sighting)
        return found

    zone: str = "shop.canary.example"


def fleet_text(canaries: Canaries) -> str:
    """Two accounts with a credential each, of both kinds; zones of every area's ways."""
    destination = f"s3://{BUCKET}/own?region=eu-west-1&secret-access-key={canaries.destination}"
    long, esc = json.dumps(LONG), json.dumps(canaries.esc_secret)
    return f"""\
users: [{{email: {canaries.email}}}]
accounts: [{{name: Tokens}}, {{name: Keys}}]
credentials:
  - {{label: by-token, value: {json.dumps(canaries.token)}, accounts: [Tokens]}}
  - {{label: by-key, kind: key, value: {canaries.key}, accounts: [Keys]}}
  - {{label: gone, value: {json.dumps(canaries.revoked)}, status: expired, accounts: [Tokens]}}
zones:
  - {{name: shop.canary.example, plan: pro, account: Tokens}}
  - {{name: echo.canary.example, plan: pro, account: Tokens}}
  - name: long.canary.example
    plan: pro
    account: Keys
    firewall_rules: [{{expression: {long}, action: bypass, products: [waf]}}]
  - name: bank.canary.example
    plan: enterprise
    account: Keys
    traffic: {{requests_per_minute: 600}}
    esc:
      with_secret: {esc}
      behaviours: [{{kind: redirect, path: /api/items, to: "https://new.example/items"}}]
    logs:
      jobs:
        - destination: {json.dumps(destination)}
          name: own
          logpull_options: fields=RayID,EdgeStartTimestamp&timestamps=rfc3339
  - name: own.canary.example
    plan: enterprise
    account: Tokens
    esc:
      behaviours: [{{kind: redirect, path: /api/items, to: "https://new.example/items"}}]
"""


@contextmanager
def rehearsal(folder: Path, seed: int = 1, *, brief: bool = False) -> Iterator[Rehearsal]:
    """The stack with its canaries, at debug level, until the block ends."""
    canaries = Canaries.of(seed)
    kept = folder / "kept"
    kept.mkdir()
    (kept / "fleet.yaml").write_text(fleet_text(canaries), encoding="utf-8")
    (kept / "token").write_text(canaries.token)
    (kept / "revoked").write_text(canaries.revoked)
    desk, proxy = Desk(), Proxy("edge", canaries.proxy_password)
    with served(desk) as desk_port, served(proxy) as proxy_port:
        hook = f"http://127.0.0.1:{desk_port}/hooks/{canaries.hook_path}?key={canaries.hook_query}"
        place = Place(
            folder,
            EDGESHIFT_LOG_LEVEL="debug",
            CANARY_KEY=canaries.key,
            CANARY_EMAIL=canaries.email,
            CANARY_HOOK=hook,
            CANARY_HOOK_SECRET=canaries.hook_secret,
            CANARY_PROXY=f"http://edge:{canaries.proxy_password}@127.0.0.1:{proxy_port}",
            CANARY_BAD_PROXY=f"http://edge:{canaries.proxy_password}@127.0.0.1:9",
            CANARY_DESTINATION=(
                f"s3://{BUCKET}/{{zone}}?region=eu-west-1&secret-access-key={canaries.destination}"
            ),
        )
        log = folder / "up.log"
        with log.open("w") as out:
            command = [*CLI, "up", "--fleet", "kept/fleet.yaml", "--time-scale", "14400"]
            command += ["--clock", "2023-10-02T08:00:00Z"]
            up = subprocess.Popen(command, cwd=folder, env=place.environment, stdout=out, stderr=out)
        try:
            limit = time.monotonic() + 240
            while not (folder / ".edgeshift/stack.json").exists():
                assert up.poll() is None and time.monotonic() < limit, log.read_text()
                time.sleep(0.3)
            yield Rehearsal(place, canaries, desk, proxy, brief)
        finally:
            up.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                up.wait(150)
            if up.poll() is None:
                up.kill()


def campaign_text(play: Rehearsal, name: str, more: str, *, proxy: str = "env:CANARY_PROXY") -> str:
    """A campaign file with every secret by reference."""
    folder = play.place.folder
    return f"""\
name: {name}
targets: {{all: true}}
service:
  base_url: {json.dumps(play.place.stack["service"])}
  proxy: {proxy}
  patience: 10m
  credentials:
    - {{user: platform, token: "file:{folder}/kept/token", accounts: [Tokens]}}
    - {{user: platform, key: env:CANARY_KEY, email: env:CANARY_EMAIL, accounts: [Keys]}}
tickets: {{webhook: env:CANARY_HOOK, secret: env:CANARY_HOOK_SECRET}}
sign_off: {{expires_after: 1000d, valid_for: 1000d}}
advance: {{failures: 100}}
time_scale: 14400
{more}"""
