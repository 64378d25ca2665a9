"""The previous WAF as its own API shows it: packages, groups and rules (docs/service.md §4.3, observed).

Reads give documents; the `set_...` functions change a zone in place, as the PATCH calls do. What the zone
does not say is the catalogue's default.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, Literal

from edgeshift.testbed.simulator.catalogue_managed import MANAGED
from edgeshift.testbed.simulator.catalogue_owasp import OWASP
from edgeshift.testbed.simulator.fleet_models import FleetZone, OnOff, derived_id
from edgeshift.testbed.simulator.signatures import Signature

Document = dict[str, Any]
Ruleset = Literal["owasp", "managed"]

OWASP_PACKAGE = derived_id("previous package", "owasp")
MANAGED_PACKAGE = derived_id("previous package", "managed")
OWASP_MODES = ("on", "off")
MANAGED_MODES = ("default", "disable", "simulate", "block", "challenge")
SENSITIVITIES = ("high", "medium", "low", "off")
ACTION_MODES = ("simulate", "block", "challenge")
OFF_BY_DEFAULT = frozenset({"Managed Other Applications"})


class UnknownPart(KeyError):
    """A package, group or rule that the previous WAF does not have."""


def package_of(package_id: str) -> Ruleset:
    """Which rule set a package id stands for. Raises UnknownPart."""
    if package_id == OWASP_PACKAGE:
        return "owasp"
    if package_id == MANAGED_PACKAGE:
        return "managed"
    raise UnknownPart(package_id)


@cache
def signatures(ruleset: Ruleset) -> tuple[Signature, ...]:
    """The previous rules of a rule set, in order of id."""
    found = OWASP if ruleset == "owasp" else MANAGED
    return tuple(sorted((one for one in found if one.previous), key=lambda one: one.previous))


@cache
def group_id(group: str) -> str:
    """The id of a group, the same in every zone."""
    return derived_id("previous group", group)


@cache
def group_names(ruleset: Ruleset) -> dict[str, str]:
    """The groups of a rule set: id to name, by name."""
    return {group_id(name): name for name in sorted({one.group for one in signatures(ruleset)})}


def packages(zone: FleetZone) -> list[Document]:
    """The packages: the core rule set, which scores anomalies, and the provider's traditional one."""
    waf = zone.previous_waf
    return [
        {
            "id": OWASP_PACKAGE,
            "name": "OWASP ModSecurity Core Rule Set",
            "description": "Anomaly scoring by the core rule set 2.x",
            "detection_mode": "anomaly",
            "zone_id": zone.id,
            "status": "active",
            "sensitivity": waf.owasp.sensitivity,
            "action_mode": waf.owasp.action_mode,
        },
        {
            "id": MANAGED_PACKAGE,
            "name": "Managed Rules",
            "description": "The provider's own rules",
            "detection_mode": "traditional",
            "zone_id": zone.id,
            "status": "active" if waf.managed.enabled else "disabled",
        },
    ]


def groups(zone: FleetZone, package_id: str) -> list[Document]:
    """The groups of a package. Raises UnknownPart."""
    ruleset = package_of(package_id)
    listed = []
    for identifier, name in group_names(ruleset).items():
        members = [one.previous for one in signatures(ruleset) if one.group == name]
        listed.append(
            {
                "id": identifier,
                "name": name,
                "description": f"{len(members)} rules",
                "package_id": package_id,
                "mode": group_mode(zone, ruleset, name),
                "allowed_modes": ["on", "off"],
                "rules_count": len(members),
                "modified_rules_count": sum(1 for one in members if is_modified(zone, ruleset, one)),
            }
        )
    return listed


def rules(zone: FleetZone, package_id: str) -> list[Document]:
    """The rules of a package. Raises UnknownPart."""
    ruleset = package_of(package_id)
    return [_rule_document(zone, ruleset, one, package_id) for one in signatures(ruleset)]


def _rule_document(zone: FleetZone, ruleset: Ruleset, signature: Signature, package_id: str) -> Document:
    document: Document = {
        "id": signature.previous,
        "description": signature.description,
        "priority": "0",
        "package_id": package_id,
        "group": {"id": group_id(signature.group), "name": signature.group},
        "mode": rule_mode(zone, ruleset, signature.previous),
        "allowed_modes": list(allowed_modes(ruleset)),
    }
    if ruleset == "managed":
        document["default_mode"] = signature.mode
    return document


def allowed_modes(ruleset: Ruleset) -> tuple[str, ...]:
    """The modes that a rule of the rule set can have."""
    return OWASP_MODES if ruleset == "owasp" else MANAGED_MODES


def group_mode(zone: FleetZone, ruleset: Ruleset, name: str) -> OnOff:
    """The mode of a group in a zone; all are on but those of rare applications."""
    settings = _groups_of(zone, ruleset)
    changed = settings.get(name) or settings.get(group_id(name))
    return changed or ("off" if name in OFF_BY_DEFAULT else "on")


