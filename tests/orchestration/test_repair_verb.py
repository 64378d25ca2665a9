"""`edgeshift repair`: a workflow that fails to replay goes on, with all that it was told."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowHandle, WorkflowHistory
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from edgeshift.audit.statement_counts import in_words
from edgeshift.authority.loading import load_roots
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.roots import Role
from edgeshift.authority.statements import RepairStatement
from edgeshift.campaign.start import campaign_start
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Blocked, LeaseRequest, QuotaStart
from edgeshift.model.fleet import Wave, campaign_id
from edgeshift.operations.errors import Refused
from edgeshift.operations.pen import Pen
from edgeshift.operations.repair import Repair, repair
from edgeshift.rate_limit.slots import Lease, SlotBook
from edgeshift.rate_limit.terms import Lane, PaceTerms
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.temporal import FAILS_OFTEN
from edgeshift.stores.archive import Archive
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.journeys.cli_kit import Place
from tests.kit import APPROVER, OPERATOR, eventually
from tests.kit.signing import Keys, Roster
from worker.wiring import replayer, sandbox
from workflows.quota import Quota

pytestmark = pytest.mark.embedded

TERMS = PaceTerms()
ASKED = LeaseRequest(holder="one", want=1, lane=Lane.NORMAL, terms=TERMS)


@workflow.defn(name="Quota")
class Elsewhere(Quota):
    """Another version's quota, which waits by a timer once it is blocked."""

    @workflow.init
    def __init__(self, start: QuotaStart) -> None:
        super().__init__(start)

    @workflow.run
    async def run(self, start: QuotaStart) -> None:
        """Wait as no other version does."""
        await workflow.wait_condition(lambda: self._book.blocked_until > 0)
        await workflow.sleep(timedelta(hours=1))


async def failing(
    client: Client, queue: str, identifier: str, memo: dict[str, str] | None = None
) -> WorkflowHandle[object, object]:
    """A quota that another version took off its course: leased, blocked, and blocked once more since."""
    parts = {"task_queue": queue, "workflow_runner": UnsandboxedWorkflowRunner()}
    start = QuotaStart(user="one", terms=TERMS)
    async with Worker(client, workflows=[Elsewhere], **parts):  # type: ignore[arg-type]
        handle = await client.start_workflow("Quota", start, id=identifier, task_queue=queue, memo=memo)
        await handle.execute_update("lease", ASKED, result_type=Lease)
        await handle.signal("blocked", Blocked(seconds=60))

        async def has_a_timer() -> bool:
            history = await handle.fetch_history()
            return any(event.HasField("timer_started_event_attributes") for event in history.events)

        await eventually(has_a_timer, 20, "the other version waits")
    await handle.signal("blocked", Blocked(seconds=3_000))
    return handle


@pytest.mark.long
async def test_a_person_repairs_a_workflow_that_does_not_replay(
    temporal_client: Client, embedded: EmbeddedTemporal, tmp_path: Path
) -> None:
    """A dry run changes nothing; the repair drops what does not replay and keeps what was said since; and
    after it there is nothing to repair.
    """
    queue, identifier = f"{Queue.QUOTA}-{uuid.uuid4().hex[:8]}", f"quota/{uuid.uuid4().hex}"
    place = Place(tmp_path)
    words = ("repair", identifier, "--reason", "a test", "--address", embedded.address)

    def repair(*more: str) -> tuple[int, str, str]:
        ran = place.run(*words, *more)
        return ran.code, ran.out, ran.err

    handle = await failing(temporal_client, queue, identifier)
    async with Worker(temporal_client, task_queue=queue, workflows=[Quota], workflow_runner=sandbox()):

        async def fails_often() -> bool:
            found = await handle.describe()
            return found.raw_description.pending_workflow_task.attempt >= FAILS_OFTEN

        await eventually(fails_often, 60, "its task fails")
        code, out, err = await asyncio.to_thread(repair, "--dry-run", "--verbose")
        assert (code, "Nothing was changed." in out) == (0, True)
        assert f"· Temporal: describe {identifier}" in err and "Temporal: reset" not in err
        assert (await handle.describe()).run_id == handle.first_execution_run_id
        code, out, err = await asyncio.to_thread(repair, "--verbose")
        assert (code, "It continues in run " in out) == (0, True)
        broken = handle.first_execution_run_id
        assert f"· Temporal: reset {identifier}, run {broken}, to event " in err
        assert (await handle.describe()).run_id in out
        again = temporal_client.get_workflow_handle(identifier)
        # Whoever is blocked has no slots, and both words of that are there.
        lease: Lease = await again.execute_update("lease", ASKED, result_type=Lease)
        book: SlotBook = await again.query("book", result_type=SlotBook)
        assert not lease.count
        assert book.blocked_until > (await again.describe()).start_time.timestamp() + 2_900
        code, _, err = await asyncio.to_thread(repair)
        assert (code, "gets on" in err) == (6, True)
        await again.terminate()
    code, _, err = await asyncio.to_thread(repair)
    assert (code, "closed" in err) == (6, True)
    code, _, err = await asyncio.to_thread(
        lambda: (lambda ran: (ran.code, ran.out, ran.err))(
            place.run("repair", "nothing/there", "--reason", "a test", "--address", embedded.address)
        )
    )
    assert code == 5, err


