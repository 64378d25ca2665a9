"""Esc campaigns where the service does not tell whether Edge Side Code is off, or has nothing to undo.
Against the simulator's service and edge on a real Temporal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.client import Client

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.messages import ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.testbed.simulator.fleet_edge import EscScope
from tests.kit import Scene, fleet_of, scene
from tests.kit.queue import on_queue
from tests.kit.zones import esc_zone
from tests.orchestration.test_esc_campaign import QUICK, SLOWLY, STOPS

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(180)]

OFF_BY_BOTH = EscScope(always=True, with_secret="account-0123456789")
SECRET_ALONE: dict[str, Any] = {"esc": {"both_configured": "with_secret"}}


@pytest.fixture
def client(temporal_client: Client, request: pytest.FixtureRequest) -> Client:
    """A client of the embedded server on a task queue of this test's own."""
    return on_queue(temporal_client, request.node.name[:60])


async def probed(play: Scene, name: str) -> tuple[EvidenceVerdict | None, str]:
    """What a zone's probe has come to, and what people are warned of."""
    state = await play.zone_until(
        name, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF and bool(found.evidence)
    )
    shown = await play.archive.get_json(state.proposal)
    return state.evidence_verdict, " ".join(shown["warnings"])


@pytest.mark.parametrize("differs", [False, True], ids=["no difference", "differences"])
async def test_a_probe_below_an_account_that_shows_a_secret_alone_needs_a_difference(
    client: Client, tmp_path: Path, differs: bool
) -> None:
    """The account may have esc off: off compared with off differs in nothing. A difference proves it on."""
    # The server may still answer for the zone of the other case.
    name = f"below-{differs}.example".lower()
    fleet = fleet_of(esc_zone(name))
    fleet.accounts[0].esc = OFF_BY_BOTH.model_copy(update={"always": not differs})
    async with scene(client, tmp_path, fleet, simulator=SECRET_ALONE, **QUICK) as play:
        verdict, warnings = await probed(play, name)
        assert verdict is (EvidenceVerdict.PASS if differs else EvidenceVerdict.INCONCLUSIVE)
        assert ("shows a secret alone" in warnings) is not differs


async def test_an_accounts_setting_that_cannot_be_read_for_a_moment_is_read_again(
    client: Client, tmp_path: Path
) -> None:
    """A bare 500 does not say that the account has esc on."""
    fleet = fleet_of(esc_zone("under.example"))
    fleet.accounts[0].esc.always = True
    path = f"accounts/{fleet.accounts[0].id}/disable_esc"
    async with scene(client, tmp_path, fleet, begin=False, **QUICK) as play:
        bare = {"kind": "server_error", "status": 500, "body": "", "times": 1, "match": {"path": path}}
        await play.control.send("POST", "faults", bare)
        await play.begin()
        verdict, warnings = await probed(play, "under.example")
        assert verdict is EvidenceVerdict.INCONCLUSIVE and "off with off" in warnings
        asked = [one for one in await play.journal("esc.get") if path in one["path"]]
        assert [one["status"] for one in asked] == [500, 200]


@pytest.mark.parametrize(
    ("answer", "doubted"),
    [
        ({"kind": "not_json", "status": 404}, True),
        ({"kind": "server_error", "status": 200, "body": '{"success": false, "errors": []}'}, False),
    ],
    ids=["a page", "a refusal by 200"],
)
async def test_an_accounts_setting_that_is_never_told_ends_no_zone(
    client: Client, tmp_path: Path, answer: dict[str, Any], doubted: bool
) -> None:
    """A credential for zones alone need not reach it: people sign the zone, by itself where the account may
    have esc off.
    """
    name = f"alone-{doubted}.example".lower()
    fleet = fleet_of(esc_zone(name, {"behaviours": []}))
    match = {"path": f"accounts/{fleet.accounts[0].id}/disable_esc"}
    async with scene(client, tmp_path, fleet, begin=False, **QUICK) as play:
        await play.control.send("POST", "faults", {**answer, "match": match})
        await play.begin()
        verdict, _ = await probed(play, name)
        assert verdict is (EvidenceVerdict.INCONCLUSIVE if doubted else EvidenceVerdict.PASS)


async def test_a_way_back_with_nothing_left_to_undo_has_come_to_its_end(
    client: Client, tmp_path: Path
) -> None:
    """Somebody has turned esc on, and the service refuses to do so again: it is on, nothing has failed."""
    refusing = {"esc": {"delete_clears_secret": True, "delete_when_on": "refuse"}}
    fleet = fleet_of(esc_zone("meddled-first.example"))
    async with scene(client, tmp_path, fleet, simulator=refusing, **SLOWLY) as play:
        name = "meddled-first.example"
        await play.zone_until(name, lambda found: found.phase is ZonePhase.AWAITING_SIGN_OFF)
        await play.sign_zone(name)
        await play.zone_until(name, lambda found: found.phase is ZonePhase.WATCHING)
        path = f"{play.simulator.base_url}/zones/{play.zone_id(name)}/disable_esc"
        headers = {"authorization": f"Bearer {play.fleet.credentials[0].value}"}
        async with httpx.AsyncClient() as somebody:
            assert (await somebody.delete(path, headers=headers)).status_code == 200
        result = await play.zone(name).result()
        assert result.outcome is ZoneOutcome.ROLLED_BACK, result.reason
        assert result.record and "somebody turned esc on" in result.reason
        assert [one["status"] for one in await play.journal("esc.delete", name)] == [200, 404]
        await play.check_rules(absent={STOPS})
