"""What a process is called, where others have to tell it from each other one."""

from __future__ import annotations

import os
import secrets
import socket


def process_name() -> str:
    """A new name for this process, ``<pid>@<host>-<six random hex digits>``: without the digits, those in
    containers with their machine's network would all be ``1@host``.
    """
    return f"{os.getpid()}@{socket.gethostname()}-{secrets.token_hex(3)}"
