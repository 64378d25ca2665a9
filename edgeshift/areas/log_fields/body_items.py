"""What people sign in the area log-fields, thing by thing: fields and log jobs, beside those that the zone
has (docs/service.md §2.2, §2.3). Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from edgeshift.areas.log_fields.jobs import OddOptions, listed, pushes, updated
from edgeshift.areas.log_fields.names import CustomField, fields_of, fields_of_document
from edgeshift.areas.log_fields.reading import Reading
from edgeshift.areas.log_fields.rules import carried
from edgeshift.model.body_view import NOTHING, Item, Line, Mark, as_text
from edgeshift.model.digests import Body
from edgeshift.profiles import ServiceProfile

SHOWN_OF_A_NEW_JOB = ("destination", "dataset", "logpull_options", "frequency", "enabled")


def items(body: Body, before: Reading | None, profile: ServiceProfile) -> tuple[Item, ...]:
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
        *_new_job(jobs.get("new")),
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
        if not pushes(job):
            continue
        name = f" {job['name']}" if job.get("name") else ""
        title = f"log job {job.get('id')}{name}"
        try:
            after = updated(job, names, profile)
        except OddOptions as odd:
            yield Item(mark=Mark.SAME, title=title, lines=(Line(label="left as it is", text=str(odd)),))
            continue
        if after is None:
            line = Line(label="lists", text=", ".join(listed(job, profile)))
            yield Item(mark=Mark.SAME, title=title, lines=(line,))
        else:
            added = [one for one in names if one not in listed(job, profile)]
            lines = (
                Line(label="also lists", text=", ".join(added)),
                *(
                    Line(
                        label=key, text=as_text(value), before=as_text(job[key]) if job.get(key) else NOTHING
                    )
                    for key, value in after.items()
                ),
            )
            yield Item(mark=Mark.CHANGED, title=title, lines=lines)


def _new_job(new: Any) -> Iterator[Item]:
    if not isinstance(new, Mapping):
        return
    lines = [Line(label=key, text=as_text(new[key])) for key in SHOWN_OF_A_NEW_JOB if key in new]
    lines += [
        Line(label=str(key), text=as_text(value))
        for key, value in new.items()
        if key not in (*SHOWN_OF_A_NEW_JOB, "name")
    ]
    yield Item(mark=Mark.ADDED, title=f"log job {new.get('name')}", lines=tuple(lines))
