"""Probes that are made again: since a worker died after it had told the campaign what it found, and since an
earlier version had made them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.worker import ExecuteActivityInput

from edgeshift.messages import ReportKind, ZoneReport
from edgeshift.model.fleet import ZoneOutcome
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import esc_stage, esc_zone
from tests.kit.around import Around, Work

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(120)]


class DiesOnce(Around):
    """The first run of an activity does its work, and its answer is lost."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.died = False

    async def around(self, name: str, asked: ExecuteActivityInput, work: Work) -> Any:
        """Lose the first answer."""
        answer = await work()
        if name == self._name and not self.died:
            self.died = True
            raise RuntimeError("the worker has died")
        return answer


async def test_what_the_later_probe_found_is_what_the_campaign_knows(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Each tells with a number of its own: with the same one the later word would not have counted, and
    people would have been shown what the zone proposes no more.
    """
    dies = DiesOnce("probe_esc_scope")
    async with esc_stage(temporal_client, tmp_path, esc_zone("a"), interceptors=[dies]) as stage:
        await stage.waits("a")
        assert dies.died
        words = []
        async for event in stage.play.campaign.fetch_history_events():
            said = event.workflow_execution_signaled_event_attributes
            if said.signal_name == "zone_report":
                words += await temporal_client.data_converter.decode(said.input.payloads, [ZoneReport])
        asked = [word.sequence for word in words if word.kind is ReportKind.AWAITING]
        assert len(asked) >= 2 and asked[0] < asked[1], asked
        assert (await stage.finish()).outcomes == {"settled": 1}


async def test_a_scope_that_an_earlier_version_has_probed_goes_on(
    temporal_client: Client, tmp_path: Path
) -> None:
    """No worker has recorded that probe: once people have signed, the scope is probed anew, and what they
    have signed of its fingerprint counts, since nothing has changed.
    """
    async with esc_stage(temporal_client, tmp_path, esc_zone("a", own=True), authority=ONE) as stage:
        state = await stage.waits("a")
        records = list((stage.play.folder / "state" / "archive" / "gathered").rglob(state.evidence))
        assert len(records) == 1
        records[0].unlink()
        await stage.play.sign((state.fingerprint,))
        assert await stage.outcome("a", 90) is ZoneOutcome.SETTLED
        assert await stage.changes("a") == [("esc.set", "always")]
        after = await stage.play.state(stage.name("a"))
        assert after.evidence != state.evidence and after.digest == state.digest
        assert after.drifted_from == state.digest
