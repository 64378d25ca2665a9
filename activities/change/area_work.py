"""What the shared activities need of each area: how it is assessed, checked, sent, and read afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from activities.change.fence import Fence
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Change, ChangeResult, ZoneAssessment
from edgeshift.model.fleet import Target, Zone, ZoneOutcome
from edgeshift.service_api import ServiceClient


@dataclass(frozen=True)
class Step:
    """One mutating step on its way to the service: the change, its fence, the signed body, the client."""

    change: Change
    fence: Fence
    body: dict[str, Any]
    client: ServiceClient

    @property
    def zone(self) -> Zone:
        """The target of the step."""
        return self.change.start.target.zone


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

    def check(self, change: Change, body: dict[str, Any]) -> None:
        """The area's own rules of what may be sent. Raises NotSent."""
        ...

    async def send(self, step: Step) -> ChangeResult:
        """Make the step. Raises NotSent where it was decided, before anything was sent, not to send."""
        ...

    async def standing(
        self, client: ServiceClient, spec: CampaignSpec, zone: Zone
    ) -> tuple[ZoneOutcome | None, str]:
        """Where the service shows a target whose workflow closed without a word: the outcome, if it shows
        one, and what it shows, briefly. Raises ServiceError.
        """
        ...
