"""What a worker registers of the area waf."""

from __future__ import annotations

from activities.connections import Connections
from activities.waf.changes import WafWork
from activities.waf.evidence import EvidenceActivities
from activities.waf.zone import WafActivities
from worker.parts import Activities, WorkerPart
from workflows.waf import WafZone


def _activities(connections: Connections) -> Activities:
    zone = WafActivities(connections)
    return [zone.prepare, zone.verify, EvidenceActivities(connections).gather]


PART = WorkerPart(workflows=(WafZone,), work=WafWork, activities=_activities)
