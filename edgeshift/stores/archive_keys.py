"""Where in an archive things lie."""

from __future__ import annotations

import re

from edgeshift.stores.archive_errors import ArchiveMisconfigured

IDENTITY = "archive/identity"
"""The record that names an archive (edgeshift/stores/identity.py). Once it was seen, an archive without it is
not there any more.
"""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEY_PART = re.compile(r"[A-Za-z0-9._=@+-]{1,200}")


def object_key(digest: str) -> str:
    """Where the object with this digest lies. Raises ArchiveMisconfigured for what is no digest."""
    if not _DIGEST.fullmatch(digest):
        raise ArchiveMisconfigured(
            f"{digest[:80]!r} is no digest: 64 lower-case hexadecimal digits are right"
        )
    return f"objects/{digest[:2]}/{digest}"


def checked_key(key: str) -> str:
    """A key of a named record. Raises ArchiveMisconfigured; ``objects/`` is the archive's own."""
    parts = key.split("/")
    if any(not _KEY_PART.fullmatch(part) or part in (".", "..") for part in parts):
        raise ArchiveMisconfigured(
            f"{key[:80]!r} is no key: parts of letters, digits and ._=@+- with slashes between are right"
        )
    return key
