"""Whether a commit of a campaign may be in force, by what workers have recorded of it: that somebody has
looked at it says nothing against that.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from activities.change.in_force import may_be_in_force, seen_commit
from activities.change.intent_records import beside_of
from activities.change.intents import ClosedAs, close_intent, seen_through
from activities.change.own import Own
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import ZoneStart
from edgeshift.model.fleet import Area
from edgeshift.stores.documents import Seen
from tests.kit.stored import put_json
from tests.service.records_kit import KEY, SEEN, ZONE, Kept, intent, unsigned

BACK = f"{KEY}-back"
NOW = datetime.now(UTC)
LATER = timedelta(minutes=1)


async def stands(kept: Kept, run: str = "run") -> bool:
    return await may_be_in_force(kept.connections, ZONE, Area.ESC, Own(run))


async def seen(kept: Kept, campaign: str = "mine", run: str = "run") -> bool:
    spec = CampaignSpec.model_validate({"name": campaign, "targets": {"all": True}})
    start = SimpleNamespace(
        target=SimpleNamespace(zone=ZONE),
        area=Area.ESC,
        campaign=campaign,
        spec=await put_json(kept.connections.archive, spec.model_dump(mode="json")),
        origin=run,
        campaign_run=run,
    )
    return await seen_commit(kept.connections, cast(ZoneStart, start)) is not None


async def test_a_commit_that_was_seen_is_in_force(kept: Kept) -> None:
    """Of its own run, in whichever attempt; not of another one."""
    assert not await stands(kept) and not await seen(kept)
    await kept.sent(attempt=3)
    assert await stands(kept) and not await seen(kept)
    await seen_through(kept.connections, ZONE, Area.ESC, {KEY})
    assert await stands(kept) and await seen(kept)
    assert not await stands(kept, "another") and not await seen(kept, run="another")
    assert not await seen(kept, campaign="another")


@pytest.mark.parametrize("kind", [ClosedAs.NOTHING_CAME, ClosedAs.NEVER_SHOWED])
async def test_what_came_to_nothing_is_not(kept: Kept, kind: ClosedAs) -> None:
    """Whether it was refused, or never showed."""
    await kept.sent()
    await close_intent(kept.connections, KEY, kind)
    assert not await stands(kept) and not await seen(kept)


async def test_what_was_answered_and_never_showed_is_not(kept: Kept) -> None:
    """Somebody has looked when its time was over."""
    await kept.sent()
    await close_intent(kept.connections, KEY, ClosedAs.ANSWERED)
    assert await stands(kept)
    assert await kept.records.create(SEEN, Seen(showed=False))
    assert not await stands(kept) and not await seen(kept)


async def test_what_was_seen_undone_is_not(kept: Kept) -> None:
    """That its rollback was sent says nothing yet; and what was sent after it stands again."""
    await kept.sent(at=NOW - 2 * LATER)
    await kept.sent(BACK, step="roll_back", at=NOW - LATER)
    assert await stands(kept)
    await seen_through(kept.connections, ZONE, Area.ESC, {KEY, BACK})
    assert not await stands(kept) and not await seen(kept)
    await kept.sent(f"{KEY}-2", at=NOW, attempt=2)
    assert await stands(kept)


async def test_a_rollback_that_came_to_nothing_undoes_nothing(kept: Kept) -> None:
    """Also where somebody has recorded that it was seen."""
    await kept.sent(at=NOW - LATER)
    await kept.sent(BACK, step="roll_back", at=NOW)
    await close_intent(kept.connections, BACK, ClosedAs.NOTHING_CAME)
    assert await kept.records.create(beside_of(BACK, "seen"), Seen())
    assert await stands(kept)


async def test_what_no_worker_has_signed_may_have_its_place(kept: Kept) -> None:
    """Whoever asks looks at the service."""
    kept.lay(KEY, await unsigned(kept, KEY, intent()))
    assert await stands(kept) and not await seen(kept)


async def test_no_attempt_that_a_message_names_has_a_rollback_come_later(kept: Kept) -> None:
    """A rollback needs nobody's word that its attempt begins: what was sent after it stands."""
    await kept.sent(at=NOW - 3 * LATER)
    await kept.sent(BACK, step="roll_back", attempt=255, at=NOW - 2 * LATER)
    await seen_through(kept.connections, ZONE, Area.ESC, {KEY, BACK})
    assert not await stands(kept)
    await kept.sent(f"{KEY}-2", attempt=2, at=NOW)
    assert await stands(kept)
