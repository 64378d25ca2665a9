"""Calls to workflows, their failures translated into errors for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from temporalio.client import (
    Client,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, FailureError
from temporalio.service import RPCError, RPCStatusCode

from edgeshift.messages import Answer, MissingObject, TooLate
from edgeshift.model.failures import hint_of, of_activity
from edgeshift.operations.errors import (
    BY_EXIT_CODE,
    Failed,
    NotFound,
    OperationError,
    Refused,
    TemporalTrouble,
    Unreadable,
)
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.temporal import UNREADABLE, is_away, is_missing

Model = TypeVar("Model", bound=BaseModel)

ANSWER_WITHIN = timedelta(seconds=20)
"""How long a question to a workflow may take before nobody seems to be there."""


_NOBODY = (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.CANCELLED)


@dataclass(frozen=True)
class Subject:
    """Whom a call is made to. ``campaign``: its name, where it is one; ``absent``: what to do where Temporal
    has none of this name.
    """

    text: str
    campaign: str = ""
    absent: str = "`edgeshift status` lists the campaigns"

    def __str__(self) -> str:
        return self.text


def the_campaign(name: str) -> Subject:
    """A campaign's workflow, as a person knows it."""
    return Subject(f"campaign {name}", campaign=name)


@contextmanager
def errors_for_people(subject: Subject | str) -> Iterator[None]:
    """Turn failures of calls to ``subject`` into errors for people."""
    subject = subject if isinstance(subject, Subject) else Subject(subject)
    try:
        yield
    except RPCError as failure:
        raise _of_rpc(subject, failure) from failure
    except WorkflowUpdateRPCTimeoutOrCancelledError as failure:
        raise no_worker(subject) from failure
    except WorkflowUpdateFailedError as failure:
        raise of_failure(subject, failure.cause) from failure
    except WorkflowQueryFailedError as failure:
        raise Failed(f"{subject} cannot answer: {failure.message}") from failure


def _of_rpc(subject: Subject, failure: RPCError) -> OperationError:
    if is_missing(failure):
        if "completed" in failure.message:
            return Refused(f"{subject} is closed", "`edgeshift status` lists the campaigns")
        return NotFound(f"there is no {subject}", subject.absent)
    if failure.status in _NOBODY:
        return no_worker(subject)
    if is_away(failure):
        return TemporalTrouble("Temporal no longer answers", "try again when it is back; nothing is lost")
    return TemporalTrouble(f"Temporal refused the call for {subject}: {failure.message[:200]}")


def no_worker(subject: Subject | str) -> TemporalTrouble:
    """Nobody answers for a workflow although Temporal is there."""
    return TemporalTrouble(
        f"no worker answers for {subject}",
        f"`edgeshift doctor` shows whether workers poll the task queues {', '.join(Queue)};"
        " `edgeshift worker` starts one",
    )


def of_failure(subject: Subject | str, cause: BaseException | None) -> OperationError:
    """The error for a workflow's or an update's failure, by the innermost cause that has a name."""
    cause = _innermost(cause)
    if isinstance(cause, ApplicationError):
        known = of_activity(cause.type)
        kind = BY_EXIT_CODE.get(known.exit) if known else None
        hint = _TOO_LATE if _is_too_late(cause) else hint_of(cause.type)
        if isinstance(subject, Subject) and subject.campaign:
            hint = hint.replace("CAMPAIGN", subject.campaign)
        return kind(cause.message, hint) if kind else Failed(f"{subject} failed: {cause.message}", hint)
    if isinstance(cause, CancelledError):
        return Failed(f"{subject} was cancelled")
    if isinstance(cause, FailureError):
        return Failed(f"{subject} failed: {cause.message}")
    return Failed(f"{subject} failed: {cause}")


_TOO_LATE = (
    "the removal date is that of the profile in the file (`service.profile`); where that is right, no other"
    " file helps. `edgeshift doctor FILE` compares the date with the service's clock. In a rehearsal, set"
    " that clock back by `edgeshift up --clock 2023-10-01T00:00:00Z` in a new folder"
)


def _is_too_late(cause: ApplicationError) -> bool:
    """Whether it failed because nothing can be done any more in its area, by the file's profile."""
    try:
        return bool(cause.details and TooLate.model_validate(cause.details[0]))
    except ValidationError:
        return False


def _innermost(cause: BaseException | None) -> BaseException | None:
    while isinstance(cause, ActivityError) and cause.cause is not None:
        cause = cause.cause
    return cause


def missing_object(cause: BaseException | None) -> str:
    """The digest of the object that a worker did not find in its archive, where a workflow failed by that."""
    cause = _innermost(cause)
    if not isinstance(cause, ApplicationError) or cause.type != "ArchiveMissing" or not cause.details:
        return ""
    try:
        return MissingObject.model_validate(cause.details[0]).digest
    except ValidationError:
        return ""


async def ask(
    handle: WorkflowHandle[object, object],
    query: str,
    kind: type[Model],
    subject: Subject | str,
    message: BaseModel | None = None,
) -> Model:
    """The answer of a query, which takes ``message`` if any. Raises NotFound, TemporalTrouble where nobody
    answers, Failed.
    """
    with errors_for_people(subject):
        said = [] if message is None else [message]
        try:
            answer = await handle.query(query, args=said, result_type=kind, rpc_timeout=ANSWER_WITHIN)
            return kind.model_validate(answer)
        except UNREADABLE as failure:
            raise Unreadable(handle.id, f"the answer ({query})") from failure


async def tell(
    client: Client,
    workflow_id: str,
    update: str,
    message: BaseModel,
    subject: Subject | str,
    *,
    patient: bool = False,
) -> Answer:
    """The answer of an update. ``patient``: it may take as long as permits need to be settled."""
    with errors_for_people(subject):
        handle = client.get_workflow_handle(workflow_id)
        limit = None if patient else ANSWER_WITHIN
        try:
            answer = await handle.execute_update(update, message, result_type=Answer, rpc_timeout=limit)
            return Answer.model_validate(answer)
        except UNREADABLE as failure:
            raise Unreadable(handle.id, f"the answer ({update})") from failure
