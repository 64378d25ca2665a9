"""The part of esc in the shared activities (docs/service.md §2.1, §3.1, §4.1)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import SecretStr

from activities.change.area_work import AreaWork, FencedStep, in_time
from activities.change.intents import own_commit
from activities.change.not_sent import NotSent
from activities.change.rollbacks import IS_OVER, is_over
from activities.connections import Connections
from activities.esc.evidence import refuse_unprobed
from activities.esc.proposing import prepared_from
from activities.esc.reading import read_scope, shows, zones_of
from activities.esc.targets import as_accounts, refuse_foreign_urls
from activities.readings import keep_reading
from activities.stable_read import twice
from edgeshift.areas import esc
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.campaign.start import zone_policy
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import LOOK, Change, ChangeResult, ChangeStatus, Step, ZoneAssessment
from edgeshift.model.digests import digest, sha256
from edgeshift.model.fleet import Area, ScopeKind, Target, Zone, ZoneOutcome, campaign_id
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, codes_of
from edgeshift.service_api import Refused, ServiceClient, ServiceError, of_the_target
from edgeshift.stores.documents import CoveredZones, Snapshot, encoded, get_document

SECRET_BYTES = 32
"""Random bytes of a test secret; with its mark it stays well below what a secret may have (§8)."""


class EscWork(AreaWork):
    """Assessing, sending and reading scopes of the area esc."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def targets(
        self, spec: CampaignSpec, chosen: Sequence[Zone], zones: Sequence[Zone], names: Mapping[str, str]
    ) -> list[Zone]:
        """The zones, or their accounts; each URL to be probed is in one of them."""
        refuse_foreign_urls(spec, chosen)
        if spec.section(EscSpec).scope == "account":
            return as_accounts(spec, chosen, zones, names)
        return list(chosen)

    async def assess(
        self, spec_digest: str, spec: CampaignSpec, target: Target, line: ZoneAssessment
    ) -> ZoneAssessment:
        """A plan's line for one scope, by reading alone. What would change is only known after a probe."""
        client = await self._connections.service(spec_digest, target.zone)
        read_at = self._connections.clock.now()
        reading, gone = await read_scope(self._connections, client, target.zone, "")
        now = self._connections.time_at(client)
        found, kept = esc.assess(reading, now, client.profile), ""
        if target.zone.kind is ScopeKind.ZONE and reading.told:
            # An account is read with the zones that it has by then; so is what the setting leaves open.
            prepared = await prepared_from(self._connections, spec, target.zone, reading, gone, now)
            kept = await keep_reading(self._connections, spec, target.zone, read_at, prepared)
        why = (gone,) if gone else found.why
        verdict = Verdict.BLOCKED if gone else found.verdict
        return line.model_copy(
            update={
                "verdict": verdict,
                "causes": list(codes_of(why)) if verdict is Verdict.BLOCKED else [],
                "reasons": [text_of(one) for one in why],
                "warnings": list(found.warnings),
                "reading": kept,
                "facts": {
                    "esc": "?" if reading.refused else "off" if reading.always else "on",
                    "secret": reading.secret.value,
                },
            }
        )

    async def refuse_unfounded(self, change: Change) -> None:
        """Esc is turned off by a worker's own probe alone; nothing holds up the rollback."""
        if change.step is Step.COMMIT:
            await refuse_unprobed(self._connections, change)

    def check(self, change: Change, body: dict[str, Any]) -> None:
        """The body says what the step does, and nothing else is ever sent."""
        wanted = {"always": True}
        if change.step in (Step.COMMIT, Step.ROLL_BACK) and body.get("change") != wanted:
            raise NotSent("the body does not turn esc off")
        if change.step is Step.SET_SECRET and not esc.sets_secret(body):
            # Nobody signs this step, so that it is for nothing else than what comes before a probe.
            raise NotSent("the body does not set a test secret")
        if change.step not in (Step.SET_SECRET, Step.COMMIT, Step.ROLL_BACK):
            raise NotSent(f"esc knows no step {change.step.value}")

    async def send(self, step: FencedStep) -> ChangeResult:
        """Set a test secret, turn Edge Side Code off, or on again."""
        match step.change.step:
            case Step.SET_SECRET:
                return await self._set_secret(step)
            case Step.COMMIT:
                return await self._turn_off(step)
        return await self._turn_on_again(step)

    async def _turn_on_again(self, step: FencedStep) -> ChangeResult:
        """The rollback. Once the campaign's own change is over, whoever has turned it off since did so on
        purpose: it stays off. Where it is on, nothing is left to send, and a refusal says no more than that.
        """
        nothing_left = ChangeResult(status=ChangeStatus.ANSWERED, reason="nothing was left to undo")
        if await self._is_over(step):
            if (await in_time(step, self._shown(step)))[0]:
                raise NotSent(IS_OVER, final=True)
            return nothing_left
        result = await step.fence.send(
            lambda: step.client.enable_esc(step.zone.scope, before_send=step.fence.intend)
        )
        gone = esc.too_late(self._connections.time_at(step.client), step.client.profile)
        if result.status is ChangeStatus.REFUSED and gone:
            result = result.model_copy(update={"reason": text_of(gone), "final": True})
        elif result.status is ChangeStatus.REFUSED and await self._is_on(step):
            # Answered, and not void: it counts as a rollback that was made.
            result = nothing_left
        return await self._closed(step, result)

    async def standing(
        self, client: ServiceClient, spec: CampaignSpec, zone: Zone, *, urgent: bool = False
    ) -> tuple[ZoneOutcome | None, str]:
        """By the scope's setting, read twice. One that shows a secret alone says nothing of it."""
        off, alone = shows(await twice("esc.get", lambda: client.esc(zone.scope, urgent=urgent), shows))
        if off:
            return ZoneOutcome.UNKNOWN, "the service shows esc off, but nobody has watched it to the end"
        if alone:
            limit, campaign = spec.section(EscSpec).effect_limit, campaign_id(spec.name)
            if await own_commit(self._connections, zone, Area.ESC, campaign, limit) is not None:
                return ZoneOutcome.UNKNOWN, "the service shows the secret alone, and nobody has watched it"
        return None, "the service shows esc on"

    async def _is_over(self, step: FencedStep) -> bool:
        start = step.change.start
        # Without roots, in a rehearsal, it rests on what messages say.
        asked = self._connections.results.needs_results(await self._connections.spec(start.spec))
        return asked and await is_over(self._connections, start)

    async def _shown(self, step: FencedStep) -> tuple[bool, bool]:
        scope = step.zone.scope
        return shows(await twice("esc.get", lambda: step.client.esc(scope, urgent=True), shows))

    async def _is_on(self, step: FencedStep) -> bool:
        """Whether the scope shows it on for certain. One that cannot be read now does not."""
        try:
            return await in_time(step, self._shown(step)) == (False, False)
        except (ServiceError, NotSent):
            return False

    async def _set_secret(self, step: FencedStep) -> ChangeResult:
        """A secret that nobody has set, made here: it is in no history, archive or log. Whoever asks for it:
        one that a scope has, or may have, is its customer's, or set already, and nothing overwrites it. It
        waits for its turn for no longer than the campaign's file says, since nothing is read after that.
        """
        archive, change = self._connections.archive, step.change
        before = (await get_document(archive, Snapshot[esc.Reading], change.snapshot)).reading
        # One that is off shows no secret, whether it has one or not.
        if before.always or before.secret is not esc.Secret.NONE:
            raise NotSent("the scope has a secret, or may have one")
        spec = await self._connections.spec(change.start.spec)
        if change.waits + change.window > zone_policy(spec).send_window:
            raise NotSent("it asks for a longer wait than the campaign's file lets it have")
        await self._refuse_other_state(step)
        secret = SecretStr(f"{esc.TEST_SECRET}{secrets.token_urlsafe(SECRET_BYTES)}")
        of_the_scope = False

        async def sent() -> None:
            nonlocal of_the_scope
            try:
                await step.client.set_esc_secret(step.zone.scope, secret, before_send=step.fence.intend)
            except Refused as refusal:
                of_the_scope = of_the_target(refusal)
                raise

        result = await step.fence.send(sent)
        if result.status is ChangeStatus.REFUSED and of_the_scope:
            result = result.model_copy(update={"cause": ReasonCode.NOT_ENTITLED})
        if result.status is not ChangeStatus.ANSWERED:
            return await self._closed(step, result)
        clock, poll = self._connections.clock, step.change.start.policy.poll.total_seconds()
        until = clock.monotonic() + min(LOOK.total_seconds() - 5, 3 * poll + 5)
        while clock.monotonic() + poll < until:
            if await self._has_secret(step):
                return await self._closed(step, result)
            await clock.sleep(poll)
        return ChangeResult(status=ChangeStatus.UNKNOWN, reason="the secret was answered but does not show")

    async def _has_secret(self, step: FencedStep) -> bool:
        try:
            return (await step.client.esc(step.zone.scope, urgent=True)).with_secret is not None
        except ServiceError:
            return False

    async def _turn_off(self, step: FencedStep) -> ChangeResult:
        await step.fence.refuse_while_one_may_show()
        await step.fence.refuse_what_was_sent()
        await self._refuse_other_state(step)
        result = await step.fence.send(
            lambda: step.client.disable_esc(step.zone.scope, before_send=step.fence.intend)
        )
        gone = esc.too_late(self._connections.time_at(step.client), step.client.profile)
        if result.status is ChangeStatus.REFUSED and gone:
            await step.fence.confirm(result)
            return ChangeResult(status=ChangeStatus.DRIFTED, reason=text_of(gone))
        return await self._closed(step, result)

    async def _closed(self, step: FencedStep, result: ChangeResult) -> ChangeResult:
        await step.fence.confirm(result)
        if result.status is ChangeStatus.ANSWERED:
            await step.fence.close()
        return result

    async def _refuse_other_state(self, step: FencedStep) -> None:
        """Raises NotSent with a drift where the scope is not as it was when it was proposed, or where Edge
        Side Code is removed by now.
        """
        archive, snapshot = self._connections.archive, step.change.snapshot
        before = digest(esc.state((await get_document(archive, Snapshot[esc.Reading], snapshot)).reading))

        async def look() -> tuple[esc.Reading, Reason | None]:
            covered = await self._covered(step)

            async def read() -> tuple[esc.Reading, Reason | None]:
                return await read_scope(self._connections, step.client, step.zone, covered, urgent=True)

            reading, gone = found = await read()
            if gone or digest(esc.state(reading)) != before or step.change.step is Step.SET_SECRET:
                # A difference is believed when it stays; so is that there is no secret, since one that did
                # not show would be lost for good.
                return await twice("esc.get", read, first=found)
            return found

        reading, gone = await in_time(step, look())
        if gone or (gone := esc.too_late(self._connections.time_at(step.client), step.client.profile)):
            raise NotSent(text_of(gone), ChangeStatus.DRIFTED)
        if digest(esc.state(reading)) != before:
            raise NotSent("the scope has changed since it was read", ChangeStatus.DRIFTED)

    async def _covered(self, step: FencedStep) -> str:
        """The digest of the zones that an account stands for now, as it was archived when it was read."""
        if step.zone.kind is ScopeKind.ZONE:
            return ""
        return sha256(encoded(CoveredZones(tuple(await zones_of(step.client, step.zone)))))
