"""Small scenes that each go for one rule. They are what finds the wrong versions of tests/mutants first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.harness import aimed_areas, aimed_people, aimed_waf
from tests.harness.cases import Case, World
from tests.harness.verdict import Verdict

FAMILY = "aimed"

Scene = Callable[[World], Awaitable[Verdict]]

SCENES: tuple[tuple[Scene, int], ...] = (
    (aimed_waf.plain, 2),
    (aimed_waf.answer_lost, 2),
    (aimed_waf.killed_after_commit, 1),
    (aimed_waf.reset_while_verified, 1),
    (aimed_waf.answered_without_effect, 1),
    (aimed_waf.over_a_limit, 2),
    (aimed_waf.drifted, 1),
    (aimed_waf.archive_lies, 1),
    (aimed_waf.rival_campaign, 2),
    (aimed_waf.terminated, 2),
    (aimed_waf.orderly_restart, 1),
    (aimed_people.signed_in_a_pause, 2),
    (aimed_people.permit_overtaken, 1),
    (aimed_people.stalled_in_a_pause, 1),
    (aimed_people.stalled_past_its_permit, 1),
    (aimed_people.words_that_do_not_count, 1),
    (aimed_people.signed_for_another, 2),
    (aimed_people.signed_too_long_ago, 1),
    (aimed_people.window_of_one, 4),
    (aimed_people.paced, 2),
    (aimed_areas.esc_plain, 3),
    (aimed_areas.esc_way_back_lost, 1),
    (aimed_areas.stranger_writes, 1),
)
"""Each scene with the zones that it plays."""


def cases() -> list[Case]:
    """A case for each scene, such as ``aimed/answer-lost``."""
    return [
        Case(f"{FAMILY}/{scene.__name__.replace('_', '-')}", FAMILY, zones, scene, within=400)
        for scene, zones in SCENES
    ]
