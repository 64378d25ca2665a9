"""What is wrong with campaigns as a whole, and with what they stand on, as the runbook has it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from edgeshift import operations
from edgeshift.campaign.start import campaign_start
from edgeshift.campaign_file.load import load_campaign
from edgeshift.messages import ReportKind, ZoneReport, ZoneResult
from edgeshift.model.fleet import ZoneOutcome, campaign_id
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.stores.archive import object_key
from tests.journeys.cli_kit import POLICY
from tests.journeys.runbook_fleet import MANY, full, refusal, temporal
from tests.journeys.runbook_kit import Desk
from tests.journeys.runbook_namespaces import namespace
from tests.kit import eventually


def damage(found: Desk) -> None:
    """A campaign whose frozen targets were damaged before it could read them, and that somebody pauses: its
    Enterprise zone is started with a permit, of which nobody can say what became of it.
    """
    more = POLICY + "commit: {lease: 10s}\n"
    spec = load_campaign(found.folder / found.campaign("damaged", full("damaged"), more))

    async def started() -> asyncio.Future[Any]:
        client = await connect(TemporalSettings(address=found.stack.address))
        digest = await operations.store_spec(found.archive, spec)
        frozen = await operations.freeze(client, found.archive, spec, digest)
        file = found.stack.places.archive / object_key(frozen.targets)
        (found.folder / "copy").write_bytes(file.read_bytes())
        file.write_bytes(b"[]")
        found.troubles["damaged"] = str(file)
        await operations.start_campaign(
            client, found.archive, spec, by="olga", frozen=frozen, pen=found.pen("olga")
        )

        async def begins() -> bool:
            return (await operations.summary(client, spec.name)).permits_out > 0

        await eventually(begins, what="its zone is being started, with a permit")
        return asyncio.ensure_future(operations.pause(client, spec.name, by="olga", reason="it is odd"))

    found.pausing = found.wait(started())


def damaged(here: Desk) -> None:
    """Damaged targets: the alarms name the object; once it is put back everything goes on by itself."""
    damage(here)
    for code in ("archive-damaged", "batch-fails"):
        alarm = here.alarmed(code, "damaged")
        assert Path(here.troubles["damaged"]).name in alarm["text"]
        here.look(code, {"CAMPAIGN": "damaged"})
        here.act(code, {"CAMPAIGN": "damaged"})
    assert here.pausing is not None and not here.pausing.done()
    here.alarmed("pausing-lasts", "damaged", seconds=100)
    here.look("pausing-lasts", {"CAMPAIGN": "damaged"})
    Path(here.troubles.pop("damaged")).write_bytes((here.folder / "copy").read_bytes())
    here.act("pausing-lasts", {"CAMPAIGN": "damaged"})
    here.over("archive-damaged", "damaged")
    here.over("pausing-lasts", "damaged")
    here.over("batch-fails", "damaged")
    here.alarmed("paused", "damaged")


def ended(here: Desk) -> None:
    """Its zones wait for nobody; started anew, it has them again."""
    here.start("ends", full("ends"))
    here.until("ends", lambda places: places == {"awaiting": 1})
    temporal(here, "workflow", "terminate", "--workflow-id", "campaign/ends")
    assert here.alarmed("campaign-ended", "ends")["text"] == "terminated"
    listed = json.loads(here.ok("status", "--json"))["campaigns"]
    assert [one["state"] for one in listed if one["name"] == "ends"] == ["terminated"]
    assert json.loads(here.ok("status", "ends", "--json"))["summary"]["state"] == "terminated"
    names = {"CAMPAIGN": "ends", "FILE": "ends.yaml", "WORKFLOW": "campaign/ends"}
    here.look("campaign-ended", names)
    here.act("campaign-ended", names)
    here.over("campaign-ended", "ends")
    here.until("ends", lambda places: places == {"awaiting": 1})


def rate_limited(here: Desk) -> None:
    """429 of one user: the alarm says until when, and ends by itself."""
    here.start("limited", full("side-3"))
    here.until("limited", lambda places: places == {"awaiting": 1})
    here.fault("rate_limit", "side-3.example", "waf.config", retry_after=20, times=1)
    here.ok("sign-off", "approve", "limited", "--zone", "side-3.example", "--yes")
    alarm = here.alarmed("rate-limited")
    user, _, service = alarm["text"].partition(": until ")[0].partition(" at ")
    assert user == "side@example.com"
    here.look("rate-limited", {"WORKFLOW": f"quota/{service}/side@example.com"})
    here.act("rate-limited")
    here.over("rate-limited")
    here.until("limited", lambda places: places == {"migrated": 1})


def paused_itself(here: Desk) -> None:
    """A refused credential, one that is gone, and an outage: each is named, and over once it is fixed."""
    names = {"CAMPAIGN": "side", "FILE": "side.yaml"}
    token = here.stack.places.credentials / "side-token"

    here.start("side", full("side-1", "side-2"))
    here.until("side", lambda places: places == {"awaiting": 2})

    def meets(code: str, number: int) -> None:
        here.ok("sign-off", "approve", "side", "--zone", f"side-{number}.example", "--yes")
        assert here.alarmed(code, "side")["text"]
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
    here.fix(fault)
    here.act("service-outage", names)
    here.over("service-outage", "outs")
    here.until("outs", lambda places: places == {"migrated": len(MANY)})


def no_tickets(here: Desk) -> None:
    """The zone is tried again and stands still: both alarms say why; it goes on once there is a folder."""
    folder = here.folder / "desk"
    folder.write_text("no folder")
    file = here.folder / here.campaign("tickets", full("long-3"), POLICY)
    file.write_text(file.read_text().replace(str(here.stack.places.tickets), str(folder)))
    here.ok("start", "tickets.yaml", "--yes")
    names = {"CAMPAIGN": "tickets", "FILE": "tickets.yaml", "ZONE": "long-3.example"}
    assert str(folder) in here.alarmed("tickets", "tickets")["text"]
    here.look("tickets", names)
    assert "desk" in here.alarmed("zone-stuck", "tickets")["text"]
    here.look("zone-stuck", names)
    folder.unlink()
    for code in ("tickets", "zone-stuck"):
        here.act(code, names)
        here.over(code, "tickets")
    here.alarmed("support-long-expression", "tickets")


def asked_from_here(here: Desk) -> None:
    """Clock, service, credential and permissions, by the campaign's own file."""
    names = {"CAMPAIGN": "asked", "FILE": "asked.yaml"}
    here.start("asked", full("side-4"))
    token = next(file for file in here.stack.places.credentials.iterdir() if "main" in file.name)
    kept = token.with_suffix(".kept")
    denied = refusal("Authentication error", 10000)

    def check(code: str) -> None:
        here.alarmed(code, "asked", "--service")
        here.look(code, names)

    here.control("PUT", "clock", {"offset_seconds": 3600})
    check("clock")
    here.control("PUT", "clock", {"offset_seconds": 0})
    silent = here.fault("reset", call="zones.list")
    check("service")
    here.fix(silent)
    closed = here.fault("server_error", call="/pagerules", status=403, body=denied)
    check("permissions")
    here.fix(closed)
    token.rename(kept)
    check("credential")
    kept.rename(token)
    for code in ("clock", "service", "permissions", "credential"):
        here.act(code, names)
        here.over(code, "asked", "--service")


