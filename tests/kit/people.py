"""What the people of a scene say, with a record of each word."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Literal

from temporalio.client import WorkflowQueryFailedError
from temporalio.service import RPCError

from edgeshift.messages import (
    Again,
    Answer,
    CampaignResult,
    CampaignSignOff,
    Step,
    SupportResolved,
    WaitingAsked,
    WaitingFound,
    ZoneState,
)
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.testbed.invariants.seen import Signature, Word
from tests.kit.campaign import CampaignScene
from tests.kit.names import OPERATOR
from tests.kit.signing import insisted

SUPPORT = "sam"
"""Who says that support has fixed a zone."""

LOOK_SECONDS = 5.0
"""How long a person waits to see what a zone proposes, before they sign what they saw last."""


class PeopleScene(CampaignScene):
    """A campaign with people. Where they have keys, they record what they sign before they say it."""

    async def sign(
        self,
        fingerprints: Iterable[str],
        choice: Choice = Choice.APPROVE,
        by: str | None = None,
        reason: str = "",
        wave: int | None = None,
    ) -> Answer:
        """Decide on fingerprints by the campaign's update, for all waves or for one; where nobody is named,
        each of the approvers that it takes. The last answer.
        """
        some, people = tuple(fingerprints), self._deciding(choice, by)
        await self.sign_by_key(some, choice, people, reason)
        at = self.now()
        for person in people:
            message = CampaignSignOff(choice=choice, fingerprints=some, by=person, reason=reason, wave=wave)
            answer: Answer = await self.campaign.execute_update("sign_off", message, result_type=Answer)
            self.signatures += [
                Signature(by=person, choice=choice.value, digest=fingerprint, at=at) for fingerprint in some
            ]
        return answer

    def _deciding(self, choice: Choice, by: str | None) -> tuple[str, ...]:
        """Whoever is named; or as many approvers as it takes, and one to reject."""
        if by is not None:
            return (by,)
        return self.approvers if choice is Choice.APPROVE else self.approvers[:1]

    async def sign_by_key(
        self, fingerprints: tuple[str, ...], choice: Choice, people: Iterable[str], reason: str = ""
    ) -> None:
        """Record the signatures of these people under a decision on fingerprints, and tell nobody."""
        if self.keys is None:
            return
        assert self.start is not None
        asked = await self.campaign.query("waiting", WaitingAsked(), result_type=WaitingFound)
        steps = {group.fingerprint: group.step for group in WaitingFound.model_validate(asked).waiting}
        by_step: dict[Step, list[str]] = {}
        for fingerprint in fingerprints:
            by_step.setdefault(steps.get(fingerprint, Step.COMMIT), []).append(fingerprint)
        for person in people:
            for step, some in by_step.items():
                signing = partial(self.keys.anybodys(self.archive, person).fingerprints, self.spec.name)
                await insisted(
                    partial(signing, self.start.spec, choice, step=step, fingerprints=some, reason=reason)
                )

    async def sign_zone(
        self,
        name: str,
        choice: Choice = Choice.APPROVE,
        by: str | None = None,
        digest: str | None = None,
        *,
        plain: bool = True,
    ) -> None:
        """Decide on one zone's digest, by the plain signal or by the update; where nobody is named, each of
        the approvers that it takes.
        """
        people = self._deciding(choice, by)
        found = digest or (await self.state(name)).digest
        await self.sign_zone_by_key(name, found, choice, people)
        at = self.now()
        for person in people:
            decision = Decision(choice=choice, digest=found, by=person, reason="read")
            if plain:
                await self.zone(name).signal("sign_off", decision)
            else:
                await self.zone(name).execute_update("decide", decision, result_type=Answer)
            if choice is Choice.REJECT:
                # An approval may be acted upon before it is answered; a rejection holds from its answer on.
                at = self.now()
            self.signatures.append(
                Signature(by=person, choice=choice.value, digest=found, at=at, zone=self.zone_id(name))
            )

    async def sign_zone_by_key(self, name: str, digest: str, choice: Choice, people: Iterable[str]) -> None:
        """Record the signatures of these people under a decision on one zone's digest, and tell nobody."""
        if self.keys is None or (seen := await self._seen(name, digest)) is None:
            return
        assert self.start is not None
        for person in people:
            signing = partial(
                self.keys.anybodys(self.archive, person).proposal, self.spec.name, self.start.spec
            )
            await insisted(partial(signing, seen, choice, "read"))

    async def _seen(self, name: str, digest: str) -> ZoneState | None:
        """What a person has seen who signs this digest of a zone: as it is now, or was when they looked last;
        None where nobody has ever seen it.
        """
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                found = await self.state(name)
        except (TimeoutError, RPCError, WorkflowQueryFailedError):
            if name not in self.looked:
                return None
            found = self.looked[name]
        if found.digest == digest:
            return found
        return found.model_copy(update={"digest": digest, "proposal": digest})

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
        await self._sign_again(OPERATOR, verb, *names)
        message = Again(by=OPERATOR, indexes=tuple(self.index(name) for name in names))
        answer: Answer = await self.campaign.execute_update(verb, message, result_type=Answer)
        return answer

    async def resolve_support(self, name: str) -> None:
        """Tell a zone that support has fixed it."""
        self.words.append(Word(by=SUPPORT, at=self.now(), zone=self.zone_id(name)))
        await self._sign_again(SUPPORT, "support-resolved", name)
        await self.zone(name).signal("support_resolved", SupportResolved(by=SUPPORT))

    async def _sign_again(
        self, by: str, verb: Literal["retry", "reopen", "support-resolved"], *names: str
    ) -> None:
        if self.keys is None:
            return
        assert self.start is not None
        signing = partial(self.keys.anybodys(self.archive, by).again, self.spec.name, self.start.spec, verb)
        await insisted(partial(signing, zones=[self.zone_id(name) for name in names]))
