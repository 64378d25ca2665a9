"""Configurations as large as the service takes them: 200 rules of 4 KB each, and one more of either."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import Area, Plan
from edgeshift.operations.preview import preview_of
from edgeshift.testbed.invariants.ticketed import load_tickets
from edgeshift.views.report_file import write_report
from tests.harness.campaigns.stages import PATIENCE, signed_stage
from tests.harness.cases import Case, World
from tests.harness.oracles.judging import ending_of, scene_verdict
from tests.harness.verdict import Verdict
from tests.kit.faults import Stage, zone

FAMILY = "large"
MOST_RULES, LONGEST = 200, 4096

MOST_HISTORY = 128 * 1024
"""Bytes that the history of a zone's workflow has at most, however large its configuration is."""

MOST_REPORT = 200_000
"""Characters of the report."""

MOST_PAYLOAD = 16 * 1024
"""Bytes of the largest event of such a history."""


def expression(size: int, number: int, letter: str = "x") -> str:
    """A filter expression of so many bytes of UTF-8."""
    begin, end = f'http.request.uri.path eq "/{number:04}-', '"'
    room = size - len(begin) - len(end)
    width = len(letter.encode())
    found = begin + letter * (room // width) + "y" * (room % width) + end
    assert len(found.encode()) == size
    return found


def rules(count: int, size: int, letter: str = "x") -> list[dict[str, Any]]:
    """So many firewall rules that migrate, with expressions of so many bytes each."""
    return [
        {"action": "bypass", "products": ["waf"], "expression": expression(size, number, letter)}
        for number in range(count)
    ]


@dataclass(frozen=True)
class Size:
    """Zones of a case by name: their firewall rules, and the causes of their tickets."""

    zones: Mapping[str, tuple[list[dict[str, Any]], frozenset[str]]]
    plan: Plan = Plan.PRO
    terms: Mapping[str, Any] = field(default_factory=dict)


FINE: frozenset[str] = frozenset()
TOO_MANY, TOO_LONG = frozenset({"too_many_rules"}), frozenset({"expression_too_long"})

SIZES: dict[str, Size] = {
    "largest": Size({"largest": (rules(MOST_RULES, LONGEST), FINE)}),
    "largest-enterprise": Size({"largest": (rules(MOST_RULES, LONGEST), FINE)}, Plan.ENTERPRISE),
    "largest-umlauts": Size({"largest": (rules(MOST_RULES, LONGEST, "ü"), FINE)}),
    "largest-beside": Size({f"largest-{number}": (rules(MOST_RULES, LONGEST), FINE) for number in range(5)}),
    "rules": Size({"at": (rules(MOST_RULES, 100), FINE), "over": (rules(MOST_RULES + 1, 100), TOO_MANY)}),
    "bytes": Size(
        {
            "at": (rules(1, LONGEST), FINE),
            "over": (rules(1, LONGEST + 1), TOO_LONG),
            "at-umlauts": (rules(1, LONGEST, "ü"), FINE),
            "over-umlauts": (rules(1, LONGEST + 1, "ü"), TOO_LONG),
            "at-faces": (rules(1, LONGEST, "\U0001f600"), FINE),
            "over-faces": (rules(1, LONGEST + 1, "\U0001f600"), TOO_LONG),
        }
    ),
    "both": Size({"both": (rules(MOST_RULES + 1, LONGEST + 1), TOO_MANY | TOO_LONG)}),
}
"""By the case's name."""


def cases() -> list[Case]:
    """Those of the full run."""
    return [
        Case(f"{FAMILY}/{name}", FAMILY, len(size.zones), partial(_play, size))
        for name, size in SIZES.items()
    ]


async def _play(size: Size, world: World) -> Verdict:
    """Every zone is migrated, after support where it is over a limit; histories stay small."""
    zones = [zone(name, size.plan.value, firewall_rules=given) for name, (given, _) in size.zones.items()]
    async with signed_stage(
        world.client, world.folder, *zones, request_limit="20s", patience=PATIENCE, **size.terms
    ) as stage:
        complaints = await _seen_before(stage, size)
        fixing = asyncio.create_task(_fix(stage, size))
        await stage.finish(400)
        await fixing
        complaints += await _reported(stage)
        endings = [await ending_of(stage, name) for name in stage.names]
        complaints += [one.complaint("it is to be migrated") for one in endings if one.outcome != "migrated"]
        complaints += [text for name in stage.names for text in await _too_large(stage, name)]
        complaints += await _tickets(stage, size)
        return await scene_verdict(stage, complaints=complaints)


async def _seen_before(stage: Stage, size: Size) -> list[str]:
    """What people are shown of each zone that is within the limits, before they sign."""
    found = []
    for name, (given, causes) in size.zones.items():
        if not causes:
            state = await stage.waits(name, within=200)
            shown = await preview_of(stage.play.archive, state, Area.WAF)
            rules = len(shown.body.get("rules") or ())
            if rules < len(given):
                found.append(f"{name}: {rules} rules are shown, of {len(given)}")
    return found


async def _reported(stage: Stage) -> list[str]:
    """The report, with every zone's history in it, is a page that a browser opens."""
    path = stage.play.folder / "report.html"
    await write_report(stage.play.client, stage.play.archive, stage.play.spec.name, path)
    text = await asyncio.to_thread(path.read_text)
    found = [f"the report has {len(text):,} characters"] if len(text) > MOST_REPORT else []
    found += [] if all(stage.name(name) in text for name in stage.names) else ["the report lacks a zone"]
    return found


async def _fix(stage: Stage, size: Size) -> None:
    for name, (_, causes) in size.zones.items():
        if causes:
            await stage.phase(name, ZonePhase.NEEDS_SUPPORT, within=200)
            await stage.change(name, firewall_rules=[])
            await stage.play.resolve_support(stage.name(name))


async def _too_large(stage: Stage, name: str) -> list[str]:
    """What of a zone's history is larger than a reference to the archive would be."""
    total, largest, kind = 0, 0, ""
    async for event in stage.play.zone(stage.name(name)).fetch_history_events():
        size = event.ByteSize()
        total += size
        if b"x" * 100 in event.SerializeToString():
            return [f"{name}: event {event.event_id} of its history has an expression"]
        if size > largest:
            largest, kind = size, event.WhichOneof("attributes") or ""
    found = [f"{name}: its history has {total:,} bytes"] if total > MOST_HISTORY else []
    return found + ([f"{name}: {kind} has {largest:,} bytes"] if largest > MOST_PAYLOAD else [])


async def _tickets(stage: Stage, size: Size) -> list[str]:
    folder = stage.play.folder / "state" / "tickets"
    found = await asyncio.to_thread(load_tickets, folder) if folder.exists() else ()
    told = sorted((ticket.zone, ticket.cause) for ticket in found)
    wanted = sorted((stage.id(name), cause) for name, (_, causes) in size.zones.items() for cause in causes)
    return [] if told == wanted else [f"tickets {told}, and not {wanted}"]
