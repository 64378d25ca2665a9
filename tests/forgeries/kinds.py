"""What an enemy would try who can send messages, write to the archive, and has keys of his own or of people
with other roles. Each must lead to nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import WaveSaid, sealed
from edgeshift.messages import Step
from edgeshift.model.fleet import Plan
from edgeshift.model.sign_off import Choice
from edgeshift.stores.documents import FrozenTargets, Intent, intent_key, put_document
from tests.forgeries.doors import Guarded

Forgery = Callable[[Guarded], Awaitable[Guarded | None]]

FORGERIES: dict[str, Forgery] = {}
"""By name. What each returns is the door whose messages say otherwise, where that is what is forged."""

TOGETHER: list[str] = []
"""Those that two of may be tried together."""


def alone(work: Forgery) -> Forgery:
    """A forgery that changes the roots, or the messages about what is signed rightly."""
    FORGERIES[work.__name__] = work
    return work


def forgery(work: Forgery) -> Forgery:
    """A forgery that may be tried beside others."""
    TOGETHER.append(work.__name__)
    return alone(work)


@forgery
async def nothing_signed_at_all(door: Guarded) -> None:
    """The messages alone."""


@forgery
async def no_start(door: Guarded) -> None:
    door.start = "0" * 64
    await door.approve()


@forgery
async def no_decision(door: Guarded) -> None:
    await door.begin()


@forgery
async def a_start_by_nobody(door: Guarded) -> None:
    await door.begin(signer=door.stranger)
    await door.approve()


@forgery
async def a_start_by_an_approver(door: Guarded) -> None:
    await door.begin("ada")
    await door.approve("grace")


@forgery
async def a_start_in_another_name(door: Guarded) -> None:
    await door.begin("olga", signer=door.key("ada"))
    await door.approve()


@forgery
async def a_start_of_another_specification(door: Guarded) -> None:
    await door.begin(spec="1" * 64)
    await door.approve()


@forgery
async def a_start_of_other_targets(door: Guarded) -> None:
    target = door.gate.start.target
    other = target.model_copy(update={"zone": target.zone.model_copy(update={"id": "e" * 32})})
    await door.begin(targets=await put_document(door.archive, FrozenTargets((other,))))
    await door.approve()


@forgery
async def a_start_in_other_waves(door: Guarded) -> None:
    await door.begin(waves=(WaveSaid(name="all", first=5, end=6),))
    await door.approve()


@forgery
async def a_start_at_another_service(door: Guarded) -> None:
    await door.begin(service="http://127.0.0.1:9/client/v4")
    await door.approve()


@forgery
async def an_expired_start(door: Guarded) -> None:
    past = datetime.now(UTC) - timedelta(days=2)
    await door.begin(issued=past, expires=past + timedelta(days=1))
    await door.approve()


@alone
async def whoever_started_it_with_four_eyes(door: Guarded) -> None:
    door.least(four_eyes=True)
    door.grant("olga", "approver")
    await door.begin()
    await door.approve("olga")


@alone
async def a_zone_of_another_plan(door: Guarded) -> Guarded:
    """A message that says another plan: one without a validation mode, so that no evidence is asked for, or
    with one, so that the zone might be validated.
    """
    await door.begin()
    await door.approve()
    target = door.gate.start.target
    other = Plan.PRO if target.zone.plan is Plan.ENTERPRISE else Plan.ENTERPRISE
    zone = target.zone.model_copy(update={"plan": other})
    return door.with_start(target=target.model_copy(update={"zone": zone}))


@alone
async def a_place_in_the_list_that_is_another(door: Guarded) -> Guarded:
    await door.begin()
    await door.approve()
    return door.with_start(index=7)


@alone
async def another_campaign(door: Guarded) -> Guarded:
    await door.begin()
    await door.approve()
    return door.with_start(campaign="campaign/other")


@forgery
async def an_approval_by_nobody(door: Guarded) -> None:
    await door.begin()
    await door.approve(signer=door.stranger)


@forgery
async def an_approval_by_an_operator(door: Guarded) -> None:
    await door.begin()
    await door.approve("sam")


@forgery
async def an_approval_by_the_starter(door: Guarded) -> None:
    await door.begin()
    await door.approve("olga")


@forgery
async def an_approval_in_another_name(door: Guarded) -> None:
    await door.begin()
    await door.approve("ada", signer=door.key("sam"))


@forgery
async def an_approval_of_another_digest(door: Guarded) -> None:
    await door.begin()
    await door.approve(subjects=("2" * 64,))


@forgery
async def an_approval_of_another_zone(door: Guarded) -> None:
    await door.begin()
    await door.approve(zone="d" * 32)


@forgery
async def an_approval_of_another_attempt(door: Guarded) -> None:
    await door.begin()
    await door.approve(attempt=2)


@forgery
async def an_approval_of_another_step(door: Guarded) -> None:
    await door.begin()
    await door.approve(step=Step.DELETE_OVERRIDES)


@forgery
async def an_approval_of_another_start(door: Guarded) -> None:
    await door.begin()
    await door.approve(start="3" * 64)


@forgery
async def an_approval_of_an_earlier_start(door: Guarded) -> None:
    """The campaign was started anew since: what was signed before counts no more."""
    earlier = await door.begin(issued=datetime.now(UTC) - timedelta(hours=1))
    await door.begin()
    await door.approve(start=earlier)


@forgery
async def an_approval_of_another_wave(door: Guarded) -> None:
    await door.begin()
    await door.approve_alike(wave=3)


@forgery
async def an_approval_that_has_expired(door: Guarded) -> None:
    await door.begin()
    past = datetime.now(UTC) - timedelta(hours=2)
    await door.approve(issued=past, expires=past + timedelta(hours=1))


@forgery
async def an_approval_from_the_future(door: Guarded) -> None:
    await door.begin()
    later = datetime.now(UTC) + timedelta(hours=1)
    await door.approve(issued=later, expires=later + timedelta(hours=1))


@forgery
async def an_approval_longer_ago_than_it_counts(door: Guarded) -> None:
    await door.begin()
    await door.approve(issued=datetime.now(UTC) - timedelta(days=20))


@forgery
async def a_rejection_beside_an_approval(door: Guarded) -> None:
    await door.begin()
    await door.approve("grace", choice=Choice.REJECT)
    await door.approve("ada")


@forgery
async def an_approval_from_before_a_rejected_zone_was_reopened(door: Guarded) -> None:
    await door.begin()
    earlier = datetime.now(UTC) - timedelta(hours=1)
    await door.approve(issued=earlier)
    await door.approve("grace", choice=Choice.REJECT, issued=earlier)
    await door.again("reopen", zones=(door.gate.zone.id,))


@forgery
async def a_rejection_from_before_the_campaign_was_started_anew(door: Guarded) -> None:
    """The rejection stands; a new start does not void it, nor does a new attempt."""
    await door.begin(issued=datetime.now(UTC) - timedelta(hours=1))
    await door.approve("grace", choice=Choice.REJECT, attempt=3)
    await door.begin()
    await door.approve("ada")


@alone
async def a_rejection_of_whoever_has_left(door: Guarded) -> None:
    await door.begin()
    await door.approve()
    await door.approve("grace", choice=Choice.REJECT)
    RootsEditor(door.keyring.roots).revoke("grace")


@alone
async def an_abort_of_whoever_has_left(door: Guarded) -> None:
    await door.begin()
    await door.approve()
    await door.say("abort", 1)
    RootsEditor(door.keyring.roots).revoke("sam")


@alone
async def a_target_that_the_file_excludes(door: Guarded) -> Guarded:
    """It is in the list that was signed with the file."""
    spec = await door.gate.connections.spec(door.gate.start.spec)
    without = spec.model_copy(
        update={"targets": spec.targets.model_copy(update={"exclude": (door.gate.zone.name,)})}
    )
    out = door.with_start(spec=await put_document(door.archive, without))
    await out.begin()
    await out.approve()
    return out


@forgery
async def a_record_without_a_signature(door: Guarded) -> None:
    await door.begin()
    statement = door.decision()
    await door.plant(statement.bytes, statement.digest)


@forgery
async def a_signature_of_another_statement(door: Guarded) -> None:
    await door.begin()
    other = await door.key("ada").sign(door.decision(zone="c" * 32).bytes)
    statement = door.decision()
    await door.plant(sealed(statement, other), statement.digest)


@forgery
async def a_statement_under_another_ones_name(door: Guarded) -> None:
    """A genuine approval of something else, laid where this one's would lie."""
    await door.begin()
    other = door.decision(subjects=("5" * 64,))
    signed = sealed(other, await door.key("ada").sign(other.bytes))
    await door.plant(signed, other.digest)


