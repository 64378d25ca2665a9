"""One of every document of the archive, with the JSON as which it is written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from edgeshift.areas import esc, log_fields
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.waf.aftercare import Aftercare
from edgeshift.areas.waf.losses import Fate, Loss, Replacement, SettingKind
from edgeshift.messages import Prepared, ZoneAssessment
from edgeshift.model.fleet import Area, Plan, Target, Zone, ZoneOutcome
from edgeshift.stores.documents import (
    Advice,
    Answered,
    AssessedTargets,
    CallsMade,
    CountedCommit,
    CoveredZones,
    EffectTook,
    EvidenceGathered,
    FrozenTargets,
    Intent,
    NothingMore,
    PlannedReading,
    PlannedReadings,
    Proposal,
    RulingRecord,
    Seen,
    Snapshot,
    SnapshotTaken,
    TargetCalls,
    TargetsListed,
    Unproven,
)
from edgeshift.stores.documents.areas.esc import EscRecord, ProbedProposal
from edgeshift.stores.documents.areas.log_fields import (
    JobBefore,
    JobCreated,
    LogFieldsRecord,
    RulesBefore,
    RulesSent,
    StepWritten,
)
from edgeshift.stores.documents.areas.waf import WafProposal, WafRecord
from edgeshift.stores.documents.intents import ClosedAs

AT = datetime(2024, 2, 1, 9, 30, 0, 250, tzinfo=UTC)
AT_TEXT = "2024-02-01T09:30:00.000250+00:00"
ZONE = Zone(id="1" * 32, name="a.example", account="2" * 32, plan=Plan.ENTERPRISE)
ZONE_JSON = {
    "id": "1" * 32,
    "name": "a.example",
    "account": "2" * 32,
    "plan": "enterprise",
    "kind": "zone",
    "covers": 1,
}
BODY = {"name": "default", "rules": [{"action": "execute", "version": None, "score": 1.5, "tags": ["é"]}]}
RULE = {"ref": "theirs", "enabled": True, "last_updated": None}
SIGNED = {"digest": "d", "fingerprint": "f", "proposal": "p", "snapshot": "s"}
RECORD: dict[str, Any] = {
    "zone": ZONE,
    "campaign": "campaign/x",
    "digest": "d",
    "snapshot": "s",
    "proposal": "p",
}
RECORD_JSON = {**RECORD, "zone": ZONE_JSON}
SENTENCES_JSON = {"additions": ["one"], "losses": ["two"], "warnings": [], "notices": []}
LOSS = Loss(
    kind=SettingKind.GROUP,
    package="Own",
    id="g",
    name="Managed PHP",
    mode="off",
    replacement=Replacement(ruleset="m", category="php", enabled=False),
)
LOSS_JSON = {
    "kind": "group",
    "fate": "lost",
    "package": "Own",
    "id": "g",
    "name": "Managed PHP",
    "group": "",
    "mode": "off",
    "count": 1,
    "in_force": True,
    "paranoia_level": None,
    "replacement": {
        "ruleset": "m",
        "category": "php",
        "described": "",
        "enabled": False,
        "action": "",
        "equivalent": False,
    },
}
CARRIED = Loss(
    kind=SettingKind.PACKAGE,
    fate=Fate.CARRIED_OVER,
    package="Core",
    mode="sensitivity low",
    paranoia_level=2,
    score_threshold=40,
    action="block",
)
CARRIED_JSON = {
    "kind": "package",
    "fate": "carried_over",
    "package": "Core",
    "id": "",
    "name": "",
    "group": "",
    "mode": "sensitivity low",
    "count": 1,
    "in_force": True,
    "paranoia_level": 2,
    "score_threshold": 40,
    "action": "block",
    "replacement": None,
}
WATCHED_JSON = {
    "why": "",
    "said": "off",
    "codes": ["esc_off"],
    "changed_at": AT_TEXT,
    "aftercare": {"advice": ["look"]},
}

CASES: list[tuple[BaseModel, type[BaseModel], Any]] = [
    (
        Intent(
            step="commit",
            campaign="campaign/x",
            run="r",
            attempt=2,
            at=AT,
            drawn="0f",
            trail="p-1",
            permit="p-1",
            **SIGNED,
        ),
        Intent,
        {
            "step": "commit",
            "campaign": "campaign/x",
            "run": "r",
            "attempt": 2,
            "at": AT_TEXT,
            "drawn": "0f",
            "trail": "p-1",
            "permit": "p-1",
            **SIGNED,
        },
    ),
    (
        Intent(step="given_up", campaign="campaign/x", run="r", attempt=0, at=AT, **SIGNED),
        Intent,
        {"step": "given_up", "campaign": "campaign/x", "run": "r", "attempt": 0, "at": AT_TEXT, **SIGNED},
    ),
    (NothingMore(reason="it shows"), NothingMore, {"reason": "it shows"}),
    (NothingMore.of(ClosedAs.SHOWS), NothingMore, {"kind": "shows", "reason": "it shows"}),
    (Seen(), Seen, {}),
    (EvidenceGathered(run="r", spec="s"), EvidenceGathered, {"run": "r", "spec": "s"}),
    (
        EvidenceGathered(run="r", spec="s", start="b"),
        EvidenceGathered,
        {"run": "r", "spec": "s", "start": "b"},
    ),
    (
        EvidenceGathered(run="r", spec="s", proposal="p", snapshot="n"),
        EvidenceGathered,
        {"run": "r", "spec": "s", "proposal": "p", "snapshot": "n"},
    ),
    (
        Intent(step="commit", campaign="campaign/x", run="r", start="b", at=AT),
        Intent,
        {"step": "commit", "campaign": "campaign/x", "run": "r", "start": "b", "at": AT_TEXT},
    ),
    (
        Unproven(key="nothing/z/waf/p-1", why="no worker has signed it", at=AT),
        Unproven,
        {"at": AT_TEXT, "key": "nothing/z/waf/p-1", "why": "no worker has signed it", "of": ""},
    ),
    (Answered(), Answered, {}),
    (CountedCommit(place=3), CountedCommit, {"place": 3}),
    (
        Snapshot(zone=ZONE, reading=esc.Reading(always=True, secret=esc.Secret.OWN)),
        Snapshot[esc.Reading],
        {"zone": ZONE_JSON, "reading": {"always": True, "secret": "own", "covered": "", "told": True}},
    ),
    (
        Snapshot(zone=ZONE, reading=log_fields.Reading(plan=Plan.ENTERPRISE, jobs=[{"id": 1, "name": None}])),
        Snapshot[log_fields.Reading],
        {
            "zone": ZONE_JSON,
            "reading": {
                "plan": "enterprise",
                "rulesets": [],
                "ruleset": None,
                "jobs": [{"id": 1, "name": None}],
                "transforms": {},
                "refused": "",
            },
        },
    ),
    (SnapshotTaken(taken_at=AT), SnapshotTaken, {"taken_at": AT_TEXT}),
    (
        RulingRecord(
            verb="rejected", at=AT, by="ann", campaign="campaign/x", run="r", digest="f", reason="not yet"
        ),
        RulingRecord,
        {
            "verb": "rejected",
            "at": AT_TEXT,
            "by": "ann",
            "reason": "not yet",
            "campaign": "campaign/x",
            "run": "r",
            "digest": "f",
        },
    ),
    (
        Proposal(body=BODY, additions=("one",), losses=("two",)),
        Proposal,
        {"body": BODY, **SENTENCES_JSON},
    ),
    (
        WafProposal(body=BODY, additions=("one",), losses=("two",), lost=(LOSS, CARRIED)),
        WafProposal,
        {"body": BODY, **SENTENCES_JSON, "lost": [LOSS_JSON, CARRIED_JSON]},
    ),
    (
        ProbedProposal(body=BODY, additions=("one",), losses=("two",), report="r", baseline="b"),
        ProbedProposal,
        {"body": BODY, **SENTENCES_JSON, "report": "r", "baseline": "b"},
    ),
    (
        WafRecord(**RECORD, evidence="e", aftercare=Aftercare(terraform="t", state_rm=("rm",))),
        WafRecord,
        {
            **RECORD_JSON,
            "evidence": "e",
            "aftercare": {
                "terraform": "t",
                "state_rm": ["rm"],
                "custom_rules": [],
                "review": [],
                "losses": [],
            },
        },
    ),
    (
        EscRecord(
            **RECORD,
            evidence="e",
            why="",
            said="off",
            codes=("esc_off",),
            changed_at=AT,
            aftercare=Advice(advice=("look",)),
        ),
        EscRecord,
        {**RECORD_JSON, "evidence": "e", **WATCHED_JSON},
    ),
    (
        LogFieldsRecord(
            **RECORD,
            evidence="",
            found="w",
            why="",
            said="off",
            codes=("esc_off",),
            changed_at=AT,
            aftercare=Advice(advice=("look",)),
        ),
        LogFieldsRecord,
        {**RECORD_JSON, "evidence": "", "found": "w", **WATCHED_JSON},
    ),
    (RulesBefore(version=3, rules=[RULE]), RulesBefore, {"version": 3, "rules": [RULE]}),
    (RulesSent(over=3, rules=[RULE]), RulesSent, {"over": 3, "rules": [RULE]}),
    (JobBefore(logpull_options=None), JobBefore, {"logpull_options": None}),
    (JobBefore(logpull_options="fields=a"), JobBefore, {"logpull_options": "fields=a"}),
    (JobCreated(name="ours"), JobCreated, {"name": "ours"}),
    (
        StepWritten(zone=ZONE, step="commit", permit="p-1", service_time=AT, versions=(4, 6), jobs=(2,)),
        StepWritten,
        {
            "zone": ZONE_JSON,
            "step": "commit",
            "permit": "p-1",
            "service_time": AT_TEXT,
            "ruleset": "",
            "created_ruleset": False,
            "versions": [4, 6],
            "overwritten": [],
            "jobs": [2],
            "created_job": "",
            "notes": [],
            "sent": False,
        },
    ),
    (FrozenTargets((Target(zone=ZONE, wave=1),)), FrozenTargets, [{"zone": ZONE_JSON, "wave": 1}]),
    (TargetsListed(at=AT, count=3), TargetsListed, {"at": AT_TEXT, "count": 3}),
    (CoveredZones((ZONE,)), CoveredZones, [ZONE_JSON]),
    (PlannedReadings(("0" * 64, "")), PlannedReadings, ["0" * 64, ""]),
    (
        PlannedReading(
            zone=ZONE, area=Area.WAF, read_at=AT, prepared=Prepared(verdict=Verdict.READY, snapshot="0" * 64)
        ),
        PlannedReading,
        {
            "zone": ZONE_JSON,
            "area": "waf",
            "read_at": AT_TEXT,
            "prepared": Prepared(verdict=Verdict.READY, snapshot="0" * 64).model_dump(mode="json"),
        },
    ),
    (EffectTook(seconds=12.5), EffectTook, {"seconds": 12.5}),
    (
        CallsMade(
            zones={"zone/a/waf": TargetCalls(calls=7, plan=Plan.PRO)},
            ended={"zone/a/waf": ZoneOutcome.MIGRATED},
        ),
        CallsMade,
        {"zones": {"zone/a/waf": {"calls": 7, "plan": "pro"}}, "ended": {"zone/a/waf": "migrated"}},
    ),
    (
        AssessedTargets((ZoneAssessment(index=0, zone=ZONE, wave=1),)),
        AssessedTargets,
        [ZoneAssessment(index=0, zone=ZONE, wave=1).model_dump(mode="json")],
    ),
]
