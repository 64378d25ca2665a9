"""Page rules; the settings `disable_security` and `waf` migrate (docs/service.md §3.2)."""

from typing import Any

from pydantic import ValidationError

from edgeshift.testbed.simulator.answers import Answer, Json, refuse, require_object, succeeded
from edgeshift.testbed.simulator.calls import Call, Route
from edgeshift.testbed.simulator.clock import timestamp
from edgeshift.testbed.simulator.fleet_file import PageRule
from edgeshift.testbed.simulator.routes.bodies import first_problem
from edgeshift.testbed.simulator.rulesets import new_id

Document = dict[str, Any]


def list_rules(call: Call) -> Answer:
    """Every page rule; this list is not paged."""
    status = call.query.get("status")
    rules = [rule for rule in call.zone.zone.page_rules if status in (None, "", rule.status)]
    rules.sort(key=lambda rule: rule.priority, reverse=call.query.get("direction", "desc") == "desc")
    return succeeded([_shown(rule, call) for rule in rules])


def get_rule(call: Call) -> Answer:
    """One page rule."""
    return succeeded(_shown(_own(call), call))


def create_rule(call: Call) -> Answer:
    """Add a page rule with `targets` and `actions`."""
    made = _parsed(call.object(), new_id())
    call.zone.zone.page_rules.append(made)
    call.settings_changed()
    return succeeded(_shown(made, call))


def put_rule(call: Call) -> Answer:
    """Replace a page rule."""
    return _changed(call, call.object())


def patch_rule(call: Call) -> Answer:
    """Change parts of a page rule."""
    known = _own(call)
    return _changed(call, {**_shown(known, call), **call.object()})


def delete_rule(call: Call) -> Answer:
    """Delete a page rule."""
    known = _own(call)
    call.zone.zone.page_rules.remove(known)
    call.settings_changed()
    return succeeded({"id": known.id})


def _changed(call: Call, body: Document) -> Answer:
    known = _own(call)
    made = _parsed(body, known.id)
    rules = call.zone.zone.page_rules
    rules[rules.index(known)] = made
    call.settings_changed()
    return succeeded(_shown(made, call))


def _parsed(body: Document, identity: str) -> PageRule:
    targets = body.get("targets")
    actions = body.get("actions")
    if not isinstance(targets, list) or not targets:
        raise refuse(400, "targets must be an array that is not empty", 1004, pointer="/targets")
    if not isinstance(actions, list) or not actions:
        raise refuse(400, "actions must be an array that is not empty", 1004, pointer="/actions")
    try:
        return PageRule.model_validate(
            {
                "id": identity,
                "targets": [_pattern(one, place) for place, one in enumerate(targets)],
                "actions": [
                    {
                        key: value
                        for key, value in require_object(one, "action").items()
                        if key in ("id", "value")
                    }
                    for one in actions
                ],
                **{key: body[key] for key in ("status", "priority") if body.get(key) is not None},
            }
        )
    except ValidationError as error:
        raise first_problem(error) from None


def _pattern(target: Json, place: int) -> Json:
    document = require_object(target, "target")
    constraint = require_object(document.get("constraint", {}), "constraint")
    value = constraint.get("value")
    if document.get("target", "url") != "url" or not isinstance(value, str) or not value:
        said = 'a target is {"target": "url", "constraint": {"operator": "matches", "value": PATTERN}}'
        raise refuse(400, said, 1004, pointer=f"/targets/{place}")
    return value


def _own(call: Call) -> PageRule:
    for rule in call.zone.zone.page_rules:
        if rule.id == call.params["rule_id"]:
            return rule
    raise refuse(404, f"Invalid Page Rule identifier {call.params['rule_id'][:64]}", 1002)


def _shown(rule: PageRule, call: Call) -> Document:
    made = timestamp(call.state.anchor)
    return {
        "id": rule.id,
        "targets": [
            {"target": "url", "constraint": {"operator": "matches", "value": pattern}}
            for pattern in rule.targets
        ],
        "actions": [one.model_dump(mode="json", exclude_none=True) for one in rule.actions],
        "priority": rule.priority,
        "status": rule.status,
        "created_on": made,
        "modified_on": made,
    }


_RULES = "/zones/{zone_id}/pagerules"
_READ, _EDIT = ("page_rules:read",), ("page_rules:edit",)
ROUTES = [
    Route("GET", _RULES, "pagerules.list", list_rules, _READ),
    Route("POST", _RULES, "pagerules.create", create_rule, _EDIT),
    Route("GET", _RULES + "/{rule_id}", "pagerules.get", get_rule, _READ),
    Route("PUT", _RULES + "/{rule_id}", "pagerules.put", put_rule, _EDIT),
    Route("PATCH", _RULES + "/{rule_id}", "pagerules.patch", patch_rule, _EDIT),
    Route("DELETE", _RULES + "/{rule_id}", "pagerules.delete", delete_rule, _EDIT),
]
