"""What a worker recorded of log-fields before it wrote anything: what somebody else has put there counts for
nothing, and holds back what would be sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from activities.change.intents import ClosedAs, close_intent, close_intents, never_showed, seen_through
from activities.log_fields.changes import LogFieldsWork
from activities.log_fields.rollback_log import RollbackLog
from activities.records import WorkerRecords
from edgeshift.areas.log_fields import Version
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.keyring import WORKER
from edgeshift.authority.loading import RootsFiles
from edgeshift.authority.worker_pen import WorkerPen
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import ZoneStart
from edgeshift.model.digests import sha256
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.service_api import LogJob
from edgeshift.stores.archive import ArchiveCorrupt, ArchiveUnavailable
from edgeshift.stores.documents import (
    DocumentUnreadable,
    JobBefore,
    JobCreated,
    RulesBefore,
    RulesSent,
    encoded,
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
    forged,
    intent,
    kept_in,
)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return kept_in(tmp_path)


@pytest.fixture
async def log(kept: Kept) -> RollbackLog:
    """The records of a commit that begins under the permit ``p-1``."""
    log = log_of(kept)
    assert await log.begin("p-1") == "p-1"
    return log


def log_of(kept: Kept, back: bool = False, run: str = "run") -> RollbackLog:
    said = {"target": SimpleNamespace(zone=ZONE), "area": Area.LOG_FIELDS, "campaign": "mine"}
    start = cast(ZoneStart, SimpleNamespace(**said, origin=run, spec="s"))
    return RollbackLog(kept.connections, start, back=back)


RUN = f"before/{ZONE.id}/log-fields/{sha256(b'run')[:16]}"
BEFORE = f"{RUN}/p-1"
PUT = intent_key(ZONE, Area.LOG_FIELDS, "p-1-rules-1")
RULE = {"ref": "evil", "expression": "true"}
JOB = LogJob.model_validate({"id": 7, "logpull_options": "fields=RayID"})


async def test_what_a_worker_recorded_before_a_write_is_read_back(kept: Kept, log: RollbackLog) -> None:
    """The version, the writes, the log jobs."""
    assert await log.base("r", Version(3, [RULE])) == Version(3, [RULE])
    assert await log.base("r", Version(4, [])) == Version(3, [RULE])
    await log.sending("r", 3, [RULE])
    await log.changing_job(JOB)
    await log.creating_job("ours")
    (sent,) = await log.sent("r")
    assert (sent.over, list(sent.rules)) == (3, [RULE])
    assert list(await log.jobs()) == [7] and await log.created_job("ours") == "ours"


async def test_what_was_seen_undone_is_no_longer_the_campaigns(kept: Kept, log: RollbackLog) -> None:
    """What others have made since is theirs: the next commit records anew what is there. Until then, and for
    a commit that finds something left in, all goes by what was there before the first write.
    """
    await log.base("r", Version(3, [RULE]))
    await log.sending("r", 3, [RULE])
    await log.changing_job(JOB)
    await kept.sent(PUT, trail="p-1")
    cut_off = log_of(kept)
    assert await cut_off.begin("p-2") == "p-1" and await cut_off.base("r", Version(9, [])) == Version(
        3, [RULE]
    )
    left = await log_of(kept).left_in()
    assert left is not None and left.trail == "p-1"
    await seen_through(kept.connections, ZONE, Area.LOG_FIELDS, {PUT})
    gone = log_of(kept, back=True)
    assert await gone.left_in() is None and not await gone.any_sent()
    assert await gone.first("r") is None and await gone.sent("r") == [] and await gone.jobs() == {}
    assert await gone.created_job("ours") is None
    anew = log_of(kept)
    assert await anew.begin("p-2") == "p-2" and await anew.base("r", Version(9, [])) == Version(9, [])
    await anew.changing_job(JOB.model_copy(update={"id": 8}))
    await kept.sent(intent_key(ZONE, Area.LOG_FIELDS, "p-2-job-8-1"), trail="p-2")
    assert list(await log_of(kept, back=True).jobs()) == [8]


async def test_a_commit_that_never_showed_is_no_longer_the_campaigns(kept: Kept, log: RollbackLog) -> None:
    """One that was not answered. An answered one has taken effect, whoever undid it."""
    await log.changing_job(JOB)
    await kept.sent(PUT, trail="p-1")
    await never_showed(kept.connections, ZONE, Area.LOG_FIELDS, {PUT})
    assert await log_of(kept).left_in() is None
    other = intent_key(ZONE, Area.LOG_FIELDS, "p-1-rules-2")
    await kept.sent(other, trail="p-1")
    await close_intent(kept.connections, other, ClosedAs.ANSWERED)
    await never_showed(kept.connections, ZONE, Area.LOG_FIELDS, {other})
    assert await log_of(kept).left_in() is not None


async def test_requests_that_leave_nothing_keep_no_trail(kept: Kept, log: RollbackLog) -> None:
    """A ruleset without rules: what was there before the commit that stopped after it is old by the next."""
    await log.base("r", Version(1, []))
    await log.sending("r", 1, [RULE])
    await kept.sent(intent_key(ZONE, Area.LOG_FIELDS, "p-1-ruleset-1"), trail="p-1")
    anew = log_of(kept)
    assert await anew.begin("p-2") == "p-2" and await anew.base("r", Version(9, [])) == Version(9, [])


async def test_records_that_no_intent_names_are_those_of_the_run(kept: Kept) -> None:
    """As they were archived before intents named them; what is beside them is another trail's."""
    await kept.records.create(f"{RUN}/job-7", JobBefore(logpull_options="fields=RayID"))
    await kept.records.create(f"{RUN}/p-2/job-8", JobBefore(logpull_options="fields=RayID"))
    assert await log_of(kept).left_in() is None
    await kept.sent(PUT)
    log = log_of(kept)
    assert await log.begin("p-3") is None and list(await log.jobs()) == [7]