@forgery
async def a_signature_for_another_purpose(door: Guarded) -> None:
    await door.begin()
    statement = door.decision()
    keys = door.keyring.keys
    key = PrivateKey((keys / "ada").read_bytes())
    signed = sealed(statement, key.sign(statement.bytes, "git"))
    await door.plant(signed, statement.digest)


async def _shown(door: Guarded, by: str) -> Guarded | None:
    """Everybody has approved the fingerprint, and the zone shows whole evidence that this one says to have
    gathered. A zone that needs no evidence is left without an approval.
    """
    await door.begin()
    if door.gate.zone.plan is not Plan.ENTERPRISE:
        return None
    await door.approve_alike()
    evidence = await door.evidence(EvidenceVerdict.PASS, gathered=by == "the worker")
    if by != "the worker":
        await door.gathers(evidence, by)
    return replace(door, shown=evidence)


@alone
async def a_reopening_of_a_rehearsals_service(door: Guarded) -> None:
    """It would void a rejection; another person has approved since."""
    await door.begin()
    await door.approve("grace", choice=Choice.REJECT, issued=datetime.now(UTC) - timedelta(hours=1))
    await door.again("reopen", service="http://127.0.0.1:9/client/v4")
    await door.approve(issued=datetime.now(UTC))


@alone
async def evidence_that_nobody_gathered(door: Guarded) -> Guarded | None:
    return await _shown(door, "nobody")


