"""What the testbed's checkers know of the area: by the service's journal, the archive's files and the
Temporal server, and by nothing that the area says of itself.
"""

from __future__ import annotations

import itertools
from datetime import datetime

from edgeshift.testbed.invariants.areas import AreaChecker
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CheckerInput, Execution, RuleCheck, ZoneAtService
from edgeshift.testbed.invariants.signing import all_signed, not_agreed, proposed, sent_again

AREA = "always-https"
SETTING = "always_use_https"
CALL = "settings.patch"

VALUES = ("on", "off")


def owns(request: Request) -> bool:
    """Whether a request is about the area's own setting: each of the others may be another area's."""
    return request.call.startswith("settings.") and (request.setting or {}).get("name") == SETTING


def _sent(request: Request) -> str | None:
    """The value that edgeshift has sent, if the request sends one."""
    mine = owns(request) and request.call == CALL and request.mutates
    return (request.setting or {}).get("sent") if mine else None


def _wanted(body: dict[str, object]) -> str | None:
    """The value that a body sets, or None where it is no body of the area."""
    wanted = (
        (after, {"name": "always_https", "setting": SETTING, "change": {"from": before, "to": after}})
        for before, after in (VALUES, VALUES[::-1])
    )
    return next((after for after, one in wanted if one == body), None)


def _goes_back(seen: CheckerInput, request: Request) -> bool:
    """Whether a request takes back what the latest proposal of its zone has set."""
    found, sent = proposed(seen, request, AREA), _sent(request)
    if found is None or sent is None or (wanted := _wanted(found[1])) in (None, sent):
        return False
    earlier = seen.of_zone.get(request.zone or "", [])
    return any(_sent(one) == wanted for one in earlier if one.seq < request.seq)


def _goes_forward(seen: CheckerInput, request: Request) -> bool:
    return request.mutates and not _goes_back(seen, request)


def _sets(seen: CheckerInput, request: Request) -> bool:
    return _sent(request) is not None and not _goes_back(seen, request)


def signed(seen: CheckerInput) -> RuleCheck:
    """Rule 1. The setting is not changed without a sign-off of the value that is sent."""
    sent = [request for request in seen.journal if _sets(seen, request)]
    return all_signed(seen, "no setting is changed without a sign-off of it", sent, _unsigned)


def _unsigned(seen: CheckerInput, request: Request) -> str | None:
    found = proposed(seen, request, AREA)
    if found is None:
        return "changed without a proposal of it"
    digest, body = found
    if _wanted(body) != _sent(request):
        return f"what was signed, {digest[:12]}, is something else"
    return not_agreed(seen, request, digest, body)


def once(seen: CheckerInput) -> RuleCheck:
    """Rule 2. A zone is set at most once until it is set back, never again on a guess."""
    violations: list[str] = []
    checked = 0
    for zone, requests in seen.of_zone.items():
        sent = [request for request in requests if _sets(seen, request)]
        checked += len(sent)
        for earlier, later in itertools.pairwise(sent):
            if _sent(earlier) != _sent(later):
                # Another campaign, the other way round: rule 1 asks for its own sign-off.
                continue
            back = any(
                owns(request) and request.took_effect and earlier.seq < request.seq < later.seq
                for request in requests
                if (request.setting or {}).get("after") != _sent(earlier)
            )
            if not back and (why := sent_again(seen, str(_sent(later)), sent, earlier, later)):
                violations.append(f"{seen.name(zone)}: {why} (requests {earlier.seq} and {later.seq})")
    title = "a zone is set at most once, never again on a guess"
    return RuleCheck(rule=2, title=title, checker="journal", checked=checked, violations=violations)


def alone(seen: CheckerInput) -> RuleCheck:
    """Rule 3. No other setting is touched."""
    violations: list[str] = []
    checked = 0
    for zone, requests in seen.of_zone.items():
        for request in (one for one in requests if one.call == CALL and one.mutates):
            checked += 1
            if (request.setting or {}).get("name") != SETTING:
                violations.append(f"{seen.name(zone)}: another setting was sent (request {request.seq})")
    title = "no other setting is touched"
    return RuleCheck(rule=3, title=title, checker="journal", checked=checked, violations=violations)


def ended(seen: CheckerInput) -> RuleCheck:
    """Rule 4. A settled zone has the value that was sent, a rolled back one the other."""
    violations: list[str] = []
    checked = 0
    for zone, executions in seen.executions_of.items():
        outcome, requests = executions[-1].outcome, seen.of_zone.get(zone, [])
        if outcome not in ("settled", "rolled_back"):
            continue
        checked += 1
        sent = [_sent(request) for request in requests if _sets(seen, request)]
        value = _value(requests)
        if not sent:
            violations.append(f"{seen.name(zone)}: ended as {outcome}, and nothing was sent")
        elif (value == sent[-1]) != (outcome == "settled"):
            violations.append(f"{seen.name(zone)}: ended as {outcome}, but it is {value}")
    title = "settled is as it was set, rolled back is not"
    return RuleCheck(rule=4, title=title, checker="journal, Temporal", checked=checked, violations=violations)


def _value(requests: list[Request]) -> str | None:
    """What the setting is after these requests, by the service's own word."""
    known = [one.setting["after"] for one in requests if one.setting and owns(one) and "after" in one.setting]
    return known[-1] if known else None


def _over(requests: list[Request]) -> datetime:
    """When a change was over: at once where it was refused, else at the next reading that shows it, or at the
    last one before the zone was sent more.
    """
    first, end = requests[0], requests[0].time
    if first.turned_away:
        return end
    for request in filter(owns, requests[1:]):
        if request.call == CALL:
            break
        if request.call == "settings.get":
            end = request.time
            if (request.setting or {}).get("after") == (first.setting or {}).get("sent"):
                break
    return end


def _disagrees(seen: CheckerInput, at_service: ZoneAtService, execution: Execution) -> str | None:
    requests = seen.of_zone.get(execution.zone, [])
    value = _value(requests)
    sent = [request for request in requests if _sets(seen, request) and request.took_effect]
    if execution.outcome == "settled" and not (sent and value == _sent(sent[-1])):
        return f"ended as settled, but the setting is {value}"
    if execution.outcome == "already_settled" and value not in _agreed(seen):
        return f"ended as already settled, but the setting is {value}"
    fits = execution.outcome in ("settled", "already_settled", "unknown", "failed")
    if sent and value == _sent(sent[-1]) and not fits:
        return f"ended as {execution.outcome}, but the setting was turned {value} and is so still"
    return None


def _agreed(seen: CheckerInput) -> set[str | None]:
    """The values that the campaigns set, by what people have read."""
    return {_wanted(body) for body in seen.proposals.values()} - {None}


CHECKER = AreaChecker(
    workflow="AlwaysHttpsZone",
    owns=owns,
    body="always_https",
    rules=(signed, once, alone, ended),
    snapshot=frozenset({"value"}),
    shows=("settings.get",),
    forward=_goes_forward,
    counts=_sets,
    over=_over,
    disagrees=_disagrees,
    answered=True,
)
