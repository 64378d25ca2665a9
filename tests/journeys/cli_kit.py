"""A folder with the embedded stack over a small fleet, and the real command line in it."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from edgeshift import operations
from edgeshift.cli.main import called
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.invariants.control import Control
from tests.kit.stack_file import without_rehearsed

CLI = [sys.executable, "-m", "edgeshift.cli.entry"]

LONG = 'http.request.uri.path eq "/' + "ä" * 2100 + '"'

FLEET = f"""\
zones:
  - {{name: shop-1.example, plan: pro}}
  - {{name: shop-2.example, plan: pro}}
  - {{name: shop-3.example, plan: pro}}
  - name: odd.example
    plan: business
    firewall_rules: [{{expression: 'http.host eq "odd.example"', action: bypass, products: [waf]}}]
  - {{name: bank.example, plan: enterprise, traffic: {{requests_per_minute: 600}}}}
  - name: editor.example
    plan: enterprise
    traffic: {{requests_per_minute: 600, false_positives: [{{kind: rich_text, path: /save, per_hour: 60}}]}}
  - name: long.example
    plan: pro
    firewall_rules: [{{expression: '{LONG}', action: bypass, products: [waf]}}]
  - name: legacy.example
    plan: business
    uri_overrides: [{{urls: [legacy.example/admin/*], rules: {{"100008": simulate}}}}]
"""

POLICY = """\
sign_off: {approvers: [ada, grace], expires_after: 1000d, valid_for: 1000d}
waits_for_support: 1000d
validation: {window: 8h}
"""


def counts(address: str, campaign: str) -> dict[str, int]:
    """How many zones of a campaign are at which place, by the Temporal server at ``address``."""

    async def asked() -> dict[str, int]:
        client = await connect(TemporalSettings(address=address))
        return (await operations.summary(client, campaign)).places

    return asyncio.run(asked())


@dataclass(frozen=True)
class Ran:
    """What a call of the command line gave."""

    code: int
    out: str
    err: str


def in_process(*arguments: str) -> Ran:
    """Call a verb in this process and in the folder that it is in, without a terminal and at 80 columns."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = called(arguments)
    assert "Traceback" not in err.getvalue() and "a fault of its own" not in err.getvalue(), err.getvalue()
    return Ran(code, out.getvalue(), err.getvalue())


def error_of(ran: Ran, code: int, arguments: tuple[str, ...]) -> str:
    """The error that a call gave which has to end with this code."""
    assert ran.code == code, (arguments, ran)
    errors = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, ran.err
    # What failed, a blank line, what to do.
    assert re.search(r"[^\n]\n\nhint: [^\n]+\n\Z", ran.err), ran.err
    return ran.err[ran.err.index("error: ") :]


def here(folder: Path, environment: Mapping[str, str], arguments: Sequence[str]) -> Ran:
    """Call a verb in this process as one of its own would be called: in its folder, with this environment
    and no other, nothing to read, files for their owner alone. To load the command line takes most of what
    a verb does. That it runs as a process, too, is seen by those who type commands (docs_kit.py,
    canary_kit.py, test_cli_streams.py) and of verbs that stay (`up`, `worker`, `watch`).
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    mask = os.umask(0o077)
    try:
        with (
            Path(os.devnull).open(encoding="utf-8") as nothing,
            contextlib.chdir(folder),
            patch.dict(os.environ, environment, clear=True),
            patch.object(sys, "stdin", nothing),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                code = called(arguments)
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        os.umask(mask)
    return Ran(code, *(_written(stream) for stream in (out, err)))


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def may_be_here(environment: Mapping[str, str]) -> bool:
    """Whether a verb can be called in this process: folder and environment are the process's, a loop runs
    once a thread, and what is installed elsewhere is found by another one alone.
    """
    if threading.current_thread() is not threading.main_thread() or "PYTHONPATH" in environment:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


def ran_by(folder: Path, environment: dict[str, str], arguments: Sequence[str]) -> Ran:
    """Call a verb, here or in a process of its own."""
    if may_be_here(environment):
        return here(folder, environment, arguments)
    done = subprocess.run(
        [*CLI, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode >= 0, (done.returncode, done.stderr)
    return Ran(done.returncode, done.stdout, done.stderr)


class Place:
    """A folder, and the command line in it, without a terminal and at 80 columns."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("EDGESHIFT_") or name == "EDGESHIFT_TEMPORAL_CLI"
        }
        kept.pop("COLUMNS", None)
        self.environment = {**kept, "EDGESHIFT_USER": "olga", "PYTHONIOENCODING": "utf-8", **variables}

    def run(self, *arguments: str) -> Ran:
        """Call a verb. Whatever comes of it, there is no traceback, and an error is one line that begins
        with error, and a hint.
        """
        ran = ran_by(self.folder, self.environment, arguments)
        assert "Traceback" not in ran.out + ran.err, ran.err
        return ran

    def ok(self, *arguments: str) -> str:
        """The output of a verb that has to succeed."""
        ran = self.run(*arguments)
        assert ran.code == 0, (arguments, ran)
        return ran.out

    def refused(self, code: int, *arguments: str) -> str:
        """The error of a verb that has to end with this code."""
        return error_of(self.run(*arguments), code, arguments)

    def json(self, *arguments: str) -> Any:
        """The JSON that a verb prints."""
        return json.loads(self.ok(*arguments, "--json"))

    def places(self, campaign: str) -> dict[str, int]:
        """The counts of a campaign by place. Asked for without the command line, which takes a second
        each time.
        """
        return counts(self.stack["address"], campaign)

    def until(
        self, campaign: str, found: Callable[[dict[str, int]], bool], seconds: float = 240
    ) -> dict[str, int]:
        """The counts of a campaign, once they are as wanted."""
        limit = time.monotonic() + seconds
        while not found(places := self.places(campaign)):
            assert time.monotonic() < limit, places
            time.sleep(0.5)
        return places

    def write(self, name: str, text: str) -> str:
        """Write a file; its name."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    @property
    def stack(self) -> dict[str, Any]:
        """What the stack says of itself."""
        found: dict[str, Any] = json.loads((self.folder / ".edgeshift/stack.json").read_text())
        return found

    def campaign(self, name: str, targets: str, more: str = POLICY) -> str:
        """A campaign file against the stack's service; its name."""
        made = without_rehearsed((self.folder / ".edgeshift/campaign.yaml").read_text())
        text = made.replace("name: rehearsal", f"name: {name}").replace("  all: true\n", f"  {targets}\n")
        return self.write(f"{name}.yaml", text + more)

    def journal(self) -> list[dict[str, Any]]:
        """Every request in the simulator's journal."""
        return asyncio.run(Control(self.stack["control"]).journal())

    def writes(self) -> list[dict[str, Any]]:
        """Every request in the simulator's journal that was no reading."""
        reads = ("GET", "HEAD")
        return [e for e in self.journal() if e["method"] not in reads and not e["path"].endswith("/graphql")]


@contextmanager
def running_stack(folder: Path, fleet: str = FLEET, *options: str) -> Iterator[Place]:
    """The embedded stack over the small fleet, or another one, four hours a second. ``options``: more of
    `edgeshift up`.
    """
    place = Place(folder)
    place.write("fleet.yaml", fleet)
    log = folder / "up.log"
    with log.open("w") as out:
        command = [*CLI, "up", "--fleet", "fleet.yaml", "--time-scale", "14400", *options]
        up = subprocess.Popen(command, cwd=folder, env=place.environment, stdout=out, stderr=out)
    try:
        limit = time.monotonic() + 90
        while not (folder / ".edgeshift/stack.json").exists() or not worker_polls(place):
            assert up.poll() is None and time.monotonic() < limit, log.read_text()
            time.sleep(0.5)
        yield place
    finally:
        up.send_signal(signal.SIGTERM)
        up.wait(60)


def worker_polls(place: Place) -> bool:
    """Whether the doctor sees a worker."""
    return sees_worker(place.run("doctor", "--json"))


def sees_worker(doctor: Ran) -> bool:
    """Whether the doctor has found a worker, by what ``doctor --json`` gave."""
    checks = json.loads(doctor.out)["checks"]
    return any(check["name"] == "worker" and check["state"] == "ok" for check in checks)


def entry_point(place: Place, zone: str, rules: list[Any] | None = None) -> Any:
    """A zone's entry point at the service; with ``rules``, after somebody has put these."""
    token = next((place.folder / ".edgeshift/credentials").iterdir()).read_text().strip()
    path = f"zones/{zone}/rulesets/phases/http_request_firewall_managed/entrypoint"
    request = urllib.request.Request(
        f"{place.stack['service']}/{path}",
        data=None if rules is None else json.dumps({"rules": rules}).encode(),
        method="GET" if rules is None else "PUT",
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
        return json.loads(answer.read())["result"]


async def of_wave(place: Place, number: int) -> list[str]:
    """The zones that Temporal's own list has under this wave."""
    client = await connect(TemporalSettings(address=place.stack["address"]))
    asked = f"WorkflowType = 'WafZone' AND EdgeshiftWave = {number}"
    # One that was begun again has an execution for each attempt.
    return sorted({execution.id async for execution in client.list_workflows(asked)})
