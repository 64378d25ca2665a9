"""What becomes of scopes of esc and of zones of log-fields, brought about and ended as the runbook says."""

from __future__ import annotations

import json
import socketserver
import threading
import time
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from edgeshift import operations
from edgeshift.campaign_file.load import load_campaign
from edgeshift.messages import ZonePhase
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from tests.journeys.runbook_fleet import full, refusal
from tests.journeys.runbook_kit import Desk
from tests.journeys.runbook_namespaces import hasty

ACTS = "behaviours: [{kind: redirect, path: /api/items, to: 'https://new.example/items'}]"
HEADERS = ", ".join(f"x-theirs-{number}" for number in range(39))
JOB = (
    "{destination: 's3://edge-logs/%s.example?region=eu-west-1',"
    " logpull_options: 'fields=RayID&timestamps=rfc3339'}"
)
RULE = "{description: Theirs, request_headers: [x-theirs]}"
FLEET = "\n".join(
    (
        "accounts: [{name: Main}, {name: Whole}]",
        "zones:",
        *(
            f"  - {{name: {name}.example, plan: enterprise, esc: {{{ACTS}}}}}"
            for name in ("lost", "late", "near", "asked")
        ),
        *(
            f"  - {{name: {name}.example, plan: enterprise, esc: {{{ACTS}}},"
            " edge: {failures: [{path: /, when: esc_off}]}}"
            for name in ("worse", "stays")
        ),
        *(
            f"  - {{name: {name}.example, plan: enterprise, account: Whole, esc: {{{ACTS}}}}}"
            for name in ("part", "other")
        ),
        "  - {name: small.example, plan: pro}",
        "  - {name: bare.example, plan: enterprise}",
        f"  - {{name: full.example, plan: enterprise, logs: {{fields: [{{request_headers: [{HEADERS}]}}],",
        f"     jobs: [{JOB % 'full'}]}}}}",
        *(
            f"  - {{name: {one}.example, plan: enterprise, logs: {{fields: [{RULE}], jobs: [{JOB % one}]}}}}"
            for one in ("odd", "size-1", "size-2", "fields", "unseen")
        ),
    )
)
POLICY = "sign_off: {approvers: [ada, grace], expires_after: 1000d, valid_for: 1000d}\n"
AUTUMN = datetime(2023, 10, 1, tzinfo=UTC)


def names_of(campaign: str, zone: str = "") -> dict[str, str]:
    """What fills the placeholders of an entry."""
    return {"CAMPAIGN": campaign, "ZONE": f"{zone}.example", "FILE": f"{campaign}.yaml"}


def edited(here: Desk, name: str, zones: list[str], area: str, **changes: str) -> str:
    """A campaign file in which keys have other lines."""
    file = here.folder / here.campaign(name, zones, POLICY, area)
    lines = []
    for line in file.read_text().splitlines():
        key = line.strip().partition(":")[0]
        lines += changes[key].splitlines() if key in changes else [line]
    file.write_text("\n".join(lines) + "\n")
    return file.name


def of_a_zone(
    here: Desk, code: str, name: str, area: str, fix: Callable[[], object], *, sign: bool = False
) -> None:
    """A campaign over one zone: it comes to its alarm, and once it is fixed the entry's commands end it."""
    campaign, zone = f"{area}-{name}", f"{name}.example"
    here.start(campaign, [zone], POLICY, area)
    if sign:
        here.until(campaign, lambda places: any(place.startswith("awaiting") for place in places))
        here.until_in(ZonePhase.AWAITING_SIGN_OFF, zone, area)
        here.ok("sign-off", "approve", campaign, "--zone", zone, "--yes")
    if code == "rolled-back":
        limit = time.monotonic() + 60
        while "turning esc on again" not in here.ok("status", campaign):
            assert time.monotonic() < limit
    here.alarmed(code, campaign, zone=zone)
    here.look(code, names_of(campaign, name))
    fix()
    here.act(code, names_of(campaign, name))
    if code != "blocked-plan":
        here.over(code, campaign, zone=zone)


def rolled_back(here: Desk) -> None:
    """The site fails without Edge Side Code: it is turned on again, which status says while it is done."""
    slow = here.fault("latency", "worse.example", "esc.delete", seconds=8)

    def fix() -> None:
        here.fix(slow)
        replaced(here, "worse.example")

    of_a_zone(here, "rolled-back", "worse", "esc", fix, sign=True)


def way_back_refused(here: Desk) -> None:
    """The site fails without Edge Side Code, and turning it on again is refused: somebody does it by hand."""
    denied = refusal("Authentication error", 10000)
    refused = here.fault("server_error", "stays.example", "esc.delete", status=403, body=denied)

    def fix() -> None:
        here.fix(refused)
        by_hand(here, "DELETE", f"zones/{here.zone_id('stays.example')}/disable_esc")
        replaced(here, "stays.example")

    with hasty(here):
        of_a_zone(here, "failed-way-back", "stays", "esc", fix, sign=True)


