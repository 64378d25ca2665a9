"""What the doctor asks of the area esc: permissions, the removal date, the edge that is probed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from edgeshift.areas import esc
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.check import Check, State, ok
from edgeshift.doctor.parts import DoctorPart, Reads
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.durations import say_duration
from edgeshift.model.fleet import Zone
from edgeshift.model.reason_texts import text_of
from edgeshift.profiles import ServiceProfile
from edgeshift.service_api import Gone, NotFound, ServiceClient

SOON = timedelta(days=14)
"""Less than this before the removal date is worth a warning."""

CONNECT_WITHIN = 10.0
"""Seconds."""


class EscDoctor(DoctorPart):
    """What turning Edge Side Code off stands on."""

    rights = "give it permission to read and edit disable_esc of its zones and accounts"

    def readings(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> Reads:
        """The setting of a zone, and of its account where the campaign is about accounts."""
        found: dict[str, Callable[[], Awaitable[object]]] = {
            "ESC setting of a zone": lambda: client.esc(f"zones/{zone.id}")
        }
        if spec.section(EscSpec).scope == "account":
            found["ESC setting of an account"] = lambda: client.esc(f"accounts/{zone.account}")
            found["accounts"] = client.accounts
        return found

    async def contradictions(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> list[str]:
        """A setting that is answered after the removal date, or refused as removed before it."""
        day, removed_at = f"{spec.service.facts.esc_removal:%Y-%m-%d}", spec.service.facts.esc_removed_at
        try:
            setting = await client.esc(f"zones/{zone.id}")
        except (NotFound, Gone) as refusal:
            now = client.service_time()
            early = now is not None and now < removed_at
            said = f"says already that Edge Side Code has ended, which is to be on {day} ({refusal.status})"
            return [f"the service {said}"] if early else []
        now = client.service_time()
        if now is None or now < removed_at or (setting.always is None and setting.with_secret is None):
            return []
        return [f"the service still has a setting of Edge Side Code, which was removed on {day}"]

    async def checks(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> list[Check]:
        """The time that is left, and whether the edge can be reached."""
        return [check_removal(client.service_time(), spec.service.facts), await _check_edge(spec, zone)]


def check_removal(now: datetime | None, profile: ServiceProfile) -> Check:
    """Whether there is time left before Edge Side Code is removed, by the profile. ``now``: the service's
    time.
    """
    code, name = CheckCode.REMOVAL_DATE, "removal date"
    if now is None:
        said = "the service does not say what time it is, so this machine's clock decides"
        return Check(code, name, State.WARNING, said, "see that nothing between takes the Date header away")
    if gone := esc.too_late(now, profile):
        return Check(code, name, State.FAILED, text_of(gone))
    left = profile.esc_removed_at - now
    said = f"{profile.esc_removal:%Y-%m-%d}, {say_duration(left)} from now by the service's clock"
    if left < SOON:
        return Check(code, name, State.WARNING, said, "`edgeshift plan` names the scopes that cannot make it")
    return ok(code, name, said)


async def _check_edge(spec: CampaignSpec, zone: Zone) -> Check:
    """Whether the hosts that are probed can be reached: at the edge that the file names, or by DNS."""
    code, name = CheckCode.PROBE, "probe"
    named = spec.section(EscSpec).probe.edge
    edge = urlsplit(named or f"https://{zone.name}")
    host = str(edge.hostname)
    port = edge.port or (443 if edge.scheme == "https" else 80)
    where = f"{host}:{port}"
    try:
        async with asyncio.timeout(CONNECT_WITHIN):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
    except (OSError, TimeoutError) as why:
        said = f"nobody answers at {where} ({_trouble(why)})"
        fix = "see esc.probe.edge" if named else "name the edge's address under esc.probe.edge"
        return Check(code, name, State.FAILED if named else State.WARNING, said, fix)
    return ok(code, name, f"{where} takes connections" + (f" (for {zone.name})" if named else ""))


def _trouble(why: Exception) -> str:
    if isinstance(why, socket.gaierror):
        return "the name is not known"
    return "no answer in time" if isinstance(why, TimeoutError) else type(why).__name__


PART = EscDoctor()