async def test_what_another_run_has_sent_under_the_signed_start_is_the_campaigns_trail(kept: Kept) -> None:
    """The run is the word of whoever had it sent. It is gone on with where it lies, and found by a later
    attempt also once what began it is over; what was sent under another start is somebody else's.
    """
    theirs = log_of(kept, run="x")
    assert await theirs.begin("q-1") == "q-1"
    await theirs.base("r", Version(3, [RULE]))
    await theirs.sending("r", 3, [RULE])
    began = intent_key(ZONE, Area.LOG_FIELDS, "q-1-rules-1")
    await kept.sent(began, run="x", start="start", trail="q-1")
    assert await log_of(kept).left_in() is None
    kept.started.starts = frozenset({"start"})
    log = log_of(kept)
    named = await log.begin("p-1")
    assert named == f"{sha256(b'x')[:16]}/q-1"
    await log.changing_job(JOB)
    await kept.sent(PUT, trail=named)
    await came_to_none(kept, began)
    back = log_of(kept, back=True)
    assert await back.first("r") == Version(3, [RULE]) and len(await back.sent("r")) == 1
    assert list(await back.jobs()) == [7] and (await back.left_in()) is not None
    await seen(kept, PUT)
    anew = log_of(kept)
    assert await anew.begin("p-2") == "p-2" and await anew.base("r", Version(9, [])) == Version(9, [])


async def test_a_start_that_cannot_be_read_now_is_waited_for(kept: Kept) -> None:
    """What is left in may be under it: that nothing is to be taken back is not told without it."""
    kept.started.unread = ArchiveUnavailable("not now")
    with pytest.raises(ArchiveUnavailable, match="not now"):
        await log_of(kept, back=True).left_in()
    await kept.sent(PUT)
    await kept.records.create(f"{RUN}/job-7", JobBefore(logpull_options="fields=RayID"))
    assert list(await log_of(kept, back=True).jobs()) == [7]


@forged
async def test_forged_records_of_what_was_there_before_count_for_nothing(
    kept: Kept, log: RollbackLog, forge: Forge
) -> None:
    """No write of somebody else's is taken for the campaign's, no log job for one that it has changed; nor is
    any passed over, since it may be in the place of the campaign's own: nothing is sent, and it is named.
    """
    base, job = f"{BEFORE}/r/base", f"{BEFORE}/job-7"
    sent = RulesSent(over=1, rules=[RULE])
    put = f"{BEFORE}/r/put-1-{sha256(encoded(sent))[:12]}"
    kept.lay(put, await forge(kept, put, sent))
    kept.lay(job, await forge(kept, job, JobBefore(logpull_options="fields=Evil")))
    for of, asked in ((put, log.sent("r")), (job, log.jobs())):
        with pytest.raises(ArchiveCorrupt, match=of):
            await asked
    with pytest.raises(ArchiveCorrupt, match=put):
        await log.sending("r", 1, [RULE])
    with pytest.raises(ArchiveCorrupt, match=job):
        await log.changing_job(JOB)
    kept.lay(base, await forge(kept, base, RulesBefore(version=1, rules=[RULE])))
    for ask in (log.base("r", Version(3, [])), log.first("r")):
        with pytest.raises(ArchiveCorrupt, match=base):
            await ask
    new = f"{BEFORE}/new-job"
    kept.lay(new, await forge(kept, new, JobCreated(name="ours")))
    assert await log.created_job(None) is None
    with pytest.raises(ArchiveCorrupt, match=new):
        await log.created_job("ours")
    assert {said.key for said in (await unproven_there(kept.archive)).found} == {base, put, job, new}


