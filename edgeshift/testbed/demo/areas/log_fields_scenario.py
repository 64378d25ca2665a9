"""What the demo of log-fields arranges: zones with rules and jobs of others and without any, a stranger who
writes in between, fields that nobody sends, that are too long, and that a rule sets later.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from edgeshift.areas.log_fields.terms import FieldSet, LogFieldsSpec, NewJobSpec
from edgeshift.campaign_file.spec import CampaignSpec, CommitSpec, TargetSpec, TicketSpec, WaveAdvance
from edgeshift.model.fleet import Area
from edgeshift.model.rollout import WaveSpec
from edgeshift.model.sign_off import Choice
from edgeshift.testbed.demo.scenario import (
    SIDE_ZONES,
    TIME_SCALE,
    Scenario,
    background,
    of_the_change,
    policy,
    rate_limit,
    service,
    side_campaign,
)
from edgeshift.testbed.simulator.fleet_file import FleetZone
from edgeshift.testbed.simulator.fleet_logs import FieldRule, FleetLogJob, ZoneLogs
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.testbed.simulator.generate_logs import BUCKET, SHAPES, plant_logs
from edgeshift.testbed.stack import Stack

CAMPAIGN = "demo-log-fields"
SIDE_CAMPAIGN = "demo-log-fields-aborted"
SHARE = 0.9
"""The part of the Enterprise zones that has rules or jobs already."""

PARTS_TO_PLAY = 14
"""Zones with a part in the script, beside those of the side campaign."""

NOT_ENTERPRISE = 5
"""Every fifth zone is of another plan."""

LONG = "x-long"
LATER = "x-set-later"
CREDENTIALS = frozenset({"authorization", "cookie", "set-cookie"})
FIELDS = FieldSet(
    request_headers=("user-agent", "x-requested-with"),
    response_headers=("content-type",),
    cookies=("session_id", "Theme", "never-set"),
)
PHASE = "http_log_custom_fields"
_STRANGE = {
    "action": "log_custom_field",
    "expression": "true",
    "description": "written in between by somebody else",
    "action_parameters": {"cookie_fields": [{"name": "Stranger"}]},
}
_LATER_RULE = {
    "action": "rewrite",
    "expression": "true",
    "description": "sets a header late",
    "action_parameters": {"headers": {LATER: {"operation": "set", "value": "late"}}},
}


def arrange(zones: int, seed: int) -> Scenario:
    """A fleet of ``zones`` zones, most of them Enterprise, and the script of the demo."""
    fleet = generate_fleet(zones, seed, accounts=3)
    for place, zone in enumerate(fleet.zones):
        other = place % NOT_ENTERPRISE == 0 and zone.migration.state != "validation"
        zone.plan = "pro" if other else "enterprise"
    plant_logs(fleet.zones, seed, SHARE)
    # The shape of each is met among the first zones; those with a part to play are ordinary ones.
    able = [zone for zone in fleet.zones if _able(zone)]
    parts = able[-PARTS_TO_PLAY - SIDE_ZONES :]
    for place, zone in enumerate(parts):
        zone.logs = ZoneLogs.model_validate(SHAPES[place % 2](zone.name))
    side = parts[PARTS_TO_PLAY:]
    left, rejected, done, quiet, later, long, before, after, *faulty = parts[:PARTS_TO_PLAY]
    done.logs = _in_place(done.name)
    put = {"call": "rulesets.put"}
    return Scenario(
        fleet=fleet,
        left=left.id,
        aborted=tuple(zone.id for zone in side),
        parts={
            "left": left.id,
            "rejected": rejected.id,
            "quiet": quiet.id,
            "later": later.id,
            "long": long.id,
        },
        faults=[
            # The first ruleset is put to as well, and nothing is known of it afterwards.
            *of_the_change(put, faulty),
            *background(seed),
        ],
        calls=[
            _stranger(before.id, "before_put"),
            _stranger(after.id, "after_put"),
            (
                "POST",
                f"zones/{later.id}/rulesets/http_request_late_transform/write",
                {"rules": [_LATER_RULE]},
            ),
        ],
    )


def _stranger(zone: str, when: str) -> tuple[str, str, dict[str, Any]]:
    body = {"rules": [_STRANGE], "how": "append", "when": when}
    return ("POST", f"zones/{zone}/rulesets/{PHASE}/write", body)


def _able(zone: FleetZone) -> bool:
    return zone.plan == "enterprise" and zone.status == "active" and not zone.paused


def _in_place(name: str) -> ZoneLogs:
    """A zone that logs everything already."""
    rule = FieldRule.model_validate({"description": "Ours", **FIELDS.model_dump(mode="json")})
    return ZoneLogs(
        fields=[rule],
        jobs=[
            FleetLogJob(
                destination=f"s3://{BUCKET}/{name}/http?region=eu-west-1",
                logpull_options="fields=RayID,Cookies,RequestHeaders,ResponseHeaders&timestamps=rfc3339",
            )
        ],
    )


def options() -> dict[str, Any]:
    """The simulator's options in the demo, in nominal seconds."""
    return {"log_batch_seconds": 3600, "rate_limit": rate_limit()}


