"""The folder that an archive is, and whether it is still the one that was opened.

A folder that was moved away, or whose disk is no longer mounted, must not read as an empty archive: what is
not found would count as never written, and what is written would be lost once the folder is back.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_BACK = "put it back (mount its disk), or restart the workers where the archive was moved on purpose"
_GONE = f"the archive's folder is gone: {_BACK}"
_ANOTHER = f"another folder is in the place of the archive's: {_BACK}"
_EMPTIED = f"the archive's folder has lost what names it: {_BACK}"
_NONE = "there is no such folder: name the archive of the workers (the first one that starts makes it)"


class FolderGone(OSError):
    """The folder is not the one that was opened, or not there at all; ``strerror`` says what to do."""


class FolderPlace:
    """The place of an archive's folder. It remembers which folder that was: the one at the opening, or else
    the first that was seen there. Only a folder without a name gives its place to one that has it.
    """

    def __init__(self, path: Path, *, make: bool, named_by: str) -> None:
        """``make``: whether the folder may be made, for its owner alone; it never is later. ``named_by``: the
        file that an archive has for good, once it has it. Raises OSError where there can be no such folder.
        """
        self.path = path
        self._root = str(path)
        self._named_by = str(path / named_by)
        self._named = False
        self._known: tuple[int, int] | None = None
        if make:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self.check()
        except FolderGone:
            if path.exists():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None

    def named(self) -> None:
        """Its name was seen in it, and is there from now on."""
        self._named = True

    def check(self) -> None:
        """Raises FolderGone where the folder is not the one that was opened; OSError where that cannot be
        seen.
        """
        try:
            found = os.stat(self._root)
        except FileNotFoundError:
            raise self._gone(_GONE if self._known else _NONE) from None
        if not stat.S_ISDIR(found.st_mode):
            raise self._gone(_ANOTHER if self._known else os.strerror(errno.ENOTDIR))
        # Before its name is looked for: another thread may just be writing the first one.
        named = self._named
        here, has_name = (found.st_dev, found.st_ino), os.path.lexists(self._named_by)
        # A file system without numbers of its own gives none.
        same = self._known in (None, here) or not found.st_ino
        if not same and (named or not has_name):
            # Before its archive had a name, as while the disk was not mounted yet, nothing was done by it.
            raise self._gone(_ANOTHER)
        if named and not has_name:
            # A folder that was removed and made anew may have got the old one's number.
            raise self._gone(_EMPTIED)
        self._known, self._named = here, self._named or has_name

    def _gone(self, what: str) -> FolderGone:
        return FolderGone(errno.ESTALE, what, self._root)
