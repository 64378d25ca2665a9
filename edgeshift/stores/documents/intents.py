"""Records of what is about to be sent, and of what came of it (activities/change/intents.py)."""

from __future__ import annotations

from typing import ClassVar

from edgeshift.model.fleet import Area, Zone
from edgeshift.stores.archive_errors import ArchiveMisconfigured
from edgeshift.stores.archive_keys import is_part
from edgeshift.stores.documents.codec import Document, Moment

ANSWERED = "answered"
"""Why nothing more is recorded to come of an intent whose effect is immediate, once it was answered."""

SHOWS = "it shows"
"""Why nothing more is recorded to come of an intent whose effect has been seen, or seen undone."""

OPENED = "opened"
"""The step that a record names which stands before the intents of a step of several requests."""

GIVEN_UP = "given_up"
"""The step that a record names which keeps anything from being sent under its permit."""

NEVER = "it never showed"
"""Why nothing comes of an intent that was not answered, whose time to show is over, and of which nothing was
there then.
"""

EFFECTIVE = frozenset({None, ANSWERED, SHOWS})
"""What may be recorded of an intent that has had an effect, or may have had one."""


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


class Intent(Document):
    """``intent/<target>/<area>/<permit>[-<request>]``: what is about to be sent under a permit, or that the
    permit was opened or given up. Created once, before the first byte is sent.

    Written by the fence (activities/change/fence.py) and by whoever gives a change up. Read before each
    change, by whoever takes a change up again, and by the invariants.

    ``step``: of ``Step``, or ``opened`` or ``given_up``. ``at``: for as long as a migration may take from
    then on, no other commit of the target is sent. ``run``: the campaign's first run. ``digest``,
    ``fingerprint``, ``proposal``, ``snapshot``: of what was signed, SHA-256. ``drawn``: tells this record
    from one that another process wrote; not there where the permit was given up. ``trail``: of log-fields,
    where what was there before lies (documents/log_fields.py). Others that are None were not recorded.
    """

    optional: ClassVar[frozenset[str]] = frozenset(
        {"digest", "fingerprint", "proposal", "snapshot", "run", "attempt", "drawn", "trail"}
    )

    step: str
    at: Moment
    campaign: str
    digest: str | None = None
    fingerprint: str | None = None
    proposal: str | None = None
    snapshot: str | None = None
    run: str | None = None
    attempt: int | None = None
    drawn: str | None = None
    trail: str | None = None


class NothingMore(Document):
    """``nothing/…``, beside its intent: nothing, or nothing more, comes of that intent, and why.

    Written by the fence, and by whoever saw the change show; read before each change. ``reason``:
    ``answered``, ``it shows``, or in words why nothing was sent.
    """

    reason: str = ""


class Answered(Document):
    """``over/…``, beside its intent: the one request of a step was answered, so that nothing more is sent
    under its permit. It holds nothing; that it is there counts. Written by the fence, read by whoever stops a
    campaign.
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
