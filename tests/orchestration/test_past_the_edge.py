"""Scopes whose hosts do not answer from the edge: neither their probe nor their watch proves anything."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.messages import ZoneResult
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from edgeshift.probes import fetch
from tests.harness.campaigns.stages import ESC, OWN_SECRET, esc_stage, esc_zone, over
from tests.kit.faults import Stage

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(180)]

WITHOUT_MARK = "without the mark of the edge (CF-Ray)"


def leave_the_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on no answer has what the probe knows the edge by."""
    monkeypatch.setattr(fetch, "EDGE_MARK", "x-of-no-edge")


async def result(stage: Stage, short: str) -> ZoneResult:
    """How the zone ended."""
    found: ZoneResult = await asyncio.wait_for(stage.play.zone(stage.name(short)).result(), 90)
    return found


async def test_a_scope_that_is_not_at_the_edge_is_signed_by_itself(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decision on the fingerprint of those that nothing changes for would have turned it off; and its
    secret went to whoever answered. Signed for what it is, it ends with what is known: its setting.
    """
    leave_the_edge(monkeypatch)
    silent = {"name": "cut", "plan": "enterprise", "esc": {"with_secret": OWN_SECRET}}
    async with esc_stage(temporal_client, tmp_path, silent) as stage:
        state = await stage.waits("cut")
        assert state.evidence_verdict is EvidenceVerdict.INCONCLUSIVE
        assert (await stage.play.summary()).places == {"awaiting_separate": 1}
        asked = (await stage.play.control.get("edge/requests", limit=500))["requests"]
        assert asked and not any(one["disable_esc"] for one in asked)
        await stage.finish()
        ended = await result(stage, "cut")
        assert ended.outcome is ZoneOutcome.SETTLED
        assert [one.code for one in ended.why] == [ReasonCode.ESC_OFF, ReasonCode.HOSTS_UNMARKED]
        assert WITHOUT_MARK in ended.reason and "as was agreed" not in ended.reason


@pytest.mark.parametrize("shown", ["always", "secret"])
async def test_a_scope_that_has_left_the_edge_since_it_was_probed_is_not_settled(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: str
) -> None:
    """Whether its setting shows it off, or the URLs alone would have to tell: a person looks at it."""
    alone = {"simulator": {"esc": {"both_configured": "with_secret"}}} if shown == "secret" else {}
    async with esc_stage(
        temporal_client,
        tmp_path,
        esc_zone("cut", own=True),
        **alone,
        **over(ESC, commit={"resend_unchanged": 0}),
    ) as stage:
        assert (await stage.waits("cut")).evidence_verdict is EvidenceVerdict.PASS
        leave_the_edge(monkeypatch)
        await stage.play.sign_zone(stage.name("cut"))
        await stage.play.until(lambda seen: seen.places.get("unknown") == 1, 90)
        ended = await result(stage, "cut")
        assert ended.outcome is ZoneOutcome.UNKNOWN and WITHOUT_MARK in ended.reason, ended.reason
        # A person is told, and nothing is taken back on no evidence.
        assert [call for call, _ in await stage.changes("cut")] == ["esc.set"]
