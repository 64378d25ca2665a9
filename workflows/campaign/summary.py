"""What a campaign says of itself: its queries' answers, made of its state alone."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from edgeshift.campaign.target_states import TargetState
    from edgeshift.messages import (
        Book,
        CampaignSummary,
        HeldTargets,
        PlacesAsked,
        TargetAt,
        TargetsAt,
        Waiting,
        WaitingAsked,
        WaitingFound,
        WaveSummary,
    )
    from edgeshift.model.campaign_phase import CampaignPhase
    from edgeshift.model.counts import counted
    from edgeshift.model.fleet import Wave
    from edgeshift.rate_limit.circuit import to_fix
    from workflows.campaign.state import CampaignState
    from workflows.campaign.window import Window

MOST_SHOWN = 500
"""Entries of the book that a summary shows, the latest."""

EACH_SHOWN = 20
"""Decisions of an entry that are shown, the latest: anybody may have given any number."""

MOST_DECISIONS = 1_500
"""Decisions of all entries that a summary shows: of three people on each. An answer holds as many."""

MOST_WAITING = 200
"""Fingerprints that a summary shows as waiting, those with the most zones."""

FEW_HOLDS = 5
"""Credentials that a published summary names as held."""

FEW_SAID = 3
"""Of them, how many are told of in words."""

NOTE = 160
"""Characters of a note that are published."""

SHORT = 80
"""Characters of a reason that are shown."""


def summary(
    state: CampaignState,
    now: datetime,
    most: int = MOST_WAITING,
    shown: int = MOST_SHOWN,
    decisions: int = MOST_DECISIONS,
) -> CampaignSummary:
    """The campaign as it stands. ``most``: fingerprints that wait; ``shown``: entries of the book, with
    ``decisions`` in all.
    """
    ledger, start = state.ledger, state.start
    stopped = state.aborted or state.paused
    return CampaignSummary(
        name=start.name,
        area=start.area,
        state=state_word(state),
        why=why(state),
        halted="" if state.aborted else state.halted,
        started_by=start.started_by,
        started_at=state.started_at,
        now=now,
        time_scale=start.time_scale,
        count=start.count,
        wave=state.wave,
        waves=[
            WaveSummary(number=w.number, name=w.name, size=w.size, places=ledger.tallies(w.number))
            for w in start.waves
        ],
        places=ledger.tallies(),
        permits_out=len(ledger.permits),
        waiting=waiting(state, most),
        fingerprints_waiting=len(set(ledger.waiters.numbers()) - {0}),
        book=[_shortened(entry) for entry in ledger.book.latest(shown, EACH_SHOWN, decisions)],
        excluded=ledger.excluded,
        excluded_codes=ledger.excluded_codes,
        notes=state.notes,
        targets=start.targets,
        spec=start.spec,
        archive=start.archive,
        fix=fix(state),
        holds=list(state.calls.holds),
        held_by=held_by(state),
        held_zones=len(ledger.held),
        stopped_by=stopped.by if stopped else "",
        stopped_at=state.stopped_at if stopped else None,
        retrying=state.retrying,
        window=Window(state).most_in_flight(),
        open_runs=ledger.open_runs(),
        begun_again=max(ledger.attempts, default=1) > 1,
        told_wrong=state.told_wrong,
        wrong=state.wrong,
        compared=state.compared,
    )


FEW_SHOWN = 20
"""Entries of a list that a published summary has at most: each takes its place in the history every time."""

FEW_DECISIONS = 3 * FEW_SHOWN
"""Decisions that a published summary shows."""

MOST_PUBLISHED = 40
"""Fingerprints that a published summary shows as waiting."""


def published(state: CampaignState, now: datetime) -> CampaignSummary:
    """The campaign as it stands, with few of what is listed: some kilobytes, whatever its size."""
    ledger = state.ledger
    named = dict(islice(ledger.excluded.items(), FEW_SHOWN))
    codes = ledger.excluded_codes
    update = {
        "excluded": named,
        "excluded_codes": {index: codes[index] for index in named},
        "notes": [note[:NOTE] for note in state.notes],
        "holds": list(state.calls.holds[:FEW_HOLDS]),
        "held_by": held_by(state)[:FEW_HOLDS],
        "retrying": state.retrying[-1:],
        "told_wrong": state.told_wrong[:FEW_SHOWN],
    }
    few = summary(state, now, most=MOST_PUBLISHED, shown=FEW_SHOWN, decisions=FEW_DECISIONS)
    return few.model_copy(update=update)


def state_word(state: CampaignState) -> CampaignPhase:
    """The campaign's state in one word."""
    if state.closed:
        return CampaignPhase.CLOSED
    if state.aborted:
        return CampaignPhase.ABORTING
    if state.stands_still:
        return CampaignPhase.PAUSING if state.pausing else CampaignPhase.PAUSED
    return CampaignPhase.HALTED if state.halted else CampaignPhase.RUNNING


