"""Whoever can reach Temporal can have a worker look at a target, with a message of their choice. What it
signs of that is what it has read itself, of what is on record as sent.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.areas.assessment import Verdict
from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.messages import Prepared, Watch, ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.runtime.queues import Queue
from edgeshift.stores.documents import ProbedProposal, get_document, put_document
from tests.faults_kit import Stage
from tests.forgeries.running.attack import Attack
from tests.forgeries.running.foreign import scheduled
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import ESC, esc_stage, esc_zone

pytestmark = pytest.mark.embedded

LONG = {**ESC["esc"], "observe": "4000h", "every": "2000h"}
"""A scope is watched for as long as a test takes."""


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
    prepared = Prepared(
        verdict=Verdict.READY,
        snapshot=a.state.snapshot,
        digest=a.state.digest,
        fingerprint=a.state.fingerprint,
        proposal=a.state.proposal,
    )
    return a, prepared


async def test_a_scope_that_is_off_is_never_signed_as_rolled_back(
    temporal_client: Client, tmp_path: Path
) -> None:
    """By a proposal whose probe found no difference, whatever its URLs answer says nothing: the setting does.
    Nor is it signed as settled before it was watched to the end.
    """
    async with esc_stage(temporal_client, tmp_path, esc_zone("a"), authority=ONE, esc=LONG) as stage:
        a, prepared = await committed(stage, "a")
        start = await a.started_with()
        forged = await without_differences(stage, prepared)
        for asked in (
            {"prepared": forged, "back": True},
            {"prepared": prepared, "back": True},
            {"prepared": forged},
            {"prepared": prepared},
        ):
            message = Watch(start=start, since=a.stage.play.now(), last=True, **asked)
            _, told = await scheduled(a, "watch_esc_scope", message, Queue.LONG)
            assert told is not None and not told["done"] and not told["record"], told
        assert await signed_of(stage, "a") == []
        assert beside(stage, "a", "seen") == []
        assert await stage.play.is_off(stage.name("a"))
