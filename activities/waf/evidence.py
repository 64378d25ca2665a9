"""The evidence of a validation window, out of the zone's security events (docs/service.md §3.2, §4.3)."""

from __future__ import annotations

import functools
from datetime import datetime, timedelta
from typing import Any

from temporalio import activity

from activities.boundary import heartbeating, named_failures
from activities.change.intent_records import now_of
from activities.change.own import own_of, run_of
from activities.connections import Connections
from activities.proof.evidence_at_the_door import Validated, ahead, gathered_here, last_validation
from activities.reports import awaiting, told_unless_gone
from activities.stable_read import twice
from activities.waf.managed_rules import ManagedRules
from activities.waf.proposing import NOTHING
from edgeshift.areas import waf
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Evidence, Window, agreed_rules, judge
from edgeshift.areas.waf.evidence_again import suits
from edgeshift.areas.waf.evidence_terms import EvidenceCause
from edgeshift.campaign_file.spec import ValidationMode
from edgeshift.messages import Gathered, GatherEvidence, ZoneStart
from edgeshift.model.digests import digest
from edgeshift.service_api import ServiceClient
from edgeshift.stores.documents import EvidenceGathered, Proposal, gathered_key, get_document, put_document

LATE = timedelta(minutes=5)
"""How late an event may come to be seen, before the time scale; at most a tenth of the window."""


