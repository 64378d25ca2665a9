"""What a worker recorded of log-fields before it wrote anything: what somebody else has put there counts for
nothing, and holds back what would be sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from activities.change.intents import ClosedAs, close_intent, close_intents, record_never_showed, seen_through
from activities.log_fields.rollback_log import RollbackLog
from activities.proof.records import WorkerRecords
from edgeshift.areas.log_fields import Version
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.keyring import WORKER
from edgeshift.authority.loading import RootsFiles
from edgeshift.authority.worker_pen import WorkerPen
from edgeshift.model.digests import sha256
from edgeshift.model.fleet import Area
from edgeshift.stores.archive import ArchiveCorrupt, ArchiveUnavailable
from edgeshift.stores.documents import encoded, intent_key, unproven_there
from edgeshift.stores.documents.areas.log_fields import JobBefore, JobCreated, RulesBefore, RulesSent
from tests.service.records_kit import (
    ZONE,
    Forge,
    Kept,
    forged,
    intent,
)
from tests.service.rollback_log_kit import BEFORE, JOB, PUT, RULE, RUN, log_of


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
    await record_never_showed(kept.connections, ZONE, Area.LOG_FIELDS, {PUT})
    assert await log_of(kept).left_in() is None
    other = intent_key(ZONE, Area.LOG_FIELDS, "p-1-rules-2")
    await kept.sent(other, trail="p-1")
    await close_intent(kept.connections, other, ClosedAs.ANSWERED)
    await record_never_showed(kept.connections, ZONE, Area.LOG_FIELDS, {other})
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
