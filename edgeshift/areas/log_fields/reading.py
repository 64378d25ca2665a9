"""What reading tells of a zone before its custom log fields are written (docs/service.md §2.2, §2.3, §8).
Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from edgeshift.areas.assessment import Verdict
from edgeshift.areas.log_fields.jobs import (
    Job,
    OddOptions,
    StepJobs,
    is_of_requests,
    listed,
    needed,
    new_job,
    not_as_signed,
    odd_name,
    options_of,
    own_name,
    pushes,
    turned_off,
)
from edgeshift.areas.log_fields.names import (
    CustomField,
    Kind,
    fields_document,
    fields_of,
    mistakes,
    too_many,
)
from edgeshift.areas.log_fields.rules import (
    Rule,
    carried,
    count,
    fields_of_rule,
    is_effective,
    merge,
    missing,
    raw_fields,
    unsound,
)
from edgeshift.areas.log_fields.terms import FieldSet, NewJobSpec
from edgeshift.model.digests import Body
from edgeshift.model.fleet import Plan, Zone
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, Reasons, codes_of
from edgeshift.profiles import ServiceProfile

TRANSFORM_PHASES = {
    "http_request_late_transform": Kind.REQUEST,
    "http_response_headers_transform": Kind.RESPONSE,
}
"""The phases whose rules set headers, and which headers (docs/service.md §8)."""

SECRETS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie", "x-auth-key"})


class Reading(BaseModel):
    """Everything that was read of a zone, secrets masked. It is what the snapshot holds.

    ``ruleset``: the one of the phase with its rules, or None. ``transforms``: the rules of the phases that
    set headers, by phase. ``refused``: the service's own words where it does not let the zone have log jobs
    or custom fields.
    """

    plan: Plan
    rulesets: list[dict[str, Any]] = []
    ruleset: dict[str, Any] | None = None
    jobs: list[dict[str, Any]] = []
    transforms: dict[str, list[dict[str, Any]]] = {}
    refused: str = ""

    @property
    def rules(self) -> list[Rule]:
        """The rules of the log fields; none where there is no ruleset."""
        return (self.ruleset or {}).get("rules") or []


class Assessment(BaseModel):
    """What reading tells of a zone. ``additions``: what would be changed, one sentence each."""

    model_config = ConfigDict(frozen=True)

    verdict: Verdict
    why: Reasons = ()
    warnings: tuple[str, ...] = ()
    additions: tuple[str, ...] = ()

    @property
    def causes(self) -> tuple[ReasonCode, ...]:
        """The codes of what stands in the way, each once; none where nothing does."""
        return codes_of(self.why) if self.verdict is Verdict.BLOCKED else ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons, one sentence each."""
        return tuple(map(text_of, self.why))


def assess(
    reading: Reading, zone: Zone, wanted: FieldSet, job: NewJobSpec | None, profile: ServiceProfile
) -> Assessment:
    """The verdict on one zone. ``job``: the log job that zones without one get."""
    wrong = [*mistakes(wanted), *too_many(wanted, profile)]
    found = [Reason(code=ReasonCode.WRONG_NAMES, said=text) for text in wrong]
    if reading.plan is not Plan.ENTERPRISE or reading.refused:
        plan = reading.plan.value
        found.append(Reason(code=ReasonCode.NOT_ENTITLED, plan=plan, said=reading.refused))
    elif odd := unsound(reading.rules):
        found.append(Reason(code=ReasonCode.ODD_RULES, said=odd))
    else:
        found += _no_room(reading, wanted, profile.most_log_fields)
        found += _odd_jobs(reading, zone, wanted, job, profile)
    if found:
        return Assessment(verdict=Verdict.BLOCKED, why=tuple(found))
    notes = warnings(reading, wanted, profile)
    if in_place(reading, wanted, profile):
        return Assessment(
            verdict=Verdict.ALREADY_SETTLED,
            why=(Reason(code=ReasonCode.FIELDS_IN_PLACE),),
            warnings=notes,
        )
    additions = _additions(reading, zone, wanted, job, profile)
    return Assessment(verdict=Verdict.READY, warnings=notes, additions=additions)


def in_place(reading: Reading, wanted: FieldSet, profile: ServiceProfile) -> bool:
    """Whether every wanted field is logged by a rule, and listed for by every log job there is."""
    return not lacking(reading, wanted, profile)


