"""Profiles of the service: dated data, by which the rules go, and whose numbers are nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from edgeshift.areas import esc, log_fields, waf
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.log_fields import FieldState, OddOptions
from edgeshift.areas.log_fields.terms import FieldSet, LogFieldsSpec
from edgeshift.campaign_file.forecast import calls_a_second
from edgeshift.campaign_file.load import CampaignFileError, load_campaign
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.fleet import Plan, Zone
from edgeshift.profiles import (
    PROFILES,
    PUBLIC_2025_04,
    SPECIFICATION,
    ServiceProfile,
    UnknownProfile,
    profile_named,
)

ROOT = Path(__file__).parents[2]
BOTH = pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)


# --- the data


def test_the_usual_profile_is_the_specification() -> None:
    """Each of its values, as docs/service.md §2 to §8 have them."""
    found = CampaignSpec.model_validate({"name": "a", "targets": {"all": True}}).service.facts
    assert found is SPECIFICATION and found.name == "specification"
    assert (found.most_firewall_rules, found.longest_expression) == (200, 4096)
    assert (found.most_log_fields, found.most_log_data, found.longest_esc_secret) == (40, 8192, 100)
    assert found.esc_removed_at == datetime(2024, 1, 1, tzinfo=UTC)
    assert {one.paranoia_level for one in found.sensitivities} == {2}
    assert found.log_job_parameters == ("logpull_options",) and not found.takes_output_options
    assert found.response_headers == "original" and not found.raw_response_fields and not found.dry_run
    assert (found.rate.requests, found.rate.window_seconds, found.rate.block_seconds) == (1200, 300, 300)
    assert found.rate.counts_by == "user" and found.rate.per_address is None


def test_the_later_profile_has_the_later_public_changes() -> None:
    """And is the specification in everything else; each change has its source."""
    found = profile_named("public-2025-04")
    assert found.as_of == date(2025, 4, 30) and found.esc_removal == date(2025, 1, 1)
    assert found.most_log_fields is None and found.most_log_data is None
    assert {one.sensitivity: tuple(one[1:]) for one in found.sensitivities} == {
        "high": (2, 40),
        "default": (2, 40),
        "medium": (1, 25),
        "low": (1, 40),
    }
    assert found.log_job_parameters == ("logpull_options", "output_options")
    assert found.response_headers == "transformed" and found.raw_response_fields and found.dry_run
    assert found.rate.counts_by == "credential" and found.rate.per_address == 200
    same = ("most_firewall_rules", "longest_expression", "longest_esc_secret")
    assert all(getattr(found, name) == getattr(SPECIFICATION, name) for name in same)
    own = ("name", "title", "as_of", "source")
    other = {
        name
        for name in ServiceProfile.model_fields
        if name not in own and getattr(found, name) != getattr(SPECIFICATION, name)
    }
    assert other == set(found.source)


@BOTH
def test_a_profile_cannot_be_changed_and_is_read_back(profile: ServiceProfile) -> None:
    """It is data: what is written of it says it all."""
    with pytest.raises(ValidationError, match="frozen"):
        profile.most_firewall_rules = 1  # type: ignore[misc]
    assert ServiceProfile.model_validate_json(profile.model_dump_json()) == profile


def test_a_name_that_is_none_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    """In code, and in a campaign file with its place."""
    with pytest.raises(UnknownProfile, match=r"did you mean public-2025-04\?.*specification, public-2025-04"):
        profile_named("public-2025-4")
    file = tmp_path / "c.yaml"
    file.write_text("name: a\ntargets: {all: true}\nservice:\n  profile: public-2025-4\n")
    with pytest.raises(CampaignFileError) as refused:
        load_campaign(file)
    said = str(refused.value)
    assert f"{file}:4" in said and "profile" in said and "did you mean public-2025-04?" in said


# --- rules


@BOTH
def test_the_migrations_limits_are_those_of_the_profile(profile: ServiceProfile) -> None:
    """One rule more, and a byte more, need the provider's support; a limit of another profile would too."""
    rule = {"action": "bypass", "products": ["waf"]}

    def read(count: int, size: int) -> waf.Reading:
        rules = [{**rule, "id": str(number), "filter": {"expression": "x" * size}} for number in range(count)]
        return waf.Reading(check={"compatible": True}, firewall_rules=rules)

    most, longest = profile.most_firewall_rules, profile.longest_expression
    assert waf.assess(read(most, longest), profile).verdict is Verdict.READY
    assert waf.assess(read(most + 1, 1), profile).verdict is Verdict.NEEDS_SUPPORT
    assert waf.assess(read(1, longest + 1), profile).verdict is Verdict.NEEDS_SUPPORT
    tight = profile.model_copy(update={"most_firewall_rules": 3, "longest_expression": 10})
    found = waf.assess(read(4, 11), tight)
    assert [(one.code.value, one.limit) for one in found.why] == [
        ("too_many_rules", 3),
        ("expression_too_long", 10),
    ]


