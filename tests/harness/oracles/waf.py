"""What must be so at the service once a campaign of waf is over: by the journal, by the state at the service,
and by what the harness's people signed themselves. Pure.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from edgeshift.testbed.invariants.digests import body_digest, body_fingerprint
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.seen import CheckerInput
from edgeshift.testbed.invariants.signing import sent_again
from tests.harness.oracles.reversible import OPEN, Ending

DONE = frozenset({"migrated", "already_migrated"})


@dataclass(frozen=True)
class Found:
    """Complaints by what they are about."""

    unsigned: tuple[str, ...] = ()
    double: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def waf_complaints(ending: Ending, zone: str, seen: CheckerInput) -> Found:
    """Of one zone, by its identifier."""
    sent = [request for request in seen.of_zone.get(zone, ()) if request.commits]
    return Found(
        unsigned=tuple(
            ending.complaint(f"{why} (request {request.seq})")
            for request in sent
            if (why := _unsigned(seen, request))
        ),
        double=tuple(ending.complaint(text) for text in _double(seen, sent)),
        lost=tuple(ending.complaint(text) for text in _lost(ending, zone, sent, seen)),
    )


def _unsigned(seen: CheckerInput, request: Request) -> str | None:
    """Why a commit is one that nobody had agreed to, or None."""
    if request.log_only:
        return "a body that only logs was committed"
    if request.body_digest is None:
        return "what was committed is no ruleset"
    known = _known(seen, request.zone or "", request.body_digest)
    if not _signed_by(seen, request, known):
        return f"nobody had signed {request.body_digest[:12]} when it was committed"
    return None


def _known(seen: CheckerInput, zone: str, digest: str) -> set[str]:
    """The digests under which a body can have been signed."""
    at_service, body = seen.zone.get(zone), seen.proposals.get(digest)
    if at_service is None or body is None:
        return {digest}
    return {digest, body_fingerprint(body, at_service.id, at_service.name)}


def _signed_by(seen: CheckerInput, request: Request, known: set[str]) -> bool:
    return any(
        signature.choice == "approve"
        and signature.digest in known
        and signature.zone in (None, request.zone)
        and signature.at <= request.time
        for signature in seen.signatures
    )


def _double(seen: CheckerInput, sent: list[Request]) -> list[str]:
    effects = [request for request in sent if request.took_effect]
    found = [f"committed {len(effects)} times"] if len(effects) > 1 else []
    return found + [
        f"{why} (requests {earlier.seq} and {later.seq})"
        for earlier, later in itertools.pairwise(sent)
        if (why := sent_again(seen, "a commit", sent, earlier, later))
    ]


def _lost(ending: Ending, zone: str, sent: list[Request], seen: CheckerInput) -> list[str]:
    at_service = seen.zone.get(zone)
    if at_service is None:
        return ["it is not at the service"]
    found = []
    effects = [request for request in sent if request.took_effect]
    if ending.outcome in DONE and not at_service.migrated:
        found.append("the service has not migrated it")
    if ending.outcome == "migrated":
        if len(effects) != 1:
            found.append(f"{len(effects)} commits took effect")
        stored = {body_digest(body) for body in at_service.bodies}
        if effects and effects[-1].body_digest not in stored:
            found.append("its rules are not those that were committed")
    if ending.outcome not in DONE | {"unknown"} and effects:
        found.append("it was committed")
    if ending.outcome in OPEN | {"needs_support", "on_hold"} and not ending.reason:
        found.append("nobody is told why")
    return found