async def test_what_a_worker_recorded_whose_key_was_revoked_counts_for_the_way_back(
    kept: Kept, log: RollbackLog
) -> None:
    """What it has sent is taken out again all the same; nothing more is written by it."""
    await log.base("r", Version(3, [RULE]))
    await log.sending("r", 3, [RULE])
    await log.changing_job(JOB)
    await log.creating_job("ours")
    await kept.sent(PUT, trail="p-1")
    RootsEditor(kept.keyring.roots).revoke(WORKER)
    # A retry does not take the zone for one that others have put right.
    left = await log_of(kept).left_in()
    assert left is not None and left.trail == "p-1"
    for asked in (log.first("r"), log.sent("r"), log.jobs(), log.created_job("ours")):
        with pytest.raises(ArchiveCorrupt, match="was revoked"):
            await asked
    back = log_of(kept, back=True)
    assert await back.first("r") == Version(3, [RULE]) and len(await back.sent("r")) == 1
    assert list(await back.jobs()) == [7] and await back.created_job("ours") == "ours"


async def seen(kept: Kept, *keys: str) -> None:
    await seen_through(kept.connections, ZONE, Area.LOG_FIELDS, set(keys))


async def came_to_none(kept: Kept, *keys: str) -> None:
    for key in keys:
        await close_intent(kept.connections, key, ClosedAs.NOTHING_CAME, "429")


Over = Callable[..., Awaitable[None]]
over = pytest.mark.parametrize(
    ("ends", "what"), [(seen, "seen/"), (came_to_none, "nothing/")], ids=["seen", "nothing"]
)


@over
async def test_what_a_worker_saw_over_whose_key_was_revoked_is_neither_left_in_nor_gone(
    kept: Kept, log: RollbackLog, ends: Over, what: str
) -> None:
    """By what was there before it, a rollback would take out what others have made since; and whoever has
    stolen the key may say of anything that it is over. What cannot be told is named.
    """
    await log.base("r", Version(3, [RULE]))
    await log.sending("r", 3, [RULE])
    await log.changing_job(JOB)
    await kept.sent(PUT, trail="p-1")
    await ends(kept, PUT)
    assert await log_of(kept).left_in() is None
    RootsEditor(kept.keyring.roots).revoke(WORKER)
    back, anew = log_of(kept, back=True), log_of(kept)
    named = PUT.replace("intent/", what, 1)
    for asked in (back.jobs(), back.first("r"), back.left_in(), anew.begin("p-2"), anew.any_sent()):
        with pytest.raises(ArchiveCorrupt, match=named):
            await asked


async def test_a_commit_that_showed_is_left_in_also_where_its_workers_key_was_revoked(
    kept: Kept, log: RollbackLog
) -> None:
    """That it showed does not say that it is over: while it is watched, it can be taken back."""
    await log.changing_job(JOB)
    await kept.sent(PUT, trail="p-1")
    await close_intents(kept.connections, ZONE, Area.LOG_FIELDS, {PUT})
    RootsEditor(kept.keyring.roots).revoke(WORKER)
    assert list(await log_of(kept, back=True).jobs()) == [7]
    assert await log_of(kept, back=True).any_sent()


@over
async def test_a_trail_that_was_over_before_another_began_holds_up_no_rollback(
    kept: Kept, log: RollbackLog, ends: Over, what: str
) -> None:
    """The worker that began the other one saw so, and its key counts. What is left in of the other one is
    taken back, whatever else was tried in it.
    """
    await log.changing_job(JOB)
    await kept.sent(PUT, trail="p-1")
    await ends(kept, PUT)
    editor = RootsEditor(kept.keyring.roots)
    mine, other = WorkerPen(kept.keyring.signer("worker-2", ("worker",)), "worker-2"), log_of(kept)
    kept.connections.records = records = WorkerRecords(
        RootsFiles(kept.keyring.roots), kept.archive, kept.connections.clock, mine
    )
    assert await other.begin("p-2") == "p-2"
    await other.changing_job(JOB.model_copy(update={"id": 8}))
    tried, job = (intent_key(ZONE, Area.LOG_FIELDS, f"p-2-job-8-{number}") for number in (1, 2))
    for key in (tried, job):
        later = datetime.now(UTC) + timedelta(seconds=1)
        assert await records.create(key, intent(trail="p-2", at=later))
    await came_to_none(kept, tried)
    editor.revoke(WORKER)
    assert list(await log_of(kept, back=True).jobs()) == [8]
    left = await log_of(kept).left_in()
    assert left is not None and left.trail == "p-2"


async def rubbish(kept: Kept, key: str, document: object) -> bytes:
    return b"<html>"


@pytest.mark.parametrize("forge", [*(one for one in FORGED if one is not by_a_revoked_key), rubbish])
async def test_where_no_intent_counts_any_more_nobody_can_tell_what_is_left_in(
    kept: Kept, log: RollbackLog, forge: Forge
) -> None:
    """As where somebody has written over them, or the worker was taken out of the roots. The way back does
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
