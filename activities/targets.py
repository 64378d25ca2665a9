"""Finding a campaign's targets at the service, assessing them, and freezing them into the archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.boundary import (
    come_to,
    heartbeating,
    hold_of,
    named_failures,
    refuse_held,
)
from activities.change.area_work import AreaWork
from activities.change.intent_records import now_of
from activities.circuit import HeldCallActivities
from activities.connections import Connections
from activities.naming import some_of
from activities.proof.listed_targets import ListedTargets
from activities.zone_lists import WithoutAccount, listed_by_all
from edgeshift.areas import area_of
from edgeshift.campaign.callers import callers_of
from edgeshift.campaign.packing import as_text, pack_bits, pack_numbers
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import (
    AssessBatch,
    AssessedBatch,
    AssessmentResult,
    Caller,
    Callers,
    MergeAssessment,
    PlanReport,
    PlanWaits,
    ResolvedTargets,
    ResolveTargets,
    TooLate,
    ZoneAssessment,
)
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import Area, Plan, Target, Zone
from edgeshift.model.reason_texts import text_of
from edgeshift.model.rollout import freeze, plan_waves
from edgeshift.rate_limit.circuit import Trouble
from edgeshift.runtime.secret_refs import CredentialMissing
from edgeshift.service_api import ServiceError
from edgeshift.stores.archive import ArchiveError
from edgeshift.stores.documents import (
    AssessedTargets,
    FrozenTargets,
    PlannedReadings,
    TargetsListed,
    get_document,
    put_document,
)

Made = TypeVar("Made")

LINES_OF_A_PART = 10
"""Lines of a batch's report that are archived together, again with each line that is added to them. Then few
digests say how far a batch has come.
"""

LONGEST_WHY = 200

MOST_WAITS = 20
"""How often one target is read again after its calls were stopped: beyond that, its own reading is refused
although the test calls are answered, and it must not hold up the others.
"""


class TargetActivities:
    """Targets of a campaign."""

    def __init__(
        self, connections: Connections, work: Mapping[Area, AreaWork], waiting: HeldCallActivities
    ) -> None:
        self._connections = connections
        self._work = work
        self._waiting = waiting

    @activity.defn(name="resolve_targets")
    @named_failures
    @heartbeating
    async def resolve(self, message: ResolveTargets) -> ResolvedTargets:
        """List the zones of every credential, take those that the campaign names, freeze them."""
        spec = await self._connections.spec(message.spec)
        too_late = area_of(spec.area).too_late
        zones: dict[str, Zone] = {}
        accounts: dict[str, str] = {}
        unclear: dict[str, WithoutAccount] = {}
        is_over = partial(self._waiting.is_over, spec)
        for client, found in await listed_by_all(self._connections, message.spec, spec, is_over):
            for zone, account in found.zones:
                zones[zone.id] = zone
                accounts[zone.account] = account
            unclear |= {zone.id: zone for zone in found.without}
            if too_late and (gone := too_late(self._connections.time_at(client), spec.service.facts)):
                late = TooLate(code=gone.code)
                raise ApplicationError(text_of(gone), late, type="BadInput", non_retryable=True)
        # One that another credential lists with its account has one.
        without = [zone for key, zone in unclear.items() if key not in zones]
        chosen = choose(spec, list(zones.values()), accounts, without)
        chosen = self._work[spec.area].targets(spec, chosen, list(zones.values()), accounts)
        targets = freeze(chosen, {}, spec.waves)
        frozen = await self._freeze(message.spec, targets)
        said = TargetsListed(at=now_of(self._connections), count=len(targets))
        await ListedTargets(self._connections.records).record(message.spec, targets, said)
        return frozen

    async def _freeze(self, spec_digest: str, targets: list[Target]) -> ResolvedTargets:
        spec = await self._connections.spec(spec_digest)
        frozen = FrozenTargets(tuple(targets))
        digest = await put_document(self._connections.archive, frozen, verify=True)
        return ResolvedTargets(
            targets=digest,
            count=len(targets),
            waves=tuple(plan_waves(spec.waves, len(targets))),
            plans=dict(Counter(target.zone.plan.value for target in targets)),
            enterprise=enterprise_bits(targets),
            covers=covers_of(targets),
            callers=await self._callers(spec_digest, targets),
        )

    async def _callers(self, spec_digest: str, targets: Sequence[Target]) -> Callers:
        """With which credential each target calls, by its account; empty where all call with one."""
        service = (await self._connections.spec(spec_digest)).service
        if len(service.credentials) == 1:
            return Callers()
        found: dict[str, Caller] = {}
        for target in targets:
            if (account := target.zone.account) not in found:
                credential = await self._connections.credential(spec_digest, target.zone)
                found[account] = Caller(credential=credential.reference, user=service.caller(credential))
        return callers_of(found[target.zone.account] for target in targets)

    @activity.defn(name="assess_targets")
    @named_failures
    @heartbeating
    async def assess(self, message: AssessBatch) -> AssessedBatch:
        """Assess a batch of targets by reading alone, and keep what was read. A zone that cannot be read is
        named with its error. Another attempt goes on where this one has come to: heartbeats name the parts of
        the report that are in the archive. Where calls are stopped meanwhile, it waits until they go again,
        and its heartbeats say why. Raises WorkerLacks where this worker does not find the secret.
        """
        targets = await self._connections.targets(message.targets)
        spec = await self._connections.spec(message.spec)
        parts, lines = await self._assessed_before(message)
        waits = floor = 0
        of = message.named
        while len(lines) < len(of):
            index = of[len(lines)]
            try:
                line = await self._assess_one(message.spec, spec, index, targets[index])
            except (ServiceError, CredentialMissing) as failure:
                if (hold := hold_of(failure)) is None or (waits := waits + 1) <= MOST_WAITS:
                    if hold is not None and hold.trouble is Trouble.OUTAGE:
                        floor = drop_unread(parts, lines, floor)
                    await self._wait_out(spec, failure, parts)
                    continue
                line = line_of(index, targets[index], str(failure))
            waits = 0
            if (inside := len(lines) % LINES_OF_A_PART) == 0:
                parts.append("")
            lines.append(line)
            part = AssessedTargets(tuple(lines[-inside - 1 :]))
            parts[-1] = await put_document(self._connections.archive, part)
            come_to(*parts)
        report = AssessedTargets(tuple(lines))
        return AssessedBatch(report=await put_document(self._connections.archive, report))

    async def _assessed_before(self, message: AssessBatch) -> tuple[list[str], list[ZoneAssessment]]:
        """The parts that an earlier attempt has archived, and the lines in them, without the last ones that
        could not be read: an outage may have begun by then, which that attempt may have known of. Where they
        cannot be had, the batch is read anew.
        """
        parts = [told for told in activity.info().heartbeat_details if isinstance(told, str)]
        lines: list[ZoneAssessment] = []
        try:
            for part in parts:
                lines += (await get_document(self._connections.archive, AssessedTargets, part)).root
        except ArchiveError as failure:
            activity.logger.warning("targets are read again: %s", failure)
            return [], []
        drop_unread(parts, lines, 0)
        return parts, lines

    async def _wait_out(self, spec: CampaignSpec, failure: Exception, parts: Sequence[str] = ()) -> None:
        come_to(*parts, PlanWaits(why=str(hold_of(failure) or failure)[:LONGEST_WHY]))
        await self._waiting.wait_out(spec, failure)

    async def _once_calls_go(self, spec: CampaignSpec, make: Callable[[], Awaitable[Made]]) -> Made:
        """What is made with calls, again after each wait where they were stopped."""
        while True:
            try:
                return await make()
            except (ServiceError, CredentialMissing) as failure:
                await self._wait_out(spec, failure)
                come_to()

    async def _assess_one(
        self, digest: str, spec: CampaignSpec, index: int, target: Target
    ) -> ZoneAssessment:
        """A target's line, tried a few times; one zone's trouble does not hold the others up."""
        line, work = line_of(index, target), self._work[spec.area]
        for pause in (0.2, 1.0, 3.0, None):
            try:
                return await work.assess(digest, spec, target, line)
            except ServiceError as failure:
                refuse_held(failure)
                if pause is None:
                    return line_of(index, target, str(failure))
                activity.logger.info("reading %s again: %s", target.zone.name, failure)
                await self._connections.clock.sleep(pause)
        raise AssertionError("the last try has returned")

    @activity.defn(name="merge_assessment")
    @named_failures
    @heartbeating
    async def merge(self, message: MergeAssessment) -> AssessmentResult:
        """One report out of the batches', and the targets anew with canaries of every group. It waits as
        ``assess`` does where calls are stopped.

        Whoever reaches Temporal names any list and any reports. So nothing is recorded here: what
        ``resolve_targets`` has recorded of the zones holds for each order of them, and for no others.
        """
        spec = await self._connections.spec(message.spec)
        lines: list[ZoneAssessment] = []
        for part in message.reports:
            lines += (await get_document(self._connections.archive, AssessedTargets, part)).root
        targets = await self._connections.targets(message.targets)
        lines = one_each(lines, targets)
        group_of = {line.zone.id: line.fingerprint or f"{line.verdict}" for line in lines}
        ordered = freeze([target.zone for target in targets], group_of, spec.waves)
        frozen = await self._once_calls_go(spec, partial(self._freeze, message.spec, ordered))
        places = {target.zone.id: (index, target.wave) for index, target in enumerate(ordered)}
        moved = [
            line.model_copy(update={"index": places[line.zone.id][0], "wave": places[line.zone.id][1]})
            for line in lines
        ]
        moved.sort(key=lambda line: line.index)
        report = PlanReport(
            name=spec.name,
            made_at=self._connections.clock.now(),
            zones=moved,
            service_time=await self._once_calls_go(spec, partial(self._service_time, message.spec, spec)),
        )
        readings = PlannedReadings(tuple(line.reading for line in moved))
        return AssessmentResult(
            readings=await put_document(self._connections.archive, readings, verify=True),
            report=await put_document(self._connections.archive, report),
            targets=frozen.targets,
            count=frozen.count,
            waves=frozen.waves,
            enterprise=frozen.enterprise,
            covers=frozen.covers,
            callers=frozen.callers,
        )

    async def _service_time(self, digest: str, spec: CampaignSpec) -> datetime | None:
        """What time it is at the service, where the area has a date to keep: forecasts are made by it."""
        if area_of(spec.area).too_late is None:
            return None
        client = self._connections.client(digest, spec, spec.service.credentials[0])
        if client.service_time() is None:
            # This worker has asked nothing yet: another one made the assessment.
            await anext(client.zones(), None)
        return self._connections.time_at(client)


def line_of(index: int, target: Target, error: str = "") -> ZoneAssessment:
    """A target's line of a plan before anything is read, or with the error by which it could not be read."""
    return ZoneAssessment(index=index, zone=target.zone, wave=target.wave, error=error[:LONGEST_WHY])


