"""The area waf in timelines and reports: its sentences, the evidence of windows, aftercare. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from edgeshift.areas import waf
from edgeshift.areas.waf.evidence_terms import Evidence
from edgeshift.areas.waf.evidence_texts import evidence_lines
from edgeshift.areas.waf.loss_texts import text_of_loss
from edgeshift.areas.waf.losses import Fate, Loss, lost_counts
from edgeshift.areas.waf.preview_part import shown_of
from edgeshift.areas.waf.terraform import DEFAULT_RANGE
from edgeshift.messages import Step
from edgeshift.model.counts import counted
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.stores.documents import ZoneRecord
from edgeshift.stores.documents.areas.waf import WafRecord
from edgeshift.views.areas.waf_activities import tell_gathered, tell_verified
from edgeshift.views.areas.waf_snapshot import snapshot_lines
from edgeshift.views.chosen import command
from edgeshift.views.entries import Attempt, Sending
from edgeshift.views.parts import ViewPart
from edgeshift.views.sentences import SENT, campaign_of, commits_of, consent_of, rejecting, with_earlier
from edgeshift.views.words import joined, moment

if TYPE_CHECKING:
    from edgeshift.operations.preview import Preview
    from edgeshift.views.report_source import Source

LABELS = {Fate.LOST: "lost", Fate.CARRIED_OVER: "carried over", Fate.COMPARE: "to compare"}
"""What became of a setting, for a timeline."""

OF_EARLIER_VERSIONS = "re-create by hand: "
"""What earlier versions said of lost settings, beside what else there was to review."""

NO_WINDOW = "there was no validation window, so nothing has been seen of these rules at work"


class WafViews(ViewPart):
    """What a person sees of a migration."""

    template = "area_waf.html.j2"
    seen_template = "seen_waf.html.j2"
    counts_losses = True
    terraform = True
    proposals = ()
    tellers = MappingProxyType({"verify_waf_zone": tell_verified, "gather_evidence": tell_gathered})

    def sentence(self, name: str, attempts: Sequence[Attempt]) -> str | None:
        """What happened to the zone, and who agreed."""
        return _sentence(name, attempts)

    def report(self, source: Source) -> BaseModel:
        """The evidence of windows, and what is left to do."""
        from edgeshift.views.areas.waf_report import sections

        windows = {index: one for index, one in source.documents.items() if isinstance(one, Evidence)}
        cares = {index: one.aftercare for index, one in source.records.items() if isinstance(one, WafRecord)}
        lost = {index: _losses(some) for index, some in source.losses.items()}
        return sections(source.rows, windows, cares, lost)

    def losses(self, record: ZoneRecord) -> tuple[Loss, ...]:
        """Settings of the previous WAF that were not carried over as they were, or are to be compared."""
        return record.aftercare.losses if isinstance(record, WafRecord) else ()

    def lost(self, losses: Sequence[BaseModel]) -> dict[str, int]:
        """How many rules and groups are lost."""
        return lost_counts(_losses(losses))

    def filters(self) -> Mapping[str, Callable[..., Any]]:
        """What says evidence and losses in words."""
        from edgeshift.views.areas.waf_report import FILTERS

        return FILTERS

    def step_text(self, shown: Preview) -> str:
        """What would be committed or deleted."""
        if shown.step is Step.DELETE_OVERRIDES:
            overrides = counted(len(shown_of(shown.own).overrides), "URI-based override")
            return f"delete {overrides}; this cannot be undone"
        return f"commit {counted(len(shown.body.get('rules') or ()), 'rule')}; this cannot be undone"

    def remarks(self, shown: Preview) -> list[tuple[str, Sequence[str]]]:
        """What of it stops nothing."""
        return [("only logs, as signed", shown_of(shown.own).only_log)]

    def seen_lines(self, shown: Preview, most: int = 6) -> list[str]:
        """That nothing was seen of what is committed, where that is so."""
        return [] if shown.evidence or shown.step is not Step.COMMIT else [f"none; {NO_WINDOW}"]

    def after(self, campaign: str, name: str) -> tuple[str, ...]:
        """Terraform, for whoever keeps the zone there."""
        return (
            f"Terraform, by default for provider {DEFAULT_RANGE.name} ({DEFAULT_RANGE.constraint}):"
            f" {command('export', 'terraform', campaign, '--zone', name)}",
            f"whether it still is as signed: {command('check', name)}",
        )

    def snapshot_lines(self, reading: dict[str, Any]) -> list[str]:
        """The previous WAF, and what the zone had beside it."""
        return snapshot_lines(waf.Reading.model_validate(reading))

    def is_before(self, reading: dict[str, Any]) -> bool:
        """Whether the zone was not migrated yet: its previous WAF cannot be read any more then."""
        return not waf.is_migrated(reading.get("status")) and not reading.get("stopped")

    def reads(self, objects: Mapping[str, str]) -> bool:
        """Its snapshots and proposals are told where people sign; of its record, what was lost."""
        return bool({"evidence", "record"} & objects.keys())

    def lines(self, role: str, document: BaseModel) -> list[str]:
        """What was seen in a window; of a record of an earlier version, what it counted as lost."""
        if isinstance(document, Evidence):
            return evidence_lines(document)
        if isinstance(document, WafRecord) and not document.aftercare.losses:
            return [text for text in document.aftercare.review if text.startswith(OF_EARLIER_VERSIONS)]
        return super().lines(role, document)

    def loss_text(self, loss: BaseModel) -> str:
        """A setting, and whether it is lost."""
        return f"{LABELS[loss.fate]}: {text_of_loss(loss)}" if isinstance(loss, Loss) else str(loss)

    def evidence_of(self, record: ZoneRecord) -> str:
        """That of its window was told when it was gathered."""
        return "" if isinstance(record, WafRecord) else record.evidence


def _losses(some: Sequence[BaseModel]) -> list[Loss]:
    return [one for one in some if isinstance(one, Loss)]


def _sentence(name: str, attempts: Sequence[Attempt]) -> str:
    last = attempts[-1]
    changed = [item for item in last.sendings if item.status in SENT]
    commits = [item for item in changed if item.step == "commit"]
    consent, campaign = consent_of(commits_of(attempts)), campaign_of(last)
    when = moment(last.closed_at)
    sent = f"a commit was sent ({consent})" if commits else _sent_else(changed, last.sendings)
    sent = with_earlier(sent, Area.WAF, attempts)
    match last.outcome:
        case ZoneOutcome.MIGRATED:
            return f"{name} was migrated by {campaign} on {when}: {consent}."
        case ZoneOutcome.ALREADY_MIGRATED:
            return f"{name} had been migrated already when {campaign} looked; {sent}."
        case ZoneOutcome.REJECTED:
            who = joined(rejecting(last)) or "somebody"
            return f"{name} was not migrated by {campaign}: {who} rejected it on {when}; {sent}."
        case ZoneOutcome.UNKNOWN:
            return f"What became of {name} in {campaign} is unknown ({last.reason}); {sent}."
        case "":
            return (
                f"{name} is in the hands of {campaign}: {last.doing or 'it has just begun'}; {sent} so far."
            )
    words = last.outcome.replace("_", " ")
    return f"{name} was not migrated by {campaign}: {words} ({last.reason or 'no reason given'}); {sent}."


def _sent_else(changed: Sequence[Sending], sendings: Sequence[Sending]) -> str:
    refused = "the commit was sent and refused" if _refused_commit(sendings) else ""
    if not changed:
        return refused
    steps = {
        "validate": "only the validation was sent",
        "delete_overrides": "only the deletion of overrides was sent",
    }
    first = changed[-1].step
    return refused or steps.get(first, f"{first.replace('_', ' ')} was sent")


def _refused_commit(sendings: Sequence[Sending]) -> bool:
    return any(item.step == "commit" and item.status == "refused" for item in sendings)


PART = WafViews()
