"""How a step ends that was not sent."""

from __future__ import annotations

from activities.proof.authority import NotSigned
from edgeshift.messages import ChangeResult, ChangeStatus


class NotSent(Exception):
    """It was decided, before anything was sent, not to send."""

    def __init__(
        self,
        reason: str,
        status: ChangeStatus = ChangeStatus.NOTHING_HAPPENED,
        *,
        earlier: bool = False,
        turn: bool = True,
        full: bool = False,
        called_off: bool = False,
        unsigned: NotSigned | None = None,
        stands: bool = False,
        settled: str = "",
        final: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.earlier = earlier
        self.turn = turn
        """False: a reading before it did not come in time, as where its turn to call did not."""
        self.full = full
        """Whether the roots let no more commits through for now."""
        self.called_off = called_off
        """Whether its permit was taken back."""
        self.unsigned = unsigned
        """Why it does not rest on what people signed, where it does not."""
        self.settled = settled
        """What a worker has archived of its end, where what a rollback would undo was seen to it."""
        self.final = final or bool(settled)
        """Whether trying again cannot help: people have to look."""
        self.stands = stands or not turn
        """Whether nothing speaks against what was signed: it was only too late, or its turn did not come."""

    @property
    def result(self) -> ChangeResult:
        """What is told of the step."""
        said = self.reason[:200]
        return ChangeResult(
            status=self.status,
            reason=said,
            earlier=self.earlier,
            turn=self.turn,
            full=self.full,
            called_off=self.called_off,
            unsigned=self.unsigned is not None,
            uncounted=self.unsigned is not None and self.unsigned.uncounted,
            settled=self.settled,
            final=self.final,
            aborted_by=self.unsigned.aborted_by if self.unsigned is not None else "",
            stands=self.stands and self.status is ChangeStatus.NOTHING_HAPPENED,
        )
