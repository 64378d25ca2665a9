"""Filters, which firewall rules refer to (docs/service.md §4.3)."""

from typing import Any
from urllib.parse import parse_qsl

from pydantic import ValidationError

from edgeshift.testbed.simulator.answers import Answer, Json, refuse, require_object, succeeded
from edgeshift.testbed.simulator.calls import Call, Route, paged
from edgeshift.testbed.simulator.fleet_models import FirewallFilter
from edgeshift.testbed.simulator.routes.bodies import first_problem, sent_items
from edgeshift.testbed.simulator.ruleset_checks import expression_problem
from edgeshift.testbed.simulator.rulesets import new_id
from edgeshift.testbed.simulator.zone_filters import filters_of, keep_filter, rules_with

Document = dict[str, Any]


def list_filters(call: Call) -> Answer:
    """The filters, those of firewall rules too."""
    wanted = {
        key: call.query[key] for key in ("id", "description", "expression", "ref") if call.query.get(key)
    }
    found = [shown(one) for one in filters_of(call.zone.zone).values()]
    found = [one for one in found if all(one.get(key) == value for key, value in wanted.items())]
    if call.query.get("paused") in ("true", "false"):
        found = [one for one in found if one["paused"] is (call.query["paused"] == "true")]
    return paged(call, found, least=5, most=100, usual=25)


def get_filter(call: Call) -> Answer:
    """One filter."""
    return succeeded(shown(found_filter(call, call.params["filter_id"])))


def create_filters(call: Call) -> Answer:
    """Add an array of filters, which rules can then name by their ids."""
    made = [parsed_filter(one, new_id(), f"/{place}") for place, one in enumerate(sent_items(call))]
    for one in made:
        keep_filter(call.zone.zone, one)
    call.settings_changed()
    return succeeded([shown(one) for one in made])


def put_filters(call: Call) -> Answer:
    """Replace several filters, each named by its id."""
    changed = []
    for place, one in enumerate(sent_items(call)):
        known = found_filter(call, str(require_object(one, f"item {place}").get("id", "")))
        changed.append(parsed_filter(one, known.id, f"/{place}"))
    for filtered in changed:
        keep_filter(call.zone.zone, filtered)
    call.settings_changed()
    return succeeded([shown(one) for one in changed])


def put_filter(call: Call) -> Answer:
    """Replace a filter; the rules that use it act by its new expression."""
    changed = parsed_filter(call.object(), found_filter(call, call.params["filter_id"]).id, "")
    keep_filter(call.zone.zone, changed)
    call.settings_changed()
    return succeeded(shown(changed))


def delete_filter(call: Call) -> Answer:
    """Delete a filter that no rule uses."""
    _remove(call, [call.params["filter_id"]])
    return succeeded({"id": call.params["filter_id"]})


def delete_filters(call: Call) -> Answer:
    """Delete several, by `?id=...&id=...` or by a body `[{"id": ...}]`."""
    ids = named_ids(call)
    _remove(call, ids)
    return succeeded([{"id": one} for one in ids])


def validate_expression(call: Call) -> Answer:
    """Whether a filter could have this expression: a 400 says why not."""
    _expression(call.object().get("expression"), "/expression")
    return succeeded(None)


def named_ids(call: Call) -> list[str]:
    """The ids that a DELETE of many names, each once."""
    ids = [value for key, value in parse_qsl(call.raw_query) if key == "id"]
    if not ids:
        ids = [str(require_object(one, "item").get("id", "")) for one in sent_items(call)]
    return list(dict.fromkeys(ids))


def found_filter(call: Call, identity: str) -> FirewallFilter:
    """A filter by its id. Raises a 404."""
    found = filters_of(call.zone.zone).get(identity)
    if found is None:
        raise refuse(404, f"could not find filter {identity[:64]}", 10003)
    return found


def shown(filtered: FirewallFilter) -> Document:
    """A filter as the service answers it."""
    return filtered.model_dump(mode="json", exclude=None if filtered.ref else {"ref"})


def parsed_filter(sent: Json, identity: str, at: str) -> FirewallFilter:
    """A filter as it was sent, with the id that it has or gets. Raises a 400 with pointers below `at`."""
    document = require_object(sent, f"item {at}" if at else "request body")
    kept = ("paused", "description", "ref")
    try:
        return FirewallFilter.model_validate(
            {
                **{key: document[key] for key in kept if document.get(key) is not None},
                "expression": _expression(document.get("expression"), f"{at}/expression"),
                "id": identity,
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


def _remove(call: Call, ids: list[str]) -> None:
    zone = call.zone.zone
    for one in ids:
        found_filter(call, one)
        if rules_with(zone, one):
            raise refuse(400, f"filter {one} is in use by a firewall rule: delete the rule first", 10104)
    zone.filters = [one for one in zone.filters if one.id not in ids]
    call.settings_changed()


_FILTERS = "/zones/{zone_id}/filters"
_FILTER = _FILTERS + "/{filter_id}"
_READ, _EDIT = ("firewall:read",), ("firewall:edit",)
ROUTES = [
    Route("GET", _FILTERS, "filters.list", list_filters, _READ),
    Route("POST", _FILTERS, "filters.create", create_filters, _EDIT),
    Route("PUT", _FILTERS, "filters.put_many", put_filters, _EDIT),
    Route("DELETE", _FILTERS, "filters.delete_many", delete_filters, _EDIT),
    Route("GET", _FILTER, "filters.get", get_filter, _READ),
    Route("PUT", _FILTER, "filters.put", put_filter, _EDIT),
    Route("DELETE", _FILTER, "filters.delete", delete_filter, _EDIT),
    Route("POST", "/filters/validate-expr", "filters.validate", validate_expression, _READ),
    Route("POST", _FILTERS + "/validate-expr", "filters.validate", validate_expression, _READ),
]
