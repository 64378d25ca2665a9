"""Plans that are kept: started as they were made, and compared with what was read later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus

from edgeshift.areas.assessment import Verdict
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import AssessmentResult, PlanReport, ZoneAssessment
from edgeshift.model.counts import agreed, counted
from edgeshift.model.durations import say_duration
from edgeshift.model.fleet import assessment_id
from edgeshift.model.sign_off import Digest
from edgeshift.operations.calls import errors_for_people
from edgeshift.operations.campaigns import Frozen, describe, frozen_by
from edgeshift.operations.errors import BadInput, Refused
from edgeshift.runtime.temporal import UNREADABLE, memo_of
from edgeshift.stores.archive import Archive, ArchiveCorrupt, ArchiveMissing
from edgeshift.stores.documents import get_document, put_document

_SAME_ARCHIVE = (
    "name the archive in which it was made (--archive URL or EDGESHIFT_ARCHIVE_URL), or plan again"
)

FEW = 3
"""Zones and options that are named of each kind of change."""


class KeptPlan(BaseModel):
    """A plan in the archive: ``spec``, the digest of the campaign file that it is of, and what came of it."""

    spec: Digest
    made_at: datetime
    result: AssessmentResult

    @property
    def frozen(self) -> Frozen:
        """Its targets, for a campaign."""
        return frozen_by(self.result, self.made_at)


async def keep_plan(archive: Archive, spec: str, report: PlanReport, result: AssessmentResult) -> str:
    """Archive a plan; its digest, by which a campaign can be started as it was planned."""
    plan = KeptPlan(spec=spec, made_at=report.made_at, result=result)
    return await put_document(archive, plan, verify=True)


async def kept_plan(archive: Archive, digest: str) -> tuple[KeptPlan, CampaignSpec]:
    """A plan and the campaign file that it is of, out of the archive. Raises Refused where they are not
    there, ArchiveUnavailable.
    """
    try:
        plan = await get_document(archive, KeptPlan, digest)
    except (ArchiveMissing, ArchiveCorrupt) as why:
        raise Refused(
            f"the plan cannot be read from the archive: {why}",
            _SAME_ARCHIVE,
        ) from None
    return plan, await kept_spec(archive, plan.spec)


async def kept_spec(archive: Archive, digest: str) -> CampaignSpec:
    """A campaign file that was planned. Raises Refused where it is not there, ArchiveUnavailable."""
    try:
        return await get_document(archive, CampaignSpec, digest)
    except (ArchiveMissing, ArchiveCorrupt) as why:
        raise Refused(
            f"the campaign file of the plan cannot be read from the archive: {why}", _SAME_ARCHIVE
        ) from None


def check_fresh(plan: KeptPlan, spec: CampaignSpec, now: datetime) -> None:
    """Raises Refused where a plan is older than its campaign's ``plan.fresh``."""
    if not plan.frozen.is_fresh(now, spec.plan.fresh):
        age = say_duration(max(now - plan.made_at, timedelta(0)))
        raise Refused(
            f"the plan was made {age} ago, and plan.fresh is {say_duration(spec.plan.fresh)}",
            "plan again: zones may have changed since",
        )


def check_same(file: CampaignSpec, planned: CampaignSpec) -> None:
    """Raises BadInput where a campaign file is not the one that was planned, with the options that differ."""
    if options := differing(file, planned):
        named = ", ".join(options[:FEW]) + (f" and {len(options) - FEW} more" if len(options) > FEW else "")
        verb = agreed(len(options), "differs", "differ")
        raise BadInput(
            f"the campaign file is not the one that was planned: {named} {verb}",
            "plan again, or leave the campaign file out to start it as it was planned",
        )


