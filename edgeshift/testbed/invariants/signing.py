"""What rules 1, 2 and 12 ask in every area: who had signed what was sent, by their own record, or by their
keys; and what lets it be sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from typing import Any

from edgeshift.testbed.invariants.digests import body_fingerprint
from edgeshift.testbed.invariants.keys import CLOCKS_APART, Sent, unsigned_by_key
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CheckerInput, RuleCheck, Signature, Word


def all_signed(
    seen: CheckerInput,
    title: str,
    sent: Sequence[Request],
    why_not: Callable[[CheckerInput, Request], str | None],
) -> RuleCheck:
    """Rule 1, of an area; or what rule 12 has of it. ``sent``: what needs a sign-off; ``why_not``: why a
    request had none, or None.
    """
    return RuleCheck(
        rule=12 if seen.by_keys else 1,
        title=title,
        checker="journal, signed statements" if seen.by_keys else "journal, approvers' record",
        checked=len(sent),
        violations=[
            f"{seen.name(request.zone)}: {why} (request {request.seq})"
            for request in sent
            if (why := why_not(seen, request))
        ],
    )


def unsigned(seen: CheckerInput, request: Request, known: Collection[str], digest: str | None) -> str | None:
    """Why a request has not been signed by enough people, or None. ``known``: the digests under which it can
    have been; ``digest``: the one that people are told.
    """
    if seen.by_keys:
        return _unsigned_by_key(seen, request, known)
    people: set[str] = set()
    campaigns = seen.campaigns_of(request.zone or "")
    valid_for = min((c.valid_for + c.sending for c in campaigns if c.valid_for is not None), default=None)
    late = False
    rejected_by: str | None = None
    for event in _in_turn(seen, request, known):
        if isinstance(event, Word):
            if rejected_by is not None:
                # Decided anew: neither the rejection counts nor what was signed before the reopening, be it
                # before the rejection or after it.
                rejected_by = None
                people.clear()
        elif event.at > request.time:
            late = True
        elif event.choice == "reject":
            rejected_by = rejected_by or event.by
        elif valid_for is None or request.time - event.at <= valid_for:
            people.add(event.by)
        else:
            late = True
    if rejected_by is not None:
        return f"committed although {rejected_by} had rejected it"
    required = max((campaign.required for campaign in campaigns), default=1)
    if len(people) >= required:
        return None
    when = "; signed only after it was sent, or too long before" if late else ""
    return f"{len(people)} of {required} approvers had signed {(digest or '')[:12]}{when}"


def _unsigned_by_key(seen: CheckerInput, request: Request, known: Collection[str]) -> str | None:
    """The same by what the archive proves, where people sign with keys: whatever they say to have signed."""
    sent = sent_by(seen, request)
    if sent is None:
        return None
    campaigns = seen.campaigns_of(request.zone or "")
    return unsigned_by_key(
        sent,
        known,
        seen.evidence,
        required=max((campaign.required for campaign in campaigns), default=1),
        valid_for=min((one.valid_for for one in campaigns if one.valid_for is not None), default=None),
    )


def sent_by(seen: CheckerInput, request: Request) -> Sent | None:
    """A request with what its keys are asked by; None where nobody has keys."""
    if seen.roster is None:
        return None
    zone = request.zone or ""
    campaigns, at_service = seen.campaigns_of(zone), seen.zone.get(zone)
    sending = max((campaign.sending for campaign in campaigns), default=timedelta(0))
    return Sent(
        request=request,
        roster=seen.roster,
        statements=seen.said,
        account=at_service.account if at_service else "",
        sending=sending,
        # Of an attempt alone that is recorded just before its request; what is unknown is not complained of.
        attempts=frozenset(
            intent.attempt
            for intent in seen.intents_of.get((zone, request.area), ())
            if intent.attempt
            and request.time - sending - CLOCKS_APART <= intent.at <= request.time + CLOCKS_APART
        ),
        services=frozenset(campaign.service for campaign in campaigns if campaign.service),
    )


def _in_turn(seen: CheckerInput, request: Request, known: Collection[str]) -> list[Signature | Word]:
    """What was signed of the request's zone, and its reopenings before the request, the earliest first."""
    signatures = [one for one in seen.signatures if one.digest in known and one.zone in (None, request.zone)]
    reopened = [
        one for one in seen.words if one.reopens and one.zone == request.zone and one.at <= request.time
    ]
    # Of the same moment, what was signed comes first: the reopening voids it.
    return sorted([*signatures, *reopened], key=lambda one: one.at)


def proposed(seen: CheckerInput, request: Request, area: str) -> tuple[str, dict[str, Any]] | None:
    """The proposal that a request belongs to, by its digest: the last one of its zone that was about to be
    sent before. It is believed only as far as its digest is the one that people signed.
    """
    intents = [
        intent
        for intent in seen.intents
        if (intent.zone, intent.area, intent.step) == (request.zone, area, "commit")
        and intent.at <= request.time
    ]
    if not intents:
        return None
    digest = max(intents, key=lambda intent: intent.at).digest
    body = seen.proposals.get(digest)
    return None if body is None else (digest, body)


def not_agreed(seen: CheckerInput, request: Request, digest: str, body: dict[str, Any]) -> str | None:
    """Why people have not agreed to this body of the request's zone, or None."""
    zone = seen.zone.get(request.zone or "")
    known = {digest} | ({body_fingerprint(body, zone.id, zone.name)} if zone else set())
    return unsigned(seen, request, known, digest)


def sent_again(
    seen: CheckerInput, what: str, sent: Sequence[Request], earlier: Request, later: Request
) -> str | None:
    """Why a step that was sent before must not have been sent again, or None. ``sent``: all of that step."""
    zone = later.zone or ""
    if earlier.took_effect:
        return f"{what} was sent again after it had taken effect"
    if earlier.status == 429 or earlier.unrecognised:
        return None
    if any(word.zone in (None, zone) and earlier.time <= word.at <= later.time for word in seen.words):
        return None
    if earlier.refused:
        return f"{what} that was refused ({earlier.status}) was sent again without a person's word"
    campaigns = seen.campaigns_of(zone)
    allowed = max((campaign.resend_unchanged for campaign in campaigns), default=0)
    limit = min((campaign.migration_limit for campaign in campaigns), default=None)
    before = sum(1 for request in sent if request.seq <= earlier.seq and request.status != 429)
    if allowed < before:
        return f"{what} of unknown outcome was sent again without a person's word"
    if limit is not None and later.time - earlier.time < limit:
        return f"{what} of unknown outcome was sent again before a migration's time had passed"
    return None
