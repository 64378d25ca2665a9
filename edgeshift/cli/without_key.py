"""Stopping a campaign without a key, where signatures alone count: it obeys, workers do not go by that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgeshift.cli.shell import Shell
    from edgeshift.messages import Answer


async def told_without_key(shell: Shell, campaign: str, verb: str, answer: Answer) -> Answer:
    """What a campaign answered that was told to stop by nobody's signature. Raises NotSignedStop where the
    roots that are known here ask for one, and its start has one: then it may go on.
    """
    from edgeshift.operations.proof import is_unsigned
    from edgeshift.operations.steering import NotSignedStop, unsigned_stop

    if not shell.asks_for_keys:
        return answer
    # Of whichever start: what Temporal tells of this one may be anybody's.
    if is_unsigned(await shell.note_of(campaign)):
        return unsigned_stop(answer)
    raise NotSignedStop(campaign, verb, answer)
