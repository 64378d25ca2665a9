"""The previous WAF: packages, groups, rules, URI overrides and the zone's setting (docs/service.md §2.4,
§3.2).

These calls stop once the zone is migrated.
"""

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from edgeshift.testbed.simulator import previous_waf
from edgeshift.testbed.simulator.answers import Answer, Json, refuse, succeeded
from edgeshift.testbed.simulator.calls import Call, Route, paged
from edgeshift.testbed.simulator.clock import timestamp
from edgeshift.testbed.simulator.fleet_file import FleetZone, UriOverride
from edgeshift.testbed.simulator.routes.bodies import first_problem, sent_object
from edgeshift.testbed.simulator.rulesets import new_id

Document = dict[str, Any]
WAF_SETTING = "waf"


def list_packages(call: Call) -> Answer:
    """The packages of rules."""
    found = [
        one for one in previous_waf.packages(call.zone.zone) if call.query.get("name") in (None, one["name"])
    ]
    return paged(call, found, least=5, most=100, usual=50)


def get_package(call: Call) -> Answer:
    """One package."""
    return succeeded(_package(call))


def patch_package(call: Call) -> Answer:
    """Change `sensitivity` and `action_mode` of the anomaly package."""
    identity, body = _package(call)["id"], call.object()
    sent: dict[str, str] = {}
    for key in ("sensitivity", "action_mode"):
        if key in body:
            sent[key] = body[key]
    if not sent or not all(isinstance(value, str) for value in sent.values()):
        raise refuse(400, "give sensitivity or action_mode, each a string", 1003)
    _change(call, lambda zone: previous_waf.set_package(zone, identity, sent))
    return succeeded(_package(call))


def list_groups(call: Call) -> Answer:
    """The groups of a package."""
    return paged(call, _matching(call, _groups(call)), least=5, most=100, usual=50)


def get_group(call: Call) -> Answer:
    """One group."""
    return succeeded(_one(_groups(call), call.params["group_id"], "group"))


def patch_group(call: Call) -> Answer:
    """Turn a group on or off."""
    package, group = _package(call)["id"], _one(_groups(call), call.params["group_id"], "group")
    mode = _mode(call)
    _change(call, lambda zone: previous_waf.set_group_mode(zone, package, group["id"], mode))
    return succeeded(_one(_groups(call), group["id"], "group"))


def list_rules(call: Call) -> Answer:
    """The rules of a package."""
    group = call.query.get("group_id")
    found = [one for one in _rules(call) if group in (None, "", one["group"]["id"])]
    return paged(call, _matching(call, found), least=5, most=100, usual=50)


def get_rule(call: Call) -> Answer:
    """One rule."""
    return succeeded(_one(_rules(call), call.params["rule_id"], "rule"))


def patch_rule(call: Call) -> Answer:
    """Change a rule's mode to one of its `allowed_modes`."""
    package, rule = _package(call)["id"], _one(_rules(call), call.params["rule_id"], "rule")
    mode = _mode(call)
    _change(call, lambda zone: previous_waf.set_rule_mode(zone, package, rule["id"], mode))
    return succeeded(_one(_rules(call), rule["id"], "rule"))


def list_overrides(call: Call) -> Answer:
    """The URI-based overrides, by which a zone is not eligible; and those whose deletion does not show."""
    found = [_override(one) for one in call.zone.zone.uri_overrides]
    late = call.state.clock.lasting(call.options.override_list_late_seconds)
    found += call.zone.overrides_deleted_after(call.now - late)
    return paged(call, found, least=5, most=100, usual=50)


def get_override(call: Call) -> Answer:
    """One override."""
    return succeeded(_override(_own_override(call)))


def create_override(call: Call) -> Answer:
    """Add an override; `urls` is required."""
    made = _parsed_override(call, new_id())
    call.zone.zone.uri_overrides.append(made)
    call.settings_changed()
    return succeeded(_override(made))


def put_override(call: Call) -> Answer:
    """Replace an override."""
    known = _own_override(call)
    made = _parsed_override(call, known.id)
    overrides = call.zone.zone.uri_overrides
    overrides[overrides.index(known)] = made
    call.settings_changed()
    return succeeded(_override(made))


def delete_override(call: Call) -> Answer:
    """Delete an override; the answer names its id alone, in the form that an option chooses."""
    known = _own_override(call)
    call.zone.zone.uri_overrides.remove(known)
    call.settings_changed()
    _show_later(call, known)
    match call.options.override_deleted:
        case "result":
            return Answer(200, {"result": {"id": known.id}})
        case "empty":
            return Answer(200, text="")
    return succeeded({"id": known.id})


def get_setting(call: Call) -> Answer:
    """The zone's setting `waf`."""
    return succeeded(shown_waf(call))


def patch_setting(call: Call) -> Answer:
    """Turn the previous WAF on or off."""
    set_waf(call, call.object().get("value"))
    return get_setting(call)


def shown_waf(call: Call) -> Document:
    """The setting as the service answers it."""
    record = call.zone
    value = "on" if record.zone.previous_waf.enabled else "off"
    changed = record.standing.setting_changed
    editable = record.zone.plan != "free"
    return {"id": WAF_SETTING, "value": value, "editable": editable, "modified_on": changed}


