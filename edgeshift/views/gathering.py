"""Gathers what is known of a campaign and its zones: Temporal's lists, results and queries, and the archive.

The frozen targets name every zone; Temporal's list of workflows says which run and when; the campaign's own
ledger, which a closed campaign leaves in its result, says the place of each zone in a few bytes; results and
queries give reasons. Work is bounded: of very many zones, not each one is asked for its reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)

from edgeshift.areas import area_of
from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import (
    CampaignResult,
    CampaignStart,
    CampaignSummary,
    TargetAt,
    ZonePhase,
    ZoneResult,
    ZoneState,
    reason_of_hold,
)
from edgeshift.model.fleet import Area, Target, ZoneOutcome, campaign_id, migration_id
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, codes_of
from edgeshift.operations.again import zones_at
from edgeshift.operations.archives import check_archive
from edgeshift.operations.calls import ask, the_campaign
from edgeshift.operations.campaigns import campaign_input
from edgeshift.operations.errors import Failed, OperationError, TemporalTrouble, Unreadable
from edgeshift.operations.zones import frozen_targets
from edgeshift.runtime.temporal import FINGERPRINT, PHASE, UNREADABLE, memo_of, origin_in, targets_of
from edgeshift.stores.archive import Archive
from edgeshift.views.closed import closed_summary, ledger_of, places_of
from edgeshift.views.finding import checked_name
from edgeshift.views.parts import VIEWS
from edgeshift.views.rows import LISTED, ZoneRow
from edgeshift.views.words import FINISHED, Kind, look, maybe_unverified, one_line

Item = TypeVar("Item")
Found = TypeVar("Found")
Run = tuple[int, WorkflowExecution]
"""An execution of a target's workflow, and of which attempt it is."""

MOST_PLACES = 5_000
"""Targets whose places a running campaign is asked for; of more, only those that ask something of a person,
and so many at each place.
"""

MOST_ASKED = 500
"""Open zones of one campaign whose own state is asked for; beyond it, what the list says has to do."""

MOST_RESULTS = 5_000
"""Results that are read one by one; beyond it, places come from the campaign's ledger and have no reason."""

UNREAD = "its result was not read, so whether log entries showed the change is not known here"
"""What is said of a zone that may be unverified, where its result was not read."""

MOST_RUNS = 5
"""Earlier runs of a zone that was reset, in which the end that its campaign knows is looked for."""

AT_ONCE = 24
OUTCOMES = frozenset(outcome.value for outcome in ZoneOutcome)
EVERYWHERE = tuple(place.word for place in TargetState)
PROPOSED = "proposed"
"""The place of an open zone that has asked for a sign-off, where Temporal's list alone tells of it."""

_LISTED_AS = {ZonePhase.AWAITING_SIGN_OFF.value: PROPOSED}
"""The search attribute of an open zone's phase as a place; with any other it is being worked at. It stays
when the zone goes on from its sign-off.
"""


@dataclass(frozen=True)
class Known:
    """A campaign as far as it can be known. ``summary`` is None where nobody answers; ``trouble``: why.

    ``places``: where targets are, by index; not each of very many. ``origin``: the first run of all that took
    this start of the campaign up.
    """

    start: CampaignStart
    summary: CampaignSummary | None
    places: Mapping[int, TargetAt]
    status: WorkflowExecutionStatus
    origin: str
    trouble: str = ""

    @property
    def closed(self) -> bool:
        """Whether the campaign has come to its end."""
        return self.status is WorkflowExecutionStatus.COMPLETED


async def known_campaign(client: Client, name: str) -> Known:
    """The campaign of this name. A closed one needs no worker: its result has its ledger. Raises NotFound,
    Unreadable.
    """
    start = await campaign_input(client, checked_name(name))
    handle = client.get_workflow_handle(campaign_id(name), result_type=CampaignResult)
    described = await handle.describe()
    status = described.status or WorkflowExecutionStatus.RUNNING
    origin = _origin(start, described)
    if status is WorkflowExecutionStatus.COMPLETED:
        try:
            result = CampaignResult.model_validate(await handle.result())
        except UNREADABLE as failure:
            raise Unreadable(handle.id, "the result") from failure
        ledger = ledger_of(start, result)
        ended = described.close_time or datetime.now(UTC)
        places = places_of(start, ledger) if ledger else {}
        return Known(start, closed_summary(start, result, ledger, ended), places, status, origin)
    subject = the_campaign(name)
    try:
        places = await _places(client, start)
        # After the places, so that it has the reason of every zone that was left out by then.
        summary = await ask(handle, "summary", CampaignSummary, subject)
        if status is not WorkflowExecutionStatus.RUNNING:
            # What was ended from outside still answers, as it was before.
            summary = summary.model_copy(update={"state": status.name.lower()})
        return Known(start, summary, places, status, origin)
    except (TemporalTrouble, Failed) as error:
        return Known(start, None, {}, status, origin, str(error))


