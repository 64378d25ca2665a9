"""Words in which the service may refuse what only its support can lift: which it uses is not known
(docs/service.md §7), so a client has to understand any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """One way to refuse: too many firewall rules, and an expression that is too long; HTTP's status."""

    too_many: str
    too_long: str
    status: int = 400


WORDINGS: Mapping[str, Words] = {
    "contact": Words(
        "This zone cannot be migrated: it has more than 200 firewall rules. Please contact support.",
        "This zone cannot be migrated: a firewall rule has an expression over 4 KB. Please contact support.",
    ),
    "limit": Words(
        "the number of firewall rules to migrate exceeds the limit of 200",
        "firewall rule expression exceeds the maximum length of 4096 characters",
    ),
    "terse": Words("too many rules", "expression too long"),
    "keys": Words("firewall_rules: too many", "migration.expression_size: maximum allowed size is 4096", 422),
    "found": Words(
        "zone has 245 firewall rules, only 200 can be migrated automatically",
        "found an expression of 5,120 bytes; 4,096 bytes are allowed",
        403,
    ),
    "polite": Words(
        "Sorry, at most 200 firewall rules can be moved. Reach out to your account team.",
        "Sorry, one of your rules is longer than 4 kilobytes. Reach out to your account team.",
    ),
}
"""By name. ``each`` is none of them: every zone is refused in one that its identifier chooses."""


def worded(name: str, zone: str) -> Words:
    """The words of this name; with ``each`` those of a zone, by its identifier."""
    if name != "each":
        return WORDINGS[name]
    return list(WORDINGS.values())[int(zone[:8], 16) % len(WORDINGS)]
