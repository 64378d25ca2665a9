"""The managed rulesets that a zone's entry point can run (docs/service.md §2.4)."""

from functools import cache
from typing import Any

from edgeshift.testbed.simulator.catalogue_managed import MANAGED
from edgeshift.testbed.simulator.catalogue_owasp import OWASP
from edgeshift.testbed.simulator.equivalent import (
    MANAGED_RULESET,
    NEW_ACTIONS,
    OWASP_RULESET,
    OWASP_SCORE_RULE,
    new_rule_id,
)

MANAGED_RULESETS = {
    MANAGED_RULESET: "Managed Ruleset",
    OWASP_RULESET: "OWASP Core Ruleset",
}
_VERSIONS = {MANAGED_RULESET: "57", OWASP_RULESET: "38"}
_UPDATED = "2022-09-19T00:00:00.000000Z"


@cache
def managed_ruleset(identity: str) -> dict[str, Any]:
    """A managed ruleset with its rules; the same for every zone. Raises KeyError for another id."""
    return {
        "id": identity,
        "name": MANAGED_RULESETS[identity],
        "description": "",
        "source": "firewall_managed",
        "kind": "managed",
        "version": _VERSIONS[identity],
        "rules": _rules(identity),
        "last_updated": _UPDATED,
        "phase": "http_request_firewall_managed",
    }


def _rules(identity: str) -> list[dict[str, Any]]:
    core = identity == OWASP_RULESET
    rules = [
        _rule(
            identity,
            new_rule_id(one.new),
            # As the verdicts have it: one that is off by default, and that somebody turns on, blocks.
            "score" if core else NEW_ACTIONS.get(one.mode, "block"),
            one.description,
            [
                *([f"paranoia-level-{one.paranoia}"] if core else []),
                *([one.category] if one.category else []),
            ],
            core or one.mode != "disable",
        )
        for one in (OWASP if core else MANAGED)
        if one.new
    ]
    if core:
        rules.append(_rule(identity, OWASP_SCORE_RULE, "block", "Anomaly score exceeded", [], True))
    return rules


def _rule(
    ruleset: str, identity: str, action: str, description: str, categories: list[str], enabled: bool
) -> dict[str, Any]:
    return {
        "id": identity,
        "version": _VERSIONS[ruleset],
        "action": action,
        "categories": categories,
        "description": description,
        "last_updated": _UPDATED,
        "ref": identity,
        "enabled": enabled,
    }
