"""Zones of a campaign: found by name or identifier, asked for their state, told what the provider's
support did.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from shlex import quote

from temporalio.client import Client

from edgeshift.messages import SupportResolved, ZonePhase, ZoneState
from edgeshift.model.fleet import CAMPAIGN_NAME, Area, Target, ZoneOutcome, campaign_name, migration_id
from edgeshift.model.zone_names import goes_by, typed_zone
from edgeshift.operations.calls import ask, errors_for_people
from edgeshift.operations.errors import BadInput, NotFound, NotThatZone
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import FrozenTargets, get_document


@dataclass(frozen=True)
class FoundZone:
    """A target of a campaign, which has this name, with its place in the frozen list and the id of its
    workflow. That id is the same for every campaign: whose attempt answers there, ``zone_state`` looks.
    """

    index: int
    target: Target
    workflow_id: str
    campaign: str

    @classmethod
    def of(cls, index: int, target: Target, area: Area, campaign: str) -> FoundZone:
        """The target at this place of the campaign of this name, which is of this area."""
        return cls(index, target, migration_id(target.zone, area), campaign)

    @property
    def name(self) -> str:
        """The zone's name."""
        return self.target.zone.name


async def frozen_targets(archive: Archive, digest: str) -> list[Target]:
    """A campaign's frozen list, in the order of its indexes. Raises ArchiveError."""
    return list((await get_document(archive, FrozenTargets, digest)).root)


def pick_zone(targets: Sequence[Target], zone: str, campaign: str, area: Area) -> FoundZone:
    """The target that a person names by its name or identifier, a zone or an account. Raises NotFound,
    BadInput where several match.
    """
    found = [
        (index, target)
        for index, target in enumerate(targets)
        if goes_by(zone, target.zone.name, target.zone.id)
    ]
    if not found:
        near = near_zone(zone, [target.zone.name for target in targets])
        raise NotFound(
            f"campaign {campaign} has no zone {zone!r}",
            f"did you mean {near}?" if near else "name it as the service does, or by its 32-digit identifier",
        )
    if len(found) > 1:
        ids = ", ".join(target.zone.id for _, target in found[:5])
        raise BadInput(
            f"campaign {campaign} has {len(found)} zones named {zone!r}", f"name one by its identifier: {ids}"
        )
    index, target = found[0]
    return FoundZone.of(index, target, area, campaign)


def pick_zones(targets: Sequence[Target], zones: Sequence[str], campaign: str, area: Area) -> list[FoundZone]:
    """The targets that a person names, in the order of their names: each once, also where one was named
    several times, such as by its name and its identifier. Raises NotFound, BadInput as ``pick_zone``.
    """
    found = (pick_zone(targets, zone, campaign, area) for zone in zones)
    return list({one.index: one for one in found}.values())


MOST_COMPARED = 20_000
"""Names of zones that are compared with one that is not known."""


def near_zone(zone: str, names: Sequence[str]) -> str:
    """The name that was probably meant by one that no zone has; empty where none is like it."""
    wanted = typed_zone(zone)
    return next(iter(get_close_matches(wanted, names[:MOST_COMPARED], n=1)), "")


def check_wave(campaign: str, wave: int, count: int) -> None:
    """Raises BadInput where a campaign of ``count`` waves has none of this number (counted from 0)."""
    if not 0 <= wave < count:
        right = "it has wave 1 alone" if count == 1 else f"its waves are 1 to {count}"
        raise BadInput(f"campaign {campaign} has no wave {wave + 1}", right)


LOOK = "status CAMPAIGN --zone ZONE"
"""The command that is offered where a zone is with another campaign, and nothing else was asked for."""


