"""Which starts of a campaign's name something that people sign is to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from edgeshift.authority.roots import Role, Roots
from edgeshift.authority.statements import Attested, StartStatement, stops
from edgeshift.model.counts import counted
from edgeshift.operations.errors import NotBegun, Refused, StartNotKnown
from edgeshift.stores.archive import ArchiveError

MOST_STOPPED = 20
"""Starts to which one stop is signed: a name has one for each service and area. Without roots here anybody
can plant more, and a key may have to be touched for each.
"""


def refused_here(said: Attested, role: Role, roots: Roots | None) -> str | None:
    """Why a statement does not count by the roots that are known here, or None, also without any."""
    if roots is None:
        return None
    # A word that stops counts after its key was revoked: a resume has to come after it.
    known = roots.lasting if stops(said.statement) else roots
    return known.refuses(said, role, said.statement.issued)


def own_start(
    campaign: str,
    spec: str | None,
    starts: Sequence[Attested],
    roots: Roots | None,
    *,
    stops: bool = False,
) -> Attested:
    """The latest start with this specification (None: whichever) that counts. ``stops``: also one whose key
    was revoked since, where none counts now: workers may not have heard of that, and go on by it. ``starts``:
    the latest first. Raises NotBegun.
    """
    some = [
        said
        for said in starts
        if isinstance(said.statement, StartStatement) and spec in (None, said.statement.spec)
    ]
    if found := _counted(some, roots, stops=stops):
        return found[0]
    if some:
        raise StartNotKnown(campaign, refused_here(some[0], Role.STARTER, roots) or "")
    raise NotBegun(campaign)


def to_stop(
    meant: Attested, starts: Sequence[Attested], roots: Roots | None, now: datetime
) -> list[Attested]:
    """The starts to which a stop is signed, so that it counts for each start of the name (``is_meant``):
    ``meant`` first, and the latest of each other service and area. Which one is meant is told by Temporal, or
    by a date, and either may be a stranger's word. ``starts``: the latest first.
    """
    found = {_stopped_with(meant, now): meant}
    for said in _counted(starts, roots, stops=True):
        found.setdefault(_stopped_with(said, now), said)
    return list(found.values())


def too_many(starts: Sequence[Attested], roots: Roots | None) -> str:
    """To how many of these starts a stop is not signed, and what to do; nothing where there are no more."""
    if (left := len(starts) - MOST_STOPPED) <= 0:
        return ""
    who = "" if roots is not None else "; EDGESHIFT_AUTHORITY_ROOTS tells which of them are a stranger's"
    return f"not for {counted(left, 'more start')} of that name, of other services or areas{who}"


async def to_each(
    starts: Sequence[Attested], roots: Roots | None, put: Callable[[Attested], Awaitable[None]]
) -> str:
    """Have something signed and recorded to one start after the other: to how many it is not, and why, or
    nothing. Raises what ``put`` does where it is not to the first.
    """
    for done, start in enumerate(starts[:MOST_STOPPED]):
        try:
            await put(start)
        except (Refused, ArchiveError) as why:
            if not done:
                raise
            # Whoever was asked may be gone: what is signed is told, before they are asked for anything again.
            because = why.__cause__ if isinstance(why, Refused) and why.__cause__ else why
            others = counted(len(starts) - done, "other start")
            return f"it is not signed for {others} of that name: {because}"
    return too_many(starts, roots)


def _stopped_with(said: Attested, now: datetime) -> tuple[str, ...]:
    """Equal for starts that one stop counts for: one that begins later has to be named."""
    start = said.statement
    later = start.issued >= now.replace(microsecond=0)
    return start.service, start.area.value, said.digest if later else ""


def _counted(starts: Sequence[Attested], roots: Roots | None, *, stops: bool) -> list[Attested]:
    """Those that count by the roots that are known here, then those that would if no key were revoked."""
    found = [said for said in starts if not refused_here(said, Role.STARTER, roots)]
    if roots is None or not stops:
        return found
    then = roots.forgiving
    return found + [
        said
        for said in starts
        if said not in found and not then.refuses(said, Role.STARTER, said.statement.issued)
    ]