@alone
async def evidence_that_nobody_gathered_of_a_zone_by_itself(door: Guarded) -> Guarded | None:
    """Somebody was shown it, and has approved the zone's own proposal over it."""
    if (found := await _shown(door, "nobody")) is not None:
        await found.approve(evidence=found.shown)
    return found


@alone
async def evidence_gathered_by_a_stranger(door: Guarded) -> Guarded | None:
    return await _shown(door, "a stranger")


@alone
async def evidence_gathered_by_an_approver(door: Guarded) -> Guarded | None:
    return await _shown(door, "an approver")


@alone
async def evidence_of_another_run(door: Guarded) -> Guarded | None:
    return await _shown(door, "another run")


@alone
async def evidence_of_another_zone(door: Guarded) -> Guarded | None:
    return await _shown(door, "another zone")


@alone
async def evidence_from_before_its_validation(door: Guarded) -> Guarded | None:
    """A worker has gathered it, and was about to set the zone into validation since."""
    found = await _shown(door, "the worker")
    gate = door.gate
    record = Intent(step="validate", at=datetime.now(UTC), campaign=gate.start.campaign)
    key = intent_key(gate.zone, gate.start.area, f"validated-{door.campaign}")
    await gate.connections.records.create(key, record)
    return found


@alone
async def one_person_with_two_keys(door: Guarded) -> Guarded:
    """Of two that are needed, a second key of the same person is no second person."""
    door.least(required=2)
    await door.begin()
    second = PrivateKey.made()
    with door.keyring.signers.open("a") as file:
        file.write(f"ada {second.public.line}\n")
    await door.approve("ada")
    await door.approve("ada", signer=FileSigner(second))
    return door
