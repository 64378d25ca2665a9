"""Evidence of validation windows over planted traffic: found, invented, and what plain validation cannot see.

The service is the simulator over HTTP; the client, the shadow and the judging are those of a campaign.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from activities.connections import Connections
from activities.waf.evidence import EvidenceActivities
from activities.waf.zone import read_configuration, runs
from bench.evidence_planted import Compared, Truth, compared, planted_fleet, truth
from bench.figures import show
from edgeshift.areas import waf
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.campaign.start import zone_policy
from edgeshift.campaign_file.spec import CampaignSpec, ValidationMode
from edgeshift.messages import Gathered, GatherEvidence, ZoneStart
from edgeshift.model.digests import canonical_bytes, digest, fingerprint
from edgeshift.model.fleet import Area, Plan, Target, Zone
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import SystemClock
from edgeshift.runtime.settings import Settings
from edgeshift.service_api import ServiceClient
from edgeshift.stores.archive import Archive
from edgeshift.testbed.simulator.fleet_models import FleetZone
from edgeshift.testbed.simulator.fleet_whole import Fleet
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.server import running

SEEDS = (21, 22, 23, 24)
ZONES = 12
WINDOW = timedelta(hours=72)
LATE_SECONDS = 120.0
"""How late the events of the previous WAF show."""

BEGINS = datetime(2023, 10, 2, 8, tzinfo=UTC)
TOKEN = "EDGESHIFT_BENCH_TOKEN"


@dataclass
class Found:
    """What came of many windows of one mode."""

    mode: str
    windows: int = 0
    planted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    named_as_not_seen: int = 0
    invented: int = 0
    requests: int = 0
    events: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)

    def add(self, seen: Evidence, one: Compared) -> None:
        """One window more."""
        self.windows += 1
        self.planted += one.planted
        self.found += one.found
        self.named_as_not_seen += one.named
        self.invented += one.invented
        self.requests += seen.requests
        self.events += seen.compared
        self.verdicts[seen.verdict.value] += 1
        self.complaints += one.complaints


class Time:
    """A source of time for the simulator that passes when it is told to."""

    def __init__(self) -> None:
        self.now = BEGINS

    def __call__(self) -> datetime:
        """The moment."""
        return self.now


@dataclass
class Windows:
    """The windows of one fleet in one mode."""

    fleet: Fleet
    mode: ValidationMode
    folder: Path
    temporal: Client | None
    late_seconds: float = LATE_SECONDS
    window: timedelta = WINDOW

    async def judged(self) -> list[tuple[FleetZone, Evidence, Truth]]:
        """Let every zone be validated over one window, and judge it; each with the truth of it."""
        time = Time()
        options = SimulatorOptions(
            validation_seconds=0, visibility_seconds=0, old_events_late_seconds=self.late_seconds
        )
        async with running(self.fleet, self.folder / "simulator", options=options, clock=time) as served:
            spec = CampaignSpec.model_validate(
                {
                    "name": "evidence",
                    "targets": {"all": True},
                    "service": {
                        "base_url": served.base_url,
                        "credentials": [{"token": _kept(self)}],
                        "request_limit": "1m",
                    },
                    "consents": {"enforce_validation": True},
                }
            )
            archive = Archive(Settings(state_dir=self.folder / "state").archive)
            connections = Connections(
                self.temporal,  # type: ignore[arg-type] # nothing is announced
                archive,
                SystemClock(),
                lambda credential, campaign: Unpaced(),
                str(self.folder / "tickets"),
            )
            start = {
                "campaign": spec.name,
                "campaign_run": "bench",
                "index": 0,
                "attempt": 1,
                "area": Area.WAF,
                "spec": await archive.put_object(canonical_bytes(spec.model_dump(mode="json"))),
                "policy": zone_policy(spec),
                "started_by": "bench",
            }
            try:
                return await self._all(connections, start, time)
            finally:
                await connections.close()

    async def _all(
        self, connections: Connections, start: dict[str, Any], time: Time
    ) -> list[tuple[FleetZone, Evidence, Truth]]:
        bodies: dict[str, dict[str, Any]] = {}
        for one in self.fleet.zones:
            zone = Zone(id=one.id, name=one.name, account=one.account, plan=Plan.ENTERPRISE)
            client = await connections.service(start["spec"], zone)
            bodies[one.id] = await self._validate(client, zone)
        since = time.now
        time.now = since + self.window
        found = []
        activities = EvidenceActivities(connections)
        for one in self.fleet.zones:
            proposal = await connections.archive.put_object(canonical_bytes({"body": bodies[one.id]}))
            gathered = await self._gather(activities, proposal, start, one, bodies[one.id], since, time.now)
            seen = Evidence.model_validate(await connections.archive.get_json(gathered.evidence))
            assert seen.since is not None and seen.until is not None
            found.append((one, seen, truth(one, bodies[one.id], seen.since, seen.until)))
        return found

    async def _validate(self, client: ServiceClient, zone: Zone) -> dict[str, Any]:
        """Send the validation as a campaign does; the body as it would be committed."""
        config = await read_configuration(client, zone)
        body = waf.propose(waf.Reading(check={}, status={}, config=config)).body
        sent = waf.shadow(body) if self.mode is ValidationMode.SHADOW else body
        await client.put_entry_point(zone.id, sent, "validation")
        if not await runs(client, zone, sent):
            raise AssertionError(f"the validation of {zone.name} does not show")
        return body

    async def _gather(
        self,
        activities: EvidenceActivities,
        proposal: str,
        start: dict[str, Any],
        one: FleetZone,
        body: dict[str, Any],
        since: datetime,
        until: datetime,
    ) -> Gathered:
        zone = Zone(id=one.id, name=one.name, account=one.account, plan=Plan.ENTERPRISE)
        message = GatherEvidence(
            start=ZoneStart(target=Target(zone=zone, wave=0), **start),
            since=since,
            until=until,
            mode=self.mode,
            proposal=proposal,
            digest=digest(body),
            fingerprint=fingerprint(body, zone),
            sequence=1,
            announce=False,
        )
        return await ActivityEnvironment().run(activities.gather, message)


def _kept(windows: Windows) -> str:
    """A reference to the fleet's token, which lies beside the simulator's data."""
    path = windows.folder / "token"
    path.write_text(windows.fleet.credentials[0].value)
    path.chmod(0o600)
    return f"file:{path}"


async def judge_fleet(
    fleet: Fleet,
    mode: ValidationMode,
    folder: Path,
    temporal: Client | None = None,
    window: timedelta = WINDOW,
) -> Found:
    """One fleet's windows in one mode, compared with what is planted."""
    found = Found(mode.value)
    for zone, seen, real in await Windows(fleet, mode, folder, temporal, window=window).judged():
        found.add(seen, compared(zone.name, seen, real))
    return found


