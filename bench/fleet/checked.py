"""What the invariant checkers say of a measured campaign."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client

from bench.fleet.records import Asked
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.testbed.invariants import CheckerInput, check_rules
from edgeshift.testbed.invariants.archived import ArchiveFolder
from edgeshift.testbed.invariants.executions import load_executions
from edgeshift.testbed.invariants.kept import load_secrets
from edgeshift.testbed.invariants.leaks import scan
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CampaignFacts, Scan
from edgeshift.testbed.invariants.service import load_rate_limit, load_zones
from edgeshift.testbed.invariants.ticketed import load_tickets
from edgeshift.testbed.stack import Stack

MOST_TOLD = 3
"""Violations of a rule that are told in words."""


async def checked(
    running: Stack,
    client: Client,
    spec: CampaignSpec,
    targets: str,
    journal: tuple[Request, ...],
    asked: Asked,
) -> CheckerInput:
    """What every checker saw. ``targets``: the digest of the frozen list; ``journal``: every request."""
    scaled = spec.scaled()
    archive = await asyncio.to_thread(ArchiveFolder, running.places.archive)
    zones = archive.targets(targets)
    secrets = running.secrets | await asyncio.to_thread(load_secrets, running.places.simulator)
    return CheckerInput(
        journal=journal,
        campaigns=(
            CampaignFacts(
                name=spec.name,
                zones=frozenset(zones),
                window=window_of(spec, len(zones)),
                failures=scaled.advance.failures,
                required=scaled.sign_off.required,
                valid_for=scaled.sign_off.valid_for,
                sending=scaled.commit.waits_for_turn
                + scaled.commit.send_window
                + scaled.service.request_limit,
                resend_unchanged=scaled.commit.resend_unchanged,
                migration_limit=max(scaled.commit.migration_limit, timedelta(0)),
            ),
        ),
        signatures=tuple(asked.signatures),
        stops=tuple(asked.stops),
        snapshots=archive.snapshots(),
        tickets=load_tickets(running.places.tickets),
        scans=tuple(await asyncio.to_thread(_searched, running, secrets, zones[0])),
        secrets=len(secrets),
        zones=await load_zones(running.control, running.places.simulator),
        bodies=archive.bodies(),
        rate_limit=await load_rate_limit(running.control),
        targets={spec.name: zones},
        executions=await load_executions(client),
        intents=archive.intents(),
    )


def window_of(spec: CampaignSpec, zones: int) -> int:
    """How many commits may be in flight: the window, where it is a number; one that sizes itself has no other
    bound than the number of zones.
    """
    window: object = spec.window
    return window if isinstance(window, int) else zones


def verdicts(seen: CheckerInput, absent: frozenset[int]) -> list[dict[str, Any]]:
    """What each rule's checker says: how many cases it had, how many of them broke the rule (``broken``), and
    the first of these in words. ``absent``: rules without a case.
    """
    return [
        check.model_dump(exclude={"violations"})
        | {"broken": len(check.violations), "violations": check.violations[:MOST_TOLD]}
        for check in check_rules(seen, absent=absent)
    ]


def lost(seen: CheckerInput) -> int:
    """Zones of the frozen lists without an outcome."""
    ended = {one.zone for one in seen.executions if one.outcome is not None}
    return sum(zone not in ended for zones in seen.targets.values() for zone in zones)


def _searched(running: Stack, secrets: dict[str, str], zone: str) -> list[Scan]:
    places: list[tuple[Path, str | None]] = [
        (running.places.archive, zone),
        (running.places.temporal, zone),
        (running.places.logs, None),
    ]
    return [one for place, sighting in places for one in scan(place, secrets, sighting=sighting)]
