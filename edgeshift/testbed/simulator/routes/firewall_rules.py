"""Firewall rules (docs/service.md §3.2: Bypass > WAF Managed Rules migrates)."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from edgeshift.testbed.simulator.answers import Answer, Json, refuse, require_object, succeeded
from edgeshift.testbed.simulator.calls import Call, Route, paged
from edgeshift.testbed.simulator.fleet_models import FirewallFilter, FirewallRule
from edgeshift.testbed.simulator.routes.bodies import first_problem, sent_items
from edgeshift.testbed.simulator.routes.filters import found_filter, named_ids, parsed_filter
from edgeshift.testbed.simulator.routes.filters import shown as shown_filter
from edgeshift.testbed.simulator.rulesets import new_id
from edgeshift.testbed.simulator.zone_filters import filter_of, keep_filter, remove_rule

Document = dict[str, Any]


def list_rules(call: Call) -> Answer:
    """The zone's firewall rules."""
    wanted = {key: call.query[key] for key in ("id", "action", "description") if call.query.get(key)}
    found = [_shown(call, rule) for rule in call.zone.zone.firewall_rules]
    found = [one for one in found if all(str(one[key]) == value for key, value in wanted.items())]
    if call.query.get("paused") in ("true", "false"):
        found = [one for one in found if one["paused"] is (call.query["paused"] == "true")]
    return paged(call, found, least=5, most=100, usual=25)


def get_rule(call: Call) -> Answer:
    """One firewall rule."""
    return succeeded(_shown(call, _own(call, call.params["rule_id"])))


def create_rules(call: Call) -> Answer:
    """Add an array of firewall rules, each with its filter's expression or the id of a filter that is
    there."""
    sent = [_parsed(call, one, None, f"/{place}") for place, one in enumerate(sent_items(call))]
    return succeeded(_stored(call, [(None, *one) for one in sent]))


def put_rules(call: Call) -> Answer:
    """Replace several firewall rules, each named by its id."""
    return succeeded(
        _stored(call, [(known, *_parsed(call, one, known, at)) for known, one, at in _named(call)])
    )


def patch_rules(call: Call) -> Answer:
    """Change parts of several firewall rules, each named by its id."""
    changed = [
        (known, *_parsed(call, {**_shown(call, known), **one}, known, at)) for known, one, at in _named(call)
    ]
    return succeeded(_stored(call, changed))


def put_rule(call: Call) -> Answer:
    """Replace one firewall rule."""
    known = _own(call, call.params["rule_id"])
    return succeeded(_stored(call, [(known, *_parsed(call, call.object(), known, ""))])[0])


def patch_rule(call: Call) -> Answer:
    """Change parts of one firewall rule; answers an array of it."""
    known = _own(call, call.params["rule_id"])
    sent = {**_shown(call, known), **call.object()}
    return succeeded(_stored(call, [(known, *_parsed(call, sent, known, ""))]))


def delete_rule(call: Call) -> Answer:
    """Delete one firewall rule."""
    known = _own(call, call.params["rule_id"])
    _remove(call, known)
    call.settings_changed()
    return succeeded({"id": known.id})


def delete_rules(call: Call) -> Answer:
    """Delete several, by `?id=...&id=...` or by a body `[{"id": ...}]`."""
    known = [_own(call, one) for one in named_ids(call)]
    for rule in known:
        _remove(call, rule)
    call.settings_changed()
    return succeeded([{"id": rule.id} for rule in known])


def _named(call: Call) -> list[tuple[FirewallRule, Document, str]]:
    """The items of a call that changes many: each with the rule that its id names, and its place."""
    items = [
        (require_object(one, f"item {place}"), f"/{place}") for place, one in enumerate(sent_items(call))
    ]
    return [(_own(call, str(one.get("id", ""))), one, at) for one, at in items]


def _parsed(
    call: Call, sent: Json, known: FirewallRule | None, at: str
) -> tuple[FirewallRule, FirewallFilter]:
    document = require_object(sent, f"item {at}" if at else "request body")
    filtered = _filter(call, document.get("filter") or {}, known, at)
    allowed = ("action", "products", "description", "paused", "priority", "ref")
    try:
        rule = FirewallRule.model_validate(
            {
                **{key: document[key] for key in allowed if document.get(key) is not None},
                "action": document.get("action"),
                "expression": filtered.expression,
                "id": known.id if known else new_id(),
                "filter_id": filtered.id,
            }
        )
    except ValidationError as error:
        raise first_problem(error, at) from None
    return rule, filtered


def _filter(call: Call, sent: Json, known: FirewallRule | None, at: str) -> FirewallFilter:
    """The filter that a rule is sent with: one that is there, by its id (clients send an empty expression
    beside it), or the rule's own, or a new one."""
    given = require_object(sent, "filter")
    identity, own = given.get("id") or None, known.filter_id if known else None
    there: FirewallFilter | None = None
    if identity is None and own:
        there = found_filter(call, own)
    elif isinstance(identity, str):
        there = found_filter(call, identity)
    if there is not None and not given.get("expression"):
        return there
    kept = there.model_dump() if there is not None else {}
    return parsed_filter({**kept, **given}, there.id if there is not None else new_id(), f"{at}/filter")


def _stored(
    call: Call, changed: Sequence[tuple[FirewallRule | None, FirewallRule, FirewallFilter]]
) -> list[Document]:
    """Keep rules with their filters, each in the place of the one that was known; as they are shown then."""
    zone = call.zone.zone
    for known, rule, filtered in changed:
        if known is not None and known in zone.firewall_rules:
            before = filter_of(zone, known)
            zone.firewall_rules[zone.firewall_rules.index(known)] = rule
            if before.id != filtered.id:
                keep_filter(zone, before)
        else:
            zone.firewall_rules.append(rule)
        keep_filter(zone, filtered)
    call.settings_changed()
    return [_shown(call, rule) for _, rule, _ in changed]


def _remove(call: Call, rule: FirewallRule) -> None:
    gone = call.query.get("delete_filter_if_unused") == "true"
    remove_rule(call.zone.zone, rule, with_filter=gone)


def _own(call: Call, identity: str) -> FirewallRule:
    for rule in call.zone.zone.firewall_rules:
        if rule.id == identity:
            return rule
    raise refuse(404, f"could not find firewall rule {identity[:64]}", 10003)


def _shown(call: Call, rule: FirewallRule) -> Document:
    shown: Document = {
        "id": rule.id,
        "paused": rule.paused,
        "description": rule.description,
        "action": rule.action,
        "priority": rule.priority,
        "filter": shown_filter(filter_of(call.zone.zone, rule)),
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
    Route("PATCH", _RULES, "firewall.rules.patch_many", patch_rules, _EDIT),
    Route("DELETE", _RULES, "firewall.rules.delete_many", delete_rules, _EDIT),
    Route("GET", _RULES + "/{rule_id}", "firewall.rules.get", get_rule, _READ),
    Route("PUT", _RULES + "/{rule_id}", "firewall.rules.put", put_rule, _EDIT),
    Route("PATCH", _RULES + "/{rule_id}", "firewall.rules.patch", patch_rule, _EDIT),
    Route("DELETE", _RULES + "/{rule_id}", "firewall.rules.delete", delete_rule, _EDIT),
]
