"""An operator's key that has ended begins nothing again and reopens nothing, whatever date it writes."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from edgeshift.authority.records import agains_at
from edgeshift.messages import ChangeStatus
from edgeshift.model.sign_off import Choice
from tests.forgeries.doors import Guarded, guarded


def ago(minutes: float) -> datetime:
    """A moment before now."""
    return datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=minutes)


def ends(door: Guarded, name: str, at: datetime) -> None:
    """A person's key serves until then."""
    signers = door.keyring.signers
    until = f'{name} valid-before="{at:%Y%m%d%H%M%S}Z" '
    lines = signers.read_text().splitlines()
    signers.write_text("\n".join(one.replace(f"{name} ", until, 1) for one in lines) + "\n")


async def said_again(door: Guarded, verb: str, dated: datetime, stored: datetime | None) -> None:
    """Sam begins the zone again. ``stored``: when the archive took that; None for now."""
    zone = door.gate.zone.id
    digest = await door.again(verb, zones=(zone,), issued=dated)
    if stored is not None:
        folder = door.archive.folder
        assert folder is not None
        os.utime(folder / agains_at(door.campaign, zone) / digest, (stored.timestamp(),) * 2)


IN_TIME = [(90, 90, 60), (90, 70, 60), (3, 0, 2), (90, 0, -60)]
"""How many minutes ago it was signed, by its date; was recorded; and its key ended."""

LATE = [(90, 0, 60), (90, 50, 60), (61, 55, 60)]


@pytest.mark.parametrize("verb", ["reopen", "retry"])
@pytest.mark.parametrize(("dated", "stored", "ended"), IN_TIME + LATE)
async def test_what_was_recorded_after_the_end_of_its_key_begins_nothing_again(
    verb: str, dated: float, stored: float, ended: float, tmp_path: Path
) -> None:
    """Within five minutes of its date it may have been signed in time: clocks differ by as much."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(300))
        if verb == "reopen":
            await door.approve_alike("grace", choice=Choice.REJECT, issued=ago(200))
        else:
            await door.sent_before(f"{door.campaign}-1", 4)
            await door.sent_before(f"{door.campaign}-back", 3, step="roll_back")
        attempt = 2 if verb == "retry" else 1
        await said_again(door, verb, ago(dated), ago(stored) if stored else None)
        await door.approve(attempt=attempt, issued=ago(0))
        ends(door, "sam", ago(ended))
        result = await door.with_start(attempt=attempt).commit()
        if (dated, stored, ended) in IN_TIME:
            assert result.status is ChangeStatus.ANSWERED
        else:
            why = "grace rejected it" if verb == "reopen" else "does not serve for this, or not at that time"
            assert result.unsigned and why in result.reason
            assert await door.sent() == 0
