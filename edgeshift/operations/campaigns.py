"""Campaigns over a Temporal client: planned, started, asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDConflictPolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from edgeshift.messages import (
    PROGRESS,
    PUBLISHED,
    AssessmentProgress,
    AssessmentResult,
    AssessmentStart,
    Callers,
    CampaignResult,
    CampaignStart,
    CampaignSummary,
    Message,
    PlanReport,
    ResolvedTargets,
    ResolveTargets,
)
from edgeshift.model.campaign_phase import CampaignPhase
from edgeshift.model.fleet import Wave, assessment_id, campaign_id
from edgeshift.operations.calls import ask, errors_for_people, missing_object, of_failure, the_campaign
from edgeshift.operations.errors import (
    BadInput,
    Failed,
    NotFound,
    OperationError,
    Refused,
    ServiceTrouble,
    Unreadable,
)
from edgeshift.operations.policies import refuse_unsignable
from edgeshift.operations.waits import Trouble, with_progress
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.temporal import UNREADABLE, is_missing, memo_value_of, of_campaign
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import get_document, put_document
from edgeshift.stores.identity import identity_of

if TYPE_CHECKING:
    from edgeshift.campaign_file.spec import CampaignSpec
    from edgeshift.operations.pen import Pen

Progress = Callable[[AssessmentProgress], None]


@dataclass(frozen=True)
class Frozen:
    """Frozen targets of a campaign. ``planned_at``: when they were assessed and stratified, if they were;
    ``readings``: digest of the list of what was read of them then.
    """

    targets: str
    count: int
    waves: tuple[Wave, ...]
    enterprise: str
    covers: str = ""
    callers: Callers | None = None
    readings: str = ""
    planned_at: datetime | None = None

    def is_fresh(self, now: datetime, limit: timedelta) -> bool:
        """Whether they were read lately enough that a campaign begins with what was read."""
        return self.planned_at is not None and now - self.planned_at <= limit


async def store_spec(archive: Archive, spec: CampaignSpec) -> str:
    """Archive the specification as its file says it (unscaled); its digest."""
    return await put_document(archive, spec, verify=True)


async def assess(
    client: Client,
    archive: Archive,
    spec: CampaignSpec,
    *,
    by: str = "",
    progress: Progress | None = None,
    trouble: Trouble | None = None,
) -> tuple[PlanReport, AssessmentResult]:
    """Read every target and report on it, changing nothing; ``by``: who asks, where that is known;
    ``progress`` hears how far it is, ``trouble`` why something is tried again.

    An assessment of an earlier version of the file that still runs is replaced. Cancelled with its caller.
    Raises BadInput for unknown zones, ServiceTrouble, TemporalTrouble, Failed.
    """
    digest = await store_spec(archive, spec)
    subject = f"the assessment of {spec.name}"
    with errors_for_people(subject):
        handle = await _begun(
            client,
            "Assessment",
            AssessmentStart(name=spec.name, spec=digest),
            of_campaign(spec.name, by),
            id=assessment_id(spec.name),
            task_queue=Queue.CONTROL,
            result_type=AssessmentResult,
            id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
            memo={"spec": digest},
            static_summary=f"assess {spec.name}",
        )

    async def look(described: WorkflowExecutionDescription) -> None:
        if progress and (found := await memo_value_of(described, PROGRESS, AssessmentProgress)):
            progress(found)

    try:
        result = AssessmentResult.model_validate(
            await with_progress(handle.result(), client, handle.id, look=look, trouble=trouble)
        )
    except WorkflowFailureError as failure:
        raise _why_failed(spec, archive, digest, failure, subject) from failure
    except BaseException as problem:
        with errors_for_people(subject):
            await handle.cancel()
        if isinstance(problem, ServiceTrouble):
            raise _named(spec, problem) from problem
        raise
    return await get_document(archive, PlanReport, result.report), result


async def _begun(
    client: Client, kind: str, start: Message, found_by: list[SearchAttributePair[str]], **how: Any
) -> WorkflowHandle[Any, Any]:
    """A workflow that was started with search attributes, or without them where no worker has registered any
    yet: a plan may be asked for before the first one is there.
    """
    try:
        return await client.start_workflow(
            kind, start, search_attributes=TypedSearchAttributes(found_by), **how
        )
    except RPCError as refused:
        if refused.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        return await client.start_workflow(kind, start, **how)


def _why_failed(
    spec: CampaignSpec, archive: Archive, digest: str, failure: WorkflowFailureError, subject: str
) -> OperationError:
    """The error for a failed workflow: with the archive's name in it, where the worker does not find the
    campaign file (``digest``) that was stored there just now.
    """
    if missing_object(failure.cause) == digest:
        return Failed(
            f"the worker does not find the campaign file in its archive; it was stored in {archive.name}",
            "use the archive that the worker uses: --archive URL or EDGESHIFT_ARCHIVE_URL",
        )
    return _named(spec, of_failure(subject, failure.cause))


def _named(spec: CampaignSpec, problem: OperationError) -> OperationError:
    """The problem, with the service's address in it where it is one with the service. What is wrong in the
    file itself is told with where the file is described.
    """
    if isinstance(problem, BadInput) and not problem.hint:
        return BadInput(problem.text, "docs/campaign-file.md describes every field, such as targets")
    if not isinstance(problem, ServiceTrouble):
        return problem
    return ServiceTrouble(
        f"the service at {spec.service.base_url}: {problem.text}",
        problem.hint or "`edgeshift doctor FILE` checks the service and each credential",
    )


def frozen_by(result: AssessmentResult, planned_at: datetime | None) -> Frozen:
    """The targets of a finished assessment."""
    return Frozen(
        targets=result.targets,
        count=result.count,
        waves=result.waves,
        enterprise=result.enterprise,
        covers=result.covers,
        callers=result.callers,
        readings=result.readings,
        planned_at=planned_at,
    )


async def freeze(
    client: Client,
    archive: Archive,
    spec: CampaignSpec,
    digest: str,
    *,
    by: str = "",
    trouble: Trouble | None = None,
) -> Frozen:
    """Find the targets at the service and freeze them, without assessing; ``by``: who asks, where that is
    known. Whoever asks for the same specification meanwhile waits for the same answer. Raises BadInput,
    ServiceTrouble.
    """
    subject = f"the targets of {spec.name}"
    with errors_for_people(subject):
        handle = await _begun(
            client,
            "TargetList",
            ResolveTargets(spec=digest),
            of_campaign(spec.name, by),
            id=f"targets/{spec.name}/{digest[:16]}",
            task_queue=Queue.CONTROL,
            result_type=ResolvedTargets,
            # Of many that start a campaign at once, none takes the list away from under another.
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=f"targets of {spec.name}",
        )
    try:
        found = ResolvedTargets.model_validate(
            await with_progress(handle.result(), client, handle.id, trouble=trouble)
        )
    except WorkflowFailureError as failure:
        raise _why_failed(spec, archive, digest, failure, subject) from failure
    return Frozen(
        targets=found.targets,
        count=found.count,
        waves=found.waves,
        enterprise=found.enterprise,
        covers=found.covers,
        callers=found.callers,
    )


async def start_campaign(
    client: Client,
    archive: Archive,
    spec: CampaignSpec,
    *,
    by: str,
    frozen: Frozen | None = None,
    again: bool = False,
    pen: Pen | None = None,
) -> CampaignStart:
    """Start a campaign; its input. ``frozen``: its targets; else they are found and frozen first. ``pen``:
    whoever signs it, before it begins.

    ``again``: also where a closed campaign has its name. Raises Refused where one of this name runs, or ran
    and ``again`` is not given; BadInput for unknown zones, and where too few could ever approve;
    ServiceTrouble, TemporalTrouble.
    """
    from edgeshift.authority.roots import Role
    from edgeshift.campaign.start import campaign_start

    refuse_unsignable(spec, by)
    if pen is not None:
        pen.refuse_without(Role.STARTER)
    await refuse_if_started(client, spec.name, again=again)
    digest = await store_spec(archive, spec)
    frozen = frozen or await freeze(client, archive, spec, digest, by=by)
    start = campaign_start(
        spec,
        digest,
        targets=frozen.targets,
        count=frozen.count,
        waves=frozen.waves,
        enterprise=frozen.enterprise,
        covers=frozen.covers,
        callers=frozen.callers,
        readings=frozen.readings,
        started_by=by,
        archive=await identity_of(archive),
    )
    if pen is not None:
        await pen.refuse_unlisted(archive, start)
        # Whoever signs takes their time, and a signed start stops one that has begun meanwhile.
        await pen.start(start, spec, still=lambda: refuse_if_started(client, spec.name, again=again))
    await launch(client, start)
    return start


async def launch(client: Client, start: CampaignStart) -> None:
    """Start a campaign's workflow. Raises Refused where one of its name runs."""
    subject = the_campaign(start.name)
    try:
        with errors_for_people(subject):
            await client.start_workflow(
                "Campaign",
                args=start.arguments(),
                id=campaign_id(start.name),
                task_queue=Queue.CONTROL,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                search_attributes=TypedSearchAttributes(of_campaign(start.name, start.started_by)),
                static_summary=start.name,
            )
    except WorkflowAlreadyStartedError:
        raise Refused(f"{subject} was started by somebody else just now") from None


