"""What can go wrong with one request, by name: every kind of fault that the simulator has, as data."""

from __future__ import annotations

from typing import Any

FAULTS: dict[str, dict[str, Any]] = {
    "late": {"kind": "latency", "seconds": 0.4},
    "later-than-the-limit": {"kind": "latency", "seconds": 2.5},
    "rate-limit": {"kind": "rate_limit"},
    "rate-limit-retry-after": {"kind": "rate_limit", "retry_after": 1},
    "500-before": {"kind": "server_error", "effect": "before"},
    "502-after": {"kind": "server_error", "effect": "after"},
    "504-before": {"kind": "gateway_timeout", "effect": "before"},
    "504-after": {"kind": "gateway_timeout", "effect": "after"},
    "hang-before": {"kind": "hang", "effect": "before"},
    "hang-after": {"kind": "hang", "effect": "after"},
    "reset-before": {"kind": "reset", "effect": "before"},
    "reset-after": {"kind": "reset", "effect": "after"},
    "not-json-before": {"kind": "not_json", "effect": "before"},
    "not-json-after": {"kind": "not_json", "effect": "after"},
    "cut-before": {"kind": "truncated", "effect": "before"},
    "cut-after": {"kind": "truncated", "effect": "after"},
    "null-errors": {"kind": "null_errors"},
    "wrong-types": {"kind": "wrong_types"},
    "unknown-values": {"kind": "unknown_enum"},
}

PROVED = ("rate-limit", "rate-limit-retry-after")
"""Faults that prove that nothing happened: what they met is sent again at once."""

NEEDLESS = ("500-before", "504-before", "hang-before", "reset-before", "not-json-before", "cut-before")
"""Faults after which nothing happened, which nobody can know: sent again once a change's time has passed."""


UNCERTAIN = tuple(
    name
    for name in FAULTS
    if name.startswith(("500", "502", "504", "hang", "reset", "not-json", "cut", "later"))
)
"""Faults after which nobody knows what came of a change."""


def as_met(fault: str, limit: float) -> dict[str, Any]:
    """The fault as the simulator takes it, for campaigns with this ``request_limit`` (seconds)."""
    found = FAULTS[fault]
    return {**found, "seconds": limit + 0.5} if fault == "later-than-the-limit" else found


def limit_for(fault: str) -> str | None:
    """A campaign's ``request_limit`` under which this fault is met as it is meant."""
    return "1s500ms" if fault != "late" else None
