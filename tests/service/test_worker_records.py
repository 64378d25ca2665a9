"""Records of the archive count where a worker has signed them whom the roots know: what else lies there under
their names decides nothing, keeps no zone for ever, and is named.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from activities.change.intent_records import BY_HAND_AFTER
from activities.change.intents import (
    ANSWERED,
    came_to_nothing,
    commit_left,
    commit_may_show,
    left_in,
    own_commit,
    seen_through,
    unproven_last,
)
from activities.connections import Connections
from activities.log_fields.changes import LogFieldsWork
from activities.log_fields.rollback_log import RollbackLog
from activities.records import WorkerRecords
from activities.waf.evidence import EvidenceActivities
from edgeshift.areas.log_fields import Version
from edgeshift.areas.waf.evidence import Evidence, EvidenceVerdict, agreed_rules
from edgeshift.areas.waf.evidence_terms import RuleLine
from edgeshift.authority import worker_records
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.keyring import WORKER, Keyring
from edgeshift.authority.loading import RootsFiles
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey, PublicKey, verify
from edgeshift.authority.worker_pen import WorkerPen
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.archive_checks import check_records
from edgeshift.doctor.check import State
from edgeshift.messages import ZoneStart
from edgeshift.model.digests import canonical_bytes, sha256
from edgeshift.model.fleet import Area, Plan, Zone, ZoneOutcome
from edgeshift.runtime.clock import SystemClock
from edgeshift.service_api import LogJob
from edgeshift.stores.archive import Archive, ArchiveCorrupt, ArchiveUnavailable
from edgeshift.stores.documents import (
    DocumentUnreadable,
    EvidenceGathered,
    Intent,
    JobBefore,
    JobCreated,
    NothingMore,
    RulesBefore,
    RulesSent,
    Seen,
    contents_of,
    encoded,
    gathered_key,
    intent_key,
    put_document,
    unproven_there,
)
from tests.kit.signing import signed
from tests.service.client_scene import scene

LIMIT = timedelta(minutes=5)
ZONE = Zone(id="1" * 32, name="a.example", account="2" * 32, plan=Plan.ENTERPRISE)
KEY = intent_key(ZONE, Area.ESC, "p-1")
NOTHING, SEEN = (KEY.replace("intent/", f"{what}/", 1) for what in ("nothing", "seen"))

Forge = Callable[["Kept", str, Any], Awaitable[bytes]]


@dataclass
class Kept:
    """An archive, and the records of a worker whom its roots know."""

    archive: Archive
    keyring: Keyring
    worker: FileSigner
    connections: Connections

    @property
    def records(self) -> WorkerRecords:
        """The worker's."""
        return self.connections.records

    def path(self, key: str) -> Path:
        """The file of a record."""
        assert self.archive.folder is not None
        return self.archive.folder / key

    def lay(self, key: str, data: bytes, ago: timedelta = timedelta(0)) -> None:
        """Put bytes in the place of a record, as if so long ago."""
        self.path(key).parent.mkdir(parents=True, exist_ok=True)
        self.path(key).write_bytes(data)
        then = (datetime.now(UTC) - ago).timestamp()
        os.utime(self.path(key), (then, then))

    async def sent(self, key: str = KEY, **more: Any) -> None:
        """The worker has been about to send a commit."""
        assert await self.records.create(key, intent(**more))

    async def may_show(self) -> bool:
        """Whether a commit may still come to show."""
        return await commit_may_show(self.connections, ZONE, Area.ESC, LIMIT)

    async def taken_up(self) -> Intent | None:
        """What the campaign takes up as its own."""
        return await own_commit(self.connections, ZONE, Area.ESC, "mine", LIMIT)


def intent(**more: Any) -> Intent:
    """A commit of the campaign ``mine``."""
    said = {"step": "commit", "at": datetime.now(UTC), "campaign": "mine", "run": "run", "attempt": 1}
    return Intent(**{**said, "proposal": "its", **more})


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    keyring = Keyring(tmp_path / "authority")
    keyring.make()
    worker = FileSigner(PrivateKey(keyring.worker().read_bytes()))
    archive, roots, clock = Archive(tmp_path / "archive"), RootsFiles(keyring.roots), SystemClock()
    records = WorkerRecords(roots, archive, clock, WorkerPen(worker, WORKER))
    found = SimpleNamespace(archive=archive, clock=clock, records=records)
    return Kept(archive, keyring, worker, cast(Connections, found))


# --- what is no worker's word