def one_each(lines: Iterable[ZoneAssessment], targets: Sequence[Target]) -> list[ZoneAssessment]:
    """The line of each target. A worker of a version that knows of no batches by credential reads whatever is
    between the first and the last of one: several batches then have a target's line, of which one that could
    be read counts. Raises BadInput where a target has none.
    """
    found: dict[int, ZoneAssessment] = {}
    for line in lines:
        if line.index not in found or found[line.index].error:
            found[line.index] = line
    known = [found[index] for index, target in enumerate(targets) if _is_of(found.get(index), target)]
    if len(known) == len(found) == len(targets):
        return known
    raise ApplicationError(
        f"the plan has read {len(known)} of {counted(len(targets), 'target')}, as where workers of several"
        " versions read them; plan again",
        type="BadInput",
        non_retryable=True,
    )


def _is_of(line: ZoneAssessment | None, target: Target) -> bool:
    return line is not None and line.zone.id == target.zone.id


def drop_unread(parts: list[str], lines: list[ZoneAssessment], floor: int) -> int:
    """Take away the last lines that could not be read, and the parts that were begun with them: the outage
    that is known now had begun by then, and they are read again. The first ``floor`` lines stay. How many may
    not be taken away from now on: no line is taken away twice, as where it is the targets that do not answer.
    """
    read = len(lines)
    while len(lines) > floor and lines[-1].error:
        del lines[-1]
    del parts[-(-len(lines) // LINES_OF_A_PART) :]
    return max(floor, read)


def enterprise_bits(targets: Sequence[Target]) -> str:
    """The bitmap of the Enterprise targets, packed, as text."""
    indexes = (index for index, target in enumerate(targets) if target.zone.plan is Plan.ENTERPRISE)
    return as_text(pack_bits(indexes, len(targets)))


def covers_of(targets: Sequence[Target]) -> str:
    """How many zones each target stands for, packed, as text; empty where each is a zone."""
    if all(target.zone.covers == 1 for target in targets):
        return ""
    return as_text(pack_numbers(min(target.zone.covers, 65_535) for target in targets))


def choose(
    spec: CampaignSpec, zones: Sequence[Zone], accounts: dict[str, str], without: Sequence[WithoutAccount]
) -> list[Zone]:
    """The zones that the campaign names. Raises BadInput naming every name that no zone or account has, and
    each zone without an account that the campaign names, or that may be of an account that it names.
    """
    wanted = spec.targets

    def is_chosen(zone: Zone | WithoutAccount, in_account: bool) -> bool:
        return wanted.takes({zone.id, zone.name}, zone.plan, in_account=in_account)

    if lost := [zone.name for zone in without if is_chosen(zone, bool(wanted.accounts))]:
        raise ApplicationError(
            f"the service lists {counted(len(lost), 'zone')} that the targets name, or may name, without"
            f" {agreed(len(lost), 'its', 'their')} account: {some_of(lost)}; leave"
            f" {agreed(len(lost), 'it', 'them')} out by targets.exclude",
            type="BadInput",
            non_retryable=True,
        )
    every: list[Zone | WithoutAccount] = [*zones, *without]
    known = {key for zone in every for key in (zone.id, zone.name)}
    missing = [name for name in (*wanted.include, *wanted.exclude) if name not in known]
    missing_accounts = [
        name for name in wanted.accounts if name not in accounts and name not in accounts.values()
    ]
    if missing or missing_accounts:
        what = "zone" if missing else "account"
        names = missing or missing_accounts
        shown = some_of(names)
        raise ApplicationError(
            f"{counted(len(names), what)} of the campaign file {agreed(len(names), 'is', 'are')} not known"
            f" to the service, or not to its credentials: {shown}",
            type="BadInput",
            non_retryable=True,
        )

    def is_inside(zone: Zone) -> bool:
        return bool({zone.account, accounts.get(zone.account, "")} & set(wanted.accounts))

    if not (chosen := [zone for zone in zones if is_chosen(zone, is_inside(zone))]):
        raise ApplicationError(
            "no zone is left after include, exclude, accounts and plans", type="BadInput", non_retryable=True
        )
    return chosen
