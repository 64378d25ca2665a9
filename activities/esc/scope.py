"""Proposing to turn Edge Side Code off, after a probe of what it does, and watching what became of it
(docs/service.md §2.1, §3.1, §4.1).
"""

from __future__ import annotations

from pydantic import SecretStr
from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.boundary import heartbeating, named_failures
from activities.change.found import sign_found
from activities.change.intent_records import now_of, surely_now
from activities.change.intents import close_intents, commit_may_show, seen_through, taken_up
from activities.change.own_changes import NOT_OURS, OwnChange, last_change, last_change_if_known
from activities.change.settled import sign_settled, unless_settled
from activities.connections import Connections
from activities.esc.evidence import record_probed
from activities.esc.proposing import kept_proposal, prepared_from
from activities.esc.reading import account_is_off, account_shows, covered_zones, read_scope, shows, zones_of
from activities.esc.secret_works import refuse_before_it_works
from activities.esc.unshown import MOST_TOLD, beat, has_shown, probed, settled_by_probe, stayed_on
from activities.polling import shown_in_time
from activities.reports import awaiting, told_unless_gone
from activities.stable_read import twice
from edgeshift.areas import esc
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.esc import difference_texts
from edgeshift.areas.esc import probe as esc_probe
from edgeshift.areas.esc.sendable import sendable
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Confirm, Gathered, Prepare, Prepared, Shown, Step, Watch, Watched, ZoneStart
from edgeshift.messages.areas.esc import Probe, Probed
from edgeshift.model.digests import digest
from edgeshift.model.fleet import ScopeKind, ZoneOutcome
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, codes_of
from edgeshift.probes import Baseline, Prober
from edgeshift.service_api import ServiceError
from edgeshift.stores.documents import Advice, CoveredZones, Snapshot, get_document, put_document
from edgeshift.stores.documents.areas.esc import EscRecord, ProbedProposal

NO_SECRET = SecretStr("")


