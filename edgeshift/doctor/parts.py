"""What the doctor asks of one area (edgeshift/areas/parts.py)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from edgeshift.areas.parts import PartOf
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.check import Check
from edgeshift.model.fleet import Zone
from edgeshift.service_api import ServiceClient

Reads = Mapping[str, Callable[[], Awaitable[object]]]
"""What is read, by what it is called."""


class DoctorPart:
    """One area's part of the doctor. ``rights``: what a credential lacks that cannot read it all."""

    rights: str = "give it permission to read and edit what the campaign changes"

    edits: str = ""
    """What the service calls the permission by which a zone is changed, where it lists those of a credential
    with a zone (``#waf``); empty where it does not list it.
    """

    def readings(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> Reads:
        """What a credential has to be able to read of a zone. Nothing is asked before it is awaited."""
        return {}

    async def checks(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> list[Check]:
        """What the area needs beside permissions, each by really using it; nothing is written."""
        return []

    async def contradictions(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> list[str]:
        """What the service's answers of a zone have against the campaign's profile, one clause each. Raises
        ServiceError.
        """
        return []


DOCTOR = PartOf("doctor", DoctorPart)
