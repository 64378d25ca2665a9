"""Forgeries of which attempt and run something is sent in: what has been sent before is sent once more, or
something that nobody has begun. Each must lead to nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from edgeshift.authority.editing import RootsEditor
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Step
from edgeshift.model.fleet import MOST_ATTEMPTS
from edgeshift.model.sign_off import Choice
from edgeshift.stores.documents import put_document
from tests.forgeries import lists
from tests.forgeries.doors import Guarded
from tests.forgeries.kinds import FORGERIES, TOGETHER, alone

__all__ = ["FORGERIES", "TOGETHER", "lists"]
"""All there are, these among them."""


async def _signed_hours_ago(door: Guarded) -> None:
    """The fingerprint was approved, and the zone then changed by that."""
    now = datetime.now(UTC)
    await door.begin(issued=now - timedelta(hours=9))
    await door.approve_alike(issued=now - timedelta(hours=8))
    await door.sent_before(f"{door.campaign}-1", 6)


@alone
async def an_approval_of_what_was_rolled_back(door: Guarded) -> None:
    """The target is as it was before, and the permit has another name."""
    await _signed_hours_ago(door)
    await door.sent_before(f"{door.campaign}-back", 5, step=Step.ROLL_BACK.value)


@alone
async def an_attempt_that_nobody_has_begun(door: Guarded) -> Guarded:
    """A forged ``retry`` of a zone whose change nobody has seen."""
    await _signed_hours_ago(door)
    return door.with_start(attempt=2)


@alone
async def an_attempt_that_an_earlier_word_began(door: Guarded) -> Guarded:
    """An operator has signed that the attempt before it begins."""
    await _signed_hours_ago(door)
    await door.again("retry", issued=datetime.now(UTC) - timedelta(hours=7))
    return door.with_start(attempt=2)


@alone
async def a_retry_of_another_start(door: Guarded) -> Guarded:
    await _signed_hours_ago(door)
    await door.again("retry", start="6" * 64)
    return door.with_start(attempt=2)


async def _approved_hours_ago(door: Guarded) -> CampaignSpec:
    """The zone was approved, and nothing sent; under which file."""
    now = datetime.now(UTC)
    await door.begin(issued=now - timedelta(hours=5))
    await door.approve(issued=now - timedelta(hours=4))
    return await door.gate.connections.spec(door.gate.start.spec)


@alone
async def an_approval_under_the_file_of_before(door: Guarded) -> None:
    """The campaign was started again since, by a file that asks for two people; messages name the other."""
    spec = await _approved_hours_ago(door)
    two = spec.model_copy(update={"sign_off": spec.sign_off.model_copy(update={"required": 2})})
    await door.begin(
        spec=await put_document(door.archive, two), issued=datetime.now(UTC) - timedelta(hours=1)
    )


@alone
async def an_approval_under_the_file_of_before_whoever_has_left(door: Guarded) -> None:
    """The same, and the key of whoever started it again was revoked since."""
    spec = await _approved_hours_ago(door)
    out = spec.targets.model_copy(update={"exclude": (door.gate.zone.name,)})
    stored = await put_document(door.archive, spec.model_copy(update={"targets": out}))
    door.grant("grace", "starter")
    await door.begin("grace", spec=stored, issued=datetime.now(UTC) - timedelta(hours=1))
    RootsEditor(door.keyring.roots).revoke("grace")


async def _approved_since(door: Guarded) -> None:
    """What was rolled back has been approved once more, as for another zone of the fingerprint; an operator
    has signed that all begin again.
    """
    await an_approval_of_what_was_rolled_back(door)
    await door.again("retry", issued=datetime.now(UTC) - timedelta(hours=4))
    await door.approve_alike()


@alone
async def an_attempt_before_the_first(door: Guarded) -> Guarded:
    """Of which nobody has to sign that it begins, and which has sent nothing yet."""
    await _approved_since(door)
    return door.with_start(attempt=0)


@alone
async def an_attempt_after_the_last(door: Guarded) -> Guarded:
    """As far as a campaign counts: no result could be of it."""
    await _approved_since(door)
    return door.with_start(attempt=MOST_ATTEMPTS + 1)


@alone
async def a_run_without_a_name(door: Guarded) -> Guarded:
    """What is recorded of it keeps the zone's own attempt from being sent."""
    await door.begin()
    await door.approve()
    return door.with_start(origin="", campaign_run="")


@alone
async def a_run_of_two_words(door: Guarded) -> Guarded:
    await door.begin()
    await door.approve()
    return door.with_start(origin="a run", campaign_run="a run")


@alone
async def a_rejection_under_a_file_by_which_each_zone_is_signed_for_itself(door: Guarded) -> Guarded:
    """The campaign was started again by one: nobody has reopened the zone."""
    await door.begin(issued=datetime.now(UTC) - timedelta(hours=1))
    await door.approve_alike("grace", choice=Choice.REJECT)
    spec = await door.gate.connections.spec(door.gate.start.spec)
    alone = spec.model_copy(update={"sign_off": spec.sign_off.model_copy(update={"per": "zone"})})
    again = door.with_start(spec=await put_document(door.archive, alone))
    await again.begin()
    await again.approve("ada")
    return again
