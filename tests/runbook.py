"""docs/runbook.md as the tests read it: its entries, and the commands of each, as they stand there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

_FENCE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """One entry. ``commands``: every line at a prompt."""

    code: str
    text: str

    @property
    def commands(self) -> list[str]:
        return commands_of(self.text)


def commands_of(text: str) -> list[str]:
    """Every line at a prompt in the fenced blocks of a text."""
    return [
        line.removeprefix("$ ")
        for block in _FENCE.findall(text)
        for line in block.splitlines()
        if line.startswith("$ ")
    ]


def _entries() -> tuple[str, list[Entry]]:
    page = (ROOT / "docs/runbook.md").read_text(encoding="utf-8")
    head, *parts = re.split(r"^### (\S+)\n\n", page, flags=re.MULTILINE)
    # What follows the last entry of a group belongs to the next group.
    return head, [
        Entry(code, re.split(r"^## ", text, flags=re.MULTILINE)[0])
        for code, text in zip(parts[::2], parts[1::2], strict=True)
    ]


HEAD, ENTRIES = _entries()
"""What stands before the first entry; every entry in its order."""
