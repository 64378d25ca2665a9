"""Exchanges, log jobs and what they delivered, for the tests of the simulator's log jobs."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from edgeshift.testbed.simulator.edge_exchange import EdgeExchange, Headers
from tests.service.simulated import Caller, Json

PHASE = "http_log_custom_fields"
ENTRY = f"/rulesets/phases/{PHASE}/entrypoint"
JOBS = "/logpush/jobs"
AT = datetime(2022, 10, 1, 12, 0, 0, 123456, tzinfo=UTC)
BUCKET = "s3://logs/zone?region=us-east-1"
CUSTOM = "fields=RayID,RequestHeaders,Cookies,ResponseHeaders&timestamps=rfc3339"


def a_rule(**arrays: list[str]) -> Json:
    """A rule of custom log fields with these names in its arrays."""
    parameters = {key: [{"name": name} for name in names] for key, names in arrays.items()}
    return {
        "action": "log_custom_field",
        "expression": "true",
        "description": "fields",
        "action_parameters": parameters,
    }


def an_exchange(
    zone: str, number: int = 1, *, request: Headers | None = None, origin: Headers | None = None, **keys: Any
) -> EdgeExchange:
    """A GET of a zone that its origin answered with 200; the ray is the number."""
    settled: dict[str, Any] = {
        "zone_id": zone,
        "ray": f"{number:016x}",
        "at": AT,
        "ended_at": AT + timedelta(seconds=2),
        "method": "GET",
        "scheme": "https",
        "host": "shop.enterprise.example",
        "path": "/basket",
        "query": "a=1",
        "client_ip": "192.0.2.7",
        "request_headers": request or [("user-agent", "tester"), ("referer", "https://a.example/")],
        "origin_status": 200,
        "origin_headers": origin or [("content-type", "text/html")],
        "status": 203,
        "response_headers": [("content-type", "text/plain")],
        "response_bytes": 42,
    }
    return EdgeExchange(**{**settled, **keys})


def challenge_in(call: Caller, filename: str, address: str = BUCKET) -> str:
    """The challenge that lies in the folder of an address's bucket."""
    parts = urlsplit(address)
    return (call.server.state.logs.buckets / parts.scheme / parts.netloc / filename).read_text()


async def a_job(call: Caller, options: str | None = CUSTOM, *, address: str = BUCKET, **keys: Any) -> Json:
    """An enabled job of the Enterprise zone, its destination's ownership proven where that is asked for."""
    body = {"destination_conf": address, "logpull_options": options, "enabled": True, **keys}
    asked = await call.result("POST", "enterprise:/logpush/ownership", {"destination_conf": address})
    if asked["filename"]:
        body["ownership_challenge"] = challenge_in(call, asked["filename"], address)
    return await call.result("POST", f"enterprise:{JOBS}", body)


def objects(folder: Path) -> list[Path]:
    """The log objects below a folder, in the order in which they were written."""
    found = (file for file in folder.rglob("*") if file.name.endswith((".log", ".log.gz")))
    return sorted(found, key=lambda file: file.stat().st_mtime_ns)


def lines(call: Caller, bucket: str = "s3/logs") -> list[Json]:
    """Every entry that lies in a bucket's folder."""
    found: list[Json] = []
    for file in objects(call.server.state.logs.buckets / bucket):
        content = file.read_bytes()
        if file.suffix == ".gz":
            content = gzip.decompress(content)
        found += [json.loads(line) for line in content.decode().splitlines()]
    return found


async def logged(call: Caller, *exchanges: EdgeExchange, bucket: str = "s3/logs") -> list[Json]:
    """Serve exchanges, push what waits, and read every entry of the bucket."""
    for one in exchanges:
        call.server.state.logs.record(one)
    await call.control("POST", "logs/flush")
    return lines(call, bucket)


class Collector:
    """An HTTP destination: what was posted to it, and the statuses with which it answers (200 after the
    last)."""

    def __init__(self, url: str, statuses: list[int]) -> None:
        self.url, self.statuses = url, statuses
        self.posted: list[tuple[str, dict[str, str], bytes]] = []


@contextmanager
def collecting(*statuses: int) -> Iterator[Collector]:
    """A destination on this machine until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            collector.posted.append((self.path, headers, body))
            self.send_response(collector.statuses.pop(0) if collector.statuses else 200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the tests look at what came."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_address[1]}", list(statuses))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
