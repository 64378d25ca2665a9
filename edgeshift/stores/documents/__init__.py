"""The documents of the archive, each a model, written and read by one pair of functions.

The models here are those that lie in the archive alone; the records of the areas are in ``areas``. Others
are archived as the models that they are elsewhere: ``CampaignSpec`` (the campaign file), ``PlanReport`` (a
plan), ``Evidence`` (a window's events), ``ProbeReport`` and ``Baseline`` (a probe), ``Judgement`` (log
entries). ``edgeshift/testbed/invariants`` reads the same bytes with code of its own.
"""

from typing import TYPE_CHECKING

from edgeshift.runtime.lazily import names_of

if TYPE_CHECKING:
    from edgeshift.stores.documents.calls import CallsMade, TargetCalls, calls_folder
    from edgeshift.stores.documents.codec import (
        Document,
        DocumentUnreadable,
        contents_of,
        create_record,
        decoded,
        encoded,
        get_document,
        get_list,
        get_record,
        put_document,
    )
    from edgeshift.stores.documents.effects import EffectTook
    from edgeshift.stores.documents.gathered import EvidenceGathered, gathered_key
    from edgeshift.stores.documents.intents import (
        Answered,
        CountedCommit,
        Intent,
        NothingMore,
        Seen,
        intent_key,
        intents_at,
    )
    from edgeshift.stores.documents.proposals import Proposal, put_proposal
    from edgeshift.stores.documents.records import (
        DOCUMENTS,
        Advice,
        DocumentsPart,
        WatchedRecord,
        ZoneRecord,
    )
    from edgeshift.stores.documents.rulings import RulingRecord
    from edgeshift.stores.documents.snapshots import Snapshot, SnapshotTaken, snapshot_digest, snapshot_key
    from edgeshift.stores.documents.targets import (
        AssessedTargets,
        CoveredZones,
        FrozenTargets,
        PlannedReading,
        PlannedReadings,
        TargetsListed,
        listed_key,
    )
    from edgeshift.stores.documents.unproven import Unproven, unproven_key, unproven_there

__all__ = [
    "DOCUMENTS",
    "Advice",
    "Answered",
    "AssessedTargets",
    "CallsMade",
    "CountedCommit",
    "CoveredZones",
    "Document",
    "DocumentUnreadable",
    "DocumentsPart",
    "EffectTook",
    "EvidenceGathered",
    "FrozenTargets",
    "Intent",
    "NothingMore",
    "PlannedReading",
    "PlannedReadings",
    "Proposal",
    "RulingRecord",
    "Seen",
    "Snapshot",
    "SnapshotTaken",
    "TargetCalls",
    "TargetsListed",
    "Unproven",
    "WatchedRecord",
    "ZoneRecord",
    "calls_folder",
    "contents_of",
    "create_record",
    "decoded",
    "encoded",
    "gathered_key",
    "get_document",
    "get_list",
    "get_record",
    "intent_key",
    "intents_at",
    "listed_key",
    "put_document",
    "put_proposal",
    "snapshot_digest",
    "snapshot_key",
    "unproven_key",
    "unproven_there",
]

_NAMES = {
    "codec": (
        "Document",
        "DocumentUnreadable",
        "contents_of",
        "create_record",
        "decoded",
        "encoded",
        "get_document",
        "get_list",
        "get_record",
        "put_document",
    ),
    "calls": ("CallsMade", "TargetCalls", "calls_folder"),
    "effects": ("EffectTook",),
    "gathered": ("EvidenceGathered", "gathered_key"),
    "intents": ("Answered", "CountedCommit", "Intent", "NothingMore", "Seen", "intent_key", "intents_at"),
    "proposals": ("Proposal", "put_proposal"),
    "records": (
        "DOCUMENTS",
        "Advice",
        "DocumentsPart",
        "WatchedRecord",
        "ZoneRecord",
    ),
    "rulings": ("RulingRecord",),
    "snapshots": ("Snapshot", "SnapshotTaken", "snapshot_digest", "snapshot_key"),
    "targets": (
        "AssessedTargets",
        "CoveredZones",
        "FrozenTargets",
        "PlannedReading",
        "PlannedReadings",
        "TargetsListed",
        "listed_key",
    ),
    "unproven": ("Unproven", "unproven_key", "unproven_there"),
}
"""What each module has that is found here, loaded when it is first asked for."""

if not TYPE_CHECKING:
    # For mypy it would make a name of anything.
    __getattr__ = names_of(__name__, _NAMES)
