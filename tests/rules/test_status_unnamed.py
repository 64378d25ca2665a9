"""What `status` shows of a campaign where the archive, which has the names of its zones, cannot be read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import WorkflowExecutionStatus

from edgeshift.cli import status
from edgeshift.cli.shell import Shell
from edgeshift.messages import CampaignStart, CampaignSummary
from edgeshift.model.fleet import Area
from edgeshift.views.gathering import Known
from tests.journeys.cli_kit import Ran, in_process
from tests.rules.test_timeline_watch import summary

DAY = timedelta(days=1)
POLICY = SimpleNamespace(
    sign_off=SimpleNamespace(expires_after=DAY),
    request_limit=DAY,
    lease_margin=DAY,
    migration_limit=DAY,
    patience=DAY,
)
START: Any = SimpleNamespace(
    name="autumn", area=Area.WAF, spec="b" * 64, archive="", policy=POLICY, lease=DAY, time_scale=1, waves=()
)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[CampaignSummary | None]:
    """What the campaign says when it is asked: the last of these."""
    said: list[CampaignSummary | None] = [summary(5, "paused", excluded={7: "already in campaign/other"})]

    async def known(*_: object) -> Known:
        start = cast(CampaignStart, START)
        trouble = "" if said[-1] else "nobody answers"
        return Known(start, said[-1], {}, WorkflowExecutionStatus.RUNNING, "run", trouble)

    @asynccontextmanager
    async def temporal(_: Shell) -> AsyncIterator[None]:
        yield None

    monkeypatch.setattr(status, "known_campaign", known)
    monkeypatch.setattr(Shell, "temporal", temporal)
    return said


@pytest.fixture
def asked(answers: list[CampaignSummary | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`status` with a file in the place of the archive."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", "127.0.0.1:9")
    monkeypatch.setenv("EDGESHIFT_ARCHIVE_URL", str(tmp_path / "plain"))
    (tmp_path / "plain").write_text("no folder")

    def ask(*words: str) -> Ran:
        return in_process("status", "autumn", *words)

    return ask


def test_what_the_campaign_says_is_shown(asked: Any) -> None:
    """Its counts and notes, with numbers in the place of names; the exit code says that much is missing."""
    ran = asked()
    assert ran.code == 1 and "5 of 100 zones finished" in ran.out and "such as zone number 8: " in ran.out
    assert "the archive cannot be read, so zones and their alarms are not listed: " in ran.err
    assert "plain cannot be used: Not a directory\n`edgeshift doctor` checks it\n" in ran.err
    ran = asked("--json")
    told = json.loads(ran.out)
    assert ran.code == 1 and told["summary"]["places"]["migrated"] == 5
    assert (told["zones"], told["alarms"]) == ([], ["paused"]) and "Not a directory" in told["unreadable"]


def test_without_zones_there_may_be_nothing_to_show(
    asked: Any, answers: list[CampaignSummary | None]
) -> None:
    """Where some are asked for, and where the campaign does not answer either: it is an error, as it was."""
    for words in (("--phase", "awaiting"), ("--zone", "a.example"), ("--wave", "1")):
        ran = asked(*words)
        assert (ran.code, ran.out) == (1, "") and ran.err.startswith("error: archive: "), ran
    answers.append(None)
    ran = asked()
    assert (ran.code, ran.out) == (1, "") and ran.err.startswith("error: archive: "), ran
