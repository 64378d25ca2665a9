"""Settings of a zone that are on or off, by their names (docs/service.md §4.3, observed).

`waf` by itself has a route of its own, since it goes with the previous WAF. Here it is in the list of all for
as long.
"""

from typing import get_args

from edgeshift.testbed.simulator.answers import Answer, Json, refuse, require_object, succeeded
from edgeshift.testbed.simulator.calls import Call, Route
from edgeshift.testbed.simulator.fleet_models import SettingName
from edgeshift.testbed.simulator.routes.legacy_waf import WAF_SETTING, set_waf, shown_waf
from edgeshift.testbed.simulator.zone_records import MIGRATED


def list_settings(call: Call) -> Answer:
    """Every setting."""
    shown = [_shown(call, name) for name in get_args(SettingName)]
    if _has_waf(call):
        shown.append(shown_waf(call))
    return succeeded(sorted(shown, key=lambda one: str(one["id"])))


def patch_settings(call: Call) -> Answer:
    """Turn several on or off, by `items` of `id` and `value`; all of them or none."""
    items = call.object().get("items")
    if not isinstance(items, list) or not items:
        raise refuse(400, "items must be an array that is not empty", 1007, pointer="/items")
    sent = [(one.get("id"), one.get("value")) for one in (require_object(item, "item") for item in items)]
    for name, value in sent:
        if name != WAF_SETTING or not _has_waf(call):
            _on_or_off(_name(name), value)
    # `waf` is the only one that can be refused from here on.
    for name, value in sorted(sent, key=lambda one: one[0] != WAF_SETTING):
        if name == WAF_SETTING:
            set_waf(call, value)
        else:
            _set(call, _name(name), value)
    return list_settings(call)


def get_setting(call: Call) -> Answer:
    """One setting."""
    return succeeded(_shown(call, _name(call.params["setting"])))


def patch_setting(call: Call) -> Answer:
    """Turn one setting on or off, at once."""
    name = _name(call.params["setting"])
    _set(call, name, call.object().get("value"))
    return succeeded(_shown(call, name))


def _set(call: Call, name: SettingName, value: Json) -> None:
    settings = call.zone.zone.settings
    if settings.get(name, "off") != _on_or_off(name, value):
        settings[name] = value
    call.settings_changed()


def _on_or_off(name: str, value: Json) -> Json:
    if value not in ("on", "off"):
        said = f"Invalid value for zone setting {name}: it must be on or off"
        raise refuse(400, said, 1007, pointer="/value")
    return value


def _shown(call: Call, name: SettingName) -> dict[str, Json]:
    value = call.zone.zone.settings.get(name, "off")
    return {"id": name, "value": value, "editable": True, "modified_on": None}


def _has_waf(call: Call) -> bool:
    return call.zone.standing.actual not in MIGRATED


def _name(wanted: Json) -> SettingName:
    for name in get_args(SettingName):
        if name == wanted:
            found: SettingName = name
            return found
    raise refuse(400, f"Undefined zone setting: {str(wanted)[:64]}", 1006)


_SETTINGS = "/zones/{zone_id}/settings"
_SETTING = _SETTINGS + "/{setting}"
_READ, _EDIT = ("zone_settings:read",), ("zone_settings:edit",)
ROUTES = [
    Route("GET", _SETTINGS, "settings.list", list_settings, _READ),
    Route("PATCH", _SETTINGS, "settings.patch_many", patch_settings, _EDIT),
    Route("GET", _SETTING, "settings.get", get_setting, _READ),
    Route("PATCH", _SETTING, "settings.patch", patch_setting, _EDIT),
]
