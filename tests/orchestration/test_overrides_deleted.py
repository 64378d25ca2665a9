"""URI-based overrides are deleted with one sign-off, whatever the service answers: the specification does not
show it (docs/service.md §4.3).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from tests.kit.faults import staged, zone

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
