"""The migration's four calls over HTTP (docs/service.md §3.2, §4.3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from edgeshift.testbed.simulator.fleet_file import FirewallRule, Fleet, FleetZone
from edgeshift.testbed.simulator.options import Refusal
from tests.service.simulated import ENTRY_POINT, MANAGED_RULESET, MovableTime, a_fleet, in_process, log_only

CHECK, CONFIG, STATUS = "/waf_migration/check", "/waf_migration/config", "/waf_migration/status"


@pytest.mark.parametrize("value", ["pending", "1"])
@pytest.mark.parametrize("zone", ["pro", "business", "enterprise"])
async def test_a_commit_migrates_a_zone_of_every_plan(tmp_path: Path, zone: str, value: str) -> None:
    """After the PUT the new WAF is on, the previous one off, and the rules are stored as sent."""
    async with in_process(tmp_path) as call:
        assert await call.result("GET", f"{zone}:{CHECK}?phase_two=1") == {
            "compatible": True,
            "migration_state": "start",
        }
        sent = await call.result("GET", f"{zone}:{CONFIG}?phase_two=1")
        assert (await call.migrate(zone, value, sent)).status_code == 200
        status = await call.result("GET", f"{zone}:{STATUS}")
        assert set(status) == {"created", "migration_state", "new_waf_status", "old_waf_status", "source"}
        assert (status["migration_state"], status["new_waf_status"], status["old_waf_status"]) == (
            "complete",
            "enabled",
            "disabled",
        )
        stored = await call.result("GET", f"{zone}:{ENTRY_POINT}")
        for kept, rule in zip(stored["rules"], sent["rules"], strict=True):
            assert len(kept["id"]) == 32
            assert kept["ref"] == kept["id"]
            assert {key: kept[key] for key in rule if key not in ("id", "version", "ref")} == {
                key: rule[key] for key in rule if key not in ("id", "version", "ref")
            }


@pytest.mark.parametrize(("option", "stored"), [("given", {"enabled": True}), ("absent", None)])
async def test_a_stored_skip_rule_is_logged_by_option(
    option: str, stored: dict[str, bool] | None, tmp_path: Path
) -> None:
    """Where it was sent without; what was sent is kept, and no other rule gets it."""
    skip = {"action": "skip", "expression": "true", "action_parameters": {"ruleset": "current"}}
    async with in_process(tmp_path, skip_logging=option) as call:
        sent = await call.result("GET", f"enterprise:{CONFIG}?phase_two=1")
        rules = [skip, {**skip, "logging": {"enabled": False}}, *sent["rules"]]
        assert (await call.migrate("enterprise", "pending", {**sent, "rules": rules})).status_code == 200
        found = await call.result("GET", f"enterprise:{ENTRY_POINT}")
        logging = [rule.get("logging") for rule in found["rules"]]
        assert logging == [stored, {"enabled": False}, *[None] * len(sent["rules"])]


@pytest.mark.parametrize(
    ("option", "stored"), [("absent", [None, None]), ("latest", ["latest"] * 2), ("number", ["57", "38"])]
)
async def test_a_stored_execute_rule_has_a_version_by_option(
    option: str, stored: list[str | None], tmp_path: Path
) -> None:
    """Where it was sent without; one that was sent is kept."""
    async with in_process(tmp_path, execute_version=option) as call:
        sent = await call.result("GET", f"enterprise:{CONFIG}?phase_two=1")
        assert (await call.migrate("enterprise", "pending", sent)).status_code == 200
        found = await call.result("GET", f"enterprise:{ENTRY_POINT}")
        assert [rule["action_parameters"].get("version") for rule in found["rules"]] == stored
        found["rules"][0]["action_parameters"]["version"] = "3"
        (first, second) = (await call.result("PUT", f"enterprise:{ENTRY_POINT}", found))["rules"]
        assert (first["action_parameters"]["version"], second["version"]) == ("3", "1")


@pytest.mark.parametrize("value", ["validation", "2"])
async def test_validation_runs_both_wafs_on_enterprise_alone(tmp_path: Path, value: str) -> None:
    """An Enterprise zone enters validation and goes on to complete; other plans are refused."""
    async with in_process(tmp_path) as call:
        assert (await call.migrate("enterprise", value)).status_code == 200
        status = await call.result("GET", f"enterprise:{STATUS}")
        assert (status["migration_state"], status["new_waf_status"], status["old_waf_status"]) == (
            "validation",
            "enabled",
            "enabled",
        )
        assert (await call.migrate("pro", value)).status_code == 403
        assert await call.state("pro") == "start"
        assert (await call.migrate("enterprise", "pending")).status_code == 200
        assert await call.state("enterprise") == "complete"


async def test_the_migration_is_irreversible_and_legacy_calls_stop(tmp_path: Path) -> None:
    """No value leads back, and the previous WAF's calls answer 410; firewall and page rules go on."""
    async with in_process(tmp_path) as call:
        body = await call.result("GET", f"enterprise:{CONFIG}?phase_two=1")
        await call.migrate("enterprise", "pending", body)
        for value in ("pending", "validation", "1", "2"):
            assert (await call.migrate("enterprise", value, body)).status_code == 400
        assert await call.state("enterprise") == "complete"
        for path in ("/firewall/waf/packages", "/firewall/waf/overrides", "/settings/waf"):
            await call.refused(410, "GET", f"enterprise:{path}")
        for path in ("/firewall/rules", "/pagerules"):
            await call.result("GET", f"enterprise:{path}")
        await call.refused(400, "GET", f"enterprise:{CONFIG}?phase_two=1")


