"""The modes of a validation window, by themselves: messages name them, and need nothing else of the file."""

from __future__ import annotations

from enum import StrEnum


class ValidationMode(StrEnum):
    """How the window runs: new rules only log (``shadow``) or act as proposed (``enforce``)."""

    SHADOW = "shadow"
    ENFORCE = "enforce"
