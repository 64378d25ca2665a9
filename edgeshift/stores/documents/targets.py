"""Lists of targets and zones, each a JSON array; and what a plan has read of one target."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from pydantic import ConfigDict, RootModel

from edgeshift.messages import Prepared, ZoneAssessment
from edgeshift.model.fleet import Area, Target, Zone
from edgeshift.stores.documents.codec import Document, Moment


class FrozenTargets(RootModel[tuple[Target, ...]]):
    """An object: a campaign's targets in the order of their indexes, which never changes.

    Written by ``resolve_targets`` and, with canaries of every fingerprint first, by ``merge_assessment``.
    Read by the activities, the verbs, the demo and the invariants.
    """

    model_config = ConfigDict(frozen=True)


class TargetsListed(Document):
    """``listed/<specification>/<zones>``: a worker has found exactly these zones among those that the service
    lists, for the specification with that digest. ``at``: when; ``count``: of the zones. Where such a record
    counts no more, a plan that finds the same zones adds one beside it (``ZONES-…``).

    Written by ``resolve_targets``; read before a change by a start that says so.
    """

    at: Moment
    count: int


def listed_key(spec: str, targets: Iterable[Target]) -> str:
    """The archive's name of it. It is the same in whatever order and waves the targets are: those are what
    people sign, and another plan of the same zones, some of which were changed since, comes to others.
    """
    zones = sorted(
        json.dumps([zone.id, zone.name, zone.account, zone.plan.value, zone.kind.value, zone.covers])
        for zone in (target.zone for target in targets)
    )
    return f"listed/{spec}/{hashlib.sha256(chr(10).join(zones).encode()).hexdigest()}"


class CoveredZones(RootModel[tuple[Zone, ...]]):
    """An object: the zones of an account, by identifier, as they were listed when the account was read.

    Written by ``prepare_esc_scope``. Read by the probe and by the activities that hold the zones; its digest
    is a part of what is signed.
    """

    model_config = ConfigDict(frozen=True)


class AssessedTargets(RootModel[tuple[ZoneAssessment, ...]]):
    """An object: a plan's lines for one batch of targets. Written by ``assess_targets``, read by
    ``merge_assessment``, which makes the ``PlanReport`` of all batches.
    """

    model_config = ConfigDict(frozen=True)


class PlannedReading(Document):
    """An object: what a plan has read of a target, and what follows from it. ``read_at``: when the reading
    began. ``prepared`` names the snapshot and the proposal.

    Written by ``assess_targets``; read by ``start_zones``, which gives it to the target's workflow.
    """

    zone: Zone
    area: Area
    read_at: Moment
    prepared: Prepared


class PlannedReadings(RootModel[tuple[str, ...]]):
    """An object: of each target of a plan, by its index, the digest of its ``PlannedReading``; empty where it
    has none. Written by ``merge_assessment``, read by ``start_zones``.
    """

    model_config = ConfigDict(frozen=True)
