"""Children that end with their parent: on Linux the kernel sees to it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def tied_to_parent(parent: int) -> Callable[[], None] | None:
    """What runs in the child before it becomes another program: it gets SIGTERM when ``parent`` dies. None
    where the kernel cannot do that.
    """
    if _LIBC is None:
        return None
    libc = _LIBC

    def tie() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        # The parent may have died before the line above.
        if os.getppid() != parent:
            os._exit(1)

    return tie
