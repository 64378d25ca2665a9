"""What ``pause --all`` and ``resume --all`` say of the campaigns of which that failed, wholly or in part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from edgeshift.cli.errors import CommandError, ExitCode, described
from edgeshift.model.counts import agreed, counted
from edgeshift.views.chosen import as_chosen

if TYPE_CHECKING:
    from edgeshift.cli.receipts import NotSteered


def not_steered(campaign: str, why: Exception) -> NotSteered | None:
    """One of them; None where nobody expected what happened."""
    from edgeshift import operations
    from edgeshift.cli.receipts import NotSteered

    if (problem := described(why)) is None:
        return None
    paused = isinstance(why, operations.ToldAlone)
    signed = why.signed if isinstance(why, operations.ToldAlone) else isinstance(why, operations.NotTold)
    hint = as_chosen(problem.hint)
    return NotSteered(campaign=campaign, message=problem.text, hint=hint, paused=paused, signed=signed)


def not_all(verb: str, failed: Sequence[NotSteered], meant: int, *, key: bool) -> CommandError:
    """All of them. ``meant``: how many campaigns were meant; ``key``: whether there was one to sign with."""
    paused = [one for one in failed if one.paused]
    unsigned = sum(not one.signed for one in paused)

    def are(number: int) -> str:
        return f"{agreed(number, 'is', 'are')} paused, and"

    some = (
        (len(failed) - len(paused), f"did not {verb}"),
        (unsigned, f"{are(unsigned)} that is not signed"),
        (
            len(paused) - unsigned,
            f"{are(len(paused) - unsigned)} what is signed of that may not hold",
        ),
    )
    with_key = ", with an operator's key (EDGESHIFT_AUTHORITY_KEY)," if paused and not key else ""
    return CommandError(
        "; ".join(f"{number:,} of {counted(meant, 'campaign')} {said}" for number, said in some if number),
        ExitCode.FAILED,
        hint=f"`edgeshift {verb} CAMPAIGN`{with_key} tries one again",
        details=tuple(f"{one.campaign}: {one.message}" for one in failed),
    )
