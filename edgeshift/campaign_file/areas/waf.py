"""What the area waf says of its campaign files. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta

from edgeshift.areas.waf import MANAGED_RULESET, Adjustment
from edgeshift.campaign_file.of_area import CampaignFilePart
from edgeshift.campaign_file.spec import CampaignSpec, ValidationMode
from edgeshift.model.counts import agreed
from edgeshift.model.durations import say_duration
from edgeshift.model.validators import Where

MOST_NAMED = 5
"""Zones that a warning names."""

OVERRIDE_ACTIONS = ("log", "block", "challenge", "js_challenge", "managed_challenge")
"""What an override can have managed rules do (docs/service.md §2.4, observed)."""

LONGEST_MIGRATION = timedelta(hours=1)
"""How long a migration can take to show (docs/service.md §3.2)."""

_IDENTIFIER = re.compile("[0-9a-f]{32}")


class WafFile(CampaignFilePart):
    """Warnings: what the consents allow, and what is sent again too early."""

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
        limit = spec.commit.migration_limit
        if spec.commit.resend_unchanged and limit < LONGEST_MIGRATION:
            found.append(
                f"commit.migration_limit is {say_duration(limit)}, and a migration can take up to an hour: a"
                " step of unknown outcome may be sent again before what was sent first shows"
            )
        return found

    def new_mistakes(self, spec: CampaignSpec) -> Iterator[tuple[Where, str]]:
        """Adjustments that the service refuses, or that would change nothing."""
        for place, adjustment in enumerate(spec.own_list(Adjustment)):
            for key, why in _wrong(adjustment):
                yield ("adjustments", place, key), why


def _wrong(adjustment: Adjustment) -> Iterator[tuple[str, str]]:
    if not _IDENTIFIER.fullmatch(adjustment.ruleset):
        yield "ruleset", f"is no identifier; write 32 digits and letters a to f, such as {MANAGED_RULESET}"
    if adjustment.rule is not None and not adjustment.rule.strip():
        yield "rule", "is empty; write the rule's identifier, or leave it out for the ruleset as a whole"
    if adjustment.action is not None and adjustment.action not in OVERRIDE_ACTIONS:
        *most, last = OVERRIDE_ACTIONS
        yield "action", f"is no action that managed rules can take; it must be {', '.join(most)} or {last}"
    elif why := adjustment.action_in_vain():
        yield "action", why
    if why := adjustment.threshold_in_vain():
        yield "score_threshold", why


def _named(zones: Sequence[str]) -> str:
    return ", ".join(zones[:MOST_NAMED]) + (", …" if len(zones) > MOST_NAMED else "")


PART = WafFile()
