"""Firewall rules and their filters (docs/service.md §3.2: Bypass > WAF Managed Rules migrates)."""

from typing import Any
from urllib.parse import parse_qsl

from pydantic import ValidationError

from edgeshift.testbed.simulator.answers import Answer, Json, refuse, require_object, succeeded
from edgeshift.testbed.simulator.calls import Call, Route, paged
from edgeshift.testbed.simulator.fleet_file import FirewallRule
from edgeshift.testbed.simulator.routes.bodies import first_problem
from edgeshift.testbed.simulator.ruleset_checks import expression_problem
from edgeshift.testbed.simulator.rulesets import new_id

Document = dict[str, Any]
MAX_AT_ONCE = 500


def list_rules(call: Call) -> Answer:
    """The zone's firewall rules."""
    wanted = {key: call.query[key] for key in ("id", "action", "description") if call.query.get(key)}
    found = [_shown(rule) for rule in call.zone.zone.firewall_rules]
    found = [one for one in found if all(str(one[key]) == value for key, value in wanted.items())]
    if call.query.get("paused") in ("true", "false"):
        found = [one for one in found if one["paused"] is (call.query["paused"] == "true")]
    return paged(call, found, least=5, most=100, usual=25)


def get_rule(call: Call) -> Answer:
    """One firewall rule."""
    return succeeded(_shown(_own(call, call.params["rule_id"])))


def create_rules(call: Call) -> Answer:
    """Add an array of firewall rules, each with its filter's expression or the id of a filter that is
    there."""
    made = [_parsed(call, one, None, f"/{place}") for place, one in enumerate(_array(call))]
    call.zone.zone.firewall_rules.extend(made)
    call.settings_changed()
    return succeeded([_shown(rule) for rule in made])


def put_rules(call: Call) -> Answer:
    """Replace several firewall rules, each named by its id."""
    changed = []
    for place, one in enumerate(_array(call)):
        document = require_object(one, f"item {place}")
        known = _own(call, str(document.get("id", "")))
        changed.append((known, _parsed(call, document, known, f"/{place}")))
    for known, made in changed:
        _replace(call, known, made)
    call.settings_changed()
    return succeeded([_shown(made) for _, made in changed])


def put_rule(call: Call) -> Answer:
    """Replace one firewall rule."""
    known = _own(call, call.params["rule_id"])
    made = _parsed(call, call.object(), known, "")
    _replace(call, known, made)
    call.settings_changed()
    return succeeded(_shown(made))


def patch_rule(call: Call) -> Answer:
    """Change parts of one firewall rule."""
    known = _own(call, call.params["rule_id"])
    made = _parsed(call, {**_shown(known), **call.object()}, known, "")
    _replace(call, known, made)
    call.settings_changed()
    return succeeded(_shown(made))


def delete_rule(call: Call) -> Answer:
    """Delete one firewall rule."""
    known = _own(call, call.params["rule_id"])
    call.zone.zone.firewall_rules.remove(known)
    call.settings_changed()
    return succeeded({"id": known.id})


def delete_rules(call: Call) -> Answer:
    """Delete several, by `?id=...&id=...` or by a body `[{"id": ...}]`."""
    ids = [value for key, value in parse_qsl(call.raw_query) if key == "id"]
    if not ids:
        ids = [str(require_object(one, "item").get("id", "")) for one in _array(call)]
    known = [_own(call, one) for one in dict.fromkeys(ids)]
    for rule in known:
        call.zone.zone.firewall_rules.remove(rule)
    call.settings_changed()
    return succeeded([{"id": rule.id} for rule in known])


def list_filters(call: Call) -> Answer:
    """The filters of the firewall rules."""
    found = [_filter(rule) for rule in call.zone.zone.firewall_rules]
    return paged(call, found, least=5, most=100, usual=25)


def get_filter(call: Call) -> Answer:
    """One filter."""
    return succeeded(_filter(_by_filter(call, call.params["filter_id"])))


def put_filter(call: Call) -> Answer:
    """Change a filter's expression."""
    rule = _by_filter(call, call.params["filter_id"])
    expression = _expression(call.object().get("expression"), "/expression")
    rule.expression = expression
    call.settings_changed()
    return succeeded(_filter(rule))


