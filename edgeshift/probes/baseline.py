"""What a scope was like before Edge Side Code was turned off: enough to compare with later, and no more."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.esc.features import Difference
from edgeshift.areas.esc.observation import Fact
from edgeshift.areas.esc.report import Coverage
from edgeshift.areas.esc.sampling import ProbeUrl
from edgeshift.areas.esc.sides import Side, differing, failing

Values = dict[str, tuple[str | None, ...]]
"""Facts as ``kind name`` with the values that they had; null where a fact was absent."""

_MOST_VALUES = 4


class BaselineUrl(BaseModel):
    """One URL: the facts of its answers, without cookie values, bodies and secrets.

    Lines and leaves of bodies are digests, cookie values and sensitive headers checks of four digits.
    ``before``: with Edge Side Code; together with those without where both are alike. ``after``: without,
    where they differ. ``agreed``: the differences.
    """

    model_config = ConfigDict(frozen=True)

    zone: str
    url: ProbeUrl
    before: Values
    after: Values = {}
    agreed: tuple[Difference, ...] = ()
    failed: bool = False

    @classmethod
    def of(cls, zone: str, url: ProbeUrl, a: Side, b: Side, agreed: tuple[Difference, ...]) -> BaselineUrl:
        """The baseline of a URL from its answers with Edge Side Code and without."""
        apart = set(differing(a, b))
        return cls(
            zone=zone,
            url=url,
            before={
                _key(fact): _kept(a.of(fact) if fact in apart else a.of(fact) | b.of(fact))
                for fact in sorted({*a.values, *b.values})
            },
            after={_key(fact): _kept(b.of(fact)) for fact in sorted(apart)},
            agreed=agreed,
            failed=failing(a),
        )

    def sides(self) -> tuple[Side, Side]:
        """The answers with Edge Side Code and those without, as far as they are known."""
        return _side(self.before), _side({**self.before, **self.after})


class Baseline(BaseModel):
    """The URLs that were probed, and how well they stand for their scope."""

    model_config = ConfigDict(frozen=True)

    urls: tuple[BaselineUrl, ...] = ()
    coverage: Coverage = Coverage()


def _key(fact: Fact) -> str:
    return f"{fact.kind} {fact.name}"


def _kept(values: frozenset[str | None]) -> tuple[str | None, ...]:
    ordered = sorted(values, key=lambda value: (value is not None, value or ""))
    return tuple(ordered[:_MOST_VALUES])


def _side(values: Values) -> Side:
    found = {}
    for key, several in values.items():
        kind, _, name = key.partition(" ")
        found[Fact(kind, name)] = frozenset(several)
    return Side(found, {})
