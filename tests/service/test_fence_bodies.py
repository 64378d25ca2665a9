"""The fenced activity, given bodies that nobody signed: whatever it is told, nothing of them is sent."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.testing import ActivityEnvironment

from activities.area_work import AreaWork
from activities.connections import Connections
from activities.intents import came_to_nothing, intent_key
from activities.mutations import MutationActivities
from activities.snapshots import archive_snapshot
from activities.waf import configuration_digest, read_zone
from activities.waf_work import WafWork
from edgeshift.archive import Archive
from edgeshift.areas import waf
from edgeshift.areas.digests import canonical_bytes, digest, fingerprint
from edgeshift.campaign_spec import CampaignSpec, ValidationMode
from edgeshift.campaign_start import zone_policy
from edgeshift.clock import SystemClock
from edgeshift.fleet import Area, Plan, Target, Zone
from edgeshift.messages import Change, ChangeResult, ChangeStatus, Permit, Step, ZoneStart
from edgeshift.service_api import Unpaced
from edgeshift.settings import Settings
from edgeshift.sign_off import Choice, Decision
from edgeshift.witness.control import Control
from tests.kit import fleet_of
from tests.service.simulated import simulated

Body = dict[str, Any]


@dataclass
class Gate:
    """A zone that was read and proposed, and the activity that would change it."""

    connections: Connections
    zone: Zone
    start: ZoneStart
    snapshot: str
    config: str
    body: Body
    control: Control

    async def change(
        self,
        body: Body,
        signed: Body,
        *,
        said: Body | None = None,
        step: Step = Step.COMMIT,
        mode: ValidationMode | None = None,
    ) -> ChangeResult:
        """Let the activity send ``body``, where people signed ``signed`` and the workflow says ``said``."""
        named = said or body
        decision = Decision(choice=Choice.APPROVE, digest=digest(signed), by="ann", at=datetime.now(UTC))
        change = Change(
            start=self.start,
            step=step,
            permit=Permit(
                number=1,
                name=f"p-{digest(body)[:8]}-{step.value}",
                index=0,
                step=step,
                expires_at=datetime.now(UTC) + timedelta(hours=1),
            ),
            snapshot=self.snapshot,
            proposal=await self.connections.archive.put_json({"body": body}),
            digest=digest(named),
            fingerprint=fingerprint(named, self.zone),
            config=self.config,
            mode=mode,
            decisions=(decision,),
            window=timedelta(minutes=30),
        )
        environment = ActivityEnvironment()
        environment.info = dataclasses.replace(environment.info, started_time=datetime.now(UTC))
        work: AreaWork = WafWork(self.connections)
        activities = MutationActivities(self.connections, {Area.WAF: work})
        return await environment.run(activities.change, change)

    async def sent(self) -> list[tuple[str, bool]]:
        """What the service was sent: the query of each change, and whether its body only logs."""
        journal = await self.control.journal()
        return [(entry["query"], entry["log_only"]) for entry in journal if entry["method"] == "PUT"]


@asynccontextmanager
async def gate(folder: Path, **consents: bool) -> AsyncIterator[Gate]:
    """A gate before an Enterprise zone of the simulator."""
    fleet = fleet_of({"name": "bank.example", "plan": "enterprise"})
    async with simulated(folder / "simulator", fleet=fleet) as call:
        token = folder / "token"
        token.write_text(fleet.credentials[0].value)
        token.chmod(0o600)
        service = {"base_url": call.server.base_url, "credentials": [{"token": f"file:{token}"}]}
        spec = CampaignSpec.model_validate(
            {"name": "gate", "targets": {"all": True}, "service": service, "consents": consents}
        )
        connections = Connections(
            None,  # type: ignore[arg-type] # nothing is told to a campaign
            Archive(Settings(state_dir=folder / "state").archive),
            SystemClock(),
            lambda credential, campaign: Unpaced(),
            str(folder / "tickets"),
        )
        found = fleet.zones[0]
        zone = Zone(id=found.id, name=found.name, account=found.account, plan=Plan.ENTERPRISE)
        start = ZoneStart(
            campaign="gate",
            campaign_run="r",
            index=0,
            attempt=1,
            target=Target(zone=zone, wave=0),
            area=Area.WAF,
            spec=await connections.archive.put_json(spec.model_dump(mode="json")),
            policy=zone_policy(spec),
            started_by="olga",
        )
        try:
            reading = await read_zone(await connections.service(start.spec, zone), zone)
            yield Gate(
                connections,
                zone,
                start,
                await archive_snapshot(connections, zone, Area.WAF, reading),
                configuration_digest(reading.config),
                waf.propose(reading).body,
                Control(call.server.control_url),
            )
        finally:
            await connections.close()


async def test_a_body_that_only_logs_is_never_committed_even_if_it_was_signed(tmp_path: Path) -> None:
    """The shadow of the proposal, with a sign-off of exactly its digest."""
    async with gate(tmp_path) as play:
        shadowed = waf.shadow(play.body)
        result = await play.change(shadowed, shadowed)
        assert result.status is ChangeStatus.NOTHING_HAPPENED and "only logs" in result.reason
        assert await play.sent() == []


async def test_a_body_of_which_a_part_was_shadowed_is_not_committed(tmp_path: Path) -> None:
    """Each ruleset alone, and each override alone: with the sign-off of the proposal it is refused, whether
    the message names the body's own digest or the one that was signed.
    """
    async with gate(tmp_path) as play:
        shadowed = waf.shadow(play.body)
        parts = []
        for place, rule in enumerate(play.body["rules"]):
            if rule["action"] != "execute":
                continue
            whole = copy.deepcopy(play.body)
            whole["rules"][place] = shadowed["rules"][place]
            parts.append(whole)
            single = copy.deepcopy(play.body)
            parameters = single["rules"][place]["action_parameters"]
            overrides = parameters.setdefault("overrides", {})
            overrides["rules"] = [*overrides.get("rules", []), {"id": "f" * 32, "action": "log"}]
            parts.append(single)
        assert len(parts) == 4
        for part in parts:
            assert waf.weakened(part, play.body) and not waf.is_log_only(part)
            own = await play.change(part, play.body)
            named = await play.change(part, play.body, said=play.body)
            assert (own.status, named.status) == (ChangeStatus.NOTHING_HAPPENED,) * 2
            assert "no valid sign-off" in own.reason
            assert "not the one that the digest names" in named.reason
        assert await play.sent() == []


async def test_the_rules_themselves_are_validated_with_consent_alone(tmp_path: Path) -> None:
    """Whatever mode a message names: without the consent nothing but the form that logs is sent."""
    async with gate(tmp_path) as play:
        for mode in (ValidationMode.ENFORCE, None):
            refused = await play.change(play.body, play.body, step=Step.VALIDATE, mode=mode)
            assert refused.status is ChangeStatus.NOTHING_HAPPENED and "consented" in refused.reason
        assert await play.sent() == []
        shadowed = await play.change(play.body, play.body, step=Step.VALIDATE, mode=ValidationMode.SHADOW)
        assert shadowed.status is ChangeStatus.ANSWERED
        assert [log_only for _, log_only in await play.sent()] == [True]


async def test_with_consent_the_rules_themselves_are_validated(tmp_path: Path) -> None:
    """The body that is sent then is the one that is committed."""
    async with gate(tmp_path, enforce_validation=True) as play:
        result = await play.change(play.body, play.body, step=Step.VALIDATE, mode=ValidationMode.ENFORCE)
        assert result.status is ChangeStatus.ANSWERED
        committed = await play.change(play.body, play.body)
        assert committed.status is ChangeStatus.ANSWERED
        assert [log_only for _, log_only in await play.sent()] == [False, False]


async def test_no_validation_is_sent_while_a_commit_may_show(tmp_path: Path) -> None:
    """Landing after it, a validation would leave the zone with rules that only log."""
    async with gate(tmp_path) as play:
        sent = {"step": "commit", "at": datetime.now(UTC).isoformat(), "campaign": "another"}
        key = intent_key(play.zone, Area.WAF, "permit-of-another")
        await play.connections.archive.create_once(key, canonical_bytes(sent))
        shadow: Body = {"step": Step.VALIDATE, "mode": ValidationMode.SHADOW}
        refused = await play.change(play.body, play.body, **shadow)
        assert refused.status is ChangeStatus.UNKNOWN and "may still come to show" in refused.reason
        assert await play.sent() == []
        await came_to_nothing(play.connections, key, "refused")
        allowed = await play.change(play.body, play.body, **shadow)
        assert allowed.status is ChangeStatus.ANSWERED
