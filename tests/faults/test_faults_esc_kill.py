"""Workers are killed before and after each activity of the paths of esc: the scope fares the same."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.embedded import EmbeddedTemporal
from tests.faults_kit import Stage
from tests.faults_worker import MOMENTS, Moment
from tests.harness.kills import Course, broken_by, play
from tests.harness.share import shared
from tests.harness.stages import ESC, esc_zone, over

pytestmark = pytest.mark.embedded

BEGIN = ("resolve_targets", "start_zones", "prepare_esc_scope")
SECRET = ("tell_campaign", "tell_zones", "change_zone", "prepare_esc_scope")
TURN_OFF = ("probe_esc_scope", "tell_zones", "change_zone", "settle_esc_scope")
WATCH = ("tell_campaign", "watch_esc_scope")
BACK = ("change_zone", "settle_esc_scope", "watch_esc_scope")
ACCOUNT: dict[str, Any] = over(ESC, esc={"scope": "account"})

SET_SECRET = ("esc.set", "with_secret")
ALWAYS = ("esc.set", "always")
DELETE = ("esc.delete", "")


async def _off(stage: Stage) -> None:
    assert all([await stage.play.is_off(stage.name(name)) for name in stage.names])


async def _on(stage: Stage) -> None:
    assert not any([await stage.play.is_off(stage.name(name)) for name in stage.names])


PATHS: dict[str, Course] = {
    "test secret": Course(
        zones=(esc_zone("plain"),),
        terms=ESC,
        activities=(*BEGIN, *SECRET, *TURN_OFF, *WATCH, "tell_campaign"),
        changes=[SET_SECRET, ALWAYS],
        outcome="settled",
        holds=_off,
    ),
    "own secret": Course(
        zones=(esc_zone("own", own=True),),
        terms=ESC,
        activities=(*BEGIN, *TURN_OFF, *WATCH, "tell_campaign"),
        changes=[ALWAYS],
        outcome="settled",
        holds=_off,
    ),
    "account": Course(
        zones=(esc_zone("first"), esc_zone("second")),
        terms=ACCOUNT,
        activities=(
            *BEGIN,
            "hold_zones",
            *SECRET,
            *TURN_OFF,
            *WATCH,
            "release_zones",
            "tell_campaign",
        ),
        changes=[SET_SECRET, ALWAYS],
        outcome="settled",
        holds=_off,
    ),
    "rolled back": Course(
        zones=(esc_zone("worse", worse=True),),
        terms=ESC,
        activities=(*BEGIN, *SECRET, *TURN_OFF, *WATCH, *BACK, "tell_campaign"),
        changes=[SET_SECRET, ALWAYS, DELETE],
        outcome="rolled_back",
        holds=_on,
    ),
}


@pytest.mark.parametrize("path", shared("whole paths of esc", PATHS))
async def test_the_paths_of_esc_are_the_ones_that_workers_are_killed_on(
    path: str, temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """Without a kill: the activities and the changes that the kills below are measured by."""
    course = PATHS[path]
    changes, begun = await play(None, course, temporal_client, embedded.address, tmp_path / "whole")
    assert tuple(begun) == course.activities
    assert changes == course.changes


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "path,moment", shared("paths of esc", list(itertools.product(PATHS, MOMENTS)), least=2)
)
async def test_a_killed_worker_leaves_esc_as_it_would_be(
    path: str, moment: Moment, temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """At each activity of the path, one scene a kill: the same outcome, the same changes, nothing twice."""
    kills = shared(f"kill esc {path} {moment}", PATHS[path].boundaries(moment))
    broken = await broken_by(kills, PATHS[path], temporal_client, embedded.address, tmp_path)
    assert not broken, "\n".join(broken)
