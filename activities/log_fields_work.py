"""The part of log-fields in the shared activities (docs/service.md §2.2, §2.3, §4.2)."""

from __future__ import annotations

from typing import Any

from activities.area_work import Step
from activities.connections import Connections
from edgeshift.campaign_spec import CampaignSpec
from edgeshift.fleet import Target, Zone, ZoneOutcome
from edgeshift.messages import Change, ChangeResult, ZoneAssessment
from edgeshift.service_api import ServiceClient


class LogFieldsWork:
    """Assessing, sending and reading zones of the area log-fields."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def assess(
        self, spec_digest: str, spec: CampaignSpec, target: Target, line: ZoneAssessment
    ) -> ZoneAssessment:
        """A plan's line for one zone, by reading alone."""
        raise NotImplementedError

    def check(self, change: Change, body: dict[str, Any]) -> None:
        """What is never sent, whoever signed it."""
        raise NotImplementedError

    async def send(self, step: Step) -> ChangeResult:
        """Write the rules and the log jobs, or take back what was written."""
        raise NotImplementedError

    async def standing(
        self, client: ServiceClient, spec: CampaignSpec, zone: Zone
    ) -> tuple[ZoneOutcome | None, str]:
        """By the zone's ruleset and jobs."""
        raise NotImplementedError
