"""What a campaign has sent to a target, by records that workers signed: what is signed of a look rests on it.

Whoever can reach Temporal can have an activity look at a target, with a message of their choice. So nothing
is signed by what a message says of a proposal, a snapshot, a window or a time: that is taken from the
intents, and the durations from the files of signed starts (terms.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from temporalio import activity

from activities.change.intent_records import (
    EFFECTIVE,
    ClosedAs,
    SentBefore,
    closed_as,
    intents_of,
    is_change,
    is_effective,
    latest_first,
    surely_now,
)
from activities.change.intents import as_begun, record_never_showed
from activities.change.own import own_of
from activities.change.terms import Terms, Times, terms_of
from activities.connections import Connections
from edgeshift.messages import Prepared, Step, ZoneStart
from edgeshift.model.digests import NotCanonical, digest
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.stores.archive import ArchiveError
from edgeshift.stores.documents import Intent, Proposal, get_document

NOT_OURS = Reason(code=ReasonCode.CHANGE_NOT_SIGNED)
"""Why nothing is signed of a look where the archive has no such record."""

A_MOMENT = timedelta(milliseconds=200)
"""How much longer than a change may take is waited: two clocks that tell the time differ a little."""

STORE_BELIEVED = timedelta(minutes=15)
"""By how much the archive is believed that a change was recorded earlier than its worker has dated it, whose
clock may run ahead: whoever can write to a folder sets the times of its files as he likes.
"""

NOT_SHOWN = Reason(code=ReasonCode.MADE_BY_OTHERS)
"""Why nothing is signed of a look, nor taken back, where that is recorded."""

NOT_ENOUGH = Reason(code=ReasonCode.WATCHED_TOO_SHORT)
"""Why nothing is signed of a change that was made a short while ago."""


@dataclass(frozen=True)
class OwnChange:
    """The last change of a target that may be in force, which is the campaign's. ``closed``: why nothing more
    comes of it, if that is recorded. ``back``: its rollback, where one was sent since; ``answered``: whether
    that was answered. ``sent``: the archive's names of all that was sent to the target so far, what no
    worker has signed among it.
    """

    record: Intent
    at: datetime
    """When that was recorded: by whoever did so, whose clock may run ahead, or by the archive if earlier, but
    for no more than ``STORE_BELIEVED``.
    """
    proposal: Proposal
    """The archive's, which ``record`` names."""
    closed: ClosedAs | None
    back: bool
    answered: bool
    sent: frozenset[str]
    commits: frozenset[str]
    """Those of ``sent`` that are commits, or may be."""
    mine: frozenset[str]
    """Those of ``sent`` that are the campaign's."""
    began: datetime
    """When this was read, surely: by the clock that is behind, of this machine's and the server's."""
    effect: timedelta
    """For how long from its intent on it may come to show, and what the campaign has sent before it."""
    on_the_wire: timedelta
    """For how long from its intent on its request may be under way before that."""
    watch: timedelta
    """How long it is watched."""

    def prepared(self, told: Prepared) -> Prepared:
        """What was sent, in the place of what a message tells of it."""
        return as_begun(self.record, told).model_copy(update={"begun": told.begun})

    @property
    def may_show(self) -> bool:
        """Whether it may still come to show: it was not answered, nor seen, and its time is not over."""
        return self.closed is None and not self.is_over

    @property
    def is_over(self) -> bool:
        """Whether its time to come to show is over, whether it was answered or not."""
        return self.began >= self.record.at + self.effect

    @property
    def may_land_in(self) -> timedelta:
        """How much longer it may come to show, also where its request was on the wire for as long as it may
        be; not above zero once it cannot any more.
        """
        return self.record.at + self.on_the_wire + self.effect - self.began

    @property
    def watched_enough(self) -> bool:
        """Whether it was sent so long ago that whoever has watched it since has done so to the end."""
        return self.began >= self.at + self.watch


