"""A zone whose compatibility check is refused: its status says whether it is migrated, or in validation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from activities.waf.zone import read_zone
from edgeshift.areas import waf
from edgeshift.profiles import SPECIFICATION
from edgeshift.service_api import RateLimited, Refused, ServiceError, Unauthorized, Unsuccessful
from tests.service.gate_kit import Gate, gate

ALREADY = "the zone has already been migrated"


async def refused(play: Gate, status: int, message: str, code: int = 1004) -> waf.Reading:
    """The zone as it is read where its check is refused."""
    body = json.dumps({"success": False, "errors": [{"code": code, "message": message}]})
    match = {"call": "waf.check"}
    await play.control.send(
        "POST", "faults", {"kind": "server_error", "match": match, "status": status, "body": body}
    )
    client = await play.connections.service(play.start.spec, play.zone)
    return await read_zone(client, play.zone)


async def migrated(play: Gate) -> None:
    """Somebody migrates the zone."""
    await play.control.send("PATCH", f"zones/{play.zone.id}", {"state": "complete"})


@pytest.mark.parametrize("status", [400, 403, 404, 409, 410])
async def test_a_migrated_zone_is_migrated_where_its_check_is_refused(status: int, tmp_path: Path) -> None:
    """The status decides."""
    async with gate(tmp_path) as play:
        await migrated(play)
        reading = await refused(play, status, ALREADY)
        assert waf.assess(reading, SPECIFICATION).verdict is waf.Verdict.ALREADY_MIGRATED
        assert waf.migration_state(reading) == "complete"


async def test_a_zone_that_is_not_migrated_is_none_by_a_refused_check(tmp_path: Path) -> None:
    """Whatever the refusal says: it is raised as before."""
    async with gate(tmp_path) as play:
        with pytest.raises(Refused, match="already been migrated"):
            await refused(play, 400, ALREADY)


@pytest.mark.parametrize(("status", "code", "kind"), [(401, 10000, Unauthorized), (429, 971, RateLimited)])
async def test_what_says_nothing_of_the_zone_is_raised(
    status: int, code: int, kind: type[ServiceError], tmp_path: Path
) -> None:
    """That the credential is refused, or the service called too often, is found out at once."""
    async with gate(tmp_path) as play:
        await migrated(play)
        with pytest.raises(kind):
            await refused(play, status, "not now", code)


@pytest.mark.parametrize("status", [200, 400, 403, 409])
@pytest.mark.parametrize(
    ("state", "verdict"),
    [("validation", waf.Verdict.IN_VALIDATION), ("complete", waf.Verdict.ALREADY_MIGRATED)],
)
async def test_a_migration_that_has_begun_is_read_without_its_check(
    state: str, verdict: waf.Verdict, status: int, tmp_path: Path
) -> None:
    """However the service refuses it, also by 200 and ``success: false``."""
    options = {"check_refused": "begun", "check_refusal": {"status": status, "message": ALREADY}}
    async with gate(tmp_path, simulator=options) as play:
        await play.control.send("PATCH", f"zones/{play.zone.id}", {"state": state})
        client = await play.connections.service(play.start.spec, play.zone)
        reading = await read_zone(client, play.zone)
        assert reading.check == {}
        assert waf.assess(reading, SPECIFICATION).verdict is verdict


async def test_a_zone_that_has_not_begun_is_none_without_success(tmp_path: Path) -> None:
    """What is refused without a status that says so is raised as well."""
    async with gate(tmp_path) as play:
        with pytest.raises(Unsuccessful, match="already been migrated"):
            await refused(play, 200, ALREADY)


async def test_a_support_case_of_the_check_counts_in_validation_too(tmp_path: Path) -> None:
    """It is no refusal of the migration that has begun."""
    words = {"status": 200, "message": "cannot migrate more than 200 rules, please contact support"}
    options = {"check_refused": "validation", "check_refusal": words}
    async with gate(tmp_path, simulator=options) as play:
        await play.control.send("PATCH", f"zones/{play.zone.id}", {"state": "validation"})
        client = await play.connections.service(play.start.spec, play.zone)
        found = waf.assess(await read_zone(client, play.zone), SPECIFICATION)
        assert found.verdict is waf.Verdict.NEEDS_SUPPORT
