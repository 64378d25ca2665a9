"""How many zones of a campaign may be in flight at once."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from workflows.campaign.state import CampaignState


class Window:
    """The window of a campaign, by what it remembers."""

    def __init__(self, state: CampaignState) -> None:
        self._state = state

    def free_slots(self) -> int:
        """How many more zones may be in flight. One whose calls are held takes no place from those of others,
        where nothing of it is in flight.
        """
        ledger = self._state.ledger
        return self.most_in_flight() - ledger.in_flight() + ledger.set_down(self._state.calls.stopped)

    def most_in_flight(self) -> int:
        """How many zones may be in flight: the window as it is. Where a change cannot be taken back, one that
        failed keeps its place, so that what failed and what is in flight never exceed the window, or the
        failures allowed and one where that is more (docs/rules.md, rule 8).
        """
        start = self._state.start
        if self._state.area.reversible:
            return self.size
        budget = max(start.window, start.advance_failures + 1)
        return min(self.size, max(1, budget - self._state.failures))

    @property
    def size(self) -> int:
        """As given, or as far as it has grown. A target that stands for many zones has room."""
        start = self._state.start
        if start.grows_by is None:
            return start.window
        return min(start.window, max(self._state.growth.at_most(start.grows_by), self._state.ledger.largest))

    def grow(self, took: timedelta | None) -> None:
        """A zone has succeeded, and its change took so long to show, where that is known."""
        if (most := self._state.start.grows_by) is not None:
            self._state.growth = self._state.growth.succeeded(took, most, self._state.start.grows_in)
