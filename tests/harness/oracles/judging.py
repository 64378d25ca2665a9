"""The verdict on a campaign that is over: what the oracles and the checkers of the rules say."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.service import RPCError

from edgeshift.areas.esc import TEST_SECRET
from edgeshift.testbed.invariants import RuleCheck, check_rules
from edgeshift.testbed.invariants.completeness import held_by_another
from edgeshift.testbed.invariants.seen import CheckerInput
from edgeshift.testbed.simulator.esc_settings import zone_scope
from tests.harness.campaigns.schedules import Schedule, ZonePlan
from tests.harness.campaigns.stages import LISTS, WANTED
from tests.harness.oracles.reversible import (
    OPEN,
    Ending,
    Field,
    Logged,
    esc_complaints,
    fields_of,
    kept_secret_complaints,
    log_complaints,
    own_secret_complaints,
)
from tests.harness.oracles.unknowns import met_and_resolved
from tests.harness.oracles.waf import Found, waf_complaints
from tests.harness.verdict import Verdict
from tests.kit.faults import Stage

STRANGERS = (("cookie_fields", "Stranger"),)
WANTED_FIELDS = tuple((kind, name) for kind, names in WANTED.items() for name in names)
AT_ONCE = 8

WAITING = OPEN | {"needs_support", "on_hold"}
"""Outcomes that leave a zone with a person."""

EVERY_RULE = frozenset(range(1, 13))
"""Of which a case need not be played: what a campaign was to meet is the oracles' to say."""

NONE = "none"
"""The outcome of a zone that has none."""

Shown = dict[str, dict[str, Any]]


async def verdict_of(stage: Stage, schedule: Schedule, before: Shown, told: Mapping[str, int]) -> Verdict:
    """Of the campaign of a schedule. ``before``: the zones as they were; ``told``: what happened beside."""
    after = await shown(stage)
    endings = {one.name: one for one in await _together(ending_of(stage, name) for name in stage.names)}
    seen = await stage.play.checkers()
    strangers = await written_by_strangers(stage) if schedule.area == "log-fields" else {}
    found = []
    for plan in schedule.zones:
        ending, zone = endings[plan.name], stage.id(plan.name)
        match schedule.area:
            case "waf":
                found.append(waf_complaints(ending, zone, seen))
            case "esc":
                found.append(Found(lost=tuple(await _scope(stage, plan, ending, seen))))
            case _:
                logged = Logged.of(before[plan.name]), Logged.of(after[plan.name])
                lost = log_complaints(ending, *logged, WANTED_FIELDS, LISTS, strangers.get(zone, ()))
                found.append(Found(lost=tuple(lost)))
    return _counted(stage, seen, list(endings.values()), found, told, ())


async def scene_verdict(
    stage: Stage, told: Mapping[str, int] = MappingProxyType({}), complaints: Iterable[str] = ()
) -> Verdict:
    """Of a scene that is judged by the rules' checkers, and by ``complaints`` of its own."""
    names = [target.zone.name.removesuffix(f".{stage.tag}.example") for target in stage.play.targets]
    endings = await _together(ending_of(stage, name) for name in names)
    return _counted(stage, await stage.play.checkers(), endings, (), told, complaints)


def _counted(
    stage: Stage,
    seen: CheckerInput,
    endings: Sequence[Ending],
    found: Sequence[Found],
    told: Mapping[str, int],
    complaints: Iterable[str],
) -> Verdict:
    checks = {check.rule: check for check in check_rules(seen, absent=EVERY_RULE)}
    outcomes = {stage.id(one.name): one.outcome for one in endings}
    without = [
        one.complaint("it has no outcome")
        for one in endings
        if one.outcome == NONE and not _spared(seen, stage.id(one.name))
    ]
    met, resolved = met_and_resolved(seen.journal, outcomes)
    return Verdict(
        zone_schedules=len(stage.names),
        unsigned_commits=max(unsigned(checks), sum(len(one.unsigned) for one in found)),
        double_commits=max(broken(checks[2]), sum(len(one.double) for one in found)),
        lost_zones=max(broken(checks[11]), len(without) + sum(bool(one.lost) for one in found)),
        unknown_met=met,
        unknown_resolved=resolved,
        outcomes=dict(sorted(Counter(outcomes.values()).items())),
        not_final=[f"{one.name}: {one.outcome}, {one.reason}" for one in endings if one.outcome in WAITING],
        complaints=[
            *(text for check in checks.values() for text in said(check)),
            *(text for one in found for text in (*one.unsigned, *one.double, *one.lost)),
            *without,
            *complaints,
        ],
        faults=dict(sorted((_met(seen) + Counter(told)).items())),
    )


