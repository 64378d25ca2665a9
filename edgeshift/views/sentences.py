"""What happened to a zone and who agreed, in one sentence. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.views.entries import Attempt, Sending
from edgeshift.views.words import joined, look, moment

_SENT = ("answered", "unknown", "")
"""Statuses of calls that changed something, or may have."""

_CHANGES = {
    Area.ESC: ("esc was turned off for {}", "esc was turned on again for {}", "what turns esc off"),
    Area.LOG_FIELDS: (
        "the custom fields of {} were written",
        "the custom fields of {} were taken back",
        "the write of the custom fields",
    ),
}
"""How a change is called that was made, that was undone, that was sent."""


def sentence(name: str, area: Area, attempts: Sequence[Attempt]) -> str:
    """What happened here, and who agreed, in one sentence."""
    if not attempts:
        return f"Nothing is on record for {name}: no run of its workflow is retained."
    own = [attempt for attempt in attempts if not attempt.held_for]
    last = (own or attempts)[-1]
    if last.held_for:
        until = f"until {moment(last.closed_at)}" if last.closed_at else "and still is"
        return f"{name} was held for {last.held_for} {until}; what became of it is in that history."
    return _of_waf(name, last) if area is Area.WAF else _of_reversible(name, area, last)


def _campaign(last: Attempt) -> str:
    return f"campaign {last.campaign}" if last.campaign else "a campaign that is not named"


def _consent(sendings: Sequence[Sending]) -> str:
    agreed = list(dict.fromkeys(person for item in sendings for person in item.agreed))
    return f"{joined(agreed)} agreed to what was sent" if agreed else "NOBODY'S AGREEMENT IS ON RECORD"


def _of_reversible(name: str, area: Area, last: Attempt) -> str:
    changed = [item for item in last.sendings if item.status in _SENT]
    commits = [item for item in changed if item.step == "commit"]
    done, undone, what = _CHANGES[area]
    campaign, when, reason = _campaign(last), moment(last.closed_at), last.reason or "no reason given"
    sent = "nothing was sent that changes it"
    if commits:
        sent = f"{what} was sent ({_consent(commits)})"
        if any(item.step == "roll_back" for item in changed):
            sent += ", and the way back after it"
    elif any(item.step == "set_secret" for item in changed):
        sent = "only a test secret was set"
    match last.outcome:
        case ZoneOutcome.SETTLED:
            return f"{_begin(done.format(name))} by {campaign}, settled on {when}: {_consent(commits)}."
        case ZoneOutcome.ALREADY_SETTLED:
            return f"{name} needed no change when {campaign} looked ({reason}); {sent}."
        case ZoneOutcome.ROLLED_BACK:
            return f"{_begin(undone.format(name))} by {campaign} on {when}: {reason} ({_consent(commits)})."
        case ZoneOutcome.REJECTED:
            who = joined(_rejecting(last)) or "somebody"
            return f"{name} was not changed by {campaign}: {who} rejected it on {when}; {sent}."
        case ZoneOutcome.UNKNOWN:
            return f"What became of {name} in {campaign} is unknown ({last.reason}); {sent}."
        case "":
            doing = last.doing or "it has just begun"
            return f"{name} is in the hands of {campaign}: {doing}; {sent} so far."
    return f"{name} was not changed by {campaign}: {look(last.outcome, area).label} ({reason}); {sent}."


def _begin(text: str) -> str:
    return text[0].upper() + text[1:]


def _of_waf(name: str, last: Attempt) -> str:
    changed = [item for item in last.sendings if item.status in _SENT]
    commits = [item for item in changed if item.step == "commit"]
    consent, campaign = _consent(commits), _campaign(last)
    when = moment(last.closed_at)
    sent = f"a commit was sent ({consent})" if commits else _sent_else(changed, last.sendings)
    match last.outcome:
        case ZoneOutcome.MIGRATED:
            return f"{name} was migrated by {campaign} on {when}: {consent}."
        case ZoneOutcome.ALREADY_MIGRATED:
            return f"{name} had been migrated already when {campaign} looked; {sent}."
        case ZoneOutcome.REJECTED:
            who = joined(_rejecting(last)) or "somebody"
            return f"{name} was not migrated by {campaign}: {who} rejected it on {when}; {sent}."
        case ZoneOutcome.UNKNOWN:
            return f"What became of {name} in {campaign} is unknown ({last.reason}); {sent}."
        case "":
            return (
                f"{name} is in the hands of {campaign}: {last.doing or 'it has just begun'}; {sent} so far."
            )
    words = last.outcome.replace("_", " ")
    return f"{name} was not migrated by {campaign}: {words} ({last.reason or 'no reason given'}); {sent}."


def _rejecting(attempt: Attempt) -> list[str]:
    found = [item.by for item in attempt.signed if item.choice == "reject" and not item.refused]
    return list(dict.fromkeys(found))


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
