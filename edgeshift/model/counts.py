"""Numbers with their nouns and verbs, as people say them: ``1 zone waits``, ``2 zones wait``."""

from __future__ import annotations


def counted(count: int, noun: str, many: str = "") -> str:
    """``1 zone``, ``1,200 zones``; ``many``: the plural of a noun that does not end in -s."""
    return f"{count:,} {agreed(count, noun, many)}"


def agreed(count: int, one: str, many: str = "") -> str:
    """The form of a word that agrees with ``count``, a noun's or a verb's: ``was``, ``were``."""
    return one if count == 1 else many or f"{one}s"
