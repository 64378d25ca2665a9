"""The WAF migration's part of the shared activities (docs/service.md §3.2, §4.3)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import activity

from activities.change.area_work import AreaWork, FencedStep, in_time
from activities.change.calling_off import unless_hurried
from activities.change.earlier import commit_took_effect, forgotten_validation
from activities.change.intent_records import now_of
from activities.change.intents import own_commit, shows_within, unproven_last
from activities.change.not_sent import NotSent
from activities.connections import Connections
from activities.polling import Lookout
from activities.proof.evidence_at_the_door import validations
from activities.readings import keep_reading
from activities.snapshots import RECORDED_AGAIN, is_taken
from activities.stable_read import twice
from activities.waf.deleting import delete_overrides, refuse_deleting_unasked
from activities.waf.modes import refuse_mode, rests_on_a_window
from activities.waf.plans import refuse_other_plan, refuse_unknown_plan
from activities.waf.proposing import configuration_digest, prepared_from
from activities.waf.replacing import refuse_replacing_unasked, refuse_replacing_unsigned, rules_replaced
from activities.waf.stopped import has_stopped
from activities.waf.zone import read_configuration, read_zone, runs
from edgeshift.areas import waf
from edgeshift.areas.waf.evidence_terms import Evidence
from edgeshift.areas.waf.loss_texts import summaries
from edgeshift.areas.waf.losses import lost_counts
from edgeshift.campaign_file.spec import CampaignSpec, ValidationMode
from edgeshift.messages import LOOK, Change, ChangeResult, ChangeStatus, Step, ZoneAssessment
from edgeshift.model.digests import digest
from edgeshift.model.durations import say_duration
from edgeshift.model.fleet import Area, Target, Zone, ZoneOutcome, campaign_id
from edgeshift.service_api import NotUnderstood, Outcome, ServiceClient, ServiceError
from edgeshift.stores.archive import ArchiveCorrupt, ArchiveError, ArchiveMissing
from edgeshift.stores.documents import Proposal, Snapshot, get_document

LEAST_FRESH = timedelta(minutes=10)
"""How old a reading may be at a commit at least, however short ``plan.fresh`` is."""

EDITED = (
    "somebody has changed its rules of the new WAF since they were validated, which it would replace:"
    " what is retried adopts them, and its evidence says so"
)

MIGRATED_BEFORE = "a worker has seen it migrated, which nothing undoes, and its status says that it is not"

FRESH, STATUS = "the fresh configuration", "the zone's status"


class WafWork(AreaWork):
    """Assessing, sending and reading zones of the area waf."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def assess(
        self, spec_digest: str, spec: CampaignSpec, target: Target, line: ZoneAssessment
    ) -> ZoneAssessment:
        """A plan's line for one zone, by reading alone."""
        client = await self._connections.service(spec_digest, target.zone)
        read_at, begun_at = self._connections.clock.now(), now_of(self._connections)
        # The list says the plan, and it is asked for once more before anything is sent with validation.
        reading = await read_zone(client, target.zone, listed=True)
        found = waf.assess(reading, client.profile)
        proposal, rules = None, None
        if reading.config is not None and reading.config.get("rules"):
            proposal = waf.propose(reading, spec.own_list(waf.Adjustment), client.profile)
            rules = await rules_replaced(self._connections, target.zone, reading.entry_point, proposal.body)
        prepared = await prepared_from(self._connections, spec, target.zone, reading, replaced=rules)
        prepared = prepared.model_copy(update={"read_at": begun_at})
        line = line.model_copy(
            update={
                "verdict": prepared.verdict,
                "causes": list(prepared.causes),
                "reasons": list(prepared.reasons),
                "losses": list(summaries(found.losses, waf.Fate.LOST)),
                "lost": lost_counts(found.losses),
                "warnings": [
                    *found.warnings,
                    *summaries(found.losses, waf.Fate.CARRIED_OVER),
                    *summaries(found.losses, waf.Fate.COMPARE),
                ],
                "reading": await keep_reading(self._connections, spec, target.zone, read_at, prepared),
            }
        )
        if proposal is None:
            return line
        more = waf.protection_warnings(reading, proposal.body)
        return line.model_copy(
            update={
                "losses": [*line.losses, *(rules or ())],
                # Of a zone that is blocked there is nothing to sign.
                "fingerprint": prepared.fingerprint,
                "additions": list(proposal.additions),
                "warnings": [*line.warnings, *more, *proposal.unused],
            }
        )

    def check(self, change: Change, body: dict[str, Any]) -> None:
        """What is never sent, whoever signed it."""
        if change.step not in (Step.VALIDATE, Step.DELETE_OVERRIDES, Step.COMMIT):
            raise NotSent(f"waf knows no step {change.step.value}")
        if change.step is not Step.DELETE_OVERRIDES and (odd := waf.unsound(body)):
            raise NotSent(f"the body is no configuration: {odd}")
        if change.step is Step.COMMIT and waf.is_log_only(body):
            raise NotSent("a body that only logs is never committed")
        plan = change.start.target.zone.plan
        if change.step is Step.VALIDATE and (reason := waf.may_send(waf.Mode.VALIDATION, plan)):
            raise NotSent(reason)

    async def send(self, step: FencedStep) -> ChangeResult:
        """Delete overrides, validate or commit."""
        change, fence = step.change, step.fence
        if not await rests_on_a_window(self._connections, step):
            await self._refuse_untaken(step)
        if change.step is Step.DELETE_OVERRIDES:
            await refuse_deleting_unasked(self._connections, step)
            return await delete_overrides(self._connections, step)
        # A validation that lands after a commit would leave the zone with rules that only log.
        await fence.refuse_while_one_may_show()
        if change.step is Step.COMMIT:
            await refuse_unknown_plan(step)
            await self._refuse_old_reading(step)
            body = await self._compare_fresh(step)
            await self._refuse_edited_since(step)
            await self._refuse_unprotected(step)
            await refuse_replacing_unasked(self._connections, step)
            result = await self._put(step, body, waf.Mode.PENDING)
            await fence.confirm(result)
            return result
        await refuse_mode(self._connections, step)
        await refuse_other_plan(step)
        # Whatever a message names: nobody signs it, and only what follows from the zone itself is validated.
        body = await self._compare_fresh(step)
        body = waf.shadow(body) if change.mode is ValidationMode.SHADOW else body
        status = await self._refuse_migrated(step)
        await self._refuse_beside_a_forgotten(step, body, status)
        await self._refuse_edited_between(step, status)
        result = await self._put(step, body, waf.Mode.VALIDATION)
        await fence.confirm(result)
        # Whoever calls it off waits for its outcome, which is then looked for by the verification.
        return await unless_hurried(step.fence, self._look(step, result, body), result)

    async def standing(
        self, client: ServiceClient, spec: CampaignSpec, zone: Zone, *, urgent: bool = False
    ) -> tuple[ZoneOutcome | None, str]:
        """By the zone's status and, where the campaign has sent a commit, its stored rules, each twice."""
        status = await twice(
            "waf.status",
            lambda: client.waf_status(zone.id, urgent=urgent),
            lambda found: (*migration_status(found.raw), found.new_waf_status),
        )
        migrated, state = migration_status(status.raw)
        if not migrated and not await twice(
            "waf.packages.list", lambda: has_stopped(client, zone, status.raw, urgent=urgent)
        ):
            return None, f"the service shows {state[:30]}"
        limit = spec.commit.migration_limit
        campaign = campaign_id(spec.name)
        mine = await own_commit(self._connections, zone, Area.WAF, campaign, limit)
        if mine is not None:
            try:
                signed = await get_document(self._connections.archive, Proposal, mine.proposal or "")
            except (ArchiveMissing, ArchiveCorrupt) as failure:
                return ZoneOutcome.UNKNOWN, f"migrated, and what was signed cannot be read: {failure}"[:120]
            if not waf.is_migrated_to(status.raw, signed.body):
                return ZoneOutcome.UNKNOWN, "migrated, but its status does not say that the new WAF is on"
            if not await twice("entrypoint.get", lambda: runs(client, zone, signed.body)):
                return ZoneOutcome.UNKNOWN, "migrated, but the stored rules differ from the signed body"
        elif key := await unproven_last(self._connections, zone, Area.WAF):
            # It may be the campaign's own, with whose rules those of the zone would be compared.
            return ZoneOutcome.UNKNOWN, f"migrated, and not known by whom: {key} does not count"[:200]
        return ZoneOutcome.MIGRATED, "the service shows it"

    async def _refuse_untaken(self, step: FencedStep) -> None:
        """Raises NotSent where no worker has taken the snapshot that the step names, by which most of what
        follows is judged. The zone is read again, and its snapshot recorded anew, as one of an earlier
        version, which nobody has signed. A commit rests on none that is old, whatever a message says of when
        the zone was read: it may have got rules since that a fresh look does not show.
        """
        oldest, lately = None, ""
        if step.change.step is Step.COMMIT:
            oldest, lately = step.fence.time.now() - await self._fresh(step) - RECORDED_AGAIN, " lately"
        if not await is_taken(self._connections, step.zone, Area.WAF, step.change.snapshot, oldest):
            raise NotSent(f"no worker has signed the zone's snapshot{lately}: it is read again")

    async def _fresh(self, step: FencedStep) -> timedelta:
        """How old the reading of a commit may be."""
        return max((await self._connections.spec(step.change.start.spec)).plan.fresh, LEAST_FRESH)

    async def _refuse_unprotected(self, step: FencedStep) -> None:
        """Raises NotSent with a drift where the body would leave a zone without a WAF that has one, and
        nobody has consented, as after a proposal of an earlier version. The zone is read again, and blocked.
        """
        if not waf.runs_nothing(step.body):
            return
        spec = await self._connections.spec(step.change.start.spec)
        before = await get_document(self._connections.archive, Snapshot[waf.Reading], step.change.snapshot)
        if waf.unprotected(before.reading, step.body) and not spec.consents.leaves_unprotected(step.zone):
            raise NotSent(
                "its new configuration runs no managed rule, and nobody has consented to that for this zone",
                ChangeStatus.DRIFTED,
            )

    async def _refuse_old_reading(self, step: FencedStep) -> None:
        """Raises NotSent where the zone was read long ago: it is read anew, so that what the commit takes
        away for good, and neither the configuration nor page rules show, is in the archive as it is now.
        """
        fresh, read_at = await self._fresh(step), step.change.read_at
        if read_at is not None and step.fence.time.now() - read_at > fresh:
            raise NotSent(f"the zone was read more than {say_duration(fresh)} ago, and is read again")

    async def _refuse_edited_since(self, step: FencedStep) -> None:
        """Raises NotSent as refused where an Enterprise zone runs other rules than when its evidence was
        gathered: somebody has edited them in the new WAF, which a commit replaces, and nobody who signed was
        shown that. A difference is believed when it stays.
        """
        if not step.change.evidence:
            return
        evidence = await get_document(self._connections.archive, Evidence, step.change.evidence)
        if evidence.stored:
            await self._refuse_edited(step, known=evidence.stored)

    async def _refuse_migrated(self, step: FencedStep) -> dict[str, Any]:
        """The zone's status. Raises NotSent where it shows that the zone is migrated, with a drift; and
        where a worker has seen that a commit of the zone, by whichever campaign, took effect: nothing undoes
        one (docs/service.md §3.2). Nobody signs a validation, and the rules of the new WAF would only log
        while the previous one is off: what the service answers to one then is not known. That a zone is
        migrated is believed when it stays.
        """
        showed, status = False, dict[str, Any]()
        for _ in range(2):
            status = (await in_time(step, step.client.waf_status(step.zone.id, urgent=True), STATUS)).raw
            if not waf.is_migrated(status):
                break
            if showed:
                raise NotSent("the zone is migrated since it was read", ChangeStatus.DRIFTED)
            showed = True
        if showed:
            raise NotSent("the zone's status reads otherwise each time")
        if await commit_took_effect(self._connections, step.zone, Area.WAF):
            raise NotSent(MIGRATED_BEFORE)
        return status

    async def _refuse_edited_between(self, step: FencedStep, status: dict[str, Any]) -> None:
        """The same, where a validation would replace another one that workers have begun, as in the next
        mode, or after a drift: nobody signs it. The first one replaces nothing that edgeshift did not write.
        """
        there = self._connections
        begun = await validations(there.archive, there.records, step.change.start)
        proposals = {one.proposal for one in begun if one.proposal}
        if not proposals or not waf.in_validation(status):
            await refuse_replacing_unsigned(there, step)
            return
        bodies = [(await get_document(there.archive, Proposal, one)).body for one in sorted(proposals)]
        await self._refuse_edited(step, *bodies)

    async def _refuse_edited(self, step: FencedStep, *bodies: dict[str, Any], known: str = "") -> None:
        """Raises NotSent where the zone's rules are none of these ``bodies``, nor what is sent, which loses
        nothing by it (a request that was not answered may have got so far), nor have the digest ``known``;
        and where somebody has pinned a version since they had that.
        """
        forms = [form for body in (*bodies, step.body) for form in (body, waf.shadow(body))]
        for _ in range(2):
            stored = await in_time(step, step.client.entry_point(step.zone.id, urgent=True))
            # Rules that somebody has removed are an edit; what is none at all says nothing.
            if stored is not None and stored.raw.get("rules") != [] and (odd := waf.unsound(stored.raw)):
                said = f"its rules of the new WAF: {odd}"
                raise NotUnderstood(said, call="entrypoint.get", path=step.zone.name, outcome=Outcome.READ)
            raw = stored.raw if stored is not None else None
            if known and waf.rules_digest(raw) == known:
                return
            form = next((form for form in forms if waf.same_rules(raw, form)), None)
            # Otherwise a version that nobody signed is no edit: the service may have given it.
            if form is not None and not (known and waf.pinned_since(raw, form, known)):
                return
        raise NotSent(EDITED, ChangeStatus.REFUSED, final=True)

    async def _refuse_beside_a_forgotten(
        self, step: FencedStep, body: dict[str, Any], status: dict[str, Any]
    ) -> None:
        """Raises NotSent with an unknown outcome where the zone was validated by a run that was reset since,
        under another permit, and that shows or may still come to show: it is looked for, and a second one
        does not cross it. One that does not show once its time is over is sent again, where that is found out
        here; where it is looked for in vain, as often as ``commit.resend_unchanged`` says. What shows
        otherwise, as of another mode, is read and taken up.
        """
        sent_at = await forgotten_validation(self._connections, step.change)
        if sent_at is None:
            return
        begun = waf.in_validation(status)
        shows = begun and await in_time(step, runs(step.client, step.zone, body), "what the zone runs")
        if begun or step.fence.time.now() < sent_at + shows_within(step.change.start):
            sent = "a validation has been sent under another permit before"
            raise NotSent(sent, ChangeStatus.UNKNOWN, earlier=begun and not shows)

    async def _compare_fresh(self, step: FencedStep) -> dict[str, Any]:
        """The body that was signed, out of what the service says now: with the ``id``, ``version`` and
        ``ref`` that it gives each rule, which its digest leaves out, and which may be left out for validation
        alone (docs/service.md §4.3). Those of the archived proposal are never sent: anybody may have laid
        them there.

        Raises NotSent with a drift where the zone's configuration is not the one that was signed, or where
        its page rules, or firewall rules that bypass the WAF, would make another proposal of it. A difference
        is believed when it stays.
        """
        spec = await self._connections.spec(step.change.start.spec)
        before = await get_document(self._connections.archive, Snapshot[waf.Reading], step.change.snapshot)
        # Most zones have none, and asking costs a call.
        bypassed = any(map(waf.bypasses, before.reading.firewall_rules))
        body, found = await in_time(step, self._proposed_now(step, spec, bypassed), FRESH)
        if found:
            first = found
            body, found = await in_time(step, self._proposed_now(step, spec, bypassed), FRESH)
            if found and found != first:
                raise NotSent("the fresh configuration reads otherwise each time")
        if found:
            raise NotSent(f"{found[0]} since it was signed", ChangeStatus.DRIFTED)
        return waf.with_assigned(body)

    async def _proposed_now(
        self, step: FencedStep, spec: CampaignSpec, bypassed: bool
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """What is proposed to the zone now; and what of it is not as it was signed, with what it is instead,
        nothing where all is. ``bypassed``: whether it had firewall rules that bypass the WAF, when it was
        read.
        """
        fresh = await read_configuration(step.client, step.zone, urgent=True)
        if (config := configuration_digest(fresh)) != step.change.config:
            return fresh, ("the zone's configuration has changed", config)
        pages = [rule.raw for rule in await step.client.page_rules(step.zone.id, urgent=True)]
        rules, named = list[dict[str, Any]](), "page rules"
        if bypassed:
            rules = [rule.raw for rule in await step.client.firewall_rules(step.zone.id, urgent=True)]
            named = "page rules or firewall rules"
        now = waf.Reading(check={}, page_rules=pages, firewall_rules=rules, config=fresh)
        found = waf.propose(now, spec.own_list(waf.Adjustment), spec.service.facts)
        proposed = digest(found.body)
        if proposed != step.change.digest or found.unwritable:
            return found.body, (f"the zone's {named} have changed", proposed, *found.unwritable)
        return found.body, ()

    async def _put(self, step: FencedStep, body: dict[str, Any], mode: waf.Mode) -> ChangeResult:
        return await step.fence.send(
            lambda: step.client.put_entry_point(
                step.zone.id, body, waf_migration=mode.value, before_send=step.fence.intend
            )
        )

    async def _look(self, step: FencedStep, result: ChangeResult, body: dict[str, Any]) -> ChangeResult:
        """After a validation was answered: whether it shows, looked for over a short while, as soon as it is
        due. Rules that the zone did not have before prove it; of others the status has to say it too.
        """
        if result.status is not ChangeStatus.ANSWERED:
            return result
        start, had_them = step.change.start, await self._had(step, body)
        window = min(LOOK - timedelta(seconds=5), 3 * start.policy.poll + timedelta(seconds=5))
        what = waf.Mode.VALIDATION.value
        with Lookout(self._connections, start, what, limit=window, since=None) as lookout:
            while True:
                await lookout.turn()
                trouble = ""
                try:
                    shown = await runs(step.client, step.zone, body)
                    if shown and had_them:
                        status = (await step.client.waf_status(step.zone.id, urgent=True)).raw
                        shown = waf.in_validation(status)
                    if shown:
                        await lookout.showed()
                        return result.model_copy(update={"seen": True})
                except ServiceError as failure:
                    trouble = str(failure)[:150]
                    activity.logger.info("not read after a validation: %s", failure)
                if lookout.is_over(trouble) or lookout.is_too_late(window):
                    return result

    async def _had(self, step: FencedStep, body: dict[str, Any]) -> bool:
        """Whether the zone may have had these very rules when it was read."""
        snapshot = step.change.snapshot
        try:
            found = await get_document(self._connections.archive, Snapshot[waf.Reading], snapshot)
        except ArchiveError:
            return True
        return waf.same_rules(found.reading.entry_point, body)


def migration_status(status: dict[str, Any]) -> tuple[bool, str]:
    """Whether a status shows the zone as migrated, and the state that it names."""
    return waf.is_migrated(status), str(status.get("migration_state"))
