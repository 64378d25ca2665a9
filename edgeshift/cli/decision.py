"""A decision as somebody asks for it with ``edgeshift sign-off``: on one zone, several, or fingerprints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from edgeshift.cli.shell import Shell

if TYPE_CHECKING:
    from edgeshift.cli.signed_elsewhere import Elsewhere
    from edgeshift.messages import CampaignSummary
    from edgeshift.model.sign_off import Choice


@dataclass(frozen=True)
class DecisionAsked:
    """What a person says of something that waits for a sign-off, and how it is asked for: ``where`` it is
    signed; ``raw``: each body is shown as JSON, too; ``yes``: without a question.
    """

    choice: Choice
    by: str
    reason: str
    where: Elsewhere
    raw: bool = False
    yes: bool = False

    @property
    def command(self) -> str:
        """The command that says the same of a ZONE that is with another CAMPAIGN."""
        return f"sign-off {self.choice.value} CAMPAIGN --zone ZONE"

    async def confirm(self, shell: Shell, summary: CampaignSummary, what: str) -> None:
        """Ask whether ``what`` was shown is approved, or rejected. Raises CommandError where it is not, and
        Refused where the campaign would not count it by whoever decides.
        """
        from edgeshift.operations.policies import refuse_uncounted

        await refuse_uncounted(shell.archive(), summary, self.choice, self.by, shell.readable_roots)
        shell.confirm(f"{self.choice.value.capitalize()} {what}{shell.here} as {self.by}?", yes=self.yes)