def _array(call: Call) -> list[Json]:
    body = call.json()
    if not isinstance(body, list) or not body:
        raise refuse(400, "the request body must be a JSON array that is not empty", 10026)
    if len(body) > MAX_AT_ONCE:
        raise refuse(400, f"at most {MAX_AT_ONCE} items can be sent at once", 10026)
    return body


def _parsed(call: Call, sent: Json, known: FirewallRule | None, at: str) -> FirewallRule:
    document = require_object(sent, f"item {at}" if at else "request body")
    filtered = require_object(document.get("filter", {}), "filter")
    expression = filtered.get("expression")
    filter_id = filtered.get("id")
    if expression is None and known is not None and filter_id in (None, known.filter_id):
        expression = known.expression
    elif expression is None and isinstance(filter_id, str):
        expression = _by_filter(call, filter_id).expression
    allowed = ("action", "products", "description", "paused", "priority", "ref")
    try:
        return FirewallRule.model_validate(
            {
                **{key: document[key] for key in allowed if document.get(key) is not None},
                "action": document.get("action"),
                "expression": _expression(expression, f"{at}/filter/expression"),
                "id": known.id if known else new_id(),
                "filter_id": known.filter_id if known else new_id(),
            }
        )
    except ValidationError as error:
        raise first_problem(error, at) from None


def _expression(value: Json, pointer: str) -> str:
    if not isinstance(value, str):
        raise refuse(400, "filter expression is required and must be a string", 10102, pointer=pointer)
    if problem := expression_problem(value):
        raise refuse(400, f"filter parsing error: {problem}", 10102, pointer=pointer)
    return value


def _own(call: Call, identity: str) -> FirewallRule:
    for rule in call.zone.zone.firewall_rules:
        if rule.id == identity:
            return rule
    raise refuse(404, f"could not find firewall rule {identity[:64]}", 10003)


def _by_filter(call: Call, identity: str) -> FirewallRule:
    for rule in call.zone.zone.firewall_rules:
        if rule.filter_id == identity:
            return rule
    raise refuse(404, f"could not find filter {identity[:64]}", 10003)


def _replace(call: Call, known: FirewallRule, made: FirewallRule) -> None:
    rules = call.zone.zone.firewall_rules
    rules[rules.index(known)] = made


def _filter(rule: FirewallRule) -> Document:
    return {"id": rule.filter_id, "expression": rule.expression, "paused": False, "description": ""}


def _shown(rule: FirewallRule) -> Document:
    shown: Document = {
        "id": rule.id,
        "paused": rule.paused,
        "description": rule.description,
        "action": rule.action,
        "priority": rule.priority,
        "filter": {"id": rule.filter_id, "expression": rule.expression, "paused": False},
    }
    if rule.products:
        shown["products"] = rule.products
    if rule.ref:
        shown["ref"] = rule.ref
    return shown


_RULES = "/zones/{zone_id}/firewall/rules"
_READ, _EDIT = ("firewall:read",), ("firewall:edit",)
ROUTES = [
    Route("GET", _RULES, "firewall.rules.list", list_rules, _READ),
    Route("POST", _RULES, "firewall.rules.create", create_rules, _EDIT),
    Route("PUT", _RULES, "firewall.rules.put_many", put_rules, _EDIT),
    Route("DELETE", _RULES, "firewall.rules.delete_many", delete_rules, _EDIT),
    Route("GET", _RULES + "/{rule_id}", "firewall.rules.get", get_rule, _READ),
    Route("PUT", _RULES + "/{rule_id}", "firewall.rules.put", put_rule, _EDIT),
    Route("PATCH", _RULES + "/{rule_id}", "firewall.rules.patch", patch_rule, _EDIT),
    Route("DELETE", _RULES + "/{rule_id}", "firewall.rules.delete", delete_rule, _EDIT),
    Route("GET", "/zones/{zone_id}/filters", "filters.list", list_filters, _READ),
    Route("GET", "/zones/{zone_id}/filters/{filter_id}", "filters.get", get_filter, _READ),
    Route("PUT", "/zones/{zone_id}/filters/{filter_id}", "filters.put", put_filter, _EDIT),
]