async def unsigned(kept: Kept, key: str, document: Any) -> bytes:
    return encoded(document)


async def by_a_stranger(kept: Kept, key: str, document: Any) -> bytes:
    return await signed(key, contents_of(document), FileSigner(PrivateKey.made()))


async def by_a_person(kept: Kept, key: str, document: Any) -> bytes:
    return await signed(key, contents_of(document), kept.keyring.signer("ada"), by="ada")


async def by_a_person_in_a_workers_name(kept: Kept, key: str, document: Any) -> bytes:
    return await signed(key, contents_of(document), kept.keyring.signer("ada"))


async def of_another_name(kept: Kept, key: str, document: Any) -> bytes:
    return await signed(key, contents_of(document), kept.worker, of=f"{key}-2")


async def of_other_contents(kept: Kept, key: str, document: Any) -> bytes:
    data = await signed(key, {**contents_of(document), "more": "x"}, kept.worker)
    return data.replace(b'"more":"x"', b'"more":"y"')


async def from_the_future(kept: Kept, key: str, document: Any) -> bytes:
    later = datetime.now(UTC) + timedelta(hours=1)
    return await signed(key, contents_of(document), kept.worker, issued=later)


async def by_a_revoked_key(kept: Kept, key: str, document: Any) -> bytes:
    other = kept.keyring.signer("worker-2", ("worker",))
    data = await signed(key, contents_of(document), other, by="worker-2")
    RootsEditor(kept.keyring.roots).revoke("worker-2")
    return data


FORGED = (
    unsigned,
    by_a_stranger,
    by_a_person,
    by_a_person_in_a_workers_name,
    of_another_name,
    of_other_contents,
    from_the_future,
    by_a_revoked_key,
)
forged = pytest.mark.parametrize("forge", FORGED, ids=lambda one: str(one.__name__))


