"""What a rule of the stand-in firewalls looks for, and which rules a request trips.

A signature is one rule as both generations of the core and of the provider's rule set know it, so that the
two catalogues differ only where the data says so.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl, unquote_plus

Part = Literal["args", "path", "agent"]
Severity = Literal[2, 3, 4, 5]
CRITICAL: Severity = 5
ERROR: Severity = 4
WARNING: Severity = 3
NOTICE: Severity = 2


@dataclass(frozen=True)
class Signature:
    """One rule.

    `previous`: its id in the previous generation, "" when that has no such rule; `group`: its group there.
    `new`: its key in the new generation, "" when that has no such rule; `category`, `paranoia`: its labels
    there.
    `severity`: points of anomaly for each part of a request that matches. `mode`: what the provider's
    previous rule does by default.
    """

    previous: str
    new: str
    group: str
    description: str
    part: Part
    pattern: re.Pattern[str]
    category: str = ""
    paranoia: int = 1
    severity: Severity = CRITICAL
    mode: Literal["block", "challenge", "simulate", "disable"] = "block"


@dataclass(frozen=True)
class Shape:
    """A request but for its client and time: what decides every signature. `body` is form-encoded.

    `label` says what it is for ("benign", "attack", "false_positive", "gap"); `weight` how often it comes.
    """

    key: str
    label: str
    method: str
    path: str
    query: str = ""
    body: str = ""
    agent: str = ""
    weight: int = 1
    args: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        pairs = parse_qsl(self.query, keep_blank_values=True) + parse_qsl(self.body, keep_blank_values=True)
        # The dataclass is frozen for its users; its own derived part is set once, here.
        object.__setattr__(self, "args", tuple(value for _, value in pairs))


Hits = tuple[tuple[Signature, int], ...]


def hits(shape: Shape, signatures: Iterable[Signature]) -> Hits:
    """The signatures that a request trips, each with the number of its parts that match."""
    parts: dict[Part, tuple[str, ...]] = {
        "args": shape.args,
        "path": (unquote_plus(shape.path) + ("?" + unquote_plus(shape.query) if shape.query else ""),),
        "agent": (shape.agent,),
    }
    found = []
    for signature in signatures:
        search = signature.pattern.search
        if count := sum(1 for text in parts[signature.part] if search(text)):
            found.append((signature, count))
    return tuple(found)