def rule_mode(zone: FleetZone, ruleset: Ruleset, rule_id: str) -> str:
    """The mode of a rule in a zone."""
    if ruleset == "owasp":
        return zone.previous_waf.owasp.rules.get(rule_id, "on")
    mode = zone.previous_waf.managed.rules.get(rule_id, "default")
    # A fleet written by hand may say on and off for the provider's rules too.
    return {"on": "default", "off": "disable"}.get(mode, mode)


def effective_modes(zone: FleetZone) -> dict[str, str]:
    """What each active previous rule does: "on" for the core's, else simulate, block or challenge; by rule
    id.
    """
    waf = zone.previous_waf
    modes: dict[str, str] = {}
    if not waf.enabled:
        return modes
    if waf.owasp.sensitivity != "off":
        for one in signatures("owasp"):
            if (
                group_mode(zone, "owasp", one.group) == "on"
                and rule_mode(zone, "owasp", one.previous) == "on"
            ):
                modes[one.previous] = "on"
    if waf.managed.enabled:
        for one in signatures("managed"):
            mode = rule_mode(zone, "managed", one.previous)
            mode = one.mode if mode == "default" else mode
            if mode != "disable" and group_mode(zone, "managed", one.group) == "on":
                modes[one.previous] = mode
    return modes


def set_package(zone: FleetZone, package_id: str, changes: dict[str, str]) -> None:
    """Change `sensitivity` and `action_mode`. Raises UnknownPart, ValueError naming what would be right."""
    if package_of(package_id) != "owasp":
        raise ValueError("only a package with detection_mode anomaly has sensitivity and action_mode")
    for key, value in changes.items():
        known = {"sensitivity": SENSITIVITIES, "action_mode": ACTION_MODES}.get(key)
        if known is None or value not in known:
            raise ValueError(
                f"{key} must be one of {', '.join(known)}" if known else f"{key} cannot be changed"
            )
        setattr(zone.previous_waf.owasp, key, value)


def set_group_mode(zone: FleetZone, package_id: str, identifier: str, mode: str) -> None:
    """Turn a group on or off. Raises UnknownPart, ValueError naming what would be right."""
    ruleset = package_of(package_id)
    name = group_names(ruleset).get(identifier)
    if name is None:
        raise UnknownPart(identifier)
    modes: dict[str, OnOff] = {"on": "on", "off": "off"}
    if mode not in modes:
        raise ValueError("mode must be one of on, off")
    settings = _groups_of(zone, ruleset)
    settings.pop(name, None)
    settings[identifier] = modes[mode]


def set_rule_mode(zone: FleetZone, package_id: str, rule_id: str, mode: str) -> None:
    """Change the mode of a rule. Raises UnknownPart, ValueError naming what would be right."""
    ruleset = package_of(package_id)
    if all(one.previous != rule_id for one in signatures(ruleset)):
        raise UnknownPart(rule_id)
    if mode not in allowed_modes(ruleset):
        raise ValueError(f"mode must be one of {', '.join(allowed_modes(ruleset))}")
    # The mode was checked against what this rule set allows, which the union of both types cannot say.
    waf = zone.previous_waf
    settings: Any = waf.owasp.rules if ruleset == "owasp" else waf.managed.rules
    if mode == _default_mode(ruleset):
        settings.pop(rule_id, None)
    else:
        settings[rule_id] = mode


def unknown_parts(zone: FleetZone) -> Iterable[tuple[Ruleset, str, str, str]]:
    """(rule set, "groups" or "rules", key, what would be right) for each key of the settings that names
    nothing.
    """
    sets: tuple[Ruleset, ...] = ("owasp", "managed")
    for ruleset in sets:
        names = group_names(ruleset)
        for group in _groups_of(zone, ruleset):
            if group not in names and group not in names.values():
                yield (
                    ruleset,
                    "groups",
                    group,
                    f"there is no such group; known are {', '.join(names.values())}",
                )
        known = {one.previous for one in signatures(ruleset)}
        waf = zone.previous_waf
        for rule in waf.owasp.rules if ruleset == "owasp" else waf.managed.rules:
            if rule not in known:
                yield ruleset, "rules", rule, f"there is no such rule; known are {', '.join(sorted(known))}"


def _groups_of(zone: FleetZone, ruleset: Ruleset) -> dict[str, OnOff]:
    return zone.previous_waf.owasp.groups if ruleset == "owasp" else zone.previous_waf.managed.groups


def _default_mode(ruleset: Ruleset) -> str:
    return "on" if ruleset == "owasp" else "default"


def is_modified(zone: FleetZone, ruleset: Ruleset, rule_id: str) -> bool:
    """Whether somebody has given the rule a mode of its own."""
    return rule_mode(zone, ruleset, rule_id) != _default_mode(ruleset)
