"""Signing: what waits, what exactly would be signed, and the decision itself, bound to digests that a
person saw.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from temporalio.client import Client

from edgeshift.messages import (
    Answer,
    CampaignSignOff,
    CampaignSummary,
    TargetAt,
    ZonePhase,
    ZoneState,
)
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import Area, Target, campaign_id, migration_id
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.operations.again import zones_at
from edgeshift.operations.calls import tell
from edgeshift.operations.errors import BadInput, NotFound, Refused
from edgeshift.operations.shown import Shown, shown_of
from edgeshift.operations.zones import FoundZone, zone_state
from edgeshift.stores.archive import Archive, ArchiveError

AWAITING, SEPARATE = "awaiting", "awaiting_separate"
MOST_AT_ONCE = 1_000
"""Fingerprints of one update."""


@dataclass(frozen=True)
class Group:
    """Zones that wait and share a fingerprint. ``separate``: those whose own evidence did not pass."""

    fingerprint: str
    zones: tuple[TargetAt, ...]
    separate: tuple[TargetAt, ...]


@dataclass(frozen=True)
class ToSign:
    """Fingerprints that a decision would be about. ``wave``: it counts for the zones of that wave alone."""

    groups: tuple[Group, ...]
    wave: int | None = None
    separate: tuple[TargetAt, ...] = field(default=())

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """The fingerprints that are signed: those with at least one zone that a decision on them reaches."""
        return tuple(group.fingerprint for group in self.groups if group.zones)

    @property
    def count(self) -> int:
        """How many waiting zones the decision reaches now."""
        return sum(len(group.zones) for group in self.groups)


async def waiting_groups(client: Client, name: str, wave: int | None = None) -> list[Group]:
    """What waits for a sign-off, by fingerprint, the largest group first. Raises NotFound,
    TemporalTrouble.
    """
    found = await zones_at(client, name, (AWAITING, SEPARATE))
    chosen = [target for target in found.targets if wave in (None, target.wave) and target.fingerprint]
    sizes = Counter(target.fingerprint for target in chosen)
    return [
        Group(
            fingerprint=fingerprint,
            zones=tuple(t for t in chosen if t.fingerprint == fingerprint and t.place == AWAITING),
            separate=tuple(t for t in chosen if t.fingerprint == fingerprint and t.place == SEPARATE),
        )
        for fingerprint, _ in sizes.most_common()
    ]


def by_prefix(groups: Sequence[Group], prefix: str, name: str) -> ToSign:
    """The waiting fingerprint that begins with ``prefix``. Raises BadInput where several do, NotFound
    where none does.
    """
    wanted = prefix.strip().lower()
    if len(wanted) < 4 or len(wanted) > 64 or set(wanted) - set("0123456789abcdef"):
        raise BadInput(f"{prefix!r} is not a fingerprint", "give its first 4 to 64 hexadecimal digits")
    found = [group for group in groups if group.fingerprint.startswith(wanted)]
    if len(found) > 1:
        names = ", ".join(group.fingerprint[:16] for group in found[:5])
        raise BadInput(f"{len(found)} waiting fingerprints begin with {wanted}", f"give more digits: {names}")
    if not found:
        raise NotFound(
            f"nothing in campaign {name} waits for a sign-off of fingerprint {wanted}",
            f"{counted(len(groups), 'fingerprint')} {agreed(len(groups), 'waits', 'wait')};"
            f" `edgeshift status {name}` shows what waits",
        )
    return ToSign(groups=tuple(found), separate=found[0].separate)


def by_wave(groups: Sequence[Group], wave: int, summary: CampaignSummary) -> ToSign:
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
    separate = tuple(target for group in groups for target in group.separate)
    return ToSign(groups=tuple(groups), wave=wave, separate=separate)


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


async def shown(client: Client, archive: Archive, area: Area, target: Target) -> Shown | None:
    """What a waiting zone proposes, out of the archive; None where it does not wait any more."""
    found = FoundZone(index=0, target=target, workflow_id=migration_id(target.zone, area))
    try:
        state = await waiting_zone(client, found)
    except NotFound:
        return None
    return await shown_of(archive, state, area)


async def examples(
    client: Client, archive: Archive, area: Area, targets: Sequence[Target], groups: Sequence[Group]
) -> list[Shown]:
    """One zone's proposal for each group, as far as zones still wait and the archive has them."""

    async def one(group: Group) -> Shown | None:
        for waiting in (*group.zones, *group.separate)[:3]:
            try:
                if (found := await shown(client, archive, area, targets[waiting.index])) is not None:
                    return found
            except ArchiveError:
                continue
        return None

    gate = asyncio.Semaphore(8)

    async def gated(group: Group) -> Shown | None:
        async with gate:
            return await one(group)

    return [found for found in await asyncio.gather(*map(gated, groups)) if found is not None]


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
