"""Interleavings of somebody else's writes with a campaign's: drawn from a seed, and which of them fell into a
gap between the campaign's reading and its ``PUT``. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from edgeshift.testbed.invariants.requests import Request

Rules = list[dict[str, Any]]

WITHOUT_RULESET = 0.25
"""The share of zones that have no ruleset of the phase when the campaign comes."""

SAME_FIELD = 0.1
"""The share of strangers' rules that name a field which the campaign rolls out too."""

MOST_WRITES = 3
MOST_SKIPPED = 2
HOW = {"append": 5, "replace": 4, "delete": 1}
WHEN = {"before_put": 6, "after_put": 3}


@dataclass(frozen=True)
class Write:
    """One write of a stranger, as the simulator's control API takes it."""

    how: str
    when: str
    skip: int
    rules: Rules

    def document(self) -> dict[str, Any]:
        """The body of the control request."""
        return {"how": self.how, "when": self.when, "skip": self.skip, "rules": self.rules}


@dataclass(frozen=True)
class Interleaving:
    """What others do to one zone: the rules that it begins with (None: no ruleset), and their writes."""

    begins: Rules | None
    writes: tuple[Write, ...]


def draw(random: Random, shared: str) -> Interleaving:
    """One interleaving. ``shared``: a request header that the campaign rolls out."""

    def rule(ref: str) -> dict[str, Any]:
        header = shared if random.random() < SAME_FIELD else f"x-{ref}-{random.randrange(100)}"
        return {
            "ref": ref,
            "action": "log_custom_field",
            "expression": "true",
            "description": f"of {ref}",
            "enabled": random.random() < 0.9,
            "action_parameters": {"request_fields": [{"name": header}]},
        }

    begins = None
    if random.random() >= WITHOUT_RULESET:
        begins = [rule(f"first-{number}") for number in range(random.randrange(1, 4))]
    writes = []
    for number in range(random.randrange(1, MOST_WRITES + 1)):
        (how,) = random.choices(list(HOW), list(HOW.values()))
        (when,) = random.choices(list(WHEN), list(WHEN.values()))
        # The first always finds its moment: there is at least one PUT. Later ones may wait in vain.
        skip = random.randrange(MOST_SKIPPED + 1) if number else 0
        if begins is None and number == 0 and random.random() < 0.5:
            how, when, skip = "append", "before_create", 0
        written = []
        if how != "delete":
            written = [rule(f"late-{number}-{place}") for place in range(random.randrange(1, 3))]
        if how == "replace":
            # Some of what was there stays as it was, some changes, some goes.
            kept = [one for one in begins or () if random.random() < 0.6]
            written = [rule(one["ref"]) if random.random() < 0.4 else one for one in kept] + written
        writes.append(Write(how, when, skip, written))
    return Interleaving(begins, tuple(writes))


def gaps(requests: Iterable[Request]) -> list[tuple[str, int]]:
    """Versions that a ``PUT`` replaced although nobody had read them: ruleset and version, in order.

    ``requests``: one zone's, oldest first, as the service saw them.
    """
    found: list[tuple[str, int]] = []
    read: dict[str, int] = {}
    for request in requests:
        shown = request.log_fields or {}
        if "version" not in shown or request.call == "rulesets.list":
            continue
        ruleset, version = str(shown["ruleset"]), int(shown["version"])
        if request.mutates and request.took_effect:
            if request.call == "rulesets.put":
                found += [(ruleset, number) for number in range(read.get(ruleset, 0) + 1, version)]
            read[ruleset] = version
        elif request.method == "GET" and request.status == 200:
            read[ruleset] = max(version, read.get(ruleset, 0))
    return found
