"""A campaign's specification: defaults, what is refused, and what a time scale does to it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from edgeshift.areas.esc.terms import EscSpec
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign.start import campaign_start, zone_policy
from edgeshift.campaign_file.spec import CampaignSpec, CredentialSpec, ValidationMode
from edgeshift.messages import CampaignStart
from edgeshift.model.fleet import Area, Wave
from edgeshift.model.window import MORE, MORE_BOUNDED

SMALLEST = {"name": "waf-2026", "targets": {"all": True}}


def spec(**more: Any) -> CampaignSpec:
    return CampaignSpec.model_validate({**SMALLEST, **more})


def durations(campaign: CampaignSpec) -> dict[str, timedelta]:
    """Every duration that a time scale is about."""
    return {
        "patience": campaign.service.patience,
        "per": campaign.service.rate.per,
        "expires_after": campaign.sign_off.expires_after,
        "valid_for": campaign.sign_off.valid_for,
        "window": campaign.validation.window,
        "migration_limit": campaign.commit.migration_limit,
        "poll": campaign.commit.poll,
        "waits_for_support": campaign.waits_for_support,
        "sweep": campaign.sweep,
        "observe": campaign.section(EscSpec).observe,
        "probed every": campaign.section(EscSpec).every,
        "esc effect": campaign.section(EscSpec).effect_limit,
        "verify": campaign.section(LogFieldsSpec).verify,
        "entries every": campaign.section(LogFieldsSpec).every,
        "fields effect": campaign.section(LogFieldsSpec).effect_limit,
    }


def test_only_name_and_targets_have_no_default() -> None:
    """Everything else is as the documentation says."""
    found = spec()
    assert found.area is Area.WAF
    assert found.window == 20 and found.time_scale == 1
    assert durations(found) == {
        "patience": timedelta(hours=1),
        "per": timedelta(minutes=5),
        "expires_after": timedelta(days=14),
        "valid_for": timedelta(days=14),
        "window": timedelta(hours=72),
        "migration_limit": timedelta(hours=1),
        "poll": timedelta(seconds=20),
        "waits_for_support": timedelta(days=14),
        "sweep": timedelta(minutes=10),
        "observe": timedelta(hours=1),
        "probed every": timedelta(minutes=10),
        "esc effect": timedelta(minutes=5),
        "verify": timedelta(minutes=30),
        "entries every": timedelta(minutes=5),
        "fields effect": timedelta(minutes=5),
    }
    assert found.service.rate.requests == 1200 and found.commit.resend_unchanged == 0
    assert found.validation.modes == (ValidationMode.SHADOW,)
    assert not found.consents.delete_uri_overrides and not found.consents.enforce_validation
    for missing in SMALLEST:
        with pytest.raises(ValidationError, match=missing):
            CampaignSpec.model_validate({key: value for key, value in SMALLEST.items() if key != missing})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "Waf"}, "name"),
        ({"name": "-waf"}, "name"),
        ({"name": "waf\n"}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"targets": {}}, "name zones under include"),
        ({"targets": {"all": True, "include": ["a"]}}, "exclude each other"),
        ({"targets": {"all": True, "plans": ["gold"]}}, "targets.plans"),
        ({"area": "esc?"}, "area"),
        ({"window": 0}, "window"),
        ({"window": 5001}, "window"),
        ({"time_scale": 0.5}, "time_scale"),
        ({"sweep": "often"}, "sweep"),
        ({"waves": [{"zones": 0}]}, "waves.0.zones"),
        ({"sign_of": {}}, "sign_of"),
        ({"commit": {"resend_unchanged": 4}}, "resend_unchanged"),
        ({"validation": {"modes": []}}, "validation.modes"),
        ({"validation": {"modes": ["enforce"]}}, "consents.enforce_validation: true"),
        ({"validation": {"modes": ["shadow", "enforce"]}}, "consents.enforce_validation: true"),
        ({"tickets": {"folder": "x", "webhook": "https://t.example"}}, "not to both"),
        ({"service": {"base_url": "ftp://x"}}, "base_url"),
        ({"service": {"base_url": "https://x/client/v4?a=1"}}, "base_url"),
        ({"service": {"credentials": []}}, "at least one credential"),
        ({"service": {"rate": {"people": 1}}}, "rate.people"),
        ({"service": {"rate": {"requests": 9}}}, "rate.requests"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(wrong: dict[str, Any], said: str) -> None:
    """The error says where, or what would be right."""
    with pytest.raises(ValidationError, match=said.replace(".", r"\.")):
        spec(**wrong)


def test_a_window_may_be_given_as_large_as_one_that_sizes_itself() -> None:
    """The workers' memory bounds both."""
    assert spec(window=5000).largest_window == 5000
    grown = spec(window="auto", advance={"failures": 10_000})
    assert grown.largest_window == 5000


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "either token"),
        ({"token": "env:A", "key": "env:B", "email": "a@b.example"}, "either token"),
        ({"key": "env:B"}, "go together"),
        ({"token": "env:A", "email": "a@b.example"}, "go together"),
        ({"token": "s3cret"}, "token"),
        ({"token": "env:1A"}, "token"),
        ({"token": "env:A", "user": "a b"}, "user"),
    ],
)
def test_a_credential_is_one_scheme_by_reference(wrong: dict[str, Any], said: str) -> None:
    """A token, or a key with its e-mail; the secret itself is never taken."""
    with pytest.raises(ValidationError, match=said):
        CredentialSpec.model_validate(wrong)