def replaced(here: Desk, zone: str) -> None:
    """What Edge Side Code did for the site is done otherwise: it does not fail without any more."""
    here.control("PATCH", f"zones/{here.zone_id(zone)}", {"edge": {"failures": []}})


def by_hand(here: Desk, method: str, path: str, body: object = None) -> None:
    """What somebody does at the provider, with the first account's credential. Raises where it is refused."""
    (credential, *_) = here.stack.secrets.values()
    request = urllib.request.Request(
        f"{here.stack.service}/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {credential}", "Content-Type": "application/json"},
    )
    urllib.request.urlopen(request).close()


def unknown_change(here: Desk) -> None:
    """The service answers 502 and does nothing: what was sent never shows."""
    # Its test secret is there from an earlier campaign: the fault meets nothing but what turns esc off.
    here.start("first-lost", full("lost"), POLICY, "esc")
    here.until("first-lost", lambda places: "awaiting" in places)
    here.ok("abort", "first-lost", "--yes")
    here.until("first-lost", lambda places: places == {"aborted": 1})
    lost = here.fault("server_error", "lost.example", "esc.set", status=502)
    of_a_zone(here, "unknown-change", "lost", "esc", lambda: here.fix(lost), sign=True)


def blocked_account(here: Desk) -> None:
    """A zone of the account is in the hands of another campaign."""
    here.start("part", full("part"), POLICY, "esc")
    here.until("part", lambda places: "awaiting" in places)
    text = here.folder / here.campaign("whole", [], POLICY, "esc")
    text.write_text(
        text.read_text()
        .replace("  include: []", "  accounts: [Whole]")
        .replace("esc:\n", "esc:\n  scope: account\n", 1)
    )
    here.ok("start", "whole.yaml", "--yes")
    assert "part.example by" in here.alarmed("blocked-account", "whole")["text"]
    names = {**names_of("whole"), "ZONE": "Whole"}
    here.look("blocked-account", names)
    here.ok("abort", "part", "--yes")
    here.until("part", lambda places: places == {"aborted": 1})
    here.act("blocked-account", names)
    here.over("blocked-account", "whole")


def removal_date(here: Desk) -> None:
    """A week is left by the service's clock."""
    here.start("near", full("near"), POLICY, "esc")
    here.until("near", lambda places: "awaiting" in places)
    assert "removal-date" not in here.alarms("near", "--service")
    here.control("PUT", "clock", {"now": "2023-12-25T00:00:00Z"})
    here.alarmed("removal-date", "near", "--service")
    here.look("removal-date", names_of("near"))
    here.act("removal-date", names_of("near"))
    here.until("near", lambda places: places == {"aborted": 1})
    here.over("removal-date", "near", "--service")
    here.control("PUT", "clock", {"now": AUTUMN.isoformat()})


def blocked_removal_date(here: Desk) -> None:
    """The scope's turn comes after the removal date."""
    spec = load_campaign(here.folder / here.campaign("late", full("late"), POLICY, "esc"))

    async def begun() -> None:
        client = await connect(TemporalSettings(address=here.stack.address))
        digest = await operations.store_spec(here.archive, spec)
        frozen = await operations.freeze(client, here.archive, spec, digest)
        await here.stack.control.send("PUT", "clock", {"now": "2024-01-02T00:00:00Z"})
        await operations.start_campaign(
            client, here.archive, spec, by="olga", frozen=frozen, pen=here.pen("olga")
        )

    here.wait(begun())
    here.alarmed("blocked-removal-date", "late", zone="late.example")
    here.look("blocked-removal-date", names_of("late", "late"))
    here.act("blocked-removal-date", names_of("late", "late"))
    here.control("PUT", "clock", {"now": AUTUMN.isoformat()})


class Silence(socketserver.BaseRequestHandler):
    """Takes a connection and says nothing."""


def probe(here: Desk) -> None:
    """Nobody listens where the probe is to ask; then somebody does."""
    with socketserver.TCPServer(("127.0.0.1", 0), Silence, bind_and_activate=False) as server:
        server.server_bind()
        port = server.server_address[1]
        edited(here, "probes", full("asked"), "esc", edge=f'    edge: "http://127.0.0.1:{port}"')
        here.ok("start", "probes.yaml", "--yes")
        here.alarmed("probe", "probes", "--service")
        here.look("probe", names_of("probes"))
        server.server_activate()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here.act("probe", names_of("probes"))
        here.over("probe", "probes", "--service")
        server.shutdown()
    here.ok("abort", "probes", "--yes")


def blocked_plan(here: Desk) -> None:
    """A zone that is not Enterprise: it stays so."""
    of_a_zone(here, "blocked-plan", "small", "log-fields", lambda: None)


def blocked_fields(here: Desk) -> None:
    """39 fields are there, and three would come to them."""
    path = f"zones/{here.zone_id('full.example')}/rulesets/http_log_custom_fields/write"
    of_a_zone(here, "blocked-fields", "full", "log-fields", lambda: here.control("POST", path, {"rules": []}))


