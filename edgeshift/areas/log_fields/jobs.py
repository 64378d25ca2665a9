"""Log jobs of the custom log fields: which log fields they have to list, and what is sent so that they do
(docs/service.md §2.3, §4.2). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edgeshift.areas.log_fields.job_options import OddOptions, Options, OutputOptions
from edgeshift.areas.log_fields.names import Kind, fields_of
from edgeshift.areas.log_fields.terms import FieldSet, NewJobSpec
from edgeshift.model.fleet import Zone
from edgeshift.profiles import ServiceProfile

__all__ = [
    "DATASET",
    "Job",
    "OddOptions",
    "Options",
    "OutputOptions",
    "StepJobs",
    "is_created",
    "is_of_requests",
    "listed",
    "needed",
    "new_job",
    "new_options",
    "not_as_signed",
    "odd_name",
    "options_of",
    "own_name",
    "pushes",
    "restored",
    "turned_off",
    "unknown_fields",
    "updated",
]

DATASET = "http_requests"
"""The dataset whose entries carry custom fields (docs/service.md §2.3)."""

_NAME = re.compile(r"[a-zA-Z0-9.-]*")

Job = Mapping[str, Any]


def needed(fields: FieldSet) -> tuple[str, ...]:
    """The log fields that jobs have to list for these custom fields."""
    kinds = {field.kind for field in fields_of(fields)}
    return tuple(kind.log_field for kind in (Kind.COOKIE, Kind.REQUEST, Kind.RESPONSE) if kind in kinds)


def is_of_requests(job: Job) -> bool:
    """Whether a job is of the dataset http_requests, as one that names none is (docs/service.md §2.3)."""
    return (job.get("dataset") or DATASET) == DATASET


def pushes(job: Job) -> bool:
    """Whether the job pushes request logs: enabled, of the dataset http_requests."""
    return job.get("enabled") is True and is_of_requests(job)


def options_of(job: Job, profile: ServiceProfile) -> Options | OutputOptions:
    """What of a job says which log fields it pushes: ``output_options`` where it has them and the service
    goes by them, or ``logpull_options``, which it then ignores. Raises OddOptions.
    """
    given = job.get("output_options")
    if profile.takes_output_options and given is not None:
        return OutputOptions.of(given)
    return Options.of(job.get("logpull_options"))


def listed(job: Job, profile: ServiceProfile) -> tuple[str, ...]:
    """The log fields that a job lists; none where it lists none in so many words."""
    try:
        return options_of(job, profile).fields
    except OddOptions:
        return ()


def updated(job: Job, names: Sequence[str], profile: ServiceProfile) -> dict[str, Any] | None:
    """What to send so that the job lists these log fields too, in the parameter that it lists them in, or
    None where it does. Raises OddOptions.
    """
    before = options_of(job, profile)
    after = before.with_fields(names)
    return None if after == before else after.body


def restored(job: Job, before: Job, names: Sequence[str], profile: ServiceProfile) -> dict[str, Any] | None:
    """What to send so that the job does not list what of ``names`` it did not list ``before``, or None where
    there is nothing to do. Raises OddOptions.
    """
    had = options_of(before, profile).fields
    present = options_of(job, profile)
    after = present.without_fields([name for name in names if name not in had])
    return None if after == present else after.body


def own_name(spec: NewJobSpec, zone: Zone) -> str:
    """The name of the log job that edgeshift creates in a zone."""
    return in_zone(spec.name, zone)


def in_zone(name: str, zone: Zone) -> str:
    """A name as it is written in a campaign file, with the zone's own in it."""
    return name.replace("{zone}", zone.name).replace("{zone_id}", zone.id)


def odd_name(spec: NewJobSpec, zone: Zone) -> str:
    """What is wrong with the name of the job that edgeshift would create in a zone, or empty: a zone's own
    name may have what the service takes in no job's name (docs/service.md §2.3).
    """
    if _NAME.fullmatch(own_name(spec, zone)):
        return ""
    return (
        "the service takes only letters, digits, hyphens and dots in a log job's name;"
        " use {zone_id} in log_fields.job.name, in place of {zone}"
    )


