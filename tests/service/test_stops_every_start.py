"""A stop is signed to each start of the name that may be running: which one is, Temporal tells, or a date,
and either may be a stranger's word.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.loading import load_roots
from edgeshift.authority.signing import OpenSSHSigner, SigningFailed
from edgeshift.authority.statements import StartStatement, WaveSaid, WordStatement
from edgeshift.cli.errors import CommandError, ExitCode
from edgeshift.cli.signed_elsewhere import Elsewhere
from edgeshift.messages import ChangeStatus, Step, ZonePhase, ZoneState
from edgeshift.model.fleet import Area
from edgeshift.model.sign_off import Choice
from edgeshift.operations import signed_to
from edgeshift.operations.errors import Refused
from edgeshift.operations.pen import Pen, SteeringWord
from tests.forgeries.doors import Guarded, guarded
from tests.service.gate_kit import ago
from tests.service.test_audit_recorded import proved

STAGING = {"service": "https://staging.example.com/client/v4"}
ELSEWHERE = pytest.mark.parametrize("where", [STAGING, {"area": Area.LOG_FIELDS}], ids=["service", "area"])
OTHER = "d" * 64


async def also(door: Guarded, by: str = "olga", signer: Any = None, **more: Any) -> str:
    """Somebody signs another start of the name; its specification."""
    said = {"spec": OTHER, "targets": "c" * 64, "count": 1, "waves": (WaveSaid(name="all", first=0, end=1),)}
    statement = StartStatement(**{**door.about(by), **said, **more})
    await door.put(statement, signer)
    return statement.spec


def pen(door: Guarded, *, roots: bool = True, by: str = "sam") -> Pen:
    """A person's."""
    return Pen(door.key(by), door.archive, by, load_roots(door.keyring.roots) if roots else None)


class Touched(OpenSSHSigner):
    """A hardware key that is touched so many times, and not again."""

    def __init__(self, door: Guarded, by: str, times: int) -> None:
        self._within, self._times, self.asked = door.key(by), times, 0
        super().__init__(Path("id_sk"), self._within.key)

    async def sign(self, message: bytes) -> str:
        """As often as it is touched."""
        self.asked += 1
        if self.asked > self._times:
            raise SigningFailed("ssh-keygen did not sign with id_sk")
        return await self._within.sign(message)


async def numbers(door: Guarded) -> list[int]:
    """Of all words, in their order."""
    words = [said.statement for said in await door.records.words(door.campaign)]
    return sorted(one.number for one in words if isinstance(one, WordStatement))


@ELSEWHERE
@pytest.mark.parametrize("verb", ["pause", "abort"])
@pytest.mark.parametrize("named", [True, False])
async def test_a_stop_counts_whichever_start_temporal_names(
    where: dict[str, Any], verb: SteeringWord, named: bool, tmp_path: Path
) -> None:
    """A rehearsal's before the real one, or, where Temporal is away, one of another service after it."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=2))
        await door.approve()
        other = await also(door, issued=ago(hours=3 if named else 1), **where)
        assert await pen(door).word(door.campaign, other if named else None, verb) == ""
        result = await door.commit()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and await door.sent() == 0
        assert "sam" in (result.aborted_by or result.reason)
        assert await numbers(door) == [1, 1]


@pytest.mark.parametrize("roots", [True, False])
async def test_a_resume_of_the_running_start_ends_its_pause(roots: bool, tmp_path: Path) -> None:
    """It is to that one alone; a further pause comes after it."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=2))
        await door.approve()
        await also(door, issued=ago(hours=3), **STAGING)
        mine, spec = pen(door, roots=roots), door.gate.start.spec
        await mine.word(door.campaign, OTHER, "pause")
        await mine.word(door.campaign, spec, "resume")
        assert await numbers(door) == [1, 1, 2]
        await mine.word(door.campaign, spec, "pause")
        assert "paused by sam" in (await door.commit()).reason
        await mine.word(door.campaign, spec, "resume")
        assert await numbers(door) == [1, 1, 2, 3, 3, 4]
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


