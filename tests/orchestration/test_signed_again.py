"""What does not count at the door never keeps people from signing anew: the zone goes on hold, says what is
missing, and once it is reopened it waits for sign-offs that count.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.authority.records import SignedRecords
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import DecisionStatement
from edgeshift.messages import Answer, CampaignSignOff, Step, ZoneState
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from edgeshift.model.sign_off import Choice
from edgeshift.operations.again import begin_again
from edgeshift.operations.errors import NotFound
from edgeshift.operations.pen import Pen
from edgeshift.operations.sign_offs import waiting_zone
from edgeshift.operations.zones import FoundZone
from edgeshift.testbed.invariants.seen import Word
from tests.kit import APPROVER, OPERATOR
from tests.kit.faults import Stage, staged, zone
from tests.kit.signing import Roster, about, key_of, recorded

pytestmark = pytest.mark.embedded

BOB = "bob"
PLAIN = Roster()
OTHER = zone("z", "business", page_rules=[{"targets": ["*z/x*"], "actions": [{"id": "waf", "value": "off"}]}])
"""It proposes something else, and keeps the campaign open."""


async def told_nobody_signed(stage: Stage, state: ZoneState) -> None:
    """Somebody sends Temporal the approver's word, and nobody has signed it."""
    await _told(stage, state, APPROVER)


async def _told(stage: Stage, state: ZoneState, by: str) -> None:
    said = CampaignSignOff(choice=Choice.APPROVE, fingerprints=(state.fingerprint,), by=by)
    await stage.play.campaign.execute_update("sign_off", said, result_type=Answer)


async def revoked_since(stage: Stage, state: ZoneState) -> None:
    """Their key is revoked between the signature and the door."""
    keys = stage.play.keys
    assert keys is not None
    await stage.play.sign_by_key((state.fingerprint,), Choice.APPROVE, (APPROVER,))
    keys.write(replace(PLAIN, revoked=((APPROVER, 1),)))
    await _told(stage, state, APPROVER)


async def no_approver(stage: Stage, state: ZoneState) -> None:
    """An operator approves, who signs truly."""
    await stage.play.sign_by_key((state.fingerprint,), Choice.APPROVE, ("opal",))
    await _told(stage, state, "opal")


async def elsewhere(stage: Stage, state: ZoneState) -> None:
    """An approver of other accounts alone."""
    await stage.play.sign_by_key((state.fingerprint,), Choice.APPROVE, ("erin",))
    await _told(stage, state, "erin")


async def expired(stage: Stage, state: ZoneState) -> None:
    """A signature that counted for a day, three days ago."""
    play, keys = stage.play, stage.play.keys
    assert keys is not None
    (start,) = await keys.pen(play.archive, OPERATOR)._records.starts(play.spec.name)
    then = datetime.now(UTC).replace(microsecond=0) - timedelta(days=3)
    statement = DecisionStatement(
        **{
            **about(start.statement.service, play.spec.name, play.spec.area, APPROVER),
            "issued": then,
            "expires": then + timedelta(days=1),
        },
        start=start.digest,
        step=Step.COMMIT,
        choice=Choice.APPROVE,
        about="fingerprint",
        subjects=(state.fingerprint,),
    )
    await recorded(play.archive, statement, key_of(APPROVER))
    await _told(stage, state, APPROVER)


async def for_another_start(stage: Stage, state: ZoneState) -> None:
    """A stranger has put a start of his own into the archive, and whoever signs knows no roots."""
    play = stage.play
    (start,) = await SignedRecords(play.archive).starts(play.spec.name)
    stranger = FileSigner(PrivateKey.made())
    planted = start.statement.model_copy(update={"nonce": "f" * 32, "issued": datetime.now(UTC)})
    await recorded(play.archive, planted, stranger)
    assert play.start is not None
    pen = Pen(key_of(APPROVER), play.archive, APPROVER)
    await pen.fingerprints(
        play.spec.name,
        play.start.spec,
        Choice.APPROVE,
        step=Step.COMMIT,
        fingerprints=[state.fingerprint],
    )
    await _told(stage, state, APPROVER)


CASES: dict[str, tuple[Callable[[Stage, ZoneState], Awaitable[None]], str]] = {
    "told": (told_nobody_signed, "0 of 1 needed people have signed exactly this"),
    "no approver": (no_approver, "opal is no approver"),
    "elsewhere": (elsewhere, "erin is no approver of this account"),
    "expired": (expired, f"what {APPROVER} signed has expired"),
    "another start": (for_another_start, f"{APPROVER} signed for another start"),
    "revoked": (revoked_since, "was revoked"),
}
"""What is said that does not count, and what is told of it."""


