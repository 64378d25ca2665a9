"""The client against the simulator, over HTTP: every call, each way to migrate."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from activities.waf.zone import read_zone
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import (
    Credential,
    Forbidden,
    InvalidCredential,
    NotFound,
    Outcome,
    Refused,
    ServiceClient,
    ServiceError,
)
from tests.service.client_scene import scene, until_state, whole


async def test_zones_and_accounts_are_read_to_the_end(tmp_path: Path) -> None:
    """Sixty-six zones over two pages, each once; filters narrow them; a zone has its plan and account."""
    async with scene(tmp_path) as here, here.client() as client:
        names = [zone.name async for zone in client.zones()]
        assert names == sorted(zone.name for zone in here.fleet.zones)
        assert [zone.name async for zone in client.zones(name="pro.example")] == ["pro.example"]
        accounts = {account.name: account.id for account in await client.accounts()}
        assert set(accounts) == {"Main", "Other"}
        assert [zone.name async for zone in client.zones(account=accounts["Other"])] == []
        zone = await client.zone(here.zone("enterprise"))
        assert zone.plan is not None and zone.plan.legacy_id == "enterprise"
        assert zone.account is not None and zone.account.id == accounts["Main"]


async def test_a_professional_zone_migrates(tmp_path: Path) -> None:
    """Check, configuration, PUT with pending, status: five calls, and the legacy calls fail afterwards."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("pro")
        assert (await client.waf_check(zone)).compatible is True
        assert await client.entry_point(zone) is None
        config = await client.waf_config(zone)
        assert config.rules and config.raw["rules"]
        await client.put_entry_point(zone, {"name": config.name, "rules": config.raw["rules"]}, "pending")
        await until_state(client, zone, "complete")
        status = await client.waf_status(zone)
        assert (status.new_waf_status, status.old_waf_status) == ("enabled", "disabled")
        stored = await client.entry_point(zone)
        assert stored is not None and stored.rules is not None
        assert len(stored.rules) == len(config.rules)
        with pytest.raises(ServiceError) as raised:
            await client.waf_packages(zone)
        assert raised.value.status == 410


async def test_an_enterprise_zone_validates_first(tmp_path: Path) -> None:
    """Validation, then pending; the body returned by the service is sent as it was returned."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("enterprise")
        config = await client.waf_config(zone)
        for word, state in (("validation", "validation"), ("pending", "complete")):
            await client.put_entry_point(zone, config.raw, word)
            await until_state(client, zone, state)
        entries = await here.journal("entrypoint.put")
        assert [entry["query"] for entry in entries] == [
            "waf_migration=validation&phase_two=1",
            "waf_migration=pending&phase_two=1",
        ]


async def test_a_refused_write_says_so_and_nothing_happened(tmp_path: Path) -> None:
    """201 rules, validation without Enterprise, a migrated zone: refused, with the service's words."""
    async with scene(tmp_path) as here, here.client() as client:
        cases = [("rules", "pending"), ("pro", "validation"), ("done", "pending")]
        for name, word in cases:
            with pytest.raises(Refused) as raised:
                await client.put_entry_point(here.zone(name), {"name": "default", "rules": []}, word)
            assert raised.value.outcome is Outcome.NOTHING_HAPPENED
            assert raised.value.messages
            assert raised.value.ray
        entries = await here.journal("entrypoint.put")
        assert [entry["effect"] for entry in entries] == ["none"] * 3


async def test_the_previous_waf_is_read_whole(tmp_path: Path) -> None:
    """201 firewall rules over three pages, packages, groups, rules, overrides, page rules and the setting."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("rules")
        rules = await client.firewall_rules(zone)
        assert len({rule.id for rule in rules}) == 201
        assert all(rule.products == ["waf"] and rule.filter for rule in rules)
        packages = await client.waf_packages(zone)
        assert {package.detection_mode for package in packages} == {"anomaly", "traditional"}
        for package in packages:
            groups = await client.waf_groups(zone, package.id)
            assert groups and all(group.mode in ("on", "off") for group in groups)
            found = await client.waf_rules(zone, package.id)
            assert found and len({rule.id for rule in found}) == len(found)
        (page_rule,) = await client.page_rules(zone)
        assert page_rule.raw["actions"] == [{"id": "waf", "value": "off"}]
        assert (await client.waf_setting(zone)).value == "on"
        assert await client.waf_overrides(zone) == []


async def test_a_snapshot_has_the_modes_that_the_migration_loses(tmp_path: Path) -> None:
    """Every group, and of the rules those that somebody has given a mode; others are not even asked for."""
    async with scene(tmp_path) as here, here.client() as client:
        changed = await read_zone(client, whole(here.zone("modes"), "modes"))
        assert {rule["mode"] for rule in changed.rules} == {"simulate"}
        assert [rule["id"] for rule in changed.rules] == ["100008"]
        (own,) = [group for group in changed.groups if group["modified_rules_count"]]
        assert own["package_id"] == changed.rules[0]["package_id"]
        assert len(changed.groups) > 1
        plain = await read_zone(client, whole(here.zone("pro"), "pro"))
        assert plain.groups and plain.rules == []
        asked = [entry["zone"] for entry in await here.journal("waf.rules.list")]
        assert set(asked) == {here.zone("modes")}


async def test_overrides_block_a_zone_until_they_are_deleted(tmp_path: Path) -> None:
    """Two URI-based overrides make a zone ineligible; deleted one by one, it is eligible."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("overrides")
        assert (await client.waf_check(zone)).compatible is False
        for override in await client.waf_overrides(zone):
            assert override.urls
            await client.delete_waf_override(zone, override.id)
        assert await client.waf_overrides(zone) == []
        assert (await client.waf_check(zone)).compatible is True
        with pytest.raises(Refused) as raised:
            await client.delete_waf_override(zone, "f" * 32)
        assert raised.value.nothing_happened


