"""A zone's timeline out of its workflow's history: what was read, sent and decided, by whom and when. Pure.

The record is Temporal's, not edgeshift's own telling: signals with the names that signed them, the input of
each mutating activity with the decisions and the permit that it carried, and what came back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from edgeshift.fleet import ZoneOutcome
from edgeshift.views.entries import Attempt, Sending, Timeline, part
from edgeshift.views.events import Event, Run
from edgeshift.views.telling import Teller
from edgeshift.views.words import joined, moment


def build_timeline(zone: str, runs: Sequence[Run]) -> Timeline:
    """The timeline of the zone with this identifier, from its workflow's retained runs in any order."""
    attempts: list[Attempt] = []
    name = plan = ""
    for run in sorted((run for run in runs if run.events), key=lambda run: run.events[0].at):
        began = run.events[0]
        start = began.input[0] if began.input and isinstance(began.input[0], dict) else {}
        described = part(part(start, "target"), "zone")
        name, plan = str(described.get("name") or name), str(described.get("plan") or plan)
        goes_on = bool(began.facts.get("continued_execution_run_id")) and bool(attempts)
        if goes_on:
            attempt = attempts[-1]
            attempt.run_ids.append(run.run_id)
        else:
            attempt = Attempt(
                number=_number(start.get("attempt"), len(attempts) + 1),
                campaign=_campaign(start, began),
                wave=part(start, "target").get("wave"),
                started_by=str(start.get("started_by") or ""),
                run_ids=[run.run_id],
                started_at=began.at,
            )
            attempts.append(attempt)
        Teller(run, attempt).tell()
    return Timeline(
        zone=zone, name=name or zone, plan=plan, sentence=_sentence(name or zone, attempts), attempts=attempts
    )


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise


def _campaign(start: dict[str, Any], began: Event) -> str:
    memo = began.facts.get("memo") or {}
    return str(start.get("campaign") or memo.get("campaign") or "").removeprefix("campaign/")


def _sentence(name: str, attempts: Sequence[Attempt]) -> str:
    """What happened here, and who agreed, in one sentence."""
    if not attempts:
        return f"Nothing is on record for {name}: no run of its workflow is retained."
    last = attempts[-1]
    changed = [item for item in last.sendings if item.status in ("answered", "unknown", "")]
    commits = [item for item in changed if item.step == "commit"]
    agreed = list(dict.fromkeys(person for item in commits for person in item.agreed))
    consent = f"{joined(agreed)} agreed to what was sent" if agreed else "NOBODY'S AGREEMENT IS ON RECORD"
    campaign = f"campaign {last.campaign}" if last.campaign else "a campaign that is not named"
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
