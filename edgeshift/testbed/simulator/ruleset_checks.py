"""What a ruleset body must be: shapes, expressions, actions, entitlements (docs/service.md §2.2, §4.2,
§7)."""

import re
from collections.abc import Callable

from edgeshift.profiles import ServiceProfile
from edgeshift.testbed.simulator import log_fields
from edgeshift.testbed.simulator.answers import ApiError, Json, error, refuse, wrong
from edgeshift.testbed.simulator.expressions import tokens
from edgeshift.testbed.simulator.grammar import grammar_problem
from edgeshift.testbed.simulator.managed_rulesets import MANAGED_RULESETS
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.rulesets import MANAGED_PHASE

PHASES = (
    "ddos_l7",
    "http_config_settings",
    "http_custom_errors",
    "http_log_custom_fields",
    "http_ratelimit",
    "http_request_cache_settings",
    "http_request_dynamic_redirect",
    "http_request_firewall_custom",
    "http_request_firewall_managed",
    "http_request_late_transform",
    "http_request_origin",
    "http_request_redirect",
    "http_request_sanitize",
    "http_request_sbfm",
    "http_request_transform",
    "http_response_compression",
    "http_response_firewall_managed",
    "http_response_headers_transform",
)
ENTERPRISE_PHASES = (log_fields.PHASE,)
ACTIONS = (
    "block",
    "challenge",
    "compress_response",
    "execute",
    "js_challenge",
    "log",
    "log_custom_field",
    "managed_challenge",
    "redirect",
    "rewrite",
    "route",
    "score",
    "serve_error",
    "set_cache_settings",
    "set_config",
    "skip",
)
# A phase that is not here takes every action but those that belong to one phase alone.
PHASE_ACTIONS = {
    MANAGED_PHASE: ("execute", "skip"),
    log_fields.PHASE: (log_fields.ACTION,),
}
# Those of a managed rule that an override can give; `execute`, say, is for rules of an entry point alone.
OVERRIDE_ACTIONS = ("block", "challenge", "js_challenge", "log", "managed_challenge")
ANY_PHASE_ACTIONS = tuple(action for action in ACTIONS if action != log_fields.ACTION)
_ID = re.compile(r"[0-9a-f]{32}")

RuleCheck = Callable[[dict[str, Json], str], list[Json]]
# A phase with rules of its own registers its check here: (rule, pointer) -> error objects.
PHASE_CHECKS: dict[str, RuleCheck] = {}
BodyCheck = Callable[[list[Json], SimulatorOptions], list[Json]]
# And here, where rules are judged together or by options: (all rules, options) -> error objects.
BODY_CHECKS: dict[str, BodyCheck] = {log_fields.PHASE: log_fields.errors}


def check_phase(phase: str) -> None:
    """Raises a 400 for a phase that does not exist."""
    if phase not in PHASES:
        raise refuse(400, f"'{phase}' is not a valid value for phase", 20207, pointer="/phase")


def check_entitled(phase: str, *, plan: str, managed_waf: bool) -> None:
    """Raises 400/50002 where the plan or the migration has not opened the phase to the zone."""
    closed = phase in ENTERPRISE_PHASES and plan != "enterprise"
    if closed or (phase == MANAGED_PHASE and not managed_waf):
        raise refuse(400, f"not entitled to use the phase {phase}", 50002)


def checked_body(body: Json, phase: str, options: SimulatorOptions | None = None) -> dict[str, Json]:
    """The body of a PUT or POST when its shape and its rules are right; `options` are the usual ones if
    absent.

    Raises one 400 with every error found.
    """
    if not isinstance(body, dict):
        raise refuse(400, "the request body must be a JSON object", 10026)
    errors: list[Json] = []
    for key in ("name", "description", "kind", "phase"):
        if key in body and not isinstance(body[key], str):
            errors.append(wrong(body[key], key, "it must be a string", f"/{key}"))
    rules = body.get("rules", [])
    if not isinstance(rules, list):
        errors.append(wrong(rules, "rules", "it must be an array", "/rules"))
        rules = []
    options = options or SimulatorOptions()
    refs: set[str] = set()
    for place, rule in enumerate(rules):
        pointer = f"/rules/{place}"
        if not isinstance(rule, dict):
            errors.append(wrong(rule, "rule", "it must be an object", pointer))
            continue
        errors += _rule_errors(rule, phase, pointer, options.facts)
        ref = rule.get("ref")
        if isinstance(ref, str) and ref:
            if ref in refs:
                errors.append(
                    error(
                        f"'{ref}' is not a valid value for ref because it is used by another rule",
                        20030,
                        pointer=f"{pointer}/ref",
                    )
                )
            refs.add(ref)
    if phase in BODY_CHECKS:
        errors += BODY_CHECKS[phase](rules, options)
    if errors:
        raise ApiError(400, *errors)
    return body


