"""Settings of the previous WAF that a migration does not carry over, or not as they were, one by one
(docs/service.md §3.2): the legacy API that has them is gone after the commit. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from edgeshift.areas.waf.answers import MANAGED_RULESET, OWASP_RULESET, Reading, objects
from edgeshift.areas.waf.protection import package_on, was_off
from edgeshift.areas.waf.score import core_settings, paranoia_level

LONGEST_NAME = 80
"""Characters of a name or a description that is kept."""

CATEGORIES = frozenset({"drupal", "joomla", "magento", "php", "wordpress"})
"""Categories of the provider's ruleset that groups of before are named after (docs/service.md §2.4, from the
provider's documentation of overrides).
"""

NEW_ACTIONS = {"simulate": "log", "challenge": "managed_challenge", "block": "block"}
"""Mode of a rule of before to the action that comes nearest to it (docs/service.md §3.2, observed)."""


class SettingKind(StrEnum):
    """What of the previous WAF has the setting."""

    PACKAGE = "package"
    GROUP = "group"
    RULE = "rule"


class Fate(StrEnum):
    """What becomes of a setting. ``carried_over``: the new configuration shows what it becomes, which is
    something else and no loss. ``compare``: the new configuration may have it or not, which only a person can
    see: it has overrides of managed rules, whose identifiers are others, or the group may be off as
    delivered.
    """

    LOST = "lost"
    CARRIED_OVER = "carried_over"
    COMPARE = "compare"


class Replacement(BaseModel):
    """What comes near to a setting in the new WAF, as an override of a managed ruleset: of one ``category``,
    or of the rule that is described alike, whose identifier people have to look up. It is never the same.
    """

    model_config = ConfigDict(frozen=True)

    ruleset: str
    category: str = ""
    described: str = ""
    enabled: bool | None = None
    action: str = ""
    equivalent: Literal[False] = False


class Loss(BaseModel):
    """One setting of the previous WAF. ``package``, ``group``: names; ``name``: of the group or package, or
    the rule's description. ``mode``: what it is set to. ``count``: how many rules it stands for, where the
    service counts rules as changed and lists none, which then have no ``id``. ``in_force``: whether the
    previous WAF and the package were on. ``paranoia_level``, ``score_threshold``, ``action``: of a package,
    what the new core ruleset gets, as far as its configuration says; earlier versions kept the level alone,
    and counted every sensitivity as lost.
    """

    model_config = ConfigDict(frozen=True)

    kind: SettingKind
    fate: Fate = Fate.LOST
    package: str
    id: str = ""
    name: str = ""
    group: str = ""
    mode: str
    count: int = 1
    in_force: bool = True
    paranoia_level: int | None = None
    score_threshold: int | None = None
    action: str = ""
    replacement: Replacement | None = None

    @model_serializer(mode="wrap")
    def _as_ever(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what says nothing and came later: a document that has none of it keeps its digest."""
        written: dict[str, Any] = write(self)
        return {key: value for key, value in written.items() if key not in _LATER or value not in (None, "")}


_LATER = frozenset({"score_threshold", "action"})
"""Fields of a loss that earlier versions did not write."""


def losses(reading: Reading) -> tuple[Loss, ...]:
    """Every setting that the migration does not carry over as it is, or of which nobody can tell, package by
    package: the sensitivity of the core, groups that are off, rules with modes of their own.

    What becomes of the sensitivity, and what a package of the provider's own rules has, is told once the new
    configuration is read. Whether a group is off as delivered cannot be seen.
    """
    found: list[Loss] = []
    for package in reading.packages:
        core = package.get("detection_mode") == "anomaly"
        if not core and reading.config is None:
            continue
        in_force = not was_off(reading) and package_on(package)
        own = _Package(reading, package, core=core, in_force=in_force)
        found += [*own.sensitivity(), *own.groups_off(), *own.rules()]
    return tuple(found)


