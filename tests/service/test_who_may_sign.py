"""Whoever signs hears before that it would not count, wherever roots are known: by each verb that signs."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from edgeshift.authority.loading import load_roots
from edgeshift.authority.roots import Role, Roots
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.campaign.start import campaign_start
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignStart, Step
from edgeshift.model.fleet import Wave
from edgeshift.model.sign_off import Choice, SignOffPolicy
from edgeshift.operations.campaigns import start_campaign, store_spec
from edgeshift.operations.errors import Refused
from edgeshift.operations.hands import Drafts
from edgeshift.operations.pen import ROLES, Pen
from edgeshift.operations.policies import refuse_uncounted
from edgeshift.operations.steering import abort, pause
from edgeshift.stores.archive import Archive
from tests.kit import APPROVER, OPERATOR
from tests.kit.signing import ELSEWHERE, Keys, Roster, key_of

D = "d" * 64

Verb = Callable[[Pen, CampaignStart, CampaignSpec], Awaitable[Any]]


def decided(choice: Choice) -> Verb:
    """A decision on one zone, in an account on which only some may decide."""
    state: Any = SimpleNamespace(
        step=Step.COMMIT,
        digest=D,
        proposal=D,
        evidence="",
        attempt=1,
        zone=SimpleNamespace(id="a" * 32, account="b" * 32),
    )
    return lambda pen, start, spec: pen.proposal(spec.name, start.spec, state, choice)


VERBS: dict[str, tuple[Role, Verb]] = {
    "start": (Role.STARTER, lambda pen, start, spec: pen.start(start, spec)),
    "approve": (Role.APPROVER, decided(Choice.APPROVE)),
    "reject": (Role.APPROVER, decided(Choice.REJECT)),
    "approve fingerprints": (
        Role.APPROVER,
        lambda pen, start, spec: pen.fingerprints(
            spec.name, start.spec, Choice.APPROVE, step=Step.COMMIT, fingerprints=[D]
        ),
    ),
    "pause": (Role.OPERATOR, lambda pen, start, spec: pen.word(spec.name, start.spec, "pause")),
    "resume": (Role.OPERATOR, lambda pen, start, spec: pen.word(spec.name, start.spec, "resume")),
    "abort": (Role.OPERATOR, lambda pen, start, spec: pen.word(spec.name, None, "abort")),
    "retry": (Role.OPERATOR, lambda pen, start, spec: pen.again(spec.name, start.spec, "retry")),
    "reopen": (Role.OPERATOR, lambda pen, start, spec: pen.again(spec.name, start.spec, "reopen")),
    "reopen elsewhere": (
        Role.OPERATOR,
        lambda pen, start, spec: pen.again(spec.name, start.spec, "reopen", accounts=["b" * 32]),
    ),
    "support-resolved": (
        Role.OPERATOR,
        lambda pen, start, spec: pen.again(spec.name, start.spec, "support-resolved"),
    ),
    "repair": (
        Role.OPERATOR,
        lambda pen, start, spec: pen.repair(spec.name, start.spec, workflow="w", run="r", task=4),
    ),
}


class Silent(FileSigner):
    """A key that is not asked to sign."""

    async def sign(self, message: bytes) -> str:
        """Nothing."""
        raise AssertionError("it was asked to sign")


def silent(name: str) -> Silent:
    """A person's."""
    return Silent(key_of(name)._private)


class Begun:
    """A campaign whose start is signed, and the roots."""

    def __init__(self, folder: Path) -> None:
        service = {"base_url": "http://127.0.0.1:9", "credentials": [{"token": "env:NO_TOKEN"}]}
        name = f"who-{uuid.uuid4().hex[:8]}"
        self.spec = CampaignSpec.model_validate({"name": name, "targets": {"all": True}, "service": service})
        wave = Wave(number=0, name="all", first=0, end=1)
        self.start = campaign_start(
            self.spec, "c" * 64, targets=D, count=1, waves=(wave,), enterprise=D, started_by=OPERATOR
        )
        self.archive, self.keys = Archive(folder / "archive"), Keys(folder / "authority", Roster())

    @property
    def roots(self) -> Roots:
        """As they are known here."""
        return load_roots(self.keys.roots)

    async def recorded(self) -> list[str]:
        """What the archive has of what was signed."""
        return [key async for key in self.archive.list("signed")]


@pytest.fixture
async def begun(tmp_path: Path) -> Begun:
    """One that has begun."""
    found = Begun(tmp_path)
    await found.keys.pen(found.archive, OPERATOR).start(found.start, found.spec)
    return found


def test_each_kind_of_statement_has_its_role() -> None:
    """Each role that people have signs something."""
    assert set(ROLES.values()) == set(Role) - {Role.WORKER}


@pytest.mark.parametrize("verb", VERBS)
async def test_nothing_is_signed_in_a_role_that_is_lacking(begun: Begun, verb: str) -> None:
    """The key is not even asked; the error names the person, the role, the roots and what to do. Nor is
    anything signed with a key that is not the person's.
    """
    role, act = VERBS[verb]
    lacks = OPERATOR if role is Role.APPROVER else APPROVER
    before, roots, archive = await begun.recorded(), begun.roots, begun.archive
    stranger = Silent(PrivateKey.made())
    has = APPROVER if role is Role.APPROVER else OPERATOR
    for pen, why in (
        (Pen(silent(lacks), archive, lacks, roots), f"{lacks} is no {role.value}"),
        (Pen(stranger, archive, has, roots), f"key {stranger.key.id} is nobody's that is known"),
    ):
        with pytest.raises(Refused) as told:
            await act(pen, begun.start, begun.spec)
        text = (
            f"it would not count: {why} in the roots {begun.keys.roots}; nothing was signed, and nothing sent"
        )
        assert told.value.text == text
        assert f"somebody who is {role.value} there signs it" in told.value.hint
        assert f"--role {role.value}`" in told.value.hint
    assert await begun.recorded() == before