@pytest.mark.parametrize(("profile", "level"), [(SPECIFICATION, 2), (PUBLIC_2025_04, 1)], ids=str)
def test_what_a_sensitivity_becomes_is_said_by_the_profile(profile: ServiceProfile, level: int) -> None:
    """Medium is the one that differs."""
    assert profile.score_setting("medium").paranoia_level == level
    assert profile.score_setting("high").paranoia_level == 2


@pytest.mark.parametrize(
    ("profile", "late"), [(SPECIFICATION, date(2024, 1, 1)), (PUBLIC_2025_04, date(2025, 1, 1))]
)
def test_edge_side_code_ends_on_the_profiles_day(profile: ServiceProfile, late: date) -> None:
    """To the second, by the time that is handed in."""
    now = datetime(late.year, late.month, late.day, tzinfo=UTC)
    before = datetime(late.year - 1, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert esc.assess(esc.Reading(), before, profile).verdict is Verdict.READY
    assert esc.assess(esc.Reading(), now, profile).verdict is Verdict.BLOCKED
    gone = esc.too_late(now, profile)
    assert gone is not None and gone.day == late


def _job(**options: Any) -> dict[str, Any]:
    return {"id": 7, "dataset": "http_requests", "enabled": True, "logpull_options": None, **options}


def _reading(job: dict[str, Any], **more: Any) -> log_fields.Reading:
    return log_fields.Reading(plan=Plan.ENTERPRISE, jobs=[job], **more)


WANTED = FieldSet(response_headers=("x-a",))
LISTS = {"field_names": ["RayID"], "sample_rate": 0.5, "timestamp_format": "rfc3339"}


def test_output_options_are_changed_whole_and_restored() -> None:
    """Where the profile knows them: the list grows at its end, and all else of the object stays."""
    job = _job(output_options=LISTS, logpull_options="fields=RayID,ResponseHeaders")
    assert log_fields.listed(job, PUBLIC_2025_04) == ("RayID",)
    assert log_fields.listed(job, SPECIFICATION) == ("RayID", "ResponseHeaders")
    body = log_fields.updated(job, ["ResponseHeaders"], PUBLIC_2025_04)
    assert body == {"output_options": {**LISTS, "field_names": ["RayID", "ResponseHeaders"]}}
    after = {**job, **body}
    assert log_fields.updated(after, ["ResponseHeaders"], PUBLIC_2025_04) is None
    back = log_fields.restored(after, job, ["ResponseHeaders"], PUBLIC_2025_04)
    assert back == {"output_options": LISTS}
    assert log_fields.restored(job, job, ["ResponseHeaders"], PUBLIC_2025_04) is None
    # A job without them still lists its fields in the string.
    plain = _job(logpull_options="fields=RayID")
    assert log_fields.updated(plain, ["Cookies"], PUBLIC_2025_04) == {
        "logpull_options": "fields=RayID,Cookies"
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "no field_names"),
        ({"field_names": []}, "no field_names"),
        ({"field_names": "RayID"}, "no field_names"),
        ({"field_names": ["RayID", 7]}, "something else than names"),
        ({"field_names": ["RayID"], "record_template": "{{.RayID}}"}, "record_template"),
        ("fields=RayID", "not an object"),
    ],
)
def test_output_options_that_need_a_guess_are_left_to_people(options: Any, said: str) -> None:
    """As strings that do."""
    with pytest.raises(OddOptions, match=said):
        log_fields.updated(_job(output_options=options), ["Cookies"], PUBLIC_2025_04)
    found = log_fields.assess(_reading(_job(output_options=options)), ZONE, WANTED, None, PUBLIC_2025_04)
    assert found.verdict is Verdict.BLOCKED and found.causes[0].value == "odd_log_job"


def test_a_zone_with_output_options_is_assessed_by_either() -> None:
    """By the specification nobody knows what the job lists."""
    reading = _reading(_job(output_options=LISTS))
    assert log_fields.assess(reading, ZONE, WANTED, None, SPECIFICATION).verdict is Verdict.BLOCKED
    found = log_fields.assess(reading, ZONE, WANTED, None, PUBLIC_2025_04)
    assert found.verdict is Verdict.READY
    assert "log job 7 also pushes ResponseHeaders" in found.additions
    assert any("sample_rate=0.5" in text for text in found.warnings)


