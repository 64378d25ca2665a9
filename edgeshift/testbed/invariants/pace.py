"""Rules 6, 7 and 8: how fast, how much at a time, and that a stop is a stop. Checked by the journal."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from itertools import zip_longest

from edgeshift.testbed.invariants.areas import checker_of
from edgeshift.testbed.invariants.course import counts, goes_forward, over
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CampaignFacts, CheckerInput, Execution, RuleCheck

FAILED = frozenset({"failed", "unknown"})
"""Outcomes of a zone of waf that count against the failures which its campaign allows."""


def paced(seen: CheckerInput) -> RuleCheck:
    """Rule 6. No user exceeds the rate limit, over all credentials and workers; where the service counts by
    credential, no credential does.
    """
    by_user: dict[str, list[Request]] = {}
    for request in seen.journal:
        if request.user is not None:
            own = seen.rate_limit is not None and seen.rate_limit.counts_by == "credential"
            by_user.setdefault(request.credential or "" if own else request.user, []).append(request)
    violations: list[str] = []
    for user, requests in sorted(by_user.items()):
        refused = [r for r in requests if r.status == 429 and not (r.fault or "").startswith("rate_limit")]
        if refused:
            violations.append(
                f"user {user}: calls refused by the rate limit: {len(refused)}"
                f" (first: request {refused[0].seq})"
            )
        if seen.rate_limit is not None:
            seconds = seen.rate_limit.window.total_seconds()
            most, at = busiest(requests, seconds)
            if most > seen.rate_limit.requests:
                violations.append(
                    f"user {user}: {most} calls in {seconds:g} s at {at:%H:%M:%S},"
                    f" {seen.rate_limit.requests} are allowed"
                )
    return RuleCheck(
        rule=6,
        title="no user exceeds the rate limit",
        checker="journal",
        checked=sum(map(len, by_user.values())) if seen.rate_limit is not None else 0,
        violations=violations,
    )


def busiest(requests: list[Request], seconds: float) -> tuple[int, datetime | None]:
    """The most requests in any rolling window of so many seconds, and when it ended."""
    window: deque[datetime] = deque()
    most: tuple[int, datetime | None] = (0, None)
    for moment in sorted(request.time for request in requests):
        while window and (moment - window[0]).total_seconds() >= seconds:
            window.popleft()
        window.append(moment)
        if len(window) > most[0]:
            most = (len(window), moment)
    return most


def stopped(seen: CheckerInput) -> RuleCheck:
    """Rule 7. After a pause or an abort has answered, no new forward step begins."""
    violations: list[str] = []
    checked = 0
    facts = {campaign.name: campaign for campaign in seen.campaigns}
    for stop in seen.stops:
        campaign = facts.get(stop.campaign)
        if campaign is None:
            violations.append(f"{stop.kind} of {stop.campaign}: nobody knows that campaign's zones")
            continue
        checked += 1
        violations += [
            f"{seen.name(r.zone)}: {r.call} began at {r.time:%H:%M:%S.%f}, after the {stop.kind}"
            f" of {stop.campaign} had answered at {stop.answered_at:%H:%M:%S.%f} (request {r.seq})"
            for r in seen.journal
            if r.mutates
            and goes_forward(seen, r)
            and r.zone in campaign.zones
            and not _elsewhere(seen, campaign, r)
            and r.time > stop.answered_at
            and (stop.resumed_at is None or r.time < stop.resumed_at)
        ]
    return RuleCheck(
        rule=7,
        title="after pause or abort no forward step begins",
        checker="journal, the record of who asked",
        checked=checked,
        violations=violations,
    )


def _elsewhere(seen: CheckerInput, campaign: CampaignFacts, request: Request) -> bool:
    """Whether another campaign, which had the zone at the time, may have sent it."""
    others = {other.name for other in seen.campaigns_of(request.zone or "")} - {campaign.name}
    owner = seen.owner_at(request.zone or "", request.time)
    return bool(others) and owner is not None and owner != campaign.name


def in_flight(seen: CheckerInput) -> RuleCheck:
    """Rule 8. Zones whose change is in flight never exceed what the campaign allows at a time, nor together
    with those of waf whose commit failed its failure budget, which is the same number, or the failures that
    it allows and one where that is more; an account counts all its zones.
    """
    violations: list[str] = []
    checked = 0
    for campaign in seen.campaigns:
        moments: list[tuple[datetime, int]] = []
        with_failed: list[tuple[datetime, int]] = []
        for zone in campaign.zones:
            requests = seen.of_zone.get(zone, [])
            commits = [
                (place, request)
                for place, request in enumerate(requests)
                if counts(seen, request) and not _elsewhere(seen, campaign, request)
            ]
            checked += len(commits)
            for (place, request), following in zip_longest(commits, commits[1:]):
                zones = (request.esc or {}).get("zones", 1)
                end = over(requests[place:])
                moments += [(request.time, zones), (end, -zones)]
                with_failed.append((request.time, zones))
                settled = _settled_at(seen, campaign, request, end)
                if following is not None:
                    # It is one zone, however often it was sent.
                    settled = min(settled or following[1].time, following[1].time)
                if settled is not None:
                    with_failed.append((settled, -zones))
        most, when = _most(moments)
        if most > campaign.window:
            violations.append(
                f"campaign {campaign.name}: {most} commits in flight at {when:%H:%M:%S.%f},"
                f" {campaign.window} are allowed"
            )
        most, when = _most(with_failed)
        if campaign.failures is None:
            continue
        budget = max(campaign.window, campaign.failures + 1)
        if most > budget:
            violations.append(
                f"campaign {campaign.name}: {most} commits in flight or failed at {when:%H:%M:%S.%f},"
                f" {budget} are allowed"
            )
    return RuleCheck(
        rule=8,
        title="commits in flight, and those that failed, never exceed the failure budget",
        checker="journal, Temporal",
        checked=checked,
        violations=violations,
    )


def _most(moments: list[tuple[datetime, int]]) -> tuple[int, datetime | None]:
    """The most at one moment, and when. At one moment, what ends goes before what begins."""
    count = most = 0
    when: datetime | None = None
    for moment, change in sorted(moments):
        count += change
        if count > most:
            most, when = count, moment
    return most, when


def _settled_at(
    seen: CheckerInput, campaign: CampaignFacts, commit: Request, end: datetime
) -> datetime | None:
    """When a commit no longer counts, which was over by ``end``: at once where its zone did not end as failed
    or unknown, else when a person accepted that or had the zone begun again; None if nobody did.
    """
    runs = [run for run in seen.executions if run.zone == commit.zone and run.campaign == campaign.name]
    failed = [run for run in runs if run.outcome in FAILED and run.started_at <= commit.time <= _closed(run)]
    if checker_of(commit).reversible or not failed:
        return end
    closed = _closed(failed[0])
    again = [word.at for word in seen.words if word.zone == commit.zone]
    moments = (*(run.started_at for run in runs), *again, *campaign.accepted)
    return min((moment for moment in moments if moment >= closed), default=None)


def _closed(run: Execution) -> datetime:
    return run.closed_at or datetime.max.replace(tzinfo=UTC)
