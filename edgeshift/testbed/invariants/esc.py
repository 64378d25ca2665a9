"""Rules 1 to 4 of Edge Side Code: checked by the journal, by what the approvers signed, and by the clock
of the service (docs/service.md §2.1, §3.1, §8).
"""

from __future__ import annotations

import itertools
from datetime import datetime

from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CheckerInput, Execution, RuleCheck, ZoneAtService
from edgeshift.testbed.invariants.signing import all_signed, not_agreed, proposed, sent_again

OFF = frozenset({"settled"})
CHANGED = frozenset({"settled", "already_settled"})
UNDECIDED = frozenset({"unknown", "failed"})
ON = frozenset({"rolled_back"})


def signed(seen: CheckerInput) -> RuleCheck:
    """Rule 1. No ``always`` without a valid sign-off, by enough approvers, of the digest that was sent."""
    sent = [request for request in seen.journal if request.turns_off]
    return all_signed(seen, "esc is not turned off without a sign-off of what that changes", sent, _unsigned)


def _unsigned(seen: CheckerInput, request: Request) -> str | None:
    found = proposed(seen, request, "esc")
    if found is None:
        return "turned off without a proposal of it"
    digest, body = found
    zone = seen.zone.get(request.zone or "")
    if body.get("name") != "disable_esc" or body.get("change") != {"always": True}:
        return f"what was signed, {digest[:12]}, does not turn esc off"
    if zone is not None and body.get("scope") != zone.kind:
        return f"what was signed, {digest[:12]}, is of another kind of scope"
    covers = (request.esc or {}).get("zones")
    if covers is not None and body.get("covers") != covers:
        return f"turned off for {covers} zones; what was signed covers {body.get('covers')}"
    return not_agreed(seen, request, digest, body)


def once(seen: CheckerInput) -> RuleCheck:
    """Rule 2. At most one ``always`` takes effect on a scope until a DELETE, and neither it nor a secret is
    sent again on a guess.
    """
    violations: list[str] = []
    checked = 0
    for scope, requests in seen.of_zone.items():
        name = seen.name(scope)
        sent = [request for request in requests if request.turns_off]
        secrets = [request for request in requests if request.sets_secret]
        checked += len(sent) + len(secrets)
        for period in _periods(requests):
            effects = [request.seq for request in period if request.took_effect]
            if len(effects) > 1:
                violations.append(f"{name}: turned off {len(effects)} times (requests {effects})")
            for earlier, later in itertools.pairwise(period):
                if why := sent_again(seen, "always", sent, earlier, later):
                    violations.append(f"{name}: {why} (requests {earlier.seq} and {later.seq})")
        for earlier, later in itertools.pairwise(secrets):
            known = earlier.refused or earlier.status == 429 or earlier.took_effect
            if not known and not _read_between(requests, earlier, later):
                violations.append(
                    f"{name}: a secret was sent again on a guess (requests {earlier.seq} and {later.seq})"
                )
    return RuleCheck(
        rule=2,
        title="a scope is turned off at most once, never again on a guess",
        checker="journal",
        checked=checked,
        violations=violations,
    )


def _periods(requests: list[Request]) -> list[list[Request]]:
    """The requests that turn a scope off, apart where it was turned on again between them, by anybody."""
    found: list[list[Request]] = [[]]
    for request in requests:
        if request.call == "esc.delete" and request.took_effect:
            found.append([])
        elif request.turns_off:
            found[-1].append(request)
    return found


def _read_between(requests: list[Request], earlier: Request, later: Request) -> bool:
    return any(
        request.call == "esc.get" and request.status == 200 and earlier.seq < request.seq < later.seq
        for request in requests
    )