def test_forty_fields_are_a_limit_of_the_specification_alone() -> None:
    """In the zone's rules, and in the campaign's file."""
    fields = {"request_fields": [{"name": f"x-{number}"} for number in range(40)]}
    rule = {"action": "log_custom_field", "expression": "true", "action_parameters": fields}
    reading = _reading(_job(logpull_options="fields=RayID"), ruleset={"rules": [rule]})
    assert log_fields.assess(reading, ZONE, WANTED, None, SPECIFICATION).causes[0].value == "too_many_fields"
    assert log_fields.assess(reading, ZONE, WANTED, None, PUBLIC_2025_04).verdict is Verdict.READY
    many: dict[str, Any] = {
        "name": "a",
        "area": "log-fields",
        "targets": {"all": True},
        "log_fields": {"request_headers": [f"x-{number}" for number in range(41)]},
    }
    with pytest.raises(ValidationError, match="41 custom fields: a zone takes 40 at most"):
        CampaignSpec.model_validate(many)
    later = CampaignSpec.model_validate({**many, "service": {"profile": "public-2025-04"}})
    assert len(later.section(LogFieldsSpec).request_headers) == 41


def test_whether_a_rule_hides_a_response_header_is_said_by_the_profile() -> None:
    """A transform rule sets it: by the specification it is not in entries, later it is. A request header is
    the client's in both.
    """
    sets = [{"action_parameters": {"headers": {"x-a": {"operation": "set"}}}}]
    transforms = {"http_response_headers_transform": sets, "http_request_late_transform": sets}
    jobs = [_job(logpull_options="fields=RayID,ResponseHeaders,RequestHeaders")]
    both = FieldSet(request_headers=("x-a",), response_headers=("x-a",))
    entries: list[dict[str, Any]] = [{"RequestHeaders": {}, "ResponseHeaders": {}}] * 5
    states = {
        profile.name: [
            field.state for field in log_fields.judge(entries, both, transforms, jobs, 5, profile).fields
        ]
        for profile in PROFILES.values()
    }
    assert states["specification"] == [FieldState.SET_LATER, FieldState.SET_LATER]
    assert states["public-2025-04"] == [FieldState.SET_LATER, FieldState.NEVER_SENT]
    reading = _reading(jobs[0], transforms=transforms)
    said = {one.name: "\n".join(log_fields.warnings(reading, WANTED, one)) for one in PROFILES.values()}
    assert "what came before the rule" in said["specification"]
    assert "what the rule makes of it" in said["public-2025-04"]


def test_an_entry_is_full_only_where_a_limit_is_known() -> None:
    """8 KB by the specification."""
    jobs = [_job(logpull_options="fields=RayID,ResponseHeaders,RequestHeaders")]
    entry = {"RequestHeaders": {"x-b": "v" * 9000}, "ResponseHeaders": {}}
    full = {
        one.name: log_fields.judge([entry] * 5, WANTED, {}, jobs, 5, one).full for one in PROFILES.values()
    }
    assert full == {"specification": 5, "public-2025-04": 0}


def test_a_header_that_others_log_raw_is_logged() -> None:
    """It is not asked for a second time, and people are told of it."""
    raw = {"raw_response_fields": [{"name": "x-a"}]}
    rule = {"action": "log_custom_field", "expression": "true", "action_parameters": raw}
    reading = _reading(_job(logpull_options="fields=RayID,ResponseHeaders"), ruleset={"rules": [rule]})
    found = log_fields.assess(reading, ZONE, WANTED, None, PUBLIC_2025_04)
    assert found.verdict is Verdict.ALREADY_SETTLED
    assert any("raw_response_fields" in text for text in found.warnings)
    merged = log_fields.merge([rule], FieldSet(response_headers=("x-b",)))
    assert merged[0]["action_parameters"] == raw and len(merged) == 2


# --- whom the rate limit counts


def _spec(profile: str, *credentials: dict[str, Any]) -> CampaignSpec:
    service = {"profile": profile, "base_url": "https://edge.example/client/v4", "credentials": credentials}
    return CampaignSpec.model_validate({"name": "a", "targets": {"all": True}, "service": service})


def test_each_token_has_a_limit_of_its_own_where_the_profile_counts_so() -> None:
    """Unless credentials name a user; where users are counted, they all share one."""
    first = {"token": "env:FIRST", "accounts": ["a"]}
    second = {"token": "file:/run/secrets/second", "accounts": ["b"]}
    ann = {"token": "env:ANN", "user": "ann", "accounts": ["c"]}
    too = {"token": "env:ANN_TOO", "user": "ann"}

    def callers(profile: str) -> list[str]:
        service = _spec(profile, first, second, ann, too).service
        return [service.caller(one).removeprefix("edge.example/") for one in service.credentials]

    assert callers("specification") == ["default", "default", "ann", "ann"]
    assert callers("public-2025-04") == ["env:FIRST", "file:_run_secrets_second", "ann", "ann"]


