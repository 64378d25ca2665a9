"""Zones that may wait for something else than their campaign knows, found by what the server says of them;
and the reminder that has one say its last word again.

A campaign that was reset to before a zone spoke does not know what it said; and a zone that was reset says it
with a number that the campaign has heard before. Neither needs a question that a worker has to answer.
"""

from __future__ import annotations

from temporalio.client import Client, WorkflowExecutionDescription
from temporalio.service import RPCError, RPCStatusCode

from edgeshift.campaign.zone_reports import ANY
from edgeshift.messages import UNTOLD, SayAgain, ZonePhase
from edgeshift.runtime.temporal import FINGERPRINT, PHASE, is_missing


async def is_doubtful(found: WorkflowExecutionDescription, expected: str, asked: str) -> bool:
    """Whether a zone may have said something else last than its campaign knows. ``expected``: the beginning
    of the fingerprint that it waits with, as far as the campaign knows; ``ANY`` where that is not kept, empty
    where it does not wait for a sign-off. ``asked``: the beginning of the run in which it has said its last
    word again.
    """
    if (await found.memo()).get(UNTOLD):
        return True
    attributes = found.typed_search_attributes
    if expected not in ("", ANY) and not (attributes.get(FINGERPRINT) or "").startswith(expected):
        return True
    if asked and found.run_id.startswith(asked):
        return False
    # A workflow that was reset, or went on in a new run, is not in the run that it began in.
    if found.raw_description.workflow_execution_info.first_run_id != found.run_id:
        return True
    # It shows that it waits for a sign-off, also after that.
    return bool(expected) != (attributes.get(PHASE) == ZonePhase.AWAITING_SIGN_OFF.value)


async def remind(
    client: Client, found: WorkflowExecutionDescription, campaign_run: str, attempt: int
) -> None:
    """Have an open zone say again what it waits for, if it waits."""
    handle = client.get_workflow_handle(found.id, run_id=found.run_id)
    try:
        await handle.signal("say_again", SayAgain(campaign_run=campaign_run, attempt=attempt))
    except RPCError as failure:
        # One that has ended meanwhile, or takes no signal at the moment, is found by the next sweep.
        if not is_missing(failure) and failure.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise


async def was_reset(client: Client, identifier: str, run: str) -> bool:
    """Whether this run of a workflow came out of a reset: it begins with the history of another one. One that
    the server has forgotten may have.
    """
    handle = client.get_workflow_handle(identifier, run_id=run)
    try:
        described = await handle.describe()
    except RPCError as failure:
        if not is_missing(failure):
            raise
        return True
    if described.raw_description.workflow_execution_info.first_run_id == run:
        return False
    async for event in handle.fetch_history_events(page_size=1):
        began = event.workflow_execution_started_event_attributes
        return bool(began.original_execution_run_id != run)
    return False
