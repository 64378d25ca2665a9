"""Custom log fields: what their rules must be, and which fields a ruleset turns on (docs/service.md §2.2, §7,
§8)."""

import re
from dataclasses import dataclass
from typing import Any

from edgeshift.testbed.simulator.answers import Json, error, wrong
from edgeshift.testbed.simulator.options import LogFields, SimulatorOptions

PHASE = "http_log_custom_fields"
ACTION = "log_custom_field"
EXPRESSION = "true"
ARRAYS = ("request_fields", "response_fields", "cookie_fields")
RAW = "raw_response_fields"
"""Response headers that are logged with their original values, where the profile has such a choice."""
EVERY_VALUE = "preserve_duplicates"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_PARAMETERS = "action_parameters"


@dataclass(frozen=True)
class CustomFields:
    """The names that a zone's log entries carry, in the order of the rules, each once.

    Header names are in lower case; cookie names as in the request.
    """

    request_headers: tuple[str, ...] = ()
    response_headers: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    raw_response_headers: tuple[str, ...] = ()
    every_value: frozenset[str] = frozenset()


def errors(rules: list[Json], options: SimulatorOptions) -> list[Json]:
    """What is wrong with the rules of a zone's custom log fields, as error objects, beyond what is asked of
    every rule."""
    found: list[Json] = []
    fields: list[tuple[str, str]] = []
    for place, rule in enumerate(rules):
        if not isinstance(rule, dict) or rule.get("action") != ACTION:
            # The checks of every rule have refused it.
            continue
        found += _expression_errors(rule, f"/rules/{place}/expression")
        found += _parameter_errors(rule.get(_PARAMETERS), f"/rules/{place}/{_PARAMETERS}", options)
        fields += [(array, name) for array in ARRAYS for name in _names(rule, array)]
    if options.log_fields.rules == "one" and len(rules) > 1:
        found.append(error("the ruleset of custom fields takes one rule", 20130, pointer="/rules/1"))
    limit = options.log_fields.most
    count = len(fields if options.log_fields.counted == "every" else set(fields))
    if limit is not None and count > limit:
        said = f"exceeded maximum number of custom fields for the zone: {count}, and at most {limit}"
        found.append(error(said, 20128, pointer="/rules"))
    return found + _both_ways(rules)


def configured(ruleset: dict[str, Any] | None, options: LogFields | None = None) -> CustomFields:
    """The fields that the enabled rules of a stored ruleset turn on; none without a ruleset."""
    rules = [one for one in (ruleset or {}).get("rules", []) if one.get("enabled", True)]
    how = (options or LogFields()).rules
    if how in ("last", "first"):
        rules = rules[-1:] if how == "last" else rules[:1]
    requests, responses, cookies, raw = (
        tuple(dict.fromkeys(name for rule in rules for name in _names(rule, one))) for one in (*ARRAYS, RAW)
    )
    every = frozenset(
        entry["name"]
        for rule in rules
        for array in ("response_fields", RAW)
        for entry in rule[_PARAMETERS].get(array) or ()
        if entry.get(EVERY_VALUE)
    )
    return CustomFields(requests, responses, cookies, raw, every)


def _both_ways(rules: list[Json]) -> list[Json]:
    """A header is logged in one way alone, over all rules."""
    raw = {name for rule in rules if isinstance(rule, dict) for name in _names(rule, RAW)}
    both = [
        n for rule in rules if isinstance(rule, dict) for n in _names(rule, "response_fields") if n in raw
    ]
    said = "a response header is logged either with its original value or as it goes out, not both: {}"
    return [error(said.format(name), 20129, pointer="/rules") for name in dict.fromkeys(both)]


def _expression_errors(rule: dict[str, Json], pointer: str) -> list[Json]:
    sent = rule.get("expression")
    if not isinstance(sent, str) or not sent.strip() or sent == EXPRESSION:
        return []
    said = (
        f"'{sent[:200]}' is not a valid value for Expression because the expression is invalid: "
        f"in the phase {PHASE} it must be the literal true"
    )
    return [error(said, 20127, pointer=pointer)]


def _parameter_errors(parameters: Json, pointer: str, options: SimulatorOptions) -> list[Json]:
    one_of = f"at least one of {', '.join(ARRAYS)} is required"
    if not isinstance(parameters, dict):
        return [wrong(parameters, _PARAMETERS, one_of, pointer)]
    found: list[Json] = []
    raw = options.facts.raw_response_fields
    arrays = (*ARRAYS, RAW) if raw else ARRAYS
    for key in parameters:
        if key not in arrays:
            found.append(wrong(key, _PARAMETERS, f"it takes {', '.join(arrays)} alone", f"{pointer}/{key}"))
    present = [array for array in arrays if array in parameters]
    for array in present:
        more = (EVERY_VALUE,) if raw and array in ("response_fields", RAW) else ()
        found += _array_errors(array, parameters[array], f"{pointer}/{array}", more)
    empty = all(parameters[array] == [] for array in present)
    if not present or (empty and options.log_fields.empty_arrays == "refuse"):
        found.append(wrong(parameters, _PARAMETERS, one_of, pointer))
    return found


def _array_errors(array: str, entries: Json, pointer: str, more: tuple[str, ...]) -> list[Json]:
    if not isinstance(entries, list):
        return [wrong(entries, array, "it must be an array of objects with a name", pointer)]
    found: list[Json] = []
    seen: set[str] = set()
    for place, entry in enumerate(entries):
        where = f"{pointer}/{place}"
        right = isinstance(entry, dict) and {"name"} <= set(entry) <= {"name", *more}
        if not right or not isinstance(entry["name"], str):
            found.append(wrong(entry, array, "it must be an object with a name, and nothing else", where))
            continue
        if not isinstance(entry.get(EVERY_VALUE, False), bool):
            found.append(wrong(entry, array, f"{EVERY_VALUE} must be a boolean", where))
        name = entry["name"]
        if problem := _name_problem(array, name) or ("it is there twice" if name in seen else None):
            found.append(wrong(name, "name", problem, f"{where}/name"))
        seen.add(name)
    return found


def _name_problem(array: str, name: str) -> str | None:
    kind = "cookie" if array == "cookie_fields" else "header"
    if not _TOKEN.fullmatch(name):
        return f"it is not the name of a {kind}"
    if kind == "header" and name != name.lower():
        return "the name of a header must be in lower case"
    return None


def _names(rule: dict[str, Json], array: str) -> list[str]:
    parameters = rule.get(_PARAMETERS)
    entries = parameters.get(array) if isinstance(parameters, dict) else None
    if not isinstance(entries, list):
        return []
    return [one["name"] for one in entries if isinstance(one, dict) and isinstance(one.get("name"), str)]