async def _places(client: Client, start: CampaignStart) -> dict[int, TargetAt]:
    """Where a running campaign has its targets, by index. Raises TemporalTrouble, Failed."""
    every = start.count <= MOST_PLACES
    found = await zones_at(client, start.name, EVERYWHERE if every else LISTED, MOST_PLACES)
    targets = found.targets
    # It answers by index. Where not all have room, each place is asked for by itself: the many that wait, or
    # that ended in bulk, would hide a few that failed. Outcomes come last, so that no zone is lost that comes
    # to its end meanwhile.
    for place in LISTED if found.next else ():
        targets += (await zones_at(client, start.name, [place], MOST_PLACES)).targets
    return {target.index: target for target in targets}


def _origin(start: CampaignStart, described: WorkflowExecutionDescription) -> str:
    if start.carried is not None and start.carried.origin:
        return start.carried.origin
    return described.raw_description.workflow_execution_info.first_run_id or described.run_id


def summary_of(known: Known) -> CampaignSummary:
    """The campaign's summary. Raises TemporalTrouble where nobody answers, Failed where it was terminated."""
    if known.summary is not None:
        return known.summary
    if known.status is not WorkflowExecutionStatus.RUNNING:
        words = known.status.name.lower().replace("_", " ")
        raise Failed(f"campaign {known.start.name} was ended from outside ({words})")
    raise TemporalTrouble(known.trouble)


async def zone_rows(client: Client, archive: Archive, known: Known) -> list[ZoneRow]:
    """A row for each target of the campaign, in the order of the indexes. Raises Refused where the campaign
    has another archive, ArchiveError.
    """
    await check_archive(archive, known.start)
    targets = await frozen_targets(archive, known.start.targets)
    runs = await _newest_runs(client, known, targets)
    excluded = _excluded(known.summary) if known.summary else {}
    rows = [
        _row(known.start.area, index, target, runs.get(index, ()), known.places.get(index), excluded)
        for index, target in enumerate(targets)
    ]
    for one in known.summary.told_wrong if known.summary else ():
        if one.shown is not None and 0 <= one.index < len(rows):
            not_so = Reason(code=ReasonCode.NOT_ON_RECORD, state=one.told.value, said=one.said)
            _explain(rows[one.index], not_so)
    closed = [row for row in rows if row.closed_at is not None and look(row.place).kind in FINISHED]
    closed.sort(key=_explained)
    for row in rows:
        row.unread = row.place in OUTCOMES
    await each(closed[:MOST_RESULTS], lambda row: add_result(client, row, runs[row.index]))
    for row in rows:
        if row.unread and not row.reason and maybe_unverified(row.place, row.area):
            row.reason = UNREAD
    still_open = [row for row in rows if row.run_id and row.closed_at is None]
    waiting = [row for row in still_open if row.place in LISTED]
    if area_of(known.start.area).reversible and known.summary is not None:
        # To its campaign, a change that is being undone is one that is watched.
        waiting += [row for row in still_open if row.place == "waiting"]
    await each(waiting[:MOST_ASKED], lambda row: _add_state(client, row))
    return rows


def _explained(row: ZoneRow) -> tuple[bool, bool, bool]:
    """In which order results are read, of which there is a bound: what failed has most to explain, and what
    is done the least. So are most of those whose place the campaign was not asked for.
    """
    kind = look(row.place).kind
    return kind is Kind.DONE, row.by_list, kind is not Kind.FAILED


async def _newest_runs(client: Client, known: Known, targets: Sequence[Target]) -> dict[int, list[Run]]:
    """The runs of each index's attempt, from Temporal's list, the latest first: there are several where the
    workflow was reset, or went on in a new run. Which attempt that is, the campaign's ledger says; where it
    does not name the target, it is the newest. What is not called like the target's workflow is none of it,
    whatever it says of itself, nor is what another start of the campaign began: attempts count from 1 again.
    """
    start = known.start
    found: dict[int, list[Run]] = {}
    async for execution in client.list_workflows(targets_of(start.name)):
        memo = await memo_of(execution) or {}
        index, attempt = memo.get("index"), memo.get("attempt")
        if not isinstance(index, int) or not isinstance(attempt, int) or not 0 <= index < len(targets):
            continue
        if execution.id != migration_id(targets[index].zone, start.area) or origin_in(memo) != known.origin:
            continue
        at = known.places.get(index)
        if at is not None and attempt != at.attempt:
            continue
        found.setdefault(index, []).append((attempt, execution))
    return {index: _latest_first(runs) for index, runs in found.items()}