def test_forecasts_know_the_limit_of_an_address() -> None:
    """A hundred tokens are faster than one address may be."""
    few = [{"token": f"env:T{number}", "accounts": [str(number)]} for number in range(2)]
    many = [{"token": f"env:T{number}", "accounts": [str(number)]} for number in range(100)]
    assert calls_a_second(_spec("specification", *many)) == calls_a_second(_spec("specification", few[0]))
    assert calls_a_second(_spec("public-2025-04", *few)) == pytest.approx(2 * 1200 / 300 * 0.99 * 0.9)
    assert calls_a_second(_spec("public-2025-04", *many)) == 200


# --- no number of a profile is anywhere else

HOME = ROOT / "edgeshift/profiles"

ANYWHERE = {4096, 8192, 1200}
"""Numbers of profiles that mean nothing else in most of the code."""

OTHER_MEANINGS = {
    "edgeshift/service_api/errors.py": {4096},  # characters of an error's text
    "edgeshift/testbed/demo/areas/waf_scenario.py": {1200},  # seconds until a change of the demo shows
    "edgeshift/testbed/demo/areas/esc_scenario.py": {1200},  # the same
    "edgeshift/testbed/simulator/edge/behaviours.py": {4096},  # entries of a cache
    "edgeshift/testbed/simulator/edge/rules.py": {4096},  # entries of a cache
    "edgeshift/testbed/simulator/expressions.py": {8192},  # entries of a cache
}

KNOWING = {
    "activities/esc": {100, 2024, 2025},
    "activities/log_fields/rulesets.py": {40},
    "activities/log_fields/zone.py": {40},
    "activities/waf/zone.py": {40},
    "edgeshift/areas/esc/reading.py": {100, 2024, 2025},
    "edgeshift/areas/log_fields/entries.py": {8, 40},
    "edgeshift/areas/log_fields/names.py": {40},
    "edgeshift/areas/log_fields/reading.py": {40},
    "edgeshift/areas/log_fields/terms.py": {40},
    "edgeshift/areas/waf/reading.py": {4, 40, 200},
    "edgeshift/areas/waf/support.py": {4, 40},
    "edgeshift/campaign_file/service.py": {200, 300},
    "edgeshift/campaign_file/warnings.py": {200, 300},
    "edgeshift/doctor/areas": {40, 100, 200, 2024, 2025},
    "edgeshift/rate_limit/address.py": {200},
    "edgeshift/rate_limit/terms.py": {200, 300},
    "edgeshift/service_api/esc.py": {100, 2024, 2025},
    "edgeshift/testbed/invariants/esc.py": {100, 2024, 2025},
    "edgeshift/testbed/invariants/log_fields.py": {40},
    "edgeshift/testbed/invariants/pace.py": {200, 300},
    "edgeshift/testbed/invariants/requests.py": {4, 40, 200},
    "edgeshift/testbed/simulator/equivalent.py": {25, 40},
    "edgeshift/testbed/simulator/esc_settings.py": {100, 2024, 2025},
    "edgeshift/testbed/simulator/fleet_edge.py": {100},
    "edgeshift/testbed/simulator/generate_cases.py": {200},
    "edgeshift/testbed/simulator/generate_logs.py": {40},
    "edgeshift/testbed/simulator/log_fields.py": {40},
    "edgeshift/testbed/simulator/logs/entries.py": {8, 40},
    "edgeshift/testbed/simulator/migration.py": {4, 200},
    "edgeshift/testbed/simulator/options.py": {40, 100, 200, 300, 2024, 2025},
    "edgeshift/testbed/simulator/rate_limit.py": {200, 300},
    "edgeshift/testbed/simulator/routes/esc.py": {100, 2024, 2025},
    "edgeshift/testbed/simulator/support_words.py": {4, 200, 4096},
}
"""Modules that know a fact of a profile, and the numbers that it would be. In others they mean other things:
a status of HTTP, the width of a column.
"""


def numbers(file: Path) -> Iterator[int]:
    """Every whole number that a module's code has, also as the year of a date."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield node.value


def modules(*places: str) -> Iterator[Path]:
    for place in places:
        path = ROOT / place
        yield from [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))


def test_no_number_of_a_profile_is_anywhere_else() -> None:
    """Not one of those that mean nothing else, in any module; not one of the others in a module that knows
    the fact. That the test sees some is shown by the profiles' own module.
    """
    assert ANYWHERE - {8192, 4096} <= set(numbers(HOME / "known.py"))
    found = []
    for file in modules("edgeshift", "activities", "workflows", "worker"):
        name = file.relative_to(ROOT).as_posix()
        if file.is_relative_to(HOME):
            continue
        found += [
            f"{name}: {number}"
            for number in set(numbers(file)) & (ANYWHERE - OTHER_MEANINGS.get(name, set()))
        ]
    for place, facts in KNOWING.items():
        assert list(modules(place)), place
        for file in modules(place):
            found += [f"{file.relative_to(ROOT)}: {number}" for number in set(numbers(file)) & facts]
    assert not found, "\n".join(found)
