"""The fenced activity of waf, where nobody knows the zone's plan: nothing is committed without evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Plan
from edgeshift.service_api import ServiceClient
from edgeshift.service_api.models import ZonePlan
from tests.service.gate_kit import gate


def says(monkeypatch: pytest.MonkeyPatch, *words: str | None) -> list[str]:
    """The zone says these plans, one after the other, and the last one from then on. What it was asked."""
    real, left, asked = ServiceClient.zone, list(words), list[str]()

    async def zone(client: ServiceClient, zone_id: str, *, urgent: bool = False) -> Any:
        found = await real(client, zone_id, urgent=urgent)
        word = left.pop(0) if len(left) > 1 else left[0]
        asked.append(word or "")
        return found.model_copy(update={"plan": ZonePlan(legacy_id=word) if word else None})

    monkeypatch.setattr(ServiceClient, "zone", zone)
    return asked


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (("enterprise",), False),
        (("partners_enterprise",), False),
        (("adaptive",), False),
        ((None,), False),
        (("pro",), True),
        ((None, "pro"), True),
        (("partners_business",), True),
    ],
)
async def test_a_zone_of_an_unknown_plan_is_committed_only_as_one_without_a_window(
    words: tuple[str | None, ...], sent: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever signed it, and whatever the message says of its plan: the service is asked."""
    async with gate(tmp_path, plan=Plan.OTHER, settings={"plan": "pro"}) as play:
        asked = says(monkeypatch, *words)
        result = await play.change(play.body, play.body)
        assert asked
        if sent:
            assert result.status is ChangeStatus.ANSWERED
        else:
            assert result.status is ChangeStatus.DRIFTED and "was not validated" in result.reason
        assert len(await play.sent()) == (1 if sent else 0)


async def test_a_zone_whose_plan_is_known_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has cost stays as it was."""
    async with gate(tmp_path, plan=Plan.PRO) as play:
        asked = says(monkeypatch, "enterprise")
        assert (await play.change(play.body, play.body)).status is ChangeStatus.ANSWERED
        assert asked == []
