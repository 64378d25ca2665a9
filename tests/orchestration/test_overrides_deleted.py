"""URI-based overrides are deleted with one sign-off, whatever the service answers: the specification does not
show it (docs/service.md §4.3).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.model.reasons import ReasonCode
from tests.kit.faults import ASIDE, Stage, staged, zone
from tests.kit.names import SCALE

pytestmark = pytest.mark.embedded

OVERRIDES = [{"urls": [f"{{zone}}/{path}/*"], "rules": {"100000": "disable"}} for path in ("a", "b", "c")]


@pytest.mark.parametrize("answer", ["envelope", "result", "empty"])
async def test_three_overrides_are_deleted_with_one_sign_off(
    answer: str, temporal_client: Client, tmp_path: Path
) -> None:
    """People sign twice: that these go, and the new configuration."""
    async with staged(
        temporal_client,
        tmp_path,
        zone("a", uri_overrides=OVERRIDES),
        consents={"delete_uri_overrides": True},
        simulator={"override_deleted": answer},
    ) as stage:
        assert (await stage.finish()).outcomes == {"migrated": 1}
        deleted = ("waf.overrides.delete", "")
        assert await stage.changes("a") == [deleted] * 3 + [("entrypoint.put", "pending")]
        assert len({one.digest for one in stage.play.signatures}) == 2
        await stage.check()


@pytest.mark.parametrize(("listed", "checked"), [(0.0, 0.35), (0.35, 0.0)])
async def test_a_deletion_that_shows_late_is_waited_for(
    listed: float, checked: float, temporal_client: Client, tmp_path: Path
) -> None:
    """In the check or in the list: the zone is not blocked for what is gone, and nobody is asked again about
    overrides whose deletion was signed.
    """
    late = {
        "override_list_late_seconds": listed * SCALE,
        "override_check_late_seconds": checked * SCALE,
    }
    consents = {"delete_uri_overrides": True}
    a = zone("a", uri_overrides=OVERRIDES)
    async with staged(temporal_client, tmp_path, a, consents=consents, simulator=late) as stage:
        assert (await stage.finish()).outcomes == {"migrated": 1}
        assert await stage.changes("a") == [("waf.overrides.delete", "")] * 3 + [
            ("entrypoint.put", "pending")
        ]
        assert len({one.digest for one in stage.play.signatures}) == 2
        await stage.check()


IDS = [letter * 32 for letter in "abc"]
NAMED = [{**item, "id": one} for item, one in zip(OVERRIDES, IDS, strict=True)]
DELETED = ("waf.overrides.delete", "")


async def refused(stage: Stage, status: int, **fault: Any) -> None:
    """The service refuses to delete the second one, in its envelope."""
    match = {"call": "waf.overrides.delete", "zone": stage.id("a"), "path": IDS[1]}
    body = '{"result": null, "success": false, "errors": [{"message": "no"}], "messages": []}'
    whole = {"kind": "server_error", "status": status, "body": body, "match": match, **fault}
    await stage.play.control.send("POST", "faults", whole)


async def test_an_override_that_is_gone_already_is_no_refusal(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Somebody deletes it in that moment: the others go, too, and the zone is migrated."""
    consents = {"delete_uri_overrides": True}
    a = zone("a", uri_overrides=NAMED)
    async with staged(temporal_client, tmp_path, a, consents=consents) as stage:
        await refused(stage, 404, effect="after", times=1)
        assert (await stage.finish()).outcomes == {"migrated": 1}
        assert await stage.changes("a") == [DELETED] * 3 + [("entrypoint.put", "pending")]
        await stage.check()


async def test_what_is_left_is_signed_anew_before_its_refusal_is_final(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Of three overrides the service refuses to delete the second, for good. The first is gone, so that it is
    no refusal by which nothing happened: the zone is read again, and people sign the other two. Only of these
    it fails as refused, and nothing of them has happened.
    """
    consents = {"delete_uri_overrides": True}
    a = zone("a", uri_overrides=NAMED)
    async with staged(temporal_client, tmp_path, a, consents=consents) as stage:
        await refused(stage, 403)
        assert (await stage.finish()).outcomes == {"failed": 1}
        assert await stage.changes("a") == [DELETED] * 3
        assert len({one.digest for one in stage.play.signatures}) == 2
        (why,) = (await stage.play.zone(stage.name("a")).result()).why
        assert why.code is ReasonCode.DELETION_REFUSED and "of 3" not in why.said
        found = await stage.play.control.get(f"zones/{stage.id('a')}")
        assert [one["id"] for one in found["settings"]["uri_overrides"]] == IDS[1:]
        await stage.check({*ASIDE, 1, 2, 8})
