"""The runbook of the area waf and of what every campaign stands on: each situation is brought about on a real
stack, its alarm is there, the commands of its entry run as they stand on the page, and the alarm is gone.

The tests run in their order on one stack. Entries of the other areas: test_runbook_areas.py.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift import operations
from edgeshift.alarms import KINDS
from edgeshift.archive import object_key
from edgeshift.campaign_file import load_campaign
from edgeshift.campaign_start import campaign_start
from edgeshift.fleet import campaign_id
from edgeshift.messages import TASK_QUEUE
from edgeshift.settings import TemporalSettings
from edgeshift.temporal import connect
from tests.journeys.runbook_kit import PATIENCE, POLICY, Desk, desk
from tests.runbook import ENTRIES, HEAD, commands_of

pytestmark = [pytest.mark.serial, pytest.mark.embedded, pytest.mark.timeout(240)]

LONG = 'http.request.uri.path eq "/' + "ä" * 2100 + '"'
RULES = ", ".join(
    f"{{expression: 'ip.src eq 192.0.2.{n}', action: bypass, products: [waf]}}" for n in range(201)
)
NOISY = "traffic: {requests_per_minute: 600, false_positives: [{kind: rich_text, path: /save, per_hour: 60}]}"
MAIN = (
    "waits-1",
    "waits-2",
    "drifts-1",
    "drifts-2",
    "asks",
    "odd",
    "logs-only",
    "refused",
    "sent",
    "differs",
)
MANY = tuple(f"out-{number}" for number in range(10))
OTHERS = (
    "ended",
    "late",
    "held",
    "stopped",
    "halts",
    "goes-on",
    "soon-1",
    "soon-2",
    "damaged",
    "ends",
    "solo",
)
FLEET = "\n".join(
    (
        "users: [{email: main@example.com}, {email: side@example.com}, {email: far@example.com}]",
        "credentials:",
        "  - {label: main-token, user: main@example.com, accounts: [Main]}",
        "  - {label: side-token, user: side@example.com, accounts: [Side]}",
        "  - {label: far-token, user: far@example.com, accounts: [Far]}",
        "accounts: [{name: Main}, {name: Side}, {name: Far}]",
        "zones:",
        *(f"  - {{name: {name}.example, plan: pro}}" for name in (*MAIN, *OTHERS)),
        *(f"  - {{name: editor-{n}.example, plan: enterprise, {NOISY}}}" for n in (1, 2)),
        "  - {name: bank.example, plan: enterprise}",
        "  - {name: far.example, plan: pro, account: Far}",
        f"  - {{name: many.example, plan: pro, firewall_rules: [{RULES}]}}",
        *(
            f"  - {{name: long-{n}.example, plan: pro, firewall_rules:"
            f" [{{expression: '{LONG}', action: bypass, products: [waf]}}]}}"
            for n in (1, 2, 3)
        ),
        "  - name: legacy.example",
        "    plan: business",
        '    uri_overrides: [{urls: [legacy.example/admin/*], rules: {"100008": simulate}}]',
        *(f"  - {{name: side-{n}.example, plan: pro, account: Side}}" for n in (1, 2)),
        *(f"  - {{name: {name}.example, plan: pro, account: Side}}" for name in MANY),
    )
)
SHORT = POLICY.replace("expires_after: 1000d", "expires_after: 2d").replace("support: 1000d", "support: 2d")
LOGS = [{"action": "log", "expression": "true", "description": "", "ref": "", "id": "", "enabled": True}]

ELSEWHERE = frozenset(
    {"removal-date", "probe", "log-entries", "log-destination", "log-entry-size", "unknown-change"}
    | {"blocked-removal-date", "blocked-account", "blocked-plan", "blocked-fields", "blocked-log-job"}
    | {"blocked-rules", "rolled-back", "failed-way-back"}
)
"""Situations of the other areas."""

SAME_COMMANDS = {
    "blocked": "blocked-not-compatible",
    "failed-tries": "failed-refused",
    "failed-credential": "failed-reading",
    "failed-archive": "failed-reading",
}
"""Rare ends of a zone, whose entries have the commands of one that is brought about."""


def refusal(message: str, code: int = 0) -> str:
    """The body of a refusal of the service."""
    return json.dumps({"success": False, "errors": [{"code": code, "message": message}]})


def full(*names: str) -> list[str]:
    """Names of zones."""
    return [f"{name}.example" for name in names]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, temporal_cli_path: Path) -> Iterator[Desk]:
    """A stack with a campaign in which most things that can be wrong with a zone are wrong."""
    with desk(tmp_path_factory.mktemp("runbook"), temporal_cli_path, FLEET) as found:
        ask, not_taken = refusal("Please contact support to migrate this zone."), refusal("not taken", 20120)
        gone = refusal("not found", 7003)
        put, check = "entrypoint.put", "waf.check"
        fault, troubles = found.fault, found.troubles
        troubles["asks"] = fault("server_error", "asks.example", check, status=400, body=ask)
        troubles["odd"] = fault("wrong_types", "odd.example", check, replace={"/result/compatible": False})
        only_log = {"/result/rules": LOGS}
        troubles["logs-only"] = fault("wrong_types", "logs-only.example", "waf.config", replace=only_log)
        troubles["refused"] = fault("server_error", "refused.example", put, status=400, body=not_taken)
        troubles["far"] = fault("server_error", "far.example", check, status=500)
        troubles["sent"] = fault("server_error", "sent.example", put, status=502)
        troubles["bank"] = fault("server_error", "bank.example", put, status=502)
        troubles["halts"] = fault("server_error", "goes-on.example", check, status=404, body=gone)
        damage(found)
        main = [*MAIN, "ended", "editor-1", "editor-2", "bank", "long-1", "many", "legacy"]
        found.start("main", full(*main))
        found.start("short", full("late", "long-2"), SHORT)
        found.start("halts", full("halts", "goes-on"), POLICY + "waves: [{name: one, zones: 1}]\n")
        found.start("soon", full("soon-1", "soon-2"))
        found.start("stopped", full("stopped"))
        found.start("holds", full("held"))
        found.ok("abort", "stopped", "--yes")
        far = found.folder / found.campaign("far", full("far"))
        far.write_text(far.read_text().replace(f"patience: {PATIENCE}", "patience: 30h"))
        found.ok("start", "far.yaml", "--yes")
        yield found


def damage(found: Desk) -> None:
    """A campaign whose frozen targets were damaged before it could read them, and that somebody pauses."""
    spec = load_campaign(found.folder / found.campaign("damaged", full("damaged")))

    async def started() -> asyncio.Future[Any]:
        client = await connect(TemporalSettings(address=found.stack.address))
        digest = await operations.store_spec(found.archive, spec)
        frozen = await operations.freeze(client, spec, digest)
        file = found.stack.places.archive / object_key(frozen.targets)
        (found.folder / "copy").write_bytes(file.read_bytes())
        file.write_bytes(b"[]")
        found.troubles["damaged"] = str(file)
        await operations.start_campaign(client, found.archive, spec, by="olga", frozen=frozen)
        return asyncio.ensure_future(operations.pause(client, spec.name, by="olga", reason="it is odd"))

    found.pausing = found.wait(started())


def test_everything_comes_to_where_people_are_asked(here: Desk) -> None:
    """The campaign comes to rest with all of its zones waiting or ended."""
    at_work = {"pending", "working", "waiting", "permitted", "ready_validate"}
    here.until("main", lambda places: not at_work & places.keys())


def test_a_campaign_that_cannot_work_and_does_not_answer(here: Desk) -> None:
    """Damaged targets: the alarms name the object; once it is put back everything goes on by itself."""
    for code in ("archive-damaged", "batch-fails"):
        alarm = here.alarmed(code, "damaged")
        assert Path(here.troubles["damaged"]).name in alarm["said"]
        here.look(code, {"CAMPAIGN": "damaged"})
        here.act(code, {"CAMPAIGN": "damaged"})


def test_a_sign_off_waits_and_a_campaign_is_paused(here: Desk) -> None:
    """One zone is rejected, the others of its fingerprint approved while the campaign stands still."""
    alarm = here.alarmed("sign-off-waits", "main", zone="waits-1.example")
    assert (alarm["severity"], alarm["runbook"]) == ("notice", "docs/runbook.md#sign-off-waits")
    assert "sign-off-waits" not in here.alarms("main", "--least", "warning")
    (zone,) = json.loads(here.ok("status", "main", "--zone", "waits-1.example", "--json"))["zones"]
    names = {"CAMPAIGN": "main", "ZONE": "waits-2.example", "FINGERPRINT": zone["fingerprint"][:12]}
    here.look("sign-off-waits", names)
    here.act("sign-off-waits", names, only=[1])
    here.ok("pause", "main", "--reason", "lunch")
    assert "lunch" in here.alarmed("paused", "main")["said"]
    here.act("sign-off-waits", names, only=[0])
    here.over("sign-off-waits", "main", zone="waits-1.example")
    # What was agreed to meets a configuration that has changed, a workflow that has ended, rules that differ.
    rule = {"expression": "ip.src eq 192.0.2.1", "action": "bypass", "products": ["waf"]}
    for name in full("drifts-1", "drifts-2"):
        here.control("PATCH", f"zones/{here.zone_id(name)}", {"add_firewall_rules": [rule]})
    other = {"/result/rules": LOGS}
    here.troubles["differs"] = here.fault("wrong_types", "differs.example", "entrypoint.get", replace=other)
    ended = f"zone/{here.zone_id('ended.example')}/waf"
    temporal(here, "workflow", "terminate", "--workflow-id", ended)
    here.look("paused", {"CAMPAIGN": "main"})
    here.act("paused", {"CAMPAIGN": "main"})
    here.over("paused", "main")


def temporal(here: Desk, *words: str) -> None:
    """Call the Temporal CLI."""
    command = [str(here.temporal), *words, "--address", here.stack.address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (here.places("main"), done.stderr)


@pytest.mark.parametrize("code", ["sign-off-again", "sign-off-alone", "sign-off-expires"])
def test_one_zone_is_approved_and_another_rejected(
    here: Desk, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zones that changed after their sign-off, zones with evidence that failed, zones whose time runs out."""
    campaign, stem = {"again": ("main", "drifts"), "alone": ("main", "editor"), "expires": ("soon", "soon")}[
        code.removeprefix("sign-off-")
    ]
    if code == "sign-off-expires":
        # The campaign lets them 1,000 days; whoever asks finds that most of them have passed.
        monkeypatch.setattr("edgeshift.alarms.rules.NEAR", 0.0)
    for number in (1, 2):
        zone = f"{stem}-{number}.example"
        here.alarmed(code, campaign, zone=zone)
        names = {"CAMPAIGN": campaign, "ZONE": zone}
        here.look(code, names)
        here.act(code, names, only=[number - 1])
        here.over(code, campaign, zone=zone)


