"""A user's quota of calls."""

from __future__ import annotations

from edgeshift.messages.base import Message
from edgeshift.pace import Lane, PaceTerms, SlotBook


class QuotaStart(Message):
    """The input of a user's quota: its terms, and the slot book that is carried over."""

    user: str
    terms: PaceTerms
    book: SlotBook | None = None


class LeaseRequest(Message):
    """A process asks for slots. ``terms``: the limit as its campaign's file says it."""

    holder: str
    want: int
    lane: Lane
    terms: PaceTerms


class Blocked(Message):
    """The service refuses this user's calls for so many seconds."""

    seconds: float
