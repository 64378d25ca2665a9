"""Reading a zone for its WAF migration, and verifying what became of it (docs/service.md §3.2, §4.3)."""

from __future__ import annotations

from typing import Any

from temporalio import activity

from activities.boundary import heartbeating, named_failures, refuse_held
from activities.change.found import sign_found
from activities.change.intent_records import now_of, surely_now
from activities.change.intents import seen_through, taken_up
from activities.change.judging import support_cause
from activities.change.own_changes import NOT_OURS, OwnChange, last_change
from activities.connections import Connections
from activities.polling import Lookout
from activities.proof.evidence_at_the_door import validations
from activities.stable_read import twice
from activities.together import together
from activities.waf.proposing import in_the_way, prepared_from
from activities.waf.stopped import has_stopped
from activities.zone_plans import plan_now
from edgeshift.areas import waf
from edgeshift.areas.waf.aftercare import aftercare
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.areas.waf.terraform import EntryPoint
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import (
    Prepare,
    Prepared,
    ZoneStart,
)
from edgeshift.messages.areas.waf import Verification, Verify
from edgeshift.model.fleet import Area, Plan, Zone, ZoneOutcome
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.profiles import ServiceProfile
from edgeshift.service_api import (
    NotUnderstood,
    Outcome,
    RateLimited,
    Refused,
    ServiceClient,
    ServiceError,
    Unsuccessful,
)
from edgeshift.stores.documents import Snapshot, get_document, put_document
from edgeshift.stores.documents.areas.waf import WafProposal, WafRecord
from edgeshift.stores.documents.proposals import none_of_its_area


