"""The area's part of the shared activities: plans, checks, and the two requests that change a zone."""

from __future__ import annotations

import asyncio
from typing import Any

from activities.change.area_work import AreaWork, Step
from activities.change.fence import NotSent
from activities.connections import Connections
from activities.readings import keep_reading
from activities.snapshots import archive_snapshot
from activities.stable_read import twice
from edgeshift.areas.assessment import Verdict
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Change, ChangeResult, ChangeStatus, Prepared, ZoneAssessment
from edgeshift.messages import Step as Kind
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Area, Target, Zone, ZoneOutcome
from edgeshift.service_api import ServiceClient
from edgeshift.stores.documents import Proposal, put_document
from edgeshift_always_https import rules


async def read(client: ServiceClient, zone: Zone, *, urgent: bool = False) -> rules.Reading:
    """The zone's setting, alike twice in a row. Raises ServiceError."""

    async def once() -> rules.Reading:
        return rules.Reading(value=await client.setting(zone.id, rules.SETTING, urgent=urgent))

    return await twice("settings.get", once)


async def prepared_from(connections: Connections, zone: Zone, area: Area, reading: rules.Reading) -> Prepared:
    """Archive a reading as the zone's snapshot, and what follows from it as the proposal."""
    verdict, reasons = rules.assess(reading)
    snapshot = await archive_snapshot(connections, zone, area, reading)
    prepared = Prepared(verdict=verdict, reasons=reasons, snapshot=snapshot)
    if verdict is not Verdict.READY:
        return prepared
    signed = rules.body()
    return prepared.model_copy(
        update={
            "digest": digest(signed),
            "fingerprint": fingerprint(signed, zone),
            "proposal": await put_document(connections.archive, Proposal(body=signed), verify=True),
        }
    )


class AlwaysHttpsWork(AreaWork):
    """Assessing, sending and reading zones."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def assess(
        self, spec_digest: str, spec: CampaignSpec, target: Target, line: ZoneAssessment
    ) -> ZoneAssessment:
        """A plan's line for one zone, by reading alone."""
        zone, read_at = target.zone, self._connections.clock.now()
        reading = await read(await self._connections.service(spec_digest, zone), zone)
        prepared = await prepared_from(self._connections, zone, spec.area, reading)
        return line.model_copy(
            update={
                "verdict": prepared.verdict,
                "reasons": list(prepared.reasons),
                "facts": {"always use https": reading.value},
                "fingerprint": prepared.fingerprint,
                "reading": await keep_reading(self._connections, spec, zone, read_at, prepared),
            }
        )

    def check(self, change: Change, body: dict[str, Any]) -> None:
        """The body says what the step does, and nothing else is ever sent."""
        if change.step not in (Kind.COMMIT, Kind.ROLL_BACK):
            raise NotSent(f"always-https knows no step {change.step.value}")
        if body != rules.body():
            raise NotSent("the body does not turn Always Use HTTPS on")

    async def send(self, step: Step) -> ChangeResult:
        """Turn the setting on, or off again."""
        if step.change.step is Kind.ROLL_BACK:
            return await self._put(step, "off")
        await step.fence.refuse_while_one_may_show()
        await step.fence.refuse_what_was_sent()
        try:
            async with asyncio.timeout(max(0.0, step.fence.time_left().total_seconds())):
                reading = await read(step.client, step.zone, urgent=True)
        except TimeoutError:
            raise NotSent("the fresh reading did not come in time") from None
        if reading.value == "on":
            raise NotSent("somebody has turned Always Use HTTPS on meanwhile", ChangeStatus.DRIFTED)
        return await self._put(step, "on")

    async def standing(
        self, client: ServiceClient, spec: CampaignSpec, zone: Zone
    ) -> tuple[ZoneOutcome | None, str]:
        """By the setting, read twice."""
        if (await read(client, zone)).value == "on":
            return ZoneOutcome.UNKNOWN, "the setting is on, but nobody has watched it to the end"
        return None, "the setting is off"

    async def _put(self, step: Step, value: str) -> ChangeResult:
        result = await step.fence.send(
            lambda: step.client.change_setting(
                step.zone.id, rules.SETTING, "on" if value == "on" else "off", before_send=step.fence.intend
            )
        )
        await step.fence.settle(result)
        if result.status is ChangeStatus.ANSWERED:
            # The answer is the effect: nothing more comes of it.
            await step.fence.close()
        return result
