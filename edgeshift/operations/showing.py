"""Finds the proposal that people name: by a zone, or by a digest or fingerprint that some screen had."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from shlex import quote
from typing import Any

from temporalio.client import Client

from edgeshift.campaign.target_states import AWAITING_WORDS
from edgeshift.messages import CampaignSummary, Waiting, ZoneState
from edgeshift.model.digests import Body, NotCanonical, digest
from edgeshift.model.fleet import Area, Target, campaign_name
from edgeshift.operations.again import zones_at
from edgeshift.operations.archives import campaign_here, check_campaigns
from edgeshift.operations.calls import ask
from edgeshift.operations.campaigns import summary
from edgeshift.operations.errors import BadInput, Failed, NotFound, Refused, TemporalTrouble, Unreadable
from edgeshift.operations.preview import Preview, preview_of
from edgeshift.operations.sign_offs import TRIED_OF_EACH, waiting_groups
from edgeshift.operations.zones import FoundZone, check_campaign, frozen_targets, zone_state
from edgeshift.stores.archive import Archive, ArchiveMissing

MOST_ASKED = 500
"""Zones that wait in a campaign whose own digest is asked for, where a fingerprint is not what was named."""

DIGITS = 64
"""Digits of a whole digest: what the archive answers to."""

AT_ONCE = 16


@dataclass(frozen=True)
class NamedProposal:
    """A proposal that was named. ``waiting``: how many zones of the campaign wait with its fingerprint;
    ``state``: of the zone that it is shown of.
    """

    campaign: str
    preview: Preview
    state: ZoneState
    waiting: int = 0


async def proposal_of(
    client: Client, archive: Archive, workflow_id: str, name: str, area: Area, wanted: str | None = None
) -> NamedProposal:
    """What the target with this workflow proposes, or has proposed last. ``wanted``: the name of the campaign
    whose proposal that has to be; None: of any. Raises NotFound where it has no proposal, or another
    campaign has it, Refused where its campaign has another archive, NotAsSigned, ArchiveError.
    """
    state = await ask(client.get_workflow_handle(workflow_id), "state", ZoneState, f"zone {name}")
    if wanted is not None:
        check_campaign(state, wanted, "show ZONE --campaign CAMPAIGN")
    if not state.proposal:
        what = state.outcome.value if state.outcome else state.phase.value
        raise NotFound(
            f"zone {name} has no proposal; it is {what.replace('_', ' ')}",
            f"`edgeshift history {quote(name)}` shows what happened to it",
        )
    campaign = campaign_name(state.campaign)
    await check_campaigns(client, archive, [campaign])
    return NamedProposal(campaign, await preview_of(archive, state, area), state)


async def archived_body(archive: Archive, wanted: str) -> Body | None:
    """The body with this digest, or of the proposal with this digest, as the archive itself answers to it;
    None where it has none. Raises ArchiveError.
    """
    try:
        document: Any = json.loads(await archive.get_object(wanted))
    except (ArchiveMissing, ValueError):
        return None
    if not isinstance(document, dict):
        return None
    body = document.get("body", document)
    try:
        is_body = isinstance(body, dict) and (body is not document or digest(body) == wanted)
    except (NotCanonical, AttributeError, TypeError):
        return None
    return body if is_body else None


async def proposal_by_digest(
    client: Client, archive: Archive, wanted: str, campaigns: AsyncIterator[str]
) -> NamedProposal:
    """The proposal of one zone that waits with this digest or fingerprint, or with one that begins so, in one
    of these campaigns. Raises NotFound; Refused where it may wait in one with another archive, and
    TemporalTrouble or Failed where in one that did not answer; BadInput where several begin so; NotAsSigned,
    ArchiveError.
    """
    unseen = _Unseen()
    async for name in campaigns:
        try:
            found = await _in_campaign(client, archive, name, wanted, unseen)
        except (NotFound, Unreadable):
            # One that is gone, or that nobody can read, keeps no other from being looked at.
            continue
        except (TemporalTrouble, Failed) as why:
            unseen.trouble = unseen.trouble or why
            continue
        if found is not None:
            return found
    raise unseen.as_error(wanted)


@dataclass
class _Unseen:
    """What keeps it from being known that nothing waits with a digest. ``elsewhere``: a campaign has another
    archive; ``trouble``: a campaign or a zone did not answer; ``unasked``: zones that were not asked.
    """

    elsewhere: Refused | None = None
    trouble: TemporalTrouble | Failed | None = None
    unasked: int = 0

    def as_error(self, wanted: str) -> Refused | TemporalTrouble | Failed | NotFound:
        """What is said where it was found nowhere."""
        if (why := self.elsewhere or self.trouble) is not None:
            return why
        text = f"no zone waits with a digest or fingerprint that begins with {wanted[:12]}"
        if self.unasked:
            text += (
                f", of the first {MOST_ASKED:,} of each campaign whose own digest was asked for:"
                f" {self.unasked:,} more were not asked"
            )
        whole = "" if len(wanted) == DIGITS else f"; the archive answers to a whole digest ({DIGITS} digits)"
        return NotFound(
            text, f"name the zone: edgeshift show ZONE; `edgeshift status CAMPAIGN` lists what waits{whole}"
        )


async def _in_campaign(
    client: Client, archive: Archive, name: str, wanted: str, unseen: _Unseen
) -> NamedProposal | None:
    try:
        # By its history first: that needs no worker, and names what only looks like a campaign.
        await campaign_here(client, archive, name)
    except Refused as why:
        unseen.elsewhere = unseen.elsewhere or why
        return None
    known = await summary(client, name)
    targets = await frozen_targets(archive, known.targets)
    groups = await waiting_groups(client, name, prefix=wanted)
    if len(groups) > 1:
        raise _several(wanted, [group.fingerprint for group in groups])
    if groups:
        return await _of_group(client, archive, known, targets, groups[0])
    return await _of_zone(client, archive, known, targets, wanted, unseen)


def _several(wanted: str, digests: list[str]) -> BadInput:
    return BadInput(
        f"{len(digests)} digests that wait begin with {wanted}",
        f"give more digits: {', '.join(one[:16] for one in digests[:5])}",
    )


async def _of_group(
    client: Client, archive: Archive, known: CampaignSummary, targets: list[Target], group: Waiting
) -> NamedProposal | None:
    found = await zones_at(client, known.name, AWAITING_WORDS, TRIED_OF_EACH, fingerprint=group.fingerprint)
    for waiting in found.targets:
        zone = FoundZone.of(waiting.index, targets[waiting.index], known.area, known.name)
        try:
            one = await proposal_of(client, archive, zone.workflow_id, zone.name, known.area, known.name)
        except NotFound:
            continue
        if one.preview.fingerprint == group.fingerprint:
            return NamedProposal(known.name, one.preview, one.state, group.zones)
    return None


async def _of_zone(
    client: Client,
    archive: Archive,
    known: CampaignSummary,
    targets: list[Target],
    wanted: str,
    unseen: _Unseen,
) -> NamedProposal | None:
    """The zone whose own digest, or whose proposal in the archive, begins so."""
    found = await zones_at(client, known.name, AWAITING_WORDS, MOST_ASKED)
    unseen.unasked += found.total - len(found.targets)
    gate = asyncio.Semaphore(AT_ONCE)

    async def asked(index: int) -> tuple[FoundZone, ZoneState] | None:
        zone = FoundZone.of(index, targets[index], known.area, known.name)
        async with gate:
            try:
                state = await zone_state(client, zone)
            except (NotFound, Unreadable):
                return None
            except (TemporalTrouble, Failed) as why:
                unseen.trouble = unseen.trouble or why
                return None
        return (zone, state) if state.digest.startswith(wanted) or state.proposal == wanted else None

    some = [one for one in await asyncio.gather(*(asked(item.index) for item in found.targets)) if one]
    if len({state.digest for _, state in some}) > 1:
        raise _several(wanted, sorted({state.digest for _, state in some}))
    if not some:
        return None
    zone = some[0][0]
    return await proposal_of(client, archive, zone.workflow_id, zone.name, known.area, known.name)
