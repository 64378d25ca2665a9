"""What does not count among the records of log-fields: it holds no rollback up, and hides nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from activities.change.intents import close_intents, seen_through
from activities.log_fields.changes import LogFieldsWork
from activities.log_fields.rollback_log import RollbackLog
from edgeshift.areas.log_fields import Version
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.stores.archive import ArchiveCorrupt
from edgeshift.stores.documents import (
    DocumentUnreadable,
    intent_key,
    unproven_there,
)
from tests.kit.signing import signed
from tests.service.client_scene import scene
from tests.service.records_kit import (
    FORGED,
    ZONE,
    Forge,
    Kept,
    by_a_revoked_key,
    by_a_stranger,
    intent,
)
from tests.service.rollback_log_kit import JOB, PUT, RULE, log_of


async def rubbish(kept: Kept, key: str, document: object) -> bytes:
    return b"<html>"


@pytest.mark.parametrize("forge", [*(one for one in FORGED if one is not by_a_revoked_key), rubbish])
async def test_where_no_intent_counts_any_more_nobody_can_tell_what_is_left_in(
    kept: Kept, log: RollbackLog, forge: Forge
) -> None:
    """As where somebody has written over them, or the worker was taken out of the roots. The rollback does
    not take the zone for undone, and no commit takes what is there for what was there before it.
    """
    await log.base("r", Version(3, [RULE]))
    await log.sending("r", 3, [RULE])
    await log.changing_job(JOB)
    kept.lay(PUT, await forge(kept, PUT, intent(trail="p-1")))
    back, anew = log_of(kept, back=True), log_of(kept)
    asks = (back.first("r"), back.sent("r"), back.jobs(), back.created_job("ours"), back.any_sent())
    for asked in (*asks, back.left_in(), anew.begin("p-2")):
        with pytest.raises(ArchiveCorrupt, match=PUT):
            await asked


async def test_rubbish_beside_what_is_left_in_holds_no_way_back_up(kept: Kept, log: RollbackLog) -> None:
    """It is named, and what is known to be left in is taken back and seen through. A record that a worker has
    signed, of another version maybe, is not passed over.
    """
    await log.base("r", Version(3, [RULE]))
    await log.sending("r", 3, [RULE])
    await kept.sent(PUT, trail="p-1")
    planted = intent_key(ZONE, Area.LOG_FIELDS, "planted")
    kept.lay(planted, b"rubbish")
    back = log_of(kept, back=True)
    assert await back.first("r") == Version(3, [RULE]) and await back.left_in() is not None
    assert planted in {said.key for said in (await unproven_there(kept.archive)).found}
    await close_intents(kept.connections, ZONE, Area.LOG_FIELDS, {PUT})
    other = intent_key(ZONE, Area.LOG_FIELDS, "of-another-version")
    kept.lay(other, await signed(other, {"step": "commit"}, kept.worker))
    with pytest.raises(DocumentUnreadable, match=other):
        await log_of(kept, back=True).left_in()
    kept.path(other).unlink()
    await seen_through(kept.connections, ZONE, Area.LOG_FIELDS, {PUT})
    kept.path(planted).unlink()
    assert not await log_of(kept, back=True).any_sent()


async def test_an_intent_that_does_not_count_says_nothing_where_nothing_was_written_or_all_was_seen(
    kept: Kept, log: RollbackLog
) -> None:
    """Whoever can write to the archive holds up no zone for good by it."""
    planted = intent_key(ZONE, Area.LOG_FIELDS, "planted")
    kept.lay(planted, await by_a_stranger(kept, planted, intent()), ago=timedelta(hours=1))
    assert await log_of(kept).begin("p-2") == "p-2"
    await log.changing_job(JOB)
    await kept.sent(PUT, trail="p-1")
    await seen_through(kept.connections, ZONE, Area.LOG_FIELDS, {PUT})
    assert not await log_of(kept, back=True).any_sent()
    # One that another run has seen to its end does not say what became of this one's.
    kept.lay(planted, await by_a_stranger(kept, planted, intent()))
    other = intent_key(ZONE, Area.LOG_FIELDS, "q-1")
    await kept.sent(other, run="another", at=datetime.now(UTC) + timedelta(seconds=1))
    await seen_through(kept.connections, ZONE, Area.LOG_FIELDS, {other})
    with pytest.raises(ArchiveCorrupt, match=planted):
        await log_of(kept, back=True).any_sent()


@pytest.mark.parametrize("what", ["rules", "job to be changed", "job to be created"])
async def test_an_old_intent_that_does_not_count_holds_up_no_retry(
    kept: Kept, log: RollbackLog, what: str
) -> None:
    """One from before the run wrote anything is none of its own: what it was about to send, and then did not,
    as where its turn did not come, is recorded anew by the next try.
    """
    old = intent_key(ZONE, Area.LOG_FIELDS, "of-a-worker-taken-out-of-the-roots")
    kept.lay(old, await by_a_stranger(kept, old, intent()), ago=timedelta(days=90))
    match what:
        case "rules":
            await log.base("r", Version(3, [RULE]))
            await log.sending("r", 3, [RULE])
        case "job to be changed":
            await log.changing_job(JOB)
        case _:
            await log.creating_job("ours")
    assert not await log_of(kept, back=True).any_sent()
    assert await log_of(kept).begin("p-2") == "p-2"
    # One that was stored as late as the write may be in the place of its own.
    kept.lay(PUT, await by_a_stranger(kept, PUT, intent()))
    with pytest.raises(ArchiveCorrupt, match=PUT):
        await log_of(kept).begin("p-2")


async def test_where_a_target_stands_is_unknown_while_its_last_intent_does_not_count(
    kept: Kept, tmp_path: Path
) -> None:
    """The service shows none of the fields. What was sent last may be the campaign's own all the same, of
    which a part stands: nobody says that the target was not touched.
    """
    spec = CampaignSpec.model_validate(
        {
            "name": "mine",
            "area": "log-fields",
            "targets": {"all": True},
            "log_fields": {"request_headers": ["user-agent"]},
        }
    )
    work = LogFieldsWork(kept.connections)
    async with scene(tmp_path / "service") as service, service.client() as client:
        zone = ZONE.model_copy(update={"id": service.zone("enterprise"), "name": "enterprise.example"})
        key = intent_key(zone, Area.LOG_FIELDS, "p-1")
        outcome, why = await work.standing(client, spec, zone)
        assert outcome is None and "does not show the fields" in why
        kept.lay(key, await by_a_stranger(kept, key, intent()))
        told = f"not known whether a part stands: {key} does not count"
        assert await work.standing(client, spec, zone) == (ZoneOutcome.UNKNOWN, told)
