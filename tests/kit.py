"""A scene for tests: the real simulator over HTTP, real workers on a real Temporal, a campaign, its people.

Whoever plays a scene ends it with ``check_rules``: the witnesses judge every rule that it has a case of.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

from edgeshift.archive import Archive
from edgeshift.campaign_spec import CampaignSpec
from edgeshift.campaign_start import campaign_start
from edgeshift.clock import Clock
from edgeshift.fleet import Area, Target, ZoneOutcome, campaign_id
from edgeshift.ledger import Ledger, Packed, Place
from edgeshift.messages import (
    Again,
    Answer,
    CampaignResult,
    CampaignSignOff,
    CampaignStart,
    CampaignSummary,
    Person,
    ResolvedTargets,
    ResolveTargets,
    SupportResolved,
    ZoneResult,
    ZoneState,
)
from edgeshift.service_api import Unpaced
from edgeshift.settings import Settings, WorkerSettings
from edgeshift.sign_off import Choice, Decision
from edgeshift.simulator.fleet_file import Fleet
from edgeshift.simulator.options import SimulatorOptions
from edgeshift.simulator.server import RunningSimulator, running
from edgeshift.witness import RuleCheck, WitnessInput, check_rules
from edgeshift.witness.archived import ArchiveFolder
from edgeshift.witness.control import Control
from edgeshift.witness.executions import load_executions, load_holds
from edgeshift.witness.kept import load_secrets
from edgeshift.witness.leaks import scan
from edgeshift.witness.seen import CampaignFacts, Execution, Signature, StopRecord, Word
from edgeshift.witness.service import load_journal, load_rate_limit, load_zones
from edgeshift.witness.ticketed import load_tickets
from worker.wiring import workers

Result = TypeVar("Result")

SCALE = 14_400.0
"""Of scenes on a server that does not skip time: four hours a second."""

BEFORE_REMOVAL = "2023-10-02T08:00:00Z"
"""What the simulator says the time is in scenes of esc, unless they say it themselves."""

BUCKET = "request-logs"
"""The bucket that log jobs push to, as a fleet's ``s3://request-logs/ZONE?region=eu-west-1``."""

OPERATOR = "olga"
APPROVER = "ann"


def fleet_of(*zones: dict[str, Any], **more: Any) -> Fleet:
    """A fleet of these zones, as a fleet file would have them, in one account with one token."""
    return Fleet.model_validate({"zones": list(zones), **more})


class SkippedClock:
    """The clock of a time-skipping server, for activities and simulator alike.

    Sleeping in an activity moves this clock on and takes no time: the server does not skip while one runs.
    """

    def __init__(self, env: WorkflowEnvironment) -> None:
        self._env = env
        self._ahead = timedelta(0)
        self._seen = datetime.now(UTC)

    def now(self) -> datetime:
        """The server's time as last seen, and what activities have slept through since."""
        return self._seen + self._ahead

    def monotonic(self) -> float:
        """Seconds of the same clock."""
        return self.now().timestamp()

    async def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        await asyncio.sleep(0)
        self._ahead += timedelta(seconds=seconds)

    async def skip(self, duration: timedelta) -> None:
        """Let the server skip so much time, as far as it can."""
        await self._env.sleep(duration)

    async def refresh(self) -> None:
        """Look at the server's clock; once it has passed what activities slept through, it counts alone."""
        present, server = self.now(), await self._env.get_current_time()
        self._seen, self._ahead = server, max(timedelta(0), present - server)


