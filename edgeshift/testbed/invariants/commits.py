"""Rules 1, 2 and 3: what was sent to the entry point, checked by the journal and by what the approvers
signed.
"""

from __future__ import annotations

import itertools

from edgeshift.testbed.invariants.digests import body_fingerprint
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CheckerInput, RuleCheck
from edgeshift.testbed.invariants.signing import all_signed, sent_again, unsigned


def signed(seen: CheckerInput) -> RuleCheck:
    """Rule 1. No commit without a valid sign-off, by enough approvers, of exactly what was sent."""
    commits = [request for request in seen.journal if request.commits]
    return all_signed(seen, "no commit without a sign-off of what was sent", commits, _unsigned)


def _unsigned(seen: CheckerInput, request: Request) -> str | None:
    if request.log_only:
        return "a body that only logs was committed"
    if request.body_digest is None:
        return "what was committed is no ruleset"
    return unsigned(seen, request, _known_as(seen, request), request.body_digest)


def _known_as(seen: CheckerInput, request: Request) -> set[str]:
    """The digests under which a commit can have been signed: the body's own, and its fingerprint if it is
    known.
    """
    known = {request.body_digest or ""}
    zone = seen.zone.get(request.zone or "")
    if zone and (body := seen.proposals.get(request.body_digest or "")):
        known.add(body_fingerprint(body, zone.id, zone.name))
    return known


def once(seen: CheckerInput) -> RuleCheck:
    """Rule 2. A zone is committed at most once, and sent again by itself only on proof that nothing
    happened.
    """
    violations: list[str] = []
    checked = 0
    for zone, requests in seen.of_zone.items():
        sent = [request for request in requests if request.commits]
        checked += len(sent)
        name = seen.name(zone)
        if (effects := sum(request.took_effect for request in sent)) > 1:
            violations.append(f"{name}: committed {effects} times")
        for earlier, later in itertools.pairwise(sent):
            if why := sent_again(seen, "a commit", sent, earlier, later):
                violations.append(f"{name}: {why} (requests {earlier.seq} and {later.seq})")
        if sent:
            first = sent[0]
            late = [
                r
                for r in requests
                if r.validates and r.seq > first.seq and _settled_before(requests, first, r)
            ]
            violations += [f"{name}: validation was sent after the commit (request {r.seq})" for r in late]
    return RuleCheck(
        rule=2,
        title="a zone is committed at most once",
        checker="journal",
        checked=checked,
        violations=violations,
    )


def _settled_before(requests: list[Request], commit: Request, other: Request) -> bool:
    """Whether ``other`` came when the commit had taken effect."""
    return commit.took_effect or any(
        r.commits and r.took_effect and commit.seq <= r.seq < other.seq for r in requests
    )


def validated(seen: CheckerInput) -> RuleCheck:
    """Rule 3. Nothing is sent with ``validation`` to a zone that is not Enterprise."""
    sent = [request for request in seen.journal if request.validates]
    return RuleCheck(
        rule=3,
        title="validation goes to Enterprise zones alone",
        checker="journal",
        checked=len(sent),
        violations=[
            f"{seen.name(r.zone)}: validation was sent to a zone of plan {plan} (request {r.seq})"
            for r in sent
            if (plan := _plan(seen, r)) != "enterprise"
        ],
    )


def _plan(seen: CheckerInput, request: Request) -> str:
    """The zone's plan when the request came; a request that was turned away at the door does not say it."""
    at_service = seen.zone.get(request.zone or "")
    return request.plan or (at_service.plan if at_service else "unknown")
