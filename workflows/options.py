"""Task queues, time-outs and retry policies of the activities, in one place. Each names what is never
retried. Every remote activity names its queue (edgeshift/runtime/queues.py); a local one runs where its
workflow does.
"""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any

from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType

from edgeshift.messages import LOOK, Change, Step, ZonePolicy
from edgeshift.model.failures import NO_CAMPAIGN, PERMANENT
from edgeshift.runtime.queues import Queue

LONGEST_PAUSE = timedelta(minutes=1)
"""The longest pause between two tries of a reading."""

READS = RetryPolicy(
    initial_interval=timedelta(milliseconds=500),
    backoff_coefficient=2.0,
    maximum_interval=LONGEST_PAUSE,
    non_retryable_error_types=PERMANENT,
)
"""The boundary of each activity names its failures by the types of the table of failures."""

TELLING = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(minutes=5),
    non_retryable_error_types=NO_CAMPAIGN,
)

TOLD_WITHIN = timedelta(days=1)
"""How long one word to a campaign is tried. A try that waits for the next one costs a zone six events, which
at this pace are under 2,000 a word, of the 51,200 that a history may have. It is not scaled.
"""

READ_WITHIN = timedelta(days=1)
"""How long one try of a reading may wait for its turns. Heartbeats tell of a worker that is gone."""

ONCE = RetryPolicy(maximum_attempts=1)


def reading_the_service(policy: ZonePolicy) -> dict[str, Any]:
    """A zone's readings of the service: remote, with heartbeats, and among what takes long, since they wait
    for their turn in the rate limit: changes do not queue behind them. They are tried again until the pauses
    between the tries make up the policy's patience. What they wait for their turn does not count: of many
    zones that are read side by side, all would come to the end of it together. No pause is longer than a
    twelfth of the patience: where that is short, one fault would take most of it.
    """
    longest = max(READS.initial_interval, min(LONGEST_PAUSE, policy.patience / 12))
    reads = dataclasses.replace(READS, maximum_interval=longest)
    return {
        "task_queue": Queue.LONG,
        "start_to_close_timeout": READ_WITHIN,
        "heartbeat_timeout": policy.silence,
        "retry_policy": dataclasses.replace(reads, maximum_attempts=tries(reads, policy.patience)),
    }


def tries(policy: RetryPolicy, patience: timedelta) -> int:
    """How often something is tried until the pauses in between make up ``patience``."""
    pause, passed, found = policy.initial_interval, timedelta(0), 1
    while passed < patience:
        passed, found = passed + pause, found + 1
        pause = min(pause * policy.backoff_coefficient, policy.maximum_interval or pause)
    return found


def reading(policy: ZonePolicy) -> dict[str, Any]:
    """A zone's readings of the archive and its tickets: local, tried again for as long as the policy's
    patience lasts.

    A backoff past ``local_retry_threshold`` becomes a timer, so that a long outage does not hold a workflow
    task.
    """
    return {
        "schedule_to_close_timeout": policy.patience,
        "start_to_close_timeout": timedelta(minutes=5),
        "retry_policy": READS,
        "local_retry_threshold": timedelta(seconds=5),
    }


def telling() -> dict[str, Any]:
    """A word to the campaign: local, tried on every error but that the campaign is gone. After
    ``TOLD_WITHIN`` it counts as not told: the zone goes on, and the campaign's sweep asks it.
    """
    return {
        "schedule_to_close_timeout": TOLD_WITHIN,
        "start_to_close_timeout": timedelta(seconds=20),
        "retry_policy": TELLING,
        "local_retry_threshold": timedelta(seconds=5),
    }


def changing(change: Change, left: timedelta) -> dict[str, Any]:
    """The fenced activity: one attempt, no heartbeat time-out, and no start once the permit has run out.

    ``left``: what is left of the permit.
    """
    policy = change.start.policy
    look = min(LOOK, 3 * policy.poll + timedelta(seconds=10))
    return {
        "task_queue": Queue.CHANGES,
        "schedule_to_start_timeout": max(left, timedelta(milliseconds=1)),
        # Nothing is sent once the permit has run out, however long the step may wait for its turn.
        "start_to_close_timeout": max(change.window, min(change.waits + change.window, left))
        + policy.request_limit
        + policy.margin
        + (look if change.step in (Step.VALIDATE, Step.SET_SECRET) else timedelta(0)),
        "retry_policy": ONCE,
        # Somebody who cancels the workflow does not end the request: what becomes of it is waited for.
        "cancellation_type": ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    }


