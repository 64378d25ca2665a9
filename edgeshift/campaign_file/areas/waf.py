"""What the area waf says of its campaign files. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edgeshift.areas.waf import Adjustment
from edgeshift.campaign_file.of_area import CampaignFilePart
from edgeshift.campaign_file.spec import CampaignSpec, ValidationMode
from edgeshift.model.counts import agreed
from edgeshift.model.validators import Where

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
            found.append(f"{_named(zones)} may end with a new WAF that runs no rule, each after a sign-off")
        if zones := spec.consents.replaced_rules:
            loses = agreed(len(zones), "loses", "lose")
            found.append(
                f"{_named(zones)} {loses} rules of the new WAF that edgeshift did not write: an Enterprise"
                " zone in its validation, before anyone signs"
            )
        if ValidationMode.ENFORCE in spec.validation.modes:
            found.append(
                "validation enforces: the new WAF can block requests before anyone agreed to its rules"
            )
        return found

    def new_mistakes(self, spec: CampaignSpec) -> Iterator[tuple[Where, str]]:
        """Adjustments that would change nothing."""
        for place, adjustment in enumerate(spec.own_list(Adjustment)):
            if why := adjustment.threshold_in_vain():
                yield ("adjustments", place, "score_threshold"), why


def _named(zones: Sequence[str]) -> str:
    return ", ".join(zones[:MOST_NAMED]) + (", …" if len(zones) > MOST_NAMED else "")


PART = WafFile()
