"""Somebody who can send Temporal anything has what people approved sent by a message that names a run of the
campaign that never was. It is the campaign's own all the same: it is watched and taken back, and nobody is
told that somebody else had changed the zone.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.messages import Prepare, Watch, ZoneStart
from edgeshift.runtime.queues import Queue
from tests.faults.strangers_kit import sent_by, signed_of, stranger, way_back
from tests.forgeries.running.attack import Attack
from tests.forgeries.running.foreign import forged_change, scheduled
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import LOG_FIELDS, log_stage, log_zone
from tests.kit import eventually
from tests.kit.faults import Stage, staged, zone
from tests.kit.signing import WORKER, key_of, signed

pytestmark = pytest.mark.embedded

NOWHERE = "a-run-that-never-was"


async def sent_there(stage: Stage, prepare: str) -> tuple[Attack, ZoneStart]:
    """An approver has signed what the zone proposes, and a stranger has it read once more by ``prepare``, and
    sent in the name of another run; the zone's own start.
    """
    await stage.waits("a")
    a = await stranger(stage, "a")
    await a.genuine()
    own = await a.started_with()
    _, read = await scheduled(a, prepare, Prepare(start=own), Queue.LONG)
    change = (await forged_change(a, origin=NOWHERE)).model_copy(update={"config": read["config"]})
    _, told = await scheduled(a, "change_zone", change, Queue.CHANGES)
    assert told is not None and told["status"] == "answered", told
    return a, own


async def test_fields_that_another_run_has_sent_are_watched_and_taken_out(
    temporal_client: Client, tmp_path: Path
) -> None:
    """By the campaign that people have signed: it goes on with them, and takes them out where it is to."""
    verify = {**LOG_FIELDS["log_fields"], "verify": "4000h", "every": "2000h"}
    async with log_stage(temporal_client, tmp_path, log_zone("a"), authority=ONE, log_fields=verify) as stage:
        a, own = await sent_there(stage, "prepare_log_fields_zone")
        _, told = await scheduled(a, "prepare_log_fields_zone", Prepare(start=own), Queue.LONG)
        assert told is not None and told["verdict"] == "ready", told
        assert await signed_of(stage, "a") == []
        message = Watch(start=own, prepared=sent_by(a), since=stage.play.now(), last=True)
        _, told = await scheduled(a, "watch_log_fields_zone", message, Queue.LONG)
        assert told is not None and "watched_too_short" in str(told["why"]), told
        _, told = await scheduled(a, "change_zone", await way_back(a, sent_by(a)), Queue.CHANGES)
        assert told is not None and told["status"] == "answered", told
        assert len(await stage.play.journal("rulesets.put", stage.name("a"))) == 2


async def test_a_zone_that_another_run_has_migrated_is_not_signed_as_found_so(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Also once a worker has seen it to its end, in the name of that run."""
    async with staged(temporal_client, tmp_path, zone("a"), authority=ONE) as stage:
        a, own = await sent_there(stage, "prepare_waf_zone")
        (permit,) = a.permits
        seen = f"seen/{a.state.zone.id}/waf/{permit}"
        await a.archive.create_once(seen, await signed(seen, {}, key_of(WORKER)))

        async def found_migrated() -> bool:
            """Where the migration takes effect in the midst of a reading, that ends with 410."""
            _, told = await scheduled(a, "prepare_waf_zone", Prepare(start=own), Queue.LONG)
            return told is not None and told["verdict"] == "already_migrated"

        await eventually(found_migrated, what="the zone is read as migrated")
        assert await signed_of(stage, "a") == []
