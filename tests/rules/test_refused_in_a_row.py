"""After how many tries of an activity a plain refusal is the service's last word."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities import boundary
from activities.boundary import named_failures
from activities.zone_lists import _of_all
from edgeshift.model.failures import MOST_REFUSALS
from edgeshift.service_api import GatewayError, Refused

REFUSED = Refused("no", call="waf.check")
FAULT = GatewayError("502", call="waf.check")


def finals(tries: Sequence[Exception | None], run: str, first: int = 1) -> list[bool]:
    """Of each try of an activity, from the ``first`` on, whether it is the last one. None: it succeeds."""
    found = []
    for attempt, failure in enumerate(tries, first):
        environment = ActivityEnvironment()
        environment.info = dataclasses.replace(
            environment.info, attempt=attempt, workflow_run_id=run, activity_id="7"
        )

        @named_failures
        async def work(failure: Exception | None = failure) -> bool:
            if failure is not None:
                raise failure
            return False

        async def told() -> bool:
            try:
                return await work()
            except ApplicationError as why:
                return why.non_retryable
            except RuntimeError:
                return False

        found.append(asyncio.run(environment.run(told)))
    return found


@pytest.mark.parametrize(
    ("between", "why"),
    [(FAULT, "an outage"), (RuntimeError("a bug"), "a bug"), (None, "an answer")],
    ids=["outage", "bug", "answer"],
)
def test_a_refusal_after_other_failures_is_tried_again(between: Exception | None, why: str) -> None:
    """The fifth try that fails is no fifth refusal: the first one after an outage may pass as well."""
    run = f"after {why}"
    assert finals([between] * 4 + [REFUSED] * MOST_REFUSALS, run)[4:] == [False] * 4 + [True]
    assert finals([REFUSED] * 4 + [between] + [REFUSED] * 5, f"{run}, again")[5:] == [False] * 4 + [True]


def test_a_refusal_in_a_row_is_final() -> None:
    """It stays: it is the service's last word."""
    assert finals([REFUSED] * MOST_REFUSALS, "alone") == [False] * 4 + [True]


def test_tries_that_other_workers_made_count_between_two_refusals() -> None:
    """A worker sees its own alone: those before the first of them may have been an outage."""
    assert finals([REFUSED], "others", first=3) == [False]
    assert finals([REFUSED], "others", first=6) == [False]
    assert finals([REFUSED], "others", first=7) == [True]


def test_a_try_after_a_reset_begins_a_new_row() -> None:
    """An operator has an activity begin anew: its tries are numbered from one again."""
    assert finals([REFUSED] * 4, "reset") == [False] * 4
    assert finals([REFUSED] * 5, "reset") == [False] * 4 + [True]


def test_a_failure_that_was_named_where_it_happened_counts() -> None:
    """As of a listing that fails for one of several credentials: what stands for them is no failure that the
    boundary names.
    """
    environment = ActivityEnvironment()

    async def listed() -> None:
        raise _of_all({"env:A": REFUSED, "env:B": FAULT}, 2)

    for attempt in range(1, 6):
        environment.info = dataclasses.replace(environment.info, attempt=attempt, activity_id="listing")
        with pytest.raises(ApplicationError) as failed:
            asyncio.run(environment.run(named_failures(listed)))
        assert failed.value.non_retryable is (attempt == MOST_REFUSALS)


def test_a_worker_remembers_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest are forgotten, and are tried a little longer."""
    monkeypatch.setattr(boundary, "MOST_ROWS", 2)
    for run in ("one", "two", "three"):
        finals([REFUSED] * 4, run)
    assert finals([REFUSED], "one", first=5) == [False]
    assert finals([REFUSED], "three", first=5) == [True]
