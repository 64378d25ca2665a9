"""Reading a zone for its custom log fields (docs/service.md §2.2, §2.3, §4.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from activities.boundary import refuse_held
from activities.log_fields.ruleset_reading import present_ruleset
from activities.together import together
from activities.zone_plans import plan_now
from edgeshift.areas import log_fields
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.log_fields.terms import FieldSet, LogFieldsSpec, NewJobSpec
from edgeshift.model.fleet import Plan, Zone
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.service_api import (
    NotFound,
    NotUnderstood,
    Outcome,
    RateLimited,
    Refused,
    ServiceClient,
    Unauthorized,
    of_the_target,
)
from edgeshift.service_api.models import Ruleset
from edgeshift.stores.log_entries import LogStore, LogStoreError

SAMPLE = 500
"""Log entries that are looked at, before a rollout, for how much custom field data requests have."""


async def read_zone(
    client: ServiceClient, zone: Zone, *, urgent: bool = False, listed: bool = False
) -> log_fields.Reading:
    """Everything readable of a zone that matters to its custom log fields. Of a zone that is not Enterprise
    its plan alone is read: log jobs and the phase are not for it. ``urgent``: it is about to be changed.
    ``listed``: its plan is that of the list which this reading follows, and is asked for only where that does
    not tell it. Raises ServiceError.
    """
    plan = zone.plan
    if plan is Plan.OTHER or (plan is not Plan.ENTERPRISE and not listed):
        plan = Plan(await plan_now(client, zone, urgent=urgent) or plan)
    if plan is not Plan.ENTERPRISE:
        return log_fields.Reading(plan=plan)
    return await _rules_and_jobs(client, zone, plan, urgent)


async def _rules_and_jobs(client: ServiceClient, zone: Zone, plan: Plan, urgent: bool) -> log_fields.Reading:
    try:
        rulesets, jobs = await together(
            client.rulesets(zone.id, urgent=urgent), client.log_jobs(zone.id, urgent=urgent)
        )
    except Refused as refusal:
        if refusal.status != HTTPStatus.BAD_REQUEST or not of_the_target(refusal):
            raise
        return log_fields.Reading(plan=plan, refused=refusal.answer[:200])
    wanted = {log_fields.PHASE, *log_fields.TRANSFORM_PHASES}
    found = [item for item in rulesets if item.kind == "zone" and item.phase in wanted and item.id]
    full = await together(*(_with_rules(client, zone, item, urgent) for item in found))
    by_phase = {str(item.phase): one for item, one in zip(found, full, strict=True) if one is not None}
    return log_fields.Reading(
        plan=plan,
        rulesets=[item.raw for item in rulesets],
        ruleset=by_phase.get(log_fields.PHASE),
        jobs=[job.safe for job in jobs],
        transforms={
            phase: by_phase[phase].get("rules") or []
            for phase in log_fields.TRANSFORM_PHASES
            if phase in by_phase
        },
    )


async def read_sound(
    client: ServiceClient,
    zone: Zone,
    *,
    urgent: bool = False,
    known: Callable[[], Awaitable[Sequence[str]]] | None = None,
) -> log_fields.Reading:
    """A zone's reading whose rules can be counted and compared, whatever its plan is by now: that there are
    none would say that what was sent is undone. ``known``: asked for the identifiers of rulesets of the phase
    where the list has none. Raises NotUnderstood where they cannot, or are not shown.
    """
    reading = await _rules_and_jobs(client, zone, zone.plan, urgent)
    if reading.ruleset is None and not reading.refused and known and (ids := await known()):
        found = await present_ruleset(client, zone.id, *ids)
        reading = reading.model_copy(update={"ruleset": found and found.raw})
    if reading.refused:
        raise NotUnderstood(reading.refused, call="rulesets.list", outcome=Outcome.READ)
    if odd := log_fields.unsound(reading.rules):
        raise NotUnderstood(odd, call="rulesets.get", outcome=Outcome.READ)
    return reading


async def _with_rules(
    client: ServiceClient, zone: Zone, listed: Ruleset, urgent: bool
) -> dict[str, Any] | None:
    """A listed ruleset with its rules, or None where it has gone since."""
    try:
        return (await client.ruleset(zone.id, str(listed.id), urgent=urgent)).raw
    except NotFound:
        return None


async def size_notices(
    spec: LogFieldsSpec, zone: Zone, reading: log_fields.Reading, wanted: FieldSet, room: int | None
) -> list[Reason]:
    """What sampled log entries say of the room that an entry has for custom fields, before the rollout.
    ``room``: in bytes; None where no limit is known.
    """
    if spec.entries is None or room is None:
        return []
    sample: list[dict[str, Any]] = []
    try:
        async for entry in LogStore(spec.entries, zone).entries():
            sample.append(entry)
            if len(sample) >= SAMPLE:
                break
    except LogStoreError as failure:
        return [Reason(code=ReasonCode.FIELDS_SIZE_UNKNOWN, said=str(failure)[:150])]
    fields = {*log_fields.fields_of(wanted), *log_fields.carried(reading.rules)}
    sizes = log_fields.sizes(sample, fields, room)
    notice = log_fields.size_reason(sizes, room) if sizes else None
    return [notice] if notice else []


@dataclass(frozen=True)
class Proposed:
    """The wanted fields of a zone, the assessment, and what people should know beside its warnings."""

    wanted: FieldSet
    assessment: log_fields.Assessment
    notices: tuple[Reason, ...]


async def proposed(
    spec: LogFieldsSpec, zone: Zone, reading: log_fields.Reading, client: ServiceClient
) -> Proposed:
    """What a reading leads to. Raises ServiceError."""
    wanted, profile, job = spec.wanted(zone.id, zone.name), client.profile, spec.job
    found = log_fields.assess(reading, zone, wanted, job, profile)
    notices = await size_notices(spec, zone, reading, wanted, profile.most_log_data)
    if job is not None and found.verdict is Verdict.READY and log_fields.creates_a_job(reading):
        why = await _odd_names(job, zone, client)
        if why is not None and why.code is ReasonCode.ODD_LOG_JOB:
            found = log_fields.Assessment(verdict=Verdict.BLOCKED, why=(why,))
        elif why is not None:
            notices.append(why)
    return Proposed(wanted, found, tuple(notices))


async def _odd_names(job: NewJobSpec, zone: Zone, client: ServiceClient) -> Reason | None:
    """What is wrong with the log fields of a job that would be created, or None: the service takes any name,
    and writes entries without those that it does not have. Where it does not say which it has, that is the
    reason, which blocks nothing. Raises ServiceError.
    """
    try:
        known = await client.request_log_fields(zone.id)
    except (Refused, NotUnderstood) as failure:
        if isinstance(failure, RateLimited | Unauthorized):
            raise
        refuse_held(failure)
        return Reason(code=ReasonCode.FIELD_NAMES_UNKNOWN, said=str(failure)[:150])
    if not (odd := log_fields.unknown_fields(job, known)):
        return None
    said = f"log_fields.job.fields: the service has no log field {', '.join(odd)}"[:300]
    return Reason(code=ReasonCode.ODD_LOG_JOB, names=(log_fields.own_name(job, zone),), said=said)
