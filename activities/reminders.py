"""What a zone waits for, asked of the zone itself. A campaign that was reset to before the zone said so does
not know it; and a zone that was reset says it with a number that the campaign has heard before.
"""

from __future__ import annotations

from datetime import timedelta

from temporalio.client import Client, WorkflowExecutionDescription, WorkflowQueryFailedError
from temporalio.service import RPCError

from edgeshift.areas.waf.evidence import EvidenceVerdict
from edgeshift.messages import ReportKind, Step, ZonePhase, ZoneReport, ZoneState
from edgeshift.model.sign_off import SignOffPolicy

ANSWERS_WITHIN = timedelta(seconds=2)

_SAID = {
    ZonePhase.AWAITING_VALIDATION: (ReportKind.READY, Step.VALIDATE),
    ZonePhase.AWAITING_FIRST_PERMIT: (ReportKind.READY, Step.SET_SECRET),
    ZonePhase.AWAITING_SIGN_OFF: (ReportKind.AWAITING, None),
    ZonePhase.AWAITING_PERMIT: (ReportKind.READY, None),
    ZonePhase.NEEDS_SUPPORT: (ReportKind.SUPPORT, None),
    ZonePhase.VALIDATING: (ReportKind.WAITING, None),
    ZonePhase.WATCHING: (ReportKind.WAITING, None),
    ZonePhase.WAITING_FOR_SERVICE: (ReportKind.SERVICE, None),
}
"""What a zone has said once it is in a phase in which it waits, and of which step."""


async def said_before(
    client: Client,
    found: WorkflowExecutionDescription,
    campaign_run: str,
    index: int,
    policy: SignOffPolicy,
) -> ZoneReport | None:
    """What an open zone has told its campaign last, or None where it works, or does not answer now."""
    raw = found.raw_description
    if raw.HasField("pending_workflow_task") or raw.pending_activities:
        return None
    handle = client.get_workflow_handle(found.id, run_id=found.run_id)
    try:
        state = ZoneState.model_validate(
            await handle.query("state", result_type=ZoneState, rpc_timeout=ANSWERS_WITHIN)
        )
    except (RPCError, WorkflowQueryFailedError):
        return None
    if state.phase not in _SAID:
        return None
    kind, step = _SAID[state.phase]
    return ZoneReport(
        campaign_run=campaign_run,
        index=index,
        attempt=state.attempt,
        sequence=state.sequence,
        kind=kind,
        step=step or state.step,
        digest=state.digest,
        fingerprint=state.fingerprint,
        hold=state.hold,
        joins=policy.per != "zone" and state.evidence_verdict in (None, EvidenceVerdict.PASS),
    )
