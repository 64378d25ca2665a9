"""Whose a request is: each area says of itself which requests it owns, those of other distributions first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from edgeshift.testbed.invariants.installed import installed

NOBODYS = ""
"""The area of a request that no area owns."""


class TwoOwners(RuntimeError):
    """Two installed areas both own one request: the rules of which are asked of it, nobody can say."""


class Sent(Protocol):
    """What is known of a request (requests.py)."""

    @property
    def seq(self) -> int:
        """Its place in the journal."""
        ...

    @property
    def call(self) -> str:
        """The journal's name of its call."""
        ...

    @property
    def log_fields(self) -> dict[str, Any] | None:
        """What the journal says of it where it is about the rules of log fields."""
        ...


def by_calls(*calls: str) -> Callable[[Sent], bool]:
    """Owns every request the journal's name of whose call begins with one of these."""
    return lambda request: request.call.startswith(calls)


def waf(request: Sent) -> bool:
    """Entry points of other phases, and what the previous WAF has."""
    return request.call.startswith(("entrypoint.", "waf.")) and request.log_fields is None


def log_fields(request: Sent) -> bool:
    """Log jobs, rulesets, and the entry point of log fields."""
    return request.call.startswith(("logpush.", "rulesets.")) or request.log_fields is not None


esc = by_calls("esc.")

BUILT_IN: dict[str, Callable[[Sent], bool]] = {"waf": waf, "esc": esc, "log-fields": log_fields}
"""What the areas of edgeshift itself own, where no installed one does."""


def area_of(request: Sent) -> str:
    """The area that owns a request; ``NOBODYS`` where none does. Raises TwoOwners."""
    mine = [name for name, one in installed().items() if one.owns(request)]
    if len(mine) > 1:
        raise TwoOwners(
            f"the areas {' and '.join(mine)} both own {request.call} (request {request.seq}); let the checker"
            " (`owns`) of each own what is its own alone"
        )
    found = (*mine, *(name for name, owns in BUILT_IN.items() if owns(request)))
    return found[0] if found else NOBODYS
