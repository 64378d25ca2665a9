"""A command that Ctrl-C ends, also where it was started in the background."""

from __future__ import annotations

import signal


def heed_interrupts() -> None:
    """Be ended by SIGINT: a shell has its children ignore it in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