async def describe(client: Client, workflow_id: str) -> WorkflowExecutionDescription | None:
    """What Temporal knows of the newest run of a workflow, or None."""
    with errors_for_people(workflow_id):
        try:
            return await client.get_workflow_handle(workflow_id).describe()
        except RPCError as failure:
            if not is_missing(failure):
                raise
    return None


async def refuse_if_started(client: Client, name: str, *, again: bool = False) -> None:
    """Raises Refused, naming the campaign and its state, where one of this name is there already."""
    described = await describe(client, campaign_id(name))
    if described is None:
        return
    since = f"since {described.start_time:%Y-%m-%d %H:%M} UTC"
    if described.status is WorkflowExecutionStatus.RUNNING:
        state: str = CampaignPhase.RUNNING
        try:
            found = await summary(client, name)
            state = f"{found.state} (started by {found.started_by}, {found.count} zones)"
        except OperationError:
            # Nobody answers for it; that it is there is enough to refuse.
            pass
        raise Refused(
            f"campaign {name} was started already and is {state} {since}",
            f"`edgeshift watch {name}` follows it",
        )
    if not again:
        words = described.status.name.lower().replace("_", " ") if described.status else "closed"
        at = f" at {described.close_time:%Y-%m-%d %H:%M} UTC" if described.close_time else ""
        hint = "`edgeshift start FILE --again` starts all of it again; or choose another name"
        try:
            result = await campaign_result(client, name)
        except OperationError:
            # Ended from outside, or not to be read: no zone of it can begin again by itself.
            result = None
        if result is not None and result.aborted:
            # Nor after an abort that was signed.
            words = "aborted"
        elif result is not None:
            hint = f"`edgeshift retry` or `reopen` restarts zones of it; {hint}"
        raise Refused(f"campaign {name} has been run and is {words}{at}", hint)