def _latest_first(runs: list[Run]) -> list[Run]:
    newest = max(attempt for attempt, _ in runs)
    return sorted((run for run in runs if run[0] == newest), key=lambda run: run[1].start_time, reverse=True)


def _row(
    area: Area,
    index: int,
    target: Target,
    runs: Sequence[Run],
    at: TargetAt | None,
    excluded: Mapping[int, Reason],
) -> ZoneRow:
    zone = target.zone
    row = ZoneRow(
        index=index,
        id=zone.id,
        name=zone.name,
        account=zone.account,
        plan=zone.plan.value,
        wave=target.wave,
        place=at.place if at else "pending",
        fingerprint=at.fingerprint if at else "",
        reason=text_of(excluded[index]) if index in excluded else "",
        causes=[excluded[index]] if index in excluded else [],
        area=area,
        kind=zone.kind,
        covers=zone.covers,
    )
    if not runs:
        return row
    attempt, execution = runs[0]
    row.attempt, row.run_id = attempt, execution.run_id
    row.started_at, row.closed_at = execution.start_time, execution.close_time
    row.status = execution.status.name.lower() if execution.status else ""
    row.fingerprint = row.fingerprint or execution.typed_search_attributes.get(FINGERPRINT) or ""
    if at is None:
        row.place = listed_as(execution.status, execution.typed_search_attributes.get(PHASE))
        row.by_list = True
    return row


def _excluded(summary: CampaignSummary) -> dict[int, Reason]:
    codes = summary.excluded_codes
    return {
        index: Reason(code=codes.get(index, ReasonCode.OTHER), words=words)
        for index, words in summary.excluded.items()
    }


def listed_as(status: WorkflowExecutionStatus | None, phase: str | None) -> str:
    """A zone's place as far as Temporal's list tells it: its workflow's status, and its search attribute."""
    match status:
        case WorkflowExecutionStatus.RUNNING | None:
            return _LISTED_AS.get(phase or "", "working")
        case WorkflowExecutionStatus.COMPLETED:
            return "closed"
        case other:
            return other.name.lower()


async def add_result(client: Client, row: ZoneRow, runs: Sequence[Run] = ()) -> None:
    """Add what the zone came to. The campaign's word of that stands where somebody has reset the zone since.
    ``runs``: of its newest attempt, as far as they are known.
    """
    ended = [run.run_id for _, run in runs if run.status is WorkflowExecutionStatus.COMPLETED]
    for run_id in [row.run_id, *(other for other in ended[:MOST_RUNS] if other != row.run_id)]:
        handle = client.get_workflow_handle(row.workflow_id, run_id=run_id, result_type=ZoneResult)
        try:
            result = ZoneResult.model_validate(await handle.result(follow_runs=False))
        except WorkflowFailureError as error:
            _explain(row, Reason(code=ReasonCode.WORKFLOW_ENDED, said=one_line(str(error.cause))))
            return
        except UNREADABLE:
            # Somebody else's, started in the zone's name: the campaign's word stands.
            continue
        told = ReasonCode.ATTEMPT_OVER in codes_of(result.why)
        if row.place in OUTCOMES and (row.place != result.outcome.value or told):
            _explain(row, *result.explained)
            continue
        row.place, row.reason = result.outcome.value, one_line(result.reason)
        row.causes, row.unread = list(result.explained), False
        row.digest, row.record = result.digest, result.record
        row.fingerprint = result.fingerprint or row.fingerprint
        return


def _explain(row: ZoneRow, *why: Reason) -> None:
    """Why it is where it is, unless that is known."""
    if not row.reason:
        row.reason, row.causes = one_line(text_of(*why)), list(why)


async def _add_state(client: Client, row: ZoneRow) -> None:
    handle = client.get_workflow_handle(row.workflow_id, run_id=row.run_id)
    try:
        state = await ask(handle, "state", ZoneState, f"{row.kind.value} {row.name}")
    except OperationError as error:
        row.reason = one_line(error.text)
        return
    if state.phase is ZonePhase.ROLLING_BACK:
        row.place = "rolling_back"
    row.digest, row.fingerprint, row.tickets = state.digest, state.fingerprint, list(state.tickets)
    verdict = VIEWS.of(row.area).evidence(state.evidence_verdict) if state.evidence_verdict else ""
    waits = [f"waits: {state.hold}"] if state.hold else []
    row.causes = [*([reason_of_hold(state.hold)] if state.hold else []), *state.why]
    row.reason = one_line("; ".join([*waits, *state.reasons, *([verdict] if verdict else [])]))


async def each(items: Iterable[Item], work: Callable[[Item], Awaitable[Found]]) -> list[Found]:
    """Do ``work`` for each item, some at a time; the results in their order."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(item: Item) -> Found:
        async with gate:
            return await work(item)

    return list(await asyncio.gather(*(one(item) for item in items)))