def lacking(
    reading: Reading, wanted: FieldSet, profile: ServiceProfile, of_step: StepJobs | None = None
) -> str:
    """What of the wanted state the zone does not show, or empty. ``of_step``: the log jobs that are to list
    what it needs, once it was written. Without it, and where none of them pushes any more, each one is.
    """
    if lacks := missing(reading.rules, wanted):
        return f"{lacks[0]} is in no rule" + (f", and {len(lacks) - 1} more" if lacks[1:] else "")
    jobs = [job for job in reading.jobs if pushes(job)]
    if not jobs:
        return "no log job pushes request logs"
    for job in [job for job in jobs if of_step and of_step.has(job)] or jobs:
        if names := _unlisted(job, wanted, profile):
            return f"log job {job.get('id')} does not list {names}"
    return ""


def came_since(
    reading: Reading, wanted: FieldSet, profile: ServiceProfile, of_step: StepJobs
) -> tuple[str, ...]:
    """The log jobs that push, do not list what the wanted fields need, and need not: a sentence each."""
    later = [job for job in reading.jobs if pushes(job) and not of_step.has(job)]
    return tuple(
        f"log job {job.get('id')} came since and does not list {names}"
        for job in later
        if (names := _unlisted(job, wanted, profile))
    )


def _unlisted(job: Job, wanted: FieldSet, profile: ServiceProfile) -> str:
    return ", ".join(sorted(set(needed(wanted)) - set(listed(job, profile))))


def proposal_body(reading: Reading, zone: Zone, wanted: FieldSet, job: NewJobSpec | None) -> Body:
    """What people sign: the end state. It names no rules and no jobs of others, so that what they write
    meanwhile is merged and not signed anew; and a step that was made in part proposes the same again.
    """
    names = needed(wanted)
    create = job is not None and not _others(reading, zone, job)
    return {
        "name": "log_fields",
        "fields": fields_document(wanted),
        "jobs": {"list": list(names), "new": new_job(job, names) if job and create else None},
    }


def odd_body(body: Mapping[str, Any]) -> str | None:
    """Why a body is none that people can have been asked to sign (``proposal_body``), or None."""
    if body.get("name") != "log_fields":
        return "its name is not log_fields"
    try:
        FieldSet.model_validate(body.get("fields"))
    except ValidationError:
        return "its fields are no lists of names"
    jobs = body.get("jobs")
    names = jobs.get("list") if isinstance(jobs, Mapping) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return "its jobs have no list of names"
    new = jobs.get("new", "") if isinstance(jobs, Mapping) else ""
    if new is None or (isinstance(new, Mapping) and {"name", "destination"} <= new.keys()):
        return None
    return "its jobs do not say what is made"


def _others(reading: Reading, zone: Zone, job: NewJobSpec) -> list[dict[str, Any]]:
    """The log jobs that push, but for the one that edgeshift itself makes."""
    return [one for one in reading.jobs if pushes(one) and one.get("name") != own_name(job, zone)]


def _no_room(reading: Reading, wanted: FieldSet, most: int | None) -> list[Reason]:
    present, after = count(reading.rules), count(merge(reading.rules, wanted))
    if most is None or after <= most or not missing(reading.rules, wanted):
        return []
    return [Reason(code=ReasonCode.TOO_MANY_FIELDS, of=present, count=after, limit=most)]


def _odd_jobs(
    reading: Reading, zone: Zone, wanted: FieldSet, job: NewJobSpec | None, profile: ServiceProfile
) -> list[Reason]:
    jobs = [one for one in reading.jobs if pushes(one)]
    off: list[Job] = []
    if not jobs:
        if job is None:
            count_off = sum(is_of_requests(one) for one in reading.jobs)
            return [Reason(code=ReasonCode.NO_LOG_JOB, count=count_off)]
        # The one of an earlier campaign is turned on again, with what it lists.
        off = turned_off(reading.jobs, own_name(job, zone))
        if not off and (odd := odd_name(job, zone)):
            # The service would refuse it once the rules are written.
            return [Reason(code=ReasonCode.ODD_LOG_JOB, names=(own_name(job, zone),), said=odd)]
    found = []
    for one in jobs or off:
        try:
            options_of(one, profile).fields  # noqa: B018
            said = not_as_signed(one, job, needed(wanted), profile) if job and off else ""
        except OddOptions as wrong:
            said = str(wrong)
        if said:
            found.append(Reason(code=ReasonCode.ODD_LOG_JOB, names=(str(one.get("id")),), said=said))
    return found


