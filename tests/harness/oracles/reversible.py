"""What must be so at the service once a campaign is over, whatever went wrong meanwhile. Pure: an outcome and
what the simulator shows of the zone go in, complaints come out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

Document = Mapping[str, Any]
Field = tuple[str, str]

ARRAYS = ("request_fields", "response_fields", "cookie_fields")
PUSHED = "http_requests"
UNTOUCHED = frozenset({"blocked", "aborted", "rejected", "on_hold", "failed"})
"""Outcomes after which nothing that the campaign did may be in force, unless a person is told to undo it."""
OPEN = frozenset({"failed", "unknown"})
"""Outcomes that leave a target with a person, who has to be told why."""

TO_UNDO = "could not be rolled back"
"""What the reason of a target says whose change a person has to undo."""


@dataclass(frozen=True)
class Ending:
    """How a target ended, by the campaign's own word."""

    name: str
    outcome: str
    reason: str = ""

    @property
    def untouched(self) -> bool:
        """Whether nothing that the campaign did is in force, by this word."""
        return self.outcome in UNTOUCHED and TO_UNDO not in self.reason

    def complaint(self, text: str) -> str:
        """A complaint about it."""
        return f"{self.name} ended as {self.outcome} ({self.reason[:120]}): {text}"


def esc_complaints(
    ending: Ending, edge: Document, setting: Document, *, own_secret: bool = False
) -> list[str]:
    """Of one zone. ``edge``: the zone at the simulator's edge; ``setting``: its scope's, or its account's."""
    off, accepted = bool(edge["off"]), setting["accepted"]
    found = []
    if ending.outcome in ("settled", "already_settled") and not (off and accepted["always"]):
        found.append("esc is on")
    if (ending.outcome == "rolled_back" or ending.untouched) and (off or accepted["always"]):
        # A campaign may let go of a scope that had been off before it.
        spared = ending.untouched and _begun_off(setting)
        found += [] if spared else ["esc is off"]
    if own_secret and not accepted["secret"]:
        found.append("the customer's own secret is gone")
    if ending.outcome in OPEN and not ending.reason:
        found.append("nobody is told why")
    return [ending.complaint(text) for text in found]


def _begun_off(setting: Document) -> bool:
    """Whether the scope was off from the first, and nothing was ever changed."""
    return [change["operation"] for change in setting["history"]] == ["begun"] and setting["accepted"][
        "always"
    ]


def kept_secret_complaints(ending: Ending, setting: Document, sent: int, *, ours: bool) -> list[str]:
    """Of a scope that may have come to a secret of somebody else's meanwhile, which nobody overwrites.
    ``sent``: how many secrets the campaign has set; ``ours``: whether the present one is of its making.
    """
    changes = [change["operation"] for change in setting["history"]]
    if ours and sum(operation in ("secret", "both") for operation in changes) > sent:
        return [ending.complaint("the secret that somebody else had set was overwritten")]
    return []


def own_secret_complaints(ending: Ending, history: Sequence[Document]) -> list[str]:
    """Of a scope that had a secret of the customer's: nobody sets another."""
    if any(change["operation"] in ("secret", "both") for change in history):
        return [ending.complaint("the customer's own secret was overwritten")]
    return []


@dataclass(frozen=True)
class Logged:
    """A zone's custom log fields and log jobs at one moment. ``fields``: of enabled rules, with their kind,
    each as often as it is named. ``jobs``: settings by name, without their destinations.
    """

    fields: tuple[Field, ...]
    jobs: Mapping[str, Document]

    @classmethod
    def of(cls, zone: Document) -> Logged:
        """Of a zone as the simulator's control API shows it."""
        rules = [
            rule
            for ruleset in zone["rulesets"]
            if ruleset["phase"] == "http_log_custom_fields"
            for rule in ruleset["rules"]
            if rule.get("enabled", True)
        ]
        return cls(tuple(sorted(fields_of(rules))), {job["name"]: job for job in zone["log_jobs"]})


def fields_of(rules: Sequence[Document]) -> list[Field]:
    """The custom log fields that rules name, with their kind."""
    return [
        (kind, one["name"])
        for rule in rules
        for kind in ARRAYS
        for one in rule["action_parameters"].get(kind) or ()
    ]


def log_complaints(
    ending: Ending,
    before: Logged,
    after: Logged,
    wanted: Sequence[Field],
    lists: Sequence[str],
    strangers: Sequence[Field] = (),
) -> list[str]:
    """Of one zone. ``wanted``: the campaign's fields; ``lists``: what jobs have to list for them;
    ``strangers``: fields that somebody else wrote meanwhile.
    """
    kept = [field for field in (*before.fields, *strangers) if field not in after.fields]
    found = [f"{kind} {name} of somebody else is lost" for kind, name in kept]
    for name, job in before.jobs.items():
        found += [f"log job {name}: {text}" for text in _job_complaints(job, after.jobs.get(name))]
    pushing = {
        name: job for name, job in after.jobs.items() if job["dataset"] == PUSHED and job["enabled"] is True
    }
    if ending.outcome in ("settled", "already_settled"):
        found += [f"{kind} {name} is in no rule" for kind, name in wanted if (kind, name) not in after.fields]
        found += [] if pushing else ["no log job pushes request logs"]
        for name, job in pushing.items():
            found += [f"log job {name} does not list {one}" for one in lists if one not in listed(job)]
    if ending.outcome == "rolled_back" or ending.untouched:
        expected = sorted({*before.fields, *strangers})
        found += [f"{kind} {name} is still in a rule" for kind, name in {*after.fields} - {*expected}]
        for name, job in pushing.items():
            if name not in before.jobs:
                found.append(f"the new log job {name} still pushes")
            elif listed(job) != listed(before.jobs[name]):
                found.append(f"log job {name} lists {listed(job)}, and before {listed(before.jobs[name])}")
    if ending.outcome in OPEN and not ending.reason:
        found.append("nobody is told why")
    return [ending.complaint(text) for text in found]


def _job_complaints(before: Document, after: Document | None) -> list[str]:
    """What of a customer's log job is lost."""
    if after is None:
        return ["it is gone"]
    found = [
        f"{key} was {before[key]!r} and is {after[key]!r}"
        for key in ("name", "dataset", "enabled", "frequency")
        if before[key] != after[key]
    ]
    had, has = options(before), options(after)
    found += [
        f"its option {key} was {value!r} and is {has.get(key)!r}"
        for key, value in had.items()
        if key != "fields" and has.get(key) != value
    ]
    return found + [f"it lists {one} no more" for one in listed(before) if one not in listed(after)]


def options(job: Document) -> dict[str, str]:
    """A job's parameter string, taken apart."""
    return dict(parse_qsl(job["logpull_options"] or "", keep_blank_values=True))


def listed(job: Document) -> list[str]:
    """The log fields that a job lists, in their order."""
    return [name for name in options(job).get("fields", "").split(",") if name]
