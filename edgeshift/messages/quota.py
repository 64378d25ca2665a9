"""A user's quota of calls."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, FiniteFloat

from edgeshift.messages.base import Message, Name, Number, Reference
from edgeshift.rate_limit.circuit import Circuit, OpenCircuit
from edgeshift.rate_limit.others import Others, Seen
from edgeshift.rate_limit.slots import LONGEST_BLOCK, SlotBook
from edgeshift.rate_limit.terms import Lane, PaceTerms

MOST_CREDENTIALS = 10_000

HELD = "held"
"""The name in a quota's memo under which it publishes what is held (Standing)."""


class QuotaStart(Message):
    """The input of a user's quota: its terms; and the slot book, the held calls, and what is known of
    others, which are carried over. ``again``: the user had a quota that has ended, so that slots of a book
    which nobody has any more may be out.
    """

    user: str
    terms: PaceTerms
    book: SlotBook | None = None
    circuit: Circuit | None = None
    others: Others | None = None
    again: bool = False


class LeaseRequest(Message):
    """A process asks for slots. ``terms``: the limit as its campaign's file says it. ``credentials``: the
    references of those that it calls with. ``seen``: what the service last told it of the limit.
    """

    holder: Name
    want: Number
    lane: Lane
    terms: PaceTerms
    credentials: tuple[Reference, ...] = Field(default=(), max_length=MOST_CREDENTIALS)
    seen: Seen | None = None


class Blocked(Message):
    """The service refuses this user's calls for so many seconds."""

    seconds: Annotated[FiniteFloat, Field(ge=0, le=LONGEST_BLOCK)]


class HoldCalls(Message):
    """Calls of the user are to be held. ``now``: that was seen just now; else it counts by its own time."""

    hold: OpenCircuit
    now: bool = False


class Fixed(Message):
    """The service answers these credentials again, or a person says so."""

    credentials: tuple[Reference, ...] = Field(max_length=MOST_CREDENTIALS)


class AskProbe(Message):
    """May a probe be made now? ``credentials``: references of those that it could be made with."""

    credentials: tuple[Reference, ...] = Field(max_length=MOST_CREDENTIALS)


class ProbeTurn(Message):
    """The hold that is to be probed now, or None."""

    hold: OpenCircuit | None = None
