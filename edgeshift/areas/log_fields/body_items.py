"""What people sign in the area log-fields, thing by thing: fields and log jobs, beside those that the zone
has (docs/service.md §2.2, §2.3). Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from edgeshift.areas.log_fields.jobs import Job, OddOptions, in_zone, is_created, listed, pushes, updated
from edgeshift.areas.log_fields.names import CustomField, fields_of, fields_of_document
from edgeshift.areas.log_fields.reading import Reading
from edgeshift.areas.log_fields.rules import carried
from edgeshift.model.body_view import NOTHING, Item, Line, Mark, as_text
from edgeshift.model.digests import Body
from edgeshift.model.fleet import Zone
from edgeshift.profiles import ServiceProfile

SHOWN_OF_A_NEW_JOB = ("destination", "dataset", "logpull_options", "frequency", "enabled")


def items(body: Body, before: Reading | None, profile: ServiceProfile, zone: Zone) -> tuple[Item, ...]:
    """The end state that is signed, as a difference from what the snapshot shows. Fields and log jobs of
    others that it does not name stay as they are.
    """
    wanted = fields_of_document(body["fields"]) if body.get("fields") else None
    fields = tuple(dict.fromkeys(fields_of(wanted))) if wanted else ()
    jobs = body.get("jobs")
    jobs = jobs if isinstance(jobs, Mapping) else {}
    names = tuple(map(str, jobs.get("list") or ()))
    return (
        *_ruleset(before),
        *_fields(fields, before),
        *_jobs(names, before, profile),
        *_new_job(jobs.get("new"), names, before, profile, zone),
    )


def _ruleset(before: Reading | None) -> Iterator[Item]:
    if before is not None and before.ruleset is None:
        yield Item(mark=Mark.ADDED, title="the zone's ruleset for custom log fields")


def _fields(fields: Sequence[CustomField], before: Reading | None) -> Iterator[Item]:
    have = carried(before.rules) if before else frozenset()
    for field in fields:
        yield Item(mark=Mark.SAME if field in have else Mark.ADDED, title=str(field))
    for field in sorted(have - set(fields)):
        yield Item(mark=Mark.SAME, title=f"{field}, which others log")


def _jobs(names: Sequence[str], before: Reading | None, profile: ServiceProfile) -> Iterator[Item]:
    for job in before.jobs if before else ():
        if pushes(job):
            name = f" {job['name']}" if job.get("name") else ""
            mark, lines = _listing(job, names, profile)
            yield Item(mark=mark, title=f"log job {job.get('id')}{name}", lines=lines)


def _listing(job: Job, names: Sequence[str], profile: ServiceProfile) -> tuple[Mark, tuple[Line, ...]]:
    """What a log job is to list beside what it does."""
    try:
        after = updated(job, names, profile)
    except OddOptions as odd:
        return Mark.SAME, (Line(label="left as it is", text=str(odd)),)
    if after is None:
        return Mark.SAME, (Line(label="lists", text=", ".join(listed(job, profile))),)
    added = [one for one in names if one not in listed(job, profile)]
    return Mark.CHANGED, (
        Line(label="also lists", text=", ".join(added)),
        *(
            Line(label=key, text=as_text(value), before=as_text(job[key]) if job.get(key) else NOTHING)
            for key, value in after.items()
        ),
    )


def _new_job(
    new: Any, names: Sequence[str], before: Reading | None, profile: ServiceProfile, zone: Zone
) -> Iterator[Item]:
    """The job that the body has created: a new one, or the one of its name that the zone has."""
    if not isinstance(new, Mapping):
        return
    title = f"log job {new.get('name')}"
    others = [key for key in new if key not in (*SHOWN_OF_A_NEW_JOB, "name")]
    shown = [key for key in (*SHOWN_OF_A_NEW_JOB, *others) if key in new]
    own_name = in_zone(str(new.get("name")), zone)
    there = [job for job in (before.jobs if before else ()) if is_created(job, own_name)]
    job = next(filter(pushes, there), next(iter(there), None))
    if job is None:
        yield Item(mark=Mark.ADDED, title=title, lines=_lines(new, shown))
    elif pushes(job):
        # It is among the others, with what it lists.
        line = Line(label="there already", text=f"log job {job.get('id')}")
        yield Item(mark=Mark.SAME, title=title, lines=(line,))
    else:
        lines = (
            Line(label="turned on again", text=f"log job {job.get('id')}"),
            *_lines(new, [key for key in shown if key != "logpull_options"]),
            *_listing(job, names, profile)[1],
        )
        yield Item(mark=Mark.CHANGED, title=title, lines=lines)


def _lines(new: Mapping[str, Any], keys: Sequence[str]) -> tuple[Line, ...]:
    return tuple(Line(label=str(key), text=as_text(new[key])) for key in keys)