class EvidenceActivities:
    """Reading and judging security events."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._managed = ManagedRules(connections)

    @activity.defn(name="gather_evidence")
    @named_failures
    @heartbeating
    async def gather(self, message: GatherEvidence) -> Gathered:
        """Judge the window's events, archive the evidence, and announce the proposal with it: the word costs
        no event of its own.
        """
        start = message.start
        zone = start.target.zone
        spec = await self._connections.spec(start.spec)
        client = await self._connections.service(start.spec, zone)
        body = (await get_document(self._connections.archive, Proposal, message.proposal)).body
        margin = ahead(spec)
        validated = await last_validation(self._connections.archive, self._connections.records, start)
        doubt, cause = await self._unlike(message, margin, body, validated)
        if waf.unsound(body) is not None:
            # Only a forgery is so, and what it says is compared with nothing.
            body = NOTHING
        rulesets, defaults = managed_rulesets(body), dict[str, waf.Defaults]()
        if message.mode is ValidationMode.SHADOW:
            # There every rule logs, and its default may tell whether it does so by the proposal, too.
            defaults = await self._managed.of(start, rulesets)
        status = (await client.waf_status(zone.id)).raw
        # Events come to be seen late, and those of one request not at once. What begins near an edge of the
        # window is not judged; what follows it is read, so that no half of a request stands for the whole.
        late = min(LATE / spec.time_scale, (message.until - message.since) / 10)
        log = await client.event_log(zone.id, message.since - late, message.until)
        evidence = judge(
            (event.raw for event in log.events),
            rulesets,
            message.mode.value,
            spec.validation.evidence,
            functools.partial(waf.logs_anyway, body, managed=defaults),
            Window(
                since=message.since,
                until=message.until - late,
                whole=log.whole,
                known=await self._agreed(start, message.earlier, message.digest),
                earlier=message.earlier,
            ),
        )
        stored = ""
        if not waf.in_validation(status):
            shown = str(status.get("migration_state"))[:30]
            doubt = f"the zone is not in validation any more: its status shows {shown}"
            cause = EvidenceCause.NOT_VALIDATING
        else:
            adopted = validated is None or validated.digest != message.digest
            written_by = message.since + margin if adopted else None
            others, stored = await self._runs_others(message, client, body, written_by)
            if not doubt:
                doubt, cause = others, EvidenceCause.OTHER_RULES
            passed = evidence.verdict is EvidenceVerdict.PASS and not doubt
            if passed and message.announce and not suits(message.mode.value, spec.validation.modes):
                # Somebody else has set it into validation: no window follows, and it is decided on by itself.
                last = spec.validation.modes[-1].value
                doubt = f"the window was in mode {message.mode.value}; the campaign's file asks for {last}"
                cause = EvidenceCause.OTHER_MODE
        if doubt:
            judged = {"verdict": EvidenceVerdict.INCONCLUSIVE, "why": doubt, "cause": cause}
            evidence = evidence.model_copy(update=judged)
        about = {"zone": zone.id, "proposal": message.digest, "stored": stored}
        evidence = evidence.model_copy(update=about)
        found = await put_document(self._connections.archive, evidence, verify=True)
        begun_by = await self._connections.starts.begun_by(start.spec)
        said = EvidenceGathered(run=run_of(start), spec=start.spec, start=begun_by)
        # Somebody may have gathered the same: that counts, where a worker did.
        await self._connections.records.create(gathered_key(zone, found), said)
        told = True
        if message.announce:
            announce = awaiting(
                start,
                digest=message.digest,
                fingerprint=message.fingerprint,
                sequence=message.sequence,
                joins=evidence.verdict is EvidenceVerdict.PASS,
            )
            told = await told_unless_gone(self._connections, announce)
        return Gathered(evidence=found, verdict=evidence.verdict, why=evidence.why[:200], told=told)

    async def _unlike(
        self, message: GatherEvidence, margin: timedelta, body: dict[str, Any], validated: Validated | None
    ) -> tuple[str, EvidenceCause]:
        """Why what a message asks for is no window of this proposal's validation, whoever asks: empty where
        it is one, by the archive and the clock.
        """
        if odd := waf.unsound(body):
            return f"the proposal cannot be read as rules: {odd}", EvidenceCause.OTHER_RULES
        if digest(body) != message.digest:
            return "the proposal is another one than its digest says", EvidenceCause.OTHER_RULES
        begins = validated is None or message.since >= validated.at - margin
        if not begins or not message.since < message.until <= now_of(self._connections) + margin:
            return "the window is not one of this validation", EvidenceCause.NOT_VALIDATING
        if not message.comparable:
            return (
                "the zone was found in validation with other rules than the proposal's",
                EvidenceCause.OTHER_RULES,
            )
        return "", EvidenceCause.OTHER_RULES

    async def _runs_others(
        self,
        message: GatherEvidence,
        client: ServiceClient,
        body: dict[str, Any],
        written_by: datetime | None,
    ) -> tuple[str, str]:
        """Why the zone's events say nothing of the proposal: it runs other rules, or has run these for a part
        of the window alone; empty where it does not. And the digest of the rules that it runs.
        ``written_by``: when its rules have to have been written, where no worker has done so. A difference is
        believed when it stays.
        """
        sent = waf.shadow(body) if message.mode is ValidationMode.SHADOW else body
        zone = message.start.target.zone

        async def look() -> tuple[str, str]:
            stored = await client.entry_point(zone.id)
            found = waf.rules_digest(stored.raw if stored is not None else None)
            if stored is None or not waf.same_rules(stored.raw, sent):
                return "the zone is in validation with other rules than the proposal's", found
            written = moment_in(stored.last_updated)
            if written_by is not None and written is not None and written > written_by:
                return "the zone has had these rules for a part of the window alone", found
            return "", found

        first = await look()
        return first if not first[0] else await twice("entrypoint.get", look)

    async def _agreed(self, start: ZoneStart, earlier: str, about: str) -> frozenset[str]:
        """Rules that the shadow window before this one found to agree with the previous WAF: none, where no
        worker has gathered it for this campaign, and of what is proposed (``about``).
        """
        there = self._connections
        own = await own_of(there, start)
        if not earlier or not await gathered_here(there.records, start, earlier, own.starts):
            return frozenset()
        found = await get_document(there.archive, Evidence, earlier)
        return agreed_rules(found) if found.proposal == about else frozenset()


def moment_in(text: str | None) -> datetime | None:
    """The time that the service tells, or None where it tells none."""
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def managed_rulesets(body: dict[str, Any]) -> frozenset[str]:
    """The managed rulesets that a body runs."""
    return frozenset(
        str((rule.get("action_parameters") or {}).get("id"))
        for rule in body["rules"]
        if rule.get("action") == "execute"
    )
