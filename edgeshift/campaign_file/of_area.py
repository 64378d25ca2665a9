"""What an area says of its campaign files (edgeshift/areas/parts.py). Pure."""

from __future__ import annotations

from typing import Any

from edgeshift.areas.parts import PartOf
from edgeshift.campaign_file.spec import CampaignSpec


class CampaignFilePart:
    """One area's part of campaign files."""

    def warnings(self, spec: CampaignSpec) -> list[str]:
        """One sentence for each thing that the area allows and that may surprise."""
        return []

    def template(self) -> dict[str, Any]:
        """The sections of a new file whose defaults would be refused, by their keys."""
        return {}


CAMPAIGN_FILE = PartOf("campaign_file", CampaignFilePart)
