"""The previous WAF as its own API shows it."""

import pytest

from edgeshift.testbed.simulator.previous_waf import (
    MANAGED_PACKAGE,
    OWASP_PACKAGE,
    UnknownPart,
    effective_modes,
    groups,
    packages,
    rules,
    set_group_mode,
    set_package,
    set_rule_mode,
)
from tests.kit.zones import fleet_zone


def test_there_is_an_anomaly_package_and_a_traditional_one() -> None:
    """Only the anomaly package has sensitivity and action mode."""
    by_id = {package["id"]: package for package in packages(fleet_zone(plan="pro"))}
    assert by_id[OWASP_PACKAGE]["detection_mode"] == "anomaly"
    assert (by_id[OWASP_PACKAGE]["sensitivity"], by_id[OWASP_PACKAGE]["action_mode"]) == ("high", "challenge")
    assert by_id[MANAGED_PACKAGE]["detection_mode"] == "traditional"
    assert "sensitivity" not in by_id[MANAGED_PACKAGE]


@pytest.mark.parametrize("package", [OWASP_PACKAGE, MANAGED_PACKAGE])
def test_groups_count_their_rules(package: str) -> None:
    """Every rule is in one group, and the groups' counts add up to the rules."""
    listed = rules(fleet_zone(plan="pro"), package)
    assert len(listed) >= 25 and len({rule["id"] for rule in listed}) == len(listed)
    counts = {group["id"]: group["rules_count"] for group in groups(fleet_zone(plan="pro"), package)}
    assert sum(counts.values()) == len(listed)
    assert {rule["group"]["id"] for rule in listed} == set(counts)
    assert all(rule["mode"] in rule["allowed_modes"] for rule in listed)


def test_a_changed_rule_is_counted_and_takes_effect() -> None:
    """Disable a rule of the provider: its group says one modified rule, and it no longer runs."""
    one = fleet_zone(plan="pro")
    set_rule_mode(one, MANAGED_PACKAGE, "100045", "disable")
    (group,) = [group for group in groups(one, MANAGED_PACKAGE) if group["name"] == "Managed Specials"]
    assert group["modified_rules_count"] == 1
    assert "100045" in effective_modes(fleet_zone(plan="pro")) and "100045" not in effective_modes(one)
    set_rule_mode(one, MANAGED_PACKAGE, "100045", "default")
    assert one == fleet_zone(plan="pro")


def test_a_group_that_is_off_turns_its_rules_off() -> None:
    """Turned off by id, shown by id, in effect."""
    one = fleet_zone(plan="pro")
    group = next(group for group in groups(one, OWASP_PACKAGE) if group["name"] == "OWASP Trojans")
    set_group_mode(one, OWASP_PACKAGE, group["id"], "off")
    assert "950921" not in effective_modes(one)
    assert next(g for g in groups(one, OWASP_PACKAGE) if g["id"] == group["id"])["mode"] == "off"


def test_sensitivity_and_action_mode_can_be_set() -> None:
    """Off means that no rule of the package runs."""
    one = fleet_zone(plan="pro")
    set_package(one, OWASP_PACKAGE, {"sensitivity": "off", "action_mode": "simulate"})
    assert packages(one)[0]["sensitivity"] == "off" and "950921" not in effective_modes(one)


def test_what_does_not_exist_or_fit_is_refused() -> None:
    """Unknown parts and values are named."""
    for unknown in (
        lambda: rules(fleet_zone(plan="pro"), "x"),
        lambda: set_group_mode(fleet_zone(plan="pro"), OWASP_PACKAGE, "x", "on"),
        lambda: set_rule_mode(fleet_zone(plan="pro"), OWASP_PACKAGE, "100045", "on"),
    ):
        with pytest.raises(UnknownPart):
            unknown()
    with pytest.raises(ValueError, match="mode must be one of on, off"):
        set_rule_mode(fleet_zone(plan="pro"), OWASP_PACKAGE, "950921", "simulate")
    with pytest.raises(ValueError, match="sensitivity must be one of high, medium, low, off"):
        set_package(fleet_zone(plan="pro"), OWASP_PACKAGE, {"sensitivity": "extreme"})
    with pytest.raises(ValueError, match="only a package with detection_mode anomaly"):
        set_package(fleet_zone(plan="pro"), MANAGED_PACKAGE, {"sensitivity": "low"})