CASES = [
    ("rejected", "main", "waits-2"),
    ("support-too-many-rules", "main", "many"),
    ("support-long-expression", "main", "long-1"),
    ("support-refusal", "main", "asks"),
    ("needs-support", "short", "long-2"),
    ("on-hold", "short", "late"),
    ("blocked-overrides", "main", "legacy"),
    ("blocked-not-compatible", "main", "odd"),
    ("blocked-log-only", "main", "logs-only"),
    ("aborted", "stopped", "stopped"),
    ("failed-refused", "main", "refused"),
    ("failed-reading", "far", "far"),
    ("failed-differs", "main", "differs"),
    ("unknown-commit", "main", "sent"),
    ("unknown-validation", "main", "bank"),
    ("zone-ended", "main", "ended"),
]
"""Code, campaign and zone. What is wrong with the zone is mended before it is acted upon."""


@pytest.mark.parametrize(("code", "campaign", "name"), CASES, ids=[code for code, _, _ in CASES])
def test_a_zone_that_asks_for_a_person(here: Desk, code: str, campaign: str, name: str) -> None:
    """Its alarm names it; after the entry's commands it is not among them any more."""
    zone = f"{name}.example"
    alarm = here.alarmed(code, campaign, zone=zone)
    assert alarm["campaign"] == campaign and alarm["count"] == len(alarm["zones"])
    names = {"CAMPAIGN": campaign, "ZONE": zone, "FILE": f"{campaign}.yaml"}
    here.look(code, names)
    if name in here.troubles:
        here.mend(here.troubles.pop(name))
    if name in ("many", "long-1"):
        settings = here.control("GET", f"zones/{here.zone_id(zone)}")["settings"]
        rules = [rule["id"] for rule in settings["firewall_rules"]]
        here.control("PATCH", f"zones/{here.zone_id(zone)}", {"remove_firewall_rules": rules})
    if name == "legacy":
        here.control("PATCH", f"zones/{here.zone_id(zone)}", {"uri_overrides": []})
    here.act(code, names)
    here.over(code, campaign, zone=zone)