class _Package:
    """One package of the previous WAF, and what is known of the new configuration beside it."""

    def __init__(self, reading: Reading, package: Mapping[str, Any], *, core: bool, in_force: bool) -> None:
        self._config = reading.config
        self._package = package
        self._core = core
        self._identifier = package.get("id")
        self._groups = [group for group in reading.groups if group.get("package_id") == self._identifier]
        self._rules = [rule for rule in reading.rules if rule.get("package_id") == self._identifier]
        self._name = _short(package.get("name")) or f"package {_short(self._identifier)}"
        self._in_force = in_force

    def sensitivity(self) -> list[Loss]:
        """The core's global settings: sensitivity and action, of which the new ruleset gets something else
        (docs/service.md §2.4, §3.2). They are lost where its configuration does not show what. Nothing where
        they were not in force.
        """
        sensitivity = self._package.get("sensitivity")
        if not self._core or not self._in_force or sensitivity is None or self._config is None:
            return []
        mode = f"sensitivity {_short(sensitivity)}"
        if (action := self._package.get("action_mode")) is not None:
            mode += f" with action {_short(action)}"
        becomes = core_settings(self._config)
        return [
            self._setting(
                kind=SettingKind.PACKAGE,
                fate=Fate.CARRIED_OVER if becomes else Fate.LOST,
                id=_short(self._identifier),
                name=self._name,
                mode=mode,
                paranoia_level=becomes.paranoia_level if becomes else _core_level(self._config),
                score_threshold=becomes.score_threshold if becomes else None,
                action=becomes.action if becomes else "",
            )
        ]

    def groups_off(self) -> list[Loss]:
        """The groups that are off."""
        fate = Fate.LOST if self._core else Fate.COMPARE
        return [
            self._setting(
                kind=SettingKind.GROUP,
                fate=fate,
                id=_short(group.get("id")),
                name=_short(group.get("name")),
                mode="off",
                replacement=self._for_group(_short(group.get("name"))),
            )
            for group in self._groups
            if group.get("mode") == "off"
        ]

    def rules(self) -> list[Loss]:
        """The rules with modes of their own; and how many more their groups count."""
        carried = not self._core and self._config is not None and _managed_overrides(self._config) > 0
        fate = Fate.COMPARE if carried else Fate.LOST
        found = [self._rule(rule, fate) for rule in self._rules]
        listed = Counter(_group_of(rule) for rule in self._rules)
        counts = {str(group.get("id")): _count(group.get("modified_rules_count")) for group in self._groups}
        if sum(counts.values()) <= len(self._rules):
            return found
        for group in self._groups:
            more = counts[str(group.get("id"))] - listed[str(group.get("id"))]
            if more > 0:
                name = _short(group.get("name"))
                found.append(
                    self._setting(kind=SettingKind.RULE, fate=fate, group=name, mode="changed", count=more)
                )
        return found

    def _rule(self, rule: Mapping[str, Any], fate: Fate) -> Loss:
        group = rule.get("group")
        name, mode = _short(rule.get("description")), _short(rule.get("mode"))
        return self._setting(
            kind=SettingKind.RULE,
            fate=fate,
            id=_short(rule.get("id")),
            name=name,
            group=_short(group.get("name")) if isinstance(group, Mapping) else "",
            mode=mode,
            replacement=self._for_rule(name, mode),
        )

    def _setting(self, **facts: Any) -> Loss:
        return Loss(package=self._name, in_force=self._in_force, **facts)

    def _for_group(self, name: str) -> Replacement | None:
        category = name.rpartition(" ")[2].lower()
        if self._core or not self._in_force or category not in CATEGORIES:
            return None
        return Replacement(ruleset=MANAGED_RULESET, category=category, enabled=False)

    def _for_rule(self, description: str, mode: str) -> Replacement | None:
        # The rules of the core were written anew, with other numbers: none of them takes another's place.
        if self._core or not self._in_force or not description:
            return None
        if mode in ("disable", "off"):
            return Replacement(ruleset=MANAGED_RULESET, described=description, enabled=False)
        if action := NEW_ACTIONS.get(mode):
            return Replacement(ruleset=MANAGED_RULESET, described=description, action=action)
        return None


def _short(value: object) -> str:
    return "" if value is None else str(value)[:LONGEST_NAME]


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _group_of(rule: Mapping[str, Any]) -> str:
    group = rule.get("group")
    return str(group.get("id")) if isinstance(group, Mapping) else ""


def _managed_overrides(config: Mapping[str, Any]) -> int:
    """The overrides that a configuration has for any ruleset but the core's: of rules, of categories, of a
    whole ruleset.
    """
    found = 0
    for ruleset, overrides in _overrides(config):
        if ruleset != OWASP_RULESET:
            found += len(objects(overrides.get("rules"))) + len(objects(overrides.get("categories")))
            found += any(overrides.get(key) is not None for key in ("action", "enabled"))
    return found


def _core_level(config: Mapping[str, Any] | None) -> int | None:
    """The highest paranoia level that a configuration leaves on; None where it does not say."""
    core = (overrides for ruleset, overrides in _overrides(config or {}) if ruleset == OWASP_RULESET)
    return next((level for overrides in core if (level := paranoia_level(overrides))), None)


def _overrides(config: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for rule in objects(config.get("rules")):
        parameters = rule.get("action_parameters")
        if rule.get("action") != "execute" or not isinstance(parameters, Mapping):
            continue
        overrides = parameters.get("overrides")
        if isinstance(overrides, Mapping):
            yield str(parameters.get("id", "")), overrides


def of_fate(found: Iterable[Loss], fate: Fate) -> tuple[Loss, ...]:
    """Those of which this becomes."""
    return tuple(loss for loss in found if loss.fate is fate)


def lost_counts(found: Iterable[Loss]) -> dict[str, int]:
    """How many settings of each kind are lost, by kind; without those of which there are none."""
    counts: Counter[str] = Counter()
    for loss in of_fate(found, Fate.LOST):
        counts[loss.kind.value] += loss.count
    return dict(counts)
