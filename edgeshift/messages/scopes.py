"""The activities of changes that can be undone: watching them, taking them back, holding an account's
zones.
"""

from __future__ import annotations

from datetime import datetime

from edgeshift.messages.base import Explained, Message
from edgeshift.messages.zone import Prepared, ZoneStart
from edgeshift.model.durations import Duration
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, Reasons, in_words
from edgeshift.model.sign_off import Digest

LONGEST_SEEN = 250
"""Characters of what was seen of a change."""


class HoldZones(Message):
    """Hold every zone of an account for its one workflow, or let go of them."""

    start: ZoneStart
    holder: str
    zones: Digest


class Held(Message):
    """Whether all of them are held. ``others``: what has the zones that are not, a few by name."""

    others: tuple[str, ...] = ()


class Hold(Message):
    """The input of a hold: one zone, held by the workflow of the account that covers it."""

    zone_id: str
    holder: str
    campaign: str
    look_every: Duration


class Confirm(Message):
    """Read until the service shows the change, or its absence, or until that can no longer be expected.

    ``wanted``: whether the change is to show (True), or to be gone again (False). ``since``: when it was.
    ``answered``: whether the service said that it was made.
    """

    start: ZoneStart
    prepared: Prepared
    wanted: bool
    limit: Duration
    since: datetime
    answered: bool = True


class Shown(Explained):
    """What the service shows: ``reached`` the wanted state, or ``unchanged``. ``hopeless``: it will never
    show anything else. ``worse``: it shows neither, and is to be undone: a part was written, or what is
    served is worse than before. ``part``: it is unchanged since this proposal was made, and an earlier step
    of the campaign had written a part by then. ``took``: how long it took to show by itself, where that is
    known.
    """

    reached: bool
    unchanged: bool = False
    hopeless: bool = False
    worse: bool = False
    part: bool = False
    took: Duration | None = None


class LookBack(ZoneStart):
    """What a target was started with, to find by the archive what its campaign may have left there.
    ``asked``: when the workflow asked, by the server's clock. A local activity has no other word of it: what
    it is told of its own start is its worker's clock.
    """

    asked: datetime | None = None


class Part(Message):
    """What a campaign may have left at a target in the middle of a change, by what the archive has of it.

    ``prepared``: the proposal of the change, or None where nothing is left. ``may_show``: something was sent
    whose effect may still come.
    """

    prepared: Prepared | None = None
    may_show: bool = False


class Watch(Message):
    """Look once at a change that was made: is it as it was agreed? ``last``: nothing is looked at after this.

    ``found``: what the change itself archived. ``back``: look whether it is undone.
    """

    start: ZoneStart
    prepared: Prepared
    since: datetime
    last: bool = False
    back: bool = False
    found: str = ""
    why: str = ""


class Watched(Message):
    """What was seen. ``worse``: why it has to be undone, or empty. ``unsure``: why it cannot be said
    yet. ``done``: nothing more has to be waited for. ``said``: what was seen where neither is the case.
    ``why``: whichever of the three it is, with its facts.

    ``record``: the archived result, made by the last look.
    """

    worse: str = ""
    unsure: str = ""
    done: bool = False
    said: str = ""
    record: str = ""
    why: Reasons = ()

    @classmethod
    def as_worse(cls, *why: Reason) -> Watched:
        """It has to be undone."""
        return cls(worse=text_of(*why)[:LONGEST_SEEN], why=why)

    @classmethod
    def as_unsure(cls, *why: Reason) -> Watched:
        """It cannot be said yet."""
        return cls(unsure=text_of(*why)[:LONGEST_SEEN], why=why)

    @classmethod
    def as_done(cls, *why: Reason, record: str) -> Watched:
        """Nothing more has to be waited for."""
        return cls(done=True, said=text_of(*why)[:LONGEST_SEEN], why=why, record=record)

    @classmethod
    def not_looked_at(cls, *because: Reason) -> Watched:
        """Nothing more is done about it, and nothing is on record of what was seen."""
        why = Reason(code=ReasonCode.NOT_LOOKED_AT_AGAIN, because=because)
        return cls(said=text_of(why)[:LONGEST_SEEN], why=(why,))

    @property
    def explained(self) -> Reasons:
        """Why, also where only the text is known."""
        return self.why or in_words(self.worse or self.unsure or self.said)
