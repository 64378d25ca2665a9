"""Reading a zone for its custom log fields, and watching what became of them (docs/service.md §2.2, §2.3)."""

from __future__ import annotations

from temporalio import activity

from activities.connections import Connections
from edgeshift.messages import Prepare, Prepared, Settle, Shown, Watch, Watched


class LogFieldsActivities:
    """Readings of one zone."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @activity.defn(name="prepare_log_fields_zone")
    async def prepare(self, message: Prepare) -> Prepared:
        """Read the zone, archive it, propose."""
        raise NotImplementedError

    @activity.defn(name="settle_log_fields_zone")
    async def settle(self, message: Settle) -> Shown:
        """Read until the change shows, or is gone."""
        raise NotImplementedError

    @activity.defn(name="watch_log_fields_zone")
    async def watch(self, message: Watch) -> Watched:
        """Look at real log entries."""
        raise NotImplementedError
