"""What people call by hand stays within the share of the rate limit that they keep, however many credentials
of one user a file has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.campaign.start import campaign_start
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.check import State
from edgeshift.doctor.checks import check_all
from edgeshift.model.check_codes import CheckCode
from edgeshift.operations import NotFound
from edgeshift.operations.areas.esc_secret import scope_secret
from edgeshift.quota.by_hand import FEWEST, ByHand
from edgeshift.rate_limit.pacing import Pacer
from edgeshift.rate_limit.terms import Lane
from edgeshift.runtime.settings import Settings, TemporalSettings
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import put_document
from edgeshift.views.alarming import checks_of
from tests.service.simulated import Caller, simulated
from tests.service.test_pacing import skipping

LIMIT = {"requests": 150, "window_seconds": 3, "block_seconds": 60}
SHARE = 30
"""Calls of a window that people keep: a fifth."""


def spec(
    call: Caller, monkeypatch: pytest.MonkeyPatch, tokens: int, area: str = "waf", **rate: Any
) -> CampaignSpec:
    """A campaign with so many tokens of one user, and the limit that the service really has."""
    names = [f"EDGESHIFT_TEST_TOKEN_{number}" for number in range(tokens)]
    for name in names:
        monkeypatch.setenv(name, call.fleet.credentials[0].value)
    service = {
        "base_url": call.server.base_url,
        "credentials": [{"token": f"env:{name}", "user": "ada"} for name in names],
        "rate": {"requests": LIMIT["requests"], "per": f"{LIMIT['window_seconds']}s", "people": 0.2} | rate,
    }
    data = {"name": "many", "targets": {"all": True}, "area": area, "service": service}
    return CampaignSpec.model_validate(data)


async def by_hand(call: Caller, since: int) -> list[dict[str, Any]]:
    """The calls that came after so many."""
    found = sorted(await call.journal(limit=1000), key=lambda one: int(one["seq"]))
    return found[since:]


def busiest(calls: list[dict[str, Any]]) -> int:
    """The most of them in any window of the limit, less what one call takes longer than another to arrive."""
    window = timedelta(seconds=LIMIT["window_seconds"] - 0.2)
    times = [datetime.fromisoformat(one["wall_time"]) for one in calls]
    return max(sum(first <= other < first + window for other in times) for first in times)


async def test_the_doctor_of_many_tokens_does_not_have_their_user_blocked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A campaign has just spent all that is not people's."""
    async with simulated(tmp_path / "data", rate_limit=LIMIT) as call:
        spent = LIMIT["requests"] - SHARE
        for _ in range(spent):
            await call.result("GET", "/user/tokens/verify")
        settings = Settings(state_dir=tmp_path, temporal=TemporalSettings(address="127.0.0.1:1"))
        checks = await check_all(settings, spec(call, monkeypatch, tokens=8))
        mine = await by_hand(call, spent)
    credentials = [check for check in checks if check.code is CheckCode.CREDENTIAL]
    assert [check.state for check in credentials] == [State.OK] * 8
    assert len(mine) > SHARE and not [one for one in mine if one["status"] == 429]
    assert busiest(mine) <= SHARE


async def test_the_campaigns_of_one_user_are_checked_within_one_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For alarms, one campaign after the other."""
    settings = Settings(state_dir=tmp_path, temporal=TemporalSettings(address="127.0.0.1:1"))
    archive, calls = Archive((tmp_path / "archive").as_uri()), ByHand()
    async with simulated(tmp_path / "data", rate_limit=LIMIT) as call:
        campaign = spec(call, monkeypatch, tokens=2)
        kept = await put_document(archive, campaign)
        start = campaign_start(
            campaign, kept, targets=kept, count=1, waves=(), enterprise="", started_by="olga"
        )
        for name in ("first", "second", "third"):
            await checks_of(settings, archive, name, start, service=True, calls=calls)
        mine = await by_hand(call, 0)
    assert len(mine) > SHARE and busiest(mine) <= SHARE


async def test_a_secret_is_looked_for_within_the_share_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the file, one credential is asked after the other."""
    async with simulated(tmp_path / "data", clock="2023-11-01T00:00:00Z", rate_limit=LIMIT) as call:
        with pytest.raises(NotFound):
            await scope_secret(spec(call, monkeypatch, tokens=25, area="esc"), "nowhere")
        mine = await by_hand(call, 0)
    assert len(mine) > SHARE and busiest(mine) <= SHARE


@pytest.mark.parametrize(("people", "most"), [(0.2, SHARE), (0, FEWEST), (0.01, FEWEST)])
def test_the_share_may_be_called_at_once_and_comes_back_with_its_window(
    people: float, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One credential is checked without waiting, also where nothing is left to people. Another user has a
    limit of their own; several runs over one file share one.
    """
    service = {
        "credentials": [
            {"token": "env:A", "user": "ada"},
            {"token": "env:B", "user": "ada"},
            {"token": "env:C"},
        ],
        "rate": {"requests": 150, "per": "3s", "people": people},
    }
    campaign = CampaignSpec.model_validate({"name": "a", "targets": {"all": True}, "service": service})

    async def scenario(clock: Callable[[], float]) -> None:
        calls = ByHand(clock=clock)
        one, same, other = (calls.pacer(said, campaign) for said in campaign.service.credentials)
        began = clock()

        async def call(pacer: Pacer) -> float:
            await pacer.acquire(Lane.NORMAL)
            return clock() - began

        times = [await call((one, same)[number % 2]) for number in range(most)]
        assert max(times) < 0.5
        later = await asyncio.gather(*(call(one) for _ in range(most + 1)))
        assert 3 <= min(later) < 3.5 and 6 <= max(later) < 7
        assert (await call(other)) - max(later) < 0.5

    skipping(scenario)
