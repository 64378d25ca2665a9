"""The campaign file that a stack writes, for tests that have waves and people of their own."""

from __future__ import annotations

from edgeshift.testbed.stack.areas.waf import REHEARSED


def without_rehearsed(text: str) -> str:
    """The file without the waves and approvers that it has for whoever begins; another area's has none."""
    return text.replace("\n".join(REHEARSED) + "\n", "")