def _additions(
    reading: Reading, zone: Zone, wanted: FieldSet, job: NewJobSpec | None, profile: ServiceProfile
) -> tuple[str, ...]:
    found = []
    if reading.ruleset is None:
        found.append("a ruleset for custom log fields is created")
    if fields := missing(reading.rules, wanted):
        found.append(f"logged from now on: {', '.join(str(field) for field in fields)}")
    jobs: list[Job] = [one for one in reading.jobs if pushes(one)]
    if job is not None and not jobs:
        jobs = turned_off(reading.jobs, own_name(job, zone))[:1]
        found += [f"log job {one.get('id')} is turned on again" for one in jobs]
        found += [] if jobs else [f"the log job {own_name(job, zone)} is created"]
    for one in jobs:
        if lacking_names := [name for name in needed(wanted) if name not in listed(one, profile)]:
            found.append(f"log job {one.get('id')} also pushes {', '.join(lacking_names)}")
    return tuple(found)


def creates_a_job(reading: Reading) -> bool:
    """Whether the zone gets the new log job, where there is one to get, or has it turned on again: nothing
    pushes its request logs.
    """
    return not any(pushes(one) for one in reading.jobs)


def warnings(reading: Reading, wanted: FieldSet, profile: ServiceProfile) -> tuple[str, ...]:
    """What people should know before they agree."""
    found = []
    raw = frozenset(field for rule in reading.rules if is_effective(rule) for field in raw_fields(rule))
    for field in fields_of(wanted):
        if field in raw:
            found.append(
                f"{field}: a rule of somebody else has its original value logged (raw_response_fields)"
            )
        if phase := set_by_transform(field, reading.transforms):
            before = logged_as_it_came(field, profile) or field in raw
            what = "came before the rule, or nothing" if before else "the rule makes of it"
            found.append(f"{field}: a rule of the phase {phase} sets it; what is logged is what {what}")
        if field.kind is not Kind.COOKIE and field.name in SECRETS:
            found.append(f"{field} carries credentials: every reader of the logs will have them")
        if field == CustomField(Kind.RESPONSE, "set-cookie"):
            found.append(f"{field}: only the first one of a response is logged")
    cookies = any(field.kind is Kind.COOKIE for field in fields_of(wanted))
    if cookies and (phase := set_by_transform(CustomField(Kind.REQUEST, "cookie"), reading.transforms)):
        found.append(
            f"a rule of the phase {phase} sets the header cookie: cookies are logged as they were before it"
        )
    have = carried(reading.rules)
    for rule in reading.rules:
        off = [field for field in fields_of_rule(rule) if field in fields_of(wanted) and field not in have]
        if off and not is_effective(rule):
            name = rule.get("description") or rule.get("ref") or rule.get("id")
            found.append(
                f"the rule {str(name)[:60]!r} has {off[0]} too, but is disabled: somebody turned it off"
            )
    for one in reading.jobs:
        if not pushes(one):
            continue
        if sample := options_of(one, profile).sample:
            found.append(f"log job {one.get('id')} pushes a sample of the requests alone ({sample})")
        if one.get("error_message"):
            found.append(
                f"log job {one.get('id')} failed last, at {one.get('last_error')}: its entries may not come"
            )
    return tuple(found)


def logged_as_it_came(field: CustomField, profile: ServiceProfile) -> bool:
    """Whether a field that our rule names is logged as it was before any rule of the zone changed it
    (docs/service.md §8).
    """
    return field.kind is not Kind.RESPONSE or profile.response_headers == "original"


def set_by_transform(field: CustomField, transforms: Mapping[str, Sequence[Mapping[str, Any]]]) -> str | None:
    """The phase of an enabled rule that sets this header, or None. A rule that only takes a header away sets
    nothing.
    """
    for phase, rules in transforms.items():
        if TRANSFORM_PHASES.get(phase) is not field.kind:
            continue
        for rule in rules:
            headers = (rule.get("action_parameters") or {}).get("headers")
            if not isinstance(headers, Mapping):
                continue
            operations = {str(name).lower(): change for name, change in headers.items()}
            change = operations.get(field.name)
            if rule.get("enabled", True) is False or not isinstance(change, Mapping):
                continue
            if change.get("operation") in ("set", "add"):
                return phase
    return None


def jobs_without(jobs: Sequence[Job], wanted: FieldSet, profile: ServiceProfile) -> tuple[str, ...]:
    """The log fields that no pushing job lists."""
    names = {name for one in jobs if pushes(one) for name in listed(one, profile)}
    return tuple(name for name in needed(wanted) if name not in names)
