"""What the testbed's witnesses know of the area: by the service's journal, the archive's files and the
Temporal server, and by nothing that the area says of itself.
"""

from __future__ import annotations

import itertools
from datetime import datetime

from edgeshift.testbed.invariants.areas import AreaWitness
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import Execution, RuleCheck, WitnessInput, ZoneAtService
from edgeshift.testbed.invariants.signing import all_signed, not_agreed, proposed, sent_again

AREA = "always-https"
SETTING = "always_use_https"
CALL = "settings.patch"


def _sends(request: Request, value: str) -> bool:
    sent = (request.setting or {}).get("sent")
    return request.call == CALL and not request.stranger and sent == value


def _turns_on(seen: WitnessInput, request: Request) -> bool:
    return _sends(request, "on")


def _goes_forward(seen: WitnessInput, request: Request) -> bool:
    return request.mutates and not _sends(request, "off")


def signed(seen: WitnessInput) -> RuleCheck:
    """Rule 1. The setting is not turned on without a sign-off of it."""
    sent = [request for request in seen.journal if _sends(request, "on")]
    return all_signed(seen, "no setting is turned on without a sign-off of it", sent, _unsigned)


def _unsigned(seen: WitnessInput, request: Request) -> str | None:
    found = proposed(seen, request, AREA)
    if found is None:
        return "turned on without a proposal of it"
    digest, body = found
    wanted = {"name": "always_https", "setting": SETTING, "change": {"from": "off", "to": "on"}}
    if body != wanted:
        return f"what was signed, {digest[:12]}, is something else"
    return not_agreed(seen, request, digest, body)


def once(seen: WitnessInput) -> RuleCheck:
    """Rule 2. A zone is turned on at most once until it is turned off, never again on a guess."""
    violations: list[str] = []
    checked = 0
    for zone, requests in seen.of_zone.items():
        sent = [request for request in requests if _sends(request, "on")]
        checked += len(sent)
        for earlier, later in itertools.pairwise(sent):
            off = any(
                request.call == CALL and request.took_effect and earlier.seq < request.seq < later.seq
                for request in requests
                if (request.setting or {}).get("after") == "off"
            )
            if not off and (why := sent_again(seen, "on", sent, earlier, later)):
                violations.append(f"{seen.name(zone)}: {why} (requests {earlier.seq} and {later.seq})")
    title = "a zone is turned on at most once, never again on a guess"
    return RuleCheck(rule=2, title=title, witness="journal", checked=checked, violations=violations)


def alone(seen: WitnessInput) -> RuleCheck:
    """Rule 3. No other setting is touched, and none is turned off that was not turned on before."""
    violations: list[str] = []
    checked = 0
    for zone, requests in seen.of_zone.items():
        begun = False
        for request in (one for one in requests if one.call == CALL and one.mutates):
            checked += 1
            if (request.setting or {}).get("name") != SETTING:
                violations.append(f"{seen.name(zone)}: another setting was sent (request {request.seq})")
            if _sends(request, "off") and not begun:
                violations.append(f"{seen.name(zone)}: turned off, never on before (request {request.seq})")
            begun = begun or _sends(request, "on")
    title = "no other setting is touched, none of others is turned off"
    return RuleCheck(rule=3, title=title, witness="journal", checked=checked, violations=violations)


def ended(seen: WitnessInput) -> RuleCheck:
    """Rule 4. A settled zone has the setting on, a rolled back one off."""
    violations: list[str] = []
    checked = 0
    for zone, executions in seen.executions_of.items():
        wanted = {"settled": "on", "rolled_back": "off"}.get(executions[-1].outcome or "")
        value = _value(seen.of_zone.get(zone, []))
        if wanted is None or value is None:
            continue
        checked += 1
        if value != wanted:
            violations.append(f"{seen.name(zone)}: ended as {executions[-1].outcome}, but it is {value}")
    title = "settled is on, rolled back is off"
    return RuleCheck(rule=4, title=title, witness="journal, Temporal", checked=checked, violations=violations)


def _value(requests: list[Request]) -> str | None:
    """What the setting is after these requests, by the service's own word."""
    known = [one.setting["after"] for one in requests if one.setting is not None and "after" in one.setting]
    return known[-1] if known else None


def _over(requests: list[Request]) -> datetime:
    """When a change was over: at once where it was refused, else at the next reading that shows it, or at the
    last one before the zone was sent more.
    """
    first, end = requests[0], requests[0].time
    if first.turned_away:
        return end
    for request in requests[1:]:
        if request.call == CALL:
            break
        if request.call == "settings.get":
            end = request.time
            if (request.setting or {}).get("after") == (first.setting or {}).get("sent"):
                break
    return end


def _disagrees(seen: WitnessInput, at_service: ZoneAtService, execution: Execution) -> str | None:
    requests = seen.of_zone.get(execution.zone, [])
    on = _value(requests) == "on"
    if execution.outcome in ("settled", "already_settled") and not on:
        return f"ended as {execution.outcome}, but the setting is off"
    sent = any(_sends(request, "on") and request.took_effect for request in requests)
    if sent and on and execution.outcome not in ("settled", "already_settled", "unknown", "failed"):
        return f"ended as {execution.outcome}, but the setting was turned on and is on still"
    return None


WITNESS = AreaWitness(
    workflow="AlwaysHttpsZone",
    calls=("settings.",),
    body="always_https",
    rules=(signed, once, alone, ended),
    snapshot=frozenset({"value"}),
    shows=("settings.get",),
    forward=_goes_forward,
    counts=_turns_on,
    over=_over,
    disagrees=_disagrees,
    answered=True,
)