def stuck(here: Desk) -> None:
    """A task that fails each time: another worker does not help here, and an end does."""
    quota = "quota/nowhere.example/nobody@example.com"
    temporal(
        here,
        *("workflow", "start", "--type", "Quota", "--task-queue", "edgeshift-quota", "--workflow-id", quota),
        *("--input", '{"terms": "of another version"}'),
    )
    assert quota in here.alarmed("workflow-stuck")["text"]
    names = {"WORKFLOW": quota}
    here.look("workflow-stuck", names)
    here.act("workflow-stuck", names, only=[0])
    # Nothing of it replays: the page says that it is refused then, and what to do.
    repair = 'edgeshift repair WORKFLOW --reason "REASON"'
    here.run("workflow-stuck", repair, {**here.names, **names}, allowed=(6,))
    here.act("workflow-stuck", names, only=[2])
    here.end_workers()
    here.over("workflow-stuck")


def nobody_there(here: Desk) -> None:
    """A new namespace: no worker, no search attributes, histories that are soon gone, nobody who answers."""
    names = {"CAMPAIGN": "solo"}
    with namespace(here, "empty"):
        here.wait(begun(here))
        codes = ("no-worker", "search-attributes", "retention", "campaign-silent")
        # Asked once: nobody answers for the campaign, and that takes half a minute each time.
        assert set(codes) <= here.alarms("solo").keys()
        for code in codes:
            here.look(code, names)
        # A worker for each entry that says to start one: they work side by side.
        for code in codes:
            here.act(code, names)
        for code in codes:
            here.over(code, "solo")


async def begun(here: Desk) -> None:
    """A campaign in the new namespace, where zones cannot be found by search attributes yet."""
    spec = load_campaign(here.folder / here.campaign("solo", full("solo")))
    known: Client = await connect(TemporalSettings(address=here.stack.address))
    client = await here.client()
    digest = await operations.store_spec(here.archive, spec)
    frozen = await operations.freeze(known, here.archive, spec, digest)
    start = campaign_start(
        spec,
        digest,
        targets=frozen.targets,
        count=frozen.count,
        waves=frozen.waves,
        enterprise=frozen.enterprise,
        started_by="olga",
    )
    await client.start_workflow(
        "Campaign", args=start.arguments(), id=campaign_id("solo"), task_queue=Queue.CONTROL
    )


