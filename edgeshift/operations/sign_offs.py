"""Sign-offs: what waits for one, what exactly would be signed, and the decision itself, bound to digests that
a person saw.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import TYPE_CHECKING

from temporalio.client import Client, WorkflowHandle

from edgeshift.campaign.target_states import AWAITING_WORDS
from edgeshift.messages import (
    Answer,
    CampaignSignOff,
    CampaignSummary,
    Step,
    TargetAt,
    Waiting,
    WaitingAsked,
    WaitingFound,
    ZonePhase,
    ZoneState,
)
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import Area, Target, ZoneOutcome, campaign_id
from edgeshift.model.reason_texts import text_of
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.operations.again import zones_at
from edgeshift.operations.calls import ask, tell, the_campaign
from edgeshift.operations.errors import (
    BadInput,
    NotFound,
    NotRecorded,
    OperationError,
    Refused,
    TemporalTrouble,
)
from edgeshift.operations.group import Rest, chosen_example, rest_of
from edgeshift.operations.pen import Pen
from edgeshift.operations.preview import Preview, preview_of
from edgeshift.operations.zones import LOOK, FoundZone, check_wave, check_zone, zone_state
from edgeshift.stores.archive import Archive, ArchiveError

if TYPE_CHECKING:
    from edgeshift.authority.roots import Roots

AWAITING, SEPARATE = AWAITING_WORDS
MOST_AT_ONCE = 300
"""Fingerprints of one update: at 100,000 zones in 20 waves, the campaign is busy with them for some 40 ms."""

TRIED_OF_EACH = 3
"""Zones of a fingerprint that are looked at where there are very many fingerprints."""

MOST_COMPARED = 1_000
"""Zones that are looked at and compared before one decision: each is asked, and what it proposes is read."""

AT_ONCE = 8
GONE = "none of its zones waits with it any more"

NO_WORKERS = (
    "its snapshot or its evidence is no worker's by the roots that are known here: it is not to be approved"
)
UNREAD = "it could not be read whether a worker has recorded its snapshot and its evidence"

SHORTEST_DIGEST = 12
"""Digits of a digest that tell it from any other on a screen."""


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

    def without(self, fingerprints: Collection[str]) -> ToSign:
        """What is left of it without these fingerprints."""
        left = tuple(group for group in self.groups if group.fingerprint not in fingerprints)
        return ToSign(groups=left, wave=self.wave)

    @property
    def by_step(self) -> dict[Step, list[str]]:
        """The fingerprints that are signed, by the step that their zones wait for."""
        found: dict[Step, list[str]] = {}
        for group in self.reached:
            found.setdefault(group.step, []).append(group.fingerprint)
        return found

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
        answer = await ask(handle, "waiting", WaitingFound, the_campaign(name), asked)
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
    if not chosen.separate:
        return []
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
            _on_hold(summary)
            or f"{counted(waiting, 'fingerprint')} {agreed(waiting, 'waits', 'wait')};"
            f" `edgeshift status {name}` shows {agreed(waiting, 'it', 'them')}",
        )
    return ToSign(groups=tuple(groups))


def by_wave(groups: Sequence[Waiting], wave: int, summary: CampaignSummary) -> ToSign:
    """Every fingerprint that waits in a wave (counted from 0). Raises BadInput, NotFound where nothing
    waits in it.
    """
    check_wave(summary.name, wave, len(summary.waves))
    if not groups:
        raise NotFound(
            f"nothing in wave {wave + 1} of campaign {summary.name} waits for a sign-off",
            _on_hold(summary) or f"`edgeshift status {summary.name}` shows what waits",
        )
    return ToSign(groups=tuple(groups), wave=wave)


def _on_hold(summary: CampaignSummary) -> str:
    """What whoever finds nothing to sign may be looking for: zones that were signed, or not, and stand."""
    if not (number := summary.places.get("on_hold", 0)):
        return ""
    be = agreed(number, "is", "are")
    return (
        f"{counted(number, 'zone')} {be} on hold: `edgeshift status {summary.name} --phase on_hold` says why;"
        f" `edgeshift reopen {summary.name}` has {agreed(number, 'it', 'them')} wait for a sign-off again"
    )


async def waiting_zone(
    client: Client, found: FoundZone, digest: str | None = None, *, command: str = LOOK
) -> ZoneState:
    """The state of a zone that waits for its sign-off. ``digest``: what the person saw, if they say;
    ``command``: what is offered where it waits with another campaign (``check_campaign``).

    Raises BadInput where that is no digest, NotFound where it does not wait, or not with this campaign,
    NotThatZone where it is another zone that answers, Refused where another digest waits by now.
    """
    state = await zone_state(client, found, command)
    if state.phase is not ZonePhase.AWAITING_SIGN_OFF or not state.digest:
        what = state.outcome.value if state.outcome else state.phase.value
        what = what.replace("_", " ").replace("sign off", "sign-off")
        hint = f"`edgeshift history {quote(found.name)}` tells what happened to it"
        if state.outcome is ZoneOutcome.ON_HOLD:
            # What was signed before may be what did not count.
            again = f"edgeshift reopen {found.campaign} --zone {quote(found.name)}"
            hint = f"`{again}` has it wait again; then sign it off"
            what += f" ({text_of(*state.why)})" if state.why else ""
        raise NotFound(f"zone {found.name} does not wait for a sign-off; it is {what}", hint)
    check_zone(state, found)
    seen = (digest or "").strip().lower().rstrip("…")
    if digest is not None and (not SHORTEST_DIGEST <= len(seen) <= 64 or set(seen) - set("0123456789abcdef")):
        raise BadInput(
            f"--digest {digest!r} is not a digest",
            f"give its first {SHORTEST_DIGEST} to 64 hexadecimal digits, as `edgeshift show` has them",
        )
    if digest is not None and not _is_one(seen, state):
        raise Refused(
            f"zone {found.name} no longer proposes {digest[:12]}…; it waits with {state.digest[:12]}…",
            "look at what it proposes now before you sign",
        )
    return state


def _is_one(seen: str, state: ZoneState) -> bool:
    """Whether this is the digest that waits, or the fingerprint, or how one of them begins."""
    known = (state.digest, state.fingerprint)
    return len(seen) >= SHORTEST_DIGEST and any(one.startswith(seen) for one in known)


async def shown(
    client: Client, archive: Archive, area: Area, target: Target, campaign: str, roots: Roots | None = None
) -> Preview | None:
    """What a waiting zone of a campaign proposes, out of the archive; None where it does not wait there any
    more. ``roots``: as of ``preview_of``.
    """
    found = FoundZone.of(0, target, area, campaign)
    try:
        state = await waiting_zone(client, found)
    except NotFound:
        return None
    return await preview_of(archive, state, area, roots)


async def _to_reject(
    client: Client, archive: Archive, area: Area, target: Target, campaign: str, roots: Roots | None
) -> Preview | None:
    """As ``shown``, to somebody who rejects it: also what no worker has recorded, and it is said of it."""
    try:
        return await shown(client, archive, area, target, campaign, roots)
    except (NotRecorded, ArchiveError) as why:
        proposed = await shown(client, archive, area, target, campaign)
        told = NO_WORKERS if isinstance(why, NotRecorded) else UNREAD
    return proposed and replace(proposed, warnings=(told, *proposed.warnings))


@dataclass(frozen=True)
class Examples:
    """What was found to show of fingerprints: of each the proposal of one zone, or why there is none, and how
    the other zones that a decision reaches stand to that one.
    """

    shown: Mapping[str, Preview]
    unseen: Mapping[str, str]
    rest: Mapping[str, Rest] = field(default_factory=dict)


async def examples(
    client: Client,
    archive: Archive,
    area: Area,
    targets: Sequence[Target],
    name: str,
    chosen: ToSign,
    roots: Roots | None = None,
    choice: Choice = Choice.APPROVE,
) -> Examples:
    """One zone's proposal for each fingerprint that a decision would be about, compared with those of the
    others. One that no zone waits with any more, or whose proposal the archive does not have as it waits, has
    a reason instead. ``roots``: as of ``preview_of``; ``choice``: what no worker has recorded is shown to who
    rejects it alone. Raises TemporalTrouble.
    """
    look_at = shown if choice is Choice.APPROVE else _to_reject
    some = chosen.reached or chosen.groups[:1]
    most = max(TRIED_OF_EACH, MOST_COMPARED // max(1, len(some)))
    asking, looking = asyncio.Semaphore(AT_ONCE), asyncio.Semaphore(AT_ONCE)

    async def look(fingerprint: str, index: int) -> Preview | OperationError | ArchiveError | None:
        async with looking:
            try:
                proposed = await look_at(client, archive, area, targets[index], name, roots)
            except (ArchiveError, OperationError) as trouble:
                return trouble
        # It may have drifted to another proposal a moment ago.
        return proposed if proposed is not None and proposed.fingerprint == fingerprint else None

    async def one(group: Waiting) -> tuple[Preview, Rest] | str:
        wave, fingerprint = chosen.wave, group.fingerprint
        places = (AWAITING,) if group.zones > group.separate else (SEPARATE,)
        async with asking:
            found = await zones_at(client, name, places, most, wave=wave, fingerprint=fingerprint)
        looked = await asyncio.gather(*(look(fingerprint, one.index) for one in found.targets))
        there = [one for one in looked if isinstance(one, Preview)]
        troubles = [one for one in looked if isinstance(one, Exception)]
        if not there:
            for trouble in troubles:
                if isinstance(trouble, TemporalTrouble):
                    raise trouble
            return next((getattr(one, "text", str(one)) for one in reversed(troubles)), GONE)
        example = chosen_example(there)
        reached = group.zones - group.separate or group.zones
        unseen = max(0, reached - len(found.targets)) + len(troubles)
        return example, rest_of(example, there, unseen)

    found = await asyncio.gather(*map(one, some))
    pairs = [(group.fingerprint, one) for group, one in zip(some, found, strict=True)]
    return Examples(
        shown={fingerprint: one[0] for fingerprint, one in pairs if not isinstance(one, str)},
        unseen={fingerprint: one for fingerprint, one in pairs if isinstance(one, str)},
        rest={fingerprint: one[1] for fingerprint, one in pairs if not isinstance(one, str)},
    )


async def sign_by_key(
    pen: Pen | None, summary: CampaignSummary, chosen: ToSign, choice: Choice, why: str
) -> str:
    """Sign a decision on fingerprints with a person's key, where they have one here. What ``Pen.proposal``
    says.
    """
    if pen is None:
        return ""
    not_signed_for = ""
    for step, some in chosen.by_step.items():
        found = await pen.fingerprints(
            summary.name, summary.spec, choice, step=step, fingerprints=some, wave=chosen.wave, reason=why
        )
        not_signed_for = not_signed_for or found
    return not_signed_for


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
        answers.append(await tell(client, campaign_id(name), "sign_off", message, the_campaign(name)))
    return answers
