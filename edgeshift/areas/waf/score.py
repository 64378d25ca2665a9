"""How strict the new core ruleset is in a configuration (docs/service.md §2.4, observed). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from edgeshift.areas.waf.answers import OWASP_RULESET, objects
from edgeshift.areas.waf.names import OWASP_SCORE_RULE

_LEVEL = "paranoia-level-"
_HIGHEST = 4

LONGEST_ACTION = 40
"""Characters of an action's name that are kept."""


def score_of(config: Mapping[str, Any]) -> tuple[int, int] | None:
    """The paranoia level and the score threshold that a configuration has for the new core ruleset; None
    where it does not run it, or does not say them.
    """
    for rule in objects(config.get("rules")):
        parameters = rule.get("action_parameters")
        if not isinstance(parameters, Mapping) or parameters.get("id") != OWASP_RULESET:
            continue
        overrides = parameters.get("overrides")
        if not isinstance(overrides, Mapping):
            return None
        level = paranoia_level(overrides)
        found = [one.get("score_threshold") for one in objects(overrides.get("rules"))]
        threshold = next((one for one in found if isinstance(one, int)), None)
        return None if threshold is None else (_HIGHEST if level is None else level, threshold)
    return None


class CoreSettings(NamedTuple):
    """What a configuration says of how the new core ruleset acts. ``action``: empty where it says none."""

    paranoia_level: int
    score_threshold: int
    action: str


def core_settings(config: Mapping[str, Any]) -> CoreSettings | None:
    """The paranoia level, the score threshold and the action with which a configuration runs the new core
    ruleset; None where it does not run it, or does not say both numbers.
    """
    for rule in objects(config.get("rules")):
        parameters = rule.get("action_parameters")
        if rule.get("action") != "execute" or rule.get("enabled", True) is False:
            continue
        if not isinstance(parameters, Mapping) or parameters.get("id") != OWASP_RULESET:
            continue
        overrides = parameters.get("overrides")
        if not isinstance(overrides, Mapping) or overrides.get("enabled") is False:
            continue
        level = paranoia_level(overrides)
        score = next(
            (one for one in objects(overrides.get("rules")) if one.get("id") == OWASP_SCORE_RULE), {}
        )
        threshold = score.get("score_threshold")
        # A bool is an int, too.
        if not level or type(threshold) is not int or score.get("enabled", True) is False:
            continue
        action = score.get("action") or overrides.get("action")
        return CoreSettings(level, threshold, action[:LONGEST_ACTION] if isinstance(action, str) else "")
    return None


def paranoia_level(overrides: Mapping[str, Any]) -> int | None:
    """The highest paranoia level that overrides of the new core ruleset leave on, 0 for none; None where they
    turn off none.
    """
    categories = objects(overrides.get("categories"))
    off = {str(one.get("category")) for one in categories if one.get("enabled") is False}
    levels = [level for level in range(1, _HIGHEST + 1) if f"{_LEVEL}{level}" not in off]
    return max(levels, default=0) if len(levels) < _HIGHEST else None
