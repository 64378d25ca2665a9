"""Whoever reaches Temporal ends a campaign's workflow, and starts another one under its name: it can be
stopped all the same, with the archive and a key alone.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from edgeshift.messages import CampaignStart
from edgeshift.model.fleet import campaign_id
from edgeshift.operations import calls
from edgeshift.testbed.invariants.keys import verified
from tests.journeys.cli_kit import Ran, in_process
from tests.orchestration.test_stopped_untold import Begun, begun, person

__all__ = ["begun", "person"]

pytestmark = pytest.mark.embedded

CLOSED, ELSEWHERE, UNREADABLE, SILENT = "closed", "another archive", "unreadable", "no query"


@workflow.defn(name="Campaign")
class Closes:
    """Something that ends at once."""

    @workflow.run
    async def run(self, start: dict[str, Any], ledger: RawValue | None = None) -> str:
        """Nothing."""
        return "over"


@workflow.defn(name="Campaign")
class Waits:
    """Something that answers no question."""

    @workflow.run
    async def run(self, start: dict[str, Any], ledger: RawValue | None = None) -> None:
        """Until it is ended."""
        await workflow.wait_condition(lambda: False)


@asynccontextmanager
async def in_its_place(client: Client, start: CampaignStart, what: str) -> AsyncIterator[None]:
    """Somebody's own workflow runs, or has run, under the campaign's name."""
    arguments: list[Any] = list(start.arguments())
    if what == UNREADABLE:
        arguments[0] = {"rubbish": True}
    if what == ELSEWHERE:
        arguments = list(start.model_copy(update={"archive": "f" * 32}).arguments())
    queue = f"somebody-{uuid.uuid4().hex}"
    kind = Closes if what == CLOSED else Waits
    async with Worker(
        client, task_queue=queue, workflows=[kind], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        handle = await client.start_workflow(
            "Campaign", args=arguments, id=campaign_id(start.name), task_queue=queue
        )
        if what == CLOSED:
            await handle.result()
        yield
        if what != CLOSED:
            await handle.terminate()


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        (CLOSED, 6, "is closed: nothing is left to"),
        (ELSEWHERE, 3, "keeps its documents in another archive"),
        (UNREADABLE, 3, "cannot be read: it is of another version, or nothing of edgeshift's"),
        (SILENT, 3, "cannot answer"),
    ],
)
async def test_whatever_temporal_says_a_stop_is_signed(
    what: str,
    code: int,
    said: str,
    begun: Begun,
    person: None,
    temporal_client: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Workers heed it: the command says what Temporal says, and that it is signed. An abort asks first."""
    monkeypatch.setattr(calls, "ANSWER_WITHIN", timedelta(seconds=3))
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", temporal_client.service_client.config.target_host)
    name = begun.spec.name

    async def called(*line: str) -> Ran:
        return await asyncio.to_thread(in_process, *line)

    start = await begun.begin()
    async with in_its_place(temporal_client, start, what):
        ran = await called("pause", name, "--reason", "now")
        assert ran.code == code and said in ran.err and "signed and archived" in ran.err, ran
        assert await begun.last() == ("pause", "now")
        ran = await called("abort", name)
        assert ran.code == 6 and await begun.last() == ("pause", "now"), ran
        ran = await called("abort", name, "--yes", "--reason", "enough")
        assert ran.code in (code, 3) and "signed and archived" in ran.err, ran
        assert await begun.last() == ("abort", "enough")


async def test_a_stop_of_what_this_archive_does_not_have_is_refused(
    begun: Begun, person: None, temporal_client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing was started in it, so that nothing can be signed there: who asks is told where it is."""
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", temporal_client.service_client.config.target_host)
    start = await begun.begin()
    other = start.model_copy(update={"name": f"{start.name}-b"})
    async with in_its_place(temporal_client, other, ELSEWHERE):
        for line in ("pause", other.name), ("abort", other.name, "--yes"):
            ran = await asyncio.to_thread(in_process, *line)
            assert ran.code == 6 and "another archive" in ran.err and "signed" not in ran.err, ran
    assert await begun.last() is None


async def test_what_is_aborted_and_closed_is_not_signed_again(
    begun: Begun, person: None, temporal_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it could be sent any more."""
    monkeypatch.setattr(calls, "ANSWER_WITHIN", timedelta(seconds=3))
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", temporal_client.service_client.config.target_host)
    start = await begun.begin()
    await begun.pen.word(start.name, begun.digest, "abort", "enough")
    async with in_its_place(temporal_client, start, CLOSED):
        ran = await asyncio.to_thread(in_process, "pause", start.name)
    assert ran.code == 6 and "is closed: nothing is left to pause" in ran.err and "signed" not in ran.err
    signed = [key async for key in begun.archive.list(f"signed/{start.name}/statement")]
    read = [verified(await begun.archive.get_named(key) or b"") for key in signed]
    assert sorted(str(one.statement["kind"]) for one in read if one) == ["start", "word"]


async def test_where_the_archive_is_lost_nobody_says_that_it_has_closed(
    begun: Begun, person: None, temporal_client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is Temporal that says so: whoever stops it hears that nothing is signed, and tries again. So they do
    where Temporal is lost as well.
    """
    monkeypatch.setattr(calls, "ANSWER_WITHIN", timedelta(seconds=3))
    start = await begun.begin()
    (tmp_path / "archive").rename(tmp_path / "away")
    for line in ("pause", start.name), ("abort", start.name, "--yes"):
        ran = await asyncio.to_thread(in_process, *line)
        assert ran.code == 1 and "nothing is signed, either: " in ran.err, ran
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", temporal_client.service_client.config.target_host)
    async with in_its_place(temporal_client, start, CLOSED):
        ran = await asyncio.to_thread(in_process, "pause", start.name)
        assert ran.code == 1 and "is closed, by what Temporal says, and was not told to pause" in ran.err, ran
        assert "; nor is that signed: " in ran.err
        ran = await asyncio.to_thread(in_process, "abort", start.name, "--yes")
        assert "signed" in ran.err and "nothing is left" not in ran.err, ran
    (tmp_path / "away").rename(tmp_path / "archive")
    assert await begun.last() is None
