"""The kinds of alarms: everything by which edgeshift asks for a person. Each has a page entry of its code in
docs/runbook.md, which has the same commands. Pure.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a person is needed. ``CRITICAL``: nothing goes on, or traffic may suffer. ``WARNING``:
    something stays undone until somebody acts. ``NOTICE``: an ordinary decision waits, or it ends by itself.
    """

    CRITICAL = "critical"
    WARNING = "warning"
    NOTICE = "notice"


RANK = {severity: place for place, severity in enumerate(Severity)}
"""The order in which alarms are told, the gravest first."""


@dataclass(frozen=True)
class Kind:
    """One kind of alarm. ``look_at``, ``do``: commands with placeholders (CAMPAIGN, ZONE, FILE, …)."""

    code: str
    severity: Severity
    what: str
    look_at: tuple[str, ...] = ()
    do: tuple[str, ...] = ()


_PLACEHOLDER = re.compile(r"\b[A-Z][A-Z_]{3,}\b")


def filled(command: str, names: dict[str, str]) -> str:
    """A command with the placeholders that ``names`` knows filled in; the others stay for people to fill."""

    def value(found: re.Match[str]) -> str:
        # A name of an account is free text, and the line is copied into a shell.
        known = names.get(found.group(0))
        return shlex.quote(known) if known else found.group(0)

    return _PLACEHOLDER.sub(value, command)


STATUS = "edgeshift status CAMPAIGN"
ZONE_STATUS = "edgeshift status CAMPAIGN --zone ZONE"
SHOW = "edgeshift show ZONE --campaign CAMPAIGN"
HISTORY = "edgeshift history ZONE --campaign CAMPAIGN"
DOCTOR = "edgeshift doctor"
DOCTOR_FILE = "edgeshift doctor FILE"
RESUME = 'edgeshift resume CAMPAIGN --reason "REASON"'
RETRY = 'edgeshift retry CAMPAIGN --zone ZONE --reason "REASON"'
REOPEN = 'edgeshift reopen CAMPAIGN --zone ZONE --reason "REASON"'