async def last_change(connections: Connections, start: ZoneStart) -> OwnChange | None:
    """The last change of the target that may be in force, or None where that is none of this campaign's, or
    its record does not say what it was; nor where the message's specification is none of its start's, or of
    an earlier one (terms.py). To be asked before the target is read: what is sent since is not known of.
    Raises ArchiveError.
    """
    if (terms := await terms_of(connections, start)) is None:
        return None
    began = surely_now(connections)
    found = [sent async for sent in _all_intents(connections, start)]
    back = answered = False
    for sent in latest_first(found):
        record = sent.record
        if not sent.proven or not is_change(record):
            continue
        if not await is_effective(connections, sent.key):
            continue
        closed = await closed_as(connections, sent.key)
        if record.step == Step.ROLL_BACK.value:
            back, answered = True, answered or closed is ClosedAs.ANSWERED
            continue
        if record.campaign != start.campaign:
            return None
        if (proposal := await _proposal_of(connections, record)) is None:
            return None
        if (times := await _times_of(connections, terms, record, found)) is None:
            return None
        at = record.at
        if began < at + times.watch:
            stored = await connections.archive.stored_at(sent.key)
            at = min(at, max(stored, at - STORE_BELIEVED))
        return OwnChange(
            record=record,
            at=at,
            proposal=proposal,
            closed=closed,
            back=back,
            answered=answered,
            sent=frozenset(one.key for one in found),
            commits=frozenset(one.key for one in found if one.commits),
            mine=frozenset(one.key for one in found if one.record.campaign == start.campaign),
            began=began,
            effect=times.effect,
            on_the_wire=times.on_the_wire,
            watch=times.watch,
        )
    return None


async def _times_of(
    connections: Connections, terms: Terms, last: Intent, found: Sequence[SentBefore]
) -> Times | None:
    """Those of the campaign's last commit, with as long an effect as those before it may have that were sent
    by another file; None where they cannot be told. Raises ArchiveError.
    """
    times = await terms.of(connections, last)
    for sent in found:
        record = sent.record
        mine = sent.proven and sent.commits and record.campaign == last.campaign
        if times is None or not mine or record.start in (None, last.start):
            continue
        if await closed_as(connections, sent.key) not in (None, ClosedAs.ANSWERED):
            continue
        if (its := await terms.of(connections, record)) is None:
            return None
        late = record.at - last.at + its.effect + its.on_the_wire - times.on_the_wire
        times = replace(times, effect=max(times.effect, late))
    return times


async def landed_change(connections: Connections, start: ZoneStart) -> OwnChange | None:
    """The last change of the target, once it has come to show or cannot any more: that is waited for, where
    its request may have been on the wire for some of the time in which it was looked for. None where there is
    none of the campaign's, or another was sent meanwhile. To be asked before the target is read, as above.
    """
    own = await last_change(connections, start)
    if own is not None and timedelta(0) < own.may_land_in <= own.on_the_wire + A_MOMENT:
        await connections.clock.sleep((own.may_land_in + A_MOMENT).total_seconds())
        own = await last_change(connections, start)
    return own if own is not None and own.may_land_in <= timedelta(0) else None


async def never_showed(connections: Connections, start: ZoneStart, own: OwnChange) -> None:
    """Record of the commits up to ``own``, of which the target shows nothing though nothing of them can land
    any more, that they never came to show, whatever they were answered: whoever makes the change from now on
    is somebody else, and it is not taken up as the campaign's, nor taken back. Raises ArchiveError.
    """
    keys = own.commits & own.mine
    await record_never_showed(connections, start.target.zone, start.area, keys, answered=True)


async def nothing_showed(connections: Connections, start: ZoneStart) -> bool:
    """Whether it is recorded of all commits that the campaign has sent to the target that they never came to
    show, and of one at least: what is there is somebody else's. Raises ArchiveError.
    """
    any_sent = False
    async for sent in _all_intents(connections, start):
        if not sent.commits or (sent.proven and sent.record.campaign != start.campaign):
            continue
        if not sent.proven or await is_effective(connections, sent.key):
            return False
        any_sent = True
    return any_sent


async def last_change_if_known(connections: Connections, start: ZoneStart) -> OwnChange | None:
    """As ``last_change``, and None as well where the archive, or the roots, cannot be read now: what gets
    worse is told all the same, and taken back; nothing is signed.
    """
    try:
        return await last_change(connections, start)
    except ArchiveError as failure:
        activity.logger.warning("not known what was sent: %s", failure)
        return None


async def very_own_change(connections: Connections, start: ZoneStart) -> OwnChange | None:
    """As ``last_change_if_known``, where this very campaign has made it, and not an earlier one of its
    name.
    """
    last = await last_change_if_known(connections, start)
    try:
        mine = last is not None and (await own_of(connections, start)).has(last.record)
    except ArchiveError as failure:
        activity.logger.warning("not known whose change it is: %s", failure)
        return None
    return last if mine else None


def _all_intents(connections: Connections, start: ZoneStart) -> AsyncIterator[SentBefore]:
    """What was sent to the target: nothing that somebody has planted keeps it from being seen through."""
    return intents_of(connections, start.target.zone, start.area, forgiving=True, damaged=True)


