"""Setting a scene: the simulator, workers, a campaign."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.worker import (
    Interceptor,
)

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.fleet import Area
from edgeshift.profiles import DEFAULT
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.settings import AuthoritySettings, Settings, WorkerSettings
from edgeshift.stores.archive import Archive
from edgeshift.testbed.simulator.fleet_file import Fleet
from edgeshift.testbed.simulator.options import STRICT, SimulatorOptions
from edgeshift.testbed.simulator.server import RunningSimulator, running
from tests.kit.checkers import Scene
from tests.kit.clock import Refreshing, SkippedClock
from tests.kit.names import BEFORE_REMOVAL, BUCKET, SCALE
from tests.kit.signing import Keys, Roster
from worker.wiring import workers


@asynccontextmanager
async def scene(
    client: Client,
    folder: Path,
    fleet: Fleet,
    *,
    clock: SkippedClock | None = None,
    time_scale: float = SCALE,
    simulator: dict[str, Any] | None = None,
    serve: bool = True,
    paced: bool = False,
    interceptors: Sequence[Interceptor] = (),
    worker: dict[str, Any] | None = None,
    begin: bool = True,
    profile: str = DEFAULT,
    authority: Roster | None = None,
    **spec: Any,
) -> AsyncIterator[Scene]:
    """Set a scene: the simulator and, where ``serve`` says so, workers in this process; start the campaign.

    ``spec``: fields of the campaign beyond its name, targets and service. ``simulator``: its options.
    ``clock``: of a time-skipping server; then nothing is scaled, and nothing paced. In the area esc the
    simulator's clock says a day well before the removal, and the probe goes to its edge; in log-fields,
    entries and ownership challenges are read from its buckets, and ``job`` of ``log_fields`` may be ``True``
    for a job that pushes there. ``profile``: of the service, for the simulator and the campaign.
    ``authority``: the people who have keys; then workers have roots, and the scene's people sign with them.
    Without, it is a rehearsal without roots, in which names count.
    """
    area = Area(spec.get("area", "waf"))
    scale = 1.0 if clock else time_scale
    options: dict[str, Any] = {"time_scale": scale, "migration_seconds": 1800, "validation_seconds": 60}
    # What edgeshift sends is held to the letter.
    options |= {"visibility_seconds": 300, "bodies": STRICT}
    options |= {"clock": BEFORE_REMOVAL} if area is Area.ESC else {}
    options |= {"profile": profile} | (simulator or {})
    async with AsyncExitStack() as staged:
        time_source = clock.now if clock else None
        served = await staged.enter_async_context(
            running(fleet, folder / "simulator", options=SimulatorOptions(**options), clock=time_source)
        )
        credentials, used = [], set()
        for number, credential in enumerate(item for item in fleet.credentials if item.kind == "token"):
            variable = f"EDGESHIFT_TEST_TOKEN_{uuid.uuid4().hex[:12].upper()}"
            os.environ[variable] = credential.value
            used.add(credential.label)
            staged.callback(os.environ.pop, variable, None)
            accounts = [fleet.accounts[number].id] if len(fleet.accounts) > 1 else []
            credentials.append(
                {"token": f"env:{variable}", "user": f"u{uuid.uuid4().hex[:8]}", "accounts": accounts}
            )
            if number + 1 == len(fleet.accounts):
                break
        described = {
            "name": f"t-{uuid.uuid4().hex[:10]}",
            "targets": {"all": True},
            "service": {"base_url": served.base_url, "credentials": credentials, "profile": profile},
            "time_scale": scale,
            "advance": {"percent": 1, "failures": 1000},
        }
        keys = Keys(folder / "authority", authority) if authority else None
        settings = Settings(
            state_dir=folder / "state",
            authority=AuthoritySettings(
                roots=keys.roots if keys else None, worker_key=keys.worker if keys else None
            ),
            worker=WorkerSettings(
                zones_workflow_pollers=5,
                zones_activity_pollers=2,
                changes_activity_pollers=5,
                **(worker or {}),
            ),
        )
        found = Scene(
            client=client,
            simulator=served,
            folder=folder,
            fleet=fleet,
            settings=settings,
            spec=CampaignSpec.model_validate(described | spec | _own_part(area, spec, served, staged)),
            archive=Archive(settings.archive),
            keys=keys,
            strangers=frozenset(credential.label for credential in fleet.credentials) - used,
            lists=clock is None,
            clock=clock,
            now=clock.now if clock else lambda: datetime.now(UTC),
        )
        if serve:
            await staged.enter_async_context(
                workers(
                    client,
                    settings,
                    clock=clock,
                    pacer=None if paced else lambda credential, campaign: Unpaced(),
                    quota=paced,
                    grace=timedelta(seconds=5),
                    interceptors=[*([Refreshing(clock)] if clock else []), *interceptors],
                )
            )
            if begin:
                await found.begin()
        yield found


def _own_part(
    area: Area, spec: dict[str, Any], served: RunningSimulator, staged: AsyncExitStack
) -> dict[str, Any]:
    """The section of the campaign's area, with what it needs of the simulator."""
    if area is Area.ESC:
        given = spec.get("esc", {})
        return {"esc": {**given, "probe": {"edge": served.edge_url, **given.get("probe", {})}}}
    if area is Area.LOG_FIELDS:
        bucket = (served.state.logs.buckets / "s3" / BUCKET).absolute().as_uri()
        given = {"entries": f"{bucket}/{{zone}}", **spec.get("log_fields", {})}
        if given.get("job") is True:
            variable = f"EDGESHIFT_TEST_DESTINATION_{uuid.uuid4().hex[:12].upper()}"
            secret = f"&secret-access-key={uuid.uuid4().hex}"
            os.environ[variable] = f"s3://{BUCKET}/{{zone}}?region=eu-west-1{secret}"
            staged.callback(os.environ.pop, variable, None)
            given["job"] = {"destination": f"env:{variable}", "challenge": bucket}
        return {"log_fields": given}
    return {}