def broken(check: RuleCheck) -> int:
    """How often a rule was seen broken. That a scene has no case of it is a complaint, and no violation."""
    return len(check.violations) if check.checked else 0


def unsigned(checks: Mapping[int, RuleCheck]) -> int:
    """How often something was sent that people had not signed, by their own record or by their keys."""
    return max(broken(checks[rule]) for rule in (1, 12) if rule in checks)


def said(check: RuleCheck) -> list[str]:
    """What a checker has against the campaign."""
    return [f"rule {check.rule} ({check.title}): {text}" for text in check.violations]


def _met(seen: CheckerInput) -> Counter[str]:
    """The faults that requests met, by kind."""
    return Counter(request.fault for request in seen.journal if request.fault)


def _spared(seen: CheckerInput, zone: str) -> bool:
    """Whether the campaign left a zone alone: stopped before it was begun, or had by another."""
    excluded = any(
        zone in zones and held_by_another(seen, campaign, zone) for campaign, zones in seen.excluded.items()
    )
    return excluded or (
        any(facts.aborted for facts in seen.campaigns)
        and zone not in seen.executions_of
        and not any(request.mutates for request in seen.of_zone.get(zone, ()))
    )


async def ending_of(stage: Stage, short: str) -> Ending:
    """How a target ended; with no outcome where its workflow has none, and the campaign none for it."""
    handle = stage.play.zone(stage.name(short))
    try:
        described = await handle.describe()
        if described.status is WorkflowExecutionStatus.RUNNING:
            return Ending(short, NONE, "still open")
        result = await handle.result()
    except (RPCError, WorkflowFailureError) as gone:
        named = await stage.play.named()
        return Ending(short, named.get(stage.id(short), NONE), str(gone))
    return Ending(short, result.outcome.value, result.reason)


async def shown(stage: Stage) -> Shown:
    """Every zone as the simulator's control API shows it, by its short name."""

    async def one(name: str) -> tuple[str, dict[str, Any]]:
        return name, await stage.play.control.get(f"zones/{stage.id(name)}")

    return dict(await _together(one(name) for name in stage.names))


async def _together(calls: Iterable[Any]) -> list[Any]:
    """A few at a time."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(call: Any) -> Any:
        async with gate:
            return await call

    return await asyncio.gather(*map(one, calls))


async def _scope(stage: Stage, plan: ZonePlan, ending: Ending, seen: CheckerInput) -> list[str]:
    """What is to be said against how a scope of esc ended."""
    edge = await stage.play.oracle(stage.name(plan.name))
    setting, zone = edge["zone"], stage.id(plan.name)
    if plan.shape == "own":
        found = esc_complaints(ending, edge, setting, own_secret=True)
        return found + own_secret_complaints(ending, setting["history"])
    sent = sum(one.sets_secret and one.took_effect for one in seen.of_zone.get(zone, ()))
    secret = stage.play.simulator.state.esc.accepted(zone_scope(zone)).secret or ""
    ours = secret.startswith(TEST_SECRET)
    found = esc_complaints(ending, edge, setting)
    return found + kept_secret_complaints(ending, setting, sent, ours=ours)


async def written_by_strangers(stage: Stage) -> dict[str, list[Field]]:
    """The custom log fields that somebody else has written meanwhile, by the zone's identifier."""
    found: dict[str, list[Field]] = {}
    for one in (await stage.play.control.get("stranger-writes"))["done"]:
        if not one["refused"]:
            found.setdefault(one["zone"], []).extend(fields_of(one["rules"]))
    return found