async def test_without_phase_two_check_answers_by_phase_one(tmp_path: Path) -> None:
    """Core rule set off: eligible in both phases; a bypass rule or a page rule: in phase 2 alone."""
    async with in_process(tmp_path) as call:
        for zone, first, second in (
            ("phase-one", True, True),
            ("pro", False, True),
            ("paged", False, True),
            ("overridden", False, False),
        ):
            assert (await call.result("GET", f"{zone}:{CHECK}"))["compatible"] is first
            assert (await call.result("GET", f"{zone}:{CHECK}?phase_two=1"))["compatible"] is second


async def test_config_and_put_need_phase_two_and_a_known_value(tmp_path: Path) -> None:
    """Without phase_two=1, with another value of it, or with an unknown waf_migration, nothing happens."""
    async with in_process(tmp_path) as call:
        body = await call.result("GET", f"pro:{CONFIG}?phase_two=1")
        await call.refused(400, "GET", f"pro:{CONFIG}")
        for query in (
            "waf_migration=pending",
            "waf_migration=pending&phase_two=0",
            "waf_migration=3&phase_two=1",
        ):
            await call.refused(400, "PUT", f"pro:{ENTRY_POINT}?{query}", body)
        await call.refused(400, "PUT", f"pro:{ENTRY_POINT}?waf_migration=&phase_two=1", body)
        errors = await call.refused(400, "PUT", f"pro:{ENTRY_POINT}", body)
        assert errors[0]["code"] == 50002
        assert await call.state("pro") == "start"


async def test_nulls_in_a_migration_are_ignored_or_refused(tmp_path: Path) -> None:
    """As in any ruleset; rules that are null are still missing."""
    async with in_process(tmp_path) as call:
        body = await call.result("GET", "enterprise:/waf_migration/config?phase_two=1")
        execute = next(rule for rule in body["rules"] if rule["action"] == "execute")
        bare = {**execute, "action_parameters": {"id": MANAGED_RULESET, "overrides": None}, "ref": None}
        sent = {"name": "default", "description": None, "rules": [bare]}
        await call.control("PUT", "options", {"bodies": {"nulls": "refuse"}})
        assert (await call.migrate("enterprise", "validation", sent)).status_code == 400
        await call.control("PUT", "options", {"bodies": {"nulls": "ignore"}})
        assert (await call.migrate("enterprise", "pending", {**sent, "rules": None})).status_code == 400
        assert await call.state("enterprise") == "start"
        assert (await call.migrate("enterprise", "validation", sent)).status_code == 200
        (stored,) = (await call.result("GET", f"enterprise:{ENTRY_POINT}"))["rules"]
        assert stored["action_parameters"] == {"id": MANAGED_RULESET} and stored["ref"] == stored["id"]


async def test_an_override_stands_in_the_way_until_it_is_deleted(tmp_path: Path) -> None:
    """URI overrides make check false and refuse the PUT; their deletion makes the zone eligible."""
    async with in_process(tmp_path, ineligible_check_shows_state=False) as call:
        assert await call.result("GET", f"overridden:{CHECK}?phase_two=1") == {"compatible": False}
        assert (await call.migrate("overridden", "pending")).status_code == 400
        listed = await call.result("GET", "overridden:/firewall/waf/overrides")
        identity = listed[0]["id"]
        assert await call.result("DELETE", f"overridden:/firewall/waf/overrides/{identity}") == {
            "id": identity
        }
        assert (await call.result("GET", f"overridden:{CHECK}?phase_two=1"))["compatible"] is True
        assert (await call.migrate("overridden", "pending")).status_code == 200