def test_an_account_has_one_credential() -> None:
    """Two that name the same account would leave it to chance."""
    twice = [{"token": "env:A", "accounts": ["x", "y"]}, {"token": "env:B", "accounts": ["y"]}]
    with pytest.raises(ValidationError, match="more than one credential names the account 'y'"):
        spec(service={"credentials": twice})


def test_enforcing_is_possible_with_consent() -> None:
    """Recorded in the file itself."""
    found = spec(validation={"modes": ["shadow", "enforce"]}, consents={"enforce_validation": True})
    assert found.validation.modes == (ValidationMode.SHADOW, ValidationMode.ENFORCE)


FULL = {
    **SMALLEST,
    "targets": {"include": ["a.example"], "exclude": ["b.example"], "plans": ["pro", "enterprise"]},
    "service": {
        "base_url": "https://api.example/client/v4",
        "credentials": [{"user": "u", "key": "file:/k", "email": "a@b.example", "accounts": ["x"]}],
        "rate": {"requests": 100, "per": "1m", "people": 0},
    },
    "waves": [{"name": "canary", "zones": 3}, {"percent": 12.5}, {}],
    "sign_off": {"approvers": ["ann", "bob"], "required": 2, "four_eyes": True, "expires_after": "1h30m"},
    "adjustments": [{"rule": "a", "action": "log"}],
    "tickets": {"webhook": "https://t.example/hook", "secret": "env:HOOK"},
    "time_scale": 60,
}


def test_a_specification_survives_being_archived() -> None:
    """Through JSON and back it is the same, so that its digest names it."""
    found = CampaignSpec.model_validate(FULL)
    assert CampaignSpec.model_validate_json(found.model_dump_json()) == found
    assert CampaignSpec.model_validate(found.model_dump(mode="json")) == found


@pytest.mark.parametrize(
    "campaign",
    [
        {},
        {"area": "esc", "esc": {"observe": "5m"}},
        {"area": "esc", "esc": {"observe": "0s"}},
        {"area": "log-fields", "log_fields": {"cookies": ["a"], "verify": "1m"}},
        {"area": "log-fields", "log_fields": {"cookies": ["a"], "zones": {"b.example": {"cookies": ["b"]}}}},
        {"adjustments": [{"action": "log"}], "waves": [{"zones": 1}, {}]},
        {"validation": {"modes": ["enforce"]}, "consents": {"enforce_validation": True}},
    ],
)
def test_a_worker_reads_what_a_file_may_say(campaign: dict[str, Any]) -> None:
    """In the archive every default is written out; no rule may take that for what somebody said."""
    found = spec(**campaign)
    assert CampaignSpec.model_validate(found.model_dump(mode="json")) == found


def test_an_error_of_the_model_does_not_repeat_what_was_given() -> None:
    """It may come to logs and histories, and what was given may be a secret in the wrong place."""
    with pytest.raises(ValidationError) as caught:
        spec(
            service={"credentials": [{"token": "sk-1234"}], "base_url": "http://u:sk-1234@127.0.0.1"},
            window=0,
        )
    assert "sk-1234" not in str(caught.value) and "service.base_url" in str(caught.value)


@given(st.floats(1, 1_000_000), st.floats(0, 100_000))
def test_a_time_scale_shortens_every_wait_and_lengthens_none(scale: float, seconds: float) -> None:
    """Down to a floor where real work happens in it; a wait that is shorter than the floor stays as it is."""
    found = spec(
        time_scale=scale,
        service={"patience": seconds, "rate": {"per": seconds}},
        sign_off={"expires_after": seconds, "valid_for": seconds},
        validation={"window": seconds},
        commit={"migration_limit": seconds, "poll": seconds},
        waits_for_support=seconds,
        sweep=seconds,
    )
    before, after = durations(found), durations(found.scaled())
    for name, value in after.items():
        assert before[name] / scale - timedelta(microseconds=1) <= value <= before[name], name
        assert value <= max(before[name] / scale, timedelta(seconds=20)), name


