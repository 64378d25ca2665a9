"""The documents of the archive, each a model, written and read by one pair of functions.

The models here are those that lie in the archive alone. Others are archived as the models that they are
elsewhere: ``CampaignSpec`` (the campaign file), ``PlanReport`` (a plan), ``Evidence`` (a window's events),
``ProbeReport`` and ``Baseline`` (a probe), ``Judgement`` (log entries). ``edgeshift/testbed/invariants``
reads the same bytes with code of its own.
"""

from edgeshift.stores.documents.codec import (
    Document,
    DocumentUnreadable,
    create_record,
    decoded,
    encoded,
    get_document,
    get_record,
    put_document,
)
from edgeshift.stores.documents.effects import EffectTook
from edgeshift.stores.documents.intents import Answered, Intent, NothingMore, Seen
from edgeshift.stores.documents.log_fields import (
    JobBefore,
    JobCreated,
    RulesBefore,
    RulesSent,
    StepWritten,
)
from edgeshift.stores.documents.proposals import ProbedProposal, Proposal
from edgeshift.stores.documents.records import (
    DOCUMENTS,
    Advice,
    DocumentsPart,
    EscRecord,
    LogFieldsRecord,
    WafRecord,
    WatchedRecord,
    ZoneRecord,
)
from edgeshift.stores.documents.rulings import RulingRecord
from edgeshift.stores.documents.snapshots import Snapshot, SnapshotTaken, snapshot_key
from edgeshift.stores.documents.targets import (
    AssessedTargets,
    CoveredZones,
    FrozenTargets,
    PlannedReading,
    PlannedReadings,
)

__all__ = [
    "DOCUMENTS",
    "Advice",
    "Answered",
    "AssessedTargets",
    "CoveredZones",
    "Document",
    "DocumentUnreadable",
    "DocumentsPart",
    "EffectTook",
    "EscRecord",
    "FrozenTargets",
    "Intent",
    "JobBefore",
    "JobCreated",
    "LogFieldsRecord",
    "NothingMore",
    "PlannedReading",
    "PlannedReadings",
    "ProbedProposal",
    "Proposal",
    "RulesBefore",
    "RulesSent",
    "RulingRecord",
    "Seen",
    "Snapshot",
    "SnapshotTaken",
    "StepWritten",
    "WafRecord",
    "WatchedRecord",
    "ZoneRecord",
    "create_record",
    "decoded",
    "encoded",
    "get_document",
    "get_record",
    "put_document",
    "snapshot_key",
]