async def test_rulesets_make_a_round_trip(tmp_path: Path) -> None:
    """Create, update, list, earlier versions, delete; a second one for the phase is refused by its code."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("enterprise")
        body = {"name": "n", "kind": "zone", "phase": "http_request_firewall_custom", "description": "d"}
        made = await client.create_ruleset(zone, body)
        assert made.id is not None
        with pytest.raises(Refused) as raised:
            await client.create_ruleset(zone, body)
        assert 20217 in raised.value.codes
        rule = {"action": "block", "expression": "true", "description": "all", "enabled": False}
        changed = await client.put_ruleset(zone, made.id, {"rules": [rule]})
        assert changed.rules is not None and changed.rules[0].ref == changed.rules[0].id
        listed = await client.rulesets(zone)
        assert made.id in [item.id for item in listed]
        assert all(item.rules is None for item in listed)
        earlier = await client.ruleset_version(zone, made.id, int(made.version or 0))
        assert not earlier.rules
        assert (await client.ruleset(zone, made.id)).raw == changed.raw
        await client.delete_ruleset(zone, made.id)
        with pytest.raises(NotFound):
            await client.ruleset(zone, made.id)


async def test_both_schemes_work_and_bad_credentials_are_named(tmp_path: Path) -> None:
    """Token and key read alike; a token that is wrong, disabled or too narrow fails by its own name."""
    async with scene(tmp_path) as here:
        zone = here.zone("pro")
        async with here.client() as token, here.client("key") as key, here.client("reader") as reader:
            assert (await token.waf_status(zone)).raw == (await key.waf_status(zone)).raw
            assert (await token.verify_token()).status == "active"
            with pytest.raises(Forbidden) as raised:
                await reader.put_entry_point(zone, {"name": "default", "rules": []}, "pending")
            assert raised.value.outcome is Outcome.NOTHING_HAPPENED
        async with here.client("gone") as gone:
            with pytest.raises(InvalidCredential):
                await gone.waf_status(zone)
        for credential in (Credential(token="short"), Credential(key="0" * 37, email="ops@example.org")):
            async with ServiceClient(here.simulator.base_url, credential, pacer=Unpaced()) as stranger:
                with pytest.raises(InvalidCredential):
                    await stranger.waf_status(zone)


async def test_an_unknown_zone_is_refused(tmp_path: Path) -> None:
    """A zone that is not there is an error of the service's, not an empty answer."""
    async with scene(tmp_path) as here, here.client() as client:
        with pytest.raises(ServiceError) as raised:
            await client.waf_check("0" * 32)
        assert raised.value.status in (400, 403, 404)


async def test_security_events_come_whole_however_small_the_limit(tmp_path: Path) -> None:
    """A limit of fifty halves the span until it is met; the events are the same, in order, each once."""
    async with scene(tmp_path) as here, here.client() as client:
        zone = here.zone("enterprise")
        until = datetime.now(UTC).replace(microsecond=0)
        since = until - timedelta(hours=12)
        whole = await client.security_events(zone, since, until)
        assert len(whole) > 60
        assert {event.source for event in whole} == {"waf"}
        assert all(event.rayName and event.datetime and event.clientIP for event in whole)
        split = await client.security_events(zone, since, until, limit=50)
        key = [(event.datetime, event.rayName, event.ruleId) for event in whole]
        assert sorted(key, key=str) == sorted(
            ((event.datetime, event.rayName, event.ruleId) for event in split), key=str
        )
        assert [event.datetime for event in split] == sorted(str(event.datetime) for event in split)
        assert await client.security_events(zone, until, since) == []
        with pytest.raises(ValueError, match="time zone"):
            await client.security_events(zone, datetime(2024, 1, 1), until)  # noqa: DTZ001 - the mistake itself
        with pytest.raises(ServiceError):
            await client.security_events("0" * 32, since, until)
