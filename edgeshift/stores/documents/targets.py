"""Lists of targets and zones, each a JSON array; and what a plan has read of one target."""

from __future__ import annotations

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
    """``listed/<specification>/<targets>``: a worker has made the list with the one digest, for the
    specification with the other, of what the service listed. ``at``: when; ``count``: of the targets. Where
    such a record counts no more, a plan that comes to the same list adds one beside it (``TARGETS-…``).

    Written by ``resolve_targets`` and ``merge_assessment``; read before a change by a start that says so.
    """

    at: Moment
    count: int


def listed_key(spec: str, targets: str) -> str:
    """The archive's name of it."""
    return f"listed/{spec}/{targets}"


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
