"""How a campaign comes to its outcomes: not by words that zones have ended, which can be anybody's, but by
what workers have signed of them, and at the close by the service once more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import timedelta
from itertools import islice

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.comparing import ComparingActivities
    from edgeshift.campaign.target_states import OUTCOME_PLACE
    from edgeshift.messages import ComparedOutcomes, CompareOutcomes, Comparison, ZoneReport
    from edgeshift.model.counts import counted
    from edgeshift.model.fleet import CLAIMS, DONE, ZoneOutcome
    from workflows import options
    from workflows.campaign.batches import MANY, Batches
    from workflows.campaign.state import CampaignState
    from workflows.campaign.window import Window

GATHERS = 600
"""The part of the time between two sweeps in which words are gathered, so that a batch has several."""

LEAST_PAUSE = timedelta(milliseconds=100)
"""Below this nothing is gathered, where time runs faster."""

LOOKED_AT_AGAIN = 2
"""How often a zone is looked at again soon that is said to have ended, and is open, or was not read: a busy
server may take longer to close it than one look waits.
"""

SLICE = 1_000
"""Outcomes that are compared in one activity."""

SAMPLE = 20
"""Targets that are read at the service once more before a campaign closes; all, where there are no more."""

CLAIMED = tuple(OUTCOME_PLACE[outcome] for outcome in sorted(CLAIMS))


class Ends:
    """Looks into words that zones have ended, and compares the outcomes at the close."""

    def __init__(self, state: CampaignState, batches: Batches) -> None:
        self._state = state
        self._batches = batches
        self._window = Window(state)
        self._late: dict[int, int] = {}
        """How often targets that are said to have ended were found open, or were not read."""

    @property
    def is_due(self) -> bool:
        """Whether somebody has said of a zone that it has ended, and nobody has looked."""
        return bool(self._state.ledger.ended_words)

    def hear(self, word: ZoneReport) -> bool:
        """Take a zone's word in; whether it changed anything."""
        ledger = self._state.ledger
        if not ledger.hear(word, workflow.now()):
            return False
        self._state.apply_book([word.index])
        if not ledger.proves_ends and word.outcome in DONE and ledger.outcome(word.index) is word.outcome:
            self._window.grow(word.took)
        if word.outcome is ZoneOutcome.ABORTED and self._state.aborted is None:
            # It has found at the door what nobody has told this campaign: the archive is asked.
            self._state.aborts_unheard = True
            self._state.sweep_now()
        return True

    async def look_into_some(self) -> None:
        """Look at the next zones of which somebody has said that they have ended."""
        state, ledger = self._state, self._state.ledger
        if (pause := state.start.sweep / GATHERS) >= LEAST_PAUSE:
            await workflow.sleep(pause, summary="gather words that zones have ended")
        words: Iterable[tuple[int, ZoneReport]] = ledger.ended_words.items()
        if not state.beginning.isdisjoint(ledger.ended_words) and workflow.patched("starts-end-before-ends"):
            # A look says nothing of what is just being started, whose words are to be looked into after that.
            await workflow.wait_condition(lambda: not state.beginning.issuperset(ledger.ended_words))
            words = (one for one in words if one[0] not in state.beginning)
        some = dict(islice(words, MANY))
        found = await self._batches.look_at(list(some), ended=some)
        if found.by_word:
            self._count_words()
            return
        looked_at = {zone.index for zone in found.closed} | {one.index for one in found.later}
        unread = some.keys() - looked_at - set(found.still_open)
        late = self._to_look_at_again(found.still_open) | self._to_read_again(unread)
        for index in found.still_open:
            # The next sweep looks again.
            ledger.recently_reported.discard(index)
            if index not in late:
                state.note(f"{found.name(index)} was said to have ended, and is open: that is no outcome")
        for index, word in some.items():
            if index in late and ledger.is_open(index):
                continue
            self._late.pop(index, None)
            # Another one may have come meanwhile, with which the zone has ended.
            if ledger.ended_words.get(index) is word or not ledger.is_open(index):
                ledger.ended_words.pop(index, None)
            if word.outcome in DONE and ledger.outcome(index) is word.outcome:
                self._window.grow(word.took)
        state.changed()

    def _to_look_at_again(self, still_open: Collection[int]) -> frozenset[int]:
        """Those that may be about to close, and whose words are kept."""
        if not still_open or not workflow.patched("late-ends-are-looked-at-again"):
            return frozenset()
        return self._kept(still_open)

    def _to_read_again(self, unread: Collection[int]) -> frozenset[int]:
        """Those of which the look has found nothing, since the service takes no calls or a turn did not come:
        their words are kept for as many looks, and the next sweep looks at them whatever they have said.
        """
        if not unread or not workflow.patched("unread-ends-are-looked-at-again"):
            return frozenset()
        self._state.ledger.recently_reported.difference_update(unread)
        return self._kept(unread)

    def _kept(self, indexes: Collection[int]) -> frozenset[int]:
        """Those of the targets whose words are kept, and not for the last time."""
        for index in indexes:
            self._late[index] = self._late.get(index, 0) + 1
        return frozenset(index for index in indexes if self._late[index] <= LOOKED_AT_AGAIN)

    def _count_words(self) -> None:
        """Words count here: a rehearsal without roots."""
        ledger = self._state.ledger
        words, ledger.proves_ends = list(ledger.ended_words.values()), False
        ledger.ended_words.clear()
        for word in words:
            self.hear(word)
        self._state.changed()

    async def compare(self) -> None:
        """Compare every outcome that says something of the service with its result, and a sample with the
        service. What no worker has signed becomes what the service shows.
        """
        state, ledger = self._state, self._state.ledger
        claimed = list(ledger.indexes(*CLAIMED))
        if not claimed or not ledger.proves_ends:
            return
        sample = frozenset(workflow.random().sample(claimed, min(SAMPLE, len(claimed))))
        read = unread = wrong = 0
        for first in range(0, len(claimed), SLICE):
            # A zone that was begun again meanwhile has no outcome any more.
            some = [index for index in claimed[first : first + SLICE] if ledger.outcome(index) in CLAIMS]
            if not some:
                continue
            outcomes = tuple(filter(None, map(ledger.outcome, some)))
            found: ComparedOutcomes = await self._batches.work(
                ComparingActivities.compare,
                CompareOutcomes(
                    origin=state.origin,
                    targets=state.start.targets,
                    spec=state.start.spec,
                    area=state.start.area,
                    indexes=tuple(some),
                    attempts=tuple(ledger.attempts[index] for index in some),
                    outcomes=outcomes,
                    settles_in=state.start.policy.migration_limit,
                    read=sample.intersection(some),
                    archive=state.start.archive,
                ),
                f"compare {counted(len(some), 'outcome')}",
                options.comparing(state.start.policy),
            )
            if found.by_word:
                return
            for one in found.wrong:
                if ledger.outcome(one.index) is not one.told:
                    continue
                if one not in state.told_wrong:
                    state.tell_wrong(one)
                if one.shown is not None:
                    ledger.finish(one.index, one.shown)
            read, unread, wrong = read + found.read, unread + found.unread, wrong + len(found.wrong)
        state.compared = Comparison(outcomes=len(claimed), read=read, unread=unread, wrong=wrong)
        state.note(state.compared.text)
