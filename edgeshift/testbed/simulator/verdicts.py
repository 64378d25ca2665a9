"""What the stand-ins for both firewalls say to a request (docs/service.md §3.2, §9).

The previous one: the provider's rules, then the anomaly score of the core rule set 2.x against the
sensitivity. The new one: the entry point's rules in order, with their overrides; a skip rule that matches
ends it.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from edgeshift.profiles import SPECIFICATION
from edgeshift.testbed.simulator.catalogue_managed import MANAGED
from edgeshift.testbed.simulator.catalogue_owasp import OWASP, PREVIOUS_SCORE_RULE, PREVIOUS_THRESHOLDS
from edgeshift.testbed.simulator.equivalent import (
    MANAGED_RULESET,
    NEW_ACTIONS,
    OWASP_RULESET,
    OWASP_SCORE_RULE,
    by_priority,
    new_rule_id,
    waf_effect,
    whole_url,
)
from edgeshift.testbed.simulator.expressions import (
    Expression,
    ExpressionError,
    Values,
    compile_expression,
    wildcard_pattern,
)
from edgeshift.testbed.simulator.fleet_models import FleetZone
from edgeshift.testbed.simulator.previous_waf import effective_modes
from edgeshift.testbed.simulator.rulesets import MANAGED_PHASE
from edgeshift.testbed.simulator.signatures import Hits, Shape, Signature, hits

TERMINATING = frozenset({"block", "challenge", "js_challenge", "managed_challenge"})
DEFAULT_THRESHOLD = SPECIFICATION.score_setting("default").score_threshold
"""Of the new core ruleset when the entry point does not say."""


@dataclass(frozen=True)
class Verdict:
    """One line of the security events: who, by which rule, and what was done."""

    source: Literal["waf", "firewallManaged"]
    rule_id: str
    ruleset_id: str
    action: str
    description: str

    @property
    def terminates(self) -> bool:
        """Whether the request ended here."""
        return self.action in TERMINATING


Judge = Callable[[Shape, Values], list[Verdict]]


@cache
def hits_of(shape: Shape) -> tuple[Hits, Hits]:
    """The signatures a request trips: (of the core rule set, of the provider's)."""
    return hits(shape, OWASP), hits(shape, MANAGED)


class PreviousWaf:
    """The previous WAF of a zone."""

    def __init__(self, zone: FleetZone) -> None:
        everywhere = effective_modes(zone)
        self._enabled = zone.previous_waf.enabled
        # A page rule can turn the WAF on where the zone has it off; then the zone's other settings hold.
        self._modes = everywhere or effective_modes(_turned_on(zone))
        owasp = zone.previous_waf.owasp
        self._action = owasp.action_mode
        self._threshold = PREVIOUS_THRESHOLDS.get(owasp.sensitivity)
        self._bypasses = [
            test
            for rule in zone.firewall_rules
            if rule.action == "bypass" and "waf" in rule.products and zone.acts(rule)
            if (test := _compiled(rule.expression)) is not None
        ]
        self._pages = [
            ([_page_pattern(target) for target in rule.targets], waf_effect(rule))
            for rule in by_priority(zone.page_rules)
        ]
        self.by_client = any(test.by_client for test in self._bypasses)

    def __call__(self, shape: Shape, values: Values) -> list[Verdict]:
        """Its verdicts in order; at most the last one terminates."""
        if not self._runs(values):
            return []
        core, provider = hits_of(shape)
        found: list[Verdict] = []
        for signature, _ in provider:
            if action := self._modes.get(signature.previous):
                found.append(Verdict("waf", signature.previous, "", action, signature.description))
                if found[-1].terminates:
                    return found
        score = sum(one.severity * count for one, count in core if one.previous in self._modes)
        if self._threshold is not None and score >= self._threshold:
            found.append(
                Verdict("waf", PREVIOUS_SCORE_RULE, "", self._action, "Inbound anomaly score exceeded")
            )
        return found

    def _runs(self, values: Values) -> bool:
        address = str(values["http.request.full_uri"])
        runs = self._enabled
        for patterns, effect in self._pages:
            if any(pattern.fullmatch(address) for pattern in patterns):
                # No other one takes effect, also where this one is about something else.
                runs = self._enabled if effect is None else effect == "on"
                break
        return runs and not any(test(values) for test in self._bypasses)


class NewWaf:
    """The new WAF as an entry point ruleset configures it."""

    def __init__(self, entry_point: Mapping[str, Any] | None) -> None:
        self._steps: list[tuple[Expression, Mapping[str, Any]]] = []
        for rule in (entry_point or {}).get("rules") or []:
            if rule.get("enabled", True) and (test := _compiled(str(rule.get("expression", "")))) is not None:
                self._steps.append((test, rule))
        self.by_client = any(test.by_client for test, _ in self._steps)

    def __call__(self, shape: Shape, values: Values) -> list[Verdict]:
        """Its verdicts in order; at most the last one terminates."""
        found: list[Verdict] = []
        skipped: set[str] = set()
        skipped_rules: defaultdict[str, set[str]] = defaultdict(set)
        for test, rule in self._steps:
            parameters = rule.get("action_parameters") or {}
            if rule.get("action") not in ("skip", "execute") or not test(values):
                continue
            if rule["action"] == "skip":
                phases = parameters.get("phases") or ()
                if parameters.get("ruleset") == "current" or MANAGED_PHASE in phases:
                    return found
                skipped.update(parameters.get("rulesets") or ())
                for named, rules in (parameters.get("rules") or {}).items():
                    skipped_rules[named].update(rules)
                continue
            ruleset = str(parameters.get("id"))
            if ruleset in skipped:
                continue
            settings = _Overrides(parameters.get("overrides") or {}, frozenset(skipped_rules[ruleset]))
            core, provider = hits_of(shape)
            if ruleset == MANAGED_RULESET:
                found += _managed_verdicts(provider, settings)
            elif ruleset == OWASP_RULESET:
                found += _core_verdicts(core, settings)
            if found and found[-1].terminates:
                return found
        return found


class _Overrides:
    """The overrides of an execute rule: a rule's own beats its categories', which beat the ruleset's."""

    def __init__(self, overrides: Mapping[str, Any], skipped: frozenset[str]) -> None:
        self._all = overrides
        self._rules = {item.get("id"): item for item in overrides.get("rules") or ()}
        self._categories = {item.get("category"): item for item in overrides.get("categories") or ()}
        self._skipped = skipped

    def of(self, key: str, rule_id: str, categories: tuple[str, ...], default: Any) -> Any:
        """The value of `enabled`, `action` or `score_threshold` for a rule."""
        if key == "enabled" and rule_id in self._skipped:
            return False
        listed = [self._rules.get(rule_id), *(self._categories.get(one) for one in categories), self._all]
        return next((item[key] for item in listed if item and item.get(key) is not None), default)


def _managed_verdicts(provider: Hits, settings: _Overrides) -> list[Verdict]:
    found: list[Verdict] = []
    for signature, _ in provider:
        if not signature.new:
            continue
        rule_id = new_rule_id(signature.new)
        categories = (signature.category,)
        # A rule that is off by default before the migration is off by default after it.
        if not settings.of("enabled", rule_id, categories, signature.mode != "disable"):
            continue
        # One that is off by default, and that somebody turned on, blocks.
        default = NEW_ACTIONS.get(signature.mode, "block")
        action = settings.of("action", rule_id, categories, default)
        found.append(Verdict("firewallManaged", rule_id, MANAGED_RULESET, action, signature.description))
        if found[-1].terminates:
            break
    return found


def _core_verdicts(core: Hits, settings: _Overrides) -> list[Verdict]:
    if not settings.of("enabled", OWASP_SCORE_RULE, (), True):
        return []
    score = sum(one.severity * count for one, count in core if one.new and _scores(one, settings))
    if score < int(settings.of("score_threshold", OWASP_SCORE_RULE, (), DEFAULT_THRESHOLD)):
        return []
    action = settings.of("action", OWASP_SCORE_RULE, (), "block")
    text = "Inbound anomaly score exceeded"
    return [Verdict("firewallManaged", OWASP_SCORE_RULE, OWASP_RULESET, action, text)]


def _scores(signature: Signature, settings: _Overrides) -> bool:
    level = f"paranoia-level-{signature.paranoia}"
    return bool(settings.of("enabled", new_rule_id(signature.new), (level, signature.category), True))


def _turned_on(zone: FleetZone) -> FleetZone:
    return zone.model_copy(update={"previous_waf": zone.previous_waf.model_copy(update={"enabled": True})})


def _page_pattern(target: str) -> Any:
    return wildcard_pattern(whole_url(target))


def _compiled(expression: str) -> Expression | None:
    """None for an expression that the simulator does not understand: it then matches nothing."""
    try:
        return compile_expression(expression)
    except ExpressionError:
        return None
