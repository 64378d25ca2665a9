"""What a rollback may still undo: commits of the campaign that may be in force, and whose end nobody saw.

Whoever can reach Temporal can have a rollback sent, at any time. So what is over is told by records that
workers signed, each read by itself: a damaged one beside them, a flood of names, another campaign's commit or
a key that was revoked since opens nothing again. What cannot be read of a commit's end leaves it open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from temporalio import activity

from activities.change.intent_records import EFFECTIVE, ClosedAs, beside_of, closed_as, is_change, surely_now
from activities.connections import Connections
from edgeshift.authority.records import statement_at
from edgeshift.authority.roots import SKEW_AHEAD
from edgeshift.authority.statements import ResultStatement
from edgeshift.campaign.start import zone_policy
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Step, ZoneStart
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.stores.archive import ArchiveError, ArchiveMissing
from edgeshift.stores.documents import Intent, Seen, intents_at

TRIES = 20
"""How often a campaign tries a rollback, as its workflows do."""

HELD_UP = timedelta(days=1)
"""How long the service may hold such tries up altogether."""

IS_OVER = "what it would undo was seen to its end or undone before, or the time for its tries is over"
"""Why a rollback is not sent that has nothing left to undo."""


@dataclass(frozen=True)
class _Sent:
    """An intent that a worker has signed, and that has had an effect or may have had one. ``seen``: whether
    that was watched to its end, or nobody can tell any more; ``closed``: whether it was answered, or showed.
    """

    key: str
    record: Intent
    seen: bool
    closed: bool

    def is_after(self, other: _Sent) -> bool:
        """Whether this was sent after ``other``: by the attempts of a run, and else by times, which machines
        tell a little differently.
        """
        mine, others = self.record, other.record
        if mine.run == others.run and mine.in_attempt < others.in_attempt:
            return False
        return (mine.at, self.key) > (others.at, other.key)


@dataclass(frozen=True)
class _EffectiveChanges:
    """``commits``, ``backs``: of the campaign; ``others``: commits of other campaigns. ``unread``: why there
    may be more, which can be read another time.
    """

    commits: list[_Sent]
    backs: list[_Sent]
    others: list[_Sent]
    unread: ArchiveError | None

    def runs_of(self, one: _Sent) -> list[str]:
        """The run that it names, and those that commits under its signed start do: they are one campaign's,
        and an end that is signed for one of them is the end of all (own.py).
        """
        start = one.record.start
        alike = [other.record.run for other in self.commits if start and other.record.start == start]
        return sorted({run for run in (one.record.run, *alike) if run is not None})


async def settled_before(connections: Connections, start: ZoneStart) -> ResultStatement | None:
    """What a worker has signed of the campaign's commits at the target, where all that may be in force are
    settled; else None. A worker's key that was revoked since has told the truth. Raises ArchiveError.
    """
    spec, sent = await connections.spec(start.spec), await _effective_changes(connections, start)
    last: ResultStatement | None = None
    for one in sent.commits:
        if (result := await _end_of(connections, spec, one, sent, ZoneOutcome.SETTLED)) is None:
            return None
        last = result
    if last is not None and sent.unread is not None:
        raise sent.unread
    return last


async def is_over(connections: Connections, start: ZoneStart) -> bool:
    """Whether nothing of the campaign's is left at the target that a rollback may undo: each of its commits
    was seen to its end, came to nothing or was undone, or another campaign's came after it and has settled.
    Raises ArchiveError.
    """
    spec, sent = await connections.spec(start.spec), await _effective_changes(connections, start)
    for one in sent.commits:
        end = await _end_of(connections, spec, one, sent, ZoneOutcome.SETTLED)
        if end is None and await _is_open(connections, spec, one, sent):
            return False
    if sent.unread is not None:
        raise sent.unread
    return True


async def _is_open(connections: Connections, spec: CampaignSpec, one: _Sent, sent: _EffectiveChanges) -> bool:
    if await _is_replaced(connections, one, sent.others):
        return False
    backs = [back for back in sent.backs if back.is_after(one) and (back.closed or back.seen)]
    if not backs:
        return not one.seen
    for back in backs:
        if await _end_of(connections, spec, back, sent, ZoneOutcome.ROLLED_BACK) is not None:
            return False
    # It was seen undone, or answered, and may not have stayed so: it is tried again, but not for ever.
    return surely_now(connections) - min(back.record.at for back in backs) < _tried_for(spec)


def _tried_for(spec: CampaignSpec) -> timedelta:
    """How long a campaign may go on trying to undo something: each try is sent, looked for and watched."""
    policy = zone_policy(spec)
    return HELD_UP + TRIES * (policy.request_limit + policy.margin + 2 * policy.migration_limit)


async def _is_replaced(connections: Connections, one: _Sent, others: list[_Sent]) -> bool:
    """Whether a commit of another campaign came later and has settled: what is in force is that one's. Both
    times have to say so, its worker's and the archive's: a clock that runs ahead holds no rollback.
    """
    try:
        for other in others:
            if other.seen and other.is_after(one):
                stored = connections.archive.stored_at
                if await stored(other.key) > await stored(one.key):
                    return True
    except ArchiveError:
        return False
    return False


async def _end_of(
    connections: Connections, spec: CampaignSpec, one: _Sent, sent: _EffectiveChanges, outcome: ZoneOutcome
) -> ResultStatement | None:
    """The result of this outcome that covers it, in whichever run of its signed start; or None."""
    zone = one.key.split("/")[1]
    for run in sent.runs_of(one):
        try:
            its, counts = await _results_of(connections, spec, one.record)
            found = await connections.results.proven(its, run, zone, back=True, counts=counts)
            result = found.get(outcome)
            if result is not None and await _covers(connections, result, one):
                return result
        except ArchiveError as failure:
            activity.logger.warning("not known whether it was seen to its end: %s", failure)
    return None


async def _results_of(
    connections: Connections, spec: CampaignSpec, record: Intent
) -> tuple[CampaignSpec, Callable[[ResultStatement], bool]]:
    """By which specification the end of what was sent is told, and which results are of it: by that of its
    own signed start, whatever a message names; or by one of a later start, of the same proposal: a campaign
    that was started again has taken it up. Raises ArchiveError.
    """
    if record.start is None or not connections.starts.needs_signed_starts():
        return spec, lambda result: True
    if (start := await connections.starts.one(spec.name, record.start)) is None:
        raise ArchiveMissing(f"the start {record.start} cannot be read")
    later = await connections.starts.since(start)

    def counts(result: ResultStatement) -> bool:
        if result.spec == start.spec:
            return True
        since = (one for one in later if one.spec == result.spec)
        return result.proposal == record.digest and any(
            one.issued - result.issued <= SKEW_AHEAD for one in since
        )

    return await connections.spec(start.spec), counts


async def _covers(connections: Connections, result: ResultStatement, one: _Sent) -> bool:
    """Whether a result was signed after what was sent: of its attempt, or a later one, which has taken it up;
    or of the same proposal, where the archive says so as well. An attempt is the word of whoever had it sent,
    and a clock that runs ahead holds no rollback. Results are told to the second. Raises ArchiveError.
    """
    record = one.record
    if result.issued < record.at.replace(microsecond=0):
        return False
    if result.attempt >= record.in_attempt:
        return True
    if result.proposal != record.digest:
        return False
    stored = connections.archive.stored_at
    return await stored(statement_at(result.campaign, result.digest)) > await stored(one.key)


async def _effective_changes(connections: Connections, start: ZoneStart) -> _EffectiveChanges:
    """What was sent to the target with effect, or may have been; each record counts by itself."""
    found = _EffectiveChanges([], [], [], None)
    unread: ArchiveError | None = None
    async for key, record in connections.records.each(Intent, intents_at(start.target.zone, start.area)):
        if isinstance(record, ArchiveError):
            unread = record
            continue
        if not is_change(record):
            continue
        if (one := await _ended(connections, key, record)) is None:
            continue
        mine = record.campaign == start.campaign
        if record.step == Step.COMMIT.value:
            (found.commits if mine else found.others).append(one)
        elif mine:
            found.backs.append(one)
    return _EffectiveChanges(found.commits, found.backs, found.others, unread)


async def _ended(connections: Connections, key: str, record: Intent) -> _Sent | None:
    """An intent with what is recorded of its end; None where it came to nothing."""
    closed: ClosedAs | None = None
    seen: Seen | None = None
    try:
        closed = await closed_as(connections, key, forgiving=True)
        seen = await connections.records.proven(Seen, beside_of(key, "seen"), forgiving=True)
    except ArchiveError:
        # As if it were not recorded: what gets worse is taken back.
        pass
    if closed not in EFFECTIVE or (seen is not None and seen.showed is False):
        return None
    return _Sent(key, record, seen is not None, closed is not None)
