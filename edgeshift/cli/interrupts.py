"""Ctrl-C from the first moment on. Imports nothing that takes time."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def end_at_once() -> None:
    """Let Ctrl-C end the process at once, without a word of Python's, until a verb's work begins. Where
    whoever started the process has it ignore Ctrl-C, it does.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)


def leave(number: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    """End at once: while modules are imported and arguments are read, nothing is under way."""
    said = '{"code": "interrupted", "exit_code": 130, "message": "stopped", "details": [], "hint": ""}'
    try:
        os.write(2, f"{said if '--json' in sys.argv else 'stopped'}\n".encode())
    finally:
        os._exit(130)


def heed_interrupts() -> None:
    """From now on Ctrl-C interrupts in place of ending the process at once: a verb's work has begun."""
    if signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
