"""Whether zones are targets that people have signed, before somebody signs for one of them by its name."""

from __future__ import annotations

from edgeshift.authority.statements import StartStatement
from edgeshift.operations.errors import NotBegun, NotThatZone
from edgeshift.operations.pen import Pen


async def refuse_other_targets(pen: Pen, campaign: str, spec: str, targets: str) -> None:
    """Raises NotThatZone where a list of targets (its digest), in which a person's zones were looked up, is
    not that of the start that the pen goes by. Temporal tells which list a campaign has, and in a planted one
    a name may have another zone's identifier. Of no start that counts, nothing is signed anyway. Raises
    ArchiveError.
    """
    try:
        said = (await pen.start_of(campaign, spec)).statement
    except NotBegun:
        return
    if isinstance(said, StartStatement) and said.targets != targets:
        raise NotThatZone(
            f"the zones of campaign {campaign}, as Temporal names them, are in another list of targets"
            f" ({targets[:12]}) than the one whose start {said.by} has signed ({said.targets[:12]})"
        )
