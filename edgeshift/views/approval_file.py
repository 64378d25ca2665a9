"""Writes the page of what waits for a person: gathers from Temporal and the archive, and saves the file."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio.client import Client

from edgeshift import operations
from edgeshift.authority.roots import policy_by
from edgeshift.messages import CampaignSummary, TargetAt, Waiting
from edgeshift.model.campaign_phase import SIGNABLE
from edgeshift.model.fleet import Target
from edgeshift.operations import Examples, FoundZone, NotAsSigned, OperationError, ToSign
from edgeshift.operations.archives import check_archive
from edgeshift.operations.group import Rest
from edgeshift.operations.sign_offs import AWAITING, SEPARATE, shown
from edgeshift.runtime.files import write_whole
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.views.approval import Approval, Sheet, WithSupport, render_approval
from edgeshift.views.gathering import each, known_campaign, summary_of
from edgeshift.views.words import policy_text, targets, word

if TYPE_CHECKING:
    from edgeshift.authority.roots import Roots

MOST_GROUPS = 200
"""Fingerprints that a page shows, those with the most zones first."""

MOST_SINGLY = 200
"""Zones to be signed singly that a page shows."""

MOST_SUPPORT = 200
"""Zones with the provider's support that a page lists."""

MOST_NAMES = 30
"""Zones of a fingerprint that a page names."""

SUPPORT = "support"


async def write_approval(
    client: Client, archive: Archive, campaign: str, path: Path, roots: Roots | None = None
) -> Approval:
    """Gather what waits in a campaign and write its page to ``path``; what it was made of. ``roots``: those
    that are known here. Raises NotFound, TemporalTrouble, Failed, Refused, ArchiveError, OSError.
    """
    approval = await gather_approval(client, archive, campaign, roots)
    await asyncio.to_thread(write_whole, path, render_approval(approval))
    return approval


async def gather_approval(
    client: Client, archive: Archive, campaign: str, roots: Roots | None = None
) -> Approval:
    """What waits in a campaign. Nothing does in one that ends or has ended. Raises Refused where the campaign
    has another archive.
    """
    known = await known_campaign(client, campaign)
    summary = summary_of(known)
    await check_archive(archive, known.start)
    note = await operations.note_of(archive, campaign, known.start.spec, roots)
    signed = note != operations.UNSIGNED
    asked = policy_by(roots, known.start.policy.sign_off)
    policy = policy_text(asked, word("zone", summary.area), signed=signed)
    if summary.state not in SIGNABLE:
        return Approval(summary, datetime.now(UTC), policy, (), note=note)
    zones = await operations.frozen_targets(archive, summary.targets)
    groups = await operations.waiting_groups(client, campaign)
    every = ToSign(tuple(groups))
    reached = every.reached
    chosen = ToSign(reached[:MOST_GROUPS])
    found = Examples(shown={}, unseen={})
    if chosen.groups:
        found = await operations.examples(client, archive, summary.area, zones, campaign, chosen, roots)
    names = await each(
        chosen.groups,
        lambda group: operations.zones_at(
            client, campaign, (AWAITING,), MOST_NAMES, fingerprint=group.fingerprint
        ),
    )
    sheets = [
        Sheet(
            title=f"Fingerprint {number} of {len(reached)}: {_many(group, summary)}",
            digest=group.fingerprint,
            names=tuple(zones[at.index].zone.name for at in waiting.targets[:MOST_NAMES]),
            zones=group.zones - group.separate,
            shown=found.shown.get(group.fingerprint),
            why_not=found.unseen.get(group.fingerprint, ""),
            rest=found.rest.get(group.fingerprint, Rest()),
            separate=group.separate,
            waves=tuple(wave + 1 for wave in group.waves),
        )
        for number, (group, waiting) in enumerate(zip(chosen.groups, names, strict=True), 1)
    ]
    apart = await operations.zones_at(client, campaign, (SEPARATE,), MOST_SINGLY)
    many = Counter(target.zone.name.lower() for target in zones)
    singly = await each(
        apart.targets[:MOST_SINGLY], lambda at: _single(client, archive, summary, zones, many, at, roots)
    )
    helped = await operations.zones_at(client, campaign, (SUPPORT,), MOST_SUPPORT)
    return Approval(
        summary=summary,
        made_at=datetime.now(UTC),
        policy=policy,
        sheets=(*sheets, *(sheet for sheet in singly if sheet is not None)),
        support=await each(
            helped.targets[:MOST_SUPPORT], lambda at: _with_support(client, summary, zones, at)
        ),
        note=note,
        left_out={
            "groups": len(reached) - len(chosen.groups),
            "reached": every.count - chosen.count,
            "singly": max(0, apart.total - MOST_SINGLY),
            "support": max(0, helped.total - MOST_SUPPORT),
        },
    )


def _many(group: Waiting, summary: CampaignSummary) -> str:
    return targets(group.zones - group.separate, summary.area)


async def _single(
    client: Client,
    archive: Archive,
    summary: CampaignSummary,
    zones: Sequence[Target],
    many: Counter[str],
    at: TargetAt,
    roots: Roots | None = None,
) -> Sheet | None:
    """A zone that is signed singly; None where it does not wait any more. ``many``: how many zones have which
    name.
    """
    target = zones[at.index]
    # Of several accounts' zones with one name, the identifier alone says which is meant.
    typed = target.zone.name if many[target.zone.name.lower()] == 1 else target.zone.id
    sheet = Sheet(
        title=target.zone.name,
        digest=at.fingerprint,
        names=(target.zone.name,),
        zones=1,
        shown=None,
        waves=(at.wave + 1,),
        single=True,
        typed=typed,
    )
    try:
        found = await shown(client, archive, summary.area, target, summary.name, roots)
    except (ArchiveError, NotAsSigned) as why:
        return replace(sheet, why_not=getattr(why, "text", str(why)))
    return None if found is None else replace(sheet, shown=found, digest=found.digest)


async def _with_support(
    client: Client, summary: CampaignSummary, zones: Sequence[Target], at: TargetAt
) -> WithSupport:
    found = FoundZone.of(at.index, zones[at.index], summary.area, summary.name)
    try:
        state = await operations.zone_state(client, found)
    except OperationError as why:
        return WithSupport(found.name, why.text, ())
    return WithSupport(found.name, "; ".join(state.reasons), tuple(state.tickets))
