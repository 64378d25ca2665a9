"""Whose rules are whose in a ruleset of custom log fields, and what others wrote that has to stand at the end
(docs/service.md §2.2, §4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import RulesVersion

OUR_REF = "edgeshift-log-fields"
OUR_WORDS = "Custom log fields, kept by edgeshift"
"""How the one rule is known that edgeshift keeps: by its ref or, where that was lost, by its description."""

KINDS = {
    "request_fields": "request_headers",
    "response_fields": "response_headers",
    "cookie_fields": "cookies",
}
"""The arrays of a rule, and what their names are called in what people sign."""

_ASSIGNED = frozenset({"id", "version", "last_updated"})

Rule = Mapping[str, Any]
Field = tuple[str, str]


def is_ours(rule: Rule) -> bool:
    """Whether a rule is edgeshift's own."""
    return rule.get("ref") == OUR_REF or str(rule.get("description") or "").startswith(OUR_WORDS)


def fields(rules: Iterable[Rule]) -> set[Field]:
    """The fields that rules name, each as the kind that people sign and the name."""
    return {(KINDS[array], name) for rule in rules for array, name in entries(rule)}


def entries(rule: Rule) -> list[tuple[str, str]]:
    """Every entry of a rule: array and name, in order."""
    parameters = rule.get("action_parameters") or {}
    return [(array, str(one["name"])) for array in KINDS for one in parameters.get(array) or ()]


def our_fields(rules: Iterable[Rule]) -> set[Field]:
    """The fields of edgeshift's own rule."""
    return fields(rule for rule in rules if is_ours(rule))


def logged(rules: Iterable[Rule]) -> set[Field]:
    """The fields that enabled rules have logged."""
    return fields(rule for rule in rules if rule.get("enabled", True) is not False)


def logged_by_us(rules: Iterable[Rule]) -> set[Field]:
    """The fields that edgeshift's own rule has logged: none while it is turned off."""
    return logged(rule for rule in rules if is_ours(rule))


def others(rules: Iterable[Rule]) -> dict[str, Any]:
    """The rules of others by their refs, without what each write makes anew."""
    return {
        str(rule.get("ref") or rule.get("id")): {k: v for k, v in rule.items() if k not in _ASSIGNED}
        for rule in rules
        if not is_ours(rule)
    }


class ZoneRules:
    """The versions of one zone's rules, and which of them the campaigns wrote."""

    def __init__(self, versions: Sequence[RulesVersion], requests: Sequence[Request]) -> None:
        self._versions = {(one.ruleset, one.number): one for one in versions}
        self._ordered = list(versions)
        self.written = {
            (found["ruleset"], found["version"]): request
            for request in requests
            if request.mutates
            and request.took_effect
            and (found := request.log_fields)
            and "version" in found
        }

    @property
    def last(self) -> RulesVersion | None:
        """The version that stands at the end."""
        return self._ordered[-1] if self._ordered else None

    @property
    def ended_by_us(self) -> bool:
        """Whether nobody else wrote after the campaigns' last write."""
        return self.last is None or (self.last.ruleset, self.last.number) in self.written

    def before(self, request: Request) -> Sequence[Rule]:
        """The rules that a write met."""
        found = request.log_fields or {}
        if "version" not in found:
            return self._at_most(request)
        earlier = self._versions.get((found["ruleset"], found["version"] - 1))
        return earlier.rules if earlier else ()

    def _at_most(self, request: Request) -> Sequence[Rule]:
        """The rules as the campaigns' last write before this request left them, or as they began."""
        known = [key for key, write in self.written.items() if write.seq < request.seq]
        if not known:
            return self._ordered[0].rules if self._ordered else ()
        found = self._versions.get(max(known, key=lambda key: key[1]))
        return found.rules if found else ()

    def missed(self, request: Request, read: int | None) -> bool:
        """Whether somebody else wrote between the version that was read last and this write."""
        found = request.log_fields or {}
        return "version" in found and found["version"] - 1 != (read or 0)

    def expected(self) -> dict[str, Any]:
        """What of others has to stand at the end, by ref: what each of their writes put, changed and took
        out, whichever write came over which. A write of theirs in which edgeshift's rule is missing replaced
        everything; one that has it was built on the version of which it carries the mark.
        """
        wanted: dict[str, Any] = {}
        marked: dict[str, dict[str, Any]] = {}
        for version in self._ordered:
            present = others(version.rules)
            mark = next((str(rule.get("description")) for rule in version.rules if is_ours(rule)), None)
            if (version.ruleset, version.number) in self.written:
                if mark is not None:
                    marked[mark] = present
                continue
            if mark is None or mark not in marked:
                wanted = dict(present)
                continue
            built_on = marked[mark]
            for ref in built_on.keys() - present.keys():
                wanted.pop(ref, None)
            wanted |= {ref: rule for ref, rule in present.items() if built_on.get(ref) != rule}
        return wanted

    def lost(self) -> list[str]:
        """Refs of rules of others that do not stand at the end as they should."""
        if self.last is None:
            return []
        wanted, present = self.expected(), others(self.last.rules)
        return sorted(ref for ref in wanted.keys() | present.keys() if wanted.get(ref) != present.get(ref))
