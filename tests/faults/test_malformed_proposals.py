"""Whoever can reach Temporal and the archive can have a worker look at a target by a proposal that is none of
its area: it is refused for good, by what is wrong with it.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ActivityError, ApplicationError

from edgeshift.areas.waf import Mode
from edgeshift.messages import Confirm, Watch
from edgeshift.messages.areas.waf import Verify
from edgeshift.model.digests import digest, fingerprint
from edgeshift.runtime.queues import Queue
from edgeshift.stores.documents import Proposal, put_document
from tests.faults.strangers_kit import sent_by, stranger
from tests.forgeries.running.attack import Attack
from tests.forgeries.running.foreign import forged_change, scheduled
from tests.forgeries.running.scheduling import queue_of
from tests.harness.campaigns.stages import log_stage, log_zone
from tests.kit import foreign
from tests.kit.faults import staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

A_MOMENT = timedelta(seconds=5)

RULE = {"action": "execute", "expression": "true"}

OF_WAF: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "no list of rules"),
    ({"name": "x"}, "no list of rules"),
    ({"name": "x", "rules": "all"}, "rules"),
    ({"name": "x", "rules": [1]}, "rules"),
    ({"name": "x", "rules": [{}]}, "no action or no expression"),
    (
        {"name": "x", "rules": [{**RULE, "action_parameters": {"overrides": [1]}}]},
        "overrides is not an object",
    ),
)

FIELDS = {"request_headers": [], "response_headers": [], "cookies": ["a"]}

OF_LOG_FIELDS: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "name"),
    ({"name": "log_fields"}, "fields"),
    ({"name": "log_fields", "fields": {"cookies": 1}, "jobs": {"list": [], "new": None}}, "fields"),
    ({"name": "log_fields", "fields": FIELDS}, "jobs"),
    ({"name": "log_fields", "fields": FIELDS, "jobs": {"list": []}}, "jobs"),
    ({"name": "log_fields", "fields": FIELDS, "jobs": {"list": [], "new": {}}}, "jobs"),
)


async def refused(a: Attack, activity: str, message: BaseModel) -> ApplicationError:
    """How a worker fails by this message."""
    queue = queue_of(a, Queue.LONG)
    async with foreign.scheduled(a.enemy, activity, message, queue, 20) as handle:
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()
    why = failed.value.cause
    assert isinstance(why, ActivityError) and isinstance(why.cause, ApplicationError), why
    return why.cause


async def planted(a: Attack, body: dict[str, Any]) -> dict[str, Any]:
    """A proposal with this body, as a message names it."""
    proposal = await put_document(a.archive, Proposal(body=body))
    rules = body.get("rules", [])
    has_one = isinstance(rules, list) and all(isinstance(rule, dict) for rule in rules)
    return {"proposal": proposal, "digest": digest(body) if has_one else a.state.digest}


async def test_a_look_at_a_migration_by_a_proposal_that_is_none_is_refused(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Each is named, and nothing is tried again."""
    async with staged(temporal_client, tmp_path, zone("a")) as stage:
        await stage.waits("a")
        a = await stranger(stage, "a")
        start = await a.started_with()
        await stage.change("a", state="complete")
        for body, wrong in OF_WAF:
            for mode in (Mode.PENDING, Mode.VALIDATION):
                named = await planted(a, body)
                message = Verify(
                    start=start, mode=mode, snapshot=a.state.snapshot, limit=A_MOMENT, shadow=True, **named
                )
                why = await refused(a, "verify_waf_zone", message)
                assert (why.type, why.non_retryable) == ("ArchiveCorrupt", True), (body, why)
                assert named["proposal"][:12] in why.message and wrong in why.message, (body, why)


async def test_a_look_at_log_fields_by_a_proposal_that_is_none_is_refused(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Whether it is to be confirmed, to be found undone, or watched."""
    async with log_stage(temporal_client, tmp_path, log_zone("a")) as stage:
        await stage.waits("a")
        a = await stranger(stage, "a")
        start = await a.started_with()
        for body, wrong in OF_LOG_FIELDS:
            named = await planted(a, body)
            prepared = sent_by(a).model_copy(update=named)
            since = stage.play.now()
            asked: dict[str, Any] = {"start": start, "prepared": prepared, "since": since}
            messages: tuple[tuple[str, BaseModel], ...] = (
                ("settle_log_fields_zone", Confirm(wanted=True, limit=A_MOMENT, **asked)),
                ("settle_log_fields_zone", Confirm(wanted=False, limit=A_MOMENT, **asked)),
                ("watch_log_fields_zone", Watch(last=True, **asked)),
                ("watch_log_fields_zone", Watch(back=True, **asked)),
            )
            for activity, message in messages:
                why = await refused(a, activity, message)
                assert (why.type, why.non_retryable) == ("ArchiveCorrupt", True), (activity, body, why)
                assert named["proposal"][:12] in why.message and wrong in why.message, (body, why)


@pytest.mark.parametrize("area", ["waf", "log-fields"])
async def test_a_change_by_a_proposal_that_is_none_is_not_sent(
    temporal_client: Client, tmp_path: Path, area: str
) -> None:
    """Whatever its message says of who has approved it: the door says why."""
    made = (
        staged(temporal_client, tmp_path, zone("a"))
        if area == "waf"
        else log_stage(temporal_client, tmp_path, log_zone("a"))
    )
    async with made as stage:
        await stage.waits("a")
        a = await stranger(stage, "a")
        forged = await forged_change(a)
        for body, wrong in OF_WAF if area == "waf" else OF_LOG_FIELDS:
            named = await planted(a, body)
            decisions = [one.model_copy(update={"digest": named["digest"]}) for one in forged.decisions]
            update = {**named, "permit": a.permit(), "decisions": tuple(decisions)}
            if named["digest"] != a.state.digest:
                update["fingerprint"] = fingerprint(body, a.state.zone)
            _, told = await scheduled(a, "change_zone", forged.model_copy(update=update), Queue.CHANGES)
            assert told is not None and told["status"] == "nothing_happened", (body, told)
            assert wrong in told["reason"], (body, told)
        assert await stage.changes() == []
