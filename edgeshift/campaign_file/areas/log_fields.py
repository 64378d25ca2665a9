"""What the area log-fields says of its campaign files. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.of_area import CampaignFilePart, too_short
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.durations import say_duration
from edgeshift.model.validators import Where

PLACEHOLDER_FIELD = "x-request-id"
"""The field that a new file has, since one without any is refused."""


class LogFieldsFile(CampaignFilePart):
    """Warnings: what is not verified."""

    def warnings(self, spec: CampaignSpec) -> list[str]:
        """One sentence for each thing that may surprise."""
        terms, found = spec.section(LogFieldsSpec), []
        if terms.entries is None:
            found.append("no log entries are read (log_fields.entries): that fields arrive is not verified")
        elif terms.every > terms.verify > timedelta(0):
            found.append(
                f"log_fields.every is {say_duration(terms.every)}, longer than log_fields.verify: no entries"
                " are read in between"
            )
        if terms.unverified == "roll_back":
            found.append("a zone of which no log entries come is rolled back, be it only for want of traffic")
        if terms.job is not None and terms.job.challenge is None:
            found.append(
                "new log jobs have no log_fields.job.challenge: destinations that ask for one will be refused"
            )
        return found

    def new_mistakes(self, spec: CampaignSpec) -> Iterator[tuple[Where, str]]:
        """A change that is given up before anybody looks, and one that is taken back whatever comes."""
        terms = spec.section(LogFieldsSpec)
        yield from too_short(("log_fields", "effect_limit"), terms.effect_limit)
        if terms.unverified == "roll_back" and terms.entries is None:
            yield (
                ("log_fields", "unverified"),
                "is roll_back, and without log_fields.entries every zone would be rolled back; say where"
                " entries are, or write keep",
            )

    def template(self) -> dict[str, Any]:
        """One field of no meaning."""
        return {"log_fields": LogFieldsSpec(request_headers=(PLACEHOLDER_FIELD,))}


PART = LogFieldsFile()