async def test_effects_come_late_and_become_visible_later(tmp_path: Path) -> None:
    """The effect takes its hour, reads show it a minute later; until then nothing of it is seen."""
    time = MovableTime()
    async with in_process(tmp_path, time=time, migration_seconds=3600, visibility_seconds=60) as call:
        assert (await call.migrate("pro", "pending")).json()["result"]["version"] == "1"
        for seconds, visible, legacy in ((0, "start", 200), (3599, "start", 200), (30, "start", 410)):
            time.pass_by(seconds)
            assert await call.state("pro") == visible
            assert (await call("GET", "pro:/settings/waf")).status_code == legacy
            assert (await call("GET", f"pro:{ENTRY_POINT}")).status_code == 404
        time.pass_by(31)
        assert await call.state("pro") == "complete"
        assert (await call("GET", f"pro:{ENTRY_POINT}")).status_code == 200
        entry = (await call.journal(call="entrypoint.put"))[0]
        assert (entry["effect"], entry["state_after"]["pending_effect"]) == ("scheduled", "complete")


async def test_a_zone_has_durations_of_its_own(tmp_path: Path) -> None:
    """`migration_seconds` of a zone beats the option, and the time scale shortens it."""
    time, fleet = MovableTime(), a_fleet()
    fleet.zones[0].migration.migration_seconds = 600
    async with in_process(tmp_path, fleet=fleet, time=time, time_scale=60) as call:
        await call.migrate("pro", "pending")
        time.pass_by(9.9)
        assert await call.state("pro") == "start"
        time.pass_by(0.2)
        assert await call.state("pro") == "complete"


async def test_pending_effects_survive_a_restart(tmp_path: Path) -> None:
    """A migration that was under way goes on while nobody runs the server."""
    time = MovableTime()
    async with in_process(tmp_path, time=time, migration_seconds=100) as call:
        await call.migrate("pro", "pending")
    time.pass_by(101)
    async with in_process(tmp_path, time=time, migration_seconds=100) as call:
        assert await call.state("pro") == "complete"
        assert len(await call.journal(call="entrypoint.put")) == 1


async def test_a_commit_overtakes_a_validation_under_way(tmp_path: Path) -> None:
    """The validation's rules never replace those of a commit that was accepted after it."""
    time = MovableTime()
    async with in_process(tmp_path, time=time, validation_seconds=100, migration_seconds=10) as call:
        body = await call.result("GET", f"enterprise:{CONFIG}?phase_two=1")
        await call.migrate("enterprise", "validation", log_only(body))
        await call.migrate("enterprise", "pending", body)
        time.pass_by(200)
        assert await call.state("enterprise") == "complete"
        stored = await call.result("GET", f"enterprise:{ENTRY_POINT}")
        assert [rule["action_parameters"] for rule in stored["rules"]] == [
            rule["action_parameters"] for rule in body["rules"]
        ]


@pytest.mark.parametrize("policy", ["refuse", "accept", "ignore"])
async def test_a_repeated_commit_is_answered_as_chosen(tmp_path: Path, policy: str) -> None:
    """What the service does with a second commit is not known: each way can be had."""
    async with in_process(tmp_path, repeated_commit=policy) as call:
        body = await call.result("GET", f"pro:{CONFIG}?phase_two=1")
        await call.migrate("pro", "pending", body)
        again = await call.migrate("pro", "pending", body)
        assert again.status_code == (400 if policy == "refuse" else 200)
        effects = [entry["effect"] for entry in await call.journal(call="entrypoint.put")]
        assert effects == ["applied", "applied" if policy == "accept" else "none"]
        version = (await call.result("GET", f"pro:{ENTRY_POINT}"))["version"]
        assert version == ("2" if policy == "accept" else "1")


def _support_fleet() -> Fleet:
    def rules(count: int) -> list[FirewallRule]:
        return [FirewallRule(expression=f'http.host eq "{n}"', products=["waf"]) for n in range(count)]

    # Three bytes a sign: the limit counts bytes of UTF-8, not signs.
    longest = 'http.host eq "' + "€" * 1360 + "a" + '"'
    assert len(longest.encode()) == 4096
    return Fleet(
        zones=[
            FleetZone(name="at200.example", plan="pro", firewall_rules=rules(200)),
            FleetZone(name="at201.example", plan="pro", firewall_rules=rules(201)),
            FleetZone(
                name="at4096.example",
                plan="pro",
                firewall_rules=[FirewallRule(expression=longest, products=["waf"])],
            ),
            FleetZone(
                name="at4097.example",
                plan="pro",
                firewall_rules=[FirewallRule(expression=longest[:-1] + 'b"', products=["waf"])],
            ),
        ]
    )


