"""Ruleset bodies of the WAF migration: proposing, adjusting, shadowing, comparing (docs/service.md §3.2,
§4.3). Pure.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, Field, model_validator

from edgeshift.areas.waf.answers import (
    MANAGED_RULESET,
    OWASP_RULESET,
    Reading,
    page_rule_patterns,
)
from edgeshift.areas.waf.bypass_rules import missing_skips
from edgeshift.areas.waf.names import NAMES, OWASP_SCORE_RULE, named
from edgeshift.areas.waf.page_rules import (
    TooLong,
    Unwritable,
    covered,
    fits_all,
    off_but_for,
    skip_rule,
    skipped_whole,
    turns_off,
)
from edgeshift.areas.waf.plain import given_as_latest, given_numbers, plain, without_given
from edgeshift.areas.waf.url_patterns import may_overlap
from edgeshift.model.digests import Body, NotCanonical, canonical_bytes, essence, sha256
from edgeshift.model.fleet import Plan
from edgeshift.model.validators import NUMBER, TRUTH, Part
from edgeshift.profiles import SPECIFICATION, ServiceProfile


class Mode(StrEnum):
    """The value of ``waf_migration`` (docs/service.md §3.2)."""

    PENDING = "pending"
    VALIDATION = "validation"


class Adjustment(Part):
    """A change that the campaign makes to every proposal, beside what the service returned.

    With ``rule``: that rule of the managed ruleset is overridden. Without: the whole managed ruleset.
    """

    ruleset: str = Field(default=MANAGED_RULESET, description="The managed ruleset that is adjusted.")
    rule: str | None = Field(
        default=None, description="One rule of the ruleset; leave it out for the ruleset as a whole."
    )
    action: str | None = Field(
        default=None, description="What it does: log, block, challenge, js_challenge or managed_challenge."
    )
    enabled: Annotated[bool, TRUTH] | None = Field(
        default=None, description="Whether the rule or ruleset is on."
    )
    score_threshold: Annotated[int, NUMBER] | None = Field(
        default=None,
        description="The score from which the OWASP score rule acts: with `ruleset` and `rule` of that rule.",
    )

    @model_validator(mode="after")
    def _changes_something(self) -> Adjustment:
        if self.action is None and self.enabled is None and self.score_threshold is None:
            raise ValueError("changes nothing; give action, enabled or score_threshold")
        return self

    def threshold_in_vain(self) -> str | None:
        """Why its ``score_threshold`` would change nothing, or None: the score rule's own counts, which the
        configuration always has (docs/service.md §2.4). A file that has such a one is refused; what an
        earlier version has archived is read.
        """
        where = (self.ruleset, self.rule)
        if self.score_threshold is None or where == (OWASP_RULESET, OWASP_SCORE_RULE):
            return None
        right = f"give ruleset: {OWASP_RULESET} and rule: {OWASP_SCORE_RULE}"
        return f"only the OWASP score rule has one; {right}"

    def action_in_vain(self) -> str | None:
        """Why its ``action`` would change nothing, or None: of the OWASP core ruleset the score rule alone
        acts, and by an action of its own, which the configuration always has (docs/service.md §2.4). It is
        read and refused like a threshold.
        """
        if self.action is None or self.ruleset != OWASP_RULESET or self.rule is not None:
            return None
        return f"the OWASP score rule has an action of its own, which counts; give rule: {OWASP_SCORE_RULE}"


class Proposal(BaseModel):
    """The exact body that would be sent, and what was added to what the service returned, one sentence each.
    ``unwritable``: URL patterns of page rules for which a rule is missing, since no expression that the
    service knows says them; such a body is not proposed to anybody. ``too_long``: those of them whose
    expression would be longer than the service takes. ``unused``: what was not adjusted, one sentence each.
    """

    body: Body
    additions: tuple[str, ...] = ()
    unwritable: tuple[str, ...] = ()
    too_long: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


def may_send(mode: Mode, plan: Plan) -> str | None:
    """Why this mode must not be sent to a zone of this plan, or None (docs/service.md §3.2)."""
    if mode is Mode.VALIDATION and plan is not Plan.ENTERPRISE:
        return f"only Enterprise zones have a validation mode; this zone's plan is {plan.value}"
    return None


# --- the proposal


def propose(
    reading: Reading, adjustments: Sequence[Adjustment] = (), profile: ServiceProfile = SPECIFICATION
) -> Proposal:
    """The body to be signed: the returned configuration, the adjustments, and skip rules where a gap would
    open. ``profile``: what the service is like that takes it.
    """
    if reading.config is None:
        raise ValueError("no configuration was read")
    config = reading.config
    body: Body = copy.deepcopy({"name": config.get("name") or "default", "rules": config["rules"]})
    additions: list[str] = []
    unwritable: list[str] = []
    too_long: list[str] = []
    for identifier, skip in missing_skips(reading.firewall_rules, body["rules"]):
        body["rules"].insert(0, skip)
        additions.append(f"skip rule for the firewall rule {identifier}, which does not bypass the new WAF")
    for rule, before in off_but_for(reading):
        description = f"Page rule {rule.get('id', '')}: {', '.join(turns_off(rule))}"
        if any(fits_all(pattern) for pattern in before):
            continue
        for pattern in page_rule_patterns(rule):
            if covered(pattern, body["rules"], before):
                continue
            excepted = [other for other in before if may_overlap(pattern, other)]
            try:
                skip = skip_rule(pattern, description, excepted, wildcard=profile.wildcard)
                if len(skip["expression"].encode()) > profile.longest_expression:
                    raise TooLong(pattern)
            except Unwritable as why:
                unwritable.append(why.pattern)
                too_long += [why.pattern] if isinstance(why, TooLong) else []
                continue
            if skip["expression"] in skipped_whole(body["rules"]):
                # It has exceptions that are read as no pattern, and is edgeshift's own word by word.
                continue
            body["rules"].insert(0, skip)
            additions.append(f"skip rule for the page rule on {pattern}, which does not disable the new WAF")
    unused: list[str] = []
    for adjustment in adjustments:
        if not adjust(body, adjustment):
            subject = named(adjustment.ruleset, NAMES)
            unused.append(f"not adjusted: {subject}, which no rule of the configuration runs")
        else:
            subject = f"rule {adjustment.rule}" if adjustment.rule else f"ruleset {adjustment.ruleset}"
            additions.append(f"adjusted {subject}")
    return Proposal(
        body=body,
        additions=tuple(additions),
        unwritable=tuple(dict.fromkeys(unwritable)),
        too_long=tuple(dict.fromkeys(too_long)),
        unused=tuple(dict.fromkeys(unused)),
    )


_ID = re.compile("[0-9a-f]{32}")


def with_assigned(body: Body) -> Body:
    """The body with ``id``, ``version`` and ``ref`` for each rule, which a commit may not leave out
    (docs/service.md §4.3): as they are in it, and empty where one is missing, or is none by its form. One odd
    answer is no reason to be refused for what the digest leaves out anyway.
    """
    found = copy.deepcopy(body)
    for rule in found["rules"]:
        for key in ("id", "version", "ref"):
            if not isinstance(rule.get(key), str):
                rule[key] = ""
        if not _ID.fullmatch(rule["id"]):
            rule["id"] = ""
    return found


def adjust(body: Body, adjustment: Adjustment) -> bool:
    """Apply an adjustment to every execute rule of its managed ruleset; whether there was one."""
    change = adjustment.model_dump(include={"action", "enabled", "score_threshold"}, exclude_none=True)
    found = False
    for rule in body["rules"]:
        if (
            rule.get("action") != "execute"
            or (rule.get("action_parameters") or {}).get("id") != adjustment.ruleset
        ):
            continue
        found = True
        overrides = _overrides_to_change(rule)
        if adjustment.rule is None:
            overrides.update(change)
            continue
        overrides["rules"] = listed = overrides.get("rules") or []
        known = next((item for item in listed if item.get("id") == adjustment.rule), None)
        if known is None:
            listed.append({"id": adjustment.rule, **change})
        else:
            known.update(change)
    return found


def _overrides_to_change(rule: dict[str, Any]) -> dict[str, Any]:
    """The overrides of an execute rule, made where it has none or null."""
    rule["action_parameters"] = parameters = rule.get("action_parameters") or {}
    parameters["overrides"] = overrides = parameters.get("overrides") or {}
    found: dict[str, Any] = overrides
    return found


# --- bodies that only log


class Effect(StrEnum):
    """The most that a rule of a body can do to a request."""

    NOTHING = "nothing"
    LOGS = "logs"
    ACTS = "acts"


def shadow(body: Body) -> Body:
    """The body for a shadow validation: every managed rule only logs, so that the previous WAF still
    protects.
    """
    found = copy.deepcopy(body)
    for rule in found["rules"]:
        if rule.get("action") == "execute":
            overrides = _overrides_to_change(rule)
            overrides["action"] = "log"
            for item in _items(overrides):
                if "action" in item:
                    item["action"] = "log"
        elif effect(rule) is Effect.ACTS:
            rule["action"] = "log"
            rule.pop("action_parameters", None)
    return found


def is_log_only(body: Mapping[str, Any]) -> bool:
    """Whether the body runs something, and nothing that it runs can do more than log.

    Such a body is never committed. A body that runs nothing at all, as of a zone whose WAF is off, is none.
    """
    effects = {effect(rule) for rule in body["rules"]}
    return Effect.LOGS in effects and Effect.ACTS not in effects


def effect(rule: Mapping[str, Any]) -> Effect:
    """The most that a rule of a body can do. What is not known to be harmless acts."""
    if rule.get("enabled", True) is False or rule.get("action") == "skip":
        return Effect.NOTHING
    if rule.get("action") != "execute":
        return Effect.LOGS if rule.get("action") == "log" else Effect.ACTS
    overrides = (rule.get("action_parameters") or {}).get("overrides") or {}
    runs = overrides.get("enabled") is not False
    whole = overrides.get("action")
    running = [item for item in _items(overrides) if _or(item.get("enabled"), runs) is not False]
    if not runs and not running:
        return Effect.NOTHING
    if (runs and whole != "log") or any(_or(item.get("action"), whole) != "log" for item in running):
        return Effect.ACTS
    return Effect.LOGS


def _items(overrides: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*(overrides.get("rules") or ()), *(overrides.get("categories") or ())]


def _or(value: object, otherwise: object) -> object:
    return otherwise if value is None else value


# --- trust


def unsound(body: object) -> str | None:
    """Why an answer cannot be used as a configuration, or None. Anything odd fails closed."""
    if not isinstance(body, Mapping) or not isinstance(body.get("rules"), list):
        return "the configuration has no list of rules"
    if not body["rules"]:
        return "the configuration has no rules"
    for place, rule in enumerate(body["rules"]):
        if not isinstance(rule, Mapping):
            return f"rules[{place}] is not an object"
        if not isinstance(rule.get("action"), str) or not isinstance(rule.get("expression"), str):
            return f"rules[{place}] has no action or no expression"
        if odd := _odd_parameters(rule.get("action_parameters")):
            return f"rules[{place}].{odd}"
    try:
        canonical_bytes(essence(body))
    except NotCanonical as why:
        return str(why)
    return None


def _odd_parameters(parameters: object) -> str | None:
    if parameters is None:
        return None
    if not isinstance(parameters, Mapping):
        return "action_parameters is not an object"
    overrides = parameters.get("overrides")
    if overrides is None:
        return None
    if not isinstance(overrides, Mapping):
        return "action_parameters.overrides is not an object"
    for key in ("rules", "categories"):
        items = overrides.get(key)
        if items is None:
            continue
        if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
            return f"action_parameters.overrides.{key} is not a list of objects"
    return None


def rules_digest(stored: Mapping[str, Any] | None) -> str:
    """The digest of what a zone runs, without what the service assigns to a rule; empty where it has no rules
    that can be read. Whether they are those that were signed, ``same_rules`` says.
    """
    if stored is None or unsound(stored) is not None:
        return ""
    return sha256(canonical_bytes(essence(stored)["rules"]))


def same_rules(stored: Mapping[str, Any] | None, signed: Body) -> bool:
    """Whether what the service stores equals the signed body but for what the service assigns, the version
    of a managed ruleset where none was signed, and what says nothing.
    """
    if stored is None or unsound(stored) is not None:
        return False
    try:
        return _plain_rules(without_given(stored, signed)) == _plain_rules(signed)
    except RecursionError:
        # It has a canonical JSON as it is, but is nested too deeply for more.
        return False


def pinned_since(stored: Mapping[str, Any] | None, signed: Body, known: str) -> bool:
    """Whether somebody has pinned a managed ruleset to a version since its zone had rules of the digest
    ``known``. ``stored``: rules that are ``same_rules`` as ``signed``. They had no number then, and have one
    where none was signed. A service that gives numbers had given one before.
    """
    if stored is None or not given_numbers(stored, signed):
        return False
    before = (without_given(stored, signed), given_as_latest(stored, signed))
    return known in {rules_digest(body) for body in before}


def _plain_rules(body: Mapping[str, Any]) -> bytes:
    return canonical_bytes(plain(body)["rules"])
