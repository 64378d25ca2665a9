"""What a campaign file allows and a person should know before it runs, and what its rate limit lets it
do. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from edgeshift.areas import area_of
from edgeshift.campaign_file.of_area import CAMPAIGN_FILE
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.counts import agreed, counted
from edgeshift.model.durations import say_duration


def warnings(spec: CampaignSpec) -> list[str]:
    """One sentence for each thing that is allowed and may surprise."""
    found = []
    sign_off = spec.sign_off
    if not sign_off.approvers:
        found.append("no approvers are listed: anyone who can reach Temporal may sign")
    elif len(set(sign_off.approvers)) == sign_off.required:
        found.append("every listed approver must approve: one who is away holds it all up")
    if sign_off.per == "zone":
        found.append("each zone is signed by itself, also where many propose the same")
    if spec.time_scale != 1:
        found.append(f"time scale {spec.time_scale:g}: every duration is shortened; this is a rehearsal")
    found += CAMPAIGN_FILE.of(spec.area).warnings(spec)
    if spec.service.rate.people == 0:
        found.append("nothing of the rate limit is left to people and other programs")
    if spec.commit.resend_unchanged:
        found.append(
            "a step of unknown outcome may be sent again by itself,"
            f" {counted(spec.commit.resend_unchanged, 'time')}"
        )
    return found


@dataclass(frozen=True)
class Forecast:
    """What the rate limit lets a campaign do, if one user's credentials are all that it has.

    ``calls_a_second`` of all users together; ``at_least``: how long its calls take, without waiting for
    anybody; ``waits``: what is not counted.
    """

    users: int
    calls_a_second: float
    calls: int
    zones_an_hour: float
    at_least: timedelta
    waits: str

    def said(self) -> str:
        """The forecast as one sentence."""
        return (
            f"{counted(self.calls, 'call')} at {self.calls_a_second:.2g} a second"
            f" ({counted(self.users, 'user')}): at most {self.zones_an_hour:,.0f} zones an hour,"
            f" so at least {say_duration(self.at_least)} of calls,"
            f" {self.waits}"
        )


def calls_a_second(spec: CampaignSpec) -> float:
    """Calls that all users of the campaign together may make, less the people's share (docs/service.md §8,
    observed).
    """
    users = len({credential.user for credential in spec.service.credentials})
    rate = spec.service.rate
    return users * rate.requests / max(rate.per.total_seconds(), 1e-6) * 0.99 * (1 - rate.people)


def zones_a_second(spec: CampaignSpec) -> float:
    """Zones that the rate limit of all users together allows to be changed."""
    return calls_a_second(spec) / area_of(spec.area).calls


def forecast(spec: CampaignSpec, *, enterprise: int, others: int) -> Forecast:
    """What so many targets to work on take by the rate limit alone. ``enterprise``: those of them that the
    area waf validates.
    """
    area, a_second, zones = area_of(spec.area), calls_a_second(spec), enterprise + others
    calls = enterprise * (area.calls_validated or area.calls) + others * area.calls
    seconds = calls / a_second
    return Forecast(
        users=len({credential.user for credential in spec.service.credentials}),
        calls_a_second=a_second,
        calls=calls,
        zones_an_hour=zones / seconds * 3600 if seconds else 0.0,
        at_least=timedelta(seconds=round(seconds)),
        waits=area.waits,
    )


def slowest(spec: CampaignSpec, zones: int) -> str:
    """One sentence: how fast so many zones move where each migration takes as long as it may, and no more
    than ``window`` are under way at once.
    """
    limit, window = spec.commit.migration_limit, spec.largest_window
    an_hour = window / max(limit.total_seconds(), 1.0) * 3600
    turns = -(-zones // window)
    most = "at most " if spec.window == "auto" else ""
    return (
        f"{most}{counted(window, 'zone')} {agreed(window, 'works', 'work')} at once:"
        " if every migration took all of commit.migration_limit"
        f" ({say_duration(limit)}), {an_hour:,.3g} zones an hour, {say_duration(turns * limit)} for all"
    )