async def _reopened(stage: Stage, short: str) -> Answer:
    play = stage.play
    play.words.append(Word(by=OPERATOR, at=play.now(), zone=stage.id(short), reopens=True))
    return await begin_again(
        play.client,
        play.spec.name,
        "reopen",
        by=OPERATOR,
        reason="to be signed",
        indexes=[play.index(stage.name(short))],
        places=["on_hold"],
        pen=play.pen(OPERATOR),
        zones=[stage.id(short)],
    )


async def test_what_does_not_count_at_the_door_is_signed_anew_once_the_zone_is_reopened(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other: each puts the zone on hold and says why; whoever signs it then is told to reopen
    it, and reopened it waits, after one look for an abort. A real signature then counts.
    """
    refuse_aborted, looks = Pen.refuse_aborted, list[str]()

    async def counted(pen: Pen, campaign: str, spec: str) -> None:
        looks.append(campaign)
        await refuse_aborted(pen, campaign, spec)

    monkeypatch.setattr(Pen, "refuse_aborted", counted)
    async with staged(temporal_client, tmp_path, zone("a"), OTHER, authority=PLAIN) as stage:
        play = stage.play
        found = FoundZone.of(0, play.targets[play.index(stage.name("a"))], play.spec.area, play.spec.name)
        await stage.waits("z")
        for name, (work, told) in CASES.items():
            state = await stage.waits("a")
            await work(stage, state)
            assert await stage.outcome("a") is ZoneOutcome.ON_HOLD, name
            (why,) = (await play.state(stage.name("a"))).why
            assert why.code is ReasonCode.SIGN_OFF_NOT_COUNTED and told in why.said, (name, why)
            await play.until(lambda seen: seen.places.get("on_hold", 0) > 0)
            with pytest.raises(NotFound) as refused:
                await waiting_zone(play.client, found)
            assert f"edgeshift reopen {play.spec.name} --zone {found.name}" in refused.value.hint
            answer = await _reopened(stage, "a")
            assert "to be signed off again" in answer.text
            await stage.waits("a")
            assert await stage.changes("a") == []
        assert len(looks) == len(CASES)
        assert play.keys is not None
        play.keys.write(PLAIN)
        await stage.finish()
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        await stage.check()


@pytest.mark.parametrize("per", ["fingerprint", "zone"])
async def test_roots_that_ask_for_more_people_are_kept_to_before_the_door(
    per: str, temporal_client: Client, tmp_path: Path
) -> None:
    """The file asks for one approval and the roots for two since the campaign runs: the first zone goes on
    hold; reopened it waits for the second person, also where each attempt is signed by itself.
    """
    one, two = Roster(), Roster(approvers=(APPROVER, BOB), required=2)
    async with staged(
        temporal_client, tmp_path, zone("a"), authority=one, sign_off={"per": per, "required": 1}
    ) as stage:
        play = stage.play
        await stage.waits("a")
        assert play.keys is not None
        play.keys.write(two)
        await play.sign_zone(stage.name("a"), by=APPROVER)
        assert await stage.outcome("a") is ZoneOutcome.ON_HOLD
        (why,) = (await play.state(stage.name("a"))).why
        assert "1 of 2 needed people" in why.said
        await _reopened_closed(stage)
        state = await stage.waits("a")
        await play.sign_zone(stage.name("a"), by=APPROVER, plain=False)
        assert len((await play.state(stage.name("a"))).decisions) == 1
        await stage.waits("a")
        await play.sign_zone(stage.name("a"), by=BOB, digest=state.digest)
        await play.result()
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        assert any("2 approvals" in note for note in (await play.summary()).notes)
        await stage.check()


async def _reopened_closed(stage: Stage) -> None:
    await stage.play.result()
    assert "is reopened" in (await _reopened(stage, "a")).text


async def test_an_enterprise_zone_joins_its_fingerprint_by_evidence_that_is_judged_again(
    temporal_client: Client, tmp_path: Path
) -> None:
    """What a real window counts bears its verdict out at the door: its fingerprint is approved, no more."""
    async with staged(temporal_client, tmp_path, zone("a", "enterprise"), authority=PLAIN) as stage:
        state = await stage.waits("a")
        (group,) = (await stage.play.until(lambda seen: bool(seen.waiting))).waiting
        assert group.separate == 0 and state.evidence
        await stage.play.sign([group.fingerprint])
        await stage.play.result()
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        await stage.check()
