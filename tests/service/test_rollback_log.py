"""What a worker recorded of log-fields before it wrote anything: what somebody else has put there counts for
nothing, and holds back what would be sent.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from activities.log_fields.changes import LogFieldsWork
from activities.log_fields.rollback_log import RollbackLog
from edgeshift.areas.log_fields import Version
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.keyring import WORKER
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import ZoneStart
from edgeshift.model.digests import sha256
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.service_api import LogJob
from edgeshift.stores.archive import ArchiveCorrupt
from edgeshift.stores.documents import (
    JobBefore,
    JobCreated,
    RulesBefore,
    RulesSent,
    encoded,
    intent_key,
    unproven_there,
)
from tests.service.client_scene import scene
from tests.service.records_kit import ZONE, Forge, Kept, by_a_stranger, forged, intent, kept_in


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return kept_in(tmp_path)


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