def signed_job(body: Mapping[str, Any], zone: Zone) -> str | None:
    """The name of the log job that a signed body has created in the zone, or None where it has none made."""
    new = body["jobs"]["new"]
    return in_zone(new["name"], zone) if new else None


def is_created(job: Job, name: str) -> bool:
    """Whether a job is the one that edgeshift creates of this name: those of other datasets may share it."""
    return job.get("name") == name and is_of_requests(job)


@dataclass(frozen=True)
class StepJobs:
    """The log jobs that are to list what was signed, once a step has written it. ``ids``: those that pushed
    when it was proposed, or that the step wrote; ``created``: the name of the one that people signed with
    it, or None. To list nothing is up to whoever makes another one later: nothing of ours is undone by it.
    """

    ids: frozenset[int]
    created: str | None = None

    def has(self, job: Job) -> bool:
        """Whether a job is one of them."""
        return job.get("id") in self.ids or (self.created is not None and is_created(job, self.created))


def turned_off(jobs: Sequence[Job], name: str) -> list[Job]:
    """The jobs that edgeshift has created of this name, and that are off. Where no job pushes request logs
    the first is turned on again, and none is created.
    """
    return [one for one in jobs if is_created(one, name) and not pushes(one)]


def not_as_signed(job: Job, spec: NewJobSpec, names: Sequence[str], profile: ServiceProfile) -> str:
    """How a log job, turned on again, would be another one than the new one that people sign, or empty. The
    log fields ``names`` are added where they are missing. Its destination is compared where it is known
    (activities/log_fields/jobs.py); how large its batches are nobody signs. Raises OddOptions.
    """
    options, signed = options_of(job, profile), (*spec.fields, *names)
    more = [name for name in options.fields if name not in signed]
    fewer = [name for name in spec.fields if name not in (*options.fields, *names)]
    others = options.others
    timestamps = others.pop("timestamps", "")
    frequency = job.get("frequency")
    if frequency and frequency != spec.frequency:
        others["frequency"] = str(frequency)
    if kind := job.get("kind"):
        others["kind"] = str(kind)
    found = [f"lists {', '.join(more)}"] if more else []
    found += [f"does not list {', '.join(fewer)}"] if fewer else []
    if timestamps != spec.timestamps:
        found.append(f"has timestamps={timestamps}" if timestamps else "has no timestamps")
    found += [f"has {key}={value}" for key, value in others.items()]
    found += ["has a filter"] if job.get("filter") else []
    if not found:
        return ""
    return (
        "it is off, and has the name of log_fields.job, but is not the same: give log_fields.job another name"
        f" (it {', '.join(found)})"
    )


def unknown_fields(spec: NewJobSpec, known: Collection[str]) -> list[str]:
    """Log fields of a new job that are none of ``known``, each with the known one that is spelt like it."""
    alike = {name.lower(): name for name in known}
    found = [name for name in dict.fromkeys(spec.fields) if name not in known]
    return [f"{name} ({alike[name.lower()]}?)" if name.lower() in alike else name for name in found]


def new_options(spec: NewJobSpec, names: Sequence[str]) -> str:
    """The parameter string of a new job."""
    fields = dict.fromkeys((*spec.fields, *names))
    return f"fields={','.join(fields)}&timestamps={spec.timestamps}"


def new_job(spec: NewJobSpec, names: Sequence[str]) -> dict[str, Any]:
    """A new job as people sign it: its name with ``{zone}`` in it, and where its destination is found."""
    return {
        "name": spec.name,
        "destination": spec.destination,
        "dataset": DATASET,
        "logpull_options": new_options(spec, names),
        "frequency": spec.frequency,
        "enabled": True,
    }
