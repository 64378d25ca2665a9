"""In which modes a zone may be validated, asked of the signed campaign file and the archive just before it is
sent: nobody signs a validation.
"""

from __future__ import annotations

from activities.change.area_work import FencedStep
from activities.change.not_sent import NotSent
from activities.change.own import begun_by
from activities.connections import Connections
from activities.proof.evidence_at_the_door import passed_in
from edgeshift.areas.waf.evidence_again import window_passes
from edgeshift.areas.waf.evidence_terms import Evidence
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import Step
from edgeshift.stores.documents import get_document


async def refuse_mode(connections: Connections, step: FencedStep) -> None:
    """Raises NotSent where the campaign's file does not name the mode; and for rules that act, where nobody
    has consented to that, or where the file has them only log first, and that window has not passed by what
    a worker has gathered of it. Raises ArchiveError.
    """
    mode, spec = step.change.mode, await connections.spec(step.change.start.spec)
    if mode is not ValidationMode.SHADOW and not spec.consents.enforce_validation:
        raise NotSent("nobody has consented to a validation in which the new WAF acts")
    if mode not in spec.validation.modes:
        raise NotSent("the campaign's file names no validation in this mode")
    if await rests_on_a_window(connections, step):
        await _refuse_unseen(connections, step)


async def rests_on_a_window(connections: Connections, step: FencedStep) -> bool:
    """Whether a step is a validation in which rules act that have to have passed a window before, in which
    they only logged: it rests on what that has shown, and not on the reading before it. Raises ArchiveError.
    """
    if step.change.step is not Step.VALIDATE or step.change.mode is not ValidationMode.ENFORCE:
        return False
    modes = (await connections.spec(step.change.start.spec)).validation.modes
    return modes[0] is not ValidationMode.ENFORCE


async def _refuse_unseen(connections: Connections, step: FencedStep) -> None:
    """Raises NotSent where the zone's rules have not passed a window in which they only logged, which is the
    last such one that a worker has begun. Raises ArchiveError.
    """
    change, there, shadow = step.change, connections, ValidationMode.SHADOW.value
    if change.evidence:
        evidence = await get_document(there.archive, Evidence, change.evidence)
        spec, now = await there.spec(change.start.spec), step.fence.time.now()
        about = window_passes(evidence, spec, now) if evidence.mode == shadow else None
        start = await begun_by(there, change)
        starts = () if start is None else (start,)
        # A validation in which they acted came after it, as one that was refused and is sent again.
        if await passed_in(there.archive, there.records, change, about, spec, starts, modes=(shadow, "")):
            return
    raise NotSent("no window in which the zone's rules only logged has passed, which comes first")
