"""What a campaign says of itself: its queries' answers, made of its state alone."""

from __future__ import annotations

from datetime import datetime
from itertools import chain, islice

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.campaign.target_states import AWAITING, Place
    from edgeshift.messages import (
        Book,
        CampaignSummary,
        PlacesAsked,
        TargetAt,
        TargetsAt,
        Waiting,
        WaveSummary,
    )
    from edgeshift.model.counts import counted
    from edgeshift.rate_limit.circuit import to_mend
    from workflows.campaign.state import CampaignState

MOST_SHOWN = 500
"""Entries of the book that a summary shows, the latest."""

MOST_WAITING = 200
"""Fingerprints that a summary shows as waiting, those with the most zones."""

SHORT = 80
"""Characters of a reason that are shown."""


def summary(state: CampaignState, now: datetime) -> CampaignSummary:
    """The campaign as it stands."""
    ledger, start = state.ledger, state.start
    stopped = state.aborted or state.paused
    return CampaignSummary(
        name=start.name,
        area=start.area,
        state=state_word(state),
        why=why(state),
        started_by=start.started_by,
        started_at=state.started_at,
        now=now,
        time_scale=start.time_scale,
        count=start.count,
        wave=state.wave,
        waves=[
            WaveSummary(number=w.number, name=w.name, size=w.size, places=ledger.tallies(w.first, w.end))
            for w in start.waves
        ],
        places=ledger.tallies(),
        permits_out=len(ledger.permits),
        waiting=waiting(state),
        book=[_shortened(entry) for entry in ledger.book[-MOST_SHOWN:]],
        excluded=ledger.excluded,
        excluded_codes=ledger.excluded_codes,
        notes=state.notes,
        targets=start.targets,
        spec=start.spec,
        mend=to_mend(state.holds[0], start.name) if state.holds else "",
        holds=list(state.holds),
        held_zones=len(ledger.held),
        stopped_by=stopped.by if stopped else "",
        stopped_at=state.stopped_at if stopped else None,
        retrying=state.retrying,
        open_runs=sum(1 for index in range(ledger.count) if ledger.is_open(index)),
    )


def state_word(state: CampaignState) -> str:
    """The campaign's state in one word."""
    if state.closed:
        return "closed"
    if state.aborted:
        return "aborting"
    if state.stands_still:
        return "pausing" if state.pausing else "paused"
    return "halted" if state.halted else "running"


def why(state: CampaignState) -> str:
    """Why it does not run at full width, or empty."""
    said = []
    if person := state.aborted or state.paused:
        said.append(f"by {person.by}: {person.reason or 'no reason given'}")
    if state.holds:
        more = f" (and {len(state.holds) - 1} more)" if len(state.holds) > 1 else ""
        said.append(f"by itself: {state.holds[0]}{more}")
    most = state.most_in_flight()
    if not said and not state.halted and not state.closed and most < state.start.window:
        return f"{counted(state.failures, 'zone')} failed: {most} at a time until a person resumes"
    return "; ".join(said) or state.halted


def waiting(state: CampaignState) -> list[Waiting]:
    """The fingerprints that wait for a sign-off, those with the most zones first."""
    found: dict[int, Waiting] = {}
    ledger = state.ledger
    for index in chain.from_iterable(ledger.indexes(place) for place in AWAITING):
        number, wave = ledger.shapes[index], state.waves.of(index)
        if not number:
            continue
        shape = ledger.known[number - 1]
        entry = found.setdefault(
            number,
            Waiting(fingerprint=shape.fingerprint, zones=0, waves=[], example=index, step=shape.step),
        )
        entry.zones += 1
        entry.separate += ledger.places[index] == Place.AWAITING_SEPARATE
        if wave not in entry.waves:
            entry.waves.append(wave)
    return sorted(found.values(), key=lambda entry: -entry.zones)[:MOST_WAITING]


def targets_at(state: CampaignState, message: PlacesAsked) -> TargetsAt:
    """Which targets are at these places, and what they proposed last."""
    ledger = state.ledger
    places = [place for place in Place if place.name.lower() in message.places]
    found = []
    for index in islice(ledger.indexes(*places), message.most):
        shape = ledger.shape(index)
        place, wave = Place(ledger.places[index]), state.waves.of(index)
        fingerprint = shape.fingerprint if shape else ""
        found.append(TargetAt(index=index, place=place.name.lower(), wave=wave, fingerprint=fingerprint))
    return TargetsAt(total=ledger.number(*places), targets=found)


def _shortened(entry: Book) -> Book:
    decisions = [item.model_copy(update={"reason": item.reason[:SHORT]}) for item in entry.decisions]
    return entry.model_copy(update={"decisions": decisions})
