"""What a check of the doctor is, and what it may find."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What a check found."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Check:
    """One check: its name, what it found, in words (``text``), and what fixes it where something is wrong."""

    name: str
    state: State
    text: str
    fix: str = ""


def ok(name: str, said: str) -> Check:
    """A check that found all well."""
    return Check(name, State.OK, said)
