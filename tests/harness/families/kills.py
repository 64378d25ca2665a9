"""A worker is killed before and after each activity of each path of each area."""

from __future__ import annotations

from functools import partial

from tests.harness.cases import Case
from tests.harness.kills.esc import COURSES as ESC
from tests.harness.kills.log_fields import COURSES as LOG_FIELDS
from tests.harness.kills.scene import Course, play
from tests.harness.kills.waf import COURSES as WAF
from tests.kit.faults_worker import MOMENTS, Kill

FAMILY = "kills"
COURSES = {"waf": WAF, "esc": ESC, "log-fields": LOG_FIELDS}


def cases() -> list[Case]:
    """Each path without a kill, then with each kill."""
    return [
        case
        for area, courses in COURSES.items()
        for name, course in courses.items()
        for case in _of(f"{FAMILY}/{area}/{name.replace(' ', '-')}", course)
    ]


def _of(prefix: str, course: Course) -> list[Case]:
    kills = [kill for moment in MOMENTS for kill in course.boundaries(moment)]
    found = [Case(f"{prefix}/whole", FAMILY, len(course.zones), partial(play, None, course))]
    found += [
        Case(f"{prefix}/{_told(kill)}", FAMILY, len(course.zones), partial(play, kill, course))
        for kill in kills
    ]
    return found


def _told(kill: Kill) -> str:
    return f"{kill.moment}/{kill.activity}-{kill.nth}"