async def _proposal_of(connections: Connections, record: Intent) -> Proposal | None:
    """The proposal that an intent names; None where it does not name all that was signed, or that proposal is
    another one.
    """
    if None in (record.digest, record.fingerprint, record.proposal, record.snapshot):
        return None
    found = await get_document(connections.archive, Proposal, record.proposal or "")
    with contextlib.suppress(NotCanonical):
        return found if digest(found.body) == record.digest else None
    return None


@dataclass(frozen=True)
class OwnCommits:
    """All that a campaign has sent to a target and that may have had an effect. ``bodies``: what
    each of them was to make; ``last``: the last one. ``seen``: the archive's names of these commits and of
    their rollbacks, but for what may still come to show, of which ``may_show`` tells. ``may_land_in``: how
    much longer one that was not answered may, also where its request was ``on_the_wire`` for as long as it
    may be; not above zero where none can any more.
    """

    bodies: tuple[dict[str, Any], ...]
    last: Intent
    seen: frozenset[str]
    may_show: bool
    may_land_in: timedelta
    on_the_wire: timedelta

    def prepared(self, told: Prepared) -> Prepared:
        """What was sent last, in the place of what a message tells of it."""
        return as_begun(self.last, told).model_copy(update={"begun": told.begun})


async def taken_back(connections: Connections, start: ZoneStart) -> bool:
    """Whether the campaign's change is none any more, or a rollback of it was begun: to be asked once more
    after a look and just before what it says is signed, since a look takes seconds. Raises ArchiveError.
    """
    own = await last_change_if_known(connections, start)
    return own is None or own.back


async def own_commits(connections: Connections, start: ZoneStart) -> OwnCommits | None:
    """What this campaign has sent, or None where that is nothing, or cannot be told for certain. To be asked
    before the target is read. Raises ArchiveError.
    """
    own, terms = await own_of(connections, start), await terms_of(connections, start)
    if terms is None:
        return None
    now = surely_now(connections)
    bodies, commits = dict[str, dict[str, Any]](), dict[str, tuple[Intent, ClosedAs | None, Times]]()
    seen, backs = set[str](), list[datetime]()
    async for sent in _all_intents(connections, start):
        record = sent.record
        mine = sent.proven and record.campaign == start.campaign and own.has(record)
        if not mine or not is_change(record):
            continue
        seen.add(sent.key)
        if (closed := await closed_as(connections, sent.key)) not in EFFECTIVE:
            continue
        if record.step == Step.ROLL_BACK.value:
            backs.append(record.at)
            continue
        if (proposal := await _proposal_of(connections, record)) is None:
            return None
        if (times := await terms.of(connections, record)) is None:
            return None
        bodies[record.digest or ""] = proposal.body
        commits[sent.key] = record, closed, times
    if not commits:
        return None
    last = max((record for record, *_ in commits.values()), key=lambda record: record.at)

    def may_show(record: Intent, closed: ClosedAs | None, times: Times) -> bool:
        if now >= record.at + times.effect:
            return False
        undone = any(at >= record.at for at in backs)
        return closed is None or (closed is ClosedAs.ANSWERED and not undone)

    waits = {key for key, found in commits.items() if may_show(*found)}
    lands_in = (
        record.at - now + times.on_the_wire + times.effect
        for record, closed, times in commits.values()
        if closed is None
    )
    return OwnCommits(
        tuple(bodies.values()),
        last,
        frozenset(seen - waits),
        bool(waits),
        max(lands_in, default=timedelta(0)),
        max(times.on_the_wire for *_, times in commits.values()),
    )


async def landed_commits(connections: Connections, start: ZoneStart) -> OwnCommits | None:
    """What this campaign has sent, once nothing of it may come to show any more: that is waited for, as by
    ``landed_change``. None where that takes longer. To be asked before the target is read. Raises
    ArchiveError.
    """
    own = await own_commits(connections, start)
    if own is not None and timedelta(0) < own.may_land_in <= own.on_the_wire + A_MOMENT:
        await connections.clock.sleep((own.may_land_in + A_MOMENT).total_seconds())
        own = await own_commits(connections, start)
    over = own is not None and not own.may_show and own.may_land_in <= timedelta(0)
    return own if over else None


async def commits_of(connections: Connections, start: ZoneStart, body: dict[str, Any]) -> frozenset[str]:
    """The archive's names of the commits of exactly this body that workers have recorded of the target, of
    whichever campaign; none where nobody has signed a start with the message's specification, whose service
    may be another one. To be asked before the target is read. Raises ArchiveError.
    """
    if await terms_of(connections, start) is None:
        return frozenset()
    wanted = digest(body)
    return frozenset(
        [
            sent.key
            async for sent in intents_of(connections, start.target.zone, start.area)
            if sent.proven and sent.record.step == Step.COMMIT.value and sent.record.digest == wanted
        ]
    )
