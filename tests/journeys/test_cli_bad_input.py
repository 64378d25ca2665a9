"""Bad input with everything running: each a clear error that names the thing; nothing sent, nothing lost."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import CancelledError

from edgeshift import operations
from edgeshift.campaign_file.load import load_campaign
from edgeshift.cli.found_stack import stack_here
from edgeshift.model.fleet import assessment_id
from edgeshift.operations import calls, waits
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.stores.archive import Archive
from tests.journeys.cli_kit import Place, Ran, running_stack

pytestmark = [pytest.mark.stack(35), pytest.mark.embedded, pytest.mark.timeout(600)]


class OfNobody(StrEnum):
    """A task queue that nobody polls."""

    CONTROL = "edgeshift-control-of-nobody"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: object) -> Iterator[Place]:
    """A stack over the small fleet, on which nothing is ever started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDGESHIFT_TEMPORAL_CLI", str(temporal_cli_path))
        with running_stack(tmp_path_factory.mktemp("bad")) as found:
            yield found


class Page(BaseHTTPRequestHandler):
    """Answers everything with a page, as something does that is no such service."""

    status = 200

    def do_GET(self) -> None:
        """No JSON."""
        page = b"<!doctype html><title>Welcome</title>"
        self.send_response(self.status)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""


class NotHere(Page):
    """The same as something does that knows of no such path."""

    status = 404


@contextmanager
def serving(kind: type[Page]) -> Iterator[str]:
    """Where such pages are served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[dict[str, str]]:
    """Addresses where something else is, by the campaign files that name them."""
    with serving(Page) as nonsense, serving(NotHere) as lost:
        yield {"nonsense": nonsense, "lost": lost}


@pytest.fixture(scope="module")
def plans(place: Place, elsewhere: dict[str, str]) -> dict[str, Ran]:
    """What `plan` says of each bad campaign file. All at a time, since some of them try again for a while."""
    service = str(place.stack["service"])
    token = re.compile(r'token: ".*"')
    place.write("wrong-token", "a" * 40 + "\n")
    place.campaign("unknown-zone", "include: [shop-1.example, shop-9.example, nowhere.example]")
    place.campaign("unknown-account", "accounts: [Nobody]")
    place.campaign("nothing-left", "include: [shop-1.example], plans: [free]".replace(", plans", "\n  plans"))
    changes = {
        "wrong-token": (token, f'token: "file:{place.folder}/wrong-token"'),
        "no-token": (token, 'token: "env:NO_SUCH_VARIABLE"'),
        "nobody-there": (re.compile(re.escape(service)), "http://127.0.0.1:9/client/v4"),
        **{
            name: (re.compile(re.escape(service)), f"{address}/client/v4")
            for name, address in elsewhere.items()
        },
        "no-prefix": (re.compile(re.escape(service)), service.removesuffix("/client/v4")),
    }
    for name, (pattern, replacement) in changes.items():
        file = place.folder / place.campaign(name, "all: true")
        file.write_text(pattern.sub(replacement, file.read_text()))
    names = ["unknown-zone", "unknown-account", "nothing-left", *changes]
    with ThreadPoolExecutor(8) as pool:
        ran = pool.map(lambda name: place.run("plan", f"{name}.yaml"), names)
        return dict(zip(names, ran, strict=True))


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("unknown-zone", 2, "2 zones of the campaign file are not known to the service"),
        ("unknown-zone", 2, "shop-9.example, nowhere.example"),
        ("unknown-zone", 2, "hint: docs/campaign-file.md describes every field, such as targets"),
        ("unknown-account", 2, "1 account of the campaign file is not known to the service"),
        ("nothing-left", 2, "no zone is left after include, exclude, accounts and plans"),
        ("wrong-token", 4, "Invalid access token"),
        ("wrong-token", 4, "`edgeshift doctor FILE` checks it"),
        ("no-token", 4, "the variable NO_SUCH_VARIABLE is not set"),
        ("no-token", 4, "hint: set the variable, or write the file, that the reference names"),
        ("nobody-there", 4, "the service at http://127.0.0.1:9/client/v4: "),
        ("nobody-there", 4, "no connection to 127.0.0.1:9"),
        ("no-prefix", 2, "lacks the prefix /client/v4, and zones.list answers 4"),
        ("no-prefix", 2, "/client/v4"),
        ("nonsense", 4, "expected a JSON object with success and result"),
        ("lost", 4, "the service at http://127.0.0.1:"),
        ("lost", 4, "zones.list: 404 without the service's envelope, from 127.0.0.1:"),
        ("lost", 4, "`edgeshift doctor FILE` checks"),
    ],
)
def test_a_plan_names_what_is_wrong(plans: dict[str, Ran], name: str, code: int, said: str) -> None:
    """The zones, the account, the variable, the address; the exit code tells whose fault it is."""
    ran = plans[name]
    assert ran.code == code, ran
    assert said in ran.err[ran.err.index("error: ") :]


def test_while_it_tries_again_it_says_why(plans: dict[str, Ran]) -> None:
    """Nobody waits in front of a silent terminal."""
    for name in ("nobody-there", "nonsense", "lost"):
        assert "trying again: " in plans[name].err


async def test_nobody_waits_for_tries_that_cannot_help(place: Place, plans: dict[str, Ran]) -> None:
    """A service that is not there is told after a few tries, the rest of which are called off; an address
    without its prefix after the first one.
    """
    client = await connect(TemporalSettings(address=place.stack["address"]))
    assert plans["nobody-there"].code == 4
    gone = client.get_workflow_handle(assessment_id("nobody-there"))
    with pytest.raises(WorkflowFailureError) as ended:
        await gone.result()
    assert isinstance(ended.value.cause, CancelledError)
    assert max(await tries_of(gone), default=0) <= 5
    assert await tries_of(client.get_workflow_handle(assessment_id("no-prefix"))) == [1]


async def tries_of(handle: WorkflowHandle[Any, Any]) -> list[int]:
    """The number of tries of each activity that has ended."""
    return [
        event.activity_task_started_event_attributes.attempt
        async for event in handle.fetch_history_events()
        if event.HasField("activity_task_started_event_attributes")
    ]


def test_a_start_is_refused_for_the_same_reasons(place: Place, plans: dict[str, Ran]) -> None:
    """Nothing is started."""
    said = place.refused(2, "start", "unknown-zone.yaml", "--yes")
    assert "nowhere.example" in said
    assert "there is no campaign unknown-zone" in place.refused(5, "pause", "unknown-zone")


@pytest.mark.parametrize(("name", "part"), [("wrong-token", "credential 1"), ("nobody-there", "service")])
def test_the_doctor_names_the_part_that_is_ill(
    place: Place, plans: dict[str, Ran], name: str, part: str
) -> None:
    """And what to fix."""
    ran = place.run("doctor", f"{name}.yaml")
    assert ran.code == 1
    assert f"failed  {part}" in ran.out and "fix: " in ran.out


def test_an_address_where_something_else_is_is_told_with_the_right_form(
    place: Place, plans: dict[str, Ran]
) -> None:
    """At once, by what looks at the service by itself."""
    doctor = place.run("doctor", "lost.yaml")
    assert doctor.code == 1
    assert "404 without the service's envelope, from 127.0.0.1:" in " ".join(doctor.out.split())
    assert "service.base_url, which is https://HOST/client/v4" in " ".join(doctor.out.split())
    secret = place.run("esc", "secret", "shop-1.example", "--file", "lost.yaml", "--stdout")
    assert secret.code == 4
    assert "404 without the service's envelope, from 127.0.0.1:" in secret.err
    assert "hint: service.base_url is https://HOST/client/v4" in secret.err


def test_nothing_was_sent_by_any_of_this(place: Place, plans: dict[str, Ran]) -> None:
    """By the simulator's journal."""
    assert plans
    assert place.writes() == []


