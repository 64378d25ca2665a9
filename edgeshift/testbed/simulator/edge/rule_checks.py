"""What a rule must be in the phases that act on the edge's traffic (docs/simulator.md)."""

import re
from collections.abc import Callable

from edgeshift.testbed.simulator.answers import Json, error, wrong
from edgeshift.testbed.simulator.edge.rules import PHASES
from edgeshift.testbed.simulator.edge.texts import compile_text
from edgeshift.testbed.simulator.expressions import ExpressionError, compile_expression
from edgeshift.testbed.simulator.fleet_edge import EDGE_FEATURES
from edgeshift.testbed.simulator.ruleset_checks import PHASE_CHECKS, expression_problem

_ACTIONS = {
    "http_request_dynamic_redirect": "redirect",
    "http_request_transform": "rewrite",
    "http_config_settings": "set_config",
    "http_request_origin": "route",
    "http_request_late_transform": "rewrite",
    "http_custom_errors": "serve_error",
    "http_response_headers_transform": "rewrite",
}
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_REDIRECTS = (301, 302, 303, 307, 308)
Where = str


def register() -> None:
    """Make the rulesets calls check the rules of these phases."""
    for phase in PHASES:
        PHASE_CHECKS[phase] = _checks_of(phase)


def _checks_of(phase: str) -> Callable[[dict[str, Json], Where], list[Json]]:
    def check(rule: dict[str, Json], pointer: Where) -> list[Json]:
        errors = _expression(rule.get("expression", ""), f"{pointer}/expression")
        if rule.get("action") != _ACTIONS[phase]:
            errors.append(
                wrong(rule.get("action"), "action", f"it must be {_ACTIONS[phase]}", f"{pointer}/action")
            )
            return errors
        parameters, where = rule.get("action_parameters"), f"{pointer}/action_parameters"
        if not isinstance(parameters, dict):
            return [*errors, wrong(parameters, "action_parameters", "it must be an object", where)]
        return errors + _PARAMETERS[phase](parameters, where)

    return check


def _expression(text: str, pointer: Where) -> list[Json]:
    if expression_problem(text):
        return []  # The general check has told it.
    try:
        compile_expression(text)
    except ExpressionError as problem:
        said = (
            f"'{text[:200]}' is not a valid value for Expression because the expression is invalid: {problem}"
        )
        return [error(said, 20127, pointer=pointer)]
    return []


def _text(given: Json, pointer: Where) -> list[Json]:
    """`{"value": text}` or `{"expression": text}`."""
    if isinstance(given, dict) and isinstance(given.get("value"), str) and "expression" not in given:
        broken = set(given["value"]) & set("\r\n")
        return [wrong(given["value"], "value", "it must be one line", f"{pointer}/value")] if broken else []
    if not isinstance(given, dict) or not isinstance(given.get("expression"), str):
        return [
            wrong(given, pointer.rpartition("/")[2], "it must be an object with value or expression", pointer)
        ]
    try:
        compile_text(given["expression"])
    except ExpressionError as problem:
        return [wrong(given["expression"], "expression", str(problem), f"{pointer}/expression")]
    return []


def _object(parameters: dict[str, Json], key: str, where: Where) -> tuple[dict[str, Json], list[Json]]:
    found = parameters.get(key)
    if isinstance(found, dict) and found:
        return found, []
    return {}, [wrong(found, key, "it must be an object that is not empty", f"{where}/{key}")]


def _redirect(parameters: dict[str, Json], where: Where) -> list[Json]:
    given, errors = _object(parameters, "from_value", where)
    if errors:
        return errors
    errors = _text(given.get("target_url"), f"{where}/from_value/target_url")
    status = given.get("status_code", 301)
    if status not in _REDIRECTS:
        reason = f"it is not one of {', '.join(map(str, _REDIRECTS))}"
        errors.append(wrong(status, "status_code", reason, f"{where}/from_value/status_code"))
    return errors


def _rewrite(parameters: dict[str, Json], where: Where) -> list[Json]:
    uri, errors = _object(parameters, "uri", where)
    for key in ("path", "query"):
        if key in uri:
            errors += _text(uri[key], f"{where}/uri/{key}")
    return errors


def _configure(parameters: dict[str, Json], where: Where) -> list[Json]:
    return [
        wrong(parameters[feature], feature, "it must be a boolean", f"{where}/{feature}")
        for feature in EDGE_FEATURES
        if feature in parameters and not isinstance(parameters[feature], bool)
    ]


def _route(parameters: dict[str, Json], where: Where) -> list[Json]:
    errors: list[Json] = []
    for key, inner in (("sni", "value"), ("origin", "host")):
        given = parameters.get(key)
        if given is None:
            continue
        if not isinstance(given, dict) or not isinstance(given.get(inner), str | None):
            errors.append(wrong(given, key, f"it must be an object with {inner}", f"{where}/{key}"))
    if not isinstance(parameters.get("host_header", ""), str):
        errors.append(
            wrong(parameters["host_header"], "host_header", "it must be a string", f"{where}/host_header")
        )
    return errors


def _headers(*operations: str) -> Callable[[dict[str, Json], Where], list[Json]]:
    def check(parameters: dict[str, Json], where: Where) -> list[Json]:
        headers, errors = _object(parameters, "headers", where)
        for name, given in headers.items():
            place = f"{where}/headers/{name}"
            if not _TOKEN.fullmatch(name):
                errors.append(wrong(name, "header", "it is no name of a header", place))
            operation = given.get("operation") if isinstance(given, dict) else None
            if operation not in operations:
                reason = f"it is not one of {', '.join(operations)}"
                errors.append(wrong(operation, "operation", reason, f"{place}/operation"))
            elif operation != "remove":
                errors += _text(given, place)
        return errors

    return check


def _error(parameters: dict[str, Json], where: Where) -> list[Json]:
    errors = [
        wrong(parameters[key], key, "it must be a string", f"{where}/{key}")
        for key in ("content", "content_type")
        if not isinstance(parameters.get(key, ""), str)
    ]
    status = parameters.get("status_code")
    if status is not None and (
        isinstance(status, bool) or not isinstance(status, int) or not 400 <= status <= 599
    ):
        errors.append(wrong(status, "status_code", "it must be from 400 to 599", f"{where}/status_code"))
    return errors


_PARAMETERS: dict[str, Callable[[dict[str, Json], Where], list[Json]]] = {
    "http_request_dynamic_redirect": _redirect,
    "http_request_transform": _rewrite,
    "http_config_settings": _configure,
    "http_request_origin": _route,
    "http_request_late_transform": _headers("set", "remove"),
    "http_custom_errors": _error,
    "http_response_headers_transform": _headers("set", "add", "remove"),
}
