"""What a worker registers of the area esc: scopes, and the zones that an account holds."""

from __future__ import annotations

from activities.account_lock import HoldActivities
from activities.connections import Connections
from activities.esc.changes import EscWork
from activities.esc.scope import EscActivities
from worker.parts import Activities, WorkerPart
from workflows.account_lock import ZoneHold
from workflows.esc import EscScope


def _activities(connections: Connections) -> Activities:
    scope, holds = EscActivities(connections), HoldActivities(connections)
    return [
        scope.prepare,
        scope.probe,
        scope.confirm,
        scope.watch,
        holds.hold,
        holds.release,
        holds.still_there,
    ]


PART = WorkerPart(workflows=(EscScope, ZoneHold), work=EscWork, activities=_activities)
