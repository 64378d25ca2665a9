"""Rules 1 to 4 of custom log fields: checked by the journal, by what the approvers signed, and by every
version that the service keeps of the rules (docs/service.md §2.2, §2.3, §4.2, §8).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from edgeshift.testbed.invariants.log_history import (
    ZoneRules,
    entries,
    is_ours,
    logged,
    logged_by_us,
    our_fields,
)
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CheckerInput, Execution, RuleCheck, ZoneAtService
from edgeshift.testbed.invariants.signing import all_signed, not_agreed, proposed

LOG_FIELDS = frozenset({"Cookies", "RequestHeaders", "ResponseHeaders"})
"""The fields of log entries that carry custom fields (docs/service.md §2.3)."""

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_RULE_CALLS = ("rulesets.create", "rulesets.put", "entrypoint.put")
_OWNERSHIP = "logpush.ownership"


def rules_of(seen: CheckerInput, zone: str) -> ZoneRules:
    """The versions of a zone's rules."""
    at_service = seen.zone.get(zone)
    return ZoneRules(at_service.rules if at_service else (), seen.of_zone.get(zone, []))


def is_forward(seen: CheckerInput, request: Request) -> bool:
    """Whether a request adds something. One that only takes out is the rollback."""
    if request.call in _RULE_CALLS:
        return request.call == "rulesets.create" or bool(_added(seen, request))
    if request.call == "logpush.jobs.update":
        job = request.log_job or {}
        return _turned_on(job) or bool(_listed(job.get("sent") or {}) - _listed(job.get("before") or {}))
    return request.mutates and request.area == "log-fields" and request.method != "DELETE"


def _added(seen: CheckerInput, request: Request) -> set[tuple[str, str]]:
    """The fields that edgeshift's own rule has logged after a write of rules, and not before."""
    sent = (request.log_fields or {}).get("rules") or ()
    return logged_by_us(sent) - logged_by_us(rules_of(seen, request.zone or "").before(request))


def _turned_on(job: dict[str, Any]) -> bool:
    """Whether a write of a job has it push again."""
    sent, before = job.get("sent") or {}, job.get("before") or {}
    return sent.get("enabled") is True and before.get("enabled") is not True


def _listed(job: dict[str, Any]) -> set[str]:
    """The log fields that a job's settings list."""
    return set(filter(None, str((job.get("options") or {}).get("fields", "")).split(",")))


def signed(seen: CheckerInput) -> RuleCheck:
    """Rule 1. No rule and no job is written without a sign-off of what that adds; the rollback needs none."""
    sent = [request for request in seen.journal if request.mutates and is_forward(seen, request)]
    return all_signed(seen, "no field or job is added without a sign-off of it", sent, _unsigned)


def _unsigned(seen: CheckerInput, request: Request) -> str | None:
    found = proposed(seen, request, "log-fields")
    if found is None:
        return f"{request.call} was sent without a proposal of it"
    digest, body = found
    if body.get("name") != "log_fields":
        return f"what was signed, {digest[:12]}, says nothing of log fields"
    jobs = body["jobs"]
    if request.call in _RULE_CALLS and (more := _added(seen, request) - _named(body)):
        return f"{_told(more)} was added, which {digest[:12]} does not name"
    if request.call == "logpush.jobs.update":
        job = request.log_job or {}
        added = _listed(job.get("sent") or {}) - _listed(job.get("before") or {})
        if more_fields := added - set(jobs["list"]):
            return f"a job lists {', '.join(sorted(more_fields))}, which {digest[:12]} does not name"
        if _turned_on(job) and not jobs["new"]:
            return f"a log job was turned on, and {digest[:12]} has no new job"
        if _turned_on(job) and (
            unsigned_fields := _listed(job.get("before") or {}) - LOG_FIELDS - _fields_of(jobs["new"])
        ):
            told = ", ".join(sorted(unsigned_fields))
            return f"a log job was turned on that lists {told}, which {digest[:12]} does not name"
    if request.call in (_OWNERSHIP, "logpush.jobs.create"):
        if not jobs["new"]:
            return f"{request.call} was sent, and {digest[:12]} has no new job"
        sent = (request.log_job or {}).get("sent")
        if sent and _listed(sent) - LOG_FIELDS - _fields_of(jobs["new"]):
            return f"the new job lists log fields that {digest[:12]} does not name"
    return not_agreed(seen, request, digest, body)