def test_a_zone_that_another_campaign_has(here: Desk) -> None:
    """It is left out and named; when the other one is done with it, it is found as done."""
    here.start("wants", full("held"))
    assert "campaign/holds" in here.alarmed("excluded", "wants")["said"]
    names = {"CAMPAIGN": "wants", "ZONE": "held.example"}
    here.look("excluded", names)
    here.ok("sign-off", "approve", "holds", "--zone", "held.example", "--yes")
    here.until("holds", lambda places: places == {"migrated": 1})
    here.act("excluded", names)
    here.over("excluded", "wants")
    here.until("wants", lambda places: places == {"already_migrated": 1})


def test_a_campaign_that_failures_halted(here: Desk) -> None:
    """What failed is mended and begun again, what is left of it accepted; the later wave begins."""
    assert "1 zone(s) failed" in here.alarmed("halted", "halts")["said"]
    assert here.alarmed("failed-credential", "halts")["zones"] == ["goes-on.example"]
    here.look("halted", {"CAMPAIGN": "halts"})
    here.mend(here.troubles.pop("halts"))
    here.act("halted", {"CAMPAIGN": "halts"})
    here.over("halted", "halts")


def test_a_campaign_that_somebody_ended(here: Desk) -> None:
    """Its zones wait for nobody; started anew, it has them again."""
    here.start("ends", full("ends"))
    here.until("ends", lambda places: places == {"awaiting": 1})
    temporal(here, "workflow", "terminate", "--workflow-id", "campaign/ends")
    assert here.alarmed("campaign-ended", "ends")["said"] == "terminated"
    names = {"CAMPAIGN": "ends", "FILE": "ends.yaml", "WORKFLOW": "campaign/ends"}
    here.look("campaign-ended", names)
    here.act("campaign-ended", names)
    here.over("campaign-ended", "ends")
    here.until("ends", lambda places: places == {"awaiting": 1})