async def test_a_strangers_start_takes_no_stop_away_where_no_roots_are(tmp_path: Path) -> None:
    """With the very specification, and a later date."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=2))
        await door.approve()
        spec = door.gate.start.spec
        await also(door, "mallory", door.stranger, spec=spec, issued=ago(hours=1), **STAGING)
        await pen(door, roots=False).word(door.campaign, spec, "pause")
        assert "paused by sam" in (await door.commit()).reason and await door.sent() == 0


async def test_a_start_by_a_revoked_key_takes_no_stop_away(tmp_path: Path) -> None:
    """Whoever stole it signs one, and has Temporal name that."""
    async with guarded(tmp_path) as door:
        await door.begin("olga", issued=ago(hours=2))
        await door.approve()
        door.grant("sam", "starter")
        await also(door, "sam", issued=ago(hours=1), **STAGING)
        assert RootsEditor(door.keyring.roots).revoke("sam")
        await pen(door, by="olga").word(door.campaign, OTHER, "abort")
        assert (await door.commit()).aborted_by == "olga" and await door.sent() == 0


async def test_it_can_be_stopped_until_each_of_its_starts_is_aborted(tmp_path: Path) -> None:
    """Also where the latest one is, of another service."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=2))
        real = door.start
        await also(door, issued=ago(hours=1), **STAGING)
        latest, _ = await door.records.starts(door.campaign)
        await door.say("abort", 1, start=latest.digest, **STAGING)
        assert await pen(door).can_stop(door.campaign)
        await door.say("abort", 2, start=real)
        assert not await pen(door).can_stop(door.campaign)


@pytest.mark.parametrize("verb", ["pause", "abort"])
async def test_one_signature_that_is_missing_takes_no_other_away(verb: SteeringWord, tmp_path: Path) -> None:
    """The start that is meant comes first; how many signatures are needed is said before that."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=2))
        await door.approve()
        await also(door, issued=ago(hours=3), **STAGING)
        key, told, spec = Touched(door, "sam", 1), list[str](), door.gate.start.spec
        mine = Pen(key, door.archive, "sam", load_roots(door.keyring.roots), told.append)
        said = await mine.word(door.campaign, spec, verb)
        assert said == "it is not signed for 1 other start of that name: ssh-keygen did not sign with id_sk"
        assert told == ["2 signatures: one for each service and area that has a start of this name"]
        assert key.asked == 2 and await numbers(door) == [1]
        result = await door.commit()
        assert "sam" in (result.aborted_by or result.reason) and await door.sent() == 0
        with pytest.raises(Refused, match="nothing was signed, and nothing sent"):
            await mine.word(door.campaign, spec, verb)
        assert key.asked == 3 and await numbers(door) == [1]


async def test_nobody_is_told_of_the_one_signature_that_they_expect(tmp_path: Path) -> None:
    """Of a name with one start, and where a key file signs by itself."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=2))
        told: list[str] = []
        spec, roots = door.gate.start.spec, load_roots(door.keyring.roots)
        await Pen(Touched(door, "sam", 1), door.archive, "sam", roots, told.append).word(
            door.campaign, spec, "pause"
        )
        await also(door, issued=ago(hours=3), **STAGING)
        await Pen(door.key("sam"), door.archive, "sam", roots, told.append).word(door.campaign, spec, "pause")
        assert not told and await numbers(door) == [1, 2, 2]


