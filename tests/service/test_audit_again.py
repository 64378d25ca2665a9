"""In an audit file, too, nothing but a rollback rests on a start once the campaign was started again."""

from __future__ import annotations

import io
from datetime import timedelta
from pathlib import Path

import pytest

from edgeshift.audit.judging import roots_of
from edgeshift.audit.proving import prove
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.signers import parsed
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import AgainStatement, StartStatement
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Step
from edgeshift.stores.documents import get_document, put_document
from tests.kit.audited import CAMPAIGN, SENT, Audited, audited
from tests.service.test_audit_used import said_of

SAME, OTHER = "the same file", "another file"


async def begun_again(done: Audited, file: str, since: timedelta, by: str = "olga") -> None:
    """Somebody starts the same targets again, so long after the first commits."""
    (begun,) = [
        said
        for said in await SignedRecords(done.archive).starts(CAMPAIGN)
        if isinstance(said.statement, StartStatement)
    ]
    start = begun.statement
    assert isinstance(start, StartStatement)
    spec = await get_document(done.archive, CampaignSpec, start.spec)
    stricter = spec.sign_off.model_copy(update={"required": 3})
    other = await put_document(done.archive, spec.model_copy(update={"sign_off": stricter}))
    again = start.model_copy(update={**done.about(by, SENT + since), "spec": other})
    await done.put(again if file == OTHER else again.model_copy(update={"spec": start.spec}))


@pytest.mark.parametrize(
    ("file", "minutes", "holds"),
    [(OTHER, -30, False), (OTHER, -5, True), (OTHER, 30, True), (SAME, -30, False), (SAME, -5, True)],
    ids=["before it", "as it was checked, maybe", "after it", "the same file", "the same file, maybe"],
)
async def test_a_request_under_a_start_of_before_does_not_hold(
    file: str, minutes: float, holds: bool, tmp_path: Path
) -> None:
    """Whoever agreed to it did so for the start of before, or under other terms."""
    done = await audited(tmp_path)
    await begun_again(done, file, timedelta(minutes=minutes))
    said = said_of(done, await done.export())
    assert ("started the campaign again since" in said) is not holds and bool(said) is not holds
    assert ("by another file" in said) is (file == OTHER and not holds)


@pytest.mark.parametrize(("minutes", "holds"), [(-30, False), (30, True)], ids=["before it", "after it"])
async def test_nor_where_the_key_of_whoever_started_it_again_was_revoked_since(
    minutes: float, holds: bool, tmp_path: Path
) -> None:
    """The start of before does not count again by that."""
    done = await audited(tmp_path)
    done.keys["rita"] = PrivateKey.made()
    await begun_again(done, OTHER, timedelta(minutes=minutes), "rita")
    roots = roots_of(parsed(done.signers, done.keys["rita"].public.line))
    proof = prove(io.BytesIO(await done.export()), roots)
    assert proof.holds is holds
    superseded = ["rita has started the campaign again since" in one.text for one in proof.findings]
    assert all(superseded) and any(superseded) is not holds


async def test_what_was_agreed_to_anew_holds(tmp_path: Path) -> None:
    """Under the later start by the same file, with an attempt of its own and people's words for it."""
    done = await audited(tmp_path)
    await begun_again(done, SAME, timedelta(hours=1))
    started = max(await SignedRecords(done.archive).starts(CAMPAIGN), key=lambda said: said.statement.issued)
    for by in ("ada", "grace"):
        await done.put(done.decision(by, start=started.digest, issued=SENT + timedelta(hours=2)))
    await done.send(done.zones[0], "anew", at=SENT + timedelta(hours=3))
    assert not said_of(done, await done.export())


@pytest.mark.parametrize("ended", [False, True], ids=["its key serves", "its key had ended"])
async def test_an_attempt_that_a_key_has_begun_after_its_end_does_not_hold(
    ended: bool, tmp_path: Path
) -> None:
    """By its date it was signed before; the archive took it after."""
    done = await audited(tmp_path)
    some, sam = done.zones[0], done.keys["sam"].public.line
    about = done.about("sam", SENT + timedelta(hours=1))
    await done.put(AgainStatement(**about, start=done.start, verb="retry", zones=(some.id,)))
    await done.send(some, "again", attempt=2, at=SENT + timedelta(hours=2))
    until = f'valid-before="{SENT + timedelta(hours=3):%Y%m%d%H%M%S}Z" ' if ended else ""
    signers = parsed(done.signers.replace(sam, until + sam))
    proof = prove(io.BytesIO(await done.export()), roots_of(signers))
    assert proof.holds is not ended
    assert ("does not serve for this, or not at that time" in str(proof.findings)) is ended


async def test_a_rollback_holds_all_the_same(tmp_path: Path) -> None:
    """The rollback is held up by nothing."""
    done = await audited(tmp_path)
    await begun_again(done, OTHER, timedelta(hours=1))
    await done.send(done.zones[0], "back", step=Step.ROLL_BACK.value, at=SENT + timedelta(hours=2))
    assert not said_of(done, await done.export())
