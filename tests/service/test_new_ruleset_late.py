"""A zone's first ruleset of log fields that the service does not show at once (docs/service.md §4.2)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.messages import ChangeStatus, Step
from tests.service.log_writes_kit import Writes, log_writes

JOB: dict[str, Any] = {
    "destination": "r2://bank/logs",
    "name": "customers",
    "logpull_options": "fields=RayID",
}
OURS, MEANWHILE = "Custom log fields, kept by edgeshift", "written meanwhile"
LATE = 1.5
NEVER = 3_600.0
SHORT = timedelta(seconds=3)


async def shows(zone: Writes, listed: float, readable: float = 0) -> None:
    """How late a new ruleset shows from now on."""
    late = {"listed_seconds": listed, "readable_seconds": readable}
    await zone.play.control.send("PUT", "options", {"log_fields": late})


@pytest.mark.parametrize("readable", [0, LATE])
async def test_a_new_ruleset_that_shows_late_is_created_once(tmp_path: Path, readable: float) -> None:
    """In the list, or by its id as well: it is waited for, and then written."""
    async with log_writes(tmp_path, JOB, bare=True) as zone:
        await shows(zone, LATE, readable)
        result = await zone.whole(Step.COMMIT)
        assert result.status is ChangeStatus.ANSWERED, result.reason
        assert await zone.puts("rulesets.create") == await zone.puts("rulesets.put") == 1
        assert await zone.descriptions() == [OURS]


async def test_a_new_ruleset_that_does_not_show_in_time_is_not_created_by_the_next_step_either(
    tmp_path: Path,
) -> None:
    """Nothing of the change has happened: it is gone on with under the same sign-off, once it shows."""
    async with log_writes(tmp_path, JOB, bare=True) as zone:
        await shows(zone, NEVER, NEVER)
        for _ in range(2):
            result = await zone.whole(Step.COMMIT, window=SHORT)
            assert result.status is ChangeStatus.NOTHING_HAPPENED and not result.turn, result
            assert "the ruleset that was created does not show yet" in result.reason
            assert await zone.puts("rulesets.create") == 1 and not await zone.puts("rulesets.put")
        await shows(zone, 0)
        result = await zone.whole(Step.COMMIT)
        assert result.status is ChangeStatus.ANSWERED, result.reason
        assert await zone.puts("rulesets.create") == await zone.puts("rulesets.put") == 1


async def test_a_new_ruleset_whose_answer_was_lost_is_looked_for_until_it_shows(tmp_path: Path) -> None:
    """Nobody knows its id: the list tells it."""
    async with log_writes(tmp_path, JOB, bare=True) as zone:
        await shows(zone, LATE, LATE)
        await zone.fault("server_error", "rulesets.create", effect="after", status=502, times=1)
        result = await zone.whole(Step.COMMIT)
        assert result.status is ChangeStatus.ANSWERED, result.reason
        assert await zone.puts("rulesets.create") == await zone.puts("rulesets.put") == 1


async def test_a_new_ruleset_whose_answer_was_lost_and_that_does_not_show_is_of_unknown_outcome(
    tmp_path: Path,
) -> None:
    """It is not sent again on a guess."""
    async with log_writes(tmp_path, JOB, bare=True) as zone:
        await shows(zone, NEVER, NEVER)
        await zone.fault("server_error", "rulesets.create", effect="after", status=502, times=1)
        for _ in range(2):
            result = await zone.whole(Step.COMMIT, window=SHORT)
            assert result.status is ChangeStatus.UNKNOWN, result
        assert await zone.puts("rulesets.create") == 1 and not await zone.puts("rulesets.put")


async def test_a_ruleset_that_somebody_else_created_is_looked_for_until_it_shows(tmp_path: Path) -> None:
    """The service refuses a second one of the phase: his rule stays, and ours comes behind it."""
    async with log_writes(tmp_path, JOB, bare=True) as zone:
        await shows(zone, LATE, LATE)
        await zone.stranger("before_create", "replace")
        result = await zone.whole(Step.COMMIT)
        assert result.status is ChangeStatus.ANSWERED, result.reason
        assert await zone.puts("rulesets.create") == await zone.puts("rulesets.put") == 1
        assert await zone.descriptions() == [MEANWHILE, OURS]


async def test_rules_of_a_ruleset_that_the_list_lacks_are_gone_on_with_and_taken_back(tmp_path: Path) -> None:
    """The campaign's own record has its id: nothing is created again, and no rule of ours is left in."""
    async with log_writes(tmp_path, JOB, bare=True) as zone:
        await shows(zone, NEVER)
        for _ in range(2):
            result = await zone.whole(Step.COMMIT)
            assert result.status is ChangeStatus.ANSWERED, result.reason
            assert await zone.descriptions() == [OURS]
        result = await zone.whole(Step.ROLL_BACK)
        assert result.status is ChangeStatus.ANSWERED, result.reason
        assert await zone.descriptions() == []
        assert await zone.puts("rulesets.create") == 1 and await zone.puts("rulesets.put") == 2