def test_in_production_nothing_is_scaled() -> None:
    """A scale of 1 is the specification itself."""
    found = spec()
    assert found.scaled() is found


def test_a_rehearsal_is_the_same_campaign_in_less_time() -> None:
    """Counts, people, consents and the technical limits stay; only waits shrink."""
    found = CampaignSpec.model_validate({**FULL, "time_scale": 1000})
    scaled = found.scaled()
    assert scaled.validation.window == timedelta(hours=72) / 1000
    assert scaled.service.rate.per == timedelta(minutes=1) / 1000
    assert scaled.commit.lease == found.commit.lease
    assert scaled.service.request_limit == found.service.request_limit
    restored = scaled.model_copy(
        update={
            "service": scaled.service.model_copy(
                update={"patience": found.service.patience, "rate": found.service.rate}
            ),
            "sign_off": found.sign_off,
            "validation": found.validation,
            "commit": found.commit,
            "esc": found.section(EscSpec),
            "log_fields": found.section(LogFieldsSpec),
            "waits_for_support": found.waits_for_support,
            "sweep": found.sweep,
        }
    )
    assert restored == found
    assert scaled.sign_off.approvers == found.sign_off.approvers and scaled.sign_off.required == 2


def test_the_floors_of_a_fast_rehearsal() -> None:
    """However large the scale: polls, sweeps and the visible end of a migration are still waited for."""
    assert durations(spec(time_scale=1_000_000).scaled()) == {
        "patience": timedelta(seconds=20),
        "per": timedelta(microseconds=300),
        "expires_after": timedelta(seconds=1.2096),
        "valid_for": timedelta(seconds=1.2096),
        "window": timedelta(seconds=0.5),
        "migration_limit": timedelta(seconds=8),
        "poll": timedelta(seconds=0.25),
        "waits_for_support": timedelta(seconds=1.2096),
        "sweep": timedelta(seconds=2),
        "observe": timedelta(seconds=1),
        "probed every": timedelta(seconds=0.5),
        "esc effect": timedelta(seconds=20),
        "verify": timedelta(seconds=5),
        "entries every": timedelta(seconds=0.5),
        "fields effect": timedelta(seconds=20),
    }


def test_a_zone_gets_what_it_needs_of_the_policy() -> None:
    """Each value from its own place."""
    found = spec(
        sign_off={"required": 2},
        validation={"window": "1h", "modes": ["enforce"]},
        consents={"enforce_validation": True, "delete_uri_overrides": True},
        commit={"migration_limit": "2h", "poll": "3s", "resend_unchanged": 1},
        service={"request_limit": "4s", "patience": "5m"},
        waits_for_support="6d",
    )
    policy = zone_policy(found)
    assert policy.sign_off == found.sign_off and policy.modes == (ValidationMode.ENFORCE,)
    assert (policy.validation_window, policy.migration_limit) == (timedelta(hours=1), timedelta(hours=2))
    assert (policy.poll, policy.request_limit) == (timedelta(seconds=3), timedelta(seconds=4))
    assert (policy.patience, policy.waits_for_support) == (timedelta(minutes=5), timedelta(days=6))
    assert policy.delete_overrides and policy.resend_unchanged == 1


@pytest.mark.parametrize(("area", "more"), [("waf", MORE_BOUNDED), ("esc", MORE)])
def test_a_change_that_can_be_taken_back_lets_its_window_grow_slower(area: str, more: int) -> None:
    """No failures bound how many of its zones are at work."""
    found = spec(area=area, window="auto")
    start = campaign_start(
        found, "a" * 64, targets="b" * 64, count=3, waves=(), enterprise="", started_by="ann"
    )
    assert start.grows_in == more


def test_a_campaign_starts_with_scaled_durations_and_the_spec_as_it_was_written() -> None:
    """The digest is of the unscaled one; the scale itself is passed on to be shown."""
    found = CampaignSpec.model_validate(FULL)
    waves = (Wave(number=0, name="all", first=0, end=3),)
    start = campaign_start(
        found, "a" * 64, targets="b" * 64, count=3, waves=waves, enterprise="e", started_by="ann"
    )
    assert (start.spec, start.targets, start.count, start.started_by) == ("a" * 64, "b" * 64, 3, "ann")
    assert start.time_scale == 60 and start.window == found.window and start.enterprise == "e"
    assert start.sweep == found.sweep / 60 and start.lease == found.commit.lease
    assert start.policy == zone_policy(found.scaled())
    assert CampaignStart.model_validate_json(start.model_dump_json()) == start
