"""Which secrets a probe can send (docs/service.md §2.1). Pure."""

from __future__ import annotations

import re

LONGEST_SECRET = 1_000
"""Characters of the longest secret that is probed with. It is looked for in every usual form (hiding.py),
which takes a millisecond for each of them to prepare, in which nothing else of the worker moves.
"""

_IN_A_COOKIE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+")


def fits_a_cookie(secret: str) -> bool:
    """Whether the value of a cookie may hold each of its characters, of which there is one at least."""
    return _IN_A_COOKIE.fullmatch(secret) is not None


def sendable(secret: str) -> bool:
    """Whether the probe can ask with this secret, and hide it in what sites say back."""
    return len(secret) <= LONGEST_SECRET and fits_a_cookie(secret)
