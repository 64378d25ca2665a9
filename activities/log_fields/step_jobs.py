"""Which log jobs of a zone are to list what a step has written (docs/service.md §2.3)."""

from __future__ import annotations

from typing import Any

from temporalio import activity

from activities.connections import Connections
from edgeshift.areas import log_fields
from edgeshift.messages import Confirm, Watch
from edgeshift.stores.archive import ArchiveCorrupt, ArchiveMissing
from edgeshift.stores.documents import Snapshot, get_document
from edgeshift.stores.documents.areas.log_fields import StepWritten


async def jobs_of_step(
    connections: Connections, message: Confirm | Watch, body: dict[str, Any]
) -> log_fields.StepJobs | None:
    """Those of the change that a message asks about, whose ``body`` was signed; None where the archive does
    not have what tells them from others, so that each one counts. Raises ArchiveUnavailable.
    """
    archive, prepared = connections.archive, message.prepared
    found = message.found if isinstance(message, Watch) else ""
    try:
        before = (await get_document(archive, Snapshot[log_fields.Reading], prepared.snapshot)).reading
        written = (await get_document(archive, StepWritten, found)).jobs if found else ()
    except (ArchiveCorrupt, ArchiveMissing) as failure:
        activity.logger.warning("not known which log jobs came since: %s", failure)
        return None
    pushed = (job["id"] for job in before.jobs if log_fields.pushes(job))
    created = log_fields.signed_job(body, message.start.target.zone)
    return log_fields.StepJobs(frozenset((*pushed, *written)), created)