async def test_a_repair_of_a_campaigns_workflow_is_an_operators_signed_word(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Without a key it is refused, and so is whoever is no operator: nothing is reset or recorded. An
    operator signs which run is reset, to which task and why, before it is.
    """
    name = f"c-{uuid.uuid4().hex[:8]}"
    spec = CampaignSpec.model_validate(
        {
            "name": name,
            "area": "waf",
            "service": {"base_url": "http://127.0.0.1:1/client/v4", "credentials": [{"token": "env:T"}]},
            "targets": {"all": True},
        }
    )
    start = campaign_start(
        spec,
        "a" * 64,
        targets="b" * 64,
        count=1,
        waves=(Wave(number=0, name="all", first=0, end=1),),
        enterprise="",
        started_by=OPERATOR,
    )
    archive = Archive(tmp_path / "archive")
    keys = Keys(tmp_path / "authority", Roster())
    roots = load_roots(keys.roots)
    await keys.pen(archive, OPERATOR).start(start, spec)
    queue, identifier = f"{Queue.QUOTA}-{name}", f"zone/{uuid.uuid4().hex}/waf"
    nobodys = f"nobody-{name}"
    campaign = await temporal_client.start_workflow(
        "Campaign", args=start.arguments(), id=campaign_id(name), task_queue=nobodys
    )
    handle = await failing(temporal_client, queue, identifier, {"campaign": campaign_id(name)})

    async def replay(history: WorkflowHistory) -> Exception | None:
        return (await replayer().replay_workflow(history, raise_on_replay_failure=False)).replay_failure

    async def repaired(by: str, pen: Pen | None, here: Archive = archive) -> Repair:
        return await repair(
            temporal_client,
            identifier,
            by=by,
            reason="a build",
            replay=replay,
            archive=here,
            pen=pen,
            roots=roots,
        )

    async with Worker(temporal_client, task_queue=queue, workflows=[Quota], workflow_runner=sandbox()):

        async def fails_often() -> bool:
            found = await handle.describe()
            return found.raw_description.pending_workflow_task.attempt >= FAILS_OFTEN

        await eventually(fails_often, 60, "its task fails")
        with pytest.raises(Refused, match=f"is of campaign {name}, and nobody signs"):
            await repaired(OPERATOR, None)
        with pytest.raises(Refused, match=f"{APPROVER} is no operator"):
            await repaired(APPROVER, keys.pen(archive, APPROVER))
        assert (await handle.describe()).run_id == handle.first_execution_run_id
        records, place = SignedRecords(archive), f"signed/{name}/repair"
        assert await records.at(name, place) == ()
        done = await repaired(OPERATOR, keys.pen(archive, OPERATOR))
    (said,) = await records.at(name, place)
    statement = said.statement
    assert isinstance(statement, RepairStatement) and in_words(said) == "repair"
    known = (statement.workflow, statement.run, statement.task, statement.reason, statement.by)
    assert known == (identifier, handle.first_execution_run_id, done.task, "a build", OPERATOR)
    assert roots.refuses(said, Role.OPERATOR, datetime.now(UTC)) is None
    assert done.signed == said.digest and done.run != handle.first_execution_run_id
    await temporal_client.get_workflow_handle(identifier).terminate()
    await campaign.terminate()