class WafActivities:
    """Readings of one zone."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @activity.defn(name="prepare_waf_zone")
    @named_failures
    @heartbeating
    async def prepare(self, message: Prepare) -> Prepared:
        """Read every setting, archive it and read it back, and make the proposal."""
        start = message.start
        zone = start.target.zone
        spec = await self._connections.spec(start.spec)
        client = await self._connections.service(start.spec, zone)
        read_at, begun_at = surely_now(self._connections), now_of(self._connections)
        profile = client.profile
        reading = await read_zone(client, zone)

        def decides(found: waf.Reading) -> object:
            return decisive_facts(found, profile), in_the_way(spec, zone, found)

        expected = await self._is_expected(start, waf.assess(reading, profile).verdict)
        if not expected or any(in_the_way(spec, zone, reading)):
            # What would end or hold up a zone does not rest on one answer.
            reading = await twice("waf.check", lambda: read_zone(client, zone), decides, first=reading)
        prepared = await prepared_from(self._connections, spec, zone, reading)
        prepared = prepared.model_copy(update={"read_at": begun_at})
        if prepared.verdict is waf.Verdict.ALREADY_MIGRATED:
            found = await taken_up(self._connections, start, prepared, read_at)
            if not found.begun:
                await sign_found(self._connections, start, ZoneOutcome.ALREADY_MIGRATED, seen=found.snapshot)
            return found
        return prepared

    async def _is_expected(self, start: ZoneStart, verdict: waf.Verdict) -> bool:
        """Whether a verdict is one that a zone has anyway, so that nothing rests on it alone: it is ready, or
        in the validation that a worker has begun.
        """
        if verdict is waf.Verdict.IN_VALIDATION:
            there = self._connections
            return bool(await validations(there.archive, there.records, start))
        return verdict is waf.Verdict.READY

    @activity.defn(name="verify_waf_zone")
    @named_failures
    @heartbeating
    async def verify(self, message: Verify) -> Verification:
        """Read the status, when it is due, until the change shows or can no longer be expected to."""
        start = message.start
        client = await self._connections.service(start.spec, start.target.zone)
        archive = self._connections.archive
        own = await last_change(self._connections, start) if message.mode is waf.Mode.PENDING else None
        if own is not None:
            # What was sent, whatever a message tells of it.
            sent = own.record.model_dump(include={"digest", "proposal", "snapshot"})
            message = message.model_copy(update=sent)
        proposal = await get_document(archive, WafProposal, message.proposal)
        body = proposal.body
        if odd := waf.unsound(body):
            # Only a forgery is so, and nothing can be compared with it.
            raise none_of_its_area(message.proposal, odd)
        before = (await get_document(archive, Snapshot[waf.Reading], message.snapshot)).reading
        state, trouble = "", ""
        status: dict[str, Any] = {}
        lookout = Lookout(
            self._connections,
            start,
            message.mode.value,
            limit=message.limit,
            since=message.since,
            soon=not message.answered,
        )
        with lookout:
            while True:
                await lookout.turn()
                try:
                    status = (await client.waf_status(start.target.zone.id, urgent=True)).raw
                    state, trouble, age = str(status.get("migration_state", "")), "", lookout.age
                    if message.mode is waf.Mode.VALIDATION and waf.is_migrated(status):
                        if await shows_migrated(client, start.target.zone):
                            return Verification(reached=False, why=(_seen(ReasonCode.STATUS_SHOWS, state),))
                        trouble = "the status reads otherwise each time"
                    if message.mode is waf.Mode.VALIDATION and waf.in_validation(status):
                        sent = waf.shadow(body) if message.shadow else body
                        if await runs(client, start.target.zone, sent):
                            await lookout.showed()
                            return Verification(reached=True, why=(_seen(ReasonCode.STATUS_SHOWS, state),))
                        trouble = "the zone is in validation with other rules than those that were sent"
                    if message.mode is waf.Mode.PENDING and waf.is_migrated_to(status, body):
                        if found := await self._read_back(client, message, before, proposal, own):
                            # What was read after it may have waited for its turn.
                            return found.model_copy(update={"took": await lookout.showed(age)})
                        trouble = "the stored rules do not show yet"
                    elif message.mode is waf.Mode.PENDING and waf.is_migrated(status):
                        state = f"{state}, with the new WAF disabled"
                except ServiceError as failure:
                    refuse_held(failure)
                    trouble = str(failure)[:150]
                if lookout.is_over(trouble):
                    break
        if trouble:
            unread = Reason(code=ReasonCode.STATUS_UNREADABLE, said=trouble)
            return Verification(reached=False, read=False, why=(unread,))
        in_window = message.mode is waf.Mode.PENDING and waf.in_validation(status)
        if not in_window and state != str((before.status or {}).get("migration_state", "")):
            return Verification(reached=False, why=(_seen(ReasonCode.STATUS_CHANGED, state),))
        return Verification(reached=False, unchanged=True, why=(_seen(ReasonCode.STATUS_STAYED, state),))

    async def _read_back(
        self,
        client: ServiceClient,
        message: Verify,
        before: waf.Reading,
        proposal: WafProposal,
        own: OwnChange | None,
    ) -> Verification | None:
        """The stored rules against the signed body. Only of a commit that is on record as sent, ``own``, it
        is signed that the zone was migrated. A difference is believed when it stays over a second
        reading; and that the zone is migrated, where the rules do not prove it, when its status says so
        again.
        """
        zone, body = message.start.target.zone, proposal.body
        # Then they prove nothing: in a validation window in which they act, the zone had these very rules.
        modes = (await self._connections.spec(message.start.spec)).validation.modes
        enforced = zone.plan is Plan.ENTERPRISE and ValidationMode.ENFORCE in modes
        had_rules = enforced or waf.same_rules(before.entry_point, body)
        seen: list[dict[str, Any]] = []
        for _ in range(3):
            stored = await client.entry_point(zone.id, urgent=True)
            if stored is not None and waf.same_rules(stored.raw, body):
                if had_rules and not await shows_migrated(client, zone, body):
                    return None
                entry = stored_as(stored.raw)
                record = await self._record(message, before, proposal, entry, client.profile)
                if own is None:
                    why = text_of(NOT_OURS)
                    activity.logger.warning("not signed that %s was migrated: %s", zone.name, why)
                else:
                    await seen_through(self._connections, zone, message.start.area, own.mine)
                    await self._connections.results.record(
                        message.start,
                        ZoneOutcome.MIGRATED,
                        proposal=message.digest,
                        seen=record,
                        sent=own.record,
                    )
                shown = Reason(code=ReasonCode.MIGRATED_AS_SIGNED)
                return Verification(reached=True, reason="migrated", why=(shown,), record=record)
            seen.append(stored.raw if stored is not None else {})
            await self._connections.clock.sleep(max(0.5, message.start.policy.poll.total_seconds()))
        if waf.unsound(seen[-2]) or not waf.same_rules(seen[-1], seen[-2]):
            return None
        if not await shows_migrated(client, zone, body):
            return None
        weaker = tuple(waf.weakened(seen[-1], body))
        return Verification(reached=True, why=(Reason(code=ReasonCode.STORED_RULES_DIFFER, names=weaker),))

    async def _record(
        self,
        message: Verify,
        before: waf.Reading,
        proposal: WafProposal,
        entry: EntryPoint,
        profile: ServiceProfile,
    ) -> str:
        archive, zone = self._connections.archive, message.start.target.zone
        evidence = await get_document(archive, Evidence, message.evidence) if message.evidence else None
        lost = proposal.lost
        if lost is None:
            # Proposed before proposals had their losses as facts, and archived with sentences alone.
            lost = waf.losses(before)
        record = WafRecord(
            zone=zone,
            campaign=message.start.campaign,
            digest=message.digest,
            snapshot=message.snapshot,
            proposal=message.proposal,
            evidence=message.evidence,
            aftercare=aftercare(
                zone,
                proposal.body,
                lost,
                evidence,
                entry=entry,
                campaign=message.start.campaign,
                profile=profile,
            ),
            entry_point=entry,
        )
        return await put_document(archive, record, verify=True)


def stored_as(entry_point: dict[str, Any]) -> EntryPoint:
    """An entry point as it was read back: what its configuration in Terraform needs beside the rules."""
    told = {key: str(entry_point.get(key) or "") for key in ("id", "name", "description")}
    return EntryPoint(**told)


async def read_zone(client: ServiceClient, zone: Zone, *, listed: bool = False) -> waf.Reading:
    """Everything readable of a zone that matters to the migration. A migrated zone has no legacy settings any
    more; one that is over a limit of the profile, or not ready otherwise, is not asked for its configuration.
    ``listed``: its plan is that of the list which this reading follows, and is asked for only where that does
    not tell it.
    """
    (check, refused, no_check), asked = await together(_checked(client, zone), client.waf_status(zone.id))
    status = asked.raw
    stopped = False
    try:
        if not (over := waf.is_migrated(status)):
            if no_check is not None and not waf.in_validation(status):
                raise no_check
            plan, rules, overrides, pages, setting, entry, (packages, groups, own_modes) = await together(
                _as_listed() if listed and zone.plan is not Plan.OTHER else present_plan(client, zone),
                client.firewall_rules(zone.id),
                client.waf_overrides(zone.id),
                client.page_rules(zone.id),
                client.waf_setting(zone.id),
                client.entry_point(zone.id),
                _packages(client, zone),
            )
    except RateLimited:
        raise
    except (Refused, Unsuccessful):
        if not (stopped := await has_stopped(client, zone, status)):
            raise
    if over or stopped:
        stored = await client.entry_point(zone.id)
        entry_point = stored.raw if stored else None
        return waf.Reading(check=check, status=status, entry_point=entry_point, stopped=stopped)
    reading = waf.Reading(
        check=check,
        status=status,
        plan=plan,
        listed=zone.plan.value if zone.plan is Plan.OTHER else "",
        firewall_rules=[rule.raw for rule in rules],
        overrides=[override.raw for override in overrides],
        page_rules=[rule.raw for rule in pages],
        packages=packages,
        groups=groups,
        rules=own_modes,
        waf_setting=setting.raw,
        entry_point=entry.raw if entry else None,
        refused=refused,
    )
    if waf.assess(reading, client.profile).verdict in (waf.Verdict.READY, waf.Verdict.IN_VALIDATION):
        try:
            config = await read_configuration(client, zone, empty=True)
            reading = reading.model_copy(update={"config": config})
        except ServiceError as failure:
            reading = reading.model_copy(update={"refused": support_case(failure)})
    return reading


async def present_plan(client: ServiceClient, zone: Zone, *, urgent: bool = False) -> str:
    """The plan that a zone has by now, where the campaign takes it for an Enterprise zone, or its list does
    not tell: the list may have been frozen weeks before its wave. Empty where it is not asked for, or not
    told.
    """
    if zone.plan not in (Plan.ENTERPRISE, Plan.OTHER):
        return ""
    return await plan_now(client, zone, urgent=urgent)


async def _as_listed() -> str:
    return ""


async def _checked(
    client: ServiceClient, zone: Zone
) -> tuple[dict[str, Any], tuple[ReasonCode, str] | None, Refused | Unsuccessful | None]:
    """The compatibility check, or the support case that the service made of it, or any other refusal: the
    check of a zone that is migrated or in validation may be refused, and that it is so its status says.
    Raises ServiceError where the service is not to be called for now, or did not refuse it.
    """
    try:
        return (await client.waf_check(zone.id)).raw, None, None
    except RateLimited:
        raise
    except ServiceError as failure:
        refuse_held(failure)
        if isinstance(failure, Refused | Unsuccessful) and support_cause(failure, Area.WAF) is None:
            return {}, None, failure
        return {}, support_case(failure), None


def decisive_facts(reading: waf.Reading, profile: ServiceProfile) -> object:
    """What of a reading decides whether its zone goes on."""
    found = waf.assess(reading, profile)
    return found.verdict, found.causes, found.overrides, found.rules, found.migration_state, reading.plan


def support_case(failure: ServiceError) -> tuple[ReasonCode, str]:
    """The support case that a failed reading is, with its words. Raises any other failure again."""
    cause = support_cause(failure, Area.WAF)
    if cause is None:
        raise failure
    return cause, "; ".join(failure.messages)[:200]


async def read_configuration(
    client: ServiceClient, zone: Zone, *, urgent: bool = False, empty: bool = False
) -> dict[str, Any]:
    """The new WAF configuration of a zone. Raises NotUnderstood where it could not be sent back as it is, but
    with ``empty`` not for one without rules, be they left out or null, which says something of the zone.
    """
    config = (await client.waf_config(zone.id, urgent=urgent)).raw
    if empty and config.get("rules") in (None, []):
        return {**config, "rules": []}
    if reason := waf.unsound(config):
        raise NotUnderstood(reason, call="waf.config", method="GET", path=zone.name, outcome=Outcome.READ)
    return config


async def shows_migrated(client: ServiceClient, zone: Zone, body: dict[str, Any] | None = None) -> bool:
    """Whether the zone's status shows it as migrated now, to ``body`` where that is named."""
    status = (await client.waf_status(zone.id, urgent=True)).raw
    return waf.is_migrated(status) if body is None else waf.is_migrated_to(status, body)


async def runs(client: ServiceClient, zone: Zone, body: dict[str, Any]) -> bool:
    """Whether the zone's entry point has the rules of ``body``, but for what the service assigns."""
    stored = await client.entry_point(zone.id, urgent=True)
    return stored is not None and waf.same_rules(stored.raw, body)


def _seen(code: ReasonCode, state: str) -> Reason:
    return Reason(code=code, state=state)


async def _packages(
    client: ServiceClient, zone: Zone
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """The packages of the previous managed rules, all their groups, and the rules that somebody has given a
    mode. Rules are asked for only where a group says that it has such, or does not say how many: they are
    many, mostly as delivered.
    """
    packages = await client.waf_packages(zone.id)
    groups: list[dict[str, Any]] = []
    rules: list[dict[str, Any]] = []
    for package in packages:
        found = await client.waf_groups(zone.id, package.id)
        groups += [{**group.raw, "package_id": package.id} for group in found]
        if any(group.modified_rules_count != 0 for group in found):
            listed = await client.waf_rules(zone.id, package.id)
            own = (rule.raw for rule in listed if rule.mode and rule.mode not in waf.AS_DELIVERED)
            rules += [{**rule, "package_id": package.id} for rule in own]
    return [package.raw for package in packages], groups, rules
