"""Signing: what waits, what exactly would be signed, and the decision itself, bound to digests that a
person saw.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from temporalio.client import Client, WorkflowHandle

from edgeshift.messages import (
    Answer,
    CampaignSignOff,
    CampaignSummary,
    TargetAt,
    Waiting,
    WaitingAsked,
    WaitingFound,
    ZonePhase,
    ZoneState,
)
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import Area, Target, campaign_id, migration_id
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.operations.again import zones_at
from edgeshift.operations.calls import ask, tell
from edgeshift.operations.errors import BadInput, NotFound, Refused
from edgeshift.operations.preview import Preview, preview_of
from edgeshift.operations.zones import FoundZone, zone_state
from edgeshift.stores.archive import Archive, ArchiveError

AWAITING, SEPARATE = "awaiting", "awaiting_separate"
MOST_AT_ONCE = 300
"""Fingerprints of one update: at 100,000 zones in 20 waves, the campaign is busy with them for some 40 ms."""


@dataclass(frozen=True)
class ToSign:
    """Fingerprints that a decision would be about. ``wave``: it counts for the zones of that wave alone, and
    so do the numbers of zones.
    """

    groups: tuple[Waiting, ...]
    wave: int | None = None

    @property
    def reached(self) -> tuple[Waiting, ...]:
        """Those with at least one zone that a decision on the fingerprint reaches."""
        return tuple(group for group in self.groups if group.zones > group.separate)

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """The fingerprints that are signed."""
        return tuple(group.fingerprint for group in self.reached)

    @property
    def count(self) -> int:
        """How many waiting zones the decision reaches now."""
        return sum(group.zones - group.separate for group in self.groups)

    @property
    def separate(self) -> int:
        """How many wait for a sign-off of their own, since their own evidence did not pass."""
        return sum(group.separate for group in self.groups)


async def waiting_groups(
    client: Client, name: str, wave: int | None = None, prefix: str = ""
) -> list[Waiting]:
    """What waits for a sign-off, by fingerprint, the largest group first: in one wave, or all. Raises
    NotFound, TemporalTrouble.
    """
    handle: WorkflowHandle[object, object] = client.get_workflow_handle(campaign_id(name))
    found: dict[str, Waiting] = {}
    after = 0
    while True:
        asked = WaitingAsked(prefix=prefix, wave=wave, after=after)
        answer = await ask(handle, "waiting", WaitingFound, f"campaign {name}", asked)
        for group in answer.waiting:
            known = found.get(group.fingerprint)
            found[group.fingerprint] = group if known is None else _both(known, group)
        if not (after := answer.next):
            return sorted(found.values(), key=lambda group: -group.zones)


def _both(one: Waiting, other: Waiting) -> Waiting:
    """A fingerprint that zones propose for several steps."""
    first = one if one.zones > one.separate else other
    update = {
        "zones": one.zones + other.zones,
        "separate": one.separate + other.separate,
        "waves": sorted({*one.waves, *other.waves}),
    }
    return first.model_copy(update=update)


async def separate_zones(client: Client, name: str, chosen: ToSign, most: int) -> list[TargetAt]:
    """The first of the zones that wait for a sign-off of their own, of what is to be signed."""
    only = chosen.groups[0].fingerprint if len(chosen.groups) == 1 else ""
    found = await zones_at(client, name, (SEPARATE,), most, wave=chosen.wave, fingerprint=only)
    return [target for target in found.targets if target.fingerprint]


def checked_prefix(prefix: str) -> str:
    """The beginning of a fingerprint. Raises BadInput."""
    wanted = prefix.strip().lower()
    if len(wanted) < 4 or len(wanted) > 64 or set(wanted) - set("0123456789abcdef"):
        raise BadInput(f"{prefix!r} is not a fingerprint", "give its first 4 to 64 hexadecimal digits")
    return wanted


def by_prefix(groups: Sequence[Waiting], wanted: str, summary: CampaignSummary) -> ToSign:
    """The waiting fingerprint that begins with ``wanted``, of those that do. Raises BadInput where there are
    several, NotFound where there is none.
    """
    name = summary.name
    if len(groups) > 1:
        names = ", ".join(group.fingerprint[:16] for group in groups[:5])
        raise BadInput(
            f"{len(groups)} waiting fingerprints begin with {wanted}", f"give more digits: {names}"
        )
    if not groups:
        waiting = summary.fingerprints_waiting
        raise NotFound(
            f"nothing in campaign {name} waits for a sign-off of fingerprint {wanted}",
            f"{counted(waiting, 'fingerprint')} {agreed(waiting, 'waits', 'wait')};"
            f" `edgeshift status {name}` shows {agreed(waiting, 'it', 'them')}",
        )
    return ToSign(groups=tuple(groups))


def by_wave(groups: Sequence[Waiting], wave: int, summary: CampaignSummary) -> ToSign:
    """Every fingerprint that waits in a wave (counted from 0). Raises BadInput, NotFound where nothing
    waits in it.
    """
    if not 0 <= wave < len(summary.waves):
        raise BadInput(
            f"campaign {summary.name} has no wave {wave + 1}", f"its waves are 1 to {len(summary.waves)}"
        )
    if not groups:
        raise NotFound(
            f"nothing in wave {wave + 1} of campaign {summary.name} waits for a sign-off",
            f"`edgeshift status {summary.name}` shows what waits",
        )
    return ToSign(groups=tuple(groups), wave=wave)


async def waiting_zone(client: Client, found: FoundZone, digest: str | None = None) -> ZoneState:
    """The state of a zone that waits for its sign-off. ``digest``: what the person saw, if they say.

    Raises NotFound where it does not wait, Refused where another digest waits by now.
    """
    state = await zone_state(client, found)
    if state.phase is not ZonePhase.AWAITING_SIGN_OFF or not state.digest:
        what = state.outcome.value if state.outcome else state.phase.value
        what = what.replace("_", " ").replace("sign off", "sign-off")
        raise NotFound(
            f"zone {found.name} does not wait for a sign-off; it is {what}",
            f"`edgeshift history {found.name}` tells what happened to it",
        )
    if digest is not None and digest.strip().lower() not in (state.digest, state.fingerprint):
        raise Refused(
            f"zone {found.name} no longer proposes {digest[:12]}…; it waits with {state.digest[:12]}…",
            "look at what it proposes now before you sign",
        )
    return state


async def shown(client: Client, archive: Archive, area: Area, target: Target) -> Preview | None:
    """What a waiting zone proposes, out of the archive; None where it does not wait any more."""
    found = FoundZone(index=0, target=target, workflow_id=migration_id(target.zone, area))
    try:
        state = await waiting_zone(client, found)
    except NotFound:
        return None
    return await preview_of(archive, state, area)


async def examples(
    client: Client,
    archive: Archive,
    area: Area,
    targets: Sequence[Target],
    name: str,
    chosen: ToSign,
    most: int,
) -> list[Preview]:
    """One zone's proposal for each of the first groups, as far as zones still wait and the archive has
    them.
    """

    async def one(group: Waiting) -> Preview | None:
        wave, fingerprint = chosen.wave, group.fingerprint
        places = (AWAITING,) if group.zones > group.separate else (SEPARATE,)
        found = await zones_at(client, name, places, 3, wave=wave, fingerprint=fingerprint)
        for waiting in found.targets:
            try:
                if (proposed := await shown(client, archive, area, targets[waiting.index])) is not None:
                    return proposed
            except ArchiveError:
                continue
        return None

    gate = asyncio.Semaphore(8)

    async def gated(group: Waiting) -> Preview | None:
        async with gate:
            return await one(group)

    some = (chosen.reached or chosen.groups)[:most]
    return [found for found in await asyncio.gather(*map(gated, some)) if found is not None]


async def sign_zone(
    client: Client, found: FoundZone, digest: str, choice: Choice, *, by: str, reason: str = ""
) -> Answer:
    """Decide on exactly this digest of one zone. Raises Refused where it cannot count."""
    decision = Decision(choice=choice, digest=digest, by=by, reason=reason)
    return await tell(client, found.workflow_id, "decide", decision, f"zone {found.name}")


async def sign_fingerprints(
    client: Client,
    name: str,
    fingerprints: Sequence[str],
    choice: Choice,
    *,
    by: str,
    reason: str = "",
    wave: int | None = None,
) -> list[Answer]:
    """Decide on exactly these fingerprints, for one wave or for all. Raises Refused where it cannot count."""
    answers = []
    for first in range(0, len(fingerprints), MOST_AT_ONCE):
        message = CampaignSignOff(
            choice=choice,
            fingerprints=tuple(fingerprints[first : first + MOST_AT_ONCE]),
            by=by,
            reason=reason,
            wave=wave,
        )
        answers.append(await tell(client, campaign_id(name), "sign_off", message, f"campaign {name}"))
    return answers
