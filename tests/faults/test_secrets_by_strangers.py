"""A test secret needs nobody's signature. So whoever has a worker set one gets no more than what the campaign
does by itself before a probe: never another secret in the place of one that a scope has.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.areas import esc
from edgeshift.messages import Change, Prepare, Step
from edgeshift.model.digests import digest, fingerprint
from edgeshift.runtime.queues import Queue
from edgeshift.stores.documents import Proposal
from edgeshift.stores.documents.proposals import put_proposal
from tests.faults.strangers_kit import stranger
from tests.forgeries.running.attack import Attack, requests
from tests.forgeries.running.foreign import scheduled
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.stages import esc_stage, esc_zone

pytestmark = pytest.mark.embedded

HAS_ONE = "the scope has a secret, or may have one"


async def _asked(a: Attack, **proposed: str) -> dict[str, Any]:
    """What a worker says that is asked to set a test secret, as a step of what the zone proposes."""
    said = {name: getattr(a.state, name) for name in ("snapshot", "proposal", "digest", "fingerprint")}
    change = Change(
        start=await a.started_with(),
        step=Step.SET_SECRET,
        permit=a.permit(Step.SET_SECRET),
        window=timedelta(seconds=8),
        **{**said, **proposed},
    )
    _, told = await scheduled(a, "change_zone", change, Queue.CHANGES)
    assert told is not None
    return dict(told)


@pytest.mark.parametrize("own", [True, False])
async def test_a_secret_that_a_scope_has_is_not_overwritten(
    own: bool, temporal_client: Client, tmp_path: Path
) -> None:
    """Its customer's, or the campaign's own: by the step of what people are asked to sign, or by a proposal
    that the stranger has laid into the archive.
    """
    async with esc_stage(temporal_client, tmp_path, esc_zone("a", own=own), authority=ONE) as stage:
        await stage.waits("a")
        a = await stranger(stage, "a")
        before = [one.call for one in await requests(stage) if one.mutates]
        told = await _asked(a)
        assert told["status"] == "nothing_happened", told
        assert told["reason"] == "the body does not set a test secret", told
        body = esc.secret_body(a.state.zone)
        planted = await put_proposal(a.archive, Proposal(body=body))
        told = await _asked(
            a, proposal=planted, digest=digest(body), fingerprint=fingerprint(body, a.state.zone)
        )
        assert told["status"] == "nothing_happened" and told["reason"] == HAS_ONE, told
        assert [one.call for one in await requests(stage) if one.mutates] == before
        assert len(before) == (0 if own else 1)


async def test_a_secret_that_does_not_show_since_the_scope_is_off_is_not_overwritten(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Off, the setting shows no secret: by a genuine snapshot of that the scope has none."""
    async with esc_stage(
        temporal_client, tmp_path, esc_zone("a", own=True), esc_zone("b"), authority=ONE, paced=True
    ) as stage:
        await stage.waits("a")
        a = await stranger(stage, "a")
        await stage.play.sign_zone(stage.name("a"), digest=a.state.digest)
        await stage.play.until(lambda found: found.places.get("settled") == 1, 60)
        _, seen = await scheduled(a, "prepare_esc_scope", Prepare(start=await a.started_with()), Queue.LONG)
        assert seen is not None and seen["verdict"] == "already_settled", seen
        before = [one.call for one in await requests(stage) if one.mutates]
        body = esc.secret_body(a.state.zone)
        told = await _asked(
            a,
            snapshot=seen["snapshot"],
            proposal=await put_proposal(a.archive, Proposal(body=body)),
            digest=digest(body),
            fingerprint=fingerprint(body, a.state.zone),
        )
        assert (told["status"], told["reason"]) == ("nothing_happened", HAS_ONE), told
        assert [one.call for one in await requests(stage) if one.mutates] == before