def _named(body: dict[str, Any]) -> set[tuple[str, str]]:
    """The custom fields that a body names."""
    return {(kind, name) for kind, names in body["fields"].items() for name in names}


def _fields_of(job: dict[str, Any]) -> set[str]:
    found = re.search(r"(?:^|&)fields=([^&]*)", str(job.get("logpull_options") or ""))
    return set(found[1].replace("%2C", ",").split(",")) if found else set(job.get("fields") or ())


def _told(found: set[tuple[str, str]]) -> str:
    return ", ".join(f"{kind} {name}" for kind, name in sorted(found))


def once(seen: CheckerInput) -> RuleCheck:
    """Rule 2. No write is repeated on a guess; each is made over the version that was read, or what it
    overwrote is put back afterwards.
    """
    violations: list[str] = []
    checked = 0
    for zone, requests in seen.of_zone.items():
        history, name = rules_of(seen, zone), seen.name(zone)
        read: int | None = None
        unknown: Request | None = None
        for request in requests:
            found = request.log_fields or {}
            if not request.mutates:
                if request.method == "GET" and request.status == 200:
                    read = found.get("version", read)
                    # Reading anything of the zone's log fields afterwards shows what came of it.
                    unknown = None if request.area == "log-fields" else unknown
                continue
            if request.area != "log-fields":
                continue
            checked += 1
            if unknown is not None and unknown.call == request.call:
                violations.append(
                    f"{name}: {request.call} was sent again on a guess"
                    f" (requests {unknown.seq} and {request.seq})"
                )
            if request.call == "rulesets.put" and history.missed(request, read) and history.lost():
                violations.append(
                    f"{name}: a write of somebody else was overwritten and not put back"
                    f" (request {request.seq}; {', '.join(history.lost()[:3])})"
                )
            answered = request.status is not None and 200 <= request.status < 300 and request.took_effect
            unknown = None if answered or request.refused or request.status == 429 else request
            read = found.get("version", read) if answered else read
    return RuleCheck(
        rule=2,
        title="no write on a guess, none over a version nobody read",
        checker="journal, versions at the service",
        checked=checked,
        violations=violations,
    )


def entitled(seen: CheckerInput) -> RuleCheck:
    """Rule 3. Nothing is sent for a zone that is not Enterprise."""
    sent = [request for request in seen.journal if request.mutates and request.area == "log-fields"]
    violations = []
    for request in sent:
        at_service = seen.zone.get(request.zone or "")
        plan = request.plan or (at_service.plan if at_service else "unknown")
        if plan != "enterprise":
            violations.append(
                f"{seen.name(request.zone)}: {request.call} was sent to a zone of plan {plan}"
                f" (request {request.seq})"
            )
    return RuleCheck(
        rule=3,
        title="log fields go to Enterprise zones alone",
        checker="journal",
        checked=len(sent),
        violations=violations,
    )


def kept(seen: CheckerInput) -> RuleCheck:
    """Rule 4. No write is over a limit, and nobody else's rule, job or option of a job is lost."""
    violations: list[str] = []
    checked, most = 0, seen.service.most_log_fields
    for zone, requests in seen.of_zone.items():
        name, history = seen.name(zone), rules_of(seen, zone)
        mine = [request for request in requests if request.mutates and request.area == "log-fields"]
        made = {
            (one.log_job or {}).get("id")
            for one in mine
            if one.call == "logpush.jobs.create" and one.took_effect
        }
        for request in mine:
            if request.call in _RULE_CALLS:
                checked += 1
                sent = (request.log_fields or {}).get("rules") or ()
                violations += [f"{name}: {why} (request {request.seq})" for why in mistakes(sent, most)]
            if request.call == "logpush.jobs.update":
                checked += 1
                violations += [
                    f"{name}: {why} (request {request.seq})" for why in _changed(request.log_job or {}, made)
                ]
        if mine:
            checked += 1
            violations += [
                f"{name}: the rule {ref} of somebody else is not as it was left" for ref in history.lost()
            ]
    return RuleCheck(
        rule=4,
        title="within the limits, and nothing of others is lost",
        checker="journal, versions at the service",
        checked=checked,
        violations=violations,
    )


