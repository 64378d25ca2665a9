"""What a worker registers of the area."""

from __future__ import annotations

from activities.connections import Connections
from edgeshift_always_https.activities import AlwaysHttpsActivities
from edgeshift_always_https.work import AlwaysHttpsWork
from edgeshift_always_https.workflow import AlwaysHttpsZone
from worker.parts import Activities, WorkerPart


def _activities(connections: Connections) -> Activities:
    zone = AlwaysHttpsActivities(connections)
    return [zone.prepare, zone.confirm, zone.watch]


PART = WorkerPart(
    workflows=(AlwaysHttpsZone,),
    work=AlwaysHttpsWork,
    activities=_activities,
    passed_through=("edgeshift_always_https",),
)
