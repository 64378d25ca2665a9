"""What identifiers of rulesets and rules stand for, for people (docs/service.md §2.4). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from edgeshift.areas.waf.answers import MANAGED_RULESET, OWASP_RULESET

OWASP_SCORE_RULE = "6179ae15870a4bb7b2d480d4843b323c"
"""The rule of the core ruleset that acts on the score; without it the ruleset only counts."""

Names = Mapping[str, str]
"""What rules are called, by their identifiers."""

NAMES: Names = {
    MANAGED_RULESET: "the managed ruleset",
    OWASP_RULESET: "the OWASP core ruleset",
    OWASP_SCORE_RULE: "the OWASP score rule",
}
"""Those that docs/service.md §2.4 has. Names of other rules are known only where something that was read has
them.
"""


def named(identifier: str, names: Names) -> str:
    """An identifier after what it stands for: ``SQLi in a query (100008)``; alone where that is not known."""
    name = names.get(identifier) or NAMES.get(identifier)
    return f"{name} ({identifier})" if name else identifier
