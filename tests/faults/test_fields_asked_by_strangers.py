"""The same of log-fields: what a worker signs of a look that a stranger has it take."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from activities.connections import Connections
from activities.log_fields.looking import Looked, look_at_entries
from edgeshift.messages import Confirm, Prepared, Step, Watch
from edgeshift.model.digests import digest
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.runtime.queues import Queue
from edgeshift.stores.documents import Proposal, get_document, put_document
from tests.faults.strangers_kit import (
    beside,
    committed,
    in_flight,
    sent_by,
    signed_of,
    stranger,
    way_back,
)
from tests.forgeries.running.attack import Attack
from tests.forgeries.running.foreign import scheduled
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import (
    LOG_FIELDS,
    log_stage,
    log_zone,
)
from tests.kit import eventually
from tests.kit.faults import Stage

pytestmark = pytest.mark.embedded


def logs_headers(name: str) -> dict[str, Any]:
    """A zone that logs a header of another team's already."""
    found = log_zone(name, foreign=True)
    (job,) = found["logs"]["jobs"]
    job["logpull_options"] = "fields=RayID,RequestHeaders&timestamps=rfc3339"
    return found


async def fields_proposed(stage: Stage, prepared: Prepared, names: list[str]) -> Prepared:
    """A proposal of other fields, without a log job of its own."""
    archive = stage.play.archive
    proposal = await get_document(archive, Proposal, prepared.proposal)
    fields = {**{kind: [] for kind in proposal.body["fields"]}, "request_headers": names}
    body = {**proposal.body, "fields": fields, "jobs": {"list": ["RequestHeaders"], "new": None}}
    forged = await put_document(archive, proposal.model_copy(update={"body": body}))
    return prepared.model_copy(update={"proposal": forged, "digest": digest(body)})


async def test_fields_that_are_there_are_never_signed_as_taken_out(
    temporal_client: Client, tmp_path: Path
) -> None:
    """By a proposal of fields that nobody has written, nor as settled by one of fields of another team's."""
    verify = {**LOG_FIELDS["log_fields"], "verify": "4000h", "every": "2000h"}
    async with log_stage(
        temporal_client, tmp_path, logs_headers("a"), authority=ONE, log_fields=verify
    ) as stage:
        a, prepared = await committed(stage, "a")
        start = await a.started_with()
        nobodys = await fields_proposed(stage, prepared, ["x-nobody"])
        others = await fields_proposed(stage, prepared, ["x-team"])
        for asked in ({"prepared": nobodys, "back": True}, {"prepared": others}, {"prepared": prepared}):
            message = Watch(start=start, since=stage.play.now(), last=True, **asked)
            _, told = await scheduled(a, "watch_log_fields_zone", message, Queue.LONG)
            assert told is not None and not told["done"] and not told["record"], told
        assert await signed_of(stage, "a") == []
        assert beside(stage, "a", "seen") == []


async def test_rubbish_among_the_intents_holds_no_rollback_of_log_fields_up(
    temporal_client: Client, tmp_path: Path
) -> None:
    """What the campaign has written is taken out again, and nothing else."""
    verify = {**LOG_FIELDS["log_fields"], "verify": "4000h", "every": "2000h"}
    async with log_stage(temporal_client, tmp_path, log_zone("a"), authority=ONE, log_fields=verify) as stage:
        a, prepared = await committed(stage, "a")
        await a.archive.create_once(f"intent/{a.state.zone.id}/log-fields/x", b"rubbish")
        _, told = await scheduled(a, "change_zone", await way_back(a, prepared), Queue.CHANGES)
        assert told["status"] == "answered", told
        assert len(await stage.play.journal("rulesets.put", stage.name("a"))) == 2


@pytest.mark.parametrize("wanted", [True, False])
async def test_a_commit_of_log_fields_is_closed_by_its_own_fields_alone(
    temporal_client: Client, tmp_path: Path, wanted: bool
) -> None:
    """A commit is in flight; a stranger asks whether fields show that others have written, or that nobody has
    are out: both are so, and say nothing of it.
    """
    more = {"log_fields": {**LOG_FIELDS["log_fields"], "effect_limit": "1h"}}
    async with log_stage(temporal_client, tmp_path, logs_headers("a"), authority=ONE, **more) as stage:
        await stage.waits("a")
        a = await stranger(stage, "a")
        name = await in_flight(a)
        forged = await fields_proposed(stage, sent_by(a), ["x-team" if wanted else "x-nobody"])
        message = Confirm(
            start=await a.started_with(),
            prepared=forged,
            wanted=wanted,
            limit=timedelta(seconds=5),
            since=stage.play.now(),
        )
        _, told = await scheduled(a, "settle_log_fields_zone", message, Queue.LONG)
        assert told is not None and told["reached"]
        assert name not in beside(stage, "a", "nothing")


async def test_a_rollback_that_comes_while_entries_are_read_is_not_told_as_settled(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may start activities can have one sent of what is watched still: a look takes seconds."""
    attacks: list[Attack] = []

    async def meanwhile(connections: Connections, message: Watch, *asked: Any) -> Looked:
        found = await look_at_entries(connections, message, *asked)
        if attacks and (message.last or found.settled):
            await in_flight(attacks.pop(), "back-1", Step.ROLL_BACK)
        return found

    monkeypatch.setattr("activities.log_fields.zone.look_at_entries", meanwhile)
    verify = {**LOG_FIELDS["log_fields"], "verify": "4s"}
    async with log_stage(temporal_client, tmp_path, log_zone("a"), authority=ONE, log_fields=verify) as stage:
        attacks.append((await committed(stage, "a"))[0])
        await eventually(lambda: _none(attacks), 60, "it is looked at")
        result = await stage.play.zone(stage.name("a")).result()
        assert result.outcome is ZoneOutcome.UNKNOWN, result
        assert ZoneOutcome.SETTLED not in await signed_of(stage, "a")


async def _none(attacks: list[Attack]) -> bool:
    return not attacks
