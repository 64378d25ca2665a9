"""What can be wrong with an archive."""

from __future__ import annotations


class ArchiveError(Exception):
    """Something is wrong with the archive. Texts are short and name the object."""


class ArchiveUnavailable(ArchiveError):
    """The archive could not be reached, read or written; trying again may help."""


class ArchiveMissing(ArchiveError):
    """There is no object with this digest, or no record under this key. ``digest``: of the object; empty
    where it is a record that is missing.
    """

    def __init__(self, text: str, digest: str = "") -> None:
        super().__init__(text)
        self.digest = digest


class ArchiveCorrupt(ArchiveError):
    """What lies under a digest is not what the digest says."""


class ArchiveMisconfigured(ArchiveError, ValueError):
    """An archive URL or key that cannot be one; nothing was read or written."""
