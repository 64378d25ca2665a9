"""A last look of the installed example, with what may happen meanwhile: what it says, and what is on record
after it, as JSON. Run by ``test_installed_area.py``, where the example is installed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from edgeshift_always_https import activities, rules, work

from activities.change.intent_records import beside_of
from edgeshift.areas.assessment import Verdict
from edgeshift.messages import Prepared, Step, Watch, Watched
from edgeshift.model.fleet import Area
from edgeshift.stores.archive import ArchiveUnavailable
from edgeshift.stores.documents import Proposal, put_document
from tests.forgeries.doors import Guarded, guarded
from tests.service.gate_kit import begun

AREA = Area("always-https")


async def looked(folder: Path, meanwhile: str) -> dict[str, Any]:
    """Look for the last time at a zone whose setting is as the campaign has set it, two hours ago.
    ``meanwhile``: a rollback begins once the look has asked what is on record (``rollback``); the archive
    does not take what is signed (``archive``); or nothing happens.
    """
    on = {"settings": {"always_use_https": "on"}}
    async with guarded(folder, area=AREA.value, settings=on) as door:
        there = door.gate.connections
        door.gate.start = start = door.gate.start.model_copy(update={"area": AREA})
        door.gate.body = rules.body("on")
        await door.begin(issued=datetime.now(UTC).replace(microsecond=0) - timedelta(hours=3))
        proposal = await put_document(door.archive, Proposal(body=door.gate.body))
        named: dict[str, Any] = {"proposal": proposal, "snapshot": door.gate.snapshot}
        commit = await door.sent_before("commit-1", 2, **named)
        message = Watch(
            start=start,
            prepared=Prepared(
                verdict=Verdict.READY, digest=door.digest, fingerprint=door.fingerprint, **named
            ),
            since=datetime.now(UTC) - timedelta(hours=2),
            last=True,
        )
        with pytest.MonkeyPatch.context() as patch:
            if meanwhile == "rollback":
                patch.setattr(activities, "read", _after_a_rollback(door, named))
            if meanwhile == "archive":
                patch.setattr(there.results, "record_watched", _not_taken)
            found = await _told(activities.AlwaysHttpsActivities(there), message)
        spec = await there.spec(start.spec)
        signed = await there.results.proven(spec, start.campaign_run, door.gate.zone.id)
        seen = await door.archive.get_named(beside_of(commit, "seen"))
        return {"told": found, "signed": sorted(signed), "seen_through": seen is not None}


def _after_a_rollback(door: Guarded, named: dict[str, Any]) -> Any:
    """The setting as it is read once a worker has recorded that it is about to send a rollback."""
    begins = [Step.ROLL_BACK.value]

    async def meanwhile(*asked: Any, **how: Any) -> rules.Reading:
        if begins:
            await door.sent_before("back-1", 0, step=begins.pop(), **named)
        return await work.read(*asked, **how)

    return meanwhile


async def _not_taken(*said: Any) -> None:
    raise ArchiveUnavailable("not now")


async def _told(area: activities.AlwaysHttpsActivities, message: Watch) -> str:
    try:
        found = await begun().run(area.watch, message)
    except Exception as failure:
        return f"failed: {failure}"
    assert isinstance(found, Watched)
    return "done" if found.done else found.worse or found.unsure or "nothing"


if __name__ == "__main__":
    print(json.dumps(asyncio.run(looked(Path(sys.argv[1]), sys.argv[2]))))