@pytest.mark.parametrize("verb", VERBS)
async def test_it_is_signed_with_the_role_and_where_nobody_knows(begun: Begun, verb: str) -> None:
    """Whoever has the role signs; so does whoever has no roots here, whatever theirs is."""
    role, act = VERBS[verb]
    has, lacks = (APPROVER, OPERATOR) if role is Role.APPROVER else (OPERATOR, APPROVER)
    for by, roots in ((has, begun.roots), (lacks, None)):
        before = await begun.recorded()
        await act(Pen(key_of(by), begun.archive, by, roots), begun.start, begun.spec)
        assert len(await begun.recorded()) > len(before)


@pytest.mark.parametrize("verb", ["approve", "approve fingerprints"])
async def test_what_is_to_be_signed_elsewhere_is_drafted_for_anybody(begun: Begun, verb: str) -> None:
    """Their key may come to the roots before it is handed in, which is when it is looked at."""
    drafts = Drafts()
    pen = Pen(drafts, begun.archive, "nobody", begun.roots)
    await VERBS[verb][1](pen, begun.start, begun.spec)
    assert [one.by for one in drafts.statements] == ["nobody"]


async def test_nobody_decides_on_a_zone_of_an_account_that_is_not_theirs(begun: Begun) -> None:
    """By the roots that are known here; on fingerprints they decide, for some zones may be theirs."""
    (by,) = ELSEWHERE
    pen = Pen(key_of(by), begun.archive, by, begun.roots)
    with pytest.raises(Refused, match=f"{by} is no approver of this account"):
        await VERBS["approve"][1](pen, begun.start, begun.spec)
    await VERBS["approve fingerprints"][1](pen, begun.start, begun.spec)


async def test_nobody_begins_a_zone_again_of_an_account_that_is_not_theirs(begun: Begun) -> None:
    """Where zones are named; one word for all is signed, for some of them may be theirs."""
    (by,) = ELSEWHERE
    begun.keys.write(Roster().with_role(by, "operator"))
    pen = Pen(key_of(by), begun.archive, by, begun.roots)
    with pytest.raises(Refused, match=f"{by} is no operator of this account"):
        await VERBS["reopen elsewhere"][1](pen, begun.start, begun.spec)
    await VERBS["reopen"][1](pen, begun.start, begun.spec)


async def test_temporal_hears_nothing_of_who_may_not(begun: Begun) -> None:
    """Neither of a stop nor of a start."""
    client: Any = SimpleNamespace()
    pen, name = Pen(silent(APPROVER), begun.archive, APPROVER, begun.roots), begun.spec.name
    for stop in (pause, abort):
        with pytest.raises(Refused, match=f"{APPROVER} is no operator"):
            await stop(client, name, by=APPROVER, pen=pen)
    with pytest.raises(Refused, match=f"{APPROVER} is no starter"):
        await start_campaign(client, begun.archive, begun.spec, by=APPROVER, pen=pen)


async def test_whoever_the_campaign_does_not_count_hears_so_before_they_sign(begun: Begun) -> None:
    """No approver of its file, or by four eyes whoever has started it. Where the file is not there, the
    campaign says it.
    """
    sign_off = {"approvers": ["ada", OPERATOR], "four_eyes": True}
    spec = begun.spec.model_copy(update={"sign_off": SignOffPolicy.model_validate(sign_off)})
    known: Any = SimpleNamespace(
        name=spec.name, spec=await store_spec(begun.archive, spec), started_by=OPERATOR
    )
    lost: Any = SimpleNamespace(name=spec.name, spec="e" * 64, started_by=OPERATOR)
    for by, choice, why in (
        ("mallory", Choice.APPROVE, "'mallory' is not an approver of this campaign"),
        ("mallory", Choice.REJECT, "'mallory' is not an approver of this campaign"),
        (OPERATOR, Choice.APPROVE, f"'{OPERATOR}' started this campaign and cannot also approve"),
        (OPERATOR, Choice.REJECT, ""),
        ("ada", Choice.APPROVE, ""),
    ):
        await refuse_uncounted(begun.archive, lost, choice, by, None)
        try:
            await refuse_uncounted(begun.archive, known, choice, by, None)
        except Refused as told:
            assert why and told.text.startswith(why) and told.text.endswith("nothing sent"), told.text
        else:
            assert not why


@pytest.mark.parametrize("proof", ["signed", "named"])
async def test_so_does_whoever_the_roots_do_not_let_sign_what_they_started(begun: Begun, proof: str) -> None:
    """Four eyes that the roots ask for, and the campaign's file does not: where signatures count, as it is at
    the door. A rejection counts, and so does an approval of somebody else.
    """
    begun.keys.write(Roster(four_eyes=True))
    roots, least = begun.roots, begun.roots.file.policy.model_copy(update={"proof": proof})
    roots = Roots(roots.file.model_copy(update={"policy": least}), roots.signers)
    known: Any = SimpleNamespace(
        name=begun.spec.name, spec=await store_spec(begun.archive, begun.spec), started_by=OPERATOR
    )
    for by, choice in ((OPERATOR, Choice.REJECT), (APPROVER, Choice.APPROVE)):
        await refuse_uncounted(begun.archive, known, choice, by, roots)
    asked = refuse_uncounted(begun.archive, known, Choice.APPROVE, OPERATOR, roots)
    if proof == "named":
        await asked
    else:
        with pytest.raises(Refused, match=r"started this campaign and cannot also approve \(four eyes\)"):
            await asked
