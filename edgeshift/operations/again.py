"""Beginning zones of a campaign again, while it runs or after it has closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from temporalio.client import Client

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import TargetState, signed_anew
from edgeshift.messages import (
    Again,
    Answer,
    CampaignCarried,
    CampaignResult,
    CampaignStart,
    PlacesAsked,
    TargetAt,
    TargetsAt,
)
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import REOPENABLE, RETRYABLE, ZoneOutcome, campaign_id
from edgeshift.operations.calls import errors_for_people, tell, the_campaign
from edgeshift.operations.campaigns import campaign_input, campaign_result, launch
from edgeshift.operations.errors import BadInput, NotFound, OperationError, Refused

if TYPE_CHECKING:
    from edgeshift.operations.pen import Pen

MOST_AT_ONCE = 5_000
"""Targets of one answer."""

EXCLUDED = "excluded"
BY_NAME_ONLY = frozenset(
    {ZoneOutcome.BLOCKED, ZoneOutcome.NEEDS_SUPPORT, ZoneOutcome.REJECTED, ZoneOutcome.ROLLED_BACK}
)
"""Outcomes that are begun again only when they are asked for: something has to change first."""

_VERB: dict[str, Literal["retry", "reopen"]] = {"retry": "retry", "reopen": "reopen"}

VERBS: dict[str, frozenset[ZoneOutcome]] = {"retry": RETRYABLE, "reopen": REOPENABLE}


async def zones_at(
    client: Client,
    name: str,
    places: Sequence[str],
    most: int = 5_000,
    *,
    wave: int | None = None,
    fingerprint: str = "",
) -> TargetsAt:
    """The indexes of the campaign's first targets at these places, each with the fingerprint that it last
    proposed, in as many questions as that takes. ``wave``, ``fingerprint``: of those alone.
    """
    handle = client.get_workflow_handle(campaign_id(name))
    targets: list[TargetAt] = []
    first = 0
    while True:
        asked = PlacesAsked(
            places=tuple(places),
            most=min(most - len(targets), MOST_AT_ONCE),
            first=first,
            wave=wave,
            fingerprint=fingerprint,
        )
        with errors_for_people(the_campaign(name)):
            answer = await handle.query("targets_at", asked, result_type=TargetsAt)
        found = TargetsAt.model_validate(answer)
        targets += found.targets
        if not found.next or len(targets) >= most:
            return found.model_copy(update={"targets": targets})
        first = found.next


def outcomes_for(verb: str) -> list[str]:
    """Every place of which ``verb`` begins zones again."""
    return [*sorted(outcome.value for outcome in VERBS[verb]), EXCLUDED]


def outcomes_of(verb: str, named: Sequence[str]) -> list[str]:
    """The places that ``verb`` begins again: those named, or its usual ones. Raises BadInput for one that
    is not its.
    """
    allowed = outcomes_for(verb)
    for name in named:
        if name not in allowed:
            other = "reopen" if verb == "retry" else "retry"
            others = name in {outcome.value for outcome in VERBS[other]}
            near = get_close_matches(name.lower().replace("-", "_").replace(" ", "_"), allowed, n=1)
            meant = f"did you mean {near[0]}?" if near else f"{verb} is for {', '.join(allowed)}"
            hint = f"use {other}" if others else meant
            raise BadInput(f"{name!r} zones cannot be {'retried' if verb == 'retry' else 'reopened'}", hint)
    return list(named) or [
        name for name in allowed if name not in {outcome.value for outcome in BY_NAME_ONLY}
    ]


async def begin_again(
    client: Client,
    name: str,
    verb: str,
    *,
    by: str,
    reason: str = "",
    indexes: Sequence[int] = (),
    places: Sequence[str],
    pen: Pen | None = None,
    zones: Sequence[str] = (),
    accounts: Sequence[str] = (),
) -> Answer:
    """Begin the zones at ``indexes`` again, or every one at ``places``. A closed campaign is taken up
    where it ended. ``pen``: whoever signs it; ``zones``: the identifiers of those at ``indexes``, then, and
    ``accounts`` those that they belong to.

    Raises NotFound where there is none, Refused where the campaign was ended from outside, is being aborted,
    or was aborted by a signed word, which no worker forgets.
    """
    result = await campaign_result(client, name)
    start = await campaign_input(client, name)
    # One zone begins again once, however often it was named.
    named = tuple(dict.fromkeys(indexes))
    # What is signed counts whatever comes of it: where nothing begins again, nothing is signed.
    try:
        closed = None if result is None else _closed(name, verb, start, result, named, places)
        if closed is None and not await _some_at(client, name, places, named, asked=pen is not None):
            raise _nothing(name, verb, places)
    except OperationError:
        # Where an abort is signed, that is why nothing begins again.
        if pen is not None:
            await pen.refuse_aborted(name, start.spec)
        raise
    if pen is not None:
        await pen.again(
            name, start.spec, _VERB[verb], zones=zones, places=places, accounts=accounts, reason=reason
        )
    if closed is not None:
        return await _reopened(client, start, closed, by, reason, named, places)
    message = Again(by=by, reason=reason, indexes=named, places=() if named else tuple(places))
    return await tell(client, campaign_id(name), verb, message, the_campaign(name))


async def _some_at(
    client: Client, name: str, places: Sequence[str], named: Sequence[int], *, asked: bool
) -> bool:
    """Whether some zone of an open campaign, or of those named, is at these places. ``asked``: whether that
    is asked of named ones; the campaign itself says so, too.
    """
    if not named:
        return bool((await zones_at(client, name, places, 1)).total)
    handle = client.get_workflow_handle(campaign_id(name))
    for index in named if asked else ():
        one = PlacesAsked(places=tuple(places), most=1, first=index)
        with errors_for_people(the_campaign(name)):
            answer = await handle.query("targets_at", one, result_type=TargetsAt)
        if any(found.index == index for found in TargetsAt.model_validate(answer).targets):
            return True
    return not asked


async def counts_at(client: Client, name: str, places: Sequence[str]) -> dict[str, int]:
    """How many zones of a campaign are at each of these places that has some, whether it is closed or not."""
    result = await campaign_result(client, name)
    if result is not None:
        found = {place: result.outcomes.get(place, 0) for place in places}
    else:
        found = {place: (await zones_at(client, name, [place], 1)).total for place in places}
    return {place: count for place, count in found.items() if count}


@dataclass(frozen=True)
class _Closed:
    """What a closed campaign is taken up with: its state, and the indexes of the zones that begin again."""

    carried: CampaignCarried
    ledger: Ledger
    chosen: tuple[int, ...]


def _closed(
    name: str,
    verb: str,
    start: CampaignStart,
    result: CampaignResult,
    named: tuple[int, ...],
    places: Sequence[str],
) -> _Closed:
    """Raises Refused where its state is not there, NotFound where nothing begins again."""
    ledger = Ledger(start.count, datetime.now(UTC), timedelta(seconds=1))
    if result.carried is None:
        raise Refused(
            f"campaign {name} closed without its state; no zone of it can restart",
            "`edgeshift start FILE --again` starts all of it again",
        )
    try:
        ledger.unpack(result.carried.ledger)
    except ValueError as failure:
        raise Refused(
            f"the state that campaign {name} closed with cannot be read: {failure}",
            "`edgeshift start FILE --again` starts all of it again",
        ) from failure
    wanted = frozenset(TargetState[place.upper()] for place in places)
    chosen = tuple(index for index in (named or range(start.count)) if ledger.places[index] in wanted)
    if not chosen:
        raise _nothing(name, verb, places)
    return _Closed(result.carried, ledger, chosen)


async def _reopened(
    client: Client,
    start: CampaignStart,
    closed: _Closed,
    by: str,
    reason: str,
    named: tuple[int, ...],
    places: Sequence[str],
) -> Answer:
    chosen = closed.chosen
    # Those alone that the verb is for: the run that takes the campaign up does not know which it was.
    again = Again(
        by=by,
        reason=reason,
        indexes=chosen if named else (),
        places=() if named else tuple(places),
    )
    await launch(client, start.model_copy(update={"carried": closed.carried, "again": again}))
    zones = f"{counted(len(chosen), 'zone')} {agreed(len(chosen), 'restarts', 'restart')}"
    anew = signed_anew(sum(map(closed.ledger.uncounted.__contains__, chosen)))
    left = tuple(sorted(set(named).difference(chosen)))
    return Answer(text=f"is reopened: {zones}{anew}", left=left)


def _nothing(name: str, verb: str, places: Sequence[str]) -> NotFound:
    words = " or ".join(place.replace("_", " ") for place in places)
    return NotFound(
        f"nothing to {verb}: none of these zones of campaign {name} is {words}",
        f"`edgeshift status {name}` shows where its zones are",
    )