async def measure(console: Console, client: Client, folder: Path) -> dict[str, Any]:
    """Judge every fleet in both modes."""
    modes = {}
    for mode in ValidationMode:
        whole = Found(mode.value)
        for seed in SEEDS:
            console.print(f"{mode.value}, seed {seed}: {ZONES} zones")
            one = await judge_fleet(planted_fleet(seed, ZONES), mode, folder / f"{mode.value}-{seed}", client)
            for name in ("windows", "named_as_not_seen", "invented", "requests", "events"):
                setattr(whole, name, getattr(whole, name) + getattr(one, name))
            whole.planted += one.planted
            whole.found += one.found
            whole.verdicts += one.verdicts
            whole.complaints += one.complaints
        # dataclasses.asdict makes counts of pairs out of counts.
        modes[mode.value] = {
            key: dict(value) if isinstance(value, Counter) else value for key, value in vars(whole).items()
        }
    return {"seeds": list(SEEDS), "zones": ZONES * len(SEEDS), "modes": modes}


def tell(console: Console, found: dict[str, Any]) -> None:
    """The table of it."""
    for mode, item in found["modes"].items():
        show(
            console,
            f"Evidence, {mode} mode",
            [
                ("windows; events of the two WAFs", f"{item['windows']}; {item['events']}"),
                ("requests stopped", item["requests"]),
                *((f"planted: {kind}", count) for kind, count in sorted(item["planted"].items())),
                *((f"found: {kind}", count) for kind, count in sorted(item["found"].items())),
                ("named as not seen", item["named_as_not_seen"]),
                ("invented", item["invented"]),
                ("verdicts", ", ".join(f"{n} {word}" for word, n in sorted(item["verdicts"].items()))),
                ("complaints", len(item["complaints"])),
            ],
        )