def untouched(seen: CheckerInput) -> RuleCheck:
    """Rule 3. A customer's own secret is never overwritten, and none is longer than the service takes."""
    violations: list[str] = []
    checked = 0
    for scope, requests in seen.of_zone.items():
        name = seen.name(scope)
        ours = False
        for request in requests:
            if not request.sets_secret:
                continue
            checked += 1
            facts = request.esc or {}
            if (characters := facts.get("characters", 0)) > seen.service.longest_esc_secret:
                violations.append(f"{name}: a secret of {characters} characters (request {request.seq})")
            if (facts.get("before") or {}).get("secret") and not ours:
                violations.append(
                    f"{name}: a secret was set where somebody had one already (request {request.seq})"
                )
            ours = ours or request.took_effect
        begun = [one.esc["before"] for one in requests if one.esc is not None and "before" in one.esc]
        if begun and begun[0]["secret"] and any(request.mutates for request in requests):
            # Worked on with a secret of the customer's own: not setting one is what is looked for.
            checked += 1
    return RuleCheck(
        rule=3,
        title="a customer's secret is never overwritten, none is too long",
        checker="journal",
        checked=checked,
        violations=violations,
    )


def ended(seen: CheckerInput) -> RuleCheck:
    """Rule 4. Nothing is sent past the removal date; a scope that was rolled back ends on, a settled one
    off.
    """
    sent = [request for request in seen.journal if request.mutates and request.area == "esc"]
    violations = [
        f"{seen.name(request.zone)}: {request.call} was sent past the removal date (request {request.seq})"
        for request in sent
        if (request.service_time or request.time) >= seen.service.esc_removed_at
    ]
    checked = len(sent)
    for scope, executions in seen.executions_of.items():
        last = executions[-1]
        requests = seen.of_zone.get(scope, [])
        if last.outcome not in OFF | ON or _touched_since(requests, last):
            continue
        checked += 1
        off = turned_off(requests, seen.service.esc_removed_at)
        if off is not (last.outcome in OFF):
            violations.append(
                f"{seen.name(scope)}: ended as {last.outcome}, but esc is {'off' if off else 'on'}"
            )
    return RuleCheck(
        rule=4,
        title="nothing past the removal date; rolled back is on, settled is off",
        checker="journal, the service's clock",
        checked=checked,
        violations=violations,
    )


def turned_off(requests: list[Request], removed_at: datetime) -> bool:
    """Whether Edge Side Code of a scope is off after these requests of it, by the service's own word. What
    the removal date did does not count.
    """
    off = False
    for request in requests:
        after = (request.esc or {}).get("after")
        if after is not None and (request.service_time or request.time) < removed_at:
            off = bool(after["always"])
    return off


def _touched_since(requests: list[Request], execution: Execution) -> bool:
    """Whether somebody else changed the scope after the execution had ended."""
    closed = execution.closed_at
    return any(
        request.stranger and request.took_effect and closed is not None and request.time >= closed
        for request in requests
    )


def landed(requests: list[Request]) -> datetime:
    """When turning a scope off (the first of its ``requests``) was over: at once if it was refused, else when
    a later reading showed it, else at the last reading before the scope was sent more.
    """
    first, end = requests[0], requests[0].time
    if first.turned_away:
        return end
    for request in requests[1:]:
        if request.mutates:
            break
        if request.call == "esc.get":
            end = request.time
            if request.status == 200 and ((request.esc or {}).get("shown") or {}).get("always"):
                break
    return end


def disagrees(seen: CheckerInput, at_service: ZoneAtService, execution: Execution) -> str | None:
    """Where Edge Side Code stands, against the outcome of the scope's last execution."""
    requests = seen.of_zone.get(execution.zone, [])
    if not any(request.took_effect for request in requests if request.turns_off):
        return "ended as settled, but nobody turned esc off" if execution.outcome == "settled" else None
    removed_at = seen.service.esc_removed_at
    if execution.outcome not in CHANGED | UNDECIDED and turned_off(requests, removed_at):
        return f"ended as {execution.outcome}, but esc was turned off and is off still"
    return None
