"""What a campaign tells of an outcome is what workers signed and the service shows, whoever says what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import Client

from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.testbed.invariants import check_rules
from edgeshift.views.comparing import check_campaign
from tests.forgeries.running.attack import sent
from tests.harness.aimed.results import Answering, planted
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import esc_stage, esc_zone
from tests.harness.disturbances.drifts import set_esc
from tests.kit import eventually
from tests.kit.faults import Stage, staged, zone
from tests.kit.signing import WORKER, key_of

pytestmark = pytest.mark.embedded

ABSENT = frozenset({3, 4, 7})


async def test_a_word_that_a_zone_has_ended_is_a_note(temporal_client: Client, tmp_path: Path) -> None:
    """Of an open zone, with its run and its attempt, whatever it is said to have come to."""
    async with staged(temporal_client, tmp_path, zone("a"), zone("b"), zone("c"), authority=ONE) as stage:
        for short in stage.names:
            await stage.waits(short)
        await stage.play.say_ended(stage.name("a"), ZoneOutcome.MIGRATED)
        await stage.play.say_ended(stage.name("b"), ZoneOutcome.BLOCKED)
        seen = await stage.play.until(
            lambda found: sum("said to have ended" in note for note in found.notes) == 2, 30
        )
        assert seen.places == {"awaiting": 3}
        result = await stage.finish()
        assert result.outcomes == {"migrated": 3} and (result.wrong, result.told_wrong) == (0, ())
        assert result.compared is not None
        assert result.compared.model_dump() == {"outcomes": 3, "read": 3, "unread": 0, "wrong": 0}
        checks = check_rules(await stage.play.checkers(), absent=ABSENT)
        assert not [text for check in checks for text in check.violations]


@asynccontextmanager
async def _believed(client: Client, folder: Path) -> AsyncIterator[Stage]:
    """A campaign of a zone whose changes somebody answers who has made none."""
    async with staged(
        client, folder, zone("a"), zone("b"), authority=ONE, interceptors=[Answering()]
    ) as stage:
        yield stage


async def test_an_end_that_no_worker_has_signed_is_read_at_the_service(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Somebody else answers the change and what reads it back: the zone's workflow believes it, and ends as
    migrated. The campaign tells what the service shows, and names the zones.
    """
    async with _believed(temporal_client, tmp_path) as stage:
        result = await stage.finish()
        assert not await sent(stage)
        assert result.outcomes == {"failed": 2} and result.wrong == 2
        assert [(one.told, one.shown) for one in result.told_wrong] == [
            (ZoneOutcome.MIGRATED, ZoneOutcome.FAILED)
        ] * 2


async def test_results_that_no_worker_has_signed_are_none(temporal_client: Client, tmp_path: Path) -> None:
    """The same, with results laid beside it: signed by a stranger in the worker's name, and by an approver in
    their own, who is no worker.
    """
    async with _believed(temporal_client, tmp_path) as stage:
        for short, by, signer in (
            ("a", WORKER, FileSigner(PrivateKey.made())),
            ("b", ONE.approvers[0], key_of(ONE.approvers[0])),
        ):
            await stage.waits(short)
            await planted(stage, short, by, signer)
        ended = await stage.finish()
        assert ended.outcomes == {"failed": 2} and ended.wrong == 2


async def test_what_has_changed_since_is_named_at_the_close_and_by_check(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Somebody turns Edge Side Code on again in a zone that is settled: its result stands, and the campaign
    says that the service shows otherwise by now. ``check --all`` reads all of them.
    """
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("a"), esc_zone("b"), authority=ONE, paced=True
    ) as stage:
        play = stage.play
        state = await stage.waits("a")
        await stage.waits("b")
        await play.sign_zone(stage.name("a"), digest=state.digest)
        await play.until(lambda found: found.places.get("settled") == 1, 60)
        await set_esc(stage, "a", "enable", always=False)
        result = await stage.finish()
        assert result.outcomes == {"settled": 2} and result.wrong == 1
        (wrong,) = result.told_wrong
        assert (wrong.zone, wrong.told, wrong.shown) == (stage.name("a"), ZoneOutcome.SETTLED, None)
        assert play.keys is not None
        told = await check_campaign(temporal_client, play.archive, play.spec.name, play.keys.roots)
        assert (told.outcomes, told.read, told.unread, told.signed) == (2, 2, 0, True)
        assert [one.zone for one in told.wrong] == [stage.name("a")]


async def test_check_reads_what_the_campaign_tells_whatever_temporal_still_lists(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Both zones are gone from Temporal when their retention is over, and are read all the same; one that
    cannot be read is counted, with the reason.
    """
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("a"), esc_zone("b"), authority=ONE, paced=True
    ) as stage:
        play = stage.play
        assert (await stage.finish()).outcomes == {"settled": 2}
        assert play.keys is not None
        for name in map(stage.name, ("a", "b")):
            await _forgotten(temporal_client, f"zone/{play.zone_id(name)}/esc")
        await set_esc(stage, "a", "enable", always=False)
        roots = play.keys.roots
        told = await check_campaign(temporal_client, play.archive, play.spec.name, roots)
        assert (told.outcomes, told.read, told.unread, told.unread_for) == (2, 2, 0, {})
        assert [one.zone for one in told.wrong] == [stage.name("a")]
        fault = {"kind": "server_error", "match": {"zone": play.zone_id(stage.name("b"))}, "status": 500}
        await play.control.send("POST", "faults", fault)
        told = await check_campaign(temporal_client, play.archive, play.spec.name, roots)
        assert (told.outcomes, told.read, told.unread, told.unnamed) == (2, 1, 1, 0)
        ((why, number),) = told.unread_for.items()
        assert "500" in why and number == 1


async def _forgotten(client: Client, workflow: str) -> None:
    """Temporal no longer has a workflow that is over, nor lists it."""
    request = DeleteWorkflowExecutionRequest(
        namespace=client.namespace, workflow_execution=WorkflowExecution(workflow_id=workflow)
    )
    await client.workflow_service.delete_workflow_execution(request)

    async def gone() -> bool:
        return not [one async for one in client.list_workflows(f"WorkflowId = '{workflow}'")]

    await eventually(gone, 60, f"{workflow} is gone")
