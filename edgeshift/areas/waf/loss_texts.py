"""Settings of the previous WAF that a migration does not carry over, or not as they were, in words. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from edgeshift.areas.waf.losses import Fate, Loss, Replacement, SettingKind, of_fate
from edgeshift.areas.waf.names import NAMES
from edgeshift.model.counts import agreed, counted

NOT_IN_FORCE = " (not in force: it was off)"


def text_of_loss(loss: Loss) -> str:
    """One setting as people read it, with what comes near to it. The one place where it becomes words."""
    said = _setting_text(loss)
    if not loss.in_force:
        said += NOT_IN_FORCE
    if not loss.replacement:
        return said
    return f"{said}; not equivalent, but near: {replacement_text(loss.replacement)}"


def _setting_text(loss: Loss) -> str:
    within = f"{loss.package}, {loss.group}" if loss.group else loss.package
    match loss.kind:
        case SettingKind.PACKAGE if loss.fate is Fate.CARRIED_OVER:
            return f"{loss.name}: {loss.mode} becomes {_core_text(loss)} in the core ruleset 3.x"
        case SettingKind.PACKAGE:
            level = loss.paranoia_level
            becomes = f"runs at paranoia level {level}" if level else "has paranoia levels"
            return f"{loss.name}: {loss.mode}; the core ruleset 3.x {becomes} in place of it"
        case SettingKind.GROUP:
            return f"group {loss.name or loss.id} of {loss.package}: {loss.mode}"
        case SettingKind.RULE if not loss.id:
            changed = counted(loss.count, "rule")
            return f"{changed} of {within}, changed by the service's count and not listed with a mode"
        case SettingKind.RULE:
            named = f"rule {loss.id} ({loss.name})" if loss.name else f"rule {loss.id}"
            return f"{named} of {within}: {loss.mode}"


def _core_text(loss: Loss) -> str:
    text = f"paranoia level {loss.paranoia_level} with score threshold {loss.score_threshold}"
    return f"{text} and action {loss.action}" if loss.action else text


def replacement_text(replacement: Replacement) -> str:
    """An override that comes near to a setting, in words."""
    what = (
        f"category {replacement.category}"
        if replacement.category
        else f"the rule described as {replacement.described!r}"
    )
    does = f"action {replacement.action}" if replacement.action else "enabled: false"
    ruleset = NAMES.get(replacement.ruleset, f"ruleset {replacement.ruleset}")
    return f"in {ruleset} override {what} with {does}"


def summaries(found: Iterable[Loss], fate: Fate) -> tuple[str, ...]:
    """What many zones may share, a sentence for each package: how many groups and rules; its sensitivity."""
    lines: list[str] = []
    groups: Counter[tuple[str, bool]] = Counter()
    rules: Counter[tuple[str, bool]] = Counter()
    for loss in of_fate(found, fate):
        key = (loss.package, loss.in_force)
        if loss.kind is SettingKind.PACKAGE:
            lines.append(text_of_loss(loss))
        elif loss.kind is SettingKind.GROUP:
            groups[key] += 1
        else:
            rules[key] += loss.count
    for package, in_force in dict.fromkeys((*groups, *rules)):
        said = []
        if off := groups[package, in_force]:
            said.append(f"{counted(off, 'rule group')} off")
        if own := rules[package, in_force]:
            said.append(f"{counted(own, 'rule')} with settings of {agreed(own, 'its', 'their')} own")
        end = (
            "not carried over"
            if fate is Fate.LOST
            else "to compare with the overrides of the new configuration"
        )
        lines.append(f"{package}: {' and '.join(said)}{'' if in_force else NOT_IN_FORCE}, {end}")
    return tuple(lines)


def to_do(found: Iterable[Loss]) -> tuple[str, ...]:
    """What people can do about settings that were in force, a sentence each: nothing that is not there to be
    done. A setting without a replacement is watched for, not made again.
    """
    settings = [loss for loss in found if loss.in_force and loss.kind is not SettingKind.PACKAGE]
    lost, compare = of_fate(settings, Fate.LOST), of_fate(settings, Fate.COMPARE)
    near = [f"decide whether it is still wanted: {text_of_loss(loss)}" for loss in lost if loss.replacement]
    alone = sum(loss.count for loss in lost if not loss.replacement)
    if alone:
        near.append(
            f"nothing comes near to {counted(alone, 'lost setting')} of the previous rules: where the new WAF"
            " stops requests that it should not, override the rule that the security event names"
        )
    if compare:
        number = sum(loss.count for loss in compare)
        near.append(
            f"compare {counted(number, 'setting')} of the previous rules with the overrides of the new entry"
            " point: whether it has them cannot be told by their identifiers"
        )
    return tuple(near)
