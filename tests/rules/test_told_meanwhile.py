"""What a campaign tells zones of rejections, where these move on while others are told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from edgeshift.campaign.target_states import TargetState
from edgeshift.model.sign_off import Choice, Decision
from tests.rules.ledger_kit import NOW, OTHER, SHAPE, awaiting, ledger, place, said
from workflows.campaign.messenger import Messenger


async def test_a_zone_that_was_begun_again_meanwhile_is_not_taken_for_one_that_waits() -> None:
    """Two fingerprints were rejected. While the zones of one are told, a zone of the other one is reopened
    and begins: it keeps its place in the window.
    """
    found = ledger()
    for index, fingerprint in ((2, SHAPE), (3, OTHER)):
        found.hear(awaiting(index=index, fingerprint=fingerprint), NOW)
        rejection = Decision(choice=Choice.REJECT, digest=fingerprint, by="ann", at=NOW)
        said(found, rejection)
        found.places[index] = TargetState.REJECTING
    told: list[int] = []

    async def tell(signal: str, indexes: list[int], **message: Any) -> None:
        told.extend(indexes)
        found.places[3] = TargetState.REJECTED
        found.again(3)
        found.begin(3)

    state: Any = SimpleNamespace(
        ledger=found,
        aborted=None,
        refusal=lambda decision: None,
        apply_book=lambda indexes: None,
        changed=lambda: None,
    )
    batches: Any = SimpleNamespace(tell=tell)
    await Messenger(state, batches).tell_of_rejections()
    assert told == [2]
    assert (place(found, 2), place(found)) == (TargetState.STOPPING, TargetState.WORKING)
