"""Whether a zone's entry point still does what was signed, and what of it does not. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from edgeshift.areas.waf.plain import LATEST, given_version, plain, without_given
from edgeshift.areas.waf.terraform import EntryPoint
from edgeshift.areas.waf.weakness import name_of
from edgeshift.model.body_changes import changes
from edgeshift.model.digests import Body

Part = tuple[str, str]
"""A ruleset and what of it: all of it, a category, a rule."""


class Standing(BaseModel):
    """What became of an entry point since it was read back. ``switched``: what of the managed rulesets is on,
    off or otherwise than signed, a line each. ``changed``: each difference by rule. ``notes``: what else is
    other, and changes no rule.
    """

    switched: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the rules do what was signed."""
        return not self.changed


def standing(signed: Body, entry: EntryPoint | None, stored: Mapping[str, Any] | None) -> Standing:
    """``stored``: the entry point as the service answers it, None where there is none. ``entry``: as it was
    read back after the migration, where that is known. What makes no difference is none: null, empty lists,
    the order of a set, what the service assigns; and the version of a managed ruleset where none was signed,
    which is noted.
    """
    rules = (stored or {}).get("rules") or []
    odd = [rule for rule in rules if not isinstance(rule, Mapping)] if isinstance(rules, list) else [rules]
    if odd:
        return Standing(changed=("the service's answer has rules that are no objects",))
    before = plain({"name": "", "rules": signed["rules"]})
    now = plain(without_given({"name": "", "rules": rules}, signed))
    notes = list(_given(rules, signed["rules"]))
    if stored is None:
        notes.append("the zone has no entry point any more: no managed rules run")
    elif entry is not None:
        if entry.id and stored.get("id") != entry.id:
            notes.append("the entry point is another one: it was deleted and made again")
        if entry.name and stored.get("name") != entry.name:
            notes.append("the entry point has another name")
    return Standing(switched=tuple(_switched(before, now)), changed=changes(before, now), notes=tuple(notes))


def _given(stored: Sequence[Mapping[str, Any]], signed: Sequence[Any]) -> Iterator[str]:
    """A sentence for each execute rule whose version was not signed, and is not the newest by its name: the
    service may give one, and so may somebody, who keeps the ruleset from being updated.
    """
    for now, before in zip(stored, signed, strict=False):
        version = given_version(now, before)
        if version not in (None, LATEST):
            which = f"version {str(version)[:20]} of {name_of(now['action_parameters'])}"
            yield f"the zone runs {which}, where none was signed: the service may have named it, or somebody"


def _switched(before: Body, now: Body) -> Iterator[str]:
    old, new = _parts(before), _parts(now)
    for ruleset, what in dict.fromkeys((*old, *new)):
        was, is_now = old.get((ruleset, what)), new.get((ruleset, what))
        if was != is_now:
            subject = f"{what} of {ruleset}" if what else ruleset
            absent = "as delivered" if what else "not run"
            yield f"{subject}: {was or absent} → {is_now or absent}"


def _parts(body: Body) -> dict[Part, str]:
    """What is said of each part of the managed rulesets that a body runs."""
    found: dict[Part, str] = {}
    runs: Counter[str] = Counter()
    for rule in body["rules"]:
        parameters = rule.get("action_parameters") or {}
        if rule.get("action") != "execute" or not isinstance(parameters, Mapping):
            continue
        name = name_of(parameters)
        runs[name] += 1
        if runs[name] > 1:
            name = f"{name} (rule {runs[name]} that runs it)"
        overrides = parameters.get("overrides") or {}
        if not isinstance(overrides, Mapping):
            continue
        found[name, ""] = "not run" if rule.get("enabled") is False else _said(overrides) or "run"
        for key, noun in (("categories", "category"), ("rules", "rule")):
            items = overrides.get(key)
            for item in items if isinstance(items, list) else ():
                if isinstance(item, Mapping):
                    which = item.get("category") or item.get("id")
                    found[name, f"{noun} {which}"] = _said(item)
    return found


def _said(override: Mapping[str, Any]) -> str:
    words = {True: "on", False: "off"}
    said = [words[override["enabled"]]] if isinstance(override.get("enabled"), bool) else []
    said += [str(override["action"])] if override.get("action") else []
    if override.get("score_threshold") is not None:
        said.append(f"score threshold {override['score_threshold']}")
    if override.get("sensitivity_level"):
        said.append(f"sensitivity {override['sensitivity_level']}")
    return ", ".join(said)
