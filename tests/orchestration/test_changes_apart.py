"""Changes made by workers of their own, whose token alone may edit."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.settings import Settings
from tests.kit import fleet_of, scene
from tests.kit.faults import QUICK
from tests.kit.faults_worker import Order, supervised
from tests.kit.queue import on_queue
from tests.kit.signing import Roster
from worker.wiring import workers

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(240)]

READS = ["user:read", "account:read", "zone:read", "zone_settings:read", "firewall:read", "waf:read"]
READS += ["page_rules:read", "analytics:read", "logs:read"]


def serving(settings: Settings, queues: str) -> Settings:
    """The settings of a worker that serves these queues alone."""
    worker = settings.worker.model_copy(update={"queues": queues})
    return settings.model_copy(update={"worker": worker})


async def test_a_campaign_with_a_token_that_edits_on_the_changes_queue_alone(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under one reference, each worker has its own token: whoever serves changes sends them, whoever serves
    all else reads, and could not send any. Without the first, what is signed waits, and nothing is sent.
    """
    tag = f"apart-{uuid.uuid4().hex[:8]}"
    name = f"a.{tag}.example"
    fleet = fleet_of(
        {"name": name, "plan": "pro"},
        accounts=[{"name": tag}],
        credentials=[{"label": "editor"}, {"label": "reader", "permissions": READS}],
    )
    client = on_queue(temporal_client, tag)
    terms: dict[str, Any] = {**QUICK, "commit": {**QUICK["commit"], "send_window": "60s", "lease": "2m"}}
    async with scene(client, tmp_path, fleet, begin=False, serve=False, authority=Roster(), **terms) as play:
        secret = {one.label: one.value for one in fleet.credentials}
        variable = str(play.spec.service.credentials[0].token).removeprefix("env:")
        monkeypatch.setenv(variable, secret["reader"])
        order = Order(
            address=temporal_client.service_client.config.target_host,
            queue=tag,
            settings=serving(play.settings, "changes"),
            environment={variable: secret["editor"]},
            folder=tmp_path,
        )
        async with workers(
            client,
            serving(play.settings, "control,zones,long"),
            pacer=lambda credential, campaign: Unpaced(),
            quota=False,
            grace=timedelta(seconds=5),
        ):
            await play.begin()
            state = await play.zone_until(name, lambda one: one.phase is ZonePhase.AWAITING_SIGN_OFF)
            await play.sign([state.fingerprint])
            await play.zone_until(name, lambda one: one.phase is ZonePhase.COMMITTING)
            await asyncio.sleep(1)
            assert await _sent_by(play) == set()
            async with supervised(order):
                await play.result()
        assert await play.outcome(name) is ZoneOutcome.MIGRATED
        assert await _sent_by(play) == {"editor"}
        read = {entry["credential"] for entry in await play.journal() if entry["call"] == "waf.check"}
        assert read == {"reader"}


async def _sent_by(play: Any) -> set[str]:
    """Whose token changed zones."""
    return {entry["credential"] for entry in await play.journal() if entry["method"] == "PUT"}
