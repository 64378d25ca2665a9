"""A zone that is migrated is not set into validation: nobody signs that, and its new rules would only log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from edgeshift.areas import waf
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Area
from edgeshift.stores.documents import Intent, Seen, intent_key
from tests.service.gate_kit import Gate, gate

TAKES_ALL = {"config_of_migrated": "answer", "validation_after_commit": "always"}
"""Answers of a service that gives a migrated zone its configuration, and takes its validation."""

PENDING = ("waf_migration=pending&phase_two=1", False)


async def _migrated_by_somebody(play: Gate) -> None:
    client = await play.connections.service(play.start.spec, play.zone)
    await client.put_entry_point(
        play.zone.id, play.body, waf_migration=waf.Mode.PENDING.value, before_send=_at_once
    )


async def _at_once() -> None:
    """Nothing comes before it."""


async def test_a_zone_that_is_migrated_is_not_validated(tmp_path: Path) -> None:
    """By whomever, and though the service would take it: it is read again."""
    async with gate(tmp_path) as play:
        await play.control.send("PUT", "options", TAKES_ALL)
        await _migrated_by_somebody(play)
        result = await play.validate()
        assert result.status is ChangeStatus.DRIFTED and "is migrated" in result.reason
        assert await play.sent() == [PENDING]


async def test_that_a_zone_is_migrated_is_believed_when_it_stays(tmp_path: Path) -> None:
    """One answer that is wrong neither lets a validation through nor ends anything."""
    async with gate(tmp_path) as play:
        said = {"/result/new_waf_status": "enabled", "/result/old_waf_status": "disabled"}
        match, replace = {"call": "waf.status"}, {**said, "/result/migration_state": "complete"}
        fault = {"kind": "wrong_types", "times": 1, "match": match, "replace": replace}
        await play.control.send("POST", "faults", fault)
        result = await play.validate()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and "otherwise each time" in result.reason
        assert await play.sent() == []
        assert (await play.validate(permit=2)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("showed", [None, False])
async def test_a_commit_that_a_worker_has_seen_take_effect_keeps_validations_away(
    tmp_path: Path, showed: bool | None
) -> None:
    """Whichever campaign has sent it, and whatever the status says: nothing undoes one. One that never showed
    keeps nobody.
    """
    async with gate(tmp_path) as play:
        at = datetime.now(UTC) - timedelta(days=2)
        record = Intent(step="commit", at=at, campaign="campaign/another", run="other", permit="other-1")
        key, records = intent_key(play.zone, Area.WAF, "other-1"), play.connections.records
        await records.create(key, record)
        assert (await play.validate()).status is ChangeStatus.ANSWERED, "nobody has seen it"
        await records.create(key.replace("intent/", "seen/", 1), Seen(showed=showed))
        result = await play.validate(permit=2)
        if showed is False:
            assert result.status is ChangeStatus.ANSWERED
        else:
            assert result.status is ChangeStatus.NOTHING_HAPPENED and "has seen it migrated" in result.reason
        assert len(await play.sent()) == (2 if showed is False else 1)
