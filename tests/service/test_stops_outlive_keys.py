"""What somebody stopped stays so when their key is revoked since: a lost key, or one whose owner leaves, says
nothing for going on. Whoever has a key that counts ends it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.loading import load_roots
from edgeshift.authority.statements import WordStatement
from edgeshift.messages import ChangeStatus
from edgeshift.model.sign_off import Choice
from edgeshift.operations.errors import Refused
from edgeshift.operations.pen import Pen
from tests.forgeries.doors import Guarded, guarded
from tests.service.test_audit_recorded import proved

HOUR = timedelta(hours=1)


def now() -> datetime:
    """To the second."""
    return datetime.now(UTC).replace(microsecond=0)


async def stopped(door: Guarded, how: str) -> str:
    """People have agreed, and somebody stops it, whose key is revoked then; whose."""
    await door.begin(issued=now() - 4 * HOUR)
    await door.approve("ada", issued=now() - 3 * HOUR)
    if how == "reject":
        await door.approve("grace", choice=Choice.REJECT, issued=now() - 2 * HOUR)
    else:
        await door.say(how, 7, issued=now() - 2 * HOUR)
    who = "grace" if how == "reject" else "sam"
    assert RootsEditor(door.keyring.roots).revoke(who)
    return who


def pen(door: Guarded) -> Pen:
    """An operator's whose key counts."""
    return Pen(door.key("olga"), door.archive, "olga", load_roots(door.keyring.roots))


@pytest.mark.parametrize("how", ["pause", "abort", "reject"])
async def test_a_stop_holds_when_its_key_is_revoked(how: str, tmp_path: Path) -> None:
    """Nothing is sent. Once that key is nobody's any more, as where a thief has it, nothing was stopped."""
    async with guarded(tmp_path) as door:
        who = await stopped(door, how)
        result = await door.commit()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and await door.sent() == 0
        assert result.aborted_by == who if how == "abort" else who in result.reason
        with door.without(who, key=False):
            assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("how", ["pause", "abort", "reject"])
async def test_whoever_has_a_key_that_counts_ends_a_stop(how: str, tmp_path: Path) -> None:
    """By a resume, which comes after it by its number; by a new start; by a reopening."""
    async with guarded(tmp_path) as door:
        await stopped(door, how)
        spec = door.gate.start.spec
        if how == "pause":
            await pen(door).word(door.campaign, spec, "resume")
            words = [said.statement for said in await door.records.words(door.campaign)]
            assert max(one.number for one in words if isinstance(one, WordStatement)) == 8
        elif how == "abort":
            with pytest.raises(Refused, match="was aborted by sam"):
                await pen(door).again(door.campaign, spec, "reopen")
            assert not await pen(door).can_stop(door.campaign)
            await door.begin(issued=now())
            assert await pen(door).can_stop(door.campaign)
            await door.approve("ada", issued=now())
        else:
            await pen(door).again(door.campaign, spec, "reopen", zones=[door.gate.zone.id])
            await door.approve("ada", issued=now())
        assert (await door.commit()).status is ChangeStatus.ANSWERED


async def test_what_a_revoked_key_let_go_on_is_stopped_again(tmp_path: Path) -> None:
    """Whoever has the key may have signed that."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=now() - 4 * HOUR)
        await door.approve("ada")
        await door.say("pause", 1, by="olga", issued=now() - 3 * HOUR)
        await door.say("resume", 2, issued=now() - 2 * HOUR)
        RootsEditor(door.keyring.roots).revoke("sam")
        assert "paused by olga" in (await door.commit()).reason and await door.sent() == 0


@pytest.mark.parametrize("how", ["pause", "abort", "reject", ""])
async def test_in_an_audit_file_too(how: str, tmp_path: Path) -> None:
    """A request that was recorded after it does not hold."""
    async with guarded(tmp_path) as door:
        if how:
            who = await stopped(door, how)
        else:
            await door.begin(issued=now() - 4 * HOUR)
            await door.approve("ada", issued=now() - 3 * HOUR)
        await door.sent_before("p", 0.5)
        proof = await proved(door)
        said: Any = " | ".join(finding.text for finding in proof.findings)
        assert proof.holds is not bool(how) and (not how or who in said), said
