"""What happened to a zone and who agreed, in one sentence. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from edgeshift.areas import area_of
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.views.entries import Attempt, Sending
from edgeshift.views.parts import VIEWS
from edgeshift.views.words import joined, look, moment

SENT = ("answered", "unknown", "")
"""Statuses of calls that changed something, or may have."""


def sentence(name: str, area: Area, attempts: Sequence[Attempt]) -> str:
    """What happened here, and who agreed, in one sentence."""
    if not attempts:
        return f"Nothing is on record for {name}: no run of its workflow is retained."
    own = [attempt for attempt in attempts if not attempt.held_for]
    last = (own or attempts)[-1]
    if last.held_for:
        until = f"until {moment(last.closed_at)}" if last.closed_at else "and still is"
        return f"{name} was held for {last.held_for} {until}; what became of it is in that history."
    return VIEWS.of(area).sentence(name, last) or _of_reversible(name, area, last)


def campaign_of(last: Attempt) -> str:
    """The campaign of an attempt, for a sentence."""
    return f"campaign {last.campaign}" if last.campaign else "a campaign that is not named"


def consent_of(sendings: Sequence[Sending]) -> str:
    """Who agreed to what was sent, for a sentence."""
    agreed = list(dict.fromkeys(person for item in sendings for person in item.agreed))
    return f"{joined(agreed)} agreed to what was sent" if agreed else "NOBODY'S AGREEMENT IS ON RECORD"


def _of_reversible(name: str, area: Area, last: Attempt) -> str:
    changed = [item for item in last.sendings if item.status in SENT]
    commits = [item for item in changed if item.step == "commit"]
    phrases = area_of(area).phrases
    campaign, when, reason = campaign_of(last), moment(last.closed_at), last.reason or "no reason given"
    sent = "nothing was sent that changes it"
    if commits:
        sent = f"{phrases.change} was sent ({consent_of(commits)})"
        if any(item.step == "roll_back" for item in changed):
            sent += ", and the way back after it"
    elif any(item.step == "set_secret" for item in changed):
        sent = "only a test secret was set"
    match last.outcome:
        case ZoneOutcome.SETTLED:
            done = _begin(phrases.changed.format(name))
            return f"{done} by {campaign}, settled on {when}: {consent_of(commits)}."
        case ZoneOutcome.ALREADY_SETTLED:
            return f"{name} needed no change when {campaign} looked ({reason}); {sent}."
        case ZoneOutcome.ROLLED_BACK:
            undone = _begin(phrases.undone.format(name))
            return f"{undone} by {campaign} on {when}: {reason} ({consent_of(commits)})."
        case ZoneOutcome.REJECTED:
            who = joined(rejecting(last)) or "somebody"
            return f"{name} was not changed by {campaign}: {who} rejected it on {when}; {sent}."
        case ZoneOutcome.UNKNOWN:
            return f"What became of {name} in {campaign} is unknown ({last.reason}); {sent}."
        case "":
            doing = last.doing or "it has just begun"
            return f"{name} is in the hands of {campaign}: {doing}; {sent} so far."
    return f"{name} was not changed by {campaign}: {look(last.outcome, area).label} ({reason}); {sent}."


def _begin(text: str) -> str:
    return text[0].upper() + text[1:]


def rejecting(attempt: Attempt) -> list[str]:
    """Who rejected the proposal of an attempt, each once."""
    found = [item.by for item in attempt.signed if item.choice == "reject" and not item.refused]
    return list(dict.fromkeys(found))
