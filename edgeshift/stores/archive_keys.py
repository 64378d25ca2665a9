"""Where in an archive things lie."""

from __future__ import annotations

import re

from edgeshift.stores.archive_errors import ArchiveCorrupt, ArchiveError, ArchiveMisconfigured

IDENTITY = "archive/identity"
"""The record that names an archive (edgeshift/stores/identity.py). Once it was seen, an archive without it is
not there any more.
"""

LARGEST_OBJECT = 512 * 1024 * 1024
"""Bytes of an object. The largest are those of all targets: a plan of 100,000 zones may have 5 KB for
each.
"""

LARGEST_RECORD = 16 * 1024 * 1024
"""Bytes of a named record. The largest are what people sign, a million bytes at most."""

_OBJECTS = "objects/"

NO_KEY = "nothing of edgeshift's has such a name"
"""Why what has a name that is no key counts for nothing."""

_NO_FOLDER = "/(no folder)"

LONGEST_SHOWN = 300

_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEY_PART = re.compile(r"[A-Za-z0-9._=@+-]{1,200}")


def object_key(digest: str) -> str:
    """Where the object with this digest lies. Raises ArchiveMisconfigured for what is no digest."""
    if not _DIGEST.fullmatch(digest):
        raise ArchiveMisconfigured(
            f"{digest[:80]!r} is no digest: 64 lower-case hexadecimal digits are right"
        )
    return f"{_OBJECTS}{digest[:2]}/{digest}"


def most_of(key: str) -> int:
    """Bytes that may lie there at most."""
    return LARGEST_OBJECT if key.startswith(_OBJECTS) else LARGEST_RECORD


def check_read(name: str, key: str, size: int) -> None:
    """Raises ArchiveCorrupt where more bytes lie there than anybody writes. ``name``: of the archive."""
    if size > most_of(key):
        raise ArchiveCorrupt(f"{name}: {key[:120]} has more than {most_of(key):,} bytes")


def check_written(name: str, key: str, size: int) -> None:
    """Raises ArchiveError where more bytes are to be written than anybody would read."""
    if size > most_of(key):
        raise ArchiveError(
            f"{name}: {key[:120]} was not stored: it would have more than {most_of(key):,} bytes"
        )


def is_part(name: str) -> bool:
    """Whether it is exactly one part of a key: neither empty nor several."""
    return bool(_KEY_PART.fullmatch(name)) and name not in (".", "..")


def is_key(name: str) -> bool:
    """Whether edgeshift can have written something of this name. Of any other it has written nothing."""
    return all(map(is_part, name.split("/")))


def no_folder_at(name: str) -> str:
    """What is listed where a folder belongs and something else lies: no key, so that nobody takes it for a
    record, and whoever looks for what may stop something is told of it.
    """
    return f"{name}{_NO_FOLDER}"


def shown(name: str) -> str:
    """A name that is no key as it is recorded and said: what is no plain letter or sign of it as an escape,
    so that nothing hides in it, nor keeps it from being written down.
    """
    return name if is_key(name) else ascii(name)[1:-1][:LONGEST_SHOWN]


def checked_key(key: str) -> str:
    """A key of a named record. Raises ArchiveMisconfigured; ``objects/`` is the archive's own."""
    if not is_key(key):
        raise ArchiveMisconfigured(
            f"{key[:80]!r} is no key: parts of letters, digits and ._=@+- with slashes between are right"
        )
    return key
