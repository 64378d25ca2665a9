"""Generated fleets: every case, repeated shapes, the same for the same seed; and their commands."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from edgeshift.cli.errors import CommandError, described
from edgeshift.cli.fleet import app
from edgeshift.testbed.simulator.equivalent import (
    eligible,
    equivalent_configuration,
    longest_expression_bytes,
    rules_to_migrate,
)
from edgeshift.testbed.simulator.expressions import compile_expression
from edgeshift.testbed.simulator.fleet_file import Fleet, load_fleet
from edgeshift.testbed.simulator.generate import generate_fleet

RUN = CliRunner()


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return generate_fleet(60, 1)


def test_the_same_seed_gives_the_same_fleet(fleet: Fleet) -> None:
    """And another seed another one, with other credentials."""
    assert generate_fleet(60, 1) == fleet
    other = generate_fleet(60, 2)
    assert {zone.id for zone in other.zones}.isdisjoint(zone.id for zone in fleet.zones)
    assert {one.value for one in other.credentials}.isdisjoint(one.value for one in fleet.credentials)


def test_a_share_of_the_zones_gets_a_configuration_that_runs_nothing(fleet: Fleet) -> None:
    """Zones whose previous WAF protects them, and nothing else of the fleet is other."""
    planted = generate_fleet(60, 1, shells=0.1)
    shells = [zone for zone in planted.zones if zone.migration.configuration == "disabled"]
    assert 3 <= len(shells) <= 6
    for zone in shells:
        assert zone.previous_waf.enabled and eligible(zone)
        runs = [
            rule["enabled"] for rule in equivalent_configuration(zone)["rules"] if rule["action"] == "execute"
        ]
        assert runs == [False, False]
    for zone in planted.zones:
        zone.migration.configuration = "equivalent"
    assert planted.zones == fleet.zones


@pytest.mark.parametrize("seed", [1, 2, 77])
def test_sixty_zones_have_every_case(seed: int) -> None:
    """Plans, ineligible zones, both limits and beyond, page rules, states, planted requests."""
    zones = generate_fleet(60, seed).zones
    rules = [len(rules_to_migrate(zone)) for zone in zones]
    sizes = [longest_expression_bytes(zone) for zone in zones]
    actions = Counter(
        (action.id, action.value) for zone in zones for rule in zone.page_rules for action in rule.actions
    )
    assert {zone.plan for zone in zones} == {"free", "pro", "business", "enterprise"}
    assert any(not eligible(zone) for zone in zones)
    assert 200 in rules and 201 in rules and max(rules) > 250
    assert 4096 in sizes and 4097 in sizes and 4098 in sizes
    assert any(
        longest_expression_bytes(zone) > 4096 >= max(len(rule.expression) for rule in rules_to_migrate(zone))
        for zone in zones
        if zone.firewall_rules and rules_to_migrate(zone)
    ), "an expression over the limit in bytes but not in characters"
    assert any(len(zone.firewall_rules) > 200 and len(rules_to_migrate(zone)) < 5 for zone in zones)
    assert any(len(rules_to_migrate(zone)) > 200 and longest_expression_bytes(zone) > 4096 for zone in zones)
    assert {("waf", "off"), ("waf", "on"), ("disable_security", None)} <= set(actions)
    states = Counter((zone.migration.state, zone.plan == "enterprise") for zone in zones)
    assert any(zone.migration.state == "default" for zone in zones)
    assert states["validation", True] >= 2 and states["complete", True] and states["complete", False]
    assert any(not zone.previous_waf.enabled and zone.plan != "free" for zone in zones)
    assert any(zone.previous_waf.owasp.action_mode == "simulate" for zone in zones)
    assert any(zone.previous_waf.managed.rules for zone in zones)
    assert any(zone.traffic.false_positives for zone in zones) and any(zone.traffic.gaps for zone in zones)


def test_shapes_repeat_but_for_the_name(fleet: Fleet) -> None:
    """Most zones of a larger fleet share their configuration with others."""
    zones = [zone for zone in generate_fleet(300, 4).zones if zone.plan != "free"]
    shapes = Counter(json.dumps(equivalent_configuration(zone)).replace(zone.name, "NAME") for zone in zones)
    assert sum(count for count in shapes.values() if count >= 5) > 0.8 * len(zones)
    assert len(shapes) < 40


def test_every_expression_is_valid(fleet: Fleet) -> None:
    """Those of firewall rules, and those of the equivalent configuration."""
    for zone in fleet.zones:
        for rule in zone.firewall_rules:
            compile_expression(rule.expression)
        for proposed in equivalent_configuration(zone)["rules"]:
            compile_expression(proposed["expression"])


def test_credentials_are_three_tokens_and_a_key(fleet: Fleet) -> None:
    """A token for each user and a key for the first, valid in form, all active and without limits."""
    assert [one.kind for one in fleet.credentials] == ["token", "token", "token", "key"]
    assert len({one.user for one in fleet.credentials}) == len(fleet.users) == 3
    assert all(one.allows("waf:edit") and one.covers(fleet.zones[0].id, "x") for one in fleet.credentials)


@pytest.mark.parametrize("accounts", [1, 3, 7])
def test_zones_spread_over_the_accounts(accounts: int) -> None:
    """No account is empty."""
    made = generate_fleet(60, 1, accounts=accounts)
    assert {zone.account for zone in made.zones} == {account.id for account in made.accounts}
    assert len(made.accounts) == accounts


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_the_command_writes_a_file_that_the_loader_takes(ending: str, tmp_path: Path) -> None:
    """Generate, check, and what the file says about itself."""
    path = tmp_path / f"fleet.{ending}"
    result = RUN.invoke(app, ["generate", "--zones", "60", "--seed", "5", "--out", str(path)])
    assert result.exit_code == 0, result.output
    assert load_fleet(path) == generate_fleet(60, 5)
    assert "edgeshift fleet generate --zones 60 --seed 5" in path.read_text()[:400]
    checked = RUN.invoke(app, ["check", str(path)])
    assert checked.exit_code == 0 and "60 zones" in checked.output and "nothing wrong" in checked.output
    assert "simulated-" not in checked.output
    assert "simulated-" in RUN.invoke(app, ["check", str(path), "--credentials"]).output


def test_the_command_does_not_overwrite_unasked(tmp_path: Path) -> None:
    """Without --force the file stays as it was."""
    path = tmp_path / "fleet.yaml"
    path.write_text("mine")
    arguments = ["generate", "--zones", "3", "--out", str(path)]
    refused = RUN.invoke(app, arguments)
    assert isinstance(refused.exception, CommandError) and refused.exception.code == 6
    assert "--force" in refused.exception.hint and path.read_text() == "mine"
    assert RUN.invoke(app, [*arguments, "--force"]).exit_code == 0 and len(load_fleet(path).zones) == 3


def test_the_command_answers_mistakes(tmp_path: Path) -> None:
    """A wrong ending, a file where a folder would have to be, a bad file, nonsense numbers."""
    (tmp_path / "file").write_text("mine")
    cases: list[tuple[list[Any], str]] = [
        (["generate", "--zones", "3", "--out", str(tmp_path / "f.txt")], ".yaml, .yml or .json"),
        (["generate", "--zones", "3", "--out", str(tmp_path / "file" / "f.yaml")], "cannot be written"),
        (["generate", "--zones", "0", "--out", str(tmp_path / "f.yaml")], "--zones"),
        (["check", str(tmp_path / "none.yaml")], "there is no such fleet file"),
    ]
    for arguments, said in cases:
        result = RUN.invoke(app, arguments)
        found = described(result.exception) if result.exit_code == 1 and result.exception else None
        code, text = (
            (found.code, f"{found.text} {found.hint}") if found else (result.exit_code, result.output)
        )
        assert code == 2 and said in text, result


def test_the_schema_is_printed() -> None:
    """A JSON schema that names the parts."""
    document = json.loads(RUN.invoke(app, ["schema"]).output)
    parts = {"version", "note", "profile", "users", "credentials", "accounts", "zones"}
    assert set(document["properties"]) == parts
