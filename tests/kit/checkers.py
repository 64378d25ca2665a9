"""What the service saw of a scene, and what the checkers of the rules make of it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from edgeshift.testbed.invariants import CheckerInput, RuleCheck, check_rules
from edgeshift.testbed.invariants.archived import ArchiveFolder
from edgeshift.testbed.invariants.executions import KINDS, begun, load_holds
from edgeshift.testbed.invariants.kept import load_secrets
from edgeshift.testbed.invariants.leaks import scan
from edgeshift.testbed.invariants.seen import CampaignFacts, Execution
from edgeshift.testbed.invariants.service import load_journal, load_profile, load_rate_limit, load_zones
from edgeshift.testbed.invariants.ticketed import load_tickets
from tests.kit.clock import eventually
from tests.kit.people import PeopleScene


class Scene(PeopleScene):
    """A simulator, workers and a campaign with people, which the checkers judge."""

    # --- the edge, its logs, and strangers

    async def oracle(self, name: str) -> dict[str, Any]:
        """What is planted in a zone, which settings are in force at the edge, and their history."""
        found: dict[str, Any] = await self.control.get(f"edge/zones/{self.zone_id(name)}")
        return found

    async def is_off(self, name: str) -> bool:
        """Whether the edge serves the zone without Edge Side Code."""
        return bool((await self.oracle(name))["off"])

    async def traffic(self, *names: str, count: int = 40, **more: Any) -> None:
        """Let visitors of the zones make requests, and the log jobs push what they have logged of them."""
        zones = list(names) or [zone.name for zone in self.fleet.zones if zone.status == "active"]
        await self.control.send("POST", "edge/requests", {"zones": zones, "count": count, **more})
        await self.control.send("POST", "logs/flush")

    @asynccontextmanager
    async def visited(self, *names: str, count: int = 40, every: float = 0.5) -> AsyncIterator[None]:
        """Visitors come to the zones, or to all, as long as the block lasts."""

        async def come() -> None:
            for turn in itertools.count(1):
                await self.traffic(*names, count=count, seed=turn)
                await asyncio.sleep(every)

        visitors = asyncio.create_task(come())
        try:
            yield
        finally:
            visitors.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await visitors

    async def stranger(self, name: str, rules: list[dict[str, Any]], **when: Any) -> None:
        """Let somebody else write the zone's custom log fields, now or around a call of the campaign's."""
        path = f"zones/{self.zone_id(name)}/rulesets/http_log_custom_fields/write"
        await self.control.send("POST", path, {"rules": rules, **when})

    # --- checkers

    async def journal(self, call: str = "", zone: str = "") -> list[dict[str, Any]]:
        """The simulator's journal: entries of a call and of a zone, where named."""
        identifier = self.zone_id(zone) if zone else ""
        return [
            entry
            for entry in await self.control.journal()
            if (not call or entry["call"] == call) and (not identifier or entry["zone"] == identifier)
        ]

    async def commits(self, zone: str = "") -> list[dict[str, Any]]:
        """The commits that the service saw."""
        entries = await self.journal("entrypoint.put", zone)
        return [entry for entry in entries if re.search(r"waf_migration=(pending|1)\b", entry["query"])]

    async def checkers(self, searched: Sequence[Path] = ()) -> CheckerInput:
        """Everything that the checkers saw of the scene."""
        scaled = self.spec.scaled()
        archive = await asyncio.to_thread(ArchiveFolder, self.folder / "state" / "archive")
        assert self.start is not None
        zones = archive.targets(self.start.targets)
        data = self.folder / "simulator"
        secrets = {credential.label: credential.value for credential in self.fleet.credentials}
        secrets |= await asyncio.to_thread(load_secrets, data)
        scans = scan(self.folder / "state" / "archive", secrets, sighting=zones[0])
        for path in searched:
            scans += scan(path, secrets)
        return CheckerInput(
            journal=await load_journal(self.control, self.strangers),
            campaigns=(
                CampaignFacts(
                    name=self.spec.name,
                    zones=frozenset(zones),
                    window=scaled.largest_window,
                    failures=scaled.advance.failures,
                    accepted=tuple(self.accepted),
                    required=scaled.sign_off.required,
                    valid_for=scaled.sign_off.valid_for,
                    sending=scaled.commit.waits_for_turn
                    + scaled.commit.send_window
                    + scaled.service.request_limit,
                    resend_unchanged=scaled.commit.resend_unchanged,
                    migration_limit=scaled.commit.migration_limit,
                    aborted=any(stop.kind == "abort" for stop in self.stops),
                    area=self.spec.area.value,
                    service=self.spec.service.base_url,
                ),
            ),
            signatures=tuple(self.signatures),
            words=tuple(self.words),
            stops=tuple(self.stops),
            snapshots=archive.snapshots(),
            tickets=load_tickets(self.folder / "state" / "tickets"),
            scans=tuple(scans),
            secrets=len(secrets),
            zones=await load_zones(
                self.control, data, {account.id: account.name for account in self.fleet.accounts}
            ),
            bodies=archive.bodies(),
            intents=archive.intents(),
            holds=await load_holds(self.client, self.since) if self.lists else (),
            rate_limit=await load_rate_limit(self.control),
            profile=await load_profile(self.control),
            roster=self.keys.roster.seen if self.keys else None,
            statements=archive.statements() if self.keys else (),
            evidence=archive.evidence() if self.keys else (),
            targets={self.spec.name: zones},
            excluded={self.spec.name: frozenset(zones[index] for index in await self.excluded())},
            executions=await self._listed() if self.lists else await self._described(),
        )

    async def _listed(self) -> tuple[Execution, ...]:
        """Every execution. The server's list comes after what it lists: of a campaign that is closed, no zone
        is still open for long.
        """
        if await self.is_closed():
            with contextlib.suppress(AssertionError):
                await eventually(self._none_open, 10, "the server lists no zone as open")
        return await self._executions()

    async def _none_open(self) -> bool:
        kinds = ", ".join(f"'{kind}'" for kind in KINDS)
        query = f"WorkflowType IN ({kinds}) AND ExecutionStatus = 'Running'" + begun(self.since)
        return not [found async for found in self.client.list_workflows(query)]

    async def _described(self) -> tuple[Execution, ...]:
        """Each zone's last execution, where the server cannot list them."""
        found = []
        for target in self.targets:
            handle = self.zone(target.zone.name)
            described = await handle.describe()
            closed = described.close_time is not None
            found.append(
                Execution(
                    run=described.run_id or "",
                    campaign=self.spec.name,
                    zone=target.zone.id,
                    started_at=described.start_time,
                    closed_at=described.close_time,
                    outcome=(await handle.result()).outcome.value if closed else None,
                    area=self.spec.area.value,
                )
            )
        return tuple(found)

    async def check_rules(self, absent: Iterable[int] = (), searched: Sequence[Path] = ()) -> list[RuleCheck]:
        """Let the checkers judge every rule; ``absent``: those that the scene has no case of."""
        checks = check_rules(await self.checkers(searched), absent=frozenset(absent))
        broken = [
            f"rule {check.rule} ({check.title}): {text}" for check in checks for text in check.violations
        ]
        assert not broken, "\n".join(broken)
        return checks
