"""What ``edgeshift plan`` prints for esc and log-fields, from reports written by hand."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from edgeshift.areas.assessment import Verdict
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.cli.areas.esc import late_scopes
from edgeshift.cli.plan_tables import show_plan
from edgeshift.messages import AssessmentResult, PlanReport, ZoneAssessment
from edgeshift.model.fleet import Area, Plan, ScopeKind, Wave, Zone

EARLY = datetime(2023, 11, 1, tzinfo=UTC)
LATE = datetime(2023, 12, 31, 23, 30, tzinfo=UTC)


def spec(area: Area, **more: Any) -> CampaignSpec:
    """A campaign of this area."""
    return CampaignSpec.model_validate({"name": "autumn", "targets": {"all": True}, "area": area, **more})


def line(index: int, verdict: Verdict = Verdict.READY, **more: Any) -> ZoneAssessment:
    """A zone's line."""
    covers = more.pop("covers", 0)
    zone = Zone(
        id=f"{index:032x}",
        name=f"z{index}.example",
        account="a" * 32,
        plan=Plan.ENTERPRISE,
        kind=ScopeKind.ACCOUNT if covers else ScopeKind.ZONE,
        covers=covers or 1,
    )
    return ZoneAssessment(index=index, zone=zone, verdict=verdict, **more)


def plan(campaign: CampaignSpec, lines: list[ZoneAssessment], at: datetime | None = None) -> str:
    """What is printed at 80 columns."""
    waves = (Wave(number=0, name="all", first=0, end=len(lines)),)
    result = AssessmentResult(report="0" * 64, targets="0" * 64, count=len(lines), waves=waves, enterprise="")
    report = PlanReport(name="autumn", made_at=EARLY, zones=lines, service_time=at)
    console = Console(width=80, file=io.StringIO(), record=True)
    show_plan(console, campaign, report, result, "autumn.yaml")
    return " ".join(console.export_text().split())


def test_a_plan_of_esc_tells_scopes_secrets_and_the_probe() -> None:
    """Per scope its state and whose secret; what changes is only known after the probe."""
    told = plan(
        spec(Area.ESC),
        [
            line(0, facts={"esc": "on", "secret": "own"}),
            line(1, facts={"esc": "on", "secret": "none"}, covers=7),
            line(2, Verdict.ALREADY_SETTLED, facts={"esc": "off", "secret": "none"}),
        ],
        EARLY,
    )
    assert "z0.example on its own: used, never overwritten 1" in told
    assert "account z1.example on none; edgeshift sets a test secret 7" in told
    assert "esc was off 1" in told and "ready 2" in told
    # 8 zones, 20 URLs, with and without the secret, 3 rounds.
    assert "960 requests to 8 zones, GET alone" in told
    assert "esc is removed on 2024-01-01; by the service's clock that is 61d from now" in told
    assert "At this pace every scope can make it" in told
    assert "migrate" not in told and "in each validation window" not in told


def test_scopes_that_cannot_make_the_removal_date_are_named() -> None:
    """Those of the waves that come too late, and when they could be done; who needs nothing is not late."""
    lines = [line(0), line(1, Verdict.ALREADY_SETTLED), *(line(index, wave=1) for index in (2, 3))]
    campaign = spec(Area.ESC, esc={"observe": "20m"})
    waves = (Wave(number=0, name="a", first=0, end=2), Wave(number=1, name="b", first=2, end=4))
    result = AssessmentResult(report="0" * 64, targets="0" * 64, count=4, waves=waves, enterprise="")
    report = PlanReport(name="autumn", made_at=LATE, zones=lines, service_time=LATE)
    late = late_scopes(campaign, report, result)
    assert [found.zone.name for found, _ in late] == ["z2.example", "z3.example"]
    assert all(at >= datetime(2024, 1, 1, tzinfo=UTC) for _, at in late)
    told = plan(spec(Area.ESC), lines[:1], LATE)
    assert "1 scope cannot make it" in told and "z0.example: 2024-01-01" in told


def test_past_the_removal_date_the_plan_says_so() -> None:
    """With the service's own date."""
    gone = line(0, Verdict.BLOCKED, causes=["removed"], reasons=["Edge Side Code was removed on 2024-01-01"])
    told = plan(spec(Area.ESC), [gone], datetime(2024, 2, 1, tzinfo=UTC))
    assert "removed on 2024-01-01" in told and "the service says it is 2024-02-01" in told
    assert "Probe first" not in told


def test_a_plan_of_log_fields_tells_fields_rulesets_and_jobs() -> None:
    """Fields of all and of single zones, what is done to rulesets and jobs, what is there already."""
    campaign = spec(
        Area.LOG_FIELDS,
        log_fields={
            "request_headers": ["x-id"],
            "cookies": ["Session"],
            "zones": {"z1.example": {"response_headers": ["x-cache"]}},
        },
    )
    told = plan(
        campaign,
        [
            line(
                0,
                fingerprint="a" * 64,
                facts={"fields there": "4"},
                additions=["log job 12 also pushes Cookies"],
            ),
            line(
                1,
                fingerprint="b" * 64,
                facts={"fields there": "0"},
                additions=["a ruleset for custom log fields is created", "log job 7 also pushes Cookies"],
                warnings=["at the 95th percentile of 500 sampled requests these fields take 9.1 KB of 8 KB"],
            ),
            line(2, Verdict.BLOCKED, reasons=["log jobs and custom log fields are for Enterprise zones"]),
        ],
    )
    assert "Fields of every zone: 2" in told and "request header x-id" in told and "cookie Session" in told
    assert "z1.example also: response header x-cache" in told
    assert "1 zone has 4 custom fields already" in told
    assert "2 zones: a log job also pushes Cookies" in told
    assert "1 zone: a ruleset for custom log fields is created" in told
    assert "9.1 KB of 8 KB" in told and "Blocked: 1 zone" in told
    assert "Fingerprints: 2 to sign off" in told and "besides sign-offs, the wait for log" in told
    assert "in each validation window" not in told
