"""Sign-offs: what a person decides about a digest, and when such decisions count.

Pure: the time is passed in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, field_validator

from edgeshift.model.counts import agreed, counted
from edgeshift.model.durations import Duration
from edgeshift.model.validators import NUMBER, TRUTH, Part, Trouble, listed_once

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256 in lower-case hexadecimal."""

LONGEST_REASON = 500
LONGEST_NAME = 200
"""Characters of a person's reason, and of a person's name, that are kept."""

MOST_PASSED_ON = 20
"""People whose approvals are passed on with a permit: no policy asks for more than half as many."""


class Choice(StrEnum):
    """What a person may say of a proposal."""

    APPROVE = "approve"
    REJECT = "reject"

    @property
    def past(self) -> str:
        """What a person did who chose this: ``approved``, ``rejected``."""
        return "approved" if self is Choice.APPROVE else "rejected"


class Decision(BaseModel):
    """One person's word on one digest: of a proposal (one zone), or of a fingerprint (every zone that shares
    it).

    ``at`` is set by the workflow that receives the decision, never believed from outside.
    """

    model_config = ConfigDict(frozen=True)

    choice: Choice
    digest: Digest
    by: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_NAME)]
    reason: Annotated[str, StringConstraints(max_length=LONGEST_REASON)] = ""
    at: AwareDatetime | None = None

    @field_validator("at", mode="before")
    @classmethod
    def _with_offset(cls, at: object) -> object:
        """A time without an offset is none: whoever keeps the decision says when it came."""
        if isinstance(at, str):
            try:
                at = datetime.fromisoformat(at)
            except ValueError:
                return at
        return None if isinstance(at, datetime) and at.tzinfo is None else at


class SignOffPolicy(Part):
    """Who may decide, how many must agree, and for how long.

    Zones carry it in their histories, so that it takes whatever a campaign was once started with; whether it
    makes sense is asked where a campaign begins (``policy_troubles``).
    """

    approvers: tuple[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)], ...] = Field(
        default=(),
        description="Who may sign, of those whom the roots let. Empty: all; without roots,"
        " anyone who can reach Temporal.",
    )
    required: Annotated[int, Field(ge=1, le=10), NUMBER] = Field(
        default=1, description="How many approvers must approve."
    )
    four_eyes: Annotated[bool, TRUTH] = Field(
        default=False, description="Whoever started the campaign cannot approve."
    )
    expires_after: Duration = Field(
        default=timedelta(days=14),
        description="How long a zone waits before it goes on hold (`reopen` restarts it).",
    )
    valid_for: Duration = Field(
        default=timedelta(days=14), description="How long an approval counts; at least 1s."
    )
    per: Literal["fingerprint", "zone"] = Field(
        default="fingerprint",
        description="What one decision is about: fingerprint (all zones that propose the same), or zone.",
    )

    def subjects(self, digest: str, fingerprint: str) -> frozenset[str]:
        """The digests under which a decision on this proposal may count."""
        return frozenset({digest} if self.per == "zone" else {digest, fingerprint})


def policy_troubles(policy: SignOffPolicy) -> Iterator[Trouble]:
    """What is wrong with a policy as a whole: an approver listed twice, more approvals than approvers."""
    for where, said in listed_once(policy.approvers):
        yield ("approvers", *where), said
    people = len(set(policy.approvers))
    if policy.approvers and policy.required > people:
        said = f"{policy.required} must approve, but only {people} may; list more approvers or require fewer"
        yield ("required",), said


class Tally(StrEnum):
    """What the decisions on one digest amount to."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"


def person(name: str) -> str:
    """Who a name is about: case and space around it do not make another person."""
    return name.strip().casefold()


def refusal(decision: Decision, policy: SignOffPolicy, started_by: str) -> str | None:
    """Why this person's decision cannot count at all, or None. The digest is compared elsewhere."""
    if policy.approvers and decision.by not in policy.approvers:
        listed = ", ".join(policy.approvers)
        return f"{decision.by!r} is not an approver of this campaign; approvers are {listed}"
    if policy.four_eyes and decision.choice is Choice.APPROVE and person(decision.by) == person(started_by):
        return f"{decision.by!r} started this campaign and cannot also approve (four eyes)"
    return None


def tally(
    decisions: Iterable[Decision],
    digests: frozenset[str],
    policy: SignOffPolicy,
    started_by: str,
    now: datetime,
) -> Tally:
    """What the decisions say of a proposal known by these digests (its own and its fingerprint).

    A rejection by one approver ends it. Approvals count once a person, while they are valid, up to the number
    that the policy requires.
    """
    people: set[str] = set()
    for decision in decisions:
        if decision.digest not in digests or refusal(decision, policy, started_by):
            continue
        if decision.choice is Choice.REJECT:
            return Tally.REJECTED
        if decision.at is not None and decision.at <= now < decision.at + policy.valid_for:
            people.add(person(decision.by))
    return Tally.APPROVED if len(people) >= policy.required else Tally.WAITING


def passed_on(
    decisions: Iterable[Decision], policy: SignOffPolicy, started_by: str, now: datetime
) -> list[Decision]:
    """Those of the decisions on one digest that are passed on with a permit: a rejection alone, or else each
    person's latest approval that counts, of the people who approved last. They amount to the same as all of
    them, and for as long: what was approved later counts for longer.
    """
    counting = [one for one in decisions if not refusal(one, policy, started_by)]
    for one in counting:
        if one.choice is Choice.REJECT:
            return [one]
    latest: dict[str, Decision] = {}
    dated = [(one.at, one) for one in counting if one.at is not None]
    for at, one in sorted(dated, key=lambda each: each[0]):
        if at <= now < at + policy.valid_for:
            latest.pop(person(one.by), None)
            latest[person(one.by)] = one
    return list(latest.values())[-MOST_PASSED_ON:]


def still_needed(
    decisions: Iterable[Decision], policy: SignOffPolicy, started_by: str, now: datetime
) -> tuple[int, tuple[str, ...]]:
    """How many more people have to approve what these decisions are about, and which listed ones can."""
    people = {
        person(decision.by)
        for decision in decisions
        if decision.choice is Choice.APPROVE
        and not refusal(decision, policy, started_by)
        and decision.at is not None
        and decision.at <= now < decision.at + policy.valid_for
    }
    others = tuple(
        name
        for name in policy.approvers
        if person(name) not in people and not (policy.four_eyes and person(name) == person(started_by))
    )
    return max(0, policy.required - len(people)), others


def said_to_be_needed(more: int, others: Sequence[str]) -> str:
    """That many more have to approve, in words; empty where nobody has to."""
    if not more:
        return ""
    by = (
        f" (one of: {', '.join(others)})"
        if len(others) > more
        else f" ({', '.join(others)})"
        if others
        else ""
    )
    return f"{counted(more, 'more approval')} {agreed(more, 'is', 'are')} needed{by}"


def said_of_several(needed: Collection[tuple[int, tuple[str, ...]]]) -> str:
    """``said_to_be_needed`` of what lacks most. Where others lack fewer approvals, that is how many it may
    take; what lacks none is not counted.
    """
    said = said_to_be_needed(*max(needed))
    return f"up to {said}" if len({more for more, _ in needed if more}) > 1 else said