async def summary(client: Client, name: str) -> CampaignSummary:
    """The campaign as it stands. Raises NotFound, TemporalTrouble where nobody answers."""
    handle = client.get_workflow_handle(campaign_id(name))
    return await ask(handle, "summary", CampaignSummary, the_campaign(name))


async def published(execution: WorkflowExecution) -> CampaignSummary | None:
    """What a campaign has published of itself by now, if anything that can be read: no worker is asked."""
    return await memo_value_of(execution, PUBLISHED, CampaignSummary)


async def campaign_input(client: Client, name: str) -> CampaignStart:
    """What the newest run of a campaign was started with, out of its history: no worker is needed. Without
    the ledger, which is handed on beside it. Raises NotFound, Unreadable.
    """
    handle = client.get_workflow_handle(campaign_id(name))
    with errors_for_people(the_campaign(name)):
        async for event in handle.fetch_history_events(page_size=1):
            payloads = event.workflow_execution_started_event_attributes.input.payloads[:1]
            try:
                (found,) = await client.data_converter.decode(payloads, [CampaignStart])
                start = CampaignStart.model_validate(found)
            except UNREADABLE as failure:
                raise Unreadable(handle.id, "the input") from failure
            if start.name != name:
                raise Unreadable(handle.id, "the input")
            return start
    raise NotFound(f"there is no campaign {name}", "`edgeshift status` lists the campaigns")


async def campaign_result(client: Client, name: str) -> CampaignResult | None:
    """How the campaign ended, or None while it runs. Raises NotFound, Unreadable, and Refused where it was
    ended from outside.
    """
    described = await describe(client, campaign_id(name))
    if described is None:
        raise NotFound(f"there is no campaign {name}", "`edgeshift status` lists the campaigns")
    if described.status is WorkflowExecutionStatus.RUNNING:
        return None
    if described.status is not WorkflowExecutionStatus.COMPLETED:
        words = described.status.name.lower().replace("_", " ") if described.status else "gone"
        raise Refused(
            f"campaign {name} was ended from outside ({words})",
            "`edgeshift start FILE --again` starts all of it again",
        )
    handle = client.get_workflow_handle(campaign_id(name), result_type=CampaignResult)
    try:
        return CampaignResult.model_validate(await handle.result())
    except UNREADABLE as failure:
        raise Unreadable(handle.id, "the result") from failure