def test_a_user_whose_calls_are_refused_for_a_while(here: Desk) -> None:
    """429 of one user: the alarm says until when, and ends by itself."""
    here.fault("rate_limit", "side-1.example", "waf.check", retry_after=20, times=1)
    here.start("side", full("side-1", "side-2"))
    alarm = here.alarmed("rate-limited")
    assert alarm["said"].startswith("side@example.com: until ")
    here.look("rate-limited", {"WORKFLOW": "quota/side@example.com"})
    here.act("rate-limited")
    here.over("rate-limited")
    here.until("side", lambda places: places == {"awaiting": 2})


def test_a_campaign_that_paused_itself(here: Desk) -> None:
    """A refused credential, one that is gone, and an outage: each is named, and over once it is mended."""
    names = {"CAMPAIGN": "side", "FILE": "side.yaml"}
    token = here.stack.places.credentials / "side-token"

    def meets(code: str, number: int) -> None:
        here.ok("sign-off", "approve", "side", "--zone", f"side-{number}.example", "--yes")
        assert here.alarmed(code, "side")["said"]
        assert "paused" not in here.alarms("side")
        here.look(code, names)

    def goes_on(code: str) -> None:
        here.act(code, names)
        here.over(code, "side")

    here.control("PUT", "credentials/side-token", {"status": "disabled"})
    meets("credential-refused", 1)
    here.control("PUT", "credentials/side-token", {"status": "active"})
    goes_on("credential-refused")
    token.rename(token.with_suffix(".kept"))
    meets("credential-missing", 2)
    token.with_suffix(".kept").rename(token)
    goes_on("credential-missing")
    here.start("outs", full(*MANY))
    here.until("outs", lambda places: places == {"awaiting": len(MANY)})
    fault = here.fault("server_error", user="side@example.com", status=503)
    names = {"CAMPAIGN": "outs", "FILE": "outs.yaml"}
    here.ok("sign-off", "approve", "outs", "--wave", "1", "--yes")
    here.alarmed("service-outage", "outs")
    here.look("service-outage", names)
    here.mend(fault)
    here.act("service-outage", names)
    here.over("service-outage", "outs")
    here.until("outs", lambda places: places == {"migrated": len(MANY)})


