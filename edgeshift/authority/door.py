"""What is checked of a step just before it is sent, from roots and signed statements alone. Pure.

Nothing that a message says of policy, plan or people is believed here (docs/threat-model.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from edgeshift.authority.roots import SKEW_AHEAD, Role, Roots, as_of, is_after, quorum, taken_late
from edgeshift.authority.statements import (
    AgainStatement,
    Attested,
    DecisionStatement,
    StartStatement,
    WordStatement,
)
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import UNSIGNED, Step, ZoneStart
from edgeshift.model.fleet import MOST_ATTEMPTS, Target
from edgeshift.model.sign_off import Choice, SignOffPolicy

GRACE = timedelta(minutes=10)
"""How long after its check a request may be recorded: what was signed within this time before it may have
come after the check.
"""

_SECOND = "%Y-%m-%d %H:%M:%S %Z"

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""Before which nothing was sent, whatever a record says."""


@dataclass(frozen=True)
class Earlier:
    """What a campaign has sent to a target before a step. ``used``: of each attempt that has sent the same,
    with effect, until when people's approvals were used for it: it was taken back then, or seen to its end.
    ``begun``: when the last attempt before this one first sent anything; None where none has.
    """

    begun: datetime | None = None
    used: Mapping[int, datetime] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A step that is about to be sent. ``spec``: the campaign file that the archive has, and its digest.
    ``passed``: whether the zone's own evidence passed (None: it has none and needs none), with the digest of
    that; ``gathered``: where it did not, whether a worker has gathered it at all. ``earlier``: what was sent
    before it, as far as that was looked for. ``alike``: digests of starts of the campaign whose targets are
    the same, in the same waves; ``by_file``: of those by the same file.
    """

    campaign: str
    spec_digest: str
    spec: CampaignSpec
    step: Step
    target: Target
    index: int
    attempt: int
    digest: str
    fingerprint: str
    evidence_digest: str = ""
    passed: bool | None = None
    gathered: bool = True
    earlier: Earlier = Earlier()
    alike: frozenset[str] = frozenset()
    by_file: frozenset[str] = frozenset()

    @classmethod
    def of(cls, start: ZoneStart, spec: CampaignSpec, step: Step, digest: str, fingerprint: str) -> Asked:
        """The step of a zone that was started so, with what it proposes."""
        return cls(
            campaign=spec.name,
            spec_digest=start.spec,
            spec=spec,
            step=step,
            target=start.target,
            index=start.index,
            attempt=start.attempt,
            digest=digest,
            fingerprint=fingerprint,
        )


def halted(asked: Asked, word: WordStatement | None) -> str | None:
    """Why the campaign's last word keeps this step back, or None. Nothing holds up the rollback."""
    if word is None or word.word == "resume" or asked.step is Step.ROLL_BACK:
        return None
    return f"the campaign was {'aborted' if word.word == 'abort' else 'paused'} by {word.by}"


def begun_again(
    asked: Asked, start: Attested, agains: Iterable[Attested], roots: Roots, now: datetime
) -> str | None:
    """Why nobody has had this attempt of the target begin, or None where somebody has, where it is the first
    one, and of the rollback. What was signed before the attempt before it sent anything began that one. It
    counts for this start alone, and for zones of the accounts alone that its author is limited to; also after
    its time, since the attempt has begun by then; and not before it.
    """
    if asked.attempt == 1 or asked.step is Step.ROLL_BACK:
        return None
    if not 1 <= asked.attempt <= MOST_ATTEMPTS:
        return f"no campaign counts attempt {asked.attempt}"
    before = asked.earlier.begun
    # People's words are told to the second. One that names this start was signed after it, by any clock.
    since = None if before is None else before.replace(microsecond=0)
    passed_over = ""
    for said in sorted(agains, key=lambda one: one.statement.issued):
        statement = said.statement
        if not (
            isinstance(statement, AgainStatement)
            and statement.verb in ("retry", "reopen")
            and statement.start == start.digest
            and _is_here(statement, start)
            and statement.covers(asked.target.zone.id)
        ):
            continue
        if (why := _refuses_again(said, asked, roots, now)) is None:
            if since is None or as_of(said) >= since:
                return None
            signed = f"{statement.by} signed at {as_of(said):{_SECOND}}"
            why = f"{signed}, before the last attempt sent at {since:{_SECOND}} (a clock that is behind?)"
        # Of the last one it is told why it does not count; of a stranger's only where there is no other.
        if not passed_over or roots.signers.knows(said.key):
            passed_over = f": {why}"
    return f"nobody has signed that it begins again, for attempt {asked.attempt}{passed_over}"


def _refuses_again(said: Attested, asked: Asked, roots: Roots, now: datetime) -> str | None:
    """Why whoever begins a target again may not do so, or has not by now; or None. ``said``: also after its
    time. With a key that has ended anybody who has it writes a date of before: it has to have served when the
    archive took what came late, too.
    """
    by, issued, role = said.statement.by, said.statement.issued, Role.OPERATOR
    if why := roots.refuses_key(said.key, by, role, issued, now):
        return why
    if (stored := taken_late(said)) and (why := roots.signers.may_sign(said.key, by, stored)):
        return why
    return roots.refuses(said, role, issued, asked.target.zone.account)


