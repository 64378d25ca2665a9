"""Stopping a campaign without a key, where signatures alone count: it obeys, workers do not go by that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgeshift.cli.shell import Shell
    from edgeshift.messages import Answer


async def told_without_key(shell: Shell, campaign: str, verb: str, answer: Answer) -> Answer:
    """What a campaign answered that was told to stop by nobody's signature. Where the roots that are known
    here ask for one, and its start has one, it may go on: raises NotSignedStop, or NotSignedHere where they
    do not know whose that is.
    """
    from edgeshift.operations.proof import UNKNOWN, is_unsigned
    from edgeshift.operations.steering import NotSignedHere, NotSignedStop, unsigned_stop

    if not shell.asks_for_keys:
        return answer
    # Of whichever start: what Temporal tells of this one may be anybody's.
    note = await shell.note_of(campaign)
    if is_unsigned(note):
        return unsigned_stop(answer)
    raise (NotSignedHere if note == UNKNOWN else NotSignedStop)(campaign, verb, answer)
