"""A sign of life where one waits: on a terminal, on stderr, from half a second on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

AFTER = 0.5
"""Seconds that pass in silence: what answers within them needs no sign."""


@contextmanager
def spinning(console: Console, words: str) -> Iterator[None]:
    """Show on ``console`` that one waits, with ``words``, from half a second on to the end of the block. What
    is printed on the same console meanwhile stands above it.
    """
    status = console.status(f"{words} …")
    lock, over = threading.Lock(), False

    def begin() -> None:
        with lock:
            if not over:
                status.start()

    timer = threading.Timer(AFTER, begin)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            over = True
            status.stop()
