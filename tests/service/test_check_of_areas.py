"""A changed target is read again within its user's rate limit; areas without a way to do so say it before
anything is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from temporalio.client import Client

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import LeaseRequest
from edgeshift.model.fleet import Area, Plan, Zone, quota_id
from edgeshift.operations.checking import check_target
from edgeshift.operations.errors import BadInput
from edgeshift.operations.parts import CHECKS, CheckPart, TargetCheck
from edgeshift.rate_limit.slots import Lease
from edgeshift.service_api import NoTurn, ServiceClient
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import put_document
from tests.service.simulated import simulated

ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)


@pytest.mark.parametrize("area", [Area.ESC, Area.LOG_FIELDS])
async def test_an_area_without_a_check_is_refused_by_name(tmp_path: Path, area: Area) -> None:
    """Neither a credential nor the archive is needed for the answer."""
    nobody = cast(Client, None)
    with pytest.raises(BadInput, match=rf"area {area.value} cannot be checked") as refused:
        await check_target(nobody, Archive(str(tmp_path)), ZONE, area, spec="0" * 64, record="0" * 64)
    assert "edgeshift history shop.example" in refused.value.hint


class Quotas:
    """A Temporal of which the quotas alone are asked: each has ``slots`` to give, or none answers."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.asked: list[tuple[str, LeaseRequest]] = []

    def get_workflow_handle(self, workflow_id: str) -> Any:
        """The quota itself."""

        class Handle:
            async def execute_update(_, update: str, request: LeaseRequest, **more: Any) -> Lease:
                assert update == "lease"
                self.asked.append((workflow_id, request))
                if not self.slots:
                    raise ConnectionError("no worker answers")
                return Lease(first_in=0, interval=0.01, count=self.slots, again_in=60)

        return Handle()


class Reads(CheckPart):
    """An area that reads the zone, and finds it as it was."""

    there = True

    async def check(self, service: ServiceClient, archive: Archive, record: str) -> TargetCheck:
        """One call."""
        return TargetCheck(same=True, digest=(await service.zone(record)).id)


async def test_a_check_spends_slots_of_its_users_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a campaign it waits for its turn as all others do; where nobody gives one, nothing is called."""
    monkeypatch.setattr(CHECKS, "of", lambda area: Reads())
    async with simulated(tmp_path / "data") as call:
        monkeypatch.setenv("EDGESHIFT_TEST_TOKEN", call.fleet.credentials[0].value)
        service = {
            "base_url": call.server.base_url,
            "credentials": [{"token": "env:EDGESHIFT_TEST_TOKEN", "user": "ada"}],
        }
        spec = CampaignSpec.model_validate({"name": "a", "targets": {"all": True}, "service": service})
        archive = Archive((tmp_path / "archive").as_uri())
        kept = await put_document(archive, spec)

        async def checked(quotas: Quotas) -> TargetCheck:
            client, record = cast(Client, quotas), call.ids["pro"]
            return await check_target(client, archive, ZONE, Area.WAF, spec=kept, record=record)

        open_one, silent = Quotas(5), Quotas(0)
        assert (await checked(open_one)).same
        ((whose, request),) = open_one.asked
        assert whose == quota_id(spec.service.caller(spec.service.credentials[0]))
        assert request.credentials == ("env:EDGESHIFT_TEST_TOKEN",)
        with pytest.raises(NoTurn):
            await checked(silent)
        assert len([one for one in await call.journal() if one["zone"] == call.ids["pro"]]) == 1
