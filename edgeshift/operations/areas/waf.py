"""What a person reads before signing in the area waf: losses, overrides, the evidence of windows. And whether
a migrated zone still is as signed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from edgeshift.areas import waf
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.areas.waf.evidence_texts import cause_text, rules_of_cause
from edgeshift.areas.waf.losses import of_fate
from edgeshift.areas.waf.preview_part import WafShown, shown_of
from edgeshift.areas.waf.rule_items import DELETION, items
from edgeshift.areas.waf.standing import standing
from edgeshift.messages import Step, ZoneState
from edgeshift.model.body_view import Item
from edgeshift.model.counts import agreed, counted
from edgeshift.model.digests import Body
from edgeshift.operations.parts import Cause, CheckPart, Facts, ProposalPart, TargetCheck
from edgeshift.service_api import ServiceClient
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import Proposal, Snapshot, get_document
from edgeshift.stores.documents.areas.waf import WafProposal, WafRecord


def rule_names(reading: waf.Reading | None, *evidence: Evidence | None) -> dict[str, str]:
    """What rules are called, by their identifiers, as the snapshot and the events of windows name them."""
    found: dict[str, str] = {}
    for rule in reading.rules if reading else ():
        if rule.get("id") and rule.get("description"):
            found[str(rule["id"])] = str(rule["description"])
    for seen in evidence:
        found |= seen.names if seen else {}
    return found


class WafProposals(ProposalPart):
    """What is shown of a migration."""

    async def facts(
        self, archive: Archive, state: ZoneState, body: Body, evidence: BaseModel | None
    ) -> Facts:
        """What the zone's snapshot and the evidence say, and the body rule by rule. Raises ArchiveError."""
        snapshot = (
            await get_document(archive, Snapshot[waf.Reading], state.snapshot) if state.snapshot else None
        )
        found = waf.assess(snapshot.reading, snapshot.facts) if snapshot else None
        lost = found.losses if found else ()
        commits = bool(body.get("rules")) and (state.step or Step.COMMIT) is Step.COMMIT
        read = evidence if isinstance(evidence, Evidence) else None
        proposal = await get_document(archive, WafProposal, state.proposal) if state.proposal else None
        rules = (proposal.replaced if proposal else None) or ()
        earlier = await get_document(archive, Evidence, read.earlier) if read and read.earlier else None
        names = rule_names(snapshot.reading if snapshot else None, earlier, read)
        return Facts(
            items=items(body, snapshot.reading.entry_point if snapshot else None, names),
            losses=(*map(waf.text_of_loss, of_fate(lost, waf.Fate.LOST)), *rules),
            carried_over=tuple(map(waf.text_of_loss, of_fate(lost, waf.Fate.CARRIED_OVER))),
            compare=tuple(map(waf.text_of_loss, of_fate(lost, waf.Fate.COMPARE))),
            # What the proposal says beyond what follows from the snapshot, such as what is adjusted in vain.
            warnings=tuple(
                dict.fromkeys(
                    (
                        *(found.warnings if found else ()),
                        *(waf.protection_warnings(snapshot.reading, body) if snapshot and commits else ()),
                        *(proposal.warnings if proposal else ()),
                    )
                )
            ),
            speaks_against=read is not None and read.verdict is EvidenceVerdict.FAIL,
            own=WafShown(
                earlier=earlier,
                only_log=waf.only_logging(body),
                overrides=found.overrides if found else (),
                names=names,
            ),
        )

    def json(self, own: BaseModel | None) -> dict[str, Any]:
        """The window before, and what rules are called."""
        shown = shown_of(own)
        return {"earlier_evidence": shown.earlier, "names": dict(shown.names)}

    def items_of(self, body: Body) -> tuple[Item, ...]:
        """A body of rules, rule by rule."""
        return items(body, None) if body.get("rules") else ()

    def same_thing(self, before: Body, body: Body) -> bool:
        """Whether both commit, or both delete overrides."""
        return (before.get("name") == DELETION) == (body.get("name") == DELETION)

    def cause(self, evidence: BaseModel | None, own: BaseModel | None) -> Cause | None:
        """Why the evidence of its window did not pass, with the rules that it is about."""
        if not isinstance(evidence, Evidence) or evidence.verdict is EvidenceVerdict.PASS:
            return None
        code = evidence.cause.value if evidence.cause else evidence.verdict.value
        names = shown_of(own).names
        return Cause.of(code, cause_text(evidence, names), *rules_of_cause(evidence))

    def seen_of_all(self, evidence: Mapping[str, BaseModel | None]) -> Sequence[str]:
        """How many zones passed a window, on how many events, and of how many nothing was seen."""
        found, shown = [], list(evidence.values())
        if passed := [seen for seen in shown if isinstance(seen, Evidence) and seen.verdict is _PASS]:
            least, most = (pick(seen.events for seen in passed) for pick in (min, max))
            events = counted(most, "event") if least == most else f"{least:,} to {most:,} events"
            each = " each" if len(passed) > 1 and least == most else ""
            found.append(f"{_of(len(passed), len(shown))} passed a validation window, on {events}{each}")
        if without := sum(not isinstance(seen, Evidence) for seen in shown):
            had = agreed(without, "has", "have")
            found.append(f"{_of(without, len(shown))} {had} none: nothing has been seen of the rules at work")
        return found


class WafChecks(CheckPart):
    """The zone's entry point, against the body that was signed and committed."""

    there = True

    async def check(self, service: ServiceClient, archive: Archive, record: str) -> TargetCheck:
        """Read the entry point, once."""
        made = await get_document(archive, WafRecord, record)
        signed = (await get_document(archive, Proposal, made.proposal)).body
        stored = await service.entry_point(made.zone.id)
        raw = stored.raw if stored is not None else None
        found = standing(signed, made.entry_point, raw)
        current = f"entry point {raw.get('id')}, version {raw.get('version')}" if raw else ""
        return TargetCheck(
            same=found.same,
            digest=made.digest,
            effects=found.switched,
            differences=found.changed,
            notes=found.notes,
            current=current,
        )


_PASS = EvidenceVerdict.PASS


def _of(some: int, total: int) -> str:
    return f"all {total:,} zones" if some == total else f"{some:,} of {total:,} zones"


PART = WafProposals()
CHECK = WafChecks()