def test_no_secret_is_in_what_was_printed(place: Place, plans: dict[str, Ran]) -> None:
    """Neither the right token nor the wrong one."""
    tokens = [file.read_text().strip() for file in (place.folder / ".edgeshift/credentials").iterdir()]
    for ran in plans.values():
        assert not any(token in ran.out + ran.err for token in [*tokens, "a" * 40])


async def test_an_assessment_without_a_worker_says_so(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    """Nobody waits for ever where nobody works: the task queue and the remedy are named."""
    monkeypatch.setattr(waits, "PATIENCE", 1.0)
    monkeypatch.setattr(waits, "ASSESSING", tuple(OfNobody))
    for module in (calls, operations.campaigns):
        monkeypatch.setattr(module, "Queue", OfNobody)
    spec = load_campaign(place.folder / place.campaign("alone", "all: true"))
    client = await connect(TemporalSettings(address=place.stack["address"]))
    with pytest.raises(
        operations.TemporalTrouble, match=r"edgeshift-control-of-nobody.*`edgeshift worker` starts one"
    ):
        await asyncio.wait_for(operations.assess(client, Archive(str(tmp_path)), spec), 60)


def test_the_stack_is_found_from_a_folder_within(place: Place) -> None:
    """Verbs in a folder below find it, too; elsewhere they do not."""
    inner = place.folder / "inner/most"
    inner.mkdir(parents=True)
    found = stack_here(inner)
    assert found is not None and found.address == place.stack["address"]
    assert stack_here(place.folder.parent) is None