def judge(body: dict[str, Any]) -> tuple[Choice, str]:
    """What a careful reader says of the fields: no credentials go into logs."""
    fields = body["fields"]
    if named := CREDENTIALS & {*fields["request_headers"], *fields["response_headers"]}:
        return Choice.REJECT, f"{', '.join(sorted(named))} holds credentials, which belong in no log"
    return Choice.APPROVE, f"read: {sum(map(len, fields.values()))} fields"


def specs(scenario: Scenario, running: Stack) -> list[CampaignSpec]:
    """The campaign over all zones but those of the small one, which is aborted."""
    terms = _terms(scenario, running)
    own: dict[str, Any] = {"log_fields": terms}
    main = CampaignSpec(
        name=CAMPAIGN,
        area=Area.LOG_FIELDS,
        targets=TargetSpec(all=True, exclude=tuple(scenario.names[zone] for zone in scenario.aborted)),
        service=service(running),
        waves=(WaveSpec(name="canary", percent=10), WaveSpec(name="rest")),
        advance=WaveAdvance(percent=50, failures=10),
        window=16,
        sign_off=policy(days=4),
        commit=CommitSpec(migration_limit=timedelta(hours=1), poll=timedelta(minutes=20)),
        tickets=TicketSpec(folder=str(running.places.tickets)),
        time_scale=TIME_SCALE,
        **own,
    )
    shared = terms.model_copy(update={"zones": {}})
    side = side_campaign(SIDE_CAMPAIGN, scenario, running, area=Area.LOG_FIELDS, log_fields=shared)
    return [main, side]


def _terms(scenario: Scenario, running: Stack) -> LogFieldsSpec:
    bucket = (running.places.simulator / "buckets" / "s3" / BUCKET).as_uri()
    own = {
        "left": FieldSet(cookies=("only-here",)),
        "rejected": FieldSet(request_headers=("authorization",)),
        "later": FieldSet(request_headers=(LATER,)),
        "long": FieldSet(request_headers=(LONG,)),
    }
    return LogFieldsSpec(
        **FIELDS.model_dump(),
        zones={scenario.names[scenario.parts[part]]: fields for part, fields in own.items()},
        job=NewJobSpec(destination=f"file:{_destination(running.places.credentials)}", challenge=bucket),
        entries=f"{bucket}/{{zone}}",
        verify=timedelta(hours=48),
        every=timedelta(hours=4),
        unverified="roll_back",
    )


def _destination(credentials: Path) -> Path:
    """The file with the address of new jobs, which carries a credential."""
    path = credentials / "log-destination"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"s3://{BUCKET}/{{zone}}/http?region=eu-west-1&secret-access-key=of-the-demos-own-bucket")
    return path
