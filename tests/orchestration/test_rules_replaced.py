"""Rules of the new WAF that a zone has and edgeshift did not write: nothing replaces them unless people were
told, and agreed for that zone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome
from edgeshift.operations.again import begin_again
from edgeshift.operations.group import rest_of
from edgeshift.operations.preview import preview_of
from tests.kit import OPERATOR
from tests.kit.faults import Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

SKIP: dict[str, Any] = {
    "action": "skip",
    "action_parameters": {"ruleset": "current"},
    "expression": 'http.request.uri.path eq "/upload"',
    "description": "uploads",
}
TUNED: dict[str, Any] = {
    "action": "execute",
    "expression": "true",
    "action_parameters": {
        "id": "efb7b8c949ac4650a09736fc376e9aee",
        "overrides": {"rules": [{"id": "5de7edfa648c4d6891dc3e7f84534ffa", "action": "log"}]},
    },
}
THEIRS = {"name": "default", "rules": [SKIP, TUNED]}
TOLD = "rule 1 of the new WAF as it is: skip (uploads)"


async def rules_of(stage: Stage, name: str) -> list[str]:
    """The descriptions of the rules that the zone has."""
    shown = await stage.play.control.get(f"zones/{stage.id(name)}")
    return [rule["description"] for rule in shown["entry_point"]["rules"]]


async def blocked(stage: Stage, name: str) -> None:
    """The zone ends as blocked by its own rules, and nothing was sent to change it."""
    await stage.play.until(lambda seen: bool(seen.places.get("blocked")), 60)
    assert await stage.outcome(name) is ZoneOutcome.BLOCKED
    result = await stage.play.zone(stage.name(name)).result()
    assert [reason.code for reason in result.why] == ["rules_replaced"]
    assert TOLD in result.reason
    assert await stage.changes(name) == [] and "uploads" in await rules_of(stage, name)


@pytest.mark.parametrize("plan", ["pro", "enterprise"])
async def test_a_zone_with_rules_of_its_own_is_blocked(
    plan: str, temporal_client: Client, tmp_path: Path
) -> None:
    """No sign-off of others reaches it, and no validation. Without them it is started again."""
    zones = zone("theirs", plan), zone("plain", plan)
    async with staged(temporal_client, tmp_path, *zones, begin=False) as stage:
        await stage.change("theirs", entry_point=THEIRS)
        await stage.play.begin()
        await blocked(stage, "theirs")
        await stage.waits("plain")
        await stage.change("theirs", entry_point={"name": "default", "rules": []})
        await begin_again(stage.play.client, stage.play.spec.name, "retry", by=OPERATOR, places=["blocked"])
        assert (await stage.finish()).outcomes == {"migrated": 2}
        await stage.check({4, 7} if plan == "enterprise" else {3, 4, 7})


async def test_a_person_consents_by_the_zone_s_name_and_is_told(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Who signs it with others of its fingerprint sees what it loses, and they do not."""
    zones = zone("agreed"), zone("plain")
    async with staged(temporal_client, tmp_path, *zones, begin=False) as stage:
        spec = stage.play.spec.model_dump() | {"consents": {"replaced_rules": [stage.name("agreed")]}}
        stage.play.spec = type(stage.play.spec).model_validate(spec)
        await stage.change("agreed", entry_point=THEIRS)
        await stage.play.begin()
        archive, area = stage.play.archive, stage.play.spec.area
        agreed = await preview_of(archive, await stage.waits("agreed"), area)
        plain = await preview_of(archive, await stage.waits("plain"), area)
        assert TOLD in agreed.losses and plain.losses == ()
        (other,) = rest_of(plain, [plain, agreed]).otherwise
        assert other.zones == (agreed.zone,) and f"lost: {TOLD}" in other.more
        assert (await stage.finish()).outcomes == {"migrated": 2}
        await stage.check()


async def test_a_zone_that_the_customer_tuned_in_validation_is_adopted_and_told(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It is signed by itself, by whoever has seen what it loses."""
    async with staged(temporal_client, tmp_path, zone("tuned", "enterprise"), begin=False) as stage:
        await stage.change("tuned", state="validation", entry_point=THEIRS)
        await stage.play.begin()
        state = await stage.waits("tuned")
        assert await stage.changes("tuned") == []
        shown = await preview_of(stage.play.archive, state, stage.play.spec.area)
        assert TOLD in shown.losses and not shown.speaks_against
        assert (await stage.play.summary()).waiting[0].separate == 1
        assert (await stage.finish()).outcomes == {"migrated": 1}
        await stage.check({3, 4, 7})
