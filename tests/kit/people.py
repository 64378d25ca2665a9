"""What the people of a scene say, with a record of each word."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Literal

from edgeshift.messages import (
    Again,
    Answer,
    CampaignResult,
    CampaignSignOff,
    SupportResolved,
)
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.testbed.invariants.seen import Signature, Word
from tests.kit.campaign import CampaignScene
from tests.kit.names import APPROVER, OPERATOR


class PeopleScene(CampaignScene):
    """A campaign with people."""

    async def sign(
        self,
        fingerprints: Iterable[str],
        choice: Choice = Choice.APPROVE,
        by: str = APPROVER,
        reason: str = "",
    ) -> Answer:
        """Decide on fingerprints by the campaign's update."""
        message = CampaignSignOff(choice=choice, fingerprints=tuple(fingerprints), by=by, reason=reason)
        at = self.now()
        answer: Answer = await self.campaign.execute_update("sign_off", message, result_type=Answer)
        for fingerprint in message.fingerprints:
            self.signatures.append(Signature(by=by, choice=choice.value, digest=fingerprint, at=at))
        return answer

    async def sign_zone(
        self,
        name: str,
        choice: Choice = Choice.APPROVE,
        by: str = APPROVER,
        digest: str | None = None,
        *,
        plain: bool = True,
    ) -> None:
        """Decide on one zone's digest, by the plain signal or by the update."""
        found = digest or (await self.state(name)).digest
        at = self.now()
        decision = Decision(choice=choice, digest=found, by=by, reason="read")
        if plain:
            await self.zone(name).signal("sign_off", decision)
        else:
            await self.zone(name).execute_update("decide", decision, result_type=Answer)
        if choice is Choice.REJECT:
            # An approval may be acted upon before it is answered; a rejection holds from its answer on.
            at = self.now()
        self.signatures.append(
            Signature(by=by, choice=choice.value, digest=found, at=at, zone=self.zone_id(name))
        )

    async def sign_what_waits(self) -> bool:
        """Approve every fingerprint and every single zone that waits; whether the campaign is still open."""
        if await self.is_closed():
            return False
        summary = await self.summary()
        waiting = [item for item in summary.waiting if item.zones > item.separate]
        signed = {signature.digest for signature in self.signatures}
        if fresh := [item.fingerprint for item in waiting if item.fingerprint not in signed]:
            await self.sign(fresh)
        for target in self.targets if any(item.separate for item in summary.waiting) else ():
            try:
                state = await self.state(target.zone.name)
            except Exception:
                continue
            if state.phase == "awaiting_sign_off" and state.digest not in signed:
                await self.sign_zone(target.zone.name)
        return summary.state != "closed"

    async def sign_everything(self, within: float = 90.0) -> CampaignResult:
        """Approve whatever comes to wait, until the campaign closes; its end."""

        async def work() -> None:
            open_still = True
            while open_still:
                await asyncio.sleep(0.2)
                open_still = await self.sign_what_waits()

        await asyncio.wait_for(work(), within)
        return await self.result()

    async def again(self, verb: Literal["retry", "reopen"], *names: str) -> Answer:
        """Begin zones again, and keep a record of it."""
        reopens, at = verb == "reopen", self.now()
        self.words += [Word(by=OPERATOR, at=at, zone=self.zone_id(name), reopens=reopens) for name in names]
        message = Again(by=OPERATOR, indexes=tuple(self.index(name) for name in names))
        answer: Answer = await self.campaign.execute_update(verb, message, result_type=Answer)
        return answer

    async def resolve_support(self, name: str) -> None:
        """Tell a zone that support has fixed it."""
        self.words.append(Word(by="sam", at=self.now(), zone=self.zone_id(name)))
        await self.zone(name).signal("support_resolved", SupportResolved(by="sam"))
