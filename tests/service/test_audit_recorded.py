"""A request is one that a worker has recorded: whoever writes to the archive can lay a record there."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from edgeshift.audit.exporting import export
from edgeshift.audit.judging import roots_of
from edgeshift.audit.proof import Proof
from edgeshift.audit.proving import prove
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.loading import RootsFiles
from edgeshift.authority.signers import Signers
from edgeshift.messages import Step
from tests.forgeries.doors import Guarded, guarded

HOUR = timedelta(hours=1)


async def agreed(door: Guarded) -> None:
    """People have agreed to a commit."""
    now = datetime.now(UTC).replace(microsecond=0)
    await door.begin(issued=now - 2 * HOUR)
    await door.approve(issued=now - HOUR)


async def proved(door: Guarded, *, workers: bool = True) -> Proof:
    """What its file proves by the worker's roots, or else by everybody's keys but the worker's."""
    out = io.BytesIO()
    await export(door.archive, door.campaign, out, datetime.now(UTC), by="ada", signer=door.key("ada"))
    out.seek(0)
    roots = RootsFiles(door.keyring.roots).current()
    if workers:
        return prove(out, roots, workers=True)
    people = [allowed for allowed in roots.signers.keys if "worker" not in allowed.names]
    return prove(out, roots_of(Signers(people)))


async def test_a_request_that_a_worker_has_recorded_is_proved(tmp_path: Path) -> None:
    """With the roots, which know its key; by people's keys alone it is told that nobody's is under it."""
    async with guarded(tmp_path) as door:
        await agreed(door)
        await door.sent_before("p", 0.2)
        proof = await proved(door)
        assert proof.holds and proof.unrecorded == 0, proof.findings
        assert proof.sent == {"commit": 1} and proof.agreed == {"ada": 1}
        proof = await proved(door, workers=False)
        assert proof.holds and proof.unrecorded == 1, proof.findings
        assert proof.sent == {"commit": 1} and proof.agreed == {"ada": 1}


@pytest.mark.parametrize("step", [Step.COMMIT, Step.ROLL_BACK])
async def test_a_planted_request_is_none(step: Step, tmp_path: Path) -> None:
    """Though people had agreed to it: nobody is told to have had it sent, nor is one that was sent taken for
    a second use of what they signed.
    """
    async with guarded(tmp_path) as door:
        await agreed(door)
        await door.sent_before("planted", 0.4, by_worker=False, step=step.value)
        proof = await proved(door)
        assert (proof.sent, proof.agreed, proof.zones, proof.unrecorded) == ({}, {}, 0, 1)
        (finding,) = proof.findings
        assert not proof.holds and "was recorded by no known worker: no worker has signed it" in finding.text
        await door.sent_before("p", 0.2)
        proof = await proved(door)
        assert proof.found == 1 and proof.sent == {"commit": 1} and proof.agreed == {"ada": 1}


async def test_a_given_up_permit_in_the_place_of_a_request_is_found(tmp_path: Path) -> None:
    """Whoever can write over a record, as in a folder, says that nothing was sent; a worker says it, too."""
    async with guarded(tmp_path) as door:
        await agreed(door)
        key = await door.sent_before("p", 0.2)
        await door.sent_before("q", 0.1, step="given_up")
        assert (await proved(door)).holds
        assert door.archive.folder is not None
        said = {"step": "given_up", "at": datetime.now(UTC).isoformat(), "campaign": door.gate.start.campaign}
        (door.archive.folder / key).write_bytes(json.dumps(said).encode())
        proof = await proved(door)
        (finding,) = proof.findings
        assert not proof.holds and proof.sent == {} and proof.unrecorded == 0
        assert key in finding.text and "was recorded by no known worker" in finding.text


async def test_what_a_revoked_worker_has_recorded_is_not_proved(tmp_path: Path) -> None:
    """Whoever has its key may have signed it."""
    async with guarded(tmp_path) as door:
        await agreed(door)
        await door.sent_before("p", 0.2)
        RootsEditor(door.keyring.roots).revoke("worker")
        proof = await proved(door)
        assert not proof.holds and proof.sent == {} and "was revoked" in proof.findings[0].text
