"""A fingerprint was rejected, and the campaign is started again by a file with ``sign_off.per: zone``."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from edgeshift.operations.again import begin_again
from edgeshift.testbed.invariants.seen import Word
from tests.kit import APPROVER, OPERATOR
from tests.kit.faults import Stage
from tests.kit.rejected_before import WHY, rejected_before, told_in_vain
from tests.kit.signing import Roster

pytestmark = pytest.mark.embedded


@pytest.mark.parametrize("authority", [None, Roster()], ids=["rehearsal", "keys"])
async def test_a_zone_that_is_signed_by_itself_ends_by_the_rejection_of_before(
    authority: Roster | None, temporal_client: Client, tmp_path: Path
) -> None:
    """It names whoever rejected its fingerprint, and is sent nothing; once it is reopened, it waits for an
    approval of its own, and is migrated by that.
    """
    async with rejected_before(temporal_client, tmp_path, authority) as stage:
        play = stage.play
        assert (await play.result()).outcomes == {"rejected": 2}
        state = await play.state(stage.name("b"))
        (why,) = state.why
        assert (why.code, why.by, why.said) == (ReasonCode.REJECTED, APPROVER, WHY)
        assert state.digest != state.fingerprint and not state.decisions
        assert await stage.changes() == []

        await _reopen(stage, "b")
        assert (await stage.waits("b")).attempt == 2
        await play.sign_zone(stage.name("b"))
        assert await stage.outcome("b") is ZoneOutcome.MIGRATED
        assert (await play.result()).outcomes == {"rejected": 1, "migrated": 1}
        assert await stage.changes("a") == []
        await stage.check()


async def test_one_that_a_version_before_was_told_in_vain_ends_once_it_is_told_again(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It passed over the rejection then, and its course is played again so: that once went on without end."""
    async with told_in_vain(temporal_client, tmp_path) as stage:
        assert await stage.outcome("b") is ZoneOutcome.REJECTED
        assert (await stage.play.result()).outcomes == {"rejected": 2}
        assert await stage.changes() == []


async def _reopen(stage: Stage, short: str) -> None:
    """What ``edgeshift reopen --zone`` does."""
    play = stage.play
    index = play.index(stage.name(short))
    play.words.append(Word(by=OPERATOR, at=play.now(), zone=stage.id(short), reopens=True))
    await begin_again(
        play.client,
        play.spec.name,
        "reopen",
        by=OPERATOR,
        reason="decided anew",
        indexes=[index],
        places=["rejected"],
        zones=[stage.id(short)],
        pen=play.pen(OPERATOR),
    )
