"""What a check of the doctor is, and what it may find."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from edgeshift.model.check_codes import CheckCode


class State(StrEnum):
    """What a check found."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Check:
    """One check: what it is about, its name for people, what it found, in words (``text``), and what fixes it
    where something is wrong.
    """

    code: CheckCode
    name: str
    state: State
    text: str
    fix: str = ""


def ok(code: CheckCode, name: str, said: str) -> Check:
    """A check that found all well."""
    return Check(code, name, State.OK, said)
