"""Settings of a zone that are on or off, by their names (docs/service.md §4.3, observed).

`waf` has a route of its own, since it goes with the previous WAF.
"""

from typing import get_args

from edgeshift.testbed.simulator.answers import Answer, refuse, succeeded
from edgeshift.testbed.simulator.calls import Call, Route
from edgeshift.testbed.simulator.fleet_models import SettingName


def get_setting(call: Call) -> Answer:
    """One setting."""
    name = _name(call)
    return succeeded(
        {"id": name, "value": call.zone.zone.settings.get(name, "off"), "editable": True, "modified_on": None}
    )


def patch_setting(call: Call) -> Answer:
    """Turn one setting on or off, at once."""
    name, value = _name(call), call.object().get("value")
    if value not in ("on", "off"):
        said = f"Invalid value for zone setting {name}: it must be on or off"
        raise refuse(400, said, 1007, pointer="/value")
    settings = call.zone.zone.settings
    if settings.get(name, "off") != value:
        settings[name] = value
    call.settings_changed()
    return get_setting(call)


def _name(call: Call) -> SettingName:
    for name in get_args(SettingName):
        if name == call.params["setting"]:
            found: SettingName = name
            return found
    raise refuse(400, f"Undefined zone setting: {call.params['setting'][:64]}", 1006)


_SETTING = "/zones/{zone_id}/settings/{setting}"
ROUTES = [
    Route("GET", _SETTING, "settings.get", get_setting, ("zone_settings:read",)),
    Route("PATCH", _SETTING, "settings.patch", patch_setting, ("zone_settings:edit",)),
]
