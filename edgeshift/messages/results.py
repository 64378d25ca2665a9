"""What a campaign told of outcomes, compared with what workers have signed, and with the service."""

from __future__ import annotations

from pydantic import Field

from edgeshift.messages.base import Message
from edgeshift.model.counts import counted
from edgeshift.model.durations import Duration
from edgeshift.model.fleet import Area, ZoneOutcome
from edgeshift.model.sign_off import Digest

MOST_TOLD_WRONG = 100
"""Targets that are kept by name of which something was told that is not so."""


class ToldWrong(Message):
    """A ``zone``, by name, of which something was told that is not so. ``told``: the outcome. ``shown``: what
    became of it instead; None where a worker has signed the outcome, and the service shows otherwise by now.
    ``said``: what the service shows, briefly.
    """

    index: int
    zone: str = ""
    told: ZoneOutcome
    shown: ZoneOutcome | None = None
    said: str = ""


class CompareOutcomes(Message):
    """Compare outcomes of targets with their results, and those of ``read`` with the service. ``attempts``,
    ``outcomes`` run beside ``indexes``. ``origin``, ``archive``: see ZoneStart. ``settles_in``: how long the
    effect of a step may take to show.
    """

    origin: str
    targets: Digest
    spec: Digest
    area: Area
    indexes: tuple[int, ...]
    attempts: tuple[int, ...]
    outcomes: tuple[ZoneOutcome, ...]
    settles_in: Duration
    read: frozenset[int] = frozenset()
    archive: str = Field(default="", max_length=32)


class ComparedOutcomes(Message):
    """What is not so. ``read``: targets that were read at the service; ``unread``: those that could not be.
    ``by_word``: nothing was compared, since words count here: a rehearsal.
    """

    wrong: tuple[ToldWrong, ...] = ()
    read: int = 0
    unread: int = 0
    by_word: bool = False


class Comparison(Message):
    """How a campaign's outcomes were compared before it closed. ``outcomes``: how many say something of the
    service, each of which has to have its result; ``wrong``: of how many something else was so. The others:
    see ComparedOutcomes.
    """

    outcomes: int = 0
    read: int = 0
    unread: int = 0
    wrong: int = 0

    @property
    def text(self) -> str:
        """The same for people."""
        return self.text_for(signed=True)

    def text_for(self, *, signed: bool) -> str:
        """The same for people. ``signed``: whether outcomes were compared with what workers signed."""
        unread = f", {self.unread:,} could not be read" if self.unread else ""
        ways = f"with what workers signed, {self.read:,} of them with the service"
        if not signed:
            ways = "with the service alone, since there are no roots here"
        told = self.wrong or "none"
        return f"{counted(self.outcomes, 'outcome')} compared {ways}{unread}: {told} told wrong"


def wrong_text(one: ToldWrong) -> str:
    """What was told wrong of a zone, for people."""
    became = f"no worker signed that, and it is {one.shown.value}" if one.shown else "a worker signed that"
    return f"{one.zone or one.index} was told as {one.told.value}; {became}: {one.said}"
