"""Custom log fields: what their rules must be, and which fields a ruleset turns on (docs/service.md §2.2, §7,
§8)."""

import re
from dataclasses import dataclass
from typing import Any

from edgeshift.testbed.simulator.answers import Json, error, wrong
from edgeshift.testbed.simulator.options import SimulatorOptions

PHASE = "http_log_custom_fields"
ACTION = "log_custom_field"
EXPRESSION = "true"
ARRAYS = ("request_fields", "response_fields", "cookie_fields")
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
    limit = options.log_fields.most
    count = len(fields if options.log_fields.counted == "every" else set(fields))
    if count > limit:
        said = f"exceeded maximum number of custom fields for the zone: {count}, and at most {limit}"
        found.append(error(said, 20128, pointer="/rules"))
    return found


def configured(ruleset: dict[str, Any] | None) -> CustomFields:
    """The fields that the enabled rules of a stored ruleset turn on; none without a ruleset."""
    rules = [one for one in (ruleset or {}).get("rules", []) if one.get("enabled", True)]
    named = (tuple(dict.fromkeys(name for rule in rules for name in _names(rule, one))) for one in ARRAYS)
    return CustomFields(*named)


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
    for key in parameters:
        if key not in ARRAYS:
            found.append(wrong(key, _PARAMETERS, f"it takes {', '.join(ARRAYS)} alone", f"{pointer}/{key}"))
    present = [array for array in ARRAYS if array in parameters]
    for array in present:
        found += _array_errors(array, parameters[array], f"{pointer}/{array}")
    empty = all(parameters[array] == [] for array in present)
    if not present or (empty and options.log_fields.empty_arrays == "refuse"):
        found.append(wrong(parameters, _PARAMETERS, one_of, pointer))
    return found


def _array_errors(array: str, entries: Json, pointer: str) -> list[Json]:
    if not isinstance(entries, list):
        return [wrong(entries, array, "it must be an array of objects with a name", pointer)]
    found: list[Json] = []
    seen: set[str] = set()
    for place, entry in enumerate(entries):
        where = f"{pointer}/{place}"
        if not isinstance(entry, dict) or set(entry) != {"name"} or not isinstance(entry["name"], str):
            found.append(wrong(entry, array, "it must be an object with a name, and nothing else", where))
            continue
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