def _is_here(statement: AgainStatement | DecisionStatement, start: Attested) -> bool:
    """Whether a statement is about the service and the area of this start: a rehearsal of the same name, or
    of the same zones in another area, is another matter.
    """
    return (statement.service, statement.area) == (start.statement.service, start.statement.area)


def decided(
    asked: Asked,
    start: Attested,
    decisions: Iterable[Attested],
    agains: Iterable[Attested],
    roots: Roots,
    now: datetime,
) -> frozenset[str] | str:
    """Whoever has signed the step off, nobody where it needs no sign-off; or why it is not signed off. A
    rejection binds until the zone is reopened (``AgainStatement.voids``), also one that is dated later than
    now (``as_of``); what was approved before that is then decided anew. Where nobody has rejected it, a
    reopening voids nothing. What was approved before the same was sent with effect, and taken back or seen to
    its end, was approved for that (``Earlier.used``); its attempt is over.
    """
    if asked.step in UNSIGNED:
        return frozenset()
    used = asked.earlier.used
    if (made := used.get(asked.attempt)) is not None and made >= start.statement.issued:
        return f"attempt {asked.attempt} has sent it, and was seen to its end"
    used_until = max(used.values(), default=None)
    policy = roots.policy_for(asked.spec.sign_off)
    counted, passed_over = _counted(asked, start, decisions, roots, now)
    reopened = _reopened(asked, start, agains, roots, now)
    rejections = [said for said in counted if rejects(said)]
    if (binding := _binding(rejections, reopened)) is not None:
        return f"{binding.statement.by} rejected it"
    # Decided anew: what was signed before a rejected zone was reopened does not count, whoever signed it.
    since = max(
        (as_of(again) for again in reopened if any(is_after(again, one) for one in rejections)), default=None
    )
    agreeing = []
    for said in counted:
        statement = said.statement
        if not isinstance(statement, DecisionStatement) or rejects(said):
            continue
        if since is not None and statement.issued < since:
            passed_over[statement.by] = f"{statement.by} signed before it was reopened"
        elif used_until is not None and statement.issued <= used_until:
            passed_over[statement.by] = f"what {statement.by} signed was used: it was sent, and is over"
        elif now - statement.issued >= policy.valid_for:
            passed_over[statement.by] = f"what {statement.by} signed counts no more (sign_off.valid_for)"
        elif not _may_join(asked, statement):
            passed_over[statement.by] = _shown_else(asked, statement)
        else:
            agreeing.append((statement.by, said.key.id))
    for by, _ in agreeing:
        passed_over.pop(by, None)
    starter = (start.statement.by, start.key.id)
    found = quorum(agreeing, starter, policy)
    if len(found) >= policy.required:
        return frozenset(found)
    for one in agreeing:
        if not quorum([one], starter, policy):
            passed_over[one[0]] = f"{one[0]} started the campaign (four eyes)"
    said_of = "".join(f"; {why}" for _, why in sorted(passed_over.items()))
    return f"{len(found)} of {policy.required} needed people have signed exactly this{said_of}"


def rejected_by(
    asked: Asked,
    start: Attested,
    decisions: Iterable[Attested],
    agains: Iterable[Attested],
    roots: Roots,
    now: datetime,
) -> Attested | None:
    """The rejection by which ``decided`` refuses a step, whoever has approved it; or None."""
    if asked.step in UNSIGNED:
        return None
    counted, _ = _counted(asked, start, decisions, roots, now)
    rejections = [said for said in counted if rejects(said)]
    return _binding(rejections, _reopened(asked, start, agains, roots, now))


def _binding(rejections: Iterable[Attested], reopened: Sequence[Attested]) -> Attested | None:
    """The first of the rejections that nobody has reopened since; or None."""
    for rejection in rejections:
        if not any(is_after(again, rejection) for again in reopened):
            return rejection
    return None


def _counted(
    asked: Asked, start: Attested, decisions: Iterable[Attested], roots: Roots, now: datetime
) -> tuple[list[Attested], dict[str, str]]:
    """The decisions on a step by people who may decide on it; and of each of the others, why the latest of
    what they signed does not count.
    """
    policy = roots.policy_for(asked.spec.sign_off)
    counted, passed_over = list[Attested](), dict[str, str]()
    for said in sorted(decisions, key=lambda one: one.statement.issued):
        statement = said.statement
        if not isinstance(statement, DecisionStatement):
            continue
        if not _is_about(asked, statement, start):
            if why := _about_else(asked, statement, start):
                passed_over[statement.by] = why
            continue
        # Whoever rejected it under another file is not asked whether this one lists them still.
        listed = statement.start in {start.digest, *asked.by_file} or not rejects(said)
        if listed and policy.approvers and statement.by not in policy.approvers:
            passed_over[statement.by] = f"{statement.by} is no approver of the campaign"
            continue
        # What was rejected stays so, also when the key of whoever rejected it serves no more or was revoked.
        known, at = (roots.lasting, statement.issued) if rejects(said) else (roots, now)
        if why := known.refuses(said, Role.APPROVER, at, asked.target.zone.account):
            passed_over[statement.by] = why
        else:
            counted.append(said)
    return counted, passed_over


