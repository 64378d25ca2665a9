"""Reading a zone for its custom log fields, and watching what became of them (docs/service.md §2.2, §2.3)."""

from __future__ import annotations

from typing import Any

from temporalio import activity

from activities.boundary import asked_at, heartbeating, named_failures
from activities.change.found import sign_found
from activities.change.intents import (
    as_begun,
    close_intents,
    commit_may_show,
    goes_on,
    record_never_showed,
    seen_through,
    shows_within,
)
from activities.change.own_changes import (
    NOT_OURS,
    OwnChange,
    OwnCommits,
    commits_of,
    landed_commits,
    own_commits,
    very_own_change,
)
from activities.change.settled import sign_settled, unless_settled
from activities.connections import Connections
from activities.log_fields.looking import MOST_EXPLAINED, look_at_entries, seen_in
from activities.log_fields.proposing import prepared_from
from activities.log_fields.reading import proposed, read_sound, read_zone
from activities.log_fields.rollback_log import RollbackLog
from activities.log_fields.rulesets import lost_since
from activities.log_fields.step_jobs import jobs_of_step
from activities.polling import shown_in_time
from activities.stable_read import twice
from edgeshift.areas import log_fields
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.messages import Confirm, LookBack, Part, Prepare, Prepared, Shown, Watch, Watched, ZoneStart
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.profiles import ServiceProfile
from edgeshift.service_api import ServiceClient, ServiceError
from edgeshift.service_api.models import Ruleset
from edgeshift.stores.archive import ArchiveCorrupt
from edgeshift.stores.documents import Advice, Intent, Proposal, Snapshot, get_document, put_document
from edgeshift.stores.documents.areas.log_fields import LogFieldsRecord
from edgeshift.stores.documents.proposals import none_of_its_area