def check_campaign(state: ZoneState, campaign: str, command: str = LOOK) -> None:
    """Raises NotFound where this is the state of another campaign's attempt at the zone. ``command``: what
    the hint offers then, with CAMPAIGN and ZONE for that campaign and the zone.
    """
    other, zone = campaign_name(state.campaign), state.zone.name
    if other == campaign:
        return
    if state.outcome is not None:
        raise NotFound(
            f"campaign {campaign} has no attempt at zone {zone} now: the last one is of campaign {other}",
            f"`edgeshift history {quote(zone)}` tells of its attempts",
        )
    if not CAMPAIGN_NAME.fullmatch(other):
        # Whoever started the workflow may have called it anything: it is no word of a command.
        hint = f"`edgeshift history {quote(zone)}` tells of its attempts"
        raise NotFound(f"zone {zone} is in the hands of no campaign of a known name", hint)
    words = {"CAMPAIGN": other, "ZONE": quote(zone)}
    offered = re.sub("CAMPAIGN|ZONE", lambda found: words[found[0]], command)
    raise NotFound(f"zone {zone} is in the hands of campaign {other}", f"edgeshift {offered}")


async def zone_state(client: Client, found: FoundZone, command: str = LOOK) -> ZoneState:
    """What the zone's workflow says of itself. Raises NotFound where it was not started yet, and where it is
    with another campaign (``check_campaign``, which ``command`` is for).
    """
    handle = client.get_workflow_handle(found.workflow_id)
    try:
        state = await ask(handle, "state", ZoneState, f"zone {found.name}")
    except NotFound:
        raise NotFound(f"zone {found.name} has not been started yet", "it waits for its wave") from None
    check_campaign(state, found.campaign, command)
    return state


def check_zone(state: ZoneState, found: FoundZone) -> None:
    """Raises NotThatZone where what answers under the id of a zone's workflow is about another zone than the
    target: whoever reaches Temporal can start a workflow there.
    """
    if state.zone != found.target.zone:
        raise NotThatZone(
            f"what answers as zone {found.name} ({found.target.zone.id}) says that it is another:"
            f" {state.zone.name} ({state.zone.id}), {state.zone.plan.value}, of account {state.zone.account}"
        )


async def zone_with_support(client: Client, found: FoundZone) -> ZoneState:
    """The state of a zone that waits for the provider's support. Raises NotFound where it does not."""
    state = await zone_state(client, found, "support-resolved CAMPAIGN --zone ZONE")
    if state.phase is not ZonePhase.NEEDS_SUPPORT:
        phase = state.outcome.value if state.outcome else state.phase.value
        hint = f"`edgeshift history {quote(found.name)}` tells what happened to it"
        if state.outcome is ZoneOutcome.NEEDS_SUPPORT:
            raise NotFound(
                f"zone {found.name} no longer waits for support: nobody said in time that it is fixed",
                f"`edgeshift retry {found.campaign} --zone {quote(found.name)}` reads it again",
            )
        phase = phase.replace("_", " ").replace("sign off", "sign-off")
        raise NotFound(f"zone {found.name} does not wait for support; it is {phase}", hint)
    check_zone(state, found)
    return state


async def support_resolved(client: Client, found: FoundZone, *, by: str, reason: str = "") -> ZoneState:
    """Tell a zone that the provider's support has fixed it; the state from before. Raises NotFound if it
    does not wait.
    """
    state = await zone_with_support(client, found)
    with errors_for_people(f"zone {found.name}"):
        handle = client.get_workflow_handle(found.workflow_id)
        await handle.signal("support_resolved", SupportResolved(by=by, reason=reason))
    return state


READ_WITHIN = 60.0
"""Seconds for which the result of a reading is waited for; a reading takes seconds unless calls wait."""

LOOK_EVERY = 0.5
"""Seconds between two looks."""

_READING = frozenset({ZonePhase.ASSESSING, ZonePhase.WAITING_FOR_SERVICE})


async def read_again(
    client: Client, found: FoundZone, before: ZoneState, within: float = READ_WITHIN
) -> ZoneState | None:
    """What a zone came to when it was read again, after it needed support as it did ``before``; None where it
    is not read within so many seconds. Raises TemporalTrouble.
    """
    clock = asyncio.get_running_loop()
    until = clock.time() + within
    while True:
        state = await zone_state(client, found)
        again = state.phase is not ZonePhase.NEEDS_SUPPORT or state.since > before.since
        if again and state.phase not in _READING:
            return state
        if clock.time() >= until:
            return None
        await asyncio.sleep(LOOK_EVERY)
