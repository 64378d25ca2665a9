"""The profiles that there are, as data. No other module has one of these numbers
(tests/rules/test_profiles.py).
"""

from __future__ import annotations

from datetime import date
from types import MappingProxyType

from edgeshift.profiles.profile import RateFacts, ScoreSetting, ServiceProfile

SPECIFICATION = ServiceProfile(
    name="specification",
    title="the provider's specification",
    # Its newest dated statement is about the second phase of the migration, in September 2022; what public
    # material adds to it is of 2023.
    as_of=date(2023, 1, 1),
    most_firewall_rules=200,
    longest_expression=4 * 1024,
    most_log_fields=40,
    most_log_data=8 * 1024,
    longest_esc_secret=100,
    esc_removal=date(2024, 1, 1),
    sensitivities=(
        ScoreSetting("default", 2, 40),
        ScoreSetting("high", 2, 40),
        ScoreSetting("medium", 2, 25),
        ScoreSetting("low", 2, 40),
    ),
    log_job_parameters=("logpull_options",),
    response_headers="original",
    raw_response_fields=False,
    wildcard=False,
    dry_run=False,
    rate=RateFacts(requests=1200, window_seconds=300, block_seconds=300, counts_by="user"),
    source={
        "sensitivities": "§3.2: PL2 always; the thresholds are from one page of the provider",
        "rate": "observed; the specification shows no rate limit",
    },
)
"""The provider's specification, and what docs/service.md calls observed where it says nothing."""

PUBLIC_2025_04 = SPECIFICATION.model_copy(
    update={
        "name": "public-2025-04",
        "title": "later public changes",
        "as_of": date(2025, 4, 30),
        "esc_removal": date(2025, 1, 1),
        "most_log_fields": None,
        "most_log_data": None,
        "sensitivities": (
            ScoreSetting("default", 2, 40),
            ScoreSetting("high", 2, 40),
            ScoreSetting("medium", 1, 25),
            ScoreSetting("low", 1, 40),
        ),
        "log_job_parameters": ("logpull_options", "output_options"),
        "response_headers": "transformed",
        "raw_response_fields": True,
        "wildcard": True,
        "dry_run": True,
        "rate": SPECIFICATION.rate.model_copy(update={"counts_by": "credential", "per_address": 200}),
        "source": {
            "sensitivities": "the provider's later migration guide",
            "esc_removal": "the provider's deprecation notice",
            "most_log_fields": "documentation change 21408 (April 2025)",
            "most_log_data": "documentation change 21408 (April 2025)",
            "response_headers": "documentation changes 21774 and 22266 (since 2025-04-18)",
            "raw_response_fields": "documentation changes 21774 and 22266 (since 2025-04-18)",
            "wildcard": "the provider's announcement of 2024-08-22",
            "log_job_parameters": "documentation change 15707, provider issue 2173",
            "rate": "the provider's page on API limits; clicks in the dashboard count too",
            "dry_run": "the provider's documentation of rulesets",
        },
    }
)
"""What public documents said later. Everything else is as in the specification."""

PROFILES = MappingProxyType({one.name: one for one in (SPECIFICATION, PUBLIC_2025_04)})
"""Every profile by its name."""

DEFAULT = SPECIFICATION.name
"""The profile of a campaign, and of a simulated service, that names none."""
