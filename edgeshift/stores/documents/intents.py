"""Records of what is about to be sent, and of what came of it (activities/change/intents.py)."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import ClassVar

from edgeshift.model.fleet import Area, Zone
from edgeshift.stores.archive_errors import ArchiveMisconfigured
from edgeshift.stores.archive_keys import is_part
from edgeshift.stores.documents.codec import Document, Moment

OPENED = "opened"
"""The step that a record names which stands before the intents of a step of several requests."""

GIVEN_UP = "given_up"
"""The step that a record names which keeps anything from being sent under its permit."""


class ClosedAs(StrEnum):
    """Why nothing, or nothing more, comes of an intent. Code decides by this alone."""

    ANSWERED = "answered"
    """Its effect is immediate, and it was answered."""
    SHOWS = "shows"
    """Its effect has been seen, or seen undone."""
    NEVER_SHOWED = "never_showed"
    """It was not answered, its time to show is over, and nothing of it was there then."""
    NOTHING_CAME = "nothing_came"
    """It was not sent, or the service refused it, or a person who has looked says so."""


EFFECTIVE: frozenset[ClosedAs | None] = frozenset({None, ClosedAs.ANSWERED, ClosedAs.SHOWS})
"""As what an intent may be closed that has had an effect, or may have had one; None: it is not closed."""

_TEXTS = {
    ClosedAs.ANSWERED: "answered",
    ClosedAs.SHOWS: "it shows",
    ClosedAs.NEVER_SHOWED: "it never showed",
}
_OF_BEFORE = {text: closed for closed, text in _TEXTS.items()}


def intents_at(target: Zone, area: Area) -> str:
    """Where the intents of a target lie."""
    return f"intent/{target.id}/{area.value}"


def intent_key(target: Zone, area: Area, permit: str) -> str:
    """The archive's name of an intent. ``permit``: with what tells one request of several from the others.
    Raises ArchiveMisconfigured where that is not exactly one part of a key: no listing would find the intent,
    or it would lie in the way of others.
    """
    if not is_part(permit):
        raise ArchiveMisconfigured(f"{permit[:80]!r} is no name of a permit: nothing is recorded under it")
    return f"{intents_at(target, area)}/{permit}"


_REQUESTS = re.compile(r"-(override-[0-9a-zA-Z]+|rules(et)?-[0-9]+|job-.+|challenge)")
"""How the name of one request of several goes on after that of its permit."""


class Intent(Document):
    """``intent/<target>/<area>/<permit>[-<request>]``: what is about to be sent under a permit, or that the
    permit was opened or given up. Created once, before the first byte is sent.

    Written by the fence (activities/change/fence.py) and by whoever gives a change up. Read before each
    change, by whoever takes a change up again, and by the invariants.

    ``step``: of ``Step``, or ``opened`` or ``given_up``. ``at``: for as long as a migration may take from
    then on, no other commit of the target is sent. ``run``: the campaign's first run, as whoever asked for
    the change told it. ``start``: digest of the signed start that it rests on, as the door found it; not
    there where names count. ``digest``, ``fingerprint``, ``proposal``, ``snapshot``: of what was signed,
    SHA-256. ``drawn``: tells this record from one that another process wrote; not there where the permit was
    given up. ``trail``: of log-fields, where what was there before lies (documents/areas/log_fields.py).
    ``permit``: the name of its permit, which is its caller's choice; not there in records of earlier
    versions. ``mode``: of a validation, in which mode of ``ValidationMode``; not there in records of earlier
    versions. Others that are None were not recorded.
    """

    optional: ClassVar[frozenset[str]] = frozenset(
        {
            "digest",
            "fingerprint",
            "proposal",
            "snapshot",
            "run",
            "start",
            "attempt",
            "drawn",
            "trail",
            "permit",
            "mode",
        }
    )

    step: str
    at: Moment
    campaign: str
    digest: str | None = None
    fingerprint: str | None = None
    proposal: str | None = None
    snapshot: str | None = None
    run: str | None = None
    start: str | None = None
    attempt: int | None = None
    drawn: str | None = None
    trail: str | None = None
    permit: str | None = None
    mode: str | None = None

    @property
    def in_attempt(self) -> int:
        """In which attempt it was sent; the first, where it says none."""
        return 1 if self.attempt is None else self.attempt

    def stands_under(self, permit: str, key: str) -> bool:
        """Whether it is of this permit. ``key``: the archive's name of it, by which alone one of an earlier
        version says so: as a request of a step of several, and not as whatever begins like the permit.
        """
        if self.permit is not None:
            return self.permit == permit
        name = key.rpartition("/")[2]
        more = name.removeprefix(permit)
        return name.startswith(permit) and (not more or _REQUESTS.fullmatch(more) is not None)


class NothingMore(Document):
    """``nothing/…``, beside its intent: nothing, or nothing more, comes of that intent, and why.

    Written by the fence, and by whoever saw the change show; read before each change. ``kind``: not there in
    records of earlier versions. ``reason``: for people, in words that may be the service's or a person's;
    where there is a ``kind``, nothing is decided by it.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"kind"})

    kind: ClosedAs | None = None
    reason: str = ""

    @classmethod
    def of(cls, kind: ClosedAs, reason: str = "") -> NothingMore:
        """What is recorded. ``reason``: else the words of its kind, by which earlier versions decide."""
        return cls(kind=kind, reason=reason or _TEXTS.get(kind, ""))

    @property
    def closed_as(self) -> ClosedAs:
        """Why; of a record of an earlier version by its words, since it has nothing else."""
        return self.kind or _OF_BEFORE.get(self.reason, ClosedAs.NOTHING_CAME)


class Answered(Document):
    """``over/…``, beside its intent: the one request of a step was answered, so that nothing more is sent
    under its permit. It holds nothing; that it is there counts. Written by the fence, read by whoever stops a
    campaign, and before each change: the request is not on its way any more.
    """


class CountedCommit(Document):
    """``counted/…``: an attempt's commit has this ``place`` among those that the roots let through of its
    wave or campaign. Written and read by the change activity, so that a commit that is tried again counts
    once.
    """

    place: int


class Seen(Document):
    """``seen/…``, beside its intent: what was sent was watched to its end. That it is there counts.
    Written by the activities that verify or watch, read by whoever takes a change up again.

    ``showed``: False where it never came to show, and cannot any more; else not written.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"showed"})

    showed: bool | None = None
