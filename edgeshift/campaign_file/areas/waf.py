"""What the area waf says of its campaign files. Pure."""

from __future__ import annotations

from edgeshift.campaign_file.of_area import CampaignFilePart
from edgeshift.campaign_file.spec import CampaignSpec, ValidationMode

MOST_NAMED = 5
"""Zones that a warning names."""


class WafFile(CampaignFilePart):
    """Warnings: what the consents allow."""

    def warnings(self, spec: CampaignSpec) -> list[str]:
        """One sentence for each thing that may surprise."""
        found = []
        if spec.consents.delete_uri_overrides:
            found.append("URI-based overrides may be deleted, each after a sign-off of its own")
        if zones := spec.consents.unprotected:
            named = ", ".join(zones[:MOST_NAMED]) + (", …" if len(zones) > MOST_NAMED else "")
            found.append(f"{named} may end with a new WAF that runs no rule, each after a sign-off")
        if ValidationMode.ENFORCE in spec.validation.modes:
            found.append(
                "validation enforces: the new WAF can block requests before anyone agreed to its rules"
            )
        return found


PART = WafFile()