def set_waf(call: Call, value: Json) -> None:
    """Turn the previous WAF on or off. Raises a 400 for another value, a 403 where the plan has no choice."""
    if value not in ("on", "off"):
        raise refuse(400, "Invalid value for zone setting waf: it must be on or off", 1007, pointer="/value")
    if call.zone.zone.plan == "free":
        raise refuse(403, "Not allowed to edit setting for waf", 1006)
    call.zone.zone.previous_waf.enabled = value == "on"
    call.zone.standing.setting_changed = timestamp(call.now)
    call.settings_changed()
    call.state.zones.save_standing(call.zone)


def _package(call: Call) -> Document:
    return _one(previous_waf.packages(call.zone.zone), call.params["package_id"], "package")


def _groups(call: Call) -> list[Document]:
    return previous_waf.groups(call.zone.zone, _package(call)["id"])


def _rules(call: Call) -> list[Document]:
    return previous_waf.rules(call.zone.zone, _package(call)["id"])


def _mode(call: Call) -> str:
    mode = call.object().get("mode")
    if not isinstance(mode, str):
        raise refuse(400, "mode is required and must be a string", 1003, pointer="/mode")
    return mode


def _one(documents: list[Document], identity: str, what: str) -> Document:
    for document in documents:
        if document["id"] == identity:
            return document
    raise refuse(404, f"could not find WAF {what} {identity[:64]}", 1002)


def _matching(call: Call, documents: list[Document]) -> list[Document]:
    wanted = {key: call.query[key] for key in ("mode", "description", "name") if call.query.get(key)}
    return [one for one in documents if all(one.get(key) == value for key, value in wanted.items())]


def _change(call: Call, change: Callable[[FleetZone], None]) -> None:
    try:
        change(call.zone.zone)
    except ValueError as error:
        raise refuse(400, str(error), 1003) from None
    call.settings_changed()


def _own_override(call: Call) -> UriOverride:
    for override in call.zone.zone.uri_overrides:
        if override.id == call.params["override_id"]:
            return override
    raise refuse(404, f"could not find WAF override {call.params['override_id'][:64]}", 1002)


def _show_later(call: Call, override: UriOverride) -> None:
    options = call.options
    late = max(options.override_list_late_seconds, options.override_check_late_seconds)
    if late:
        call.zone.standing.deleted.append((timestamp(call.now), _override(override)))
        call.state.zones.save_standing(call.zone)


def _parsed_override(call: Call, identity: str) -> UriOverride:
    body = sent_object(call)
    if call.options.bodies.unknown_keys == "ignore":
        body = {key: value for key, value in body.items() if key in UriOverride.model_fields}
    try:
        return UriOverride.model_validate({**body, "id": identity})
    except ValidationError as error:
        raise first_problem(error) from None


def _override(override: UriOverride) -> Document:
    return override.model_dump(mode="json")


_WAF = "/zones/{zone_id}/firewall/waf"
_PACKAGE = _WAF + "/packages/{package_id}"
_OVERRIDE = _WAF + "/overrides/{override_id}"
_READ = ("waf:read", "firewall:read")
_EDIT = ("waf:edit", "firewall:edit")
_SETTING = "/zones/{zone_id}/settings/waf"
ROUTES = [
    Route("GET", _WAF + "/packages", "waf.packages.list", list_packages, _READ, legacy_waf=True),
    Route("GET", _PACKAGE, "waf.packages.get", get_package, _READ, legacy_waf=True),
    Route("PATCH", _PACKAGE, "waf.packages.patch", patch_package, _EDIT, legacy_waf=True),
    Route("GET", _PACKAGE + "/groups", "waf.groups.list", list_groups, _READ, legacy_waf=True),
    Route("GET", _PACKAGE + "/groups/{group_id}", "waf.groups.get", get_group, _READ, legacy_waf=True),
    Route("PATCH", _PACKAGE + "/groups/{group_id}", "waf.groups.patch", patch_group, _EDIT, legacy_waf=True),
    Route("GET", _PACKAGE + "/rules", "waf.rules.list", list_rules, _READ, legacy_waf=True),
    Route("GET", _PACKAGE + "/rules/{rule_id}", "waf.rules.get", get_rule, _READ, legacy_waf=True),
    Route("PATCH", _PACKAGE + "/rules/{rule_id}", "waf.rules.patch", patch_rule, _EDIT, legacy_waf=True),
    Route("GET", _WAF + "/overrides", "waf.overrides.list", list_overrides, _READ, legacy_waf=True),
    Route("POST", _WAF + "/overrides", "waf.overrides.create", create_override, _EDIT, legacy_waf=True),
    Route("GET", _OVERRIDE, "waf.overrides.get", get_override, _READ, legacy_waf=True),
    Route("PUT", _OVERRIDE, "waf.overrides.put", put_override, _EDIT, legacy_waf=True),
    Route("DELETE", _OVERRIDE, "waf.overrides.delete", delete_override, _EDIT, legacy_waf=True),
    Route("GET", _SETTING, "settings.waf.get", get_setting, ("zone_settings:read",), legacy_waf=True),
    Route("PATCH", _SETTING, "settings.waf.patch", patch_setting, ("zone_settings:edit",), legacy_waf=True),
]