def mistakes(rules: Sequence[dict[str, Any]], most: int | None) -> list[str]:
    """What is wrong with the rules of a write (docs/service.md §2.2, §7, §8). ``most``: fields of a zone."""
    found = []
    count = sum(len(entries(rule)) for rule in rules)
    if most is not None and count > most:
        found.append(f"{count} custom fields, {most} at most")
    for rule in rules:
        if rule.get("action") != "log_custom_field" or rule.get("expression") != "true":
            found.append(f"a rule with action {rule.get('action')} and expression {rule.get('expression')}")
        if not entries(rule):
            found.append("a rule without any field")
        if not is_ours(rule):
            continue
        for array, name in entries(rule):
            if not _TOKEN.fullmatch(name) or (array != "cookie_fields" and name != name.lower()):
                found.append(f"{array} has {name!r}, which is no name there")
    return found


def _changed(job: dict[str, Any], made: set[Any]) -> list[str]:
    """What a write of a job changes beside its list of fields. ``made``: the jobs that campaigns created,
    which they may also switch off.
    """
    before, after = job.get("before") or {}, job.get("after") or {}
    sent = {**before, **(job.get("sent") or {})}
    found = []
    for key in sorted(before.keys() | after.keys()):
        if key == "enabled" and job.get("id") in made:
            continue
        if key != "options" and sent.get(key) != before.get(key):
            found.append(f"{key} of a log job was changed")
    options, were = dict(sent.get("options") or {}), dict(before.get("options") or {})
    listed, had = options.pop("fields", ""), were.pop("fields", "")
    if options != were:
        found.append("other options of a log job were changed")
    kept_names = [one for one in listed.split(",") if one not in LOG_FIELDS]
    if kept_names != [one for one in had.split(",") if one not in LOG_FIELDS]:
        found.append("other fields of a log job were changed")
    return found


def disagrees(seen: CheckerInput, at_service: ZoneAtService, execution: Execution) -> str | None:
    """Where the rules and jobs of a zone stand, against the outcome of its last execution. What others wrote
    afterwards is theirs.
    """
    history = rules_of(seen, at_service.id)
    rules = history.last.rules if history.last else ()
    if not history.ended_by_us:
        return None
    if execution.outcome == "settled":
        digests = {one.digest for one in seen.intents if one.zone == at_service.id and one.step == "commit"}
        bodies = [body for digest in digests if (body := seen.proposals.get(digest)) and "fields" in body]
        if not any(_named(body) <= logged(rules) for body in bodies):
            return "ended as settled, but the service does not log the fields that were proposed"
        later = _made_since(seen.of_zone.get(at_service.id, ()))
        jobs = [_listed(job) for job in at_service.jobs if job.get("enabled") and job.get("id") not in later]
        if not any(all(set(body["jobs"]["list"]) <= names for names in jobs) and jobs for body in bodies):
            return "ended as settled, but a log job of it does not list what carries its fields"
    first = our_fields(at_service.rules[0].rules) if at_service.rules else set()
    if execution.outcome == "rolled_back" and (left := our_fields(rules) - first) and history.written:
        return f"ended as rolled back, but {_told(left)} is still there"
    return None


def _made_since(requests: Sequence[Request]) -> set[Any]:
    """The log jobs that somebody else has made or turned on after the campaigns' last write to the zone: they
    need not list anything.
    """
    last = max((one.seq for one in requests if one.mutates), default=0)
    theirs = (one for one in requests if one.stranger and one.took_effect and one.seq > last)
    jobs = (one.log_job or {} for one in theirs)
    return {
        job.get("id")
        for job in jobs
        if (job.get("after") or {}).get("enabled") and not (job.get("before") or {}).get("enabled")
    }


def landed(requests: list[Request]) -> datetime:
    """When a write (the first of the zone's ``requests``) was over: once it was refused, or at the next
    reading.
    """
    first = requests[0]
    if first.turned_away:
        return first.time
    following = (one.time for one in requests[1:] if one.method == "GET" and one.status == 200)
    return next(following, first.time)
