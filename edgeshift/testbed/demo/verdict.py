"""The end of the demo: everything that the checkers saw, put together and judged."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.testbed.demo.course import Played
from edgeshift.testbed.demo.part import Part
from edgeshift.testbed.invariants import CheckerInput, RuleCheck, check_rules
from edgeshift.testbed.invariants.archived import ArchiveFolder
from edgeshift.testbed.invariants.executions import load_executions, load_holds
from edgeshift.testbed.invariants.kept import load_secrets
from edgeshift.testbed.invariants.leaks import scan
from edgeshift.testbed.invariants.roots_file import load_roster
from edgeshift.testbed.invariants.seen import CampaignFacts, Scan
from edgeshift.testbed.invariants.service import load_journal, load_profile, load_rate_limit, load_zones
from edgeshift.testbed.invariants.ticketed import load_tickets
from edgeshift.testbed.stack import Stack


async def gather(
    running: Stack, client: Client, part: Part, played: Played, specs: list[CampaignSpec], output: list[Path]
) -> CheckerInput:
    """What every checker saw. ``output``: what the run wrote for people, searched for secrets too."""
    journal = await load_journal(running.control)
    archive = await asyncio.to_thread(ArchiveFolder, running.places.archive)
    targets = {name: archive.targets(summary.targets) for name, summary in played.summaries.items()}
    secrets = running.secrets | await asyncio.to_thread(load_secrets, running.places.simulator)
    scans = await asyncio.to_thread(search, running, secrets, output, part.sighting)
    accounts = {account.id: account.name for account in running.fleet.accounts}
    return CheckerInput(
        journal=journal,
        campaigns=tuple(_facts(spec, targets.get(spec.name, ()), played) for spec in specs),
        signatures=tuple(played.signatures),
        words=tuple(played.words),
        stops=tuple(played.stops),
        snapshots=archive.snapshots(),
        tickets=load_tickets(running.places.tickets),
        scans=tuple(scans),
        secrets=len(secrets),
        zones=await load_zones(running.control, running.places.simulator, accounts),
        bodies=(*played.bodies, *archive.bodies()),
        rate_limit=await load_rate_limit(running.control),
        profile=await load_profile(running.control),
        targets=targets,
        excluded=_excluded(played, targets),
        executions=await load_executions(client),
        intents=archive.intents(),
        holds=await load_holds(client),
        roster=await asyncio.to_thread(load_roster, running.keyring.roots),
        statements=archive.statements(),
        evidence=archive.evidence(),
    )


def judge(evidence: CheckerInput, *, absent: frozenset[int] = frozenset()) -> list[RuleCheck]:
    """The rules; one without a case is broken, unless ``absent`` has it. In the demo each has cases."""
    return check_rules(evidence, absent=absent)


def search(running: Stack, secrets: dict[str, str], output: list[Path], sighting: str) -> list[Scan]:
    """Search everything that the run left for secrets, but for where they rightly are.

    In each place a text that must be there has to be seen, or the search would be blind: ``sighting`` in what
    was written for people.
    """
    places = running.places
    zone = running.fleet.zones[0].id
    found = scan(places.temporal, secrets, sighting=zone)
    found += scan(places.archive, secrets, sighting=zone)
    found += scan(places.tickets, secrets)
    found += scan(places.logs, secrets)
    for path in output:
        found += scan(path, secrets, sighting=sighting)
    return found


def _facts(spec: CampaignSpec, zones: tuple[str, ...], played: Played) -> CampaignFacts:
    scaled = spec.scaled()
    return CampaignFacts(
        name=spec.name,
        area=spec.area.value,
        service=spec.service.base_url,
        zones=frozenset(zones),
        window=scaled.largest_window,
        failures=scaled.advance.failures,
        required=scaled.sign_off.required,
        valid_for=scaled.sign_off.valid_for,
        sending=scaled.commit.waits_for_turn + scaled.commit.send_window + scaled.service.request_limit,
        resend_unchanged=scaled.commit.resend_unchanged,
        migration_limit=max(scaled.commit.migration_limit, timedelta(0)),
        aborted=any(stop.campaign == spec.name and stop.kind == "abort" for stop in played.stops),
    )


def _excluded(played: Played, targets: dict[str, tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """The zones that a campaign said are another's."""
    return {
        name: frozenset(targets[name][index] for index in summary.excluded)
        for name, summary in played.summaries.items()
    }