@workflow.defn(name="NobodysZone")
class NobodysZone:
    """Stands in a zone's place, and ends as if it had been migrated."""

    @workflow.run
    async def run(self) -> ZoneResult:
        """Says so."""
        return ZoneResult(outcome=ZoneOutcome.MIGRATED)


def told_wrong(here: Desk) -> None:
    """Somebody puts a workflow in a zone's place that ends as migrated, and says so to the campaign."""
    here.start("tells", full("tells", "waits-on"))
    here.until("tells", lambda places: places == {"awaiting": 2})
    own = f"zone/{here.zone_id('tells.example')}/waf"

    async def stands_in() -> None:
        client = await here.client()
        campaign = client.get_workflow_handle("campaign/tells")
        zone = client.get_workflow_handle(own)
        memo = {**await (await zone.describe()).memo()}
        await zone.terminate("by nobody")
        async with Worker(
            client,
            task_queue="nobodys",
            workflows=[NobodysZone],
            workflow_runner=UnsandboxedWorkflowRunner(),
        ):
            await client.execute_workflow("NobodysZone", id=own, task_queue="nobodys", memo=memo)
        word = ZoneReport(
            campaign_run=str(memo["campaign_run"]),
            index=int(memo["index"]),
            attempt=1,
            sequence=60_000,
            kind=ReportKind.FINISHED,
            outcome=ZoneOutcome.MIGRATED,
        )
        await campaign.signal("zone_report", word)

    here.wait(stands_in())
    alarm = here.alarmed("told-wrong", "tells", zone="tells.example")
    assert "told as migrated; no worker signed that, and it is failed" in alarm["text"]
    assert here.places("tells") == {"awaiting": 1, "failed": 1}
    names = {"CAMPAIGN": "tells", "ZONE": "tells.example"}
    here.look("told-wrong", names)
    here.act("told-wrong", names)
    here.over("told-wrong", "tells", zone="tells.example")
    here.until("tells", lambda places: places == {"awaiting": 2})


def out_of_reach(here: Desk) -> None:
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


def unsigned(here: Desk) -> None:
    """A record that somebody has planted long ago: a worker comes upon it, and the zone goes on beside it."""
    here.start("planted", full("planted"))
    here.until("planted", lambda places: places == {"awaiting": 1})
    name = f"intent/{here.zone_id('planted.example')}/waf/planted"
    file = here.stack.places.archive / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"step": "commit", "campaign": "campaign/planted", "at": "2024-01-01T00:00:00+00:00"}')
    os.utime(file, (0, 0))
    here.ok("sign-off", "approve", "planted", "--zone", "planted.example", "--yes")
    here.until("planted", lambda places: places == {"migrated": 1})
    assert name in here.alarmed("archive-unsigned")["text"]
    here.look("archive-unsigned")
    here.act("archive-unsigned")
    file.unlink()
    here.over("archive-unsigned")


def roots_unread(here: Desk) -> None:
    """A worker whose roots nobody can read, by the alarm of checks that have none of their own."""
    roots = here.stack.keyring.roots
    file = roots.with_name("edited.yaml")
    file.write_text(roots.read_text())
    with namespace(here, "rootless"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EDGESHIFT_AUTHORITY_ROOTS", str(file))
            patch.setenv("EDGESHIFT_AUTHORITY_WORKER_KEY", str(here.stack.keyring.worker()))
            here.workers.append(here.worker())
        file.write_text("no roots")
        text = here.alarmed("check-failed")["text"]
        assert "roots of authority (roots): " in text and "cannot read its roots" in text
        here.look("check-failed", {"FILE": "main.yaml"})
        file.write_text(roots.read_text())
        here.act("check-failed")
        here.over("check-failed")


SURROUNDINGS: dict[tuple[str, ...], Callable[[Desk], None]] = {
    ("archive-damaged", "batch-fails", "pausing-lasts"): damaged,
    ("campaign-ended",): ended,
    ("rate-limited",): rate_limited,
    ("credential-refused", "credential-missing", "service-outage"): paused_itself,
    ("tickets", "zone-stuck"): no_tickets,
    ("clock", "service", "permissions", "credential"): asked_from_here,
    ("workflow-stuck",): stuck,
    ("no-worker", "search-attributes", "retention", "campaign-silent"): nobody_there,
    ("temporal-unreachable", "archive"): out_of_reach,
    ("told-wrong",): told_wrong,
    ("archive-unsigned",): unsigned,
    ("check-failed",): roots_unread,
}
"""Each situation by the codes of the entries that it plays."""
