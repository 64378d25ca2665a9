"""The doctor says which profile is in force, and what the service's own answers have against it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.check import State
from edgeshift.doctor.checks import check_credential
from edgeshift.doctor.profile import of_headers
from edgeshift.profiles import PROFILES, SPECIFICATION
from edgeshift.testbed.simulator.fleet_file import Fleet
from tests.service.simulated import Caller, simulated

LATER = "public-2025-04"
MEDIUM = {"owasp": {"sensitivity": "medium"}}
OUTPUT = {"destination": "s3://a/b?region=eu-west-1", "output_options": {"field_names": ["RayID"]}}


async def said(call: Caller, monkeypatch: pytest.MonkeyPatch, area: str, profile: str) -> tuple[State, str]:
    """What the doctor says of the profile of a campaign at the simulator."""
    monkeypatch.setenv("EDGESHIFT_TEST_TOKEN", call.fleet.credentials[0].value)
    service = {
        "base_url": call.server.base_url,
        "credentials": [{"token": "env:EDGESHIFT_TEST_TOKEN"}],
        "profile": profile,
    }
    data: dict[str, Any] = {"name": "a", "targets": {"all": True}, "area": area, "service": service}
    if area == "log-fields":
        data["log_fields"] = {"request_headers": ["x-a"]}
    if area == "esc":
        data["esc"] = {"probe": {"edge": call.server.edge_url}}
    spec = CampaignSpec.model_validate(data)
    checks = await check_credential(spec, spec.service.credentials[0], 0)
    (found,) = (check for check in checks if check.name == "profile")
    assert (found.fix != "") is (found.state is not State.OK)
    return found.state, found.text


def a_fleet(**logs: Any) -> Fleet:
    zone = {"name": "a.example", "plan": "enterprise", "previous_waf": MEDIUM, "logs": logs}
    return Fleet.model_validate({"zones": [zone]})


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("area", ["waf", "esc", "log-fields"])
async def test_a_service_of_the_same_profile_contradicts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, area: str, profile: str
) -> None:
    """The profile is named with its date."""
    options: dict[str, Any] = {"profile": profile, "clock": "2023-11-01T00:00:00Z"}
    async with simulated(tmp_path, fleet=a_fleet(), rate_limit={"headers": True}, **options) as call:
        state, text = await said(call, monkeypatch, area, profile)
    assert state is State.OK and "contradicts" in text
    assert text.startswith(f"{profile} (") and f"as of {PROFILES[profile].as_of}" in text


@pytest.mark.parametrize(
    ("area", "served", "assumed", "fleet", "expected"),
    [
        ("waf", LATER, "specification", a_fleet(), "would get paranoia level 1 with threshold 25"),
        ("waf", "specification", LATER, a_fleet(), "would get paranoia level 2 with threshold 25"),
        (
            "log-fields",
            LATER,
            "specification",
            a_fleet(
                jobs=[
                    {"destination": "s3://a/b?region=eu-west-1", "output_options": {"field_names": ["RayID"]}}
                ]
            ),
            "of a.example has output_options",
        ),
        ("esc", LATER, "specification", a_fleet(), "still has a setting of Edge Side Code"),
        ("esc", "specification", LATER, a_fleet(), "says already that Edge Side Code has ended"),
    ],
)
async def test_what_the_service_answers_is_held_against_the_profile(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    area: str,
    served: str,
    assumed: str,
    fleet: Fleet,
    expected: str,
) -> None:
    """A campaign that relies on another profile than the service's is told by what; another one is named."""
    options: dict[str, Any] = {"clock": "2024-06-01T00:00:00Z"} if area == "esc" else {}
    async with simulated(tmp_path, fleet=fleet, profile=served, **options) as call:
        state, text = await said(call, monkeypatch, area, assumed)
    assert state is State.WARNING and expected in text, text


async def test_more_fields_and_raw_fields_than_the_profile_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are told, in one check."""
    rule = {
        "action": "log_custom_field",
        "expression": "true",
        "action_parameters": {
            "request_fields": [{"name": f"x-{number}"} for number in range(41)],
            "raw_response_fields": [{"name": "server"}],
        },
    }
    async with simulated(tmp_path, fleet=a_fleet(), profile=LATER) as call:
        path = "a:/rulesets/phases/http_log_custom_fields/entrypoint"
        await call.result("PUT", path, {"rules": [rule]}, by=call.fleet.credentials[0].label)
        state, text = await said(call, monkeypatch, "log-fields", "specification")
        assert state is State.WARNING
        assert "has 41 custom log fields, and 40 are the most" in text and "raw_response_fields" in text
        assert (await said(call, monkeypatch, "log-fields", LATER))[0] is State.OK


async def test_another_rate_limit_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By Ratelimit-Policy, where answers have it."""
    limit = {"requests": 600, "headers": True}
    async with simulated(tmp_path, fleet=a_fleet(), rate_limit=limit) as call:
        state, text = await said(call, monkeypatch, "waf", "specification")
    assert state is State.WARNING
    assert "Ratelimit-Policy says 600 requests in 300 s, and not 1,200 in 300 s" in text


def test_a_rehearsals_window_is_as_much_shorter() -> None:
    """A window of five minutes lasts five seconds where time runs sixty times as fast."""
    headers = {"ratelimit": '"default";r=9;t=5', "ratelimit-policy": '"default";q=1200;w=5'}
    assert of_headers(headers, SPECIFICATION, 60) == []
    assert len(of_headers(headers, SPECIFICATION, 1)) == 1
    assert of_headers({}, SPECIFICATION, 1) == []
