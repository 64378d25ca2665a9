"""What the shared activities need of each area: how it is assessed, checked, sent, and read afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from activities.change.fence import Fence
from activities.change.not_sent import NotSent
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Change, ChangeResult, ZoneAssessment
from edgeshift.model.fleet import Target, Zone, ZoneOutcome
from edgeshift.service_api import ServiceClient

T = TypeVar("T")


@dataclass(frozen=True)
class FencedStep:
    """One mutating step on its way to the service: the change, its fence, the signed body, the client."""

    change: Change
    fence: Fence
    body: dict[str, Any]
    client: ServiceClient

    @property
    def zone(self) -> Zone:
        """The target of the step."""
        return self.change.start.target.zone


async def in_time(step: FencedStep, reading: Awaitable[T], what: str = "a fresh reading") -> T:
    """A reading that precedes a request, within what is left of the step's time. Raises NotSent."""
    try:
        async with asyncio.timeout(max(0.0, step.fence.time.left().total_seconds())):
            return await reading
    except TimeoutError:
        raise NotSent(f"{what} did not come in time", turn=False) from None


class AreaWork(Protocol):
    """One area's part of the shared activities."""

    def targets(
        self, spec: CampaignSpec, chosen: Sequence[Zone], zones: Sequence[Zone], names: Mapping[str, str]
    ) -> list[Zone]:
        """The targets of a campaign that names the ``chosen`` of all ``zones`` that its credentials reach;
        ``names``: of their accounts. Raises ApplicationError (BadInput) where the file cannot mean them.
        """
        return list(chosen)

    async def assess(
        self, spec_digest: str, spec: CampaignSpec, target: Target, line: ZoneAssessment
    ) -> ZoneAssessment:
        """A plan's line for one target, by reading alone. Raises ServiceError."""
        ...

    async def as_sent(self, change: Change) -> Change:
        """A rollback of what is on record as sent, where it was asked for of what would be proposed by now:
        nothing that was never sent can be undone. Raises ArchiveError.
        """
        return change

    async def refuse_unfounded(self, change: Change) -> None:
        """Before anything is asked of people's signatures: raises NotSent where no worker has seen what the
        proposal rests on, though what people signed may stand. Raises ArchiveError.
        """
        return

    def check(self, change: Change, body: dict[str, Any]) -> None:
        """The area's own rules of what may be sent. Raises NotSent."""
        ...

    async def send(self, step: FencedStep) -> ChangeResult:
        """Make the step. Raises NotSent where it was decided, before anything was sent, not to send."""
        ...

    async def standing(
        self, client: ServiceClient, spec: CampaignSpec, zone: Zone, *, urgent: bool = False
    ) -> tuple[ZoneOutcome | None, str]:
        """Where the service shows a target whose workflow closed without a word: the outcome, if it shows
        one, and what it shows, briefly. ``urgent``: other targets wait until it was read. Raises
        ServiceError.
        """
        ...