def giving_up() -> dict[str, Any]:
    """A record in the archive, tried for a short while: without it the outcome is unknown.

    No backoff becomes a timer: somebody who cancels the workflow then would end it in the middle of a change.
    """
    return {
        "schedule_to_close_timeout": timedelta(minutes=1),
        "start_to_close_timeout": timedelta(seconds=20),
        "retry_policy": READS,
        "local_retry_threshold": timedelta(minutes=2),
    }


def verifying(limit: timedelta, policy: ZonePolicy) -> dict[str, Any]:
    """Polling the status: remote, with heartbeats. As ``reading_the_service``, it is tried until the pauses
    make up more than the policy's patience, however long it waits for a worker: what was sent takes its time
    meanwhile, and whoever looks next has the whole of the limit.
    """
    return {
        "task_queue": Queue.LONG,
        "start_to_close_timeout": limit + timedelta(minutes=5),
        "heartbeat_timeout": policy.silence,
        "retry_policy": _patient(policy, timedelta(minutes=30)),
    }


def _patient(policy: ZonePolicy, more: timedelta) -> RetryPolicy:
    return dataclasses.replace(READS, maximum_attempts=tries(READS, policy.patience + more))


def spreading(policy: ZonePolicy, queue: Queue = Queue.CONTROL) -> dict[str, Any]:
    """A campaign's work on a batch of zones: remote, with a heartbeat cursor, tried again without end. An
    account's with its zones is done on another ``queue``.
    """
    return {
        "task_queue": queue,
        "start_to_close_timeout": timedelta(minutes=10),
        "heartbeat_timeout": policy.silence,
        "retry_policy": RetryPolicy(
            initial_interval=timedelta(milliseconds=200),
            maximum_interval=timedelta(seconds=30),
            non_retryable_error_types=["SecretUnresolved", "ArchiveCorrupt"],
        ),
    }


def comparing(policy: ZonePolicy) -> dict[str, Any]:
    """As ``spreading``, for a comparison of outcomes, which reads targets at the service and waits for their
    turns: a campaign closes once it has come to its end.
    """
    return {**spreading(policy), "start_to_close_timeout": READ_WITHIN}


def waiting(policy: ZonePolicy) -> dict[str, Any]:
    """A campaign's wait for the service: remote, with heartbeats, for as long as it takes."""
    return {
        "task_queue": Queue.LONG,
        "start_to_close_timeout": timedelta(days=365),
        "heartbeat_timeout": policy.silence,
        "retry_policy": RetryPolicy(
            initial_interval=timedelta(milliseconds=200),
            maximum_interval=timedelta(seconds=30),
            non_retryable_error_types=["ArchiveCorrupt"],
        ),
    }


def resolving() -> dict[str, Any]:
    """Listing and assessing targets for a person who waits: with heartbeats, tried again. It waits for its
    turns in the rate limit, for hours: changes do not queue behind it.
    """
    return {
        "task_queue": Queue.LONG,
        "start_to_close_timeout": timedelta(hours=6),
        "heartbeat_timeout": timedelta(seconds=30),
        "retry_policy": RetryPolicy(
            initial_interval=timedelta(milliseconds=500),
            maximum_interval=timedelta(seconds=10),
            maximum_attempts=8,
            non_retryable_error_types=PERMANENT,
        ),
    }


PLAN_PATIENCE = timedelta(hours=1)
"""What the pauses between the tries of a plan's batch make up: a plan may have read for days by then."""


def assessing() -> dict[str, Any]:
    """Reading targets for a plan, and putting together what was read: as ``resolving``, but it goes on for as
    long as calls are stopped, and is tried for longer, since what was read is lost where it fails.
    """
    found = resolving()
    policy: RetryPolicy = found["retry_policy"]
    patient = dataclasses.replace(policy, maximum_attempts=tries(policy, PLAN_PATIENCE))
    return {**found, "start_to_close_timeout": timedelta(days=365), "retry_policy": patient}


def watching(policy: ZonePolicy, limit: timedelta) -> dict[str, Any]:
    """Looking at a change from outside, for as long as ``limit`` at a time: remote, with heartbeats, tried as
    ``verifying``. What did not show is looked at once more when its request, too, is over.
    """
    return {
        "task_queue": Queue.LONG,
        "start_to_close_timeout": limit + policy.request_limit + policy.margin + timedelta(minutes=5),
        "heartbeat_timeout": policy.silence,
        "retry_policy": _patient(policy, timedelta(minutes=10)),
    }
