"""The area's part of the shared activities: plans, checks, and the two requests that change a zone."""

from __future__ import annotations

import asyncio
from typing import Any

from activities.change.area_work import AreaWork, FencedStep
from activities.change.not_sent import NotSent
from activities.connections import Connections
from activities.readings import keep_reading
from activities.snapshots import archive_snapshot
from activities.stable_read import twice
from edgeshift.areas.assessment import Verdict
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Change, ChangeResult, ChangeStatus, Prepared, Step, ZoneAssessment
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Area, Target, Zone, ZoneOutcome
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import codes_of
from edgeshift.service_api import ServiceClient
from edgeshift.stores.documents import Proposal, put_proposal
from edgeshift_always_https import rules
from edgeshift_always_https.reasons import OnOff, SetByOthers
from edgeshift_always_https.section import AlwaysHttpsSection


async def read(client: ServiceClient, zone: Zone, *, urgent: bool = False) -> rules.Reading:
    """The zone's setting, alike twice in a row. Raises ServiceError."""

    async def once() -> rules.Reading:
        return rules.Reading(value=await client.setting(zone.id, rules.SETTING, urgent=urgent))

    return await twice("settings.get", once)


async def prepared_from(
    connections: Connections, zone: Zone, area: Area, reading: rules.Reading, wanted: OnOff
) -> Prepared:
    """Archive a reading as the zone's snapshot, and what follows from it as the proposal. ``wanted``: the
    value that the campaign sets.
    """
    verdict, why = rules.assess(reading, wanted)
    prepared = Prepared(
        verdict=verdict,
        why=why,
        reasons=tuple(map(text_of, why)),
        causes=codes_of(why),
        snapshot=await archive_snapshot(connections, zone, area, reading),
    )
    if verdict is not Verdict.READY:
        return prepared
    signed = rules.body(wanted)
    return prepared.model_copy(
        update={
            "digest": digest(signed),
            "fingerprint": fingerprint(signed, zone),
            "proposal": await put_proposal(connections.archive, Proposal(body=signed)),
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
        wanted = spec.section(AlwaysHttpsSection).value
        prepared = await prepared_from(self._connections, zone, spec.area, reading, wanted)
        return line.model_copy(
            update={
                "verdict": prepared.verdict,
                "reasons": list(prepared.reasons),
                "causes": list(prepared.causes),
                "facts": {"always use https": reading.value},
                "fingerprint": prepared.fingerprint,
                "reading": await keep_reading(self._connections, spec, zone, read_at, prepared),
            }
        )

    def check(self, change: Change, body: dict[str, Any]) -> None:
        """The body says what the step does, and nothing else is ever sent."""
        if change.step not in (Step.COMMIT, Step.ROLL_BACK):
            raise NotSent(f"always-https knows no step {change.step.value}")
        if rules.wanted_of(body) is None:
            raise NotSent("the body does not set Always Use HTTPS")

    async def send(self, step: FencedStep) -> ChangeResult:
        """Set it, or set it back."""
        wanted = rules.wanted_of(step.body)
        assert wanted is not None
        if step.change.step is Step.ROLL_BACK:
            return await self._put(step, rules.other(wanted))
        await step.fence.refuse_while_one_may_show()
        await step.fence.refuse_what_was_sent()
        try:
            async with asyncio.timeout(max(0.0, step.fence.time.left().total_seconds())):
                reading = await read(step.client, step.zone, urgent=True)
        except TimeoutError:
            raise NotSent("the fresh reading did not come in time", turn=False) from None
        if reading.value == wanted:
            raise NotSent(SetByOthers(value=wanted).text(), ChangeStatus.DRIFTED)
        return await self._put(step, wanted)

    async def standing(
        self, client: ServiceClient, spec: CampaignSpec, zone: Zone, *, urgent: bool = False
    ) -> tuple[ZoneOutcome | None, str]:
        """By the setting, read twice."""
        wanted = spec.section(AlwaysHttpsSection).value
        found = (await read(client, zone, urgent=urgent)).value
        if found == wanted:
            return ZoneOutcome.UNKNOWN, f"the setting is {found}, but nobody has watched it to the end"
        return None, f"the setting is {found}"

    async def _put(self, step: FencedStep, value: OnOff) -> ChangeResult:
        result = await step.fence.send(
            lambda: step.client.change_setting(
                step.zone.id, rules.SETTING, value, before_send=step.fence.intend
            )
        )
        await step.fence.confirm(result)
        if result.status is ChangeStatus.ANSWERED:
            # The answer is the effect: nothing more comes of it.
            await step.fence.close()
        return result
