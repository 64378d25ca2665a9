"""Poisoned answers: the real answer's body, spoilt by a seed. Pure, and the same for the same seed.

What a client makes of an answer is none of this module's business: it knows JSON and HTTP, and nothing of
what any answer means.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from edgeshift.testbed.simulator.poison_brew import Brew, Mutation
from edgeshift.testbed.simulator.poison_envelopes import ENVELOPES
from edgeshift.testbed.simulator.poison_values import VALUES
from edgeshift.testbed.simulator.poison_wire import WIRE

MUTATIONS: dict[str, Mutation] = {**VALUES, **ENVELOPES, **WIRE}
"""Every way of spoiling an answer, by name: one value, the envelope and its pages, or the bytes."""

GROUPS = (VALUES, ENVELOPES, WIRE)
MOST_AT_ONCE = 3


@dataclass(frozen=True)
class Poisoned:
    """An answer as it goes over the wire. ``name``: what was done to it, for the journal, such as
    ``null@result.rules.0.action``. ``headers``: beside the length and the ending of the connection.
    """

    name: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def written(self, *headers: tuple[str, str]) -> bytes:
        """The whole answer in HTTP/1.1, after which the connection is to be closed."""
        try:
            reason = HTTPStatus(self.status).phrase
        except ValueError:
            reason = "Unassigned"
        lines = [f"HTTP/1.1 {self.status} {reason}"]
        lines += [f"{name}: {value}" for name, value in (*headers, *self.headers)]
        lines += [f"content-length: {len(self.body)}", "connection: close", "", ""]
        return "\r\n".join(lines).encode("latin-1") + self.body


def poisoned(
    seed: str,
    status: int,
    document: Any,
    *,
    others: Sequence[str] = (),
    only: Sequence[str] = (),
) -> Poisoned:
    """The answer with this document, spoilt as ``seed`` says. ``others``: identifiers that belong to somebody
    else. ``only``: names of MUTATIONS to choose from, all of them by default. The document is not changed.
    """
    chance = random.Random(seed)
    brew = Brew.of(chance, status, document, others)
    # Most answers are spoilt in one place: several at once hide each other.
    for _ in range(chance.choice((1, 1, 1, 1, 2, MOST_AT_ONCE))):
        names = list(only) or list(chance.choice(GROUPS))
        name = chance.choice(names)
        MUTATIONS[name](brew)
        brew.told(name)
        if brew.body is not None:
            break
    return Poisoned("+".join(brew.names), brew.status, tuple(brew.headers), brew.bytes())
