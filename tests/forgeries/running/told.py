"""What a campaign tells of its zones, and what of that the service does not show, in either direction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress

from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.messages import PlacesAsked, TargetsAt, ZonePhase
from edgeshift.model.fleet import UNTOUCHED, Zone, ZoneOutcome
from edgeshift.model.reasons import ReasonCode, codes_of
from edgeshift.runtime.temporal import memo_of
from tests.forgeries.running.attack import sent
from tests.kit.faults import Stage
from tests.kit.log_fields import ruleset

FINDS_OUT_WITHIN = 15
"""Seconds in which a campaign finds out how its zones are."""

ASKED = 3
"""How often a campaign is asked that does not answer in time: others may have taken the question."""

NO_ANSWER = frozenset({RPCStatusCode.CANCELLED, RPCStatusCode.DEADLINE_EXCEEDED})

IS_OPEN = ", and is open"

DONE = frozenset({"migrated", "already_migrated", "settled", "already_settled"})
"""Outcomes that say that the service has changed a zone."""

NOTHING = frozenset(outcome.value for outcome in (*UNTOUCHED, ZoneOutcome.FAILED))
"""Outcomes that say that it has not, or nothing of it."""

SAYS_SO = frozenset({ReasonCode.STORED_RULES_DIFFER, ReasonCode.NOT_ROLLED_BACK, ReasonCode.ARCHIVE_DAMAGED})
"""Why a zone has failed that is changed all the same, or may be."""


async def told_wrong(stage: Stage, theirs: Collection[str] = ()) -> list[str]:
    """What the campaign says of an outcome that the service does not show; or of a zone that is open, and
    still says some seconds later: others attack beside, people begin zones again meanwhile, and of a later
    attempt it has to find out. ``theirs``: runs that the enemy has started, which are no zone's.
    """
    return await _still(lambda: _told_wrong_now(stage, theirs))


async def told_as_nothing(stage: Stage) -> list[str]:
    """The zones that the service shows as changed, and of which the campaign tells that nothing is."""
    return await _still(lambda: _told_as_nothing_now(stage))


async def _still(look: Callable[[], Awaitable[list[str]]]) -> list[str]:
    found, tries = await look(), 0
    while found and tries < FINDS_OUT_WITHIN:
        again = await look()
        found = [text for text in found if text in again]
        if not any(text.endswith(IS_OPEN) for text in found):
            break
        await asyncio.sleep(1)
        tries += 1
    return found


async def told_as_ended(stage: Stage) -> dict[int, str]:
    """The targets that the campaign tells as ended, each with its outcome."""
    asked = PlacesAsked(places=tuple(outcome.value for outcome in ZoneOutcome))
    for tries_left in reversed(range(ASKED)):
        try:
            said = await stage.play.campaign.query("targets_at", asked, result_type=TargetsAt)
            return {one.index: one.place for one in TargetsAt.model_validate(said).targets}
        except RPCError as why:
            if why.status not in NO_ANSWER or not tries_left:
                raise
    raise AssertionError("the last try has returned")


async def _told_wrong_now(stage: Stage, theirs: Collection[str]) -> list[str]:
    changed = {request.zone for request in await sent(stage) if request.took_effect}
    found = await _told_as_nothing_now(stage)
    for index, place in (await told_as_ended(stage)).items():
        zone = stage.play.targets[index].zone
        if place in DONE and zone.id not in changed:
            found.append(f"{zone.name} is told as {place}")
        with suppress(RPCError, WorkflowQueryFailedError):
            if (await stage.play.state(zone.name)).phase is not ZonePhase.CLOSED and await _runs(
                stage, zone, theirs
            ):
                found.append(f"{zone.name} is told as {place}{IS_OPEN}")
    return found


async def _told_as_nothing_now(stage: Stage) -> list[str]:
    # Whatever comes to be changed after that was not, when it was told.
    places = await told_as_ended(stage)
    # A zone that is in validation is not changed: its new rules only log.
    made = [request for request in await sent(stage) if request.took_effect and not request.validates]
    changed = {request.zone for request in made}
    found = []
    for index, place in places.items():
        zone = stage.play.targets[index].zone
        if place not in NOTHING or zone.id not in changed or not await _is_in_force(stage, zone):
            continue
        if place != ZoneOutcome.FAILED.value or not await _says_so(stage, zone):
            found.append(f"{zone.name} is told as {place}, and the service shows it changed")
    return found


async def _is_in_force(stage: Stage, zone: Zone) -> bool:
    """Whether a change of a zone that has taken effect has not been undone since."""
    match stage.play.spec.area.value:
        case "waf":
            return True
        case "esc":
            return await stage.play.is_off(zone.name)
    wanted = {name.lower() for name in stage.play.spec.section(LogFieldsSpec).request_headers}
    rules = (await ruleset(stage.play, zone.name)).get("rules") or []
    logged = {
        str(field.get("name")).lower()
        for rule in rules
        for field in (rule.get("action_parameters") or {}).get("request_fields") or []
    }
    return wanted <= logged


async def _says_so(stage: Stage, zone: Zone) -> bool:
    """Whether the zone's own workflow has ended with a reason that says that it may be changed."""
    with suppress(RPCError, WorkflowFailureError):
        result = await stage.play.zone(zone.name).result(follow_runs=False)
        return not SAYS_SO.isdisjoint(codes_of(result.why))
    return False


async def _runs(stage: Stage, zone: Zone, theirs: Collection[str]) -> bool:
    """Whether the campaign's own workflow of the zone is open. Once it has ended, its id is free: the enemy
    may have taken it, which goes on in further runs, and so may a campaign of his.
    """
    described = await stage.play.zone(zone.name).describe()
    if described.status is not WorkflowExecutionStatus.RUNNING:
        return False
    first = described.raw_description.workflow_execution_info.first_run_id
    if {described.run_id, first} & set(theirs):
        return False
    return (await memo_of(described) or {}).get("campaign") == stage.play.campaign.id
