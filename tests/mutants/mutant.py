"""A mutant: a deliberately wrong version of edgeshift, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """One change of a file of the project. ``old`` stands in it exactly once."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """``wrong``: what is wrong with it, in a sentence. ``rule``: the one of docs/rules.md that it breaks.
    ``cases``: cases of the harness that are to find it, the likeliest first.

    Most rules are kept in more than one place; a mutant gives all of them up, for a version that another
    place saves is not wrong.
    """

    name: str
    wrong: str
    rule: int
    edits: tuple[Edit, ...]
    cases: tuple[str, ...]


def mutant(name: str, wrong: str, rule: int, edits: list[Edit], *cases: str) -> Mutant:
    """A mutant that the cases of the family ``aimed`` with these names are to find."""
    return Mutant(name, wrong, rule, tuple(edits), tuple(f"aimed/{case}" for case in cases))