def why(state: CampaignState) -> str:
    """Why it does not run at full width, or empty."""
    said = []
    if person := state.aborted or state.paused:
        said.append(f"by {person.by}: {person.reason or 'no reason given'}")
    if state.calls.holds and not state.calls.stopped_for_all:
        said += [state.calls.waits_for(hold) for hold in state.calls.holds[:FEW_SAID]]
        if (others := len(state.calls.holds) - FEW_SAID) > 0:
            said.append(f"and {others} more")
    elif state.calls.holds:
        more = f" (and {len(state.calls.holds) - 1} more)" if len(state.calls.holds) > 1 else ""
        said.append(f"by itself: {state.calls.holds[0]}{more}")
    if state.halted and not state.aborted:
        # Also while it is paused: whoever looks then is to see both.
        said.append(state.halted)
    window = Window(state)
    most = window.most_in_flight()
    if not said and not state.closed and most < window.size:
        return f"{counted(state.failures, 'zone')} failed: {most} at a time until a person resumes"
    return "; ".join(said)


def fix(state: CampaignState) -> str:
    """What a person has to do about what is held, or empty."""
    few = state.calls.holds[: FEW_SAID if state.callers.several else 1]
    return "; ".join(dict.fromkeys(to_fix(hold, state.start.name) for hold in few))


def held_by(state: CampaignState) -> list[HeldTargets]:
    """How many zones wait for each credential or user, where not all of them wait for the same."""
    if not state.callers.several:
        return []
    return [
        HeldTargets(credential=hold.credential, user=hold.user, zones=state.calls.left_of(hold))
        for hold in state.calls.holds
    ]


def waiting(state: CampaignState, most: int = MOST_WAITING) -> list[Waiting]:
    """The fingerprints that wait for a sign-off, those with the most zones first."""
    waiters = state.ledger.waiters
    sizes = ((sum(size for _, size in waiters.groups(number)), number) for number in waiters.numbers())
    largest = sorted((-size, number) for size, number in sizes if number)[:most]
    return [_waiting(state, number) for _, number in largest]


def _waiting(state: CampaignState, number: int, only: int | None = None) -> Waiting:
    """What waits of one fingerprint group. ``only``: in one wave."""
    ledger = state.ledger
    group, groups = ledger.known[number - 1], ledger.waiters.groups(number)
    counts = [(wave, place, size) for (_, wave, place), size in groups if only in (None, wave)]
    return Waiting(
        fingerprint=group.fingerprint,
        zones=sum(size for _, _, size in counts),
        waves=sorted({wave for wave, _, _ in counts}),
        example=ledger.waiters.first(number, only),
        step=group.step,
        separate=sum(size for _, place, size in counts if place == TargetState.AWAITING_SEPARATE),
    )


def waiting_found(state: CampaignState, message: WaitingAsked) -> WaitingFound:
    """The next of the fingerprints that wait as is asked."""
    ledger, found = state.ledger, list[int]()
    for number in ledger.waiters.numbers():
        if number <= message.after or not ledger.known[number - 1].fingerprint.startswith(message.prefix):
            continue
        if message.wave is not None and all(
            wave != message.wave for (_, wave, _), _ in ledger.waiters.groups(number)
        ):
            continue
        if len(found) == message.most:
            return WaitingFound(waiting=[_waiting(state, one, message.wave) for one in found], next=found[-1])
        found.append(number)
    return WaitingFound(waiting=[_waiting(state, one, message.wave) for one in found])


def targets_at(state: CampaignState, message: PlacesAsked) -> TargetsAt:
    """Which targets are at these places, and what they proposed last."""
    ledger, waves = state.ledger, state.start.waves
    places = [place for place in TargetState if place.word in message.places]
    first, end = message.first, ledger.count
    if message.wave is not None:
        wave = (
            waves[message.wave] if 0 <= message.wave < len(waves) else Wave(number=0, name="", first=0, end=0)
        )
        first, end = max(first, wave.first), wave.end
    found: list[TargetAt] = []
    following = 0
    for index in ledger.indexes(*places, first=first, end=end):
        group = ledger.fingerprint_group(index)
        fingerprint = group.fingerprint if group else ""
        if message.fingerprint not in ("", fingerprint):
            continue
        if len(found) == message.most:
            following = index
            break
        place, number = TargetState(ledger.places[index]).word, ledger.places.wave_of(index)
        attempt = ledger.attempts[index]
        found.append(
            TargetAt(index=index, place=place, wave=number, fingerprint=fingerprint, attempt=attempt)
        )
    return TargetsAt(total=ledger.number(*places), targets=found, next=following)


def _shortened(entry: Book) -> Book:
    decisions = [item.model_copy(update={"reason": item.reason[:SHORT]}) for item in entry.decisions]
    return entry.model_copy(update={"decisions": decisions})
