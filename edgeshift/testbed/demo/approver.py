"""A stand-in for the people who sign: it reads what they would read, decides, and keeps its own record of
it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Literal

from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.service import RPCError

from edgeshift.areas import AREAS
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.messages import Answer, CampaignSignOff, Waiting, ZonePhase, ZoneState
from edgeshift.model.fleet import Area, Target, Zone, campaign_id, migration_id
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.operations.campaigns import published
from edgeshift.operations.pen import Pen
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import DOCUMENTS, Proposal, get_document
from edgeshift.testbed.invariants.seen import Signature
from edgeshift.views.words import targets

LOOKS_EVERY = 0.7
MOST_AT_ONCE = 16

Say = Callable[[str], None]
Judge = Callable[[dict[str, Any]], tuple[Choice, str]]
"""What a careful reader says of a proposal's body, and why."""


class Approver:
    """Signs a campaign's proposals by fingerprint, and single zones by their own digest where evidence asks
    for it.

    ``pen``: signs with their key; ``spec``: digest of the campaign's specification. ``judge``: what they
    say of a body. ``leaves``: identifiers of zones whose proposals nobody looks at, so that they go on
    hold. What it signed is in ``signatures``, and the bodies that it read in ``bodies``: a record of its
    own, for the checkers.
    """

    def __init__(
        self,
        client: Client,
        archive: Archive,
        campaign: str,
        targets: list[Target],
        *,
        area: Area,
        judge: Judge,
        by: str,
        pen: Pen,
        spec: str,
        leaves: Iterable[str] = (),
        say: Say = lambda text: None,
    ) -> None:
        self.by = by
        self._pen = pen
        self._spec = spec
        self.signatures: list[Signature] = []
        self.bodies: list[dict[str, Any]] = []
        self._client = client
        self._archive = archive
        self._campaign = campaign
        self._targets = targets
        self._area = area
        self._judge = judge
        self._leaves = frozenset(leaves)
        self._say = say
        self._done: set[str] = set()

    async def work(self) -> None:
        """Look at what waits, again and again, until cancelled or until the campaign is over."""
        more = True
        while more:
            await asyncio.sleep(LOOKS_EVERY)
            more = await self._look()

    async def _look(self) -> bool:
        """Look once; whether there may be more to come."""
        handle = self._client.get_workflow_handle(campaign_id(self._campaign))
        try:
            described = await handle.describe()
        except RPCError:
            return True
        if described.close_time is not None:
            return False
        if (summary := await published(described)) is None:
            return True
        for waiting in summary.waiting:
            if waiting.zones > waiting.separate and waiting.fingerprint not in self._done:
                await self._read_shape(handle, waiting)
        if any(waiting.separate for waiting in summary.waiting):
            await self._read_single_zones()
        return True

    # --- proposals that many zones share

    async def _read_shape(self, campaign: WorkflowHandle[Any, Any], waiting: Waiting) -> None:
        """Read the proposal of one zone that has this fingerprint, and sign the fingerprint."""
        zone = self._targets[waiting.example].zone
        state = await self._state(zone)
        if state is None or state.phase is not ZonePhase.AWAITING_SIGN_OFF:
            return
        if state.fingerprint != waiting.fingerprint:
            return
        if zone.id in self._leaves:
            self._done.add(waiting.fingerprint)
            self._say(
                f"{self.by} leaves {waiting.fingerprint[:10]} ({zone.name}) unsigned: it will go on hold"
            )
            return
        choice, reason = self._judge(await self._body(state))
        message = CampaignSignOff(
            choice=choice, fingerprints=(waiting.fingerprint,), by=self.by, reason=reason
        )
        signed_at = datetime.now(UTC)
        await self._pen.fingerprints(
            self._campaign,
            self._spec,
            choice,
            step=waiting.step,
            fingerprints=(waiting.fingerprint,),
            reason=reason,
        )
        try:
            await campaign.execute_update("sign_off", message, result_type=Answer)
        except (WorkflowUpdateFailedError, RPCError) as problem:
            self._say(f"{self.by}: {waiting.fingerprint[:10]} could not be signed: {problem}")
            return
        self._done.add(waiting.fingerprint)
        self._record(choice, waiting.fingerprint, signed_at)
        zones = targets(waiting.zones, self._area)
        self._say(f"{self.by} {_past(choice)} {waiting.fingerprint[:10]} for {zones}: {reason}")

    # --- zones whose evidence did not pass

    async def _read_single_zones(self) -> None:
        query = (
            f"WorkflowType = '{AREAS[self._area].workflow}' AND ExecutionStatus = 'Running'"
            f" AND EdgeshiftCampaign = '{self._campaign}' AND EdgeshiftPhase = 'awaiting_sign_off'"
        )
        known = {target.zone.id: target.zone for target in self._targets}
        found = [execution.id.split("/")[1] async for execution in self._client.list_workflows(query)]
        left = [known[zone] for zone in found if zone not in self._done and zone not in self._leaves]
        for place in range(0, len(left), MOST_AT_ONCE):
            await asyncio.gather(*(self._read_zone(zone) for zone in left[place : place + MOST_AT_ONCE]))

    async def _read_zone(self, zone: Zone) -> None:
        """Read the evidence of one zone, and sign its own digest by the plain signal."""
        state = await self._state(zone)
        if state is None or state.phase is not ZonePhase.AWAITING_SIGN_OFF:
            return
        if state.evidence_verdict in (None, EvidenceVerdict.PASS):
            return
        await self._body(state)
        kind = DOCUMENTS.of(self._area).evidence
        evidence = await get_document(self._archive, kind, state.evidence) if kind else None
        failed = state.evidence_verdict is EvidenceVerdict.FAIL
        choice = Choice.REJECT if failed else Choice.APPROVE
        seen = str(getattr(evidence, "why", ""))
        why = seen or f"the evidence is {state.evidence_verdict}"
        reason = why if failed else f"quiet zone, looked at by hand: {why}"
        decision = Decision(choice=choice, digest=state.digest, by=self.by, reason=reason[:200])
        signed_at = datetime.now(UTC)
        await self._pen.proposal(self._campaign, self._spec, state, choice, reason[:200])
        handle = self._client.get_workflow_handle(migration_id(zone, self._area))
        await handle.signal("sign_off", decision)
        self._done.add(zone.id)
        self._record(choice, state.digest, signed_at, zone.id)
        self._say(f"{self.by} {_past(choice)} {state.zone.name} by itself: {reason}")

    # --- reading and recording

    async def _state(self, zone: Zone) -> ZoneState | None:
        """What the zone says of itself; None where it has ended meanwhile."""
        handle = self._client.get_workflow_handle(migration_id(zone, self._area))
        try:
            state: ZoneState = await handle.query("state", result_type=ZoneState)
        except RPCError:
            return None
        return state

    async def _body(self, state: ZoneState) -> dict[str, Any]:
        """The body that would be sent, as the archive has it."""
        proposal = await get_document(self._archive, Proposal, state.proposal)
        self.bodies.append(proposal.body)
        return proposal.body

    def _record(self, choice: Choice, digest: str, at: datetime, zone: str | None = None) -> None:
        said: Literal["approve", "reject"] = "approve" if choice is Choice.APPROVE else "reject"
        self.signatures.append(Signature(by=self.by, choice=said, digest=digest, at=at, zone=zone))


def _past(choice: Choice) -> str:
    return "approves" if choice is Choice.APPROVE else "rejects"
