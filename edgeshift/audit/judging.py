"""Whether a request of an audit file rests on what people signed: by the very rules of the door
(authority/door.py), at the time of the request. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product

from edgeshift.authority.door import GRACE, Asked, Earlier, begun_again, decided, halted, with_evidence
from edgeshift.authority.last_start import started_since
from edgeshift.authority.last_word import last_word
from edgeshift.authority.roots import SKEW_AHEAD, PersonRoot, Role, Roots, RootsFile, ServiceRoot, as_of
from edgeshift.authority.signers import Signers
from edgeshift.authority.starts import not_meant, start_of, starts_alike, starts_by_file, target_refused
from edgeshift.authority.statements import Attested, ResultStatement, StartStatement, stops
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Step
from edgeshift.model.fleet import Target


def roots_of(signers: Signers) -> Roots:
    """Roots in which everybody who has a key may do everything: where only keys are known."""
    people = {name: PersonRoot(roles=frozenset(Role)) for name in signers.names}
    services = (ServiceRoot(base_url="any", credentials=("any",)),)
    return Roots(RootsFile(signers="signers", people=people, services=services), signers)


def is_of_any(starts: Iterable[Attested], result: ResultStatement) -> bool:
    """Whether a result is about a service and an area in which the campaign was started."""
    some = (said.statement for said in starts)
    return any((one.service, one.area) == (result.service, result.area) for one in some)


class OneTarget(Sequence[Target]):
    """A list of which one item is asked for."""

    def __init__(self, place: int, target: Target) -> None:
        self._place = place
        self._target = target

    def __len__(self) -> int:
        return self._place + 1

    def __getitem__(self, place: int) -> Target:  # type: ignore[override]
        if place != self._place:
            raise IndexError(place)
        return self._target


@dataclass(frozen=True)
class Request:
    """What was about to be sent, by its record. ``at``: when; ``earlier``: what was sent to its target
    before.
    """

    step: Step
    zone: str
    at: datetime
    digest: str
    fingerprint: str
    attempt: int
    earlier: Earlier = field(default_factory=Earlier)


@dataclass(frozen=True)
class CampaignStatements:
    """What people signed of a campaign, by keys that are known; of starts also those by keys that were
    revoked since.
    """

    starts: Sequence[Attested]
    words: Sequence[Attested]
    agains: Sequence[Attested]


def judged(
    request: Request,
    start: Attested,
    spec: CampaignSpec,
    place: int,
    target: Target,
    signed: CampaignStatements,
    decisions: Sequence[Attested],
    roots: Roots,
) -> frozenset[str] | str:
    """Whoever agreed to a request that rests on this start, and on what was signed for it (nobody, where its
    step needs none); or why it does not rest on it.
    """
    statement = start.statement
    assert isinstance(statement, StartStatement)
    asked = Asked(
        campaign=statement.campaign,
        spec_digest=statement.spec,
        spec=spec.scaled(),
        step=request.step,
        target=target,
        index=place,
        attempt=request.attempt,
        digest=request.digest,
        fingerprint=request.fingerprint,
        earlier=request.earlier,
        alike=starts_alike(start, signed.starts),
        by_file=starts_by_file(start, signed.starts),
    )
    if statement.issued > request.at + SKEW_AHEAD:
        return "its start was signed after it"
    if isinstance(found := start_of(asked.spec, asked.spec_digest, [start], roots, request.at), str):
        return found
    if request.step is not Step.ROLL_BACK:
        # The door goes by the latest, also of those by one file: what was approved was so for one of them.
        there = [one for one in signed.starts if one.statement.issued <= request.at - GRACE]
        if (why := started_since(start, there, roots, request.at)) is not None:
            return why
    before = [said for said in signed.words if _was_known(said, request.at)]
    word = last_word(before, start, roots, request.at)
    listed = OneTarget(place, target)
    why = target_refused(asked.index, asked.target, statement, listed) or halted(asked, word)
    if why is None and request.step is not Step.ROLL_BACK:
        why = not_meant(spec.targets, target.zone)
    if why is not None:
        return why
    begun = [said for said in signed.agains if _was_known(said, request.at)]
    if (why := begun_again(asked, start, begun, roots, request.at)) is not None:
        return why
    # One by a clock that was ahead was there, or came after the request; either may have let it through.
    surely = [said for said in signed.agains if said.statement.issued <= request.at]
    some = [said for said in decisions if _was_known(said, request.at)]
    for shown in with_evidence(asked, some):
        for at, agains in product((request.at, request.at - GRACE), (surely, begun)):
            agreed = decided(shown, start, some, agains, roots, at)
            if not isinstance(agreed, str):
                return agreed
    return agreed


def _was_known(said: Attested, at: datetime) -> bool:
    """Whether it was there when a request was checked that was recorded at this time. What stops has to have
    been there for certain; the rest, to be possible.
    """
    return as_of(said) <= at - GRACE if stops(said.statement) else said.statement.issued <= at + SKEW_AHEAD