async def test_of_too_many_starts_those_left_out_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that is meant is not among them."""
    monkeypatch.setattr(signed_to, "MOST_STOPPED", 3)
    monkeypatch.setattr("edgeshift.operations.pen.MOST_STOPPED", 3)
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=2))
        await door.approve()
        for number in range(5):
            where = {"service": f"https://{number}.example.com/v4"}
            await also(door, "mallory", door.stranger, issued=ago(hours=1), **where)
        said = await pen(door, roots=False).word(door.campaign, door.gate.start.spec, "abort")
        assert "not for 3 more starts" in said and "EDGESHIFT_AUTHORITY_ROOTS" in said
        assert len(await numbers(door)) == 3 and (await door.commit()).aborted_by == "sam"
        assert await pen(door).word(door.campaign, None, "abort") == ""


async def reject(door: Guarded, mine: Pen, spec: str, *, alike: bool) -> str:
    """Reject a fingerprint, or one zone's proposal; what the pen says of it."""
    if alike:
        some = [door.fingerprint]
        return await mine.fingerprints(
            door.campaign, spec, Choice.REJECT, step=Step.COMMIT, fingerprints=some
        )
    state = ZoneState(
        zone=door.gate.zone,
        campaign=door.campaign,
        wave=0,
        attempt=1,
        phase=ZonePhase.AWAITING_SIGN_OFF,
        since=ago(),
        step=Step.COMMIT,
        digest=door.digest,
        proposal="e" * 64,
    )
    return await mine.proposal(door.campaign, spec, state, Choice.REJECT)


@ELSEWHERE
@pytest.mark.parametrize("alike", [True, False])
async def test_a_rejection_counts_whichever_start_temporal_names(
    where: dict[str, Any], alike: bool, tmp_path: Path
) -> None:
    """Of a fingerprint, and of one zone's proposal."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=2))
        await door.approve()
        await also(door, issued=ago(hours=3), **where)
        assert await reject(door, pen(door, by="grace"), OTHER, alike=alike) == ""
        assert "grace rejected it" in (await door.commit()).reason and await door.sent() == 0


@pytest.mark.parametrize("alike", [True, False])
async def test_of_too_many_starts_those_that_a_rejection_leaves_out_are_said(
    alike: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the command ends with 1, once the campaign is told."""
    monkeypatch.setattr(signed_to, "MOST_STOPPED", 3)
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=2))
        await door.approve()
        for number in range(5):
            where = {"service": f"https://{number}.example.com/v4"}
            await also(door, "mallory", door.stranger, issued=ago(hours=1), **where)
        left = await reject(door, pen(door, roots=False, by="grace"), OTHER, alike=alike)
        assert "not for 3 more starts" in left and "EDGESHIFT_AUTHORITY_ROOTS" in left
        with pytest.raises(CommandError, match=r"the rejection is signed and told; but not for 3") as ended:
            told(left).check_each_start(door.campaign)
        assert ended.value.code == ExitCode.FAILED
        spec = door.gate.start.spec
        assert await reject(door, pen(door, by="grace"), spec, alike=alike) == ""
        assert "grace rejected it" in (await door.commit()).reason and await door.sent() == 0


@pytest.mark.parametrize("alike", [True, False])
async def test_a_rejection_stays_where_a_further_signature_is_missing(alike: bool, tmp_path: Path) -> None:
    """As a pause does."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=2))
        await door.approve()
        await also(door, issued=ago(hours=3), **STAGING)
        mine = Pen(Touched(door, "grace", 1), door.archive, "grace", load_roots(door.keyring.roots))
        left = await reject(door, mine, door.gate.start.spec, alike=alike)
        assert "not signed for 1 other start" in left and "id_sk" in left
        assert "grace rejected it" in (await door.commit()).reason and await door.sent() == 0
        told("").check_each_start(door.campaign)


def told(*left: str) -> Elsewhere:
    """Where decisions were signed of which the pen said this."""
    where = Elsewhere()
    where.not_signed_for.extend(left)
    return where


async def test_an_audit_file_holds_with_words_to_several_starts(tmp_path: Path) -> None:
    """What was sent before them rests on what people signed; they are told as what they are."""
    async with guarded(tmp_path) as door:
        await door.begin(issued=ago(hours=4))
        await door.approve("ada", issued=ago(hours=3))
        await door.sent_before("p", 2)
        mine = {"spec": door.gate.start.spec, "targets": door.targets}
        await also(door, issued=ago(hours=5), **mine, **STAGING)
        for verb in ("pause", "resume", "abort"):
            await pen(door).word(door.campaign, door.gate.start.spec, verb)
        proof = await proved(door)
        assert proof.holds, proof.findings