class Refreshing(Interceptor):
    """Looks at the server's clock before each activity."""

    def __init__(self, clock: SkippedClock) -> None:
        self._clock = clock

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """The interceptor of one worker's activities."""
        clock = self._clock

        class Inbound(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> Any:
                await clock.refresh()
                return await super().execute_activity(input)

        return Inbound(next)


@dataclass
class Scene:
    """A simulator, workers and a campaign, with a record of what its people did."""

    client: Client
    simulator: RunningSimulator
    folder: Path
    fleet: Fleet
    settings: Settings
    spec: CampaignSpec
    archive: Archive
    start: CampaignStart | None = None
    targets: list[Target] = field(default_factory=list)
    signatures: list[Signature] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    stops: list[StopRecord] = field(default_factory=list)
    strangers: frozenset[str] = frozenset()
    lists: bool = True
    clock: SkippedClock | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    # --- the campaign

    @property
    def control(self) -> Control:
        """The simulator's control API."""
        return Control(self.simulator.control_url)

    @property
    def campaign(self) -> WorkflowHandle[Any, CampaignResult]:
        """The campaign's workflow."""
        return self.client.get_workflow_handle(campaign_id(self.spec.name), result_type=CampaignResult)

    async def begin(self) -> None:
        """Freeze the targets and start the campaign."""
        digest = await self.archive.put_json(self.spec.model_dump(mode="json"))
        frozen = await self.client.execute_workflow(
            "Freeze",
            ResolveTargets(spec=digest),
            id=f"targets/{self.spec.name}",
            task_queue="edgeshift",
            result_type=ResolvedTargets,
        )
        self.start = campaign_start(
            self.spec,
            digest,
            targets=frozen.targets,
            count=frozen.count,
            waves=frozen.waves,
            enterprise=frozen.enterprise,
            covers=frozen.covers,
            started_by=OPERATOR,
        )
        self.targets = [Target.model_validate(item) for item in await self.archive.get_json(frozen.targets)]
        await self.client.start_workflow(
            "Campaign", self.start, id=campaign_id(self.spec.name), task_queue="edgeshift"
        )

    async def summary(self) -> CampaignSummary:
        """The campaign as it stands."""
        found: CampaignSummary = await self.campaign.query("summary", result_type=CampaignSummary)
        return found

    async def is_closed(self) -> bool:
        """Whether the campaign's workflow has ended by itself, as the server says."""
        described = await self.campaign.describe()
        ended_by_hand = described.status is WorkflowExecutionStatus.TERMINATED
        return described.close_time is not None and not ended_by_hand

    async def excluded(self) -> set[int]:
        """The targets that the campaign left to others; of a closed one, out of its result."""
        if not await self.is_closed():
            return set((await self.summary()).excluded)
        return set((await self._ledger()).indexes(Place.EXCLUDED))

    async def _ledger(self) -> Ledger:
        """What the closed campaign has of its targets."""
        result = await self.result()
        ledger = Ledger(len(self.targets), self.now(), timedelta(seconds=1))
        ledger.unpack(Packed.model_validate(json.loads(result.carried)["ledger"]))
        return ledger

    async def named(self) -> dict[str, str]:
        """The outcomes that the closed campaign gives its targets, by their identifiers: its only word of
        those whose workflows somebody ended by hand.
        """
        if not await self.is_closed():
            return {}
        places, outcomes = (await self._ledger()).places, {one.value for one in ZoneOutcome}
        found = {}
        for index, target in enumerate(self.targets):
            if (name := Place(places[index]).name.lower()) in outcomes:
                found[target.zone.id] = name
        return found

    async def _executions(self) -> tuple[Execution, ...]:
        """Every execution. One that was ended by hand, after which none was begun, has the outcome under
        which the campaign names it.
        """
        found, named = await load_executions(self.client), await self.named()
        last = {one.zone: one.run for one in sorted(found, key=lambda one: one.started_at)}
        return tuple(
            one.model_copy(update={"outcome": named.get(one.zone)})
            if one.closed_at and one.outcome is None and last[one.zone] == one.run
            else one
            for one in found
        )

    async def result(self) -> CampaignResult:
        """The campaign's end."""
        return await self._ended(self.campaign)

    async def until(self, holds: Callable[[CampaignSummary], bool], within: float = 60.0) -> CampaignSummary:
        """The summary once ``holds`` says yes. Fails after ``within`` real seconds."""
        limit = asyncio.get_running_loop().time() + within
        while True:
            found = await self.summary()
            if holds(found):
                return found
            if asyncio.get_running_loop().time() > limit:
                raise AssertionError(f"not within {within:g} s; places {found.places}, notes {found.notes}")
            await asyncio.sleep(0.1)

    async def ask(
        self, update: Literal["pause", "resume", "abort"], reason: str = "", key: str | None = None
    ) -> Answer:
        """Pause, resume or abort, and keep a record of when it was asked and answered. What is asked again
        with the same ``key`` is done once.
        """
        asked = self.now()
        answer: Answer = await self.campaign.execute_update(
            update, Person(by=OPERATOR, reason=reason), id=key, result_type=Answer
        )
        if update == "resume":
            if self.stops:
                self.stops[-1] = self.stops[-1].model_copy(update={"resumed_at": asked})
        else:
            self.stops.append(
                StopRecord(
                    campaign=self.spec.name, kind=update, by=OPERATOR, asked_at=asked, answered_at=self.now()
                )
            )
        return answer

    async def _ended(self, handle: WorkflowHandle[Any, Result]) -> Result:
        """A workflow's result. On skipped time the end is looked for, since the long poll of that server
        may come back empty on a busy machine.
        """
        if self.clock is not None:
            for _ in range(5_000):
                if (await handle.describe()).close_time is not None:
                    break
                await self.clock.skip(timedelta(minutes=2))
        return await handle.result()

    # --- zones

    def index(self, name: str) -> int:
        """A zone's index by its name."""
        return next(index for index, target in enumerate(self.targets) if target.zone.name == name)

    def zone_id(self, name: str) -> str:
        """A zone's identifier by its name, or an account's."""
        accounts = {account.name: account.id for account in self.fleet.accounts}
        return accounts.get(name) or next(zone.id for zone in self.fleet.zones if zone.name == name)

    def zone(self, name: str) -> WorkflowHandle[Any, ZoneResult]:
        """The workflow of a zone or an account by its name."""
        kind = "account" if any(account.name == name for account in self.fleet.accounts) else "zone"
        identifier = f"{kind}/{self.zone_id(name)}/{self.spec.area.value}"
        return self.client.get_workflow_handle(identifier, result_type=ZoneResult)

    async def state(self, name: str) -> ZoneState:
        """A zone's state."""
        found: ZoneState = await self.zone(name).query("state", result_type=ZoneState)
        return found

    async def zone_until(
        self, name: str, holds: Callable[[ZoneState], bool], within: float = 60.0
    ) -> ZoneState:
        """A zone's state once ``holds`` says yes."""
        limit = asyncio.get_running_loop().time() + within
        while True:
            try:
                found = await self.state(name)
                if holds(found):
                    return found
            except Exception as why:
                found = why  # type: ignore[assignment]
            if asyncio.get_running_loop().time() > limit:
                raise AssertionError(f"{name} not within {within:g} s: {found}")
            await asyncio.sleep(0.1)

    async def outcome(self, name: str) -> ZoneOutcome:
        """A zone's outcome, once it has one."""
        return (await self._ended(self.zone(name))).outcome

    # --- people

    async def sign(
        self,
        fingerprints: Iterable[str],
        choice: Choice = Choice.APPROVE,
        by: str = APPROVER,
        reason: str = "",
    ) -> Answer:
        """Decide on fingerprints by the campaign's update."""
        message = CampaignSignOff(choice=choice, fingerprints=tuple(fingerprints), by=by, reason=reason)
        at = self.now()
        answer: Answer = await self.campaign.execute_update("sign_off", message, result_type=Answer)
        for fingerprint in message.fingerprints:
            self.signatures.append(Signature(by=by, choice=choice.value, digest=fingerprint, at=at))
        return answer

    async def sign_zone(
        self,
        name: str,
        choice: Choice = Choice.APPROVE,
        by: str = APPROVER,
        digest: str | None = None,
        *,
        plain: bool = True,
    ) -> None:
        """Decide on one zone's digest, by the plain signal or by the update."""
        found = digest or (await self.state(name)).digest
        at = self.now()
        decision = Decision(choice=choice, digest=found, by=by, reason="read")
        if plain:
            await self.zone(name).signal("sign_off", decision)
        else:
            await self.zone(name).execute_update("decide", decision, result_type=Answer)
        self.signatures.append(
            Signature(by=by, choice=choice.value, digest=found, at=at, zone=self.zone_id(name))
        )

    async def sign_what_waits(self) -> bool:
        """Approve every fingerprint and every single zone that waits; whether the campaign is still open."""
        if await self.is_closed():
            return False
        summary = await self.summary()
        waiting = [item for item in summary.waiting if item.zones > item.separate]
        signed = {signature.digest for signature in self.signatures}
        if fresh := [item.fingerprint for item in waiting if item.fingerprint not in signed]:
            await self.sign(fresh)
        for target in self.targets if any(item.separate for item in summary.waiting) else ():
            try:
                state = await self.state(target.zone.name)
            except Exception:
                continue
            if state.phase == "awaiting_sign_off" and state.digest not in signed:
                await self.sign_zone(target.zone.name)
        return summary.state != "closed"

    async def sign_everything(self, within: float = 90.0) -> CampaignResult:
        """Approve whatever comes to wait, until the campaign closes; its end."""

        async def work() -> None:
            open_still = True
            while open_still:
                await asyncio.sleep(0.2)
                open_still = await self.sign_what_waits()

        await asyncio.wait_for(work(), within)
        return await self.result()

    async def again(self, verb: Literal["retry", "reopen"], *names: str) -> Answer:
        """Begin zones again, and keep a record of it."""
        self.words += [Word(by=OPERATOR, at=self.now(), zone=self.zone_id(name)) for name in names]
        message = Again(by=OPERATOR, indexes=tuple(self.index(name) for name in names))
        answer: Answer = await self.campaign.execute_update(verb, message, result_type=Answer)
        return answer

    async def resolve_support(self, name: str) -> None:
        """Tell a zone that support has mended it."""
        self.words.append(Word(by="sam", at=self.now(), zone=self.zone_id(name)))
        await self.zone(name).signal("support_resolved", SupportResolved(by="sam"))

    # --- the edge, its logs, and strangers

    async def oracle(self, name: str) -> dict[str, Any]:
        """What is planted in a zone, which settings are in force at the edge, and their history."""
        found: dict[str, Any] = await self.control.get(f"edge/zones/{self.zone_id(name)}")
        return found

    async def is_off(self, name: str) -> bool:
        """Whether the edge serves the zone without Edge Side Code."""
        return bool((await self.oracle(name))["off"])

    async def traffic(self, *names: str, count: int = 40, **more: Any) -> None:
        """Let visitors of the zones make requests, and the log jobs push what they have logged of them."""
        zones = list(names) or [zone.name for zone in self.fleet.zones if zone.status == "active"]
        await self.control.send("POST", "edge/requests", {"zones": zones, "count": count, **more})
        await self.control.send("POST", "logs/flush")

    async def stranger(self, name: str, rules: list[dict[str, Any]], **when: Any) -> None:
        """Let somebody else write the zone's custom log fields, now or around a call of the campaign's."""
        path = f"zones/{self.zone_id(name)}/rulesets/http_log_custom_fields/write"
        await self.control.send("POST", path, {"rules": rules, **when})

    # --- witnesses

    async def journal(self, call: str = "", zone: str = "") -> list[dict[str, Any]]:
        """The simulator's journal: entries of a call and of a zone, where named."""
        identifier = self.zone_id(zone) if zone else ""
        return [
            entry
            for entry in await self.control.journal()
            if (not call or entry["call"] == call) and (not identifier or entry["zone"] == identifier)
        ]

    async def commits(self, zone: str = "") -> list[dict[str, Any]]:
        """The commits that the service saw."""
        entries = await self.journal("entrypoint.put", zone)
        return [entry for entry in entries if re.search(r"waf_migration=(pending|1)\b", entry["query"])]

    async def witnesses(self, searched: Sequence[Path] = ()) -> WitnessInput:
        """Everything that the witnesses saw of the scene."""
        scaled = self.spec.scaled()
        archive = await asyncio.to_thread(ArchiveFolder, self.folder / "state" / "archive")
        assert self.start is not None
        zones = archive.targets(self.start.targets)
        data = self.folder / "simulator"
        secrets = {credential.label: credential.value for credential in self.fleet.credentials}
        secrets |= await asyncio.to_thread(load_secrets, data)
        scans = scan(self.folder / "state" / "archive", secrets, sighting=zones[0])
        for path in searched:
            scans += scan(path, secrets)
        return WitnessInput(
            journal=await load_journal(self.control, self.strangers),
            campaigns=(
                CampaignFacts(
                    name=self.spec.name,
                    zones=frozenset(zones),
                    window=scaled.window,
                    required=scaled.sign_off.required,
                    valid_for=scaled.sign_off.valid_for,
                    sending=scaled.commit.send_window + scaled.service.request_limit,
                    resend_unchanged=scaled.commit.resend_unchanged,
                    migration_limit=scaled.commit.migration_limit,
                    aborted=any(stop.kind == "abort" for stop in self.stops),
                    area=self.spec.area.value,
                ),
            ),
            signatures=tuple(self.signatures),
            words=tuple(self.words),
            stops=tuple(self.stops),
            snapshots=archive.snapshots(),
            tickets=load_tickets(self.folder / "state" / "tickets"),
            scans=tuple(scans),
            secrets=len(secrets),
            zones=await load_zones(
                self.control, data, {account.id: account.name for account in self.fleet.accounts}
            ),
            bodies=archive.bodies(),
            intents=archive.intents(),
            holds=await load_holds(self.client) if self.lists else (),
            rate_limit=await load_rate_limit(self.control),
            targets={self.spec.name: zones},
            excluded={self.spec.name: frozenset(zones[index] for index in await self.excluded())},
            executions=await self._executions() if self.lists else await self._described(),
        )

    async def _described(self) -> tuple[Execution, ...]:
        """Each zone's last execution, where the server cannot list them."""
        found = []
        for target in self.targets:
            handle = self.zone(target.zone.name)
            described = await handle.describe()
            closed = described.close_time is not None
            found.append(
                Execution(
                    run=described.run_id or "",
                    campaign=self.spec.name,
                    zone=target.zone.id,
                    started_at=described.start_time,
                    closed_at=described.close_time,
                    outcome=(await handle.result()).outcome.value if closed else None,
                    area=self.spec.area.value,
                )
            )
        return tuple(found)

    async def check_rules(self, absent: Iterable[int] = (), searched: Sequence[Path] = ()) -> list[RuleCheck]:
        """Let the witnesses judge every rule; ``absent``: those that the scene has no case of."""
        checks = check_rules(await self.witnesses(searched), absent=frozenset(absent))
        broken = [
            f"rule {check.rule} ({check.title}): {text}" for check in checks for text in check.violations
        ]
        assert not broken, "\n".join(broken)
        return checks


@asynccontextmanager
async def scene(
    client: Client,
    folder: Path,
    fleet: Fleet,
    *,
    clock: SkippedClock | None = None,
    time_scale: float = SCALE,
    simulator: dict[str, Any] | None = None,
    serve: bool = True,
    paced: bool = False,
    interceptors: Sequence[Interceptor] = (),
    worker: dict[str, Any] | None = None,
    begin: bool = True,
    **spec: Any,
) -> AsyncIterator[Scene]:
    """Set a scene: the simulator and, where ``serve`` says so, workers in this process; start the campaign.

    ``spec``: fields of the campaign beyond its name, targets and service. ``simulator``: its options.
    ``clock``: of a time-skipping server; then nothing is scaled, and nothing paced. In the area esc the
    simulator's clock says a day well before the removal, and the probe goes to its edge; in log-fields,
    entries and ownership challenges are read from its buckets, and ``job`` of ``log_fields`` may be ``True``
    for a job that pushes there.
    """
    area = Area(spec.get("area", "waf"))
    scale = 1.0 if clock else time_scale
    options: dict[str, Any] = {"time_scale": scale, "migration_seconds": 1800, "validation_seconds": 60}
    options |= {"visibility_seconds": 300}
    options |= {"clock": BEFORE_REMOVAL} if area is Area.ESC else {}
    options |= simulator or {}
    async with AsyncExitStack() as staged:
        time_source = clock.now if clock else None
        served = await staged.enter_async_context(
            running(fleet, folder / "simulator", options=SimulatorOptions(**options), clock=time_source)
        )
        credentials, used = [], set()
        for number, credential in enumerate(item for item in fleet.credentials if item.kind == "token"):
            variable = f"EDGESHIFT_TEST_TOKEN_{uuid.uuid4().hex[:12].upper()}"
            os.environ[variable] = credential.value
            used.add(credential.label)
            staged.callback(os.environ.pop, variable, None)
            accounts = [fleet.accounts[number].id] if len(fleet.accounts) > 1 else []
            credentials.append(
                {"token": f"env:{variable}", "user": f"u{uuid.uuid4().hex[:8]}", "accounts": accounts}
            )
            if number + 1 == len(fleet.accounts):
                break
        described = {
            "name": f"t-{uuid.uuid4().hex[:10]}",
            "targets": {"all": True},
            "service": {"base_url": served.base_url, "credentials": credentials},
            "time_scale": scale,
            "advance": {"percent": 1, "failures": 1000},
        }
        settings = Settings(
            state_dir=folder / "state",
            worker=WorkerSettings(workflow_pollers=5, activity_pollers=5, **(worker or {})),
        )
        found = Scene(
            client=client,
            simulator=served,
            folder=folder,
            fleet=fleet,
            settings=settings,
            spec=CampaignSpec.model_validate(described | spec | _own_part(area, spec, served, staged)),
            archive=Archive(settings.archive),
            strangers=frozenset(credential.label for credential in fleet.credentials) - used,
            lists=clock is None,
            clock=clock,
            now=clock.now if clock else lambda: datetime.now(UTC),
        )
        if serve:
            await staged.enter_async_context(
                workers(
                    client,
                    settings,
                    clock=clock,
                    pacer=None if paced else lambda credential, campaign: Unpaced(),
                    quota=paced,
                    grace=timedelta(seconds=5),
                    mends_every=3600.0 if clock else 1.0,
                    interceptors=[*([Refreshing(clock)] if clock else []), *interceptors],
                )
            )
            if begin:
                await found.begin()
        yield found


def _own_part(
    area: Area, spec: dict[str, Any], served: RunningSimulator, staged: AsyncExitStack
) -> dict[str, Any]:
    """The section of the campaign's area, with what it needs of the simulator."""
    if area is Area.ESC:
        given = spec.get("esc", {})
        return {"esc": {**given, "probe": {"edge": served.edge_url, **given.get("probe", {})}}}
    if area is Area.LOG_FIELDS:
        bucket = (served.state.logs.buckets / "s3" / BUCKET).absolute().as_uri()
        given = {"entries": f"{bucket}/{{zone}}", **spec.get("log_fields", {})}
        if given.get("job") is True:
            variable = f"EDGESHIFT_TEST_DESTINATION_{uuid.uuid4().hex[:12].upper()}"
            secret = f"&secret-access-key={uuid.uuid4().hex}"
            os.environ[variable] = f"s3://{BUCKET}/{{zone}}?region=eu-west-1{secret}"
            staged.callback(os.environ.pop, variable, None)
            given["job"] = {"destination": f"env:{variable}", "challenge": bucket}
        return {"log_fields": given}
    return {}


async def eventually(holds: Callable[[], Awaitable[bool]], within: float = 30.0, what: str = "") -> None:
    """Return once ``holds`` says yes. Fails after ``within`` real seconds."""
    limit = asyncio.get_running_loop().time() + within
    while not await holds():
        if asyncio.get_running_loop().time() > limit:
            raise AssertionError(f"not within {within:g} s: {what}")
        await asyncio.sleep(0.1)


__all__ = [
    "APPROVER",
    "BEFORE_REMOVAL",
    "BUCKET",
    "OPERATOR",
    "SCALE",
    "Clock",
    "Scene",
    "SkippedClock",
    "eventually",
    "fleet_of",
    "scene",
]
