"""The paths of log-fields at each of whose activities a worker is killed."""

from __future__ import annotations

from typing import Any

from tests.harness.campaigns.stages import LOG_FIELDS, log_zone, over
from tests.harness.kills.scene import Course

ACTIVITIES = (
    "resolve_targets",
    "recall_rulings",
    "start_zones",
    "prepare_log_fields_zone",
    "tell_campaign",
    "record_rulings",
    "tell_zones",
    "change_zone",
    "settle_log_fields_zone",
    "tell_campaign",
    "watch_log_fields_zone",
)
BACK = ("change_zone", "settle_log_fields_zone", "watch_log_fields_zone")
TERMS: dict[str, Any] = over(LOG_FIELDS, commit={"send_window": "8s"})
"""Its step is of several requests, of which each has to have its time also on a busy machine."""

UNSEEN: dict[str, Any] = over(TERMS, log_fields={"unverified": "roll_back"})

CREATE = ("rulesets.create", "")
PUT = ("rulesets.put", "")
UPDATE = ("logpush.jobs.update", "")

COURSES: dict[str, Course] = {
    "without a ruleset": Course(
        zones=(log_zone("bare"),),
        terms=TERMS,
        activities=(*ACTIVITIES, "tell_campaign"),
        changes=[CREATE, PUT, UPDATE],
        outcome="settled",
    ),
    "beside others": Course(
        zones=(log_zone("shared", foreign=True),),
        terms=TERMS,
        activities=(*ACTIVITIES, "tell_campaign"),
        changes=[PUT, UPDATE],
        outcome="settled",
    ),
    "new job": Course(
        zones=(log_zone("jobless", job=False, foreign=True),),
        terms=TERMS,
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
