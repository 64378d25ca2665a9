"""Refusals that only support can lift, in every wording that is known, with and without a code, at each call;
and other refusals, of which none opens a ticket.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from functools import partial
from typing import Any, Literal

from edgeshift.messages import ZonePhase
from edgeshift.testbed.invariants.ticketed import load_tickets
from edgeshift.testbed.simulator.support_words import WORDINGS
from tests.harness.campaigns.stages import PATIENCE, signed_stage
from tests.harness.cases import Case, World
from tests.harness.oracles.judging import ending_of, scene_verdict
from tests.harness.verdict import Verdict
from tests.kit.faults import Stage, zone

FAMILY = "refusals"
At = Literal["check", "config", "put"]
PLACES: tuple[At, ...] = ("check", "config", "put")
CALLS: dict[At, str] = {"check": "waf.check", "config": "waf.config", "put": "entrypoint.put"}
CODE = 20229

RULE = {"action": "bypass", "products": ["waf"], "expression": "ip.src eq 192.0.2.1"}
LONG = {**RULE, "expression": f'http.request.uri.path eq "/{"x" * 150}"'}
STRICT = {"firewall_rules": 2, "expression_bytes": 100}
"""The service counts more strictly than its documentation says, so that its words are all there is."""

CAUSES: dict[str, frozenset[str]] = {
    "many": frozenset({"too_many_rules"}),
    "long": frozenset({"expression_too_long"}),
    "fine": frozenset(),
}
ZONES = {"many": [RULE] * 3, "long": [LONG], "fine": [RULE]}

UNHEARD = "The operation could not be completed (reference 7f3a)"

OTHERS: dict[str, tuple[int, dict[str, Any]]] = {
    "rate": (400, {"message": "request rate for 200 rules exceeded, contact support to raise it"}),
    "permission": (403, {"code": 9109, "message": "no permission to edit firewall rules, contact support"}),
    "validation": (400, {"message": "rule description must be at most 500 characters"}),
    "plan": (400, {"code": 50002, "message": "your plan does not allow more than 5 firewall rules"}),
    "locked": (400, {"message": "zone is locked by another operation, retry later"}),
}
"""Refusals of the service that are nothing for its support."""


def cases() -> list[Case]:
    """Those of the full run."""
    found = [
        Case(
            f"{FAMILY}/{words}/{at}/{'coded' if code else 'bare'}",
            FAMILY,
            len(ZONES),
            partial(_asked, words, at, code),
        )
        for words in (*WORDINGS, "each")
        for at in PLACES
        for code in (None, CODE)
    ]
    found += [Case(f"{FAMILY}/unheard/{at}", FAMILY, 2, partial(_unheard, at)) for at in PLACES]
    return found + [
        Case(f"{FAMILY}/other-{name}/{at}", FAMILY, 1, partial(_other, name, at))
        for name in OTHERS
        for at in PLACES
    ]


async def _asked(words: str, at: At, code: int | None, world: World) -> Verdict:
    """Each zone over a limit waits for support with its one ticket, and is migrated once it is fixed."""
    support = {"at": at, "words": words, "code": code, **STRICT}
    zones = [zone(name, firewall_rules=rules) for name, rules in ZONES.items()]
    async with signed_stage(
        world.client, world.folder, *zones, simulator={"support": support}, patience=PATIENCE
    ) as stage:
        fixing = asyncio.create_task(_fix(stage))
        await stage.finish(240)
        await fixing
        return await scene_verdict(stage, complaints=[*await _ends(stage), *await _tickets(stage)])


async def _fix(stage: Stage) -> None:
    """Support sees to every zone that waits for it."""
    for name, causes in CAUSES.items():
        if causes:
            await stage.phase(name, ZonePhase.NEEDS_SUPPORT, within=200)
            await stage.change(name, firewall_rules=[])
            await stage.play.resolve_support(stage.name(name))


async def _ends(stage: Stage) -> list[str]:
    endings = [await ending_of(stage, name) for name in stage.names]
    return [one.complaint("it is to be migrated") for one in endings if one.outcome != "migrated"]


async def _tickets(stage: Stage, wanted: dict[str, frozenset[str]] | None = None) -> list[str]:
    """One for each zone and cause, and no other."""
    folder = stage.play.folder / "state" / "tickets"
    found = await asyncio.to_thread(load_tickets, folder) if folder.exists() else ()
    counted = Counter((ticket.zone, ticket.cause) for ticket in found)
    expected = {(stage.id(name), cause) for name, causes in (wanted or CAUSES).items() for cause in causes}
    return [f"{count} tickets of {cause}" for (_, cause), count in counted.items() if count > 1] + [
        f"a ticket of {cause} that should not be, or is not there" for _, cause in expected ^ set(counted)
    ]


async def _unheard(at: At, world: World) -> Verdict:
    """Words that nobody understands: the zone ends with them, and is no support case."""
    odd = {"message": UNHEARD, "status": 400}
    support = {"at": at, **STRICT, "too_many_rules": odd, "too_long_expression": odd}
    zones = [zone(name, firewall_rules=ZONES[name]) for name in ("many", "fine")]
    async with signed_stage(
        world.client, world.folder, *zones, simulator={"support": support}, patience=PATIENCE
    ) as stage:
        await stage.finish(240)
        ending = await ending_of(stage, "many")
        complaints: list[str] = []
        if ending.outcome != "failed" or "could not be completed" not in ending.reason:
            complaints.append(ending.complaint("it is to fail with the service's words"))
        nobody: dict[str, frozenset[str]] = {"many": frozenset()}
        return await scene_verdict(stage, complaints=[*complaints, *await _tickets(stage, nobody)])


async def _other(name: str, at: At, world: World) -> Verdict:
    """Once: a reading is made again; a change that was refused ends the zone, or is made again where it may.
    None is a support case.
    """
    status, error = OTHERS[name]
    body = '{"success":false,"result":null,"messages":[],"errors":[%s]}'
    async with signed_stage(world.client, world.folder, zone("a"), begin=False, patience=PATIENCE) as stage:
        text = body % json.dumps(error)
        await stage.fault("server_error", CALLS[at], "a", effect="before", status=status, body=text)
        await stage.play.begin()
        await stage.finish(240)
        ending = await ending_of(stage, "a")
        complaints: list[str] = []
        if ending.outcome == "needs_support":
            complaints.append(ending.complaint("it is no support case"))
        if ending.outcome != "migrated" and error["message"][:12] not in ending.reason:
            complaints.append(ending.complaint("it is to be migrated, or to fail with the service's words"))
        nobody: dict[str, frozenset[str]] = {"a": frozenset()}
        return await scene_verdict(stage, complaints=[*complaints, *await _tickets(stage, nobody)])
