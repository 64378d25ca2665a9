"""Who said what, counted. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
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
from edgeshift.model.sign_off import Choice, Decision, SignOffPolicy, refusal


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
        self._decided: dict[tuple[str, str], Counter[tuple[str, Choice, str]]] = {}
        self._times: dict[tuple[str, str], tuple[datetime, datetime]] = {}

    def add(self, said: Attested) -> None:
        """Count a statement."""
        who, at = (said.statement.by, said.key.id), said.statement.issued
        self._said.setdefault(who, Counter())[in_words(said)] += 1
        if isinstance(said.statement, DecisionStatement):
            decided = self._decided.setdefault(who, Counter())
            decided[in_words(said), said.statement.choice, said.statement.start] += 1
        first, last = self._times.get(who, (at, at))
        self._times[who] = (min(first, at), max(last, at))

    def by_name(self, starts: Mapping[str, tuple[SignOffPolicy, str]]) -> list[Said]:
        """All of them, by name. ``starts``: by a start's digest, the policy under it and who signed it."""
        return [
            Said(
                name=who[0],
                key=who[1],
                said=dict(counted),
                uncounted=self._uncounted(who, starts),
                first=self._times[who][0],
                last=self._times[who][1],
            )
            for who, counted in sorted(self._said.items())
        ]

    def _uncounted(
        self, who: tuple[str, str], starts: Mapping[str, tuple[SignOffPolicy, str]]
    ) -> dict[str, int]:
        found: Counter[str] = Counter()
        for (words, choice, start), number in self._decided.get(who, Counter()).items():
            # On whichever digest.
            decision = Decision.model_construct(choice=choice, digest=start, by=who[0])
            if start in starts and refusal(decision, *starts[start]):
                found[words] += number
        return dict(found)
