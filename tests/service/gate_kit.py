"""A zone that was read and proposed, and the fenced activity that would change it."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.testing import ActivityEnvironment

from activities.change.area_work import AreaWork
from activities.change.door import MutationActivities
from activities.change.fence import Fence
from activities.change.own import run_of
from activities.connections import Connections
from activities.snapshots import archive_snapshot
from activities.waf.changes import WafWork
from activities.waf.proposing import configuration_digest
from activities.waf.zone import read_zone
from edgeshift.areas import waf
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence_terms import Evidence
from edgeshift.authority.loading import RootsFiles
from edgeshift.authority.worker_pen import WorkerPen
from edgeshift.campaign.start import zone_policy
from edgeshift.campaign_file.spec import CampaignSpec, ValidationMode
from edgeshift.messages import Change, ChangeResult, Permit, Step, ZoneStart
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Area, Plan, Target, Zone, campaign_id
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.rate_limit.pacing import Pacer
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import Clock, SystemClock
from edgeshift.runtime.settings import Settings
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import EvidenceGathered, gathered_key, put_document
from edgeshift.testbed.invariants.control import Control
from tests.kit import fleet_of
from tests.kit.stored import put_json
from tests.service.simulated import simulated

Body = dict[str, Any]

COUNTED: Body = {
    "events": 40,
    "compared": 40,
    "requests": 40,
    "agreed": 40,
    "false_positives": 0,
    "gaps": 0,
}
"""What a window saw in which both WAFs agreed."""


@dataclass
class Gate:
    """A zone that was read and proposed, and the activity that would change it."""

    connections: Connections
    zone: Zone
    start: ZoneStart
    snapshot: str
    config: str
    body: Body
    control: Control

    async def change(
        self, body: Body, signed: Body, worker: ActivityEnvironment | None = None, **how: Any
    ) -> ChangeResult:
        """Let the activity send ``body``, where people signed ``signed``; ``how``: see ``message``.

        ``worker``: what tells it of its worker, and when it began.
        """
        message = await self.message(body, signed, **how)
        return await (worker or begun()).run(self._activities.change, message)

    async def give_up(self, body: Body, signed: Body, **how: Any) -> bool:
        """Let the same change be given up."""
        message = await self.message(body, signed, **how)
        return (await begun().run(self._activities.give_up, message)).given_up

    async def intend(self, what: str) -> None:
        """What one request of the same change, of several, records before it is sent."""
        change = await self.message(self.body, self.body)
        fence = Fence(self.connections, change, self.connections.clock.monotonic())
        await begun().run(fence.intend, what)

    @property
    def _activities(self) -> MutationActivities:
        work: AreaWork = WafWork(self.connections)
        return MutationActivities(self.connections, {Area.WAF: work})

    async def message(
        self,
        body: Body,
        signed: Body,
        *,
        said: Body | None = None,
        step: Step = Step.COMMIT,
        mode: ValidationMode | None = None,
        config: str | None = None,
        window: timedelta = timedelta(minutes=30),
        waits: timedelta = timedelta(0),
        permit: int = 1,
        name: str = "",
        evidence: str = "",
        read_at: datetime | None = None,
        lasts: timedelta = timedelta(hours=1),
        missing: bool = False,
    ) -> Change:
        """The change that sends ``body``, where people signed ``signed`` and the workflow says ``said``.

        ``config``: what a fresh reading must have, where that is not what the first one had. ``window``: for
        how long it may be sent. ``name``: of the permit, where its caller chooses one.
        ``read_at``: when the zone was read, where that is said. ``lasts``: the permit, from now on.
        ``missing``: names a proposal that is not in the archive.
        """
        named = said or body
        decision = Decision(choice=Choice.APPROVE, digest=digest(signed), by="ann", at=datetime.now(UTC))
        return Change(
            start=self.start,
            step=step,
            permit=Permit(
                number=permit,
                name=name or f"p-{permit}-{digest(body)[:8]}-{step.value}",
                index=0,
                step=step,
                expires_at=datetime.now(UTC) + lasts,
            ),
            snapshot=self.snapshot,
            proposal="0" * 64 if missing else await put_json(self.connections.archive, {"body": body}),
            digest=digest(named),
            fingerprint=fingerprint(named, self.zone),
            config=self.config if config is None else config,
            mode=mode,
            decisions=(decision,),
            window=window,
            waits=waits,
            evidence=evidence,
            read_at=read_at,
        )

    async def validate(self, **how: Any) -> ChangeResult:
        """Let the activity send the form that only logs, which nobody has to sign."""
        return await self.change(self.body, self.body, step=Step.VALIDATE, mode=ValidationMode.SHADOW, **how)

    async def evidence(
        self, verdict: EvidenceVerdict = EvidenceVerdict.PASS, *, gathered: bool = True, **more: Any
    ) -> str:
        """Archive what a window saw in which the rules only logged. ``gathered``: by the worker."""
        now, archive = datetime.now(UTC), self.connections.archive
        said = {"zone": self.zone.id, "proposal": digest(self.body), "mode": "shadow", **more}
        window = {"since": now - timedelta(days=8), "until": now - timedelta(minutes=1)}
        found = Evidence(verdict=verdict, why="", **{**COUNTED, **window, **said})
        stored = await put_document(archive, found)
        if gathered:
            record = EvidenceGathered(run=run_of(self.start), spec=self.start.spec)
            await self.connections.records.create(gathered_key(self.zone, stored), record)
        return stored

    async def sent(self) -> list[tuple[str, bool]]:
        """What the service was sent: the query of each change, and whether its body only logs."""
        journal = await self.control.journal()
        return [(entry["query"], entry["log_only"]) for entry in journal if entry["method"] == "PUT"]


def begun() -> ActivityEnvironment:
    """An activity that begins now."""
    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, started_time=datetime.now(UTC))
    return environment


@asynccontextmanager
async def gate(
    folder: Path,
    *,
    pacer: Pacer | None = None,
    clock: Clock | None = None,
    request_limit: str = "30s",
    roots: RootsFiles | None = None,
    pen: WorkerPen | None = None,
    plan: Plan = Plan.ENTERPRISE,
    settings: Body | None = None,
    simulator: Body | None = None,
    **more: Any,
) -> AsyncIterator[Gate]:
    """A gate before a zone of the simulator. ``pacer``: of the calls of the activity; what comes before it,
    the reading of the zone, waits for no turn. ``roots``, ``pen``: of its worker. ``settings``: of the zone.
    ``simulator``: its options. ``more``: of the campaign's file.
    """
    chosen: list[Pacer] = [Unpaced()]
    fleet = fleet_of({"name": "bank.example", "plan": plan.value, **(settings or {})})
    async with simulated(folder / "simulator", fleet=fleet, **(simulator or {})) as call:
        token = folder / "token"
        token.write_text(fleet.credentials[0].value)
        token.chmod(0o600)
        service = {
            "base_url": call.server.base_url,
            "credentials": [{"token": f"file:{token}"}],
            "request_limit": request_limit,
        }
        spec = CampaignSpec.model_validate(
            {"name": "gate", "targets": {"all": True}, "service": service, **more}
        )
        connections = Connections(
            None,  # type: ignore[arg-type] # nothing is told to a campaign
            Archive(Settings(state_dir=folder / "state").archive),
            clock or SystemClock(),
            lambda credential, campaign: chosen[-1],
            str(folder / "tickets"),
            roots=roots,
            pen=pen,
        )
        found = fleet.zones[0]
        zone = Zone(id=found.id, name=found.name, account=found.account, plan=plan)
        start = ZoneStart(
            campaign=campaign_id("gate"),
            campaign_run="r",
            index=0,
            attempt=1,
            target=Target(zone=zone, wave=0),
            area=Area.WAF,
            spec=await put_json(connections.archive, spec.model_dump(mode="json")),
            policy=zone_policy(spec),
            started_by="olga",
        )
        try:
            reading = await read_zone(await connections.service(start.spec, zone), zone)
            play = Gate(
                connections,
                zone,
                start,
                await archive_snapshot(connections, zone, Area.WAF, reading),
                configuration_digest(reading.config),
                waf.propose(reading).body,
                Control(call.server.control_url),
            )
            await connections.close()
            if pacer is not None:
                chosen.append(pacer)
            yield play
        finally:
            await connections.close()


def ago(hours: float = 0, **more: float) -> datetime:
    """A moment before now, in whole seconds. ``more``: minutes, seconds."""
    return (datetime.now(UTC) - timedelta(hours=hours, **more)).replace(microsecond=0)
