"""Our rule beside those of others, at services that take the fields of several rules each in its own way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.areas.log_fields import OUR_REF
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from tests.orchestration.test_log_fields_interleavings import Service, refs, rule, settled, stage

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(120)]

LISTS = "fields=RayID,EdgeStartTimestamp,RequestHeaders&timestamps=rfc3339"
BOTH = [("x-a", "1"), ("x-theirs", "2")]
FIELDS: dict[str, Any] = {"request_headers": ["x-a"], "cookies": [], "enough": 5, "verify": "40h"}


@asynccontextmanager
async def watched(
    client: Client, folder: Path, name: str, how: str, *since: list[tuple[str, str]], before: int = 10
) -> AsyncIterator[Service]:
    """A zone whose visitors send what a rule of others has logged, before our change and while it is watched.
    ``how``: what the service makes of several rules. ``since``: the headers of each request since.
    """
    options = {"log_fields": {"rules": how}}
    async with stage(client, folder, name, fields=FIELDS, simulator=options) as (play, service):
        await service.begin(name, rule("theirs"), options=LISTS)
        await service.traffic(name, *[BOTH] * before, later=-60)
        await play.begin()
        await play.zone_until(name, lambda state: state.phase.value == "awaiting_sign_off")
        await play.sign_what_waits()
        if how != "one":
            await play.zone_until(name, lambda state: state.phase.value == "watching")
            await service.traffic(name, *since)
        yield service


async def test_a_rule_of_ours_beside_one_of_others_adds_its_fields(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The fields of both come in one entry: it is settled at once."""
    async with watched(temporal_client, tmp_path, "adds.example", "add_up", BOTH) as service:
        outcome, reason, _ = await settled(service.play, "adds.example")
        assert outcome is ZoneOutcome.SETTLED and reason == "1 of 1 field seen in 1 log entry", reason
        assert refs(await service.rules("adds.example")) == ["theirs", OUR_REF]


async def test_fields_of_others_that_stop_when_ours_come_have_ours_taken_back(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The service goes by the last rule alone. What others had logged comes again, and the zone says why."""
    async with watched(temporal_client, tmp_path, "last.example", "last", *[BOTH] * 10) as service:
        outcome, reason, _ = await settled(service.play, "last.example")
        assert outcome is ZoneOutcome.ROLLED_BACK, reason
        assert "fields of others' rules stopped coming when the campaign's came" in reason
        assert "fields of one rule alone (request header x-theirs)" in reason
        assert refs(await service.rules("last.example")) == ["theirs"]
        found = await service.play.zone("last.example").result()
        assert [one.code for one in found.why[0].because] == [ReasonCode.FIELDS_OF_OTHERS_STOPPED]


async def test_a_few_entries_without_fields_of_others_say_nothing_of_them(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The watch goes on to its end, and the zone says what is not known."""
    async with watched(temporal_client, tmp_path, "few.example", "last", *[BOTH] * 3) as service:
        outcome, reason, _ = await settled(service.play, "few.example")
        assert outcome is ZoneOutcome.SETTLED, reason
        assert reason == (
            "1 of 1 field seen in 3 log entries; too few entries to say whether fields of others' rules"
            " still come (request header x-theirs)"
        )


async def test_fields_of_ours_that_never_come_beside_those_of_others_are_not_said_to_be_unsent(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The service goes by the first rule alone: nothing of others is lost, and nothing is claimed."""
    async with watched(temporal_client, tmp_path, "first.example", "first", *[BOTH] * 10) as service:
        outcome, reason, _ = await settled(service.play, "first.example")
        assert outcome is ZoneOutcome.SETTLED, reason
        assert reason == (
            "0 of 1 field seen in 10 log entries; request header x-a: in no entry, as if no request or"
            " response had it; fields of others' rules come (request header x-theirs): the service may log"
            " the fields of one rule alone"
        )
        assert refs(await service.rules("first.example"))[0] == "theirs"


async def test_a_service_that_refuses_a_second_rule_ends_the_zone_with_its_words(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nothing was written."""
    async with watched(temporal_client, tmp_path, "one.example", "one") as service:
        outcome, reason, _ = await asyncio.wait_for(settled(service.play, "one.example"), 60)
        assert outcome is ZoneOutcome.FAILED and "takes one rule" in reason, reason
        assert refs(await service.rules("one.example")) == ["theirs"]
