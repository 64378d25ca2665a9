"""Words in which the service may refuse what only its support can lift: which it uses is not known
(docs/service.md §7), so a client has to understand any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits that the words name: firewall rules, and bytes of an expression."""

    rules: int
    expression: int

    def filled(self, text: str) -> str:
        """A text with the limits in the places that it has for them."""
        places = {
            "{rules}": str(self.rules),
            "{found}": str(self.rules + 45),
            "{bytes}": str(self.expression),
            "{bytes,}": f"{self.expression:,}",
            "{more,}": f"{self.expression + 1024:,}",
            "{kilobytes}": f"{self.expression / 1024:g}",
        }
        for place, value in places.items():
            text = text.replace(place, value)
        return text


@dataclass(frozen=True)
class Words:
    """One way to refuse: too many firewall rules, and an expression that is too long; HTTP's status. Limits
    stand as ``{rules}``, ``{bytes}`` and the like.
    """

    too_many: str
    too_long: str
    status: int = 400


WORDINGS: Mapping[str, Words] = {
    "contact": Words(
        "This zone cannot be migrated: it has more than {rules} firewall rules. Please contact support.",
        "This zone cannot be migrated: a firewall rule has an expression over {kilobytes} KB."
        " Please contact support.",
    ),
    "limit": Words(
        "the number of firewall rules to migrate exceeds the limit of {rules}",
        "firewall rule expression exceeds the maximum length of {bytes} characters",
    ),
    "terse": Words("too many rules", "expression too long"),
    "keys": Words(
        "firewall_rules: too many", "migration.expression_size: maximum allowed size is {bytes}", 422
    ),
    "found": Words(
        "zone has {found} firewall rules, only {rules} can be migrated automatically",
        "found an expression of {more,} bytes; {bytes,} bytes are allowed",
        403,
    ),
    "polite": Words(
        "Sorry, at most {rules} firewall rules can be moved. Reach out to your account team.",
        "Sorry, one of your rules is longer than {kilobytes} kilobytes. Reach out to your account team.",
    ),
}
"""By name. ``each`` is none of them: every zone is refused in one that its identifier chooses."""


def worded(name: str, zone: str) -> Words:
    """The words of this name; with ``each`` those of a zone, by its identifier."""
    if name != "each":
        return WORDINGS[name]
    return list(WORDINGS.values())[int(zone[:8], 16) % len(WORDINGS)]
