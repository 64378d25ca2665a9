"""Whatever workers register, an enemy has tried it, or it is written why not."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tests.forgeries.running import activities, starts
from tests.forgeries.running.listed import AREAS, Phase, kinds_of, some, whole
from tests.forgeries.running.playing import KINDS
from worker.wiring import WORKFLOWS, activities_of


def test_every_activity_has_a_forgery_or_a_reason_why_none() -> None:
    """Beside campaigns of every area, by a workflow of the enemy's."""
    own = activities_of(SimpleNamespace(clock=None), SimpleNamespace())  # type: ignore[arg-type]
    registered = {_named(work, "__temporal_activity_definition") for some in own.values() for work in some}
    for area in AREAS:
        tried = {KINDS[name].activity for name in kinds_of(area)} - {""}
        assert not tried & activities.NOT_TRIED.keys()
        assert tried | activities.NOT_TRIED.keys() == registered
    assert all(activities.NOT_TRIED.values())


def test_every_workflow_has_a_forgery_or_a_reason_why_none() -> None:
    """Started by the enemy, beside campaigns of every area."""
    registered = {
        _named(workflow, "__temporal_workflow_definition") for some in WORKFLOWS.values() for workflow in some
    }
    for area in AREAS:
        tried = {KINDS[name].workflow for name in kinds_of(area)} - {""}
        assert not tried & starts.NOT_TRIED.keys()
        assert tried | starts.NOT_TRIED.keys() == registered
    assert all(starts.NOT_TRIED.values())


def _named(work: Callable[..., Any] | type, definition: str) -> str:
    """As a worker registers it: the SDK's own name of it."""
    return str(getattr(work, definition).name)


def test_the_list_has_every_kind_and_every_phase() -> None:
    """The same for the same seed; each kind once before any comes again, and all phases as often."""
    for area in AREAS:
        names, beside = kinds_of(area), [one for one in whole(area) if one.phase is not Phase.WAITING]
        phases = {one.phase for one in beside}
        count = len(names) * 3 // 2
        chosen = some(area, count, 1)
        assert chosen == some(area, count, 1) and chosen != some(area, count, 2)
        waiting = [one.kind for one in chosen if one.phase is Phase.WAITING]
        assert sorted(waiting) == sorted(names)
        per_phase = [sum(one.phase is phase for one in chosen) for phase in phases]
        assert max(per_phase) - min(per_phase) <= 1 and min(per_phase) > 20
        assert len(some(area, len(whole(area)) + 7, 1)) == len(whole(area)) + 7
