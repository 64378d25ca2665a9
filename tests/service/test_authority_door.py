"""The door asks its own roots and what people signed with their keys; what messages say proves nothing."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from activities.change.fence import CHECKED_AGAIN_AFTER
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Plan
from edgeshift.model.sign_off import Choice
from edgeshift.rate_limit.terms import Lane
from tests.forgeries.attempts import FORGERIES
from tests.forgeries.doors import guarded
from tests.service.gate_kit import Gate, gate
from tests.service.test_called_off import READINGS, Turns, begun


async def test_what_people_signed_is_sent_once(tmp_path: Path) -> None:
    """A start by a starter and an approval by an approver, of exactly this: it is sent."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        assert (await door.commit()).status is ChangeStatus.ANSWERED
        assert await door.sent() == 1


async def test_a_fingerprint_that_was_signed_covers_its_zone(tmp_path: Path) -> None:
    """An approval of the fingerprint, for all waves or for this one."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None, wave=0)
        assert (await door.commit()).status is ChangeStatus.ANSWERED


async def test_an_enterprise_zone_joins_its_fingerprint_by_its_own_evidence(tmp_path: Path) -> None:
    """Evidence that passed joins; without it only a decision on the zone counts that names what was shown."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        assert (await door.commit()).unsigned
        failed = await door.evidence(EvidenceVerdict.FAIL)
        assert (await door.commit(permit=2, evidence=failed)).unsigned
        foreign = await door.evidence(EvidenceVerdict.PASS, zone="f" * 32)
        assert (await door.commit(permit=3, evidence=foreign)).unsigned
        other = await door.evidence(EvidenceVerdict.PASS, proposal="0" * 64)
        assert (await door.commit(permit=4, evidence=other)).unsigned
        assert await door.sent() == 0
        passed = await door.evidence(EvidenceVerdict.PASS)
        assert (await door.commit(permit=5, evidence=passed)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize(
    "more",
    [
        {"false_positives": 1, "agreed": 39},
        {"gaps": 1, "agreed": 39},
        {"unseen": 1, "agreed": 39},
        {"unseen": 1, "agreed": 39, "as_before": 1},
        {"compared": 3},
        {"agreed": 10},
        {"whole": False},
        {"since": datetime.now(UTC) - timedelta(hours=1)},
        {"until": datetime.now(UTC) + timedelta(days=30)},
        {"since": None},
    ],
    # Moments would be others in each process of the tests.
    ids=lambda more: " ".join(more),
)
async def test_evidence_is_judged_again_at_the_door(more: dict[str, Any], tmp_path: Path) -> None:
    """A document that says that it passed, and whose own counts or window do not bear that out, lets no zone
    join its fingerprint.
    """
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        planted = await door.evidence(EvidenceVerdict.PASS, **more)
        assert (await door.commit(evidence=planted)).uncounted
        assert await door.sent() == 0
        borne_out = await door.evidence(EvidenceVerdict.PASS)
        assert (await door.commit(permit=2, evidence=borne_out)).status is ChangeStatus.ANSWERED


async def test_a_zone_whose_evidence_failed_takes_a_decision_that_names_it(tmp_path: Path) -> None:
    """A person saw that evidence, and agreed all the same."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        failed = await door.evidence(EvidenceVerdict.FAIL)
        await door.approve()
        assert (await door.commit(evidence=failed)).unsigned
        await door.approve(evidence=failed)
        assert (await door.commit(permit=2, evidence=failed)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("by", ["nobody", "a stranger", "an approver", "another run", "another zone"])
async def test_a_zones_own_approval_is_over_evidence_that_a_worker_gathered(tmp_path: Path, by: str) -> None:
    """Whoever signs a zone by itself is shown what a message names, and anybody can lay evidence into the
    archive: it counts where a worker has gathered it, whatever it says.
    """
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        planted = await door.evidence(EvidenceVerdict.PASS, gathered=False)
        await door.gathers(planted, by)
        await door.approve(evidence=planted)
        found = await door.commit(evidence=planted)
        assert found.uncounted and "no worker has gathered what ada was shown" in found.reason
        assert await door.sent() == 0
        failed = await door.evidence(EvidenceVerdict.FAIL, clients=1)
        await door.approve(evidence=failed)
        assert (await door.commit(permit=2, evidence=failed)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("other", [{"proposal": "0" * 64}, {"zone": "f" * 32}, None])
async def test_a_zones_own_approval_is_not_over_evidence_of_something_else(
    tmp_path: Path, other: dict[str, Any] | None
) -> None:
    """Of other rules, as before it drifted; of another zone; or none at all, where the file asks for some."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        shown = "" if other is None else await door.evidence(EvidenceVerdict.PASS, **other)
        await door.approve(evidence=shown)
        assert (await door.commit(evidence=shown)).uncounted
        assert await door.sent() == 0


async def test_as_many_people_as_the_policy_asks_for(tmp_path: Path) -> None:
    """Of two that the roots ask for, one twice is one; and two people are two."""
    async with guarded(tmp_path) as door:
        door.least(required=2)
        await door.begin()
        await door.approve()
        await door.approve()
        assert (await door.commit()).unsigned
        await door.approve("grace", signer=door.key("ada"))
        assert (await door.commit(permit=2)).unsigned
        await door.approve("grace")
        assert (await door.commit(permit=3)).status is ChangeStatus.ANSWERED


async def test_a_paused_campaign_sends_nothing_until_it_is_resumed(tmp_path: Path) -> None:
    """By signed words in the archive alone, whatever Temporal believes; the zone tries again later."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await door.say("pause", 1)
        held = await door.commit()
        assert held.status is ChangeStatus.NOTHING_HAPPENED and not held.unsigned and not held.turn
        await door.say("resume", 2)
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


async def test_a_change_that_finds_a_signed_pause_first_hears_that_it_is_called_off(tmp_path: Path) -> None:
    """The pause is signed before Temporal is told: a moment later the permit is taken back, and the zone need
    not wait for the next turn when the campaign goes on.
    """
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await door.say("pause", 1)
        environment, change = begun(door.gate, await door.gate.message(door.gate.body, door.gate.body))
        await asyncio.sleep(1)
        environment.cancel()
        result = await asyncio.wait_for(change, 1.5)
        assert result.status is ChangeStatus.NOTHING_HAPPENED and "called off" in result.reason


class Late(Turns):
    """A pacer that has some turns at once; the next ones come when it is let."""

    def __init__(self, left: int) -> None:
        super().__init__(left)
        self.come = asyncio.Event()

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        """Return when the turn has come."""
        if self.left:
            self.left -= 1
            return
        self.waiting.set()
        await self.come.wait()


@pytest.mark.parametrize("word", ["pause", "abort", "reject"])
async def test_what_is_signed_while_a_change_waits_for_its_turn_stops_it(word: str, tmp_path: Path) -> None:
    """The door was passed before; it is asked once more just before the first byte."""
    pacer = Late(READINGS)
    async with guarded(tmp_path, pacer=pacer) as door:
        await door.begin()
        await door.approve()
        change = asyncio.create_task(door.commit())
        await asyncio.wait_for(pacer.waiting.wait(), 30)
        if word == "reject":
            await door.approve("grace", choice=Choice.REJECT)
        else:
            await door.say(word, 1)
        await asyncio.sleep(CHECKED_AGAIN_AFTER)
        pacer.come.set()
        result = await change
        assert result.status is ChangeStatus.NOTHING_HAPPENED
        assert result.unsigned is (word != "pause") and await door.sent() == 0


async def test_an_abort_is_the_last_word(tmp_path: Path) -> None:
    """No later word lets anything of that start go on."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await door.say("abort", 1)
        await door.say("resume", 2)
        assert (await door.commit()).unsigned
        assert await door.sent() == 0


LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


async def test_a_rejection_of_the_last_second_stops_until_the_zone_is_reopened(tmp_path: Path) -> None:
    """No sum of times is made of what others wrote: it counts from when it was stored."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve("grace")
        await door.approve(choice=Choice.REJECT, issued=LAST - timedelta(seconds=1), expires=LAST)
        refused = await door.commit()
        assert refused.uncounted and "ada rejected it" in refused.reason
        await asyncio.sleep(1.1)
        now = datetime.now(UTC).replace(microsecond=0)
        await door.again("reopen", issued=now)
        await door.approve("grace", issued=now)
        assert (await door.commit(permit=2)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize("word", ["pause", "abort"])
async def test_a_stop_of_the_last_second_stops(word: str, tmp_path: Path) -> None:
    """An operator's clock may say anything."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        await door.say(word, 1, issued=LAST - timedelta(seconds=1), expires=LAST)
        stopped = await door.commit()
        assert stopped.status is ChangeStatus.NOTHING_HAPPENED and await door.sent() == 0
        assert stopped.aborted_by == "sam" if word == "abort" else "paused by sam" in stopped.reason


async def test_a_revoked_key_signs_nothing_from_then_on(tmp_path: Path) -> None:
    """The roots are read again: no worker has to be started anew."""
    async with guarded(tmp_path) as door:
        await door.begin()
        await door.approve()
        file = door.keyring.roots
        (file.parent / "revoked").write_text(door.key("ada").key.line + "\n")
        file.write_text(file.read_text() + "revoked: revoked\n")
        assert (await door.commit()).unsigned


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_forgery_sends_nothing(name: str, tmp_path: Path) -> None:
    """Each is refused before the first byte, and said to be so."""
    async with guarded(tmp_path) as door:
        forged = await FORGERIES[name](door) or door
        result = await forged.commit()
        assert result.status is ChangeStatus.NOTHING_HAPPENED and result.unsigned, result
        assert await door.sent() == 0


async def test_the_checks_ask_the_service_nothing(tmp_path: Path) -> None:
    """A commit makes the same calls with roots as in a rehearsal without."""
    calls = []
    async with guarded(tmp_path / "with") as door:
        await door.begin()
        await door.approve()
        calls.append(await _calls(door.gate))
    async with gate(tmp_path / "without", plan=Plan.PRO) as plain:
        calls.append(await _calls(plain))
    assert calls[0] == calls[1]
    assert sum(method == "PUT" for method, _ in calls[0]) == 1


async def _calls(found: Gate) -> list[tuple[str, str]]:
    """What the service is asked while the door sends the commit."""
    before = len(await found.control.journal())
    assert (await found.change(found.body, found.body)).status is ChangeStatus.ANSWERED
    return [(entry["method"], entry["call"]) for entry in (await found.control.journal())[before:]]


@pytest.mark.parametrize("by", ["nobody", "a stranger", "an approver", "another run", "another zone"])
async def test_evidence_that_no_worker_gathered_joins_no_zone(tmp_path: Path, by: str) -> None:
    """However whole it is: it counts where a worker has signed that it read this, for this campaign."""
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        planted = await door.evidence(EvidenceVerdict.PASS, gathered=False)
        await door.gathers(planted, by)
        assert (await door.commit(evidence=planted)).uncounted
        assert await door.sent() == 0
        passed = await door.evidence(EvidenceVerdict.PASS, clients=1)
        assert (await door.commit(permit=2, evidence=passed)).status is ChangeStatus.ANSWERED


async def test_a_window_from_before_the_zone_was_validated_joins_no_zone(tmp_path: Path) -> None:
    """A message can have a worker gather the events of any time: what counts is what was seen since the zone
    was last set into validation.
    """
    async with guarded(tmp_path, plan=Plan.ENTERPRISE) as door:
        await door.begin()
        await door.approve(about="fingerprint", subjects=(door.fingerprint,), zone=None, attempt=None)
        early = await door.evidence(EvidenceVerdict.PASS)
        assert (await door.gate.validate()).status is ChangeStatus.ANSWERED
        assert (await door.commit(permit=2, evidence=early)).uncounted
