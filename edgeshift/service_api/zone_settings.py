"""Settings of a zone that are on or off, by their names (docs/service.md §4.3, observed)."""

from __future__ import annotations

import re
from typing import Literal

from edgeshift.service_api.caller import BeforeSend, Caller
from edgeshift.service_api.errors import InvalidIdentifier, NotUnderstood, Outcome
from edgeshift.service_api.identifiers import hex_id
from edgeshift.service_api.models import ZoneSetting
from edgeshift.service_api.transport import Call

OnOff = Literal["on", "off"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class SettingCalls(Caller):
    """Reading and writing one setting. ``name``: as the service writes it, such as ``always_use_https``;
    one that cannot be a name raises InvalidIdentifier.
    """

    async def setting(self, zone_id: str, name: str, *, urgent: bool = False) -> OnOff:
        """Whether the setting is on. Raises NotUnderstood for an answer that is of another setting, or says
        neither on nor off.
        """
        call = Call("settings.get", "GET", _path(zone_id, name))
        found = await self._one(call, ZoneSetting, urgent=urgent)
        if found.id != name or found.value not in ("on", "off"):
            raise NotUnderstood(
                f"it does not say whether {name} is on or off", call=call.name, outcome=Outcome.READ
            )
        return "on" if found.value == "on" else "off"

    async def change_setting(
        self, zone_id: str, name: str, value: OnOff, *, before_send: BeforeSend | None = None
    ) -> None:
        """Turn the setting on or off, sent once. What is in force is read afterwards. Raises ServiceError;
        its ``outcome`` says what can have come of it.
        """
        call = Call("settings.patch", "PATCH", _path(zone_id, name), json={"value": value}, write=True)
        await self._envelope(call, urgent=True, before_send=before_send)


def _path(zone_id: str, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidIdentifier(
            f"setting {name[:64]!r}: lower-case letters, digits and underscores are right"
        )
    return f"/zones/{hex_id(zone_id, 'zone id')}/settings/{name}"