async def last_plan(client: Client, name: str) -> KeptPlan | None:
    """The last finished plan of a campaign of this name, of whichever version of its file; None without one.
    One that has failed or was stopped since does not count. Raises TemporalTrouble.
    """
    finished = await _last_finished(client, assessment_id(name))
    if finished is None:
        return None
    handle = client.get_workflow_handle(finished.id, run_id=finished.run_id, result_type=AssessmentResult)
    try:
        result = AssessmentResult.model_validate(await handle.result())
    except UNREADABLE:
        # Of another version, or somebody else's: there is no plan to go by.
        return None
    spec = (await memo_of(finished) or {}).get("spec")
    if not isinstance(spec, str) or finished.close_time is None:
        return None
    return KeptPlan(spec=spec, made_at=finished.close_time, result=result)


async def _last_finished(client: Client, workflow_id: str) -> WorkflowExecution | None:
    """The newest run that has completed. Temporal is asked for the newest run first: its list is late."""
    newest = await describe(client, workflow_id)
    if newest is None or newest.status is WorkflowExecutionStatus.COMPLETED:
        return newest
    query = f"WorkflowId = '{workflow_id}' AND ExecutionStatus = 'Completed'"
    with errors_for_people(workflow_id):
        async for found in client.list_workflows(query, limit=1):
            return found
    return None


async def planned(client: Client, spec: CampaignSpec, digest: str) -> Frozen | None:
    """The targets of the last finished plan of exactly this version of the file (its digest), or None."""
    plan = await last_plan(client, spec.name)
    return plan.frozen if plan is not None and plan.spec == digest else None


def differing(one: BaseModel, other: BaseModel) -> list[str]:
    """The options in which two campaign files differ, as the file names them, such as ``advance.percent``."""
    return _differing(one.model_dump(mode="json"), other.model_dump(mode="json"), "")


def _differing(one: Mapping[str, Any], other: Mapping[str, Any], above: str) -> list[str]:
    found: list[str] = []
    for key in sorted({*one, *other}):
        mine, theirs = one.get(key), other.get(key)
        if mine == theirs:
            continue
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            found += _differing(mine, theirs, f"{above}{key}.")
        else:
            found.append(f"{above}{key}")
    return found


@dataclass(frozen=True)
class PlanChanges:
    """What is other in a later plan: zones that came and that are gone, those with another verdict (zone,
    before, after), and those that would propose something else.
    """

    came: tuple[str, ...]
    gone: tuple[str, ...]
    verdicts: tuple[tuple[str, str, str], ...]
    proposals: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.came or self.gone or self.verdicts or self.proposals)

    def lines(self) -> list[str]:
        """A sentence for each kind of change."""
        moved = tuple(f"{zone} ({before} → {after})" for zone, before, after in self.verdicts)
        return [
            f"{counted(len(names), 'zone')} {agreed(len(names), *verbs)}: {_named(names)}"
            for names, verbs in (
                (self.came, ("has come", "have come")),
                (self.gone, ("is gone", "are gone")),
                (moved, ("has another verdict", "have another verdict")),
                (self.proposals, ("proposes something else", "propose something else")),
            )
            if names
        ]


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - FEW:,} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


def changes_since(before: PlanReport, now: PlanReport) -> PlanChanges:
    """What a later plan's report has otherwise than an earlier one's."""
    old = {line.zone.id: line for line in before.zones}
    new = {line.zone.id: line for line in now.zones}
    both = [(old[one], line) for one, line in new.items() if one in old]
    other = [(was, line) for was, line in both if _verdict(was) != _verdict(line)]
    return PlanChanges(
        came=tuple(line.zone.name for one, line in new.items() if one not in old),
        gone=tuple(line.zone.name for one, line in old.items() if one not in new),
        verdicts=tuple((line.zone.name, _verdict(was), _verdict(line)) for was, line in other),
        proposals=tuple(
            line.zone.name
            for was, line in both
            if line.fingerprint and was.fingerprint and line.fingerprint != was.fingerprint
        ),
    )


def _verdict(line: ZoneAssessment) -> str:
    return line.verdict.value.replace("_", " ") if isinstance(line.verdict, Verdict) else "could not be read"
