"""What the area esc says of its campaign files. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from edgeshift.areas.esc.terms import EscSpec
from edgeshift.campaign_file.of_area import CampaignFilePart, too_short
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.durations import say_duration
from edgeshift.model.validators import Where


class EscFile(CampaignFilePart):
    """Warnings: what the probe does not see, and what nobody watches."""

    def warnings(self, spec: CampaignSpec) -> list[str]:
        """One sentence for each thing that may surprise."""
        terms, found = spec.section(EscSpec), []
        if terms.scope == "account":
            found.append(
                "a change of an account is one of all its zones at once: no zone of it comes as a canary"
            )
        if not (terms.probe.urls or terms.probe.sitemap or terms.probe.links):
            found.append(
                "of each zone the root page alone is probed: neither urls, sitemap nor links say more"
            )
        if terms.probe.method == "HEAD":
            found.append("the probe asks by HEAD: what changes in a body is not seen")
        if terms.tolerance:
            found.append(
                f"up to {terms.tolerance:.0%} of a scope's URLs may fail without esc being turned on again"
            )
        if terms.every > terms.observe > timedelta(0):
            found.append(
                f"esc.every is {say_duration(terms.every)}, longer than esc.observe: nothing is asked in"
                " between"
            )
        if not terms.observe:
            found.append("nobody watches what becomes of a scope after esc was turned off: esc.observe is 0s")
        return found

    def new_mistakes(self, spec: CampaignSpec) -> Iterator[tuple[Where, str]]:
        """A change that is given up before anybody looks."""
        yield from too_short(("esc", "effect_limit"), spec.section(EscSpec).effect_limit)


PART = EscFile()
