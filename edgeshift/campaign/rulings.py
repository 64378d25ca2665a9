"""Rejections beyond one run of a campaign: the names under which they lie in the archive, and which of them
still count. Pure.

A ruling is never changed. A later one voids it: who rejected a fingerprint may think better of it, and a
reopening voids every rejection before it, of the fingerprint or of the zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from edgeshift.messages import RulingVerb
from edgeshift.model.digests import sha256

REJECTED, WITHDRAWN, REOPENED, APPROVED = "rejected", "withdrawn", "reopened", "approved"

EVERYTHING = "all"
"""What a ruling is about that is not about one wave, or one digest, alone."""

_NAME = re.compile(r"(\d{20})-(rejected|withdrawn|reopened)-(\w+)-(\w+)-(\w+)")

_OF_FINGERPRINT = re.compile(r"[0-9a-f]{64}/[0-9]{20}-(rejected|withdrawn|reopened)-(all|[0-9]{1,9})-\w+-\w+")


@dataclass(frozen=True, order=True)
class Entry:
    """A ruling by its name in the archive: when it was given (20 digits, down to microseconds), what it says,
    about which wave or digest, and by whom and in which run of the campaign (12 hexadecimal digits each).
    """

    at: str
    verb: str
    about: str
    person: str
    run: str

    @property
    def name(self) -> str:
        """The last part of its key."""
        return "-".join((self.at, self.verb, self.about, self.person, self.run))


def entry_of(verb: RulingVerb, at: datetime, about: str | int | None, by: str, run: str) -> Entry:
    """The entry of a ruling. ``about``: a wave or a digest, None for all."""
    moment = at.astimezone(UTC).strftime("%Y%m%d%H%M%S%f")
    said = EVERYTHING if about is None else str(about)
    return Entry(moment, verb, said, short(by), short(run))


def short(text: str) -> str:
    """What stands for a person or a run in a name."""
    return sha256(text.encode())[:12]


def fingerprints_prefix(campaign: str, fingerprint: str = "") -> str:
    """Under which lies what was ruled on a fingerprint of this campaign, or on all. ``campaign``: its id."""
    return f"rulings/{campaign}/fingerprints" + (f"/{fingerprint}" if fingerprint else "")


def is_of_fingerprint(campaign: str, key: str) -> bool:
    """Whether a campaign can have recorded a ruling on a fingerprint under this name: for all or one wave."""
    prefix = f"{fingerprints_prefix(campaign)}/"
    return key.startswith(prefix) and bool(_OF_FINGERPRINT.fullmatch(key.removeprefix(prefix)))


def zones_prefix(campaign: str, zone: str = "") -> str:
    """Under which lies what was ruled on one zone of this campaign, or on all."""
    return f"rulings/{campaign}/zones" + (f"/{zone}" if zone else "")


def approvals_prefix(campaign: str) -> str:
    """Under which lies what was approved in this campaign: a record of each person's word, however many
    fingerprints it was about. No later run takes it up.
    """
    return f"rulings/{campaign}/approvals"


def by_subject(keys: Iterable[str]) -> dict[str, list[Entry]]:
    """The entries of each fingerprint or zone, the earliest first. What is no ruling's name is left out."""
    found: dict[str, list[Entry]] = {}
    for key in keys:
        subject, name = key.split("/")[-2:]
        if parts := _NAME.fullmatch(name):
            found.setdefault(subject, []).append(Entry(*parts.groups()))
    return {subject: sorted(entries) for subject, entries in found.items()}


def standing(entries: Iterable[Entry]) -> list[Entry]:
    """The rejections that still count of one fingerprint or zone. ``entries``: the earliest first."""
    found: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        if entry.verb == REOPENED:
            found.clear()
        elif entry.verb == WITHDRAWN:
            found.pop((entry.about, entry.person), None)
        else:
            found[entry.about, entry.person] = entry
    return sorted(found.values())
