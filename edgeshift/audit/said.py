"""Who said what, counted. Pure."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from edgeshift.audit.proof import Said
from edgeshift.authority.statements import (
    AgainStatement,
    Attested,
    DecisionStatement,
    RepairStatement,
    ResultStatement,
    WordStatement,
)


def in_words(said: Attested) -> str:
    """What a statement says, in short: ``start``, ``approve commit``, ``pause``, ``retry``,
    ``saw migrated``.
    """
    match said.statement:
        case DecisionStatement(choice=choice, step=step):
            return f"{choice.value} {step.value.replace('_', ' ')}"
        case WordStatement(word=word):
            return word
        case AgainStatement(verb=verb):
            return verb
        case RepairStatement():
            return "repair"
        case ResultStatement(outcome=outcome):
            return f"saw {outcome.value.replace('_', ' ')}"
    return "start"


class People:
    """Everybody who signed, by name and key: people, and workers."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], Counter[str]] = {}
        self._times: dict[tuple[str, str], tuple[datetime, datetime]] = {}

    def add(self, said: Attested) -> None:
        """Count a statement."""
        who, at = (said.statement.by, said.key.id), said.statement.issued
        self._said.setdefault(who, Counter())[in_words(said)] += 1
        first, last = self._times.get(who, (at, at))
        self._times[who] = (min(first, at), max(last, at))

    def told(self) -> list[Said]:
        """All of them, by name."""
        return [
            Said(
                name=who[0],
                key=who[1],
                said=dict(counted),
                first=self._times[who][0],
                last=self._times[who][1],
            )
            for who, counted in sorted(self._said.items())
        ]