def blocked_log_job(here: Desk) -> None:
    """No log job is there; then one is made."""

    def fix() -> None:
        body = {
            "name": "ours",
            "destination_conf": "r2://bucket/path",
            "dataset": "http_requests",
            "logpull_options": "fields=RayID&timestamps=rfc3339",
            "enabled": True,
        }
        by_hand(here, "POST", f"zones/{here.zone_id('bare.example')}/logpush/jobs", body)

    of_a_zone(here, "blocked-log-job", "bare", "log-fields", fix)


def blocked_rules(here: Desk) -> None:
    """A rule of somebody else's without an action: it could not be sent back."""
    odd = here.fault("wrong_types", "odd.example", "rulesets.get", replace={"/result/rules/0/action": None})
    of_a_zone(here, "blocked-rules", "odd", "log-fields", lambda: here.fix(odd))


def log_entry_size(here: Desk) -> None:
    """Sampled entries with 9 KB of user agent; one zone is signed all the same, the other is not."""
    for number in (1, 2):
        folder = here.stack.places.simulator / f"buckets/s3/edge-logs/size-{number}.example"
        folder.mkdir(parents=True, exist_ok=True)
        entry = {
            "RayID": "1",
            "RequestHeaders": {"user-agent": "x" * 9_000},
            "Cookies": {},
            "ResponseHeaders": {},
        }
        (folder / "sample.log").write_text(json.dumps(entry) + "\n")
    here.start("sizes", full("size-1", "size-2"), POLICY, "log-fields")
    for number in (1, 2):
        zone = f"size-{number}.example"
        assert "KB" in here.alarmed("log-entry-size", "sizes", zone=zone)["text"]
        here.look("log-entry-size", names_of("sizes", f"size-{number}"))
        if number == 1:
            here.ok("sign-off", "approve", "sizes", "--zone", zone, "--reason", "read")
        else:
            here.act("log-entry-size", names_of("sizes", f"size-{number}"))
        here.over("log-entry-size", "sizes", zone=zone)


def log_entries(here: Desk) -> None:
    """The file does not say where entries are; the campaign ends, and another one would."""
    edited(here, "entries", full("fields"), "log-fields", entries="")
    here.ok("start", "entries.yaml", "--yes")
    here.alarmed("log-entries", "entries", "--service")
    here.look("log-entries", names_of("entries"))
    here.act("log-entries", names_of("entries"))
    here.ok("abort", "entries", "--yes")
    here.until("entries", lambda places: places == {"aborted": 1})
    here.over("log-entries", "entries", "--service")


def fields_unverified(here: Desk) -> None:
    """The file does not say where entries are: what was written stays, and nobody has seen it arrive."""
    edited(here, "unverified", full("unseen"), "log-fields", entries="")
    here.ok("start", "unverified.yaml", "--yes")
    here.until("unverified", lambda places: any(place.startswith("awaiting") for place in places))
    here.until_in(ZonePhase.AWAITING_SIGN_OFF, "unseen.example", "log-fields")
    here.ok("sign-off", "approve", "unverified", "--zone", "unseen.example", "--yes")
    here.until("unverified", lambda places: places == {"settled": 1})
    assert "not verified" in here.alarmed("fields-unverified", "unverified", zone="unseen.example")["text"]
    here.look("fields-unverified", names_of("unverified", "unseen"))
    here.act("fields-unverified", names_of("unverified", "unseen"))


def log_destination(here: Desk) -> None:
    """The destination of new jobs is not in the surroundings; then it is."""
    with pytest.MonkeyPatch.context() as patch:
        job = '  request_headers: ["user-agent"]\n  job: {destination: "env:RUNBOOK_DESTINATION"}'
        edited(here, "destination", full("fields"), "log-fields", request_headers=job)
        here.ok("start", "destination.yaml", "--yes")
        here.alarmed("log-destination", "destination", "--service")
        here.look("log-destination", names_of("destination"))
        patch.setenv("RUNBOOK_DESTINATION", "s3://edge-logs/new?region=eu-west-1")
        here.act("log-destination", names_of("destination"))
        here.over("log-destination", "destination", "--service")
        here.ok("abort", "destination", "--yes")
        here.until("destination", lambda places: places == {"aborted": 1})


AREAS: dict[str, Callable[[Desk], None]] = {
    "rolled-back": rolled_back,
    "failed-way-back": way_back_refused,
    "unknown-change": unknown_change,
    "blocked-account": blocked_account,
    "removal-date": removal_date,
    "blocked-removal-date": blocked_removal_date,
    "probe": probe,
    "blocked-plan": blocked_plan,
    "blocked-fields": blocked_fields,
    "blocked-log-job": blocked_log_job,
    "blocked-rules": blocked_rules,
    "log-entry-size": log_entry_size,
    "log-entries": log_entries,
    "fields-unverified": fields_unverified,
    "log-destination": log_destination,
}
