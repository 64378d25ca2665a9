"""What a campaign file allows and a person should know before it runs, and what its rate limit lets it
do. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from edgeshift.areas import area_of, esc
from edgeshift.campaign_file.spec import CampaignSpec, ValidationMode
from edgeshift.model.durations import say_duration
from edgeshift.model.fleet import Area

CALLS_WITHOUT_WINDOW = 5
"""Calls of the shortest way of a zone: check, configuration, fresh configuration, PUT, status
(docs/service.md §4.3).
"""

CALLS_WITH_WINDOW = 8
"""The same of an Enterprise zone: its plan, its validation PUT and its status more."""

CALLS_BESIDE = 8
"""Readings beside them: firewall rules, overrides, page rules, packages and what they hold, the setting, the
entry point. More where a zone has many rules."""

CALLS_OF_LOG_FIELDS = 14
"""Calls that a zone's custom fields take: the rulesets and the one of the phase twice, its versions, the
``PUT`` and the reading after it, the log jobs twice, each job written and read back (docs/service.md §4.2).
"""


def warnings(spec: CampaignSpec) -> list[str]:
    """One sentence for each thing that is allowed and may surprise."""
    found = []
    sign_off = spec.sign_off
    if not sign_off.approvers:
        found.append("no approvers are listed: anybody who can reach Temporal may sign")
    elif len(set(sign_off.approvers)) == sign_off.required:
        found.append("every listed approver must approve: one who is away holds it all up")
    if sign_off.per == "zone":
        found.append("each zone is signed by itself, also where many propose the same")
    if spec.time_scale != 1:
        found.append(f"time scale {spec.time_scale:g}: every duration is shortened; this is a rehearsal")
    if of_area := _OF_AREA.get(spec.area):
        found += of_area(spec)
    if spec.service.rate.people == 0:
        found.append("nothing of the rate limit is left to people and other programs")
    if spec.commit.resend_unchanged:
        found.append(
            f"a step of unknown outcome may be sent again by itself, {spec.commit.resend_unchanged} time(s)"
        )
    return found


def _of_waf(spec: CampaignSpec) -> list[str]:
    found = []
    if spec.consents.delete_uri_overrides:
        found.append("URI-based overrides may be deleted, each after a sign-off of its own")
    if ValidationMode.ENFORCE in spec.validation.modes:
        found.append("validation enforces: the new WAF can block requests before anybody agreed to its rules")
    return found


def _of_esc(spec: CampaignSpec) -> list[str]:
    terms, found = spec.esc, []
    if terms.scope == "account":
        found.append(
            "a change of an account is one of all its zones at once: no zone of it comes as a canary"
        )
    if not (terms.probe.urls or terms.probe.sitemap or terms.probe.links):
        found.append("of each zone the root page alone is probed: neither urls, sitemap nor links say more")
    if terms.probe.method == "HEAD":
        found.append("the probe asks by HEAD: what changes in a body is not seen")
    if terms.tolerance:
        found.append(
            f"up to {terms.tolerance:.0%} of a scope's URLs may fail without esc being turned on again"
        )
    if terms.every > terms.observe > timedelta(0):
        found.append(
            f"esc.every is {say_duration(terms.every)}, longer than esc.observe: nothing is asked in between"
        )
    if not terms.observe:
        found.append("nobody watches what becomes of a scope after esc was turned off: esc.observe is 0s")
    return found


def _of_log_fields(spec: CampaignSpec) -> list[str]:
    terms, found = spec.log_fields, []
    if terms.entries is None:
        found.append("no log entries are read (log_fields.entries): that fields arrive is not verified")
    elif terms.every > terms.verify > timedelta(0):
        found.append(
            f"log_fields.every is {say_duration(terms.every)}, longer than log_fields.verify: no entries are"
            " read in between"
        )
    if terms.unverified == "roll_back":
        found.append("a zone of which no log entries come is rolled back, be it only for want of traffic")
    if terms.job is not None and terms.job.challenge is None:
        found.append(
            "new log jobs have no log_fields.job.challenge: destinations that ask for one will be refused"
        )
    return found


_OF_AREA = {Area.WAF: _of_waf, Area.ESC: _of_esc, Area.LOG_FIELDS: _of_log_fields}


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
            f"{self.calls:,} calls at {self.calls_a_second:.2g} a second ({self.users} user(s)): at most"
            f" {self.zones_an_hour:,.0f} zones an hour, so at least {say_duration(self.at_least)} of calls,"
            f" {self.waits}"
        )


def calls_a_second(spec: CampaignSpec) -> float:
    """Calls that all users of the campaign together may make, less the people's share (docs/service.md §8,
    observed).
    """
    users = len({credential.user for credential in spec.service.credentials})
    rate = spec.service.rate
    return users * rate.requests / max(rate.per.total_seconds(), 1e-6) * 0.99 * (1 - rate.people)


def forecast(spec: CampaignSpec, *, enterprise: int, others: int) -> Forecast:
    """What so many targets to work on take by the rate limit alone. ``enterprise``: those of them that the
    area waf validates.
    """
    a_second, zones = calls_a_second(spec), enterprise + others
    calls = {
        Area.WAF: enterprise * (CALLS_WITH_WINDOW + CALLS_BESIDE)
        + others * (CALLS_WITHOUT_WINDOW + CALLS_BESIDE),
        Area.ESC: zones * esc.CALLS,
        Area.LOG_FIELDS: zones * CALLS_OF_LOG_FIELDS,
    }.get(spec.area, zones * area_of(spec.area).calls)
    seconds = calls / a_second
    return Forecast(
        users=len({credential.user for credential in spec.service.credentials}),
        calls_a_second=a_second,
        calls=calls,
        zones_an_hour=zones / seconds * 3600 if seconds else 0.0,
        at_least=timedelta(seconds=round(seconds)),
        waits=_WAITS.get(spec.area, area_of(spec.area).waits),
    )


def slowest(spec: CampaignSpec, zones: int) -> str:
    """One sentence: how fast so many zones move where each migration takes as long as it may, and no more
    than ``window`` are under way at once.
    """
    limit, window = spec.commit.migration_limit, spec.window
    an_hour = window / max(limit.total_seconds(), 1.0) * 3600
    turns = -(-zones // window)
    return (
        f"{window} zone(s) work at once: if every migration took all of commit.migration_limit"
        f" ({say_duration(limit)}), {an_hour:,.3g} zones an hour, {say_duration(turns * limit)} for all"
    )


_WAITS = {
    Area.WAF: "besides validation windows, sign-offs and the service's own time",
    Area.ESC: "besides probes, sign-offs, the time that is watched and the service's own",
    Area.LOG_FIELDS: "besides sign-offs, the wait for log entries and the service's own time",
}