async def test_what_was_verified_once_is_judged_again_each_time(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the roots as they are then; other bytes under the same name are verified by themselves."""
    verified: list[bytes] = []

    def counted(message: bytes, armored: str) -> PublicKey:
        verified.append(message)
        return verify(message, armored)

    monkeypatch.setattr(worker_records, "verify", counted)
    other = kept.keyring.signer("worker-2", ("worker",))
    kept.lay(KEY, await signed(KEY, contents_of(intent()), other, by="worker-2"))
    for _ in range(3):
        assert await kept.records.proven(Intent, KEY) is not None
    assert len(verified) == 1
    RootsEditor(kept.keyring.roots).revoke("worker-2")
    assert await kept.records.proven(Intent, KEY) is None and len(verified) == 1
    kept.lay(KEY, await signed(KEY, contents_of(intent(attempt=2)), kept.worker))
    assert await kept.records.proven(Intent, KEY) is not None
    kept.lay(KEY, kept.path(KEY).read_bytes().replace(b'"attempt":2', b'"attempt":3'))
    assert await kept.records.proven(Intent, KEY) is None and len(verified) == 3


async def test_a_workers_record_counts_also_once_its_key_was_replaced(kept: Kept) -> None:
    """It is what any reader of the document reads, and has one field more."""
    await kept.sent()
    found = await kept.records.find(Intent, KEY)
    assert found is not None and found.unproven is None and found.record.campaign == "mine"
    assert await kept.records.proven(Intent, KEY) == found.record
    lines = kept.keyring.signers.read_text().splitlines()
    later = datetime.now(UTC) + timedelta(seconds=30)
    ended = [
        line.replace("worker ", f'worker valid-before="{later:%Y%m%d%H%M%S}Z" ', 1)
        if line.startswith("worker ")
        else line
        for line in lines
    ]
    assert ended != lines
    kept.keyring.signers.write_text("\n".join(ended) + "\n")
    assert await kept.records.proven(Intent, KEY) == found.record
    assert (await unproven_there(kept.archive)).found == ()


@forged
async def test_what_no_worker_has_signed_is_named_until_it_is_gone(kept: Kept, forge: Forge) -> None:
    """By whoever asks the doctor; once, however often workers come upon it."""
    kept.lay(KEY, await forge(kept, KEY, intent()))
    for _ in range(2):
        assert await kept.records.proven(Intent, KEY) is None
    found = await kept.records.find(Intent, KEY)
    assert found is not None and found.unproven
    (said,) = (await unproven_there(kept.archive)).found
    assert (said.key, said.why) == (KEY, found.unproven)
    (check,) = await check_records(kept.archive.name)
    assert check.state is State.WARNING and f"1 record does not count: {KEY} (" in check.text
    kept.path(KEY).unlink()
    (check,) = await check_records(kept.archive.name)
    assert check.state is State.OK and (await unproven_there(kept.archive)).found == ()


@forged
async def test_a_forged_word_that_nothing_came_of_it_is_none(kept: Kept, forge: Forge) -> None:
    """The commit may show, and is the campaign's own, as if nobody had said a word."""
    await kept.sent()
    kept.lay(NOTHING, await forge(kept, NOTHING, NothingMore(reason="refused")))
    assert await kept.may_show() and await kept.taken_up() is not None
    kept.path(NOTHING).unlink()
    await came_to_nothing(kept.connections, KEY, "refused")
    assert not await kept.may_show() and await kept.taken_up() is None


@forged
async def test_a_forged_word_that_it_was_seen_to_its_end_is_none(kept: Kept, forge: Forge) -> None:
    """The campaign takes its commit up, and looks at it itself."""
    await kept.sent()
    await came_to_nothing(kept.connections, KEY, ANSWERED)
    kept.lay(SEEN, await forge(kept, SEEN, Seen()))
    assert await kept.taken_up() is not None
    assert await left_in(kept.connections, ZONE, Area.ESC, "mine", "run") is not None
    kept.path(SEEN).unlink()
    await seen_through(kept.connections, ZONE, Area.ESC, {KEY})
    assert await kept.taken_up() is None


@forged
@pytest.mark.parametrize("step", ["commit", "given_up", "opened", "nonsense"])
async def test_a_forged_intent_keeps_its_zone_for_as_long_as_a_change_may_show(
    kept: Kept, forge: Forge, step: str
) -> None:
    """It may have the place of one that was sent, whatever it says of step and time; it is nothing that the
    campaign did, and an attempt that is said to have changed nothing is looked into.
    """
    data = await forge(kept, KEY, intent(step=step, at=datetime(2020, 1, 1, tzinfo=UTC)))
    kept.lay(KEY, data)
    assert await kept.may_show()
    assert await kept.taken_up() is None
    assert await left_in(kept.connections, ZONE, Area.ESC, "mine", "run") is None
    assert await commit_left(kept.connections, ZONE, Area.ESC, "run", 1)
    kept.lay(KEY, data, ago=LIMIT + timedelta(seconds=1))
    assert not await kept.may_show()


async def test_what_stands_under_the_own_permit_is_not_read(kept: Kept) -> None:
    """It does not count for what may show beside it, whatever it is; what another permit has does."""
    kept.lay(KEY, b"<html>")
    kept.lay(f"{KEY}-override-1", b"<html>")
    assert not await commit_may_show(kept.connections, ZONE, Area.ESC, LIMIT, beside=KEY)
    kept.lay(f"{KEY}2", b"<html>")
    with pytest.raises(DocumentUnreadable):
        await commit_may_show(kept.connections, ZONE, Area.ESC, LIMIT, beside=KEY)


async def test_a_genuine_intent_is_hidden_by_no_forged_one(kept: Kept) -> None:
    """The last commit that is the campaign's own is found beside later ones that are nobody's."""
    await kept.sent(at=datetime.now(UTC) - timedelta(hours=2))
    other = f"{KEY}-x"
    kept.lay(other, await unsigned(kept, other, intent(campaign="another")))
    found = await kept.taken_up()
    assert found is not None and found.campaign == "mine"


async def test_what_a_person_says_of_an_unreadable_intent_counts_once_nothing_can_come_of_it(
    kept: Kept,
) -> None:
    """Whoever looks there signs nothing: so the record's own age speaks for them."""
    kept.lay(KEY, b"{")
    kept.lay(NOTHING, canonical_bytes({"reason": "ann looked: the zone is not migrated"}))
    with pytest.raises(DocumentUnreadable, match=KEY):
        await kept.may_show()
    kept.lay(KEY, b"{", ago=BY_HAND_AFTER)
    assert not await kept.may_show()
    kept.path(NOTHING).unlink()
    with pytest.raises(DocumentUnreadable, match=KEY):
        await kept.may_show()


async def test_without_roots_records_count_as_they_are(kept: Kept) -> None:
    """In a rehearsal on this machine."""
    kept.connections.records = WorkerRecords(None, kept.archive, SystemClock())
    await kept.sent()
    assert kept.path(KEY).read_bytes() == encoded(await kept.records.proven(Intent, KEY) or intent())
    assert await kept.taken_up() is not None
    kept.lay(NOTHING, canonical_bytes({"reason": "refused"}))
    assert await kept.taken_up() is None and (await unproven_there(kept.archive)).found == ()


async def test_while_the_roots_cannot_be_read_no_record_is_judged(kept: Kept) -> None:
    """It is asked again later: nothing is taken for forged, nor for genuine."""
    await kept.sent()
    kept.keyring.roots.write_text("{")
    with pytest.raises(ArchiveUnavailable, match="whose records count is not known"):
        await kept.may_show()
    assert (await unproven_there(kept.archive)).found == ()


async def test_what_somebody_puts_in_the_place_of_such_words_says_nothing(kept: Kept) -> None:
    """Neither what is no such record, nor what is of another one."""
    kept.lay("unproven/odd", b"{")
    kept.lay("unproven/key", canonical_bytes({"key": "../x", "why": "", "at": "2024-01-01T00:00:00Z"}))
    await kept.sent()
    kept.lay("unproven/other", canonical_bytes({"key": KEY, "why": "", "at": "2024-01-01T00:00:00Z"}))
    assert (await unproven_there(kept.archive)).found == ()


async def test_whoever_floods_such_words_hides_nothing(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """That there are more than anybody looks at is said."""
    monkeypatch.setattr("edgeshift.stores.documents.unproven.MOST", 2)
    for number in range(3):
        kept.lay(f"unproven/{number}", b"{}")
    (check,) = await check_records(kept.archive.name)
    assert check.state is State.WARNING and "somebody floods the archive" in check.text


@pytest.mark.parametrize("gathered", [True, False])
async def test_a_window_before_counts_where_a_worker_gathered_it(kept: Kept, gathered: bool) -> None:
    """Else a planted one would have rules pass that the previous WAF never agreed with."""
    start = cast(
        ZoneStart, SimpleNamespace(target=SimpleNamespace(zone=ZONE), origin="run", spec="s", area=Area.WAF)
    )
    rule = RuleLine(waf="new", ruleset="r", rule="1", alike=40, alone=0)
    before = Evidence(
        proposal="p",
        mode="shadow",
        verdict=EvidenceVerdict.PASS,
        why="",
        rules=(rule,),
        events=40,
        requests=40,
        agreed=40,
        false_positives=0,
        gaps=0,
    )
    digest = await put_document(kept.archive, before)
    if gathered:
        await kept.records.create(gathered_key(ZONE, digest), EvidenceGathered(run="run", spec="s"))
    activities = EvidenceActivities(kept.connections)
    assert await activities._agreed(start, digest, "another") == frozenset()
    found = await activities._agreed(start, digest, "p")
    assert found == (agreed_rules(before) if gathered else frozenset()) and agreed_rules(before)


# --- log-fields: what was there before


@pytest.fixture
def log(kept: Kept) -> RollbackLog:
    target = SimpleNamespace(zone=ZONE)
    return RollbackLog(kept.connections, cast(ZoneStart, SimpleNamespace(target=target, origin="run")))


BEFORE = f"before/{ZONE.id}/log-fields/{sha256(b'run')[:16]}"
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
    RootsEditor(kept.keyring.roots).revoke(WORKER)
    for asked in (log.first("r"), log.sent("r"), log.jobs(), log.created_job("ours")):
        with pytest.raises(ArchiveCorrupt, match="was revoked"):
            await asked
    back = RollbackLog(kept.connections, log._start, back=True)
    assert await back.first("r") == Version(3, [RULE]) and len(await back.sent("r")) == 1
    assert list(await back.jobs()) == [7] and await back.created_job("ours") == "ours"


@pytest.mark.parametrize("seen", ["before", "after", "never"])
async def test_an_intent_that_does_not_count_may_be_the_last_one(kept: Kept, seen: str) -> None:
    """Unless one was seen to its end that was sent later: then that is what stands."""
    forged = KEY.replace("p-1", "p-2")
    ago = {"before": timedelta(hours=1), "after": timedelta(minutes=-1), "never": timedelta(hours=1)}[seen]
    assert await unproven_last(kept.connections, ZONE, Area.ESC) == ""
    await kept.sent(at=datetime.now(UTC) - ago)
    assert await unproven_last(kept.connections, ZONE, Area.ESC) == ""
    if seen != "never":
        await kept.records.create(SEEN, Seen())
    kept.lay(forged, await by_a_stranger(kept, forged, intent()))
    assert await unproven_last(kept.connections, ZONE, Area.ESC) == ("" if seen == "after" else forged)


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
