"""Workers are killed before and after each activity of the paths of log-fields: the zone fares the same."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.embedded import EmbeddedTemporal
from tests.faults_worker import MOMENTS, Moment
from tests.harness.kills import Course, broken_by, play
from tests.harness.share import shared
from tests.harness.stages import LOG_FIELDS, log_zone, over

pytestmark = pytest.mark.embedded

ACTIVITIES = (
    "resolve_targets",
    "start_zones",
    "prepare_log_fields_zone",
    "tell_zones",
    "change_zone",
    "settle_log_fields_zone",
    "tell_campaign",
    "watch_log_fields_zone",
)
BACK = ("change_zone", "settle_log_fields_zone", "watch_log_fields_zone")
UNSEEN: dict[str, Any] = over(LOG_FIELDS, log_fields={"unverified": "roll_back"})

CREATE = ("rulesets.create", "")
PUT = ("rulesets.put", "")
UPDATE = ("logpush.jobs.update", "")

PATHS: dict[str, Course] = {
    "without a ruleset": Course(
        zones=(log_zone("bare"),),
        terms=LOG_FIELDS,
        activities=(*ACTIVITIES, "tell_campaign"),
        changes=[CREATE, PUT, UPDATE],
        outcome="settled",
    ),
    "beside others": Course(
        zones=(log_zone("shared", foreign=True),),
        terms=LOG_FIELDS,
        activities=(*ACTIVITIES, "tell_campaign"),
        changes=[PUT, UPDATE],
        outcome="settled",
    ),
    "new job": Course(
        zones=(log_zone("jobless", job=False, foreign=True),),
        terms=LOG_FIELDS,
        activities=(*ACTIVITIES, "tell_campaign"),
        changes=[
            PUT,
            ("logpush.ownership", ""),
            ("logpush.ownership.validate", ""),
            ("logpush.jobs.create", ""),
        ],
        outcome="settled",
    ),
    "rolled back": Course(
        zones=(log_zone("quiet", foreign=True),),
        terms=UNSEEN,
        activities=(*ACTIVITIES, *BACK, "tell_campaign"),
        changes=[PUT, UPDATE, UPDATE, PUT],
        outcome="rolled_back",
    ),
}


@pytest.mark.parametrize("path", shared("whole paths of log-fields", PATHS))
async def test_the_paths_of_log_fields_are_the_ones_that_workers_are_killed_on(
    path: str, temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """Without a kill: the activities and the changes that the kills below are measured by."""
    course = PATHS[path]
    changes, begun = await play(None, course, temporal_client, embedded.address, tmp_path / "whole")
    assert tuple(begun) == course.activities
    assert changes == course.changes


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "path,moment", shared("paths of log-fields", list(itertools.product(PATHS, MOMENTS)), least=2)
)
async def test_a_killed_worker_leaves_fields_and_jobs_as_they_would_be(
    path: str, moment: Moment, temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """At each activity of the path, one scene a kill: the same outcome, the same changes, nothing twice."""
    kills = shared(f"kill log-fields {path} {moment}", PATHS[path].boundaries(moment))
    broken = await broken_by(kills, PATHS[path], temporal_client, embedded.address, tmp_path)
    assert not broken, "\n".join(broken)
