"""A fingerprint was rejected, and the campaign is started again by a file by which its own book of decisions
does not end the zones, while the door would hold the rejection against them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from edgeshift.model.sign_off import Choice
from edgeshift.operations.again import begin_again
from edgeshift.testbed.invariants.seen import Word
from tests.kit import APPROVER, OPERATOR
from tests.kit.faults import staged, zone
from tests.kit.planned import start_by_plan
from tests.kit.rejected_before import NAMED, WAVES, WHY
from tests.kit.signing import Roster

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

ENTERPRISE = {**NAMED, "plan": "enterprise"}


@pytest.mark.parametrize(
    ("kind", "sign_off", "fresh"),
    [
        (NAMED, {"approvers": ["bob"]}, "1d"),
        (NAMED, {"approvers": ["bob"]}, "1ms"),
        (ENTERPRISE, {"per": "zone"}, "1d"),
    ],
    ids=["other approvers", "read again by the zone", "validated and signed by zone"],
)
async def test_a_zone_that_the_door_would_refuse_ends_before_anybody_is_asked(
    kind: dict[str, Any], sign_off: dict[str, Any], fresh: str, temporal_client: Client, tmp_path: Path
) -> None:
    """Nor is it set into validation. Before, it waited for a sign-off, and went on hold once it had one.
    Reopened, it asks, and is migrated.
    """
    zones = (zone("a", **kind), zone("b", **kind))
    scene = staged(temporal_client, tmp_path, *zones, authority=Roster(), waves=WAVES, begin=False)
    async with scene as stage:
        play = stage.play
        await start_by_plan(play)
        state = await stage.waits("a")
        await play.ask("pause", "people look")
        await play.sign([state.fingerprint], Choice.REJECT, by=APPROVER, reason=WHY)
        assert await stage.outcome("a") is ZoneOutcome.REJECTED
        await play.ask("abort", "by another file")
        await play.result()
        # The new start has neither the pause nor the abort.
        play.stops = [stop.model_copy(update={"resumed_at": play.now()}) for stop in play.stops]
        other = {**play.spec.model_dump(), "waves": [], "plan": {"fresh": fresh}}
        other["sign_off"].update(sign_off)
        play.spec = type(play.spec).model_validate(other)
        await start_by_plan(play, again=True)
        stage.forget_signed()

        assert (await play.result()).outcomes == {"rejected": 2}
        found = await play.state(stage.name("b"))
        assert [why.code for why in found.why] == [ReasonCode.REJECTED_BEFORE]
        assert found.digest != found.fingerprint == state.fingerprint
        assert await stage.changes("b") == []

        play.words.append(Word(by=OPERATOR, at=play.now(), zone=stage.id("b"), reopens=True))
        await begin_again(
            play.client,
            play.spec.name,
            "reopen",
            by=OPERATOR,
            reason="decided anew",
            indexes=[play.index(stage.name("b"))],
            places=["rejected"],
            zones=[stage.id("b")],
            pen=play.pen(OPERATOR),
        )
        assert (await stage.waits("b")).attempt == 2
        await play.sign_zone(stage.name("b"), by="bob" if "approvers" in sign_off else APPROVER)
        assert await stage.outcome("b") is ZoneOutcome.MIGRATED
        assert (await play.result()).outcomes == {"rejected": 1, "migrated": 1}
        await stage.check()