def test_tickets_that_cannot_be_opened(here: Desk) -> None:
    """The zone is tried again and stands still: both alarms say why; it goes on once there is a folder."""
    folder = here.folder / "desk"
    folder.write_text("no folder")
    file = here.folder / here.campaign("tickets", full("long-3"), POLICY)
    file.write_text(file.read_text().replace(str(here.stack.places.tickets), str(folder)))
    here.ok("start", "tickets.yaml", "--yes")
    names = {"CAMPAIGN": "tickets", "FILE": "tickets.yaml", "ZONE": "long-3.example"}
    assert str(folder) in here.alarmed("tickets", "tickets")["said"]
    here.look("tickets", names)
    assert "desk" in here.alarmed("zone-stuck", "tickets")["said"]
    here.look("zone-stuck", names)
    folder.unlink()
    for code in ("tickets", "zone-stuck"):
        here.act(code, names)
        here.over(code, "tickets")
    here.alarmed("support-long-expression", "tickets")


def test_what_the_service_says_to_whoever_asks_from_here(here: Desk) -> None:
    """Clock, service, credential and permissions, by the campaign's own file."""
    names = {"CAMPAIGN": "side", "FILE": "side.yaml"}
    token = next(file for file in here.stack.places.credentials.iterdir() if "main" in file.name)
    kept = token.with_suffix(".kept")
    denied = refusal("Authentication error", 10000)

    def check(code: str) -> None:
        here.alarmed(code, "side", "--service")
        here.look(code, names)

    here.control("PUT", "clock", {"offset_seconds": 3600})
    check("clock")
    here.control("PUT", "clock", {"offset_seconds": 0})
    silent = here.fault("reset", call="zones.list")
    check("service")
    here.mend(silent)
    closed = here.fault("server_error", call="/pagerules", status=403, body=denied)
    check("permissions")
    here.mend(closed)
    token.rename(kept)
    check("credential")
    kept.rename(token)
    for code in ("clock", "service", "permissions", "credential"):
        here.act(code, names)
    found = here.alarms("side", "--service")
    assert not {"clock", "service", "permissions", "credential"} & found.keys()


def test_a_workflow_that_does_not_get_on(here: Desk) -> None:
    """A task that fails each time: another worker does not help here, and an end does."""
    quota = "quota/nobody@example.com"
    temporal(
        here,
        *("workflow", "start", "--type", "Quota", "--task-queue", "edgeshift-quota", "--workflow-id", quota),
        *("--input", '{"terms": "of another version"}'),
    )
    assert quota in here.alarmed("workflow-stuck")["said"]
    here.look("workflow-stuck", {"WORKFLOW": quota})
    here.act("workflow-stuck", {"WORKFLOW": quota})
    here.end_workers()
    here.over("workflow-stuck")


