"""What a worker registers of the area log-fields."""

from __future__ import annotations

from activities.connections import Connections
from activities.log_fields.changes import LogFieldsWork
from activities.log_fields.zone import LogFieldsActivities
from worker.parts import Activities, WorkerPart
from workflows.log_fields import LogFieldsZone


def _activities(connections: Connections) -> Activities:
    zone = LogFieldsActivities(connections)
    return [zone.prepare, zone.look_back, zone.confirm, zone.watch]


PART = WorkerPart(workflows=(LogFieldsZone,), work=LogFieldsWork, activities=_activities)
