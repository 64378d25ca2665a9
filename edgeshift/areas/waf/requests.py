"""Security events put together to requests: what both WAFs said to each (docs/service.md §4.3). Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

Event = Mapping[str, Any]
LogsAnyway = Callable[[str, str], bool]

TERMINATING = frozenset(
    {"block", "challenge", "managed_challenge", "jschallenge", "js_challenge", "drop", "connection_close"}
)
LONGEST_NAME = 100
"""Characters that are kept of what an event calls its rule."""

OLD_SOURCE = "waf"
NEW_SOURCE = "firewallmanaged"


class Said(StrEnum):
    """What one WAF said to a request, the strongest first. ``WOULD_STOP``: it only logged because the window
    lets every new rule only log. ``UNSEEN``: it was never asked.
    """

    BLOCK = "block"
    CHALLENGE = "challenge"
    WOULD_STOP = "would_stop"
    LOG = "log"
    NONE = "none"
    UNSEEN = "unseen"

    @property
    def stops(self) -> bool:
        """Whether the request ends there, or would."""
        return self in (Said.BLOCK, Said.CHALLENGE, Said.WOULD_STOP)


_RANK = list(Said)


@dataclass
class Side:
    """What one WAF said to one request: its strongest word, and the rules that said it, in their order."""

    said: Said = Said.NONE
    rules: list[tuple[str, str]] = field(default_factory=list)
    """Ruleset and rule."""

    def add(self, said: Said, ruleset: str, rule: str) -> None:
        """One event more."""
        if _RANK.index(said) < _RANK.index(self.said):
            self.said, self.rules = said, []
        if said is self.said and (ruleset, rule) not in self.rules:
            self.rules.append((ruleset, rule))


@dataclass
class Request:
    """One request, by its ray. ``event``: the first event of it; ``stands_for``: of how many requests it is
    a sample.
    """

    event: Event
    old: Side
    new: Side
    stands_for: int

    @property
    def client(self) -> str:
        """The client's address, or empty."""
        return str(self.event.get("clientIP") or "")


@dataclass(frozen=True)
class Read:
    """What a window's events came to. ``events``: how many there were, ``compared`` those that the two WAFs
    made, each once; ``left_out``: requests outside the span that is judged; ``names``: what the events call
    the rules, by their identifiers.
    """

    events: int
    compared: int
    requests: dict[str, Request]
    left_out: int
    names: dict[str, str] = field(default_factory=dict)


def requests_of(
    events: Iterable[Event],
    rulesets: frozenset[str],
    *,
    shadow: bool,
    logs_anyway: LogsAnyway,
    since: datetime | None,
    until: datetime | None,
) -> Read:
    """The requests whose first event lies in ``[since, until)``, whatever the order of the events.

    An event of the new WAF counts only with a managed ruleset of the proposal. An event that came twice
    counts once.
    """
    total = 0
    known: dict[tuple[str, ...], Event] = {}
    for event in events:
        total += 1
        source, ruleset = _text(event, "source").lower(), _text(event, "rulesetId")
        if _text(event, "rayName") and (
            source == OLD_SOURCE or (source == NEW_SOURCE and ruleset in rulesets)
        ):
            known.setdefault(_key(event), event)
    found: dict[str, Request] = {}
    names: dict[str, str] = {}
    # In a fixed order, so that of several rules that stop one request the same one is named every time.
    for key in sorted(known):
        event = known[key]
        ray = _text(event, "rayName")
        request = found.get(ray)
        if request is None:
            request = found[ray] = Request(event, Side(), Side(), _stands_for(event))
        ruleset, rule = _text(event, "rulesetId"), _text(event, "ruleId")
        if name := _text(event, "description"):
            names.setdefault(rule, name[:LONGEST_NAME])
        if _text(event, "source").lower() == OLD_SOURCE:
            request.old.add(_said(event), "", rule)
        else:
            may_stop = shadow and not logs_anyway(ruleset, rule)
            request.new.add(_said(event, may_stop=may_stop), ruleset, rule)
    inside = {ray: one for ray, one in found.items() if _is_inside(one.event, since, until)}
    for request in inside.values():
        if request.new.said in (Said.BLOCK, Said.CHALLENGE) and request.old.said is Said.NONE:
            # The new WAF runs first: what it ends, the previous one never judges.
            request.old.said = Said.UNSEEN
    return Read(total, len(known), inside, len(found) - len(inside), names)


def _said(event: Event, *, may_stop: bool = False) -> Said:
    action = _text(event, "action").lower()
    if action in TERMINATING:
        return Said.CHALLENGE if "challenge" in action else Said.BLOCK
    return Said.WOULD_STOP if may_stop and action == "log" else Said.LOG


def _key(event: Event) -> tuple[str, ...]:
    names = (
        "rayName",
        "datetime",
        "ruleId",
        "action",
        "clientRequestPath",
        "rulesetId",
        "source",
        "clientIP",
    )
    return tuple(_text(event, name) for name in names)


def _text(event: Event, name: str) -> str:
    return str(event.get(name) or "")


def _stands_for(event: Event) -> int:
    """How many requests an event stands for; a number may come as a text."""
    given = event.get("sampleInterval")
    if isinstance(given, str) and re.fullmatch("[0-9]{1,9}", given):
        given = int(given)
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else 1


def _is_inside(event: Event, since: datetime | None, until: datetime | None) -> bool:
    moment = read_moment(event.get("datetime"))
    if moment is None:
        return True
    return (since is None or moment >= since) and (until is None or moment < until)


def read_moment(value: object) -> datetime | None:
    """A moment as the service writes it, or None where it is none."""
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
