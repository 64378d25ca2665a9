"""What a campaign file allows and a person should know before it runs, and what its rate limit lets it
do. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from edgeshift.campaign_spec import CampaignSpec, ValidationMode
from edgeshift.durations import say_duration

CALLS_WITHOUT_WINDOW = 5
"""Calls of the shortest way of a zone: check, configuration, fresh configuration, PUT, status
(docs/service.md §4.3).
"""

CALLS_WITH_WINDOW = 7
"""The same of an Enterprise zone: its validation PUT and its status more."""

CALLS_BESIDE = 8
"""Readings beside them: firewall rules, overrides, page rules, packages and what they hold, the setting,
the entry
point. More where a zone has many rules."""


def warnings(spec: CampaignSpec) -> list[str]:
    """One sentence for each thing that is allowed and may surprise."""
    found = []
    sign_off = spec.sign_off
    if not sign_off.approvers:
        found.append("no approvers are listed: anybody who can reach Temporal may sign")
    elif len(set(sign_off.approvers)) == sign_off.required:
        found.append("every listed approver must approve: one who is away holds it all up")
    if spec.time_scale != 1:
        found.append(f"time scale {spec.time_scale:g}: every duration is shortened; this is a rehearsal")
    if spec.consents.delete_uri_overrides:
        found.append("URI-based overrides may be deleted, each after a sign-off of its own")
    if ValidationMode.ENFORCE in spec.validation.modes:
        found.append("validation enforces: the new WAF can block requests before anybody agreed to its rules")
    if spec.service.rate.people == 0:
        found.append("nothing of the rate limit is left to people and other programs")
    if spec.commit.resend_unchanged:
        found.append(
            f"a step of unknown outcome may be sent again by itself, {spec.commit.resend_unchanged} time(s)"
        )
    return found


@dataclass(frozen=True)
class Forecast:
    """What the rate limit lets a campaign do, if one user's credentials are all that it has.

    ``calls_a_second`` of all users together; ``at_least``: how long its calls take, without waiting for
    anybody.
    """

    users: int
    calls_a_second: float
    calls: int
    zones_an_hour: float
    at_least: timedelta

    def said(self) -> str:
        """The forecast as one sentence."""
        return (
            f"{self.calls:,} calls at {self.calls_a_second:.2g} a second ({self.users} user(s)): at most"
            f" {self.zones_an_hour:,.0f} zones an hour, so at least {say_duration(self.at_least)} of calls,"
            " besides validation windows, sign-offs and the service's own time"
        )


def forecast(spec: CampaignSpec, *, enterprise: int, others: int) -> Forecast:
    """What so many zones to migrate take by the rate limit alone (docs/service.md §8, observed)."""
    users = len({credential.user for credential in spec.service.credentials})
    rate = spec.service.rate
    a_second = users * rate.requests / max(rate.per.total_seconds(), 1e-6) * 0.99 * (1 - rate.people)
    calls = enterprise * (CALLS_WITH_WINDOW + CALLS_BESIDE) + others * (CALLS_WITHOUT_WINDOW + CALLS_BESIDE)
    seconds = calls / a_second
    zones = enterprise + others
    return Forecast(
        users=users,
        calls_a_second=a_second,
        calls=calls,
        zones_an_hour=zones / seconds * 3600 if seconds else 0.0,
        at_least=timedelta(seconds=round(seconds)),
    )