@pytest.mark.parametrize("at", ["check", "config", "put"])
async def test_support_cases_are_refused_at_the_chosen_call(tmp_path: Path, at: str) -> None:
    """200 rules and 4,096 bytes pass; 201 and 4,097 are refused at the chosen call and after it."""
    too_many = {"status": 422, "code": 7777, "message": "too many rules"}
    support = {"at": at, "too_many_rules": too_many}
    async with in_process(tmp_path, fleet=_support_fleet(), support=support) as call:
        order = ["check", "config", "put"]
        for zone, supported in (("at200", True), ("at201", False), ("at4096", True), ("at4097", False)):
            for place, step in enumerate(order):
                refused = not supported and place >= order.index(at)
                if step == "put":
                    body = {"name": "default", "rules": []}
                    path = f"{zone}:{ENTRY_POINT}?waf_migration=pending&phase_two=1"
                    answer = await call("PUT", path, body, by="operator")
                else:
                    answer = await call("GET", f"{zone}:/waf_migration/{step}?phase_two=1", by="operator")
                assert answer.status_code == (200 if not refused else 422 if zone == "at201" else 400)
                if refused and zone == "at201":
                    assert answer.json()["errors"] == [{"code": 7777, "message": "too many rules"}]
        entry = (await call.journal(call="waf.check"))[1]
        assert (entry["rules_to_migrate"], entry["plan"]) == (201, "pro")
        assert (await call.journal(call="waf.check"))[3]["longest_expression_bytes"] == 4097


async def test_a_refusal_may_have_the_status_of_success(tmp_path: Path) -> None:
    """Then the envelope alone refuses, and nothing happens. Other statuses below 400 refuse nothing."""
    support = {"too_many_rules": {"status": 200, "message": "too many rules"}}
    async with in_process(tmp_path, fleet=_support_fleet(), support=support) as call:
        path = f"at201:{ENTRY_POINT}?waf_migration=pending&phase_two=1"
        answer = await call("PUT", path, {"name": "default", "rules": []}, by="operator")
        assert (answer.status_code, answer.json()["success"]) == (200, False)
        assert answer.json()["errors"] == [{"message": "too many rules"}]
        assert (await call.journal(call="entrypoint.put"))[0]["effect"] == "none"
    for status in (204, 302, 600):
        with pytest.raises(ValidationError):
            Refusal(status=status, message="no")


async def test_by_an_option_any_expression_counts(tmp_path: Path) -> None:
    """Also that of a rule which does not migrate; else it does not."""
    block = FirewallRule(expression='http.host eq "' + "a" * 4097 + '"', action="block")
    fleet = Fleet(zones=[FleetZone(name="block.example", plan="pro", firewall_rules=[block])])
    for of, status in (("migrating", 200), ("all", 400)):
        support = {"at": "config", "expressions_of": of}
        async with in_process(tmp_path / of, fleet=fleet, support=support) as call:
            answer = await call("GET", f"block:{CONFIG}?phase_two=1", by="operator")
            assert answer.status_code == status


async def test_config_follows_the_zones_settings_until_the_commit(tmp_path: Path) -> None:
    """A bypass rule added meanwhile appears as a skip rule; rule modes are lost."""
    async with in_process(tmp_path) as call:
        before = await call.result("GET", f"enterprise:{CONFIG}?phase_two=1")
        packages = await call.result("GET", "enterprise:/firewall/waf/packages")
        anomaly = next(one["id"] for one in packages if one["detection_mode"] == "anomaly")
        rules = await call.result("GET", f"enterprise:/firewall/waf/packages/{anomaly}/rules")
        path = f"enterprise:/firewall/waf/packages/{anomaly}/rules/{rules[0]['id']}"
        assert (await call.result("PATCH", path, {"mode": "off"}))["mode"] == "off"
        assert await call.result("GET", f"enterprise:{CONFIG}?phase_two=1") == before
        bypass = {"action": "bypass", "products": ["waf"], "filter": {"expression": 'http.host eq "x"'}}
        await call.result("POST", "enterprise:/firewall/rules", [bypass])
        after = await call.result("GET", f"enterprise:{CONFIG}?phase_two=1")
        assert [rule["action"] for rule in after["rules"]] == [
            "skip",
            *(rule["action"] for rule in before["rules"]),
        ]
