"""A stranger beside a running zone, who may send Temporal anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from edgeshift.areas.assessment import Verdict
from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.messages import (
    Change,
    Prepared,
    Step,
    ZonePhase,
)
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.stores.documents import get_document, put_document
from edgeshift.stores.documents.areas.esc import ProbedProposal
from tests.forgeries.running.attack import Attack
from tests.harness.campaigns.stages import (
    ESC,
)
from tests.kit.faults import Stage
from tests.kit.foreign import Forged
from tests.kit.signing import WORKER, key_of, signed

QUEUE = "of-a-forger"

LONG = {**ESC["esc"], "observe": "4000h", "every": "2000h"}
"""A scope is watched for as long as a test takes."""


@asynccontextmanager
async def forger(client: Client) -> AsyncIterator[None]:
    """Somebody who runs such executions."""
    runner = UnsandboxedWorkflowRunner()
    async with Worker(client, task_queue=QUEUE, workflows=[Forged], workflow_runner=runner):
        yield


async def forge(stage: Stage, short: str, attempt: object, result: dict[str, Any]) -> None:
    """End the zone's workflow, and put one of the forger's in its place."""
    play, handle = stage.play, stage.play.zone(stage.name(short))
    memo = {
        "campaign": play.campaign.id,
        "campaign_run": (await play.campaign.describe()).run_id,
        "attempt": attempt,
    }
    await play.client.execute_workflow(
        "Forged",
        result,
        id=handle.id,
        task_queue=QUEUE,
        memo=memo,
        id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
    )


async def stranger(stage: Stage, short: str) -> Attack:
    """Somebody beside a zone who may send Temporal anything."""
    state = await stage.play.state(stage.name(short))
    return Attack(stage, stage.play.client, short, FileSigner(PrivateKey.made()), state, set())


async def signed_of(stage: Stage, short: str) -> list[ZoneOutcome]:
    """The outcomes of a zone that workers have signed."""
    run = (await stage.play.campaign.describe()).run_id or ""
    found = await SignedRecords(stage.play.archive).results(stage.play.spec.name, run, stage.id(short), 1)
    return [said.statement.outcome for said in found]  # type: ignore[union-attr]


def beside(stage: Stage, short: str, what: str) -> list[str]:
    """What is recorded beside the intents of a zone: ``seen``, ``nothing``."""
    folder = stage.play.folder / "state" / "archive" / what / stage.id(short) / stage.play.spec.area.value
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def without_differences(stage: Stage, prepared: Prepared) -> Prepared:
    """What a probe would have proposed that had found nothing: any answer of the URLs is as agreed."""
    archive = stage.play.archive
    proposal = await get_document(archive, ProbedProposal, prepared.proposal)
    report = await get_document(archive, ProbeReport, proposal.report)
    nothing = await put_document(archive, report.model_copy(update={"differences": ()}))
    forged = await put_document(archive, proposal.model_copy(update={"report": nothing}))
    return prepared.model_copy(update={"proposal": forged})


async def committed(stage: Stage, short: str) -> tuple[Attack, Prepared]:
    """A scope that was turned off, and is watched; a stranger beside it, and what was sent."""
    state = await stage.waits(short)
    await stage.play.sign_zone(stage.name(short), digest=state.digest)
    await stage.phase(short, ZonePhase.WATCHING)
    a = await stranger(stage, short)
    return a, sent_by(a)


def sent_by(a: Attack) -> Prepared:
    """What the zone proposes, or has sent."""
    return Prepared(
        verdict=Verdict.READY,
        snapshot=a.state.snapshot,
        digest=a.state.digest,
        fingerprint=a.state.fingerprint,
        proposal=a.state.proposal,
    )


async def in_flight(a: Attack, name: str = "in-flight", step: Step = Step.COMMIT) -> str:
    """A commit of exactly what the zone proposes, as a worker records it before it sends it: it may still
    come to show. What may be recorded of it lies under this name.
    """
    key = f"intent/{a.state.zone.id}/{a.stage.play.spec.area.value}/{name}"
    said = {
        "step": step.value,
        "at": a.stage.play.now().isoformat(),
        "campaign": a.stage.play.campaign.id,
        "run": await a.run(),
        "attempt": a.state.attempt,
        "digest": a.state.digest,
        "fingerprint": a.state.fingerprint,
        "proposal": a.state.proposal,
        "snapshot": a.state.snapshot,
        "drawn": "drawn",
    }
    await a.archive.create_once(key, await signed(key, said, key_of(WORKER)))
    return name


async def way_back(a: Attack, prepared: Prepared) -> Change:
    """A rollback of what was sent, under a permit of a stranger's own."""
    return Change(
        start=await a.started_with(),
        step=Step.ROLL_BACK,
        permit=a.permit(),
        snapshot=prepared.snapshot,
        proposal=prepared.proposal,
        digest=prepared.digest,
        fingerprint=prepared.fingerprint,
        window=timedelta(seconds=4),
    )