def _reopened(
    asked: Asked, start: Attested, agains: Iterable[Attested], roots: Roots, now: datetime
) -> list[Attested]:
    """The words that have what was rejected of a zone decided anew."""
    return [
        said
        for said in agains
        if isinstance(said.statement, AgainStatement)
        and said.statement.voids(asked.target.zone.id)
        and _is_here(said.statement, start)
        and _refuses_again(said, asked, roots, now) is None
    ]


def with_evidence(asked: Asked, decisions: Iterable[Attested]) -> Iterator[Asked]:
    """What is asked, with each evidence that people were shown: where that of the zone is not known, all who
    agree have to have been shown the same.
    """
    some = (said.statement for said in decisions)
    found = {one.evidence for one in some if isinstance(one, DecisionStatement)}
    return (replace(asked, evidence_digest=evidence) for evidence in sorted(found | {""}))


def agreed_then(
    asked: Asked, at: datetime, starts: Iterable[Attested], decisions: Sequence[Attested], roots: Roots
) -> bool:
    """Whether people had agreed to a commit that was recorded at this time, in whichever start of the
    campaign. What was said or revoked since does not count: it is asked for the rollback of that commit.
    """
    # What is recorded may name any time, of which nothing is subtracted.
    roots, at = roots.forgiving, max(at, _EARLIEST)
    some = [
        said
        for said in decisions
        if isinstance(said.statement, DecisionStatement)
        and said.statement.choice is Choice.APPROVE
        and said.statement.issued - at <= SKEW_AHEAD
    ]
    for start in starts:
        said = start.statement
        mine = isinstance(said, StartStatement) and said.campaign == asked.campaign
        if not mine or said.area is not asked.spec.area or roots.refuses(start, Role.STARTER, said.issued):
            continue
        for shown in with_evidence(replace(asked, step=Step.COMMIT), some):
            for moment in (at, at - GRACE):
                if not isinstance(decided(shown, start, some, (), roots, moment), str):
                    return True
    return False


def rejects(said: Attested) -> bool:
    """Whether it is a rejection."""
    statement = said.statement
    return isinstance(statement, DecisionStatement) and statement.choice is Choice.REJECT


def _is_about(asked: Asked, statement: DecisionStatement, start: Attested) -> bool:
    """Whether a decision is about what is asked. An approval is of one start and one attempt; a rejection
    stands until the zone is reopened, also where the campaign was started anew, by whatever file: of a
    fingerprint where each zone is signed for itself by now, too, and of one wave for every wave, where these
    or the targets were others then.
    """
    policy: SignOffPolicy = asked.spec.sign_off
    rejects = statement.choice is Choice.REJECT
    if statement.step is not asked.step or not (rejects or statement.start == start.digest):
        return False
    if not _is_here(statement, start):
        return False
    in_waves = not rejects or statement.start == start.digest or statement.start in asked.alike
    if in_waves and statement.wave is not None and statement.wave != asked.target.wave:
        return False
    if statement.about == "fingerprint":
        return (rejects or policy.per == "fingerprint") and asked.fingerprint in statement.subjects
    return (
        statement.subjects == (asked.digest,)
        and statement.zone == asked.target.zone.id
        and (rejects or statement.attempt == asked.attempt)
    )


def _about_else(asked: Asked, statement: DecisionStatement, start: Attested) -> str | None:
    """Why an approval that somebody may take for one of this step is about something else, where it is one of
    the same step of this campaign.
    """
    if statement.choice is Choice.REJECT or statement.step is not asked.step:
        return None
    if statement.start != start.digest:
        return f"{statement.by} signed for another start of the campaign"
    if statement.zone == asked.target.zone.id and statement.attempt != asked.attempt:
        return f"{statement.by} signed for attempt {statement.attempt}, and this is {asked.attempt}"
    if statement.wave is not None and statement.wave != asked.target.wave:
        return f"{statement.by} signed for another wave"
    return None


def _may_join(asked: Asked, statement: DecisionStatement) -> bool:
    """Whether an approval covers the zone's evidence: one of a fingerprint only what passed, one of a zone
    only what was shown, and what a worker has gathered: anybody can lay evidence into the archive.
    """
    if asked.passed is None or asked.passed:
        return statement.about == "fingerprint" or statement.evidence in ("", asked.evidence_digest)
    own = statement.about == "proposal" and statement.evidence == asked.evidence_digest
    return own and asked.gathered


def _shown_else(asked: Asked, statement: DecisionStatement) -> str:
    """Why an approval does not cover the zone's evidence."""
    if asked.gathered or statement.about != "proposal":
        return f"{statement.by} was not shown the zone's evidence"
    return f"no worker has gathered what {statement.by} was shown as the zone's evidence"