def test_a_place_without_workers(here: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new namespace: no worker, no search attributes, histories that are soon gone, nobody who answers."""
    names = {"NAMESPACE": "empty", "CAMPAIGN": "solo"}
    temporal(here, "operator", "namespace", "create", "--namespace", "empty", "--retention", "24h")
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", here.stack.address)
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_NAMESPACE", "empty")
    monkeypatch.setenv("EDGESHIFT_ARCHIVE_URL", here.stack.archive)
    here.wait(begun(here))
    codes = ("no-worker", "search-attributes", "retention", "campaign-silent")
    for code in codes:
        here.alarmed(code, "solo")
        here.look(code, names)
    for code in codes:
        if code == "no-worker" or "edgeshift worker" not in KINDS[code].do:
            here.act(code, names)
        here.ran |= {f"{code}: {command}" for command in KINDS[code].do}
    for code in codes:
        here.over(code, "solo")
    here.end_workers()


async def begun(here: Desk) -> None:
    """A campaign in the new namespace, where zones cannot be found by search attributes yet."""
    spec = load_campaign(here.folder / here.campaign("solo", full("solo")))
    known: Client = await connect(TemporalSettings(address=here.stack.address))
    client = await connect(TemporalSettings(address=here.stack.address, namespace="empty"))
    digest = await operations.store_spec(here.archive, spec)
    frozen = await operations.freeze(known, spec, digest)
    start = campaign_start(
        spec,
        digest,
        targets=frozen.targets,
        count=frozen.count,
        waves=frozen.waves,
        enterprise=frozen.enterprise,
        started_by="olga",
    )
    await client.start_workflow("Campaign", start, id=campaign_id("solo"), task_queue=TASK_QUEUE)


def test_what_cannot_be_reached_from_here(here: Desk) -> None:
    """Temporal, or the archive, at another address than where they are."""
    assert "temporal-unreachable" in here.alarms("--address", "127.0.0.1:1")
    here.look("temporal-unreachable", {"ADDRESS": "127.0.0.1:1"})
    here.act("temporal-unreachable")
    assert "temporal-unreachable" not in here.alarms("main")
    nowhere = (here.folder / "main.yaml").as_uri()
    assert "archive" in here.alarms("main", "--archive", nowhere)
    here.look("archive", {"ARCHIVE": nowhere})
    here.act("archive")
    assert "archive" not in here.alarms("main")


def test_a_pause_that_lasted_answers_once_the_reason_is_gone(here: Desk) -> None:
    """The object is put back: the campaign goes on by itself, the pause answers, no alarm is left of it."""
    here.alarmed("pausing-lasts", "damaged")
    here.look("pausing-lasts", {"CAMPAIGN": "damaged"})
    Path(here.troubles.pop("damaged")).write_bytes((here.folder / "copy").read_bytes())
    here.act("pausing-lasts", {"CAMPAIGN": "damaged"})
    here.over("archive-damaged", "damaged")
    here.over("pausing-lasts", "damaged")
    here.over("batch-fails", "damaged")
    here.alarmed("paused", "damaged")


def test_every_command_of_the_runbook_was_run(here: Desk) -> None:
    """Here, in the entries of the other areas, or, of what is rare, in an entry with the same commands."""
    for command in commands_of(HEAD):
        here.run("head", command, {"CAMPAIGN": "main"}, allowed=(0, 7))
    for entry in ENTRIES:
        if entry.code in SAME_COMMANDS:
            (twin,) = [other for other in ENTRIES if other.code == SAME_COMMANDS[entry.code]]
            assert set(entry.commands) <= set(twin.commands) | {"edgeshift doctor"}, entry.code
        elif entry.code not in ELSEWHERE:
            assert {f"{entry.code}: {command}" for command in entry.commands} <= here.ran, entry.code
    assert {*ELSEWHERE, *SAME_COMMANDS} <= KINDS.keys()
