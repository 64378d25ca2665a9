"""Rules 1, 2 and 3: what was sent to the entry point, witnessed by the journal and by what the approvers
signed.
"""

from __future__ import annotations

import itertools

from edgeshift.witness.digests import body_fingerprint, by_digest
from edgeshift.witness.seen import Request, RuleCheck, WitnessInput

_UNKNOWN_4XX = frozenset({408, 409})


def signed(seen: WitnessInput) -> RuleCheck:
    """Rule 1. No commit without a valid sign-off, by enough approvers, of exactly what was sent."""
    bodies = by_digest([*seen.bodies, *(body for zone in seen.zones for body in zone.bodies)])
    commits = [request for request in seen.journal if request.commits]
    violations = []
    for request in commits:
        name = seen.name(request.zone)
        if request.log_only:
            violations.append(f"{name}: a body that only logs was committed (request {request.seq})")
        if request.body_digest is None:
            violations.append(f"{name}: what was committed is no ruleset (request {request.seq})")
        elif why := _unsigned(seen, request, _known_as(seen, request, bodies)):
            violations.append(f"{name}: {why} (request {request.seq})")
    return RuleCheck(
        rule=1,
        title="no commit without a sign-off of what was sent",
        witness="journal, approvers' record",
        checked=len(commits),
        violations=violations,
    )


def _known_as(seen: WitnessInput, request: Request, bodies: dict[str, dict[str, object]]) -> set[str]:
    """The digests under which a commit can have been signed: the body's own, and its fingerprint if it is
    known.
    """
    known = {request.body_digest or ""}
    zone = seen.zone.get(request.zone or "")
    if zone and (body := bodies.get(request.body_digest or "")):
        known.add(body_fingerprint(body, zone.id, zone.name))
    return known


def _unsigned(seen: WitnessInput, request: Request, known: set[str]) -> str | None:
    people: set[str] = set()
    campaigns = seen.campaigns_of(request.zone or "")
    valid_for = min((c.valid_for for c in campaigns if c.valid_for is not None), default=None)
    late = False
    reopened = [word.at for word in seen.words if word.zone == request.zone and word.at <= request.time]
    for signature in sorted(seen.signatures, key=lambda signature: signature.at):
        if signature.digest not in known or signature.zone not in (None, request.zone):
            continue
        if signature.at > request.time:
            late = True
        elif signature.choice == "reject":
            if not any(signature.at <= moment for moment in reopened):
                return f"committed although {signature.by} had rejected it"
            # Reopened by a person's word: whatever was signed up to the rejection is void.
            people.clear()
        elif valid_for is None or request.time - signature.at <= valid_for:
            people.add(signature.by)
        else:
            late = True
    required = max((campaign.required for campaign in campaigns), default=1)
    if len(people) >= required:
        return None
    when = "; signed only after it was sent, or too long before" if late else ""
    return f"{len(people)} of {required} approvers had signed {(request.body_digest or '')[:12]}{when}"


def once(seen: WitnessInput) -> RuleCheck:
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
            if why := _sent_again(seen, zone, earlier, later):
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
        witness="journal",
        checked=checked,
        violations=violations,
    )


def _settled_before(requests: list[Request], commit: Request, other: Request) -> bool:
    """Whether ``other`` came when the commit had taken effect."""
    return commit.took_effect or any(
        r.commits and r.took_effect and commit.seq <= r.seq < other.seq for r in requests
    )


def _sent_again(seen: WitnessInput, zone: str, earlier: Request, later: Request) -> str | None:
    if earlier.took_effect:
        return "a commit was sent again after it had taken effect"
    if earlier.status == 429:
        return None
    if any(word.zone in (None, zone) and earlier.time <= word.at <= later.time for word in seen.words):
        return None
    ended = earlier.status is not None and 400 <= earlier.status < 500 and earlier.status not in _UNKNOWN_4XX
    if ended:
        return f"a commit that was refused ({earlier.status}) was sent again without a person's word"
    campaigns = seen.campaigns_of(zone)
    allowed = max((campaign.resend_unchanged for campaign in campaigns), default=0)
    limit = min((campaign.migration_limit for campaign in campaigns), default=None)
    before = sum(1 for request in seen.of_zone[zone] if request.commits and request.seq <= earlier.seq)
    if allowed < before:
        return "a commit of unknown outcome was sent again without a person's word"
    if limit is not None and later.time - earlier.time < limit:
        return "a commit of unknown outcome was sent again before a migration's time had passed"
    return None


def validated(seen: WitnessInput) -> RuleCheck:
    """Rule 3. Nothing is sent with ``validation`` to a zone that is not Enterprise."""
    sent = [request for request in seen.journal if request.validates]
    return RuleCheck(
        rule=3,
        title="validation goes to Enterprise zones alone",
        witness="journal",
        checked=len(sent),
        violations=[
            f"{seen.name(r.zone)}: validation was sent to a zone of plan {plan} (request {r.seq})"
            for r in sent
            if (plan := _plan(seen, r)) != "enterprise"
        ],
    )


def _plan(seen: WitnessInput, request: Request) -> str:
    """The zone's plan when the request came; a request that was turned away at the door does not say it."""
    at_service = seen.zone.get(request.zone or "")
    return request.plan or (at_service.plan if at_service else "unknown")
