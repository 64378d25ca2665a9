"""What the enemy tries against a zone that waits for its sign-off, in a campaign that two have to approve, of
whom none has started it. None may lead to a step forward.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import sealed
from edgeshift.messages import Step
from tests.forgeries.running.attack import BOTH, ENEMY, REVOKED_KEY, Attack, Trace
from tests.kit import APPROVER, OPERATOR
from tests.kit.signing import key_of

Work = Callable[[Attack], Awaitable[Trace]]

EVERY = ("waf", "esc", "log-fields")


@dataclass(frozen=True)
class Kind:
    """One kind of attack, and the areas whose campaigns it is tried against. ``beside``: it needs no zone
    that waits for people, and is tried in every phase of a campaign. ``activity``, ``workflow``: the one of
    edgeshift's that it has done, by the name under which workers register it.
    """

    work: Work
    areas: tuple[str, ...] = EVERY
    beside: bool = False
    activity: str = ""
    workflow: str = ""


KINDS: dict[str, Kind] = {}


def kind(work: Work) -> Work:
    """Register one, against campaigns of every area."""
    KINDS[work.__name__] = Kind(work)
    return work


# --- approvals that are none, beside a genuine one of the first approver


@kind
async def words_without_a_signature(a: Attack) -> Trace:
    return await a.claim()


@kind
async def an_update_without_a_signature(a: Attack) -> Trace:
    for name in BOTH:
        trace = await a.ask(a.zone, "decide", a.word(name))
    return trace


@kind
async def a_key_that_nobody_knows(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision("bob"), a.stranger)
    return await a.claim()


@kind
async def a_signature_in_anothers_name(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision("bob"), key_of(APPROVER))
    return await a.claim()


@kind
async def one_person_with_two_keys(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision(APPROVER), key_of(APPROVER, 2))
    return await a.claim()


@kind
async def a_revoked_key(a: Attack) -> Trace:
    await a.genuine("bob")
    await a.sign(await a.decision(APPROVER), key_of(APPROVER, REVOKED_KEY))
    return await a.claim()


@kind
async def whoever_started_it(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision(OPERATOR))
    return await a.claim()


@kind
async def somebody_with_another_role(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision("opal"))
    return await a.claim()


@kind
async def an_approver_of_another_account(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision("erin"))
    return await a.claim()


@kind
async def of_an_earlier_start(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision("bob", start=await a.earlier_start()))
    return await a.claim()


@kind
async def of_another_attempt(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision("bob", attempt=a.state.attempt + 100))
    return await a.claim()


@kind
async def of_another_zone(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision("bob", zone="e" * 32))
    return await a.claim()


@kind
async def of_another_wave(a: Attack) -> Trace:
    await a.genuine()
    about = {"about": "fingerprint", "subjects": (a.state.fingerprint,), "zone": None, "attempt": None}
    await a.sign(await a.decision("bob", **about, wave=5))
    return await a.claim()


@kind
async def of_another_step(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision("bob", step=Step.DELETE_OVERRIDES))
    return await a.claim()


@kind
async def of_another_digest(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision("bob", subjects=("2" * 64,)))
    return await a.claim()


@kind
async def of_another_service(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision("bob", service="https://api.example.com/client/v4"))
    return await a.claim()


@kind
async def of_another_campaign(a: Attack) -> Trace:
    """Genuine there, and its bytes laid beside this one's."""
    await a.genuine()
    other = await a.decision("bob", campaign="another")
    await a.plant(sealed(other, await key_of("bob").sign(other.bytes)), other.digest)
    return await a.claim()


@kind
async def one_that_has_expired(a: Attack) -> Trace:
    await a.genuine()
    now = datetime.now(UTC)
    await a.sign(
        await a.decision("bob", issued=now - timedelta(seconds=20), expires=now - timedelta(seconds=10))
    )
    return await a.claim()


@kind
async def one_from_the_future(a: Attack) -> Trace:
    await a.genuine()
    later = datetime.now(UTC) + timedelta(hours=1)
    await a.sign(await a.decision("bob", issued=later, expires=later + timedelta(hours=1)))
    return await a.claim()


@kind
async def one_from_longer_ago_than_it_counts(a: Attack) -> Trace:
    await a.genuine()
    await a.sign(await a.decision("bob", issued=datetime.now(UTC) - timedelta(days=100)))
    return await a.claim()


@kind
async def a_signature_for_another_purpose(a: Attack) -> Trace:
    await a.genuine()
    statement = await a.decision("bob")
    key: PrivateKey = key_of("bob")._private
    await a.plant(sealed(statement, key.sign(statement.bytes, "git")), statement.digest)
    return await a.claim()


@kind
async def a_signature_of_another_statement(a: Attack) -> Trace:
    await a.genuine()
    statement, other = await a.decision("bob"), await a.decision("bob", zone="c" * 32)
    await a.plant(sealed(statement, await key_of("bob").sign(other.bytes)), statement.digest)
    return await a.claim()


# --- the archive's files


@kind
async def a_file_without_a_signature(a: Attack) -> Trace:
    await a.genuine()
    statement = await a.decision("bob")
    await a.plant(statement.bytes, statement.digest)
    await a.claim()
    return "archive"


@kind
async def a_statement_that_was_changed(a: Attack) -> Trace:
    """Both have signed; of one statement a byte is another by the time it is looked for."""
    await a.genuine()
    digest = await a.genuine("bob")
    path = a.folder / "signed" / a.name / "statement" / digest
    path.write_bytes(path.read_bytes().replace(b'"approve"', b'"approvE"'))
    a.damaged.append(digest)
    await a.claim()
    return "archive"


@kind
async def a_statement_that_was_removed(a: Attack) -> Trace:
    """Nothing that was signed counts once it is gone: nobody has to believe that it was there."""
    await a.genuine()
    digest = await a.genuine("bob")
    (a.folder / "signed" / a.name / "statement" / digest).unlink()
    a.damaged.append(digest)
    return await a.claim()


@kind
async def a_proposal_that_was_changed(a: Attack) -> Trace:
    """Somebody writes another body where the proposal lies; it is put back by whoever looks after it."""
    path = a.folder / "objects" / a.state.proposal[:2] / a.state.proposal
    kept = path.read_bytes()
    document = json.loads(kept)
    document["body"] = {**document["body"], "description": ENEMY}
    path.write_bytes(json.dumps(document).encode())
    try:
        await a.claim()
        await a.rests()
    finally:
        path.write_bytes(kept)
    return "archive"
