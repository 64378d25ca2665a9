"""The part of log-fields in the shared activities (docs/service.md §2.2, §2.3, §4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from activities.boundary import hold_of
from activities.change.area_work import AreaWork, FencedStep, in_time
from activities.change.intents import as_begun, left_in, unproven_last
from activities.change.not_sent import NotSent
from activities.connections import Connections
from activities.log_fields.jobs import JobsWriter
from activities.log_fields.proposing import prepared_from
from activities.log_fields.reading import proposed, read_sound, read_zone
from activities.log_fields.rollback_log import RollbackLog
from activities.log_fields.rulesets import ANSWERED, RulesetWriter, Written
from activities.log_fields.targets import refuse_unknown_additions
from activities.readings import keep_reading
from activities.stable_read import twice
from edgeshift.areas import log_fields
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.log_fields.rules import Rule
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Change, ChangeResult, ChangeStatus, Step, ZoneAssessment
from edgeshift.model.digests import digest
from edgeshift.model.fleet import Area, Target, Zone, ZoneOutcome, campaign_id, campaign_name
from edgeshift.model.reason_texts import text_of
from edgeshift.runtime.secret_refs import SecretRefError
from edgeshift.service_api import NoTurn, ServiceClient, ServiceError
from edgeshift.service_api.models import Ruleset
from edgeshift.stores.archive import ArchiveError
from edgeshift.stores.documents import put_document
from edgeshift.stores.documents.areas.log_fields import StepWritten


class LogFieldsWork(AreaWork):
    """Assessing, sending and reading zones of the area log-fields."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def targets(
        self, spec: CampaignSpec, chosen: Sequence[Zone], zones: Sequence[Zone], names: Mapping[str, str]
    ) -> list[Zone]:
        """The zones; each that gets further fields is one of them."""
        refuse_unknown_additions(spec, chosen)
        return list(chosen)

    async def assess(
        self, spec_digest: str, spec: CampaignSpec, target: Target, line: ZoneAssessment
    ) -> ZoneAssessment:
        """A plan's line for one zone, by reading alone."""
        zone = target.zone
        client = await self._connections.service(spec_digest, zone)
        read_at = self._connections.clock.now()
        reading = await read_zone(client, zone, listed=True)
        proposal = await proposed(spec.section(LogFieldsSpec), zone, reading, client)
        found = proposal.assessment
        prepared = await prepared_from(self._connections, spec, zone, reading, proposal, found.verdict)
        return line.model_copy(
            update={
                "verdict": found.verdict,
                "causes": list(found.causes),
                "reasons": list(found.reasons),
                "warnings": [*found.warnings, *map(text_of, proposal.notices)],
                "additions": list(found.additions),
                "fingerprint": prepared.fingerprint,
                "reading": await keep_reading(self._connections, spec, zone, read_at, prepared),
                "facts": {
                    "fields": str(len(log_fields.fields_of(proposal.wanted))),
                    "fields there": str(log_fields.count(reading.rules)),
                    "log jobs": str(sum(log_fields.pushes(job) for job in reading.jobs)),
                },
            }
        )

    async def as_sent(self, change: Change) -> Change:
        """A rollback of what was sent last, where nothing was sent of what it names: people may have made log
        jobs meanwhile, with which something else is proposed.
        """
        left = await RollbackLog(self._connections, change.start, back=True).all_left_in()
        if not left or change.digest in {record.digest for record in left}:
            return change
        sent = as_begun(left[-1])
        named = {name: getattr(sent, name) for name in ("digest", "fingerprint", "proposal", "snapshot")}
        return change.model_copy(update=named)

    def check(self, change: Change, body: dict[str, Any]) -> None:
        """What is never sent, whoever signed it. That the zone is an Enterprise zone, the reading before a
        commit tells: its list may not.
        """
        if change.step not in (Step.COMMIT, Step.ROLL_BACK):
            raise NotSent(f"log-fields knows no step {change.step.value}")
        if odd := log_fields.odd_body(body):
            raise NotSent(f"the body is to name custom log fields and log jobs: {odd}")
        if wrong := log_fields.mistakes(log_fields.fields_of_document(body["fields"])):
            raise NotSent(wrong[0])

    async def send(self, step: FencedStep) -> ChangeResult:
        """Write the rules and the log jobs, or take back what was written."""
        back = step.change.step is Step.ROLL_BACK
        written, trail = Written(), RollbackLog(self._connections, step.change.start, back=back)
        try:
            result = await (self._take_back if back else self._commit)(step, trail, written)
        except (NotSent, ServiceError, ArchiveError, SecretRefError) as why:
            if isinstance(why, NotSent) and not step.fence.unsettled:
                await step.fence.confirm(why.result)
            if not written.sent and await trail.left_in() is None:
                raise
            result = self._stopped(step, why)
        answered = result.status is ChangeStatus.ANSWERED
        if not written.sent and not answered and await trail.left_in() is None:
            return result
        try:
            return result.model_copy(update={"found": await self._record(step, written)})
        except ArchiveError as failure:
            if not answered:
                return result
            said = f"made, but not recorded: {failure}"[:200]
            return ChangeResult(status=ChangeStatus.NOTHING_HAPPENED, reason=said)

    def _stopped(self, step: FencedStep, why: Exception) -> ChangeResult:
        """What a step comes to that did not get further, once something was written: a reading failed, or it
        was decided not to go on. It is gone on with, or what was written is taken back.
        """
        if step.fence.unsettled:
            # The last request may still come to show, so that nothing is undone before.
            return ChangeResult(status=ChangeStatus.UNKNOWN, reason=f"it was not answered; then: {why}"[:200])
        if not isinstance(why, NotSent):
            return ChangeResult(
                status=ChangeStatus.NOTHING_HAPPENED,
                reason=f"in the middle of it: {why}"[:200],
                hold=hold_of(why),
                turn=not isinstance(why, NoTurn),
            )
        # What was written before must not stay behind as a part: it is taken back, also where people's
        # signatures let no more of it through, as where they were used by what a run that was reset has sent.
        stays = why.status is ChangeStatus.DRIFTED or why.unsigned is not None
        status = ChangeStatus.REFUSED if stays else why.status
        # Where only its turn did not come, it is no try that has failed.
        turn = why.turn or status is not ChangeStatus.NOTHING_HAPPENED
        return ChangeResult(status=status, reason=why.reason[:200], turn=turn)

    async def _commit(self, step: FencedStep, trail: RollbackLog, written: Written) -> ChangeResult:
        await step.fence.refuse_while_one_may_show()
        campaign = await self._connections.spec(step.change.start.spec)
        # Before anything is written: in the middle of it, a refusal would leave a part behind.
        spec, ways = campaign.section(LogFieldsSpec), self._connections.ways(campaign)
        wanted = spec.wanted(step.zone.id, step.zone.name)
        if log_fields.fields_document(wanted) != step.body["fields"]:
            # Whoever signed it: no more of what visitors send is logged than the campaign's file says.
            raise NotSent("its fields are others than the campaign's file asks for", ChangeStatus.DRIFTED)

        def drift(reading: log_fields.Reading) -> str:
            found = log_fields.assess(reading, step.zone, wanted, spec.job, step.client.profile)
            if found.verdict is Verdict.BLOCKED:
                return found.reasons[0]
            same = digest(log_fields.proposal_body(reading, step.zone, wanted, spec.job))
            return "" if same == step.change.digest else "the log jobs are others than when it was proposed"

        reading: log_fields.Reading | None = None

        async def look() -> str:
            nonlocal reading
            reading = await read_zone(step.client, step.zone, urgent=True)
            return drift(reading)

        # One answer that is wrong must not take back what has been written.
        if await in_time(step, look()) and (why := await in_time(step, twice("logpush.jobs.list", look))):
            raise NotSent(why, ChangeStatus.DRIFTED)
        step.fence.trail = await trail.begin(step.change.permit.name)
        label = campaign_name(step.change.start.campaign)

        def merged(rules: list[Rule], over: str) -> list[Rule]:
            return log_fields.merge(rules, wanted, log_fields.marked(label, over))

        assert reading is not None
        there = Ruleset.of(reading.ruleset) if reading.ruleset else None
        result = await RulesetWriter(step, trail, written, merged, there).put()
        if result.status is ChangeStatus.ANSWERED:
            result = await JobsWriter(step, trail, written, reading.jobs).list_fields(spec.job, ways)
        return result

    async def _take_back(self, step: FencedStep, trail: RollbackLog, written: Written) -> ChangeResult:
        """Jobs first: they name what the rules then no longer have."""
        spec = (await self._connections.spec(step.change.start.spec)).section(LogFieldsSpec)
        result = await JobsWriter(step, trail, written).take_back(spec.job)
        if result.status is not ChangeStatus.ANSWERED:
            return result
        wanted = log_fields.fields_of_document(step.body["fields"])
        before = await self._rules_before(step, trail)
        if before is None:
            return ANSWERED

        def without(rules: list[Rule], over: str) -> list[Rule]:
            return log_fields.rollback(before, rules, wanted)

        return await RulesetWriter(step, trail, written, without).put()

    async def _rules_before(self, step: FencedStep, trail: RollbackLog) -> list[Rule] | None:
        """The rules before the campaign's first write, or None where it has written none."""
        for ruleset in await in_time(step, step.client.rulesets(step.zone.id, urgent=True)):
            if ruleset.kind == "zone" and ruleset.phase == log_fields.PHASE and ruleset.id:
                first = await trail.first(ruleset.id)
                return list(first.rules) if first else None
        # A new one may not be in the list yet (docs/service.md §4.2).
        for ruleset_id in await trail.rulesets():
            if first := await trail.first(ruleset_id):
                return list(first.rules)
        return None

    async def _record(self, step: FencedStep, written: Written) -> str:
        """What the step did, archived: its digest."""
        document = StepWritten(
            zone=step.zone,
            step=step.change.step.value,
            permit=step.change.permit.name,
            service_time=self._connections.time_at(step.client),
            **asdict(written),
        )
        return await put_document(self._connections.archive, document, verify=True)

    async def standing(
        self, client: ServiceClient, spec: CampaignSpec, zone: Zone, *, urgent: bool = False
    ) -> tuple[ZoneOutcome | None, str]:
        """By the zone's rules and log jobs. Of the requests of its change some may have been made."""
        reading = await read_sound(client, zone, urgent=urgent)
        wanted = spec.section(LogFieldsSpec).wanted(zone.id, zone.name)
        if lacking := log_fields.lacking(reading, wanted, client.profile):
            campaign = campaign_id(spec.name)
            if await left_in(self._connections, zone, Area.LOG_FIELDS, campaign) is not None:
                return ZoneOutcome.UNKNOWN, f"a part of the change may stand: {lacking}"
            if key := await unproven_last(self._connections, zone, Area.LOG_FIELDS):
                # It may be the campaign's own, of which a part stands.
                return ZoneOutcome.UNKNOWN, f"not known whether a part stands: {key} does not count"
            return None, f"the service does not show the fields: {lacking}"
        return (
            ZoneOutcome.UNKNOWN,
            "the service shows the fields, but nobody has watched them to the end",
        )