class EscActivities:
    """Readings and probes of one scope."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @activity.defn(name="prepare_esc_scope")
    @named_failures
    @heartbeating
    async def prepare(self, message: Prepare) -> Prepared:
        """Read the scope, archive it and read it back. Where it has no secret yet, that is the next step."""
        start = message.start
        target = start.target.zone
        client = await self._connections.service(start.spec, target)
        covered, read_at = "", surely_now(self._connections)
        if target.kind is ScopeKind.ACCOUNT:
            zones = await twice("zones.list", lambda: zones_of(client, target))
            listed = CoveredZones(tuple(zones))
            covered = await put_document(self._connections.archive, listed, verify=True)

        async def read() -> tuple[esc.Reading, Reason | None]:
            return await read_scope(self._connections, client, target, covered)

        reading, gone = found = await read()
        now = self._connections.time_at(client)
        if gone or not reading.told or esc.assess(reading, now, client.profile).verdict is not Verdict.READY:
            # What ends a scope does not rest on one answer. One that is ready is read again before each step.
            reading, gone = await twice("esc.get", read, first=found)
        spec, now = await self._connections.spec(start.spec), self._connections.time_at(client)
        prepared = await prepared_from(self._connections, spec, target, reading, gone, now)
        # One that shows a secret that cannot be probed with may have been turned off before it was set.
        odd = ReasonCode.SECRET_NOT_SENDABLE in prepared.causes
        may_be_off = (prepared.verdict is Verdict.READY or odd) and not reading.told
        if may_be_off or prepared.verdict is Verdict.ALREADY_SETTLED:
            mine = await taken_up(self._connections, start, prepared, read_at)
            if prepared.verdict is Verdict.ALREADY_SETTLED and not mine.begun:
                await sign_found(self._connections, start, ZoneOutcome.ALREADY_SETTLED, seen=mine.snapshot)
            if not may_be_off or (mine.begun and await self._can_tell(message, mine)):
                # What an earlier attempt sent is seen through, also where the setting does not tell.
                return mine.model_copy(update={"verdict": Verdict.ALREADY_SETTLED})
        return prepared

    async def _can_tell(self, message: Prepare, mine: Prepared) -> bool:
        """Whether it can be found out what became of a change where the setting does not tell: it may still
        show, or the URLs tell it.
        """
        start = message.start
        agreed, _ = await probed(self._connections, mine)
        return bool(agreed.differences) or await commit_may_show(
            self._connections, start.target.zone, start.area, start.policy.migration_limit, answered=True
        )

    @activity.defn(name="probe_esc_scope")
    @named_failures
    @heartbeating
    async def probe(self, message: Probe) -> Probed:
        """Ask a sample of the scope's URLs with and without the secret; propose, and tell the campaign."""
        start, prepared = message.start, message.prepared
        await self._connections.refuse_foreign(start)
        target = start.target.zone
        spec = await self._connections.spec(start.spec)
        client = await self._connections.service(start.spec, target)
        try:
            setting = await client.esc(target.scope)
        except ServiceError:
            if not (gone := esc.too_late(self._connections.time_at(client), client.profile)):
                raise
            return Probed(prepared=prepared.blocked_by(gone))
        if setting.always:
            # Turned off since it was read, by somebody else or by a request that was under way: it is read
            # again, and nothing can be compared.
            return Probed(prepared=prepared.model_copy(update={"verdict": Verdict.ALREADY_SETTLED}))
        secret = setting.with_secret
        if secret is None or not secret.get_secret_value():
            raise ApplicationError("the scope's secret does not show yet", type="SecretNotShown")
        if not sendable(secret.get_secret_value()):
            # It was set since the scope was read, which is read again before it ends by that.
            return Probed(prepared=prepared.blocked_by(esc.not_sendable()))
        await refuse_before_it_works(self._connections, start)
        archive = self._connections.archive
        off_above, untold_above = await account_shows(client, target)
        # Those of the reading that the probe is recorded with, whichever a message names.
        read = (await get_document(archive, Snapshot[esc.Reading], prepared.snapshot)).reading
        zones = await covered_zones(self._connections, target, read.covered)
        async with self._prober(spec) as prober:
            report, baseline = await prober.probe(zones, secret, beat)
        body = esc.body(target, esc_probe.summary(report))
        about = {
            "zone": target.id,
            "proposal": digest(body),
            "off_above": off_above,
            # The door compares it with the server's time, of which this machine's clock may be behind.
            "made_at": report.made_at + (now_of(self._connections) - self._connections.clock.now()),
            "untold_above": untold_above,
        }
        report = report.model_copy(update=about)
        evidence = await put_document(archive, report, verify=True)
        kept = await put_document(archive, baseline, verify=True)
        warnings = list(
            esc.assess(
                esc.Reading(secret=esc.whose(secret.get_secret_value())),
                self._connections.time_at(client),
                client.profile,
            ).warnings
        )
        doubts = difference_texts.doubts(report)
        proposed = await kept_proposal(
            self._connections,
            target,
            ProbedProposal(
                body=body,
                losses=tuple(difference_texts.loss_lines(report)),
                warnings=(*warnings, *doubts),
                report=evidence,
                baseline=kept,
            ),
        )
        gathered = Gathered(
            evidence=evidence,
            verdict=EvidenceVerdict.INCONCLUSIVE if doubts else EvidenceVerdict.PASS,
            why="; ".join(doubts)[:200],
        )
        prepared = prepared.model_copy(update={"step": Step.COMMIT, **proposed})
        await record_probed(self._connections, start, evidence, prepared)
        joins = not doubts and start.policy.sign_off.per != "zone"
        announce = awaiting(
            start,
            digest=prepared.digest,
            fingerprint=prepared.fingerprint,
            sequence=message.sequence,
            releases=message.releases,
            joins=joins,
        )
        told = await told_unless_gone(self._connections, announce)
        return Probed(prepared=prepared, gathered=gathered.model_copy(update={"told": told}))

    def _prober(self, spec: CampaignSpec) -> Prober:
        return self._connections.ways(spec).prober(self._connections.clock)

    @activity.defn(name="settle_esc_scope")
    @named_failures
    @heartbeating
    async def confirm(self, message: Confirm) -> Shown:
        """Read the setting until it shows what was sent, or may no longer be expected to."""
        start, target = message.start, message.start.target.zone
        client = await self._connections.service(start.spec, target)
        only_secret = True

        async def look() -> Shown | None:
            nonlocal only_secret
            try:
                setting = await client.esc(target.scope, urgent=True)
            except ServiceError:
                if gone := esc.too_late(self._connections.time_at(client), client.profile):
                    return Shown(reached=message.wanted, hopeless=True, why=(gone,))
                raise
            off, alone = shows(setting)
            only_secret = only_secret and alone
            if off is not message.wanted:
                return None
            own = await last_change(self._connections, start)
            if shows(await client.esc(target.scope, urgent=True)) != (off, alone):
                return None
            if alone and not (message.answered and own is not None and own.answered):
                # It looks so whether it is off or on: the rollback is sent until it is answered.
                return Shown(reached=False, why=(Reason(code=ReasonCode.SECRET_ALONE),))
            if message.wanted:
                await has_shown(self._connections, start, own)
            else:
                await self._is_undone(start, own)
            return Shown(reached=True, why=(Reason(code=ReasonCode.ESC_OFF if off else ReasonCode.ESC_ON),))

        shown, trouble = await shown_in_time(self._connections, message, look)
        if shown is not None:
            return shown
        if trouble:
            return Shown(reached=False, why=(Reason(code=ReasonCode.SETTING_UNREADABLE, said=trouble),))
        if message.wanted and only_secret:
            async with self._prober(await self._connections.spec(start.spec)) as prober:
                return await settled_by_probe(self._connections, message, prober)
        if message.wanted and (late := await stayed_on(self._connections, client, start, look)) is not None:
            return late
        stays = ReasonCode.ESC_STAYED_ON if message.wanted else ReasonCode.ESC_STAYED_OFF
        return Shown(reached=False, unchanged=True, why=(Reason(code=stays),))

    async def _is_undone(self, start: ZoneStart, own: OwnChange | None) -> None:
        """It is on: nobody takes up what was sent before it was read, where a rollback is on record, and what
        it undoes cannot come to show any more.
        """
        if own is None or not own.back or own.may_show:
            activity.logger.warning("not recorded that it is undone: %s", text_of(NOT_OURS))
            return
        await close_intents(self._connections, start.target.zone, start.area, own.sent)
        await seen_through(self._connections, start.target.zone, start.area, own.sent)

    @activity.defn(name="watch_esc_scope")
    @named_failures
    @heartbeating
    async def watch(self, message: Watch) -> Watched:
        """Ask the same URLs again, without the secret: do they answer as was agreed, or, after a rollback, as
        before?
        """
        return await unless_settled(self._connections, message, await self._watch(message))

    async def _watch(self, message: Watch) -> Watched:
        start = message.start
        spec = await self._connections.spec(start.spec)
        own = await last_change_if_known(self._connections, start)
        if own is not None:
            # What was sent, whatever a message tells of it.
            message = message.model_copy(update={"prepared": own.prepared(message.prepared)})
        agreed, baseline = await probed(self._connections, message.prepared)
        if message.back:
            return await self._watch_back(message, spec, agreed, baseline)
        client = await self._connections.service(start.spec, start.target.zone)
        try:
            setting = await client.esc(start.target.zone.scope)
            if message.last or not setting.always:
                # What ends a watch, or takes a change back, does not rest on one answer.
                setting = await twice("esc.get", lambda: client.esc(start.target.zone.scope), first=setting)
        except ServiceError:
            if not (gone := esc.too_late(self._connections.time_at(client), client.profile)):
                raise
            if own is None or own.back:
                return Watched.as_unsure(NOT_OURS)
            # Nothing is left that could be off or on.
            return Watched.as_done(gone, record=await self._record(message, own, agreed, gone))
        turned_on = Watched.as_worse(Reason(code=ReasonCode.ESC_TURNED_ON))
        if setting.always is False or (setting.always is None and setting.with_secret is None):
            return turned_on
        async with self._prober(spec) as prober:
            now = await prober.observe(baseline, beat)
        worse = esc_probe.worse(agreed, now, spec.section(EscSpec).tolerance)
        if worse:
            return Watched.as_worse(Reason(code=ReasonCode.URLS_WORSE, names=tuple(worse[:MOST_TOLD])))
        elsewhere = now.coverage.hosts_unmarked
        # What others than the edge answer says nothing of Edge Side Code.
        left = esc_probe.unmarked(set(elsewhere) - set(agreed.coverage.hosts_unmarked))
        told = esc_probe.from_edge(agreed, now)
        seen = esc_probe.still_seen(told, now)
        if setting.always is None and not seen:
            # It was off by what the setting showed, or the URLs: neither says so any more.
            return Watched.as_unsure(*left) if left else turned_on
        if not message.last:
            return Watched()
        if told.differences and not seen:
            return Watched.as_unsure(Reason(code=ReasonCode.URLS_CONTRADICT))
        if left:
            return Watched.as_unsure(*left)
        asked = sum(one.url.host not in elsewhere for one in baseline.urls)
        off = (
            Reason(code=ReasonCode.URLS_AS_AGREED, count=asked) if asked else Reason(code=ReasonCode.ESC_OFF)
        )
        why = (off, *esc_probe.unmarked(elsewhere))

        async def sign(own: OwnChange) -> Watched:
            return Watched.as_done(*why, record=await self._record(message, own, now, *why))

        return await sign_settled(self._connections, start, own, sign)

    async def _watch_back(
        self, message: Watch, spec: CampaignSpec, agreed: esc_probe.ProbeReport, baseline: Baseline
    ) -> Watched:
        """After a rollback: until the URLs answer as before, for as long as a change may take. Those of a
        zone whose account has Edge Side Code off cannot: its own setting tells alone that it was undone.
        """
        clock, target = self._connections.clock, message.start.target.zone
        terms = spec.section(EscSpec)
        client = await self._connections.service(message.start.spec, target)
        began = clock.monotonic()
        # Without Edge Side Code's own differences: whatever is not as it was before.
        as_before = agreed.model_copy(update={"differences": ()})
        async with self._prober(spec) as prober:
            while True:
                now = await prober.observe(baseline, beat)
                stays = esc_probe.still_seen(agreed, now)
                others = esc_probe.worse(as_before, now, terms.tolerance)
                late = clock.monotonic() - began > terms.effect_limit.total_seconds()
                if late or not (stays or others):
                    break
                await clock.sleep(message.start.policy.poll.total_seconds())
        why = [Reason(code=ReasonCode.URLS_AS_BEFORE, count=now.coverage.urls)]
        if stays:
            off_above = await twice("esc.get", lambda: account_is_off(client, target))
            stay = ReasonCode.ACCOUNT_OFF if off_above else ReasonCode.DIFFERENCES_STAY
            why = [Reason(code=stay, count=len(stays), of=len(agreed.differences))]
            if not off_above:
                return Watched.as_worse(*why)
        elif others:
            why = [Reason(code=ReasonCode.URLS_NOT_AS_BEFORE, names=tuple(others[:MOST_TOLD]))]
        why += esc_probe.unmarked(now.coverage.hosts_unmarked)
        own = await last_change(self._connections, message.start)
        if own is None or not own.back or own.may_show or own.record.digest != message.prepared.digest:
            return Watched.not_looked_at(NOT_OURS)
        try:
            setting = await twice("esc.get", lambda: client.esc(target.scope), shows)
        except ServiceError:
            if not (gone := esc.too_late(self._connections.time_at(client), client.profile)):
                raise
            return Watched.not_looked_at(gone)
        off, alone = shows(setting)
        archive, snapshot = self._connections.archive, message.prepared.snapshot
        before = (await get_document(archive, Snapshot[esc.Reading], snapshot)).reading
        if off is not before.always:
            return Watched.as_worse(Reason(code=ReasonCode.ESC_STAYED_OFF))
        if alone and not own.answered:
            # It looks so whether it is off or on.
            return Watched.not_looked_at(Reason(code=ReasonCode.SECRET_ALONE))
        if before.secret is esc.Secret.OWN:
            secret = setting.with_secret or NO_SECRET
            if esc.whose(secret.get_secret_value()) is not esc.Secret.OWN:
                why.append(Reason(code=ReasonCode.SECRET_DROPPED))
        return Watched.as_done(*why, record=await self._record(message, own, now, *why))

    async def _record(self, message: Watch, own: OwnChange, seen: esc_probe.ProbeReport, *why: Reason) -> str:
        prepared, archive = message.prepared, self._connections.archive
        record = EscRecord(
            zone=message.start.target.zone,
            campaign=message.start.campaign,
            digest=prepared.digest,
            snapshot=prepared.snapshot,
            proposal=prepared.proposal,
            evidence=await put_document(archive, seen),
            why=message.why,
            said=text_of(*why),
            codes=codes_of(why),
            changed_at=message.since,
            aftercare=Advice(advice=tuple(difference_texts.loss_lines(seen))),
        )
        kept = await put_document(archive, record, verify=True)
        await self._connections.results.record_watched(message, kept, own.record)
        return kept
