"""That a start is the last of its campaign's name. Pure.

What people agreed to under a campaign file of other terms, targets or consents lets nothing more through once
the campaign was started again by another, whichever of them a message names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from edgeshift.authority.door import start_of
from edgeshift.authority.roots import SKEW_AHEAD, Role, Roots
from edgeshift.authority.statements import Attested, StartStatement, Statement
from edgeshift.campaign_file.spec import CampaignSpec


def last_start_of(
    spec: CampaignSpec, digest: str, starts: Sequence[Attested], roots: Roots, now: datetime
) -> Attested | str:
    """The signed start of the campaign with this specification, where it is not ``started_since``; or why
    there is none. ``digest``: of ``spec``; ``starts``: the latest first.
    """
    found = start_of(spec, digest, starts, roots, now)
    return found if isinstance(found, str) else started_since(found, spec, starts, roots, now) or found


def started_since(
    start: Attested, spec: CampaignSpec, starts: Sequence[Attested], roots: Roots, now: datetime
) -> str | None:
    """Why nothing rests on a start any more, or None: the campaign was started again by another file. The way
    back is held up by nothing. ``spec``: that of ``start``.
    """
    latest_first = sorted(starts, key=lambda said: said.statement.issued, reverse=True)
    last = start_of(spec, None, latest_first, roots, now)
    if isinstance(last, str) or last.statement.issued <= start.statement.issued:
        return None
    mine, its = start.statement, last.statement
    assert isinstance(mine, StartStatement) and isinstance(its, StartStatement)
    if its.spec == mine.spec:
        return None
    return f"{its.by} has started the campaign again since, by another file"


def dated_last(said: Mapping[str, Any], starts: Sequence[Attested], roots: Roots | None) -> Mapping[str, Any]:
    """What a start is to say of itself, dated after the last of its name: that may have been signed by a
    clock that is a little ahead of this one, and would be taken for a later one. ``roots``: None where
    nobody here knows which starts count.
    """
    if roots is None:
        return said
    issued = (one.statement.issued for one in starts if _counted(one, roots))
    last = max(issued, default=said["issued"] - SKEW_AHEAD)
    if not said["issued"] <= last < said["issued"] + SKEW_AHEAD:
        return said
    return {**said, "issued": last + timedelta(seconds=1)}


def to_come(said: Mapping[str, Any], starts: Sequence[Attested], roots: Roots | None) -> Attested | None:
    """A start of the same name by a clock that was far ahead, which will count as the later one once its time
    has come: what begins now would be stopped then.
    """
    far = [one for one in starts if one.statement.issued >= said["issued"] + SKEW_AHEAD]
    return next((one for one in far if roots is not None and _counted(one, roots)), None)


def superseded_by(
    start: Attested, starts: Sequence[Attested], roots: Roots, now: datetime
) -> Attested | None:
    """The start by another file since which nothing more rests on this one, as ``started_since`` has it; None
    where there is none. It may have begun nothing.
    """
    mine = start.statement
    assert isinstance(mine, StartStatement)

    def is_of_it(statement: Statement) -> bool:
        same = statement.service, statement.campaign, statement.area
        return isinstance(statement, StartStatement) and same == (mine.service, mine.campaign, mine.area)

    there = (one for one in starts if is_of_it(one.statement) and one.statement.issued <= now + SKEW_AHEAD)
    last = max(
        (one for one in there if _counted(one, roots)), key=lambda one: one.statement.issued, default=start
    )
    its = last.statement
    assert isinstance(its, StartStatement)
    return last if its.issued > mine.issued and its.spec != mine.spec else None


def _counted(said: Attested, roots: Roots) -> bool:
    return roots.refuses(said, Role.STARTER, said.statement.issued) is None
