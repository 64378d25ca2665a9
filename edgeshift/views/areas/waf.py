"""The area waf in timelines and reports: its sentences, the evidence of windows, aftercare. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from edgeshift.model.fleet import ZoneOutcome
from edgeshift.views.entries import Attempt, Sending
from edgeshift.views.parts import ViewPart
from edgeshift.views.sentences import SENT, campaign_of, consent_of, rejecting
from edgeshift.views.words import joined, moment


class WafViews(ViewPart):
    """What a person sees of a migration."""

    template = "area_waf.html.j2"
    proposals = ()

    def sentence(self, name: str, last: Attempt) -> str | None:
        """What happened to the zone, and who agreed."""
        return _sentence(name, last)

    def reads(self, objects: Mapping[str, str]) -> bool:
        """Its snapshots and proposals are told where people sign."""
        return "evidence" in objects


def _sentence(name: str, last: Attempt) -> str:
    changed = [item for item in last.sendings if item.status in SENT]
    commits = [item for item in changed if item.step == "commit"]
    consent, campaign = consent_of(commits), campaign_of(last)
    when = moment(last.closed_at)
    sent = f"a commit was sent ({consent})" if commits else _sent_else(changed, last.sendings)
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
        return refused or "nothing was sent that changes it"
    steps = {
        "validate": "only the validation was sent",
        "delete_overrides": "only the deletion of overrides was sent",
    }
    first = changed[-1].step
    return refused or steps.get(first, f"{first.replace('_', ' ')} was sent")


def _refused_commit(sendings: Sequence[Sending]) -> bool:
    return any(item.step == "commit" and item.status == "refused" for item in sendings)


PART = WafViews()