def _rule_errors(rule: dict[str, Json], phase: str, pointer: str, facts: ServiceProfile) -> list[Json]:
    errors = [
        wrong(rule[key], key, "it must be a string", f"{pointer}/{key}")
        for key in ("id", "version", "action", "expression", "description", "ref")
        if key in rule and not isinstance(rule[key], str)
    ]
    if "enabled" in rule and not isinstance(rule["enabled"], bool):
        errors.append(wrong(rule["enabled"], "enabled", "it must be a boolean", f"{pointer}/enabled"))
    if errors:
        return errors
    if rule.get("id") and not _ID.fullmatch(rule["id"]):
        errors.append(wrong(rule["id"], "id", "it must be 32 hex digits", f"{pointer}/id"))
    expression = rule.get("expression", "")
    problem = expression_problem(expression) or unknown_operator(expression, facts)
    if problem:
        shown = rule.get("expression", "")[:200]
        message = (
            f"'{shown}' is not a valid value for Expression because the expression is invalid: {problem}"
        )
        errors.append(error(message, 20127, pointer=f"{pointer}/expression"))
    action = rule.get("action", "")
    allowed = PHASE_ACTIONS.get(phase, ANY_PHASE_ACTIONS)
    if action not in allowed:
        reason = f"it is not one of {', '.join(allowed)}"
        errors.append(wrong(action, "action", reason, f"{pointer}/action"))
    elif action == "execute":
        errors += _execute_errors(rule.get("action_parameters"), f"{pointer}/action_parameters")
    elif action == "skip":
        errors += _skip_errors(rule.get("action_parameters"), f"{pointer}/action_parameters")
    check = PHASE_CHECKS.get(phase)
    return errors + (check(rule, pointer) if check else [])


def _execute_errors(parameters: Json, pointer: str) -> list[Json]:
    if not isinstance(parameters, dict):
        return [wrong(parameters, "action_parameters", "it must be an object with an id", pointer)]
    errors: list[Json] = []
    ruleset = parameters.get("id")
    if not isinstance(ruleset, str) or ruleset not in MANAGED_RULESETS:
        errors.append(wrong(ruleset, "id", "it is not a managed ruleset", f"{pointer}/id"))
    overrides = parameters.get("overrides", {})
    if not isinstance(overrides, dict):
        return [*errors, wrong(overrides, "overrides", "it must be an object", f"{pointer}/overrides")]
    errors += _override_errors(overrides, f"{pointer}/overrides", scores=False)
    for key, name in (("rules", "id"), ("categories", "category")):
        entries = overrides.get(key, [])
        if not isinstance(entries, list):
            errors.append(wrong(entries, key, "it must be an array", f"{pointer}/overrides/{key}"))
            continue
        for place, entry in enumerate(entries):
            where = f"{pointer}/overrides/{key}/{place}"
            if not isinstance(entry, dict) or not isinstance(entry.get(name), str) or not entry[name]:
                errors.append(wrong(entry, key, f"it must be an object with {name}", where))
            else:
                errors += _override_errors(entry, where, scores=key == "rules")
    return errors


def _override_errors(entry: dict[str, Json], pointer: str, *, scores: bool) -> list[Json]:
    """`scores`: whether it may have a threshold, which only the override of a rule has (docs/service.md
    §2.4)."""
    errors: list[Json] = []
    action = entry.get("action")
    if action is not None and (not isinstance(action, str) or action not in OVERRIDE_ACTIONS):
        reason = f"it is not one of {', '.join(OVERRIDE_ACTIONS)}"
        errors.append(wrong(action, "action", reason, f"{pointer}/action"))
    if not isinstance(entry.get("enabled", True), bool):
        errors.append(wrong(entry["enabled"], "enabled", "it must be a boolean", f"{pointer}/enabled"))
    threshold = entry.get("score_threshold")
    if threshold is not None and not scores:
        reason = "only the override of a rule has one"
        errors.append(wrong(threshold, "score_threshold", reason, f"{pointer}/score_threshold"))
    elif threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, int)):
        errors.append(
            wrong(threshold, "score_threshold", "it must be an integer", f"{pointer}/score_threshold")
        )
    return errors


def _skip_errors(parameters: Json, pointer: str) -> list[Json]:
    keys = ("ruleset", "rulesets", "rules", "phases", "products")
    if not isinstance(parameters, dict) or not any(parameters.get(key) for key in keys):
        return [wrong(parameters, "action_parameters", f"it must have one of {', '.join(keys)}", pointer)]
    errors: list[Json] = []
    for key in keys:
        value = parameters.get(key)
        if key == "ruleset":
            why = None if isinstance(value, str) else "it must be a string"
        elif key == "rules":
            named = isinstance(value, dict) and all(_are_names(one) for one in value.values())
            why = None if named else "it must be an object with an array of rules for each ruleset"
        else:
            why = None if _are_names(value) else "it must be an array of strings"
        if key in parameters and why is not None:
            errors.append(wrong(value, key, why, f"{pointer}/{key}"))
    return errors


def _are_names(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def expression_problem(text: str) -> str | None:
    """What is wrong with a filter expression: it is empty, or the grammar of the rules language has no such
    sentence, whatever fields and functions there are. None if nothing."""
    return grammar_problem(text) if text.strip() else "it is empty"


def unknown_operator(text: str, facts: ServiceProfile) -> str | None:
    """What is wrong with a sentence whose operators the profile does not all know (docs/service.md §10);
    None if nothing."""
    if not facts.wildcard and any((kind, word) == ("word", "wildcard") for kind, word, _ in tokens(text)):
        return "unknown operator 'wildcard'"
    return None
