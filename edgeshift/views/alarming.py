"""Gathers what alarms are made of: the doctor's checks, quotas, workflows that do not get on, campaigns with
their zones. Whatever cannot be read is an alarm, and no failure of whoever asks; but one who names a campaign
has to name its archive.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus
from temporalio.service import RPCError

from edgeshift.alarms import CampaignFact, CheckFact, Facts, QuotaFact, StuckFact, ZoneFact
from edgeshift.alarms.of_zones import ENDED
from edgeshift.areas import area_of
from edgeshift.campaign.target_states import AWAITING_WORDS, TargetState
from edgeshift.messages import CampaignStart, ZonePhase, ZoneState
from edgeshift.model.addresses import without_credentials
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.fleet import campaign_id, campaign_name
from edgeshift.operations.calls import ask
from edgeshift.operations.errors import NotFound, OperationError, Refused
from edgeshift.runtime.settings import Settings
from edgeshift.runtime.temporal import FAILS_OFTEN
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import get_document
from edgeshift.views.finding import campaigns, checked_name
from edgeshift.views.gathering import PROPOSED, Known, each, known_campaign, zone_rows
from edgeshift.views.rows import AS_PLACE, ZoneRow
from edgeshift.views.words import one_line

if TYPE_CHECKING:
    from edgeshift.doctor.check import Check
    from edgeshift.quota.by_hand import ByHand

CLOSED_WITHIN = timedelta(days=14)
"""How long campaigns that have closed are told of where none is named."""

MOST_OPEN = 200
"""Open zones of one campaign whose workflow is looked at one by one, and whose proposal is read; how many
there are beyond is told (``CampaignFact.left_out``).
"""

MOST_STEPS = 20
"""Zones at one step for long of which the last failure is looked for in their histories."""

TRIED_FOR = timedelta(minutes=10)
"""How long a step that fails may be tried again before somebody should look."""

_OPEN = (
    "rolling_back",
    "working",
    "ready_validate",
    "ready",
    "permitted",
    "rejecting",
    "expiring",
    "stopping",
)
_OF_ALL = frozenset(
    {
        CheckCode.TEMPORAL,
        CheckCode.SEARCH_ATTRIBUTES,
        CheckCode.RETENTION,
        CheckCode.WORKER,
        CheckCode.ROOTS,
        CheckCode.ROOTS_HERE,
        CheckCode.WORKER_KEYS,
        CheckCode.CLOCK_TEMPORAL,
        CheckCode.ARCHIVE,
        CheckCode.ARCHIVE_RECORDS,
        CheckCode.ARCHIVE_CAMPAIGNS,
    }
)
"""Checks of what every campaign stands on: they are told once, and of no campaign. All others are of a
campaign's file.
"""

_UNFINISHED = (*_OPEN, *AWAITING_WORDS, PROPOSED, "waiting", "support")
_NO_OUTCOME = ENDED | {"failed"}
"""How a zone's workflow ends without an outcome, in Temporal's words. The outcome of one that is completed is
on its way to the campaign.
"""


async def gather(
    settings: Settings, campaign: str | None, *, service: bool = False, roots: Path | None = None
) -> Facts:
    """What is known of this campaign, or of all that run or have closed lately, and of what they stand on.

    ``service``: also what the doctor finds of each campaign's service and credentials, from here. ``roots``:
    the roots file that is known here, which lets that. Raises NotFound for a campaign that there is none of,
    Refused for one that has another archive.
    """
    names = {"ADDRESS": settings.temporal.address, "NAMESPACE": settings.temporal.namespace}
    if without_credentials(settings.archive) == settings.archive:
        names["ARCHIVE"] = settings.archive
    facts = Facts(now=datetime.now(UTC), names=names)
    # Imported late: `status` takes facts of here too, and needs nothing of the doctor's.
    from edgeshift.doctor.checks import check_all, check_temporal
    from edgeshift.quota.by_hand import ByHand

    found, client = await check_temporal(settings)
    if client is None:
        return facts.model_copy(update={"checks": _as_facts(found)})
    archive = _opened(settings.archive)
    chosen = [checked_name(campaign)] if campaign else [name async for name in _lately(client, facts.now)]
    checks = list(_as_facts(await check_all(settings, None)))
    seen = await each(chosen, lambda name: _campaign(client, archive, name, named=bool(campaign)))
    calls = ByHand()
    for fact, start in seen:
        # One that has closed calls nobody any more.
        if fact.status == "running":
            checks += await checks_of(
                settings, archive, fact.name, start, service=service, calls=calls, roots=roots
            )
    stuck, unseen = await _stuck(client, chosen)
    campaigns = (
        fact.model_copy(update={"left_out": max(fact.left_out, unseen.get(fact.name, 0))}) for fact, _ in seen
    )
    return facts.model_copy(
        update={
            "now": datetime.now(UTC),
            "checks": tuple(checks),
            "quotas": () if _is_alone(checks) else await _quotas(client),
            "stuck": stuck,
            "campaigns": tuple(campaigns),
        }
    )


def _opened(url: str) -> Archive | None:
    """The archive, or None for what cannot be one, which is said by its check."""
    try:
        return Archive(url, make=False)
    except ArchiveError:
        return None


def _is_alone(checks: Iterable[CheckFact]) -> bool:
    """Whether no worker is there, so that a question would only wait."""
    return any(check.code is CheckCode.WORKER and check.state == "failed" for check in checks)


def _as_facts(checks: Iterable[Check], campaign: str = "") -> tuple[CheckFact, ...]:
    return tuple(
        CheckFact(
            code=one.code,
            name=one.name,
            state=one.state.value,
            text=one.text,
            fix=one.fix,
            campaign=campaign,
        )
        for one in checks
    )


async def _lately(client: Client, now: datetime) -> AsyncIterator[str]:
    async for execution in campaigns(client):
        if execution.close_time is None or now - execution.close_time < CLOSED_WITHIN:
            yield campaign_name(execution.id)


async def _campaign(
    client: Client, archive: Archive | None, name: str, *, named: bool
) -> tuple[CampaignFact, CampaignStart | None]:
    try:
        known = await known_campaign(client, name)
    except NotFound:
        raise
    except (OperationError, RPCError, ValidationError, RuntimeError, TypeError) as failure:
        # Its own history is not what this version understands.
        return CampaignFact(name=name, trouble=one_line(str(failure), 200)), None
    fact = campaign_fact(known, ())
    if known.summary is None and known.status is WorkflowExecutionStatus.RUNNING:
        # Nobody answers for its zones either, and each question would wait.
        return fact, known.start
    if archive is None:
        return fact, known.start
    try:
        rows = await zone_rows(client, archive, known)
    except Refused as failure:
        if named:
            raise
        return fact.model_copy(update={"elsewhere": one_line(failure.text)}), known.start
    except ArchiveError as failure:
        return fact.model_copy(update={"unreadable": one_line(str(failure))}), known.start
    zones, left_out = await _zones(client, archive, rows)
    return fact.model_copy(update={"zones": tuple(zones), "left_out": left_out}), known.start


def campaign_fact(known: Known, rows: Iterable[ZoneRow]) -> CampaignFact:
    """What is known of a campaign without asking its zones."""
    return CampaignFact(
        name=known.start.name,
        status=known.status.name.lower(),
        spec=known.start.spec,
        archive=known.start.archive,
        summary=known.summary,
        trouble=known.trouble,
        expires_after=known.start.policy.sign_off.expires_after,
        settles_in=_settles_in(known.start),
        step_lasts=_step_lasts(known.start),
        tried_for=TRIED_FOR / known.start.time_scale,
        zones=tuple(_zone_fact(row) for row in rows),
    )


def _zone_fact(row: ZoneRow) -> ZoneFact:
    return ZoneFact(
        name=row.name,
        area=row.area,
        place=row.place,
        reason=row.reason,
        why=tuple(row.causes),
        fingerprint=row.fingerprint,
    )


def _settles_in(start: CampaignStart) -> timedelta:
    return start.lease + start.policy.request_limit + start.policy.lease_margin


def _step_lasts(start: CampaignStart) -> timedelta:
    policy = start.policy
    longest = area_of(start.area).longest_step / start.time_scale
    return 2 * policy.migration_limit + policy.patience + longest


async def _zones(client: Client, archive: Archive, rows: list[ZoneRow]) -> tuple[list[ZoneFact], int]:
    """What alarms make of each row, and how many open zones were not asked."""
    for row in rows:
        if row.status in _NO_OUTCOME and row.place in _UNFINISHED:
            # Its campaign does not know yet that somebody ended its workflow.
            row.place, row.reason = "terminated", row.reason or "its campaign has not noticed yet"
    facts = [_zone_fact(row) for row in rows]
    asked = (*_OPEN, *AWAITING_WORDS, PROPOSED)
    chosen = [
        place for place, row in enumerate(rows) if row.run_id and row.closed_at is None and row.place in asked
    ]
    # Very many may wait for people, of which the campaign tells as much: those that are worked at come first,
    # then those that may have gone on from their sign-off.
    chosen.sort(key=lambda place: (rows[place].place in AWAITING_WORDS, rows[place].place == PROPOSED))
    await each(chosen[:MOST_OPEN], lambda place: _ask_zone(client, archive, rows[place], facts[place]))
    late = datetime.now(UTC) - timedelta(seconds=30)
    slow = [
        place
        for place in chosen
        if rows[place].place in _OPEN and (since := facts[place].since) and since < late
    ]
    await each(slow[:MOST_STEPS], lambda place: _ask_history(client, rows[place], facts[place]))
    return facts, max(0, len(chosen) - MOST_OPEN)


def place_of(place: str, phase: ZonePhase, *, by_list: bool) -> str:
    """Where a zone is that says its phase itself. What its campaign says of it counts, unless ``by_list``:
    its place is known from Temporal's list alone, which tells only whether it has asked for a sign-off.
    """
    if not by_list:
        return place
    if phase is ZonePhase.NEEDS_SUPPORT:
        # The outcome that it may come to is called the same.
        return TargetState.SUPPORT.word
    return AS_PLACE.get(phase.value, phase.value)


async def _ask_zone(client: Client, archive: Archive, row: ZoneRow, fact: ZoneFact) -> None:
    from edgeshift.stores.documents import Proposal

    try:
        handle = client.get_workflow_handle(row.workflow_id, run_id=row.run_id)
        state = await ask(handle, "state", ZoneState, f"{row.kind.value} {row.name}")
        row.place = fact.place = place_of(row.place, state.phase, by_list=row.by_list)
        fact.drifted = bool(state.drifted_from)
        # One that waits for the service waits by right: its campaign says why.
        fact.since = None if state.hold else state.since
        if state.proposal and row.place in AWAITING_WORDS:
            fact.notices = (await get_document(archive, Proposal, state.proposal)).notices
    except (OperationError, ArchiveError) as failure:
        fact.failing = one_line(str(failure), 200)


async def _ask_history(client: Client, row: ZoneRow, fact: ZoneFact) -> None:
    """What the last try of an activity failed with, local or not."""
    handle = client.get_workflow_handle(row.workflow_id, run_id=row.run_id)
    described = await handle.describe()
    for pending in described.raw_description.pending_activities:
        if pending.last_failure.message:
            fact.failing = one_line(pending.last_failure.message, 200)
            return
    async for event in handle.fetch_history_events():
        if event.event_type is EventType.EVENT_TYPE_MARKER_RECORDED:
            # A later success takes the place of an earlier failure.
            failure = event.marker_recorded_event_attributes.failure
            fact.failing = one_line(failure.cause.message or failure.message, 200) if failure.message else ""


async def checks_of(
    settings: Settings,
    archive: Archive | None,
    name: str,
    start: CampaignStart | None,
    *,
    service: bool,
    calls: ByHand | None = None,
    roots: Path | None = None,
) -> tuple[CheckFact, ...]:
    """What the campaign's own file says of tickets and, where asked for, of the service; nothing is looked at
    that the roots here do not let through (``refused_here``). ``calls``: the pace of these calls, which those
    of several campaigns share. ``roots``: the roots file, in place of that of the settings.
    """
    from edgeshift.campaign_file.spec import CampaignSpec
    from edgeshift.doctor.check import Check, State
    from edgeshift.doctor.checks import check_all, check_tickets
    from edgeshift.doctor.let_here import refused_here

    if start is None or archive is None:
        return ()
    try:
        spec = await get_document(archive, CampaignSpec, start.spec)
    except ArchiveError:
        # Said by what cannot be read of the campaign, or of an earlier version.
        return ()
    if why := await refused_here(archive, spec, start.spec, roots or settings.authority.roots):
        asked = [CheckCode.TICKETS, *[CheckCode.SERVICE] * service]
        return _as_facts((Check(code, code.value, State.SKIPPED, why) for code in asked), name)
    if not service:
        return _as_facts([await check_tickets(settings, spec)], name)
    found = await check_all(settings, spec, calls)
    return _as_facts((check for check in found if check.code not in _OF_ALL), name)


async def _quotas(client: Client) -> tuple[QuotaFact, ...]:
    running = [
        item async for item in client.list_workflows("WorkflowType = 'Quota' AND ExecutionStatus = 'Running'")
    ]
    return tuple(one for one in await each(running, lambda item: _quota(client, item)) if one)


async def _quota(client: Client, execution: WorkflowExecution) -> QuotaFact | None:
    from edgeshift.rate_limit.slots import SlotBook

    try:
        handle = client.get_workflow_handle(execution.id)
        book = await ask(handle, "book", SlotBook, execution.id)
    except OperationError:
        # Nobody answers for it: that is said by the checks of workers, or by its task that fails.
        return None
    until = datetime.fromtimestamp(book.blocked_until, UTC)
    service, _, user = execution.id.removeprefix("quota/").partition("/")
    return QuotaFact(user=f"{user} at {service}", workflow=execution.id, blocked_until=until)


async def _stuck(client: Client, names: list[str]) -> tuple[tuple[StuckFact, ...], dict[str, int]]:
    """Workflows of campaigns, quotas and zones whose tasks fail again and again; and by campaign, of how many
    open zones that was not looked at, where there are some.
    """
    query = "ExecutionStatus = 'Running' AND WorkflowType IN ('Campaign', 'Quota')"
    found = [item async for item in client.list_workflows(query)]
    wanted = {campaign_id(name) for name in names}
    chosen = [(item, "") for item in found if item.id in wanted or item.workflow_type == "Quota"]
    unseen: dict[str, int] = {}
    for name in names:
        zones = f"EdgeshiftCampaign = '{name}' AND ExecutionStatus = 'Running' AND WorkflowType != 'Campaign'"
        try:
            some = [(item, name) async for item in client.list_workflows(zones, limit=MOST_OPEN)]
            if len(some) == MOST_OPEN:
                unseen[name] = (await client.count_workflows(zones)).count - MOST_OPEN
        except RPCError:
            # Without its search attribute no zone is found, which is said by the check of those.
            break
        chosen += some
    return tuple(one for one in await each(chosen, lambda pair: _task_of(client, *pair)) if one), unseen


async def _task_of(client: Client, execution: WorkflowExecution, campaign: str) -> StuckFact | None:
    described = await client.get_workflow_handle(execution.id, run_id=execution.run_id).describe()
    attempts = described.raw_description.pending_workflow_task.attempt
    if described.status is not WorkflowExecutionStatus.RUNNING or attempts < FAILS_OFTEN:
        return None
    name = campaign_name(execution.id) if execution.workflow_type == "Campaign" else campaign
    return StuckFact(workflow=execution.id, attempts=attempts, campaign=name)
