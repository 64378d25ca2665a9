"""What happened to a zone and who agreed, in one sentence. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from edgeshift.areas import area_of
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.views.entries import Attempt, Sending
from edgeshift.views.parts import VIEWS
from edgeshift.views.words import joined, look, moment, unverified

SENT = ("answered", "unknown", "")
"""Statuses of calls that changed something, or may have."""


def sentence(name: str, area: Area, attempts: Sequence[Attempt]) -> str:
    """What happened here, and who agreed, in one sentence."""
    if not attempts:
        return f"Nothing is on record for {name}: no run of its workflow is retained."
    own = [attempt for attempt in attempts if not attempt.held_for]
    counting = own or list(attempts)
    last = counting[-1]
    if last.held_for:
        until = f"until {moment(last.closed_at)}" if last.closed_at else "and still is"
        return f"{name} was held for {last.held_for} {until}; what became of it is in that history."
    return VIEWS.of(area).sentence(name, counting) or _of_reversible(name, area, counting)


def campaign_of(last: Attempt) -> str:
    """The campaign of an attempt, for a sentence."""
    return f"campaign {last.campaign}" if last.campaign else "a campaign that is not named"


def consent_of(sendings: Sequence[Sending]) -> str:
    """Who agreed to what was sent, for a sentence."""
    agreed = list(dict.fromkeys(person for item in sendings for person in item.agreed))
    return f"{joined(agreed)} agreed to what was sent" if agreed else "NOBODY'S AGREEMENT IS ON RECORD"


def sent_before(area: Area, attempts: Sequence[Attempt]) -> str:
    """What the attempts before the last have sent, for a sentence: ``attempt 1 sent the validation``. Empty
    where they sent nothing that changes anything.
    """
    *earlier, last = attempts
    found = []
    for attempt in earlier:
        which = _named(attempt, last)
        sure = _things(area, [item for item in attempt.sendings if item.status == "answered"])
        maybe = _things(area, [item for item in attempt.sendings if item.status in ("unknown", "")])
        said = [f"sent {joined(sure)}"] if sure else []
        said += [f"may have sent {joined(maybe)}"] if maybe else []
        found += [f"{which} {' and '.join(said)}"] if said else []
    return joined(found)


def _named(attempt: Attempt, last: Attempt) -> str:
    """An attempt before the last, told apart from it: attempts count from 1 in every start of a campaign, and
    one that was reset begins once more with its own number.
    """
    which = f"attempt {attempt.number}"
    if attempt.campaign != last.campaign:
        return f"{which} of {campaign_of(attempt)}"
    if attempt.origin and last.origin and attempt.origin != last.origin:
        began = moment(attempt.started_at)
        return f"{which} of an earlier start of {campaign_of(attempt)} (begun on {began})"
    return f"an earlier run of {which}" if attempt.number == last.number else which


def _things(area: Area, sendings: Sequence[Sending]) -> list[str]:
    known = area_of(area).sent
    return list(dict.fromkeys(known.get(item.step, item.step.replace("_", " ")) for item in sendings))


def with_earlier(sent: str, area: Area, attempts: Sequence[Attempt]) -> str:
    """What all attempts sent. ``sent``: what the last one did, in words; empty where that is nothing that
    changes anything.
    """
    before = sent_before(area, attempts)
    if not before:
        return sent or "nothing was sent that changes it"
    last = f"attempt {attempts[-1].number} sent nothing that changes it"
    return f"{sent}; before that, {before}" if sent else f"{last}, but {before}"


def commits_of(attempts: Sequence[Attempt]) -> list[Sending]:
    """The commits that were sent, or may have been: by the last attempt, or else by those before it."""
    for attempt in reversed(attempts):
        if found := [item for item in attempt.sendings if item.step == "commit" and item.status in SENT]:
            return found
    return []


def _of_reversible(name: str, area: Area, attempts: Sequence[Attempt]) -> str:
    last = attempts[-1]
    changed = [item for item in last.sendings if item.status in SENT]
    commits = [item for item in changed if item.step == "commit"]
    consent = consent_of(commits_of(attempts))
    phrases = area_of(area).phrases
    campaign, when, reason = campaign_of(last), moment(last.closed_at), last.reason or "no reason given"
    sent = ""
    if commits:
        sent = f"{phrases.change} was sent ({consent})"
        if any(item.step == "roll_back" for item in changed):
            sent += ", and the rollback after it"
    elif any(item.step == "set_secret" for item in changed):
        sent = "only a test secret was set"
    elif any(item.step == "roll_back" for item in changed):
        sent = "only a rollback was sent"
    sent = with_earlier(sent, area, attempts)
    match last.outcome:
        case ZoneOutcome.SETTLED:
            done = _begin(phrases.changed.format(name))
            # Written is not seen: why it was kept all the same belongs to the answer.
            seen = f" ({reason})" if unverified(last.causes, area) else ""
            return f"{done} by {campaign}, settled on {when}{seen}: {consent}."
        case ZoneOutcome.ALREADY_SETTLED:
            return f"{name} needed no change when {campaign} looked ({reason}); {sent}."
        case ZoneOutcome.ROLLED_BACK:
            undone = _begin(phrases.undone.format(name))
            return f"{undone} by {campaign} on {when}: {reason} ({consent})."
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
