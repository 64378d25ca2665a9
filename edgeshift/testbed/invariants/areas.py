"""The areas as their checkers know them: nothing here is taken from what edgeshift says of an area."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from edgeshift.testbed.invariants import commits, esc, log_fields, migration, owners
from edgeshift.testbed.invariants.installed import installed
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CheckerInput, Execution, RuleCheck, ZoneAtService
from edgeshift.testbed.invariants.support_cases import supported

Rule = Callable[[CheckerInput], RuleCheck]


@dataclass(frozen=True)
class AreaChecker:
    """One area, for its checkers.

    ``workflow``: the name of the workflow of one target. ``owns``: whether a request is one of the area's and
    of no other; usually by the names of its calls (``owners.by_calls``). ``body``: the name of the bodies
    that people sign, empty where they are rulesets. ``rules``: the rules 1 to 4 in the area's own words.
    ``snapshot``: the parts of a zone that a snapshot has at the least. ``shows``: how the names of the calls
    begin that show a change. ``answered``: whether a change is over once it is answered. ``reversible``:
    whether it can be undone; a failed one that cannot keeps its place. ``accounts``: whether an account may
    be changed, for all its zones, each of which is held meanwhile.

    ``forward``: whether a change goes forward; the rollback is no step that a pause or an abort holds up.
    ``counts``: whether a request is the step that the in-flight window is about. ``over``: when the first of
    a scope's requests was over, as the service showed it. ``disagrees``: why the service does not agree with
    how an execution ended, or None.
    """

    workflow: str
    owns: Callable[[Request], bool]
    body: str
    rules: tuple[Rule, Rule, Rule, Rule]
    snapshot: frozenset[str]
    shows: tuple[str, ...]
    forward: Callable[[CheckerInput, Request], bool]
    counts: Callable[[CheckerInput, Request], bool]
    over: Callable[[list[Request]], datetime]
    disagrees: Callable[[CheckerInput, ZoneAtService, Execution], str | None]
    answered: bool = False
    reversible: bool = True
    accounts: bool = False


WAF = AreaChecker(
    workflow="WafZone",
    owns=owners.waf,
    body="",
    rules=(commits.signed, commits.once, commits.validated, supported),
    snapshot=frozenset({"check", "firewall_rules", "page_rules", "overrides", "packages", "groups"}),
    shows=("waf.status", "waf.check"),
    forward=lambda seen, request: request.mutates,
    counts=lambda seen, request: request.commits,
    over=migration.landed,
    disagrees=migration.disagrees,
    reversible=False,
)
ESC = AreaChecker(
    workflow="EscScope",
    owns=owners.esc,
    body="disable_esc",
    rules=(esc.signed, esc.once, esc.untouched, esc.ended),
    snapshot=frozenset({"always", "secret"}),
    shows=("esc.get",),
    forward=lambda seen, request: not request.turns_on,
    counts=lambda seen, request: request.turns_off,
    over=esc.landed,
    disagrees=esc.disagrees,
    accounts=True,
)
LOG_FIELDS = AreaChecker(
    workflow="LogFieldsZone",
    owns=owners.log_fields,
    body="log_fields",
    rules=(log_fields.signed, log_fields.once, log_fields.entitled, log_fields.kept),
    snapshot=frozenset({"plan", "rulesets", "jobs"}),
    shows=("rulesets.", "entrypoint.", "logpush.jobs."),
    forward=log_fields.is_forward,
    counts=lambda seen, request: request.mutates and log_fields.is_forward(seen, request),
    over=log_fields.landed,
    disagrees=log_fields.disagrees,
    answered=True,
)
NOBODYS = replace(
    WAF,
    workflow="",
    owns=lambda request: request.area == owners.NOBODYS,
    snapshot=frozenset(),
    shows=(),
    counts=lambda seen, request: False,
)
"""Of what no area owns: a change that goes forward, and that no campaign is about (check.py)."""


@cache
def checkers() -> dict[str, AreaChecker]:
    """Every area by its name. Raises TypeError where an installed one is no ``AreaChecker``."""
    found = {"waf": WAF, "esc": ESC, "log-fields": LOG_FIELDS}
    for name, one in installed().items():
        if not isinstance(one, AreaChecker):
            raise TypeError(f"the checker of the area {name} is a {type(one).__name__}")
        found.setdefault(name, one)
    return found


def checker_of(request: Request) -> AreaChecker:
    """That of the area which owns a request."""
    return checkers().get(request.area, NOBODYS)
