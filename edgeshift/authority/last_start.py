"""That a start is the last of its campaign's name. Pure.

What people agreed to under a campaign file of other terms, targets or consents lets nothing more through once
the campaign was started again by another, whichever of them a message names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from edgeshift.authority.roots import SKEW_AHEAD, Role, Roots, is_after
from edgeshift.authority.starts import start_of
from edgeshift.authority.statements import Attested, StartStatement
from edgeshift.campaign_file.spec import CampaignSpec


def last_start_of(
    spec: CampaignSpec, digest: str, starts: Sequence[Attested], roots: Roots, now: datetime
) -> Attested | str:
    """The signed start of the campaign with this specification, where it is not ``started_since``; or why
    there is none. ``digest``: of ``spec``; ``starts``: the latest first.
    """
    found = start_of(spec, digest, starts, roots, now)
    return found if isinstance(found, str) else started_since(found, starts, roots, now) or found


def started_since(start: Attested, starts: Sequence[Attested], roots: Roots, now: datetime) -> str | None:
    """Why nothing rests on a start any more, or None: the campaign was started again. The rollback is held up
    by nothing.
    """
    other, mine = superseded_by(start, starts, roots, now), start.statement
    if other is None:
        return None
    its = other.statement
    assert isinstance(its, StartStatement) and isinstance(mine, StartStatement)
    return f"{its.by} has started the campaign again since{', by another file' * (its.spec != mine.spec)}"


def superseded_by(
    start: Attested, starts: Sequence[Attested], roots: Roots, now: datetime
) -> Attested | None:
    """The last start of the same name that came after this one, and counts or did when it was signed; None
    where there is none. It may have begun nothing.
    """
    for other in sorted(starts, key=lambda said: said.statement.issued, reverse=True):
        if _supersedes(other, start, roots, now):
            return other
    return None


def _supersedes(other: Attested, start: Attested, roots: Roots, now: datetime) -> bool:
    """Whether a start came after another one. It does also after its time, when its key serves no more, and
    when that was revoked since: else what people agreed to under terms of before would count again. Then by
    the archive's time as well, so that whoever has stolen such a key ends no start that is signed later.
    """
    its, mine = other.statement, start.statement
    assert isinstance(mine, StartStatement)
    same = (its.service, its.campaign, its.area) == (mine.service, mine.campaign, mine.area)
    if not (isinstance(its, StartStatement) and same and its.issued > mine.issued):
        return False
    if roots.refuses(other, Role.STARTER, now) is None:
        return True
    return its.issued - now <= SKEW_AHEAD and _counted(other, roots.lasting) and is_after(other, start)


def dated_last(said: Mapping[str, Any], starts: Sequence[Attested], roots: Roots | None) -> Mapping[str, Any]:
    """What a start is to say of itself, dated after the last of its name: that may have been signed by a
    clock that is a little ahead of this one, and would be taken for a later one. ``roots``: None where
    nobody here knows which starts count.
    """
    if roots is None:
        return said
    # Whose key was revoked is counted too: workers may not have heard of that yet.
    issued = (one.statement.issued for one in starts if _counted(one, roots.lasting))
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


def _counted(said: Attested, roots: Roots) -> bool:
    return roots.refuses(said, Role.STARTER, said.statement.issued) is None
