"""Targets are listed though calls were held before: a hold that nobody waits for is no last word."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.operations import ServiceTrouble
from edgeshift.operations.campaigns import freeze, store_spec
from edgeshift.quota.leases import Quotas
from edgeshift.rate_limit.circuit import Trouble, held
from tests.kit import eventually, fleet_of, scene
from tests.kit.held import calls_since, last, set_status

pytestmark = pytest.mark.embedded


async def test_targets_are_listed_once_a_probe_is_answered(temporal_client: Client, tmp_path: Path) -> None:
    """A token was refused until its campaign had ended, and nothing has called with it since: a plan and a
    start probe where a probe is due, once a minute, and go on where it is answered.
    """
    fleet = fleet_of({"name": "a.example", "plan": "pro"})
    async with scene(temporal_client, tmp_path, fleet, paced=True, begin=False) as play:
        credential = play.spec.service.credentials[0]
        quotas, user = Quotas(play.client), play.spec.service.caller(credential)
        await set_status(play, "expired")
        refused = held(Trouble.REFUSED, "401", datetime.now(UTC), credential.reference)
        await quotas.hold(credential, play.spec, refused)
        digest, before = await store_spec(play.archive, play.spec), await last(play)
        with pytest.raises(ServiceTrouble, match="the service refuses the credential"):
            await freeze(play.client, play.archive, play.spec, digest)
        assert (await quotas.standing(user)).holds == (refused,)
        assert len(await calls_since(play, before)) <= 1, "a probe at most"
        await set_status(play, "active")
        due = (await quotas.standing(user)).probe_at

        async def is_due() -> bool:
            return time.time() > due

        await eventually(is_due, 60, "a probe is due")
        assert (await freeze(play.client, play.archive, play.spec, digest)).count == 1
        assert (await quotas.standing(user)).holds == ()
