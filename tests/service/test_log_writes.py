"""What a step of log-fields sends where readings lag behind."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from edgeshift.messages import ChangeStatus
from tests.service.log_writes_kit import log_writes

OURS, TEAM, MEANWHILE = "Custom log fields, kept by edgeshift", "of another team", "written meanwhile"


async def test_rules_whose_put_was_answered_are_not_sent_again_while_readings_lag(tmp_path: Path) -> None:
    """Somebody builds on ours before the readings show it: a second write over the same version would replace
    what he wrote.
    """
    async with log_writes(tmp_path) as zone:
        # Two readings come before the write; of those after it the first ones do not show it.
        await zone.lags(await zone.ruleset(), nth=3, times=3)
        await zone.stranger("after_put")
        result = await zone.put_rules()
        assert result.status is ChangeStatus.ANSWERED
        # His version is read, and ours put behind his.
        ours = f"{OURS} (mine, over version 3)"
        assert [rule["description"] for rule in (await zone.ruleset())["rules"]] == [TEAM, MEANWHILE, ours]
        assert zone.written[-1].versions == [2, 4] and await zone.puts("rulesets.put") == 2


async def test_rules_that_do_not_come_to_show_are_an_unknown_outcome(tmp_path: Path) -> None:
    """Nothing is sent twice meanwhile."""
    async with log_writes(tmp_path) as zone:
        await zone.lags(await zone.ruleset(), nth=3, times=100)
        result = await zone.put_rules(window=timedelta(seconds=3))
        assert result.status is ChangeStatus.UNKNOWN and "do not show yet" in result.reason
        assert await zone.puts("rulesets.put") == 1


async def test_what_was_built_on_a_write_of_unknown_outcome_is_kept_when_it_is_sent_again(
    tmp_path: Path,
) -> None:
    """Both land over one version, and somebody's rule between them: it is noticed, and put back."""
    async with log_writes(tmp_path) as zone:
        before = await zone.ruleset()
        await zone.fault("server_error", "rulesets.put", effect="after", status=502, times=1)
        await zone.lags(before, nth=3, times=1)
        assert (await zone.put_rules()).status is ChangeStatus.UNKNOWN
        await zone.stranger()
        await zone.lags(before, times=2)
        assert (await zone.put_rules()).status is ChangeStatus.ANSWERED
        assert await zone.descriptions() == [TEAM, MEANWHILE, OURS]
        assert zone.written[-1].versions[:2] == [2, 4]
