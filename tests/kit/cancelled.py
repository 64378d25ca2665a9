"""A zone whose workflow somebody cancels while it waits for the service, to see its commit through."""

from __future__ import annotations

from temporalio.client import WorkflowHandle

from edgeshift.messages import ZonePhase, ZoneResult
from tests.kit.faults import Stage
from tests.kit.held import set_status


async def cancelled_as_it_waits(stage: Stage, short: str) -> WorkflowHandle[object, ZoneResult]:
    """Sign the zone off, and cancel its workflow while the service refuses the credential that verifies
    its commit. The service takes it again then. Returns the workflow.
    """
    await stage.waits(short, 90)
    await stage.play.sign_zone(stage.name(short))
    await stage.phase(short, ZonePhase.VERIFYING)
    await set_status(stage.play, "expired")
    await stage.phase(short, ZonePhase.WAITING_FOR_SERVICE)
    handle = stage.play.zone(stage.name(short))
    await handle.cancel()
    await set_status(stage.play, "active")
    return handle