class LogFieldsActivities:
    """Readings of one zone."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @activity.defn(name="prepare_log_fields_zone")
    @named_failures
    @heartbeating
    async def prepare(self, message: Prepare) -> Prepared:
        """Read the zone, archive it and read it back, and make the proposal."""
        start = message.start
        zone = start.target.zone
        spec = await self._connections.spec(start.spec)
        client = await self._connections.service(start.spec, zone)
        terms, reading = spec.section(LogFieldsSpec), await read_zone(client, zone)
        found = await proposed(terms, zone, reading, client)
        if found.assessment.verdict is not Verdict.READY:
            # What would end a zone does not rest on one answer.
            reading = await twice(
                "rulesets.get",
                lambda: read_zone(client, zone),
                lambda read: log_fields.assess(read, zone, found.wanted, terms.job, client.profile),
                first=reading,
            )
            found = await proposed(terms, zone, reading, client)
        verdict, trail = found.assessment.verdict, RollbackLog(self._connections, start)
        if verdict is Verdict.ALREADY_SETTLED and await trail.any_sent():
            # It was this campaign that wrote it: it is looked at to the end. What it wrote and took out again
            # is somebody else's now.
            verdict = Verdict.READY
        prepared = await prepared_from(self._connections, spec, zone, reading, found, verdict)
        if verdict is Verdict.BLOCKED and (mine := await trail.left_in()) is not None:
            # What was written in part is taken back where the zone cannot go on, as it was signed: what would
            # be proposed by now may be something else.
            prepared = as_begun(mine, prepared)
        if verdict is Verdict.ALREADY_SETTLED:
            await sign_found(self._connections, start, ZoneOutcome.ALREADY_SETTLED, seen=prepared.snapshot)
        return prepared

    @activity.defn(name="look_back_at_log_fields_zone")
    @named_failures
    async def look_back(self, start: LookBack) -> Part:
        """What this campaign may have left in the zone, in whichever attempt: by the archive alone, so that
        it can be told of a zone that was not read, or cannot be.
        """
        asked_at(start.asked)
        if (mine := await RollbackLog(self._connections, start).left_in()) is None:
            return Part()
        return Part(
            prepared=as_begun(mine),
            may_show=await commit_may_show(
                self._connections, start.target.zone, start.area, shows_within(start)
            )
            or await goes_on(self._connections, start),
        )

    @activity.defn(name="settle_log_fields_zone")
    @named_failures
    @heartbeating
    async def confirm(self, message: Confirm) -> Shown:
        """Read rules and log jobs until they show the change, or may no longer be expected to."""
        start, zone = message.start, message.start.target.zone
        client = await self._connections.service(start.spec, zone)
        body = await self._signed(message.prepared)
        wanted = log_fields.fields_of_document(body["fields"])
        lacking, reading = "", None

        async def look() -> Shown | None:
            nonlocal lacking, reading
            # What is sent after the reading is not in it.
            shown = await commits_of(self._connections, start, body) if message.wanted else frozenset()
            own = None if message.wanted else await own_commits(self._connections, start)
            if message.wanted:
                reading = await read_sound(client, zone, known=RollbackLog(self._connections, start).rulesets)
                lacking = log_fields.lacking(reading, wanted, client.profile)
                if lacking and (of_step := await jobs_of_step(self._connections, message, body)):
                    lacking = log_fields.lacking(reading, wanted, client.profile, of_step)
            else:
                reading, lacking = await self._not_undone(client, start, body, own)
            if lacking:
                return None
            await close_intents(self._connections, zone, start.area, own.seen if own else shown)
            code = ReasonCode.FIELDS_LOGGED if message.wanted else ReasonCode.FIELDS_OUT
            return Shown(reached=True, why=(Reason(code=code),))

        shown, trouble = await shown_in_time(self._connections, message, look)
        if shown is not None:
            return shown
        if trouble or reading is None:
            return Shown(reached=False, why=(Reason(code=ReasonCode.ZONE_UNREADABLE, said=trouble),))
        unchanged = message.wanted and await self._as_before(message.prepared, reading, client.profile)
        # A part that was written, by a worker that is gone maybe, is taken back by what the trail has of it.
        worse = message.wanted and not unchanged and await RollbackLog(self._connections, start).any_sent()
        # One that was there before this proposal was made is gone on with as long as it may be.
        part = unchanged and bool(await self._still_there(start, reading, body, client.profile))
        if unchanged and not part:
            await self._never_showed(start, client, body)
        code = ReasonCode.FIELDS_LACKING if message.wanted else ReasonCode.FIELDS_STAY
        why = (Reason(code=code, said=lacking[:200]),)
        return Shown(reached=False, unchanged=unchanged, worse=worse, part=part, why=why)

    async def _never_showed(self, start: ZoneStart, client: ServiceClient, body: dict[str, Any]) -> None:
        """The zone is as before: what was sent and not answered has come to nothing, once its time is over.
        Else what somebody writes himself later would be taken for it, and taken out.
        """
        # What is sent after the reading is not in it.
        own = await landed_commits(self._connections, start)
        if own is None:
            return
        try:
            _, still = await self._not_undone(client, start, body, own)
        except ServiceError as failure:
            activity.logger.info("not recorded that it never showed: %s", failure)
            return
        if not still:
            await record_never_showed(self._connections, start.target.zone, start.area, own.seen)

    async def _signed(self, prepared: Prepared) -> dict[str, Any]:
        """The body that was signed. Raises ArchiveError, also where it is none of this area."""
        body = (await get_document(self._connections.archive, Proposal, prepared.proposal)).body
        if odd := log_fields.odd_body(body):
            raise none_of_its_area(prepared.proposal, odd)
        return body

    async def _not_undone(
        self, client: ServiceClient, start: ZoneStart, body: dict[str, Any], own: OwnCommits | None
    ) -> tuple[log_fields.Reading, str]:
        """The zone, and what of the campaign's writes is still there, or empty: of what a message names, and
        of all that is on record as sent. That nothing is does not rest on one answer: one that lacks the
        ruleset for a moment says so too.
        """
        bodies = (body, *own.bodies) if own else (body,)
        known = RollbackLog(self._connections, start, back=True).rulesets
        for _ in range(2):
            reading = await read_sound(client, start.target.zone, known=known)
            for one in bodies:
                if still := await self._still_there(start, reading, one, client.profile):
                    return reading, still
        return reading, ""

    async def _still_there(
        self,
        start: ZoneStart,
        reading: log_fields.Reading,
        body: dict[str, Any],
        profile: ServiceProfile,
    ) -> str:
        trail = RollbackLog(self._connections, start, back=True)
        wanted = log_fields.fields_of_document(body["fields"])
        first = await trail.first(str((reading.ruleset or {}).get("id")))
        if first is not None:
            left = log_fields.rollback(first.rules, reading.rules, wanted)
            if not log_fields.same_rules(left, reading.rules):
                return "fields of the campaign are still in the rules"
        before = await trail.jobs()
        created = await trail.created_job(log_fields.signed_job(body, start.target.zone))
        names = log_fields.needed(wanted)
        for job in reading.jobs:
            if created and job.get("name") == created and log_fields.pushes(job):
                return f"the log job {created} is still enabled"
            try:
                was = before.get(job["id"])
                if was and log_fields.restored(job, was.options, names, profile) is not None:
                    return f"log job {job['id']} still lists what it is not to"
            except log_fields.OddOptions:
                continue
        return ""

    async def _as_before(
        self, prepared: Prepared, reading: log_fields.Reading, profile: ServiceProfile
    ) -> bool:
        """Whether rules and log jobs are as in the snapshot."""
        archive = self._connections.archive
        before = (await get_document(archive, Snapshot[log_fields.Reading], prepared.snapshot)).reading
        return log_fields.same_rules(before.rules, reading.rules) and {
            job["id"]: log_fields.listed(job, profile) for job in before.jobs
        } == {job["id"]: log_fields.listed(job, profile) for job in reading.jobs}

    @activity.defn(name="watch_log_fields_zone")
    @named_failures
    @heartbeating
    async def watch(self, message: Watch) -> Watched:
        """Look at real log entries: is each field in them, and if not, why?"""
        seen = await self._watch(message)
        return await unless_settled(self._connections, message, seen, through=False)

    async def _watch(self, message: Watch) -> Watched:
        start, zone = message.start, message.start.target.zone
        terms = (await self._connections.spec(start.spec)).section(LogFieldsSpec)
        client = await self._connections.service(start.spec, zone)
        if message.back:
            return await self._watch_back(message, client)
        own = await very_own_change(self._connections, start)
        if own is not None:
            # What was sent, whatever a message tells of it.
            message = message.model_copy(update={"prepared": own.prepared(message.prepared)})
        body = await self._signed(message.prepared)
        wanted = log_fields.fields_of_document(body["fields"])
        known = RollbackLog(self._connections, start).rulesets
        reading = await read_sound(client, zone, known=known)
        of_step: log_fields.StepJobs | None = None

        def lacking(read: log_fields.Reading) -> str:
            return log_fields.lacking(read, wanted, client.profile, of_step)

        if lacking(reading):
            of_step = await jobs_of_step(self._connections, message, body)
        if lacking(reading):
            # What takes a change back does not rest on one answer.
            reading = await twice("rulesets.get", lambda: read_sound(client, zone, known=known), lacking)
        if lacks := lacking(reading):
            return Watched.as_worse(Reason(code=ReasonCode.FIELDS_CHANGED_BY_OTHERS, said=lacks))
        looked = await look_at_entries(
            self._connections, message, terms, reading, wanted, client.profile, own
        )
        if looked.others.fate is log_fields.Fate.STOPPED:
            names = tuple(map(str, looked.others.fields[:MOST_EXPLAINED]))
            return Watched.as_worse(Reason(code=ReasonCode.FIELDS_OF_OTHERS_STOPPED, names=names))
        found, trouble, settled = looked.found, looked.trouble, looked.settled
        if not settled and not message.last:
            return Watched()
        trail = RollbackLog(self._connections, start)
        ruleset = Ruleset.of(reading.ruleset) if reading.ruleset else None
        try:
            if await lost_since(client, zone.id, trail, ruleset, wanted) and (
                lost := await twice(
                    "rulesets.versions.get", lambda: lost_since(client, zone.id, trail, ruleset, wanted)
                )
            ):
                return Watched.as_worse(Reason(code=ReasonCode.WRITE_LOST, said=lost))
        except ArchiveCorrupt as failure:
            if own is not None:
                raise
            # Nothing speaks against what stands, and nobody can tell whose it is.
            return Watched.as_unsure(Reason(code=ReasonCode.ARCHIVE_DAMAGED, said=str(failure)))

        later = log_fields.came_since(reading, wanted, client.profile, of_step) if of_step else ()

        async def sign(own: OwnChange) -> Watched:
            if found is None or not found.entries:
                why = trouble or "no log entry with custom fields came"
                if terms.unverified == "roll_back":
                    return Watched.as_worse(Reason(code=ReasonCode.FIELDS_NOT_VERIFIED, said=why))
                kept = Reason(code=ReasonCode.FIELDS_KEPT_UNVERIFIED, said="; ".join((why, *later)))
                return await self._kept(message, own.record, found, kept)
            why_seen = seen_in(found, (*later, *looked.notes))
            return await self._kept(message, own.record, found, why_seen)

        return await sign_settled(self._connections, start, own, sign, enough=settled, through=False)

    async def _watch_back(self, message: Watch, client: ServiceClient) -> Watched:
        """After a rollback: whether it is undone still, of all that is on record as sent."""
        start = message.start
        own = await own_commits(self._connections, start)
        _, still = await self._not_undone(client, start, await self._signed(message.prepared), own)
        if still:
            return Watched.as_worse(Reason(code=ReasonCode.FIELDS_STAY, said=still))
        if own is None:
            return Watched.not_looked_at(NOT_OURS)
        await seen_through(self._connections, start.target.zone, start.area, own.seen)
        if own.may_show:
            return Watched.not_looked_at(Reason(code=ReasonCode.MAY_STILL_SHOW))
        message = message.model_copy(update={"prepared": own.prepared(message.prepared)})
        return await self._kept(message, own.last, None, Reason(code=ReasonCode.FIELDS_TAKEN_OUT))

    async def _kept(
        self, message: Watch, sent: Intent, found: log_fields.Judgement | None, why: Reason
    ) -> Watched:
        return Watched.as_done(why, record=await self._record(message, sent, found, why))

    async def _record(
        self, message: Watch, sent: Intent, found: log_fields.Judgement | None, why: Reason
    ) -> str:
        prepared, archive = message.prepared, self._connections.archive
        record = LogFieldsRecord(
            zone=message.start.target.zone,
            campaign=message.start.campaign,
            digest=prepared.digest,
            snapshot=prepared.snapshot,
            proposal=prepared.proposal,
            evidence=await put_document(archive, found) if found else "",
            found=message.found,
            why=message.why,
            said=text_of(why),
            codes=(why.code,),
            changed_at=message.since,
            aftercare=Advice(advice=tuple(str(field) for field in found.fields) if found else ()),
        )
        kept = await put_document(archive, record, verify=True)
        await self._connections.results.record_watched(message, kept, sent)
        return kept
