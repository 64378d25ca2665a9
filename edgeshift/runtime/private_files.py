"""Files and folders for their owner alone: they hold zones, configurations, people and what they said."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keep_to_owner() -> None:
    """From now on, whatever this process and its children make is for its owner alone."""
    os.umask(os.umask(OTHERS) | OTHERS)


def tighten(paths: Iterable[Path]) -> None:
    """Take from everybody else what earlier versions, or another umask, let them do with these. What is not
    there, or is somebody else's, is left alone.
    """
    for path in paths:
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & OTHERS:
                path.chmod(mode & ~OTHERS)


def open_to_others(path: Path) -> bool:
    """Whether anybody but its owner can do anything with it; False where it is not there."""
    try:
        return bool(path.stat().st_mode & OTHERS)
    except OSError:
        return False
