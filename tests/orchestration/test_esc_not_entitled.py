"""Campaigns with zones that may have no Edge Side Code, which is for some enterprise customers
(docs/service.md §1, §2.1), against the simulator on a real Temporal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from tests.kit import fleet_of, scene
from tests.kit.queue import on_queue
from tests.kit.zones import esc_zone
from tests.orchestration.test_esc_campaign import QUICK, STOPS

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

WORDS = "not entitled to use Edge Side Code"
NOT_FOUND: dict[str, Any] = {"nothing_configured": "not_found", "not_entitled_get": "unconfigured"}
CASES: dict[str, tuple[dict[str, Any], ZoneOutcome, ReasonCode]] = {
    "the reading": ({}, ZoneOutcome.BLOCKED, ReasonCode.NOT_ENTITLED),
    "the secret": ({"not_entitled_get": "unconfigured"}, ZoneOutcome.BLOCKED, ReasonCode.SECRET_REFUSED),
    "a 404": (
        {**NOT_FOUND, "not_entitled_refusal": {"status": 404, "message": WORDS}},
        ZoneOutcome.BLOCKED,
        ReasonCode.SECRET_REFUSED,
    ),
    "a credential": (
        {**NOT_FOUND, "not_entitled_refusal": {"status": 403, "message": WORDS}},
        ZoneOutcome.FAILED,
        ReasonCode.SECRET_REFUSED,
    ),
}


@pytest.mark.parametrize(("answers", "outcome", "code"), CASES.values(), ids=CASES)
async def test_a_scope_that_may_have_no_esc_is_blocked_in_the_services_words(
    temporal_client: Client,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    answers: dict[str, Any],
    outcome: ZoneOutcome,
    code: ReasonCode,
) -> None:
    """Whichever call refuses it; nothing of it has failed, so that the campaign goes on with the others. What
    a credential may not do is its own.
    """
    client = on_queue(temporal_client, request.node.name[-60:])
    # The server may still answer for the zone of another case.
    mark = list(CASES.values()).index((answers, outcome, code))
    name, other = f"without-{mark}.example", f"with-{mark}.example"
    fleet = fleet_of(esc_zone(name, {"behaviours": []}), esc_zone(other))
    simulator = {"esc": {"not_entitled": [name], **answers}}
    async with scene(client, tmp_path, fleet, simulator=simulator, **QUICK) as play:
        await play.zone_until(name, lambda found: found.phase is ZonePhase.CLOSED)
        result = await play.zone(name).result()
        assert (result.outcome, [one.code for one in result.why]) == (outcome, [code])
        assert WORDS in result.reason
        assert not await play.is_off(name)
        if outcome is ZoneOutcome.BLOCKED:
            await play.sign_everything()
            assert await play.outcome(other) is ZoneOutcome.SETTLED
            await play.check_rules(absent={STOPS})
