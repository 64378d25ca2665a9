"""When the calls of a user stop, and when they go on: a refused credential, an outage. Pure.

While calls are held nobody sends anything but one probe a minute, for the user in all, until one is answered
or a person says that it is fixed. Every process and every campaign of the user is told the same, since the
user's quota keeps it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints

LONGEST_SAID = 160
LONGEST_REFERENCE = 5_000

MOST_HELD = 200
"""Credentials of one user of which is kept that their calls are held, or were: anybody who reaches the quota
may name more.
"""

MOST_HELD_BYTES = 100_000
"""What these may take together, as JSON: each lease's answer has them, and each run hands them on."""

KEPT_FOR = 60
"""Minutes for which a hold that was probed stays before all others where there are too many: one a minute is.
"""

FAILURES = 10
"""Calls that have to fail in a row, over a minute at least, before it is an outage."""


class Trouble(StrEnum):
    """Why calls are held: the service refuses the credential, its reference leads nowhere, or nobody answers
    as the service does.
    """

    REFUSED = "refused"
    MISSING = "missing"
    OUTAGE = "outage"


class OpenCircuit(BaseModel):
    """Calls are held. ``said``: what was answered, without secrets. ``credential``: the reference of the one
    that is meant, such as ``env:EDGE_TOKEN``; empty for an outage, which is about all those of ``user``. An
    outage without a user, as of an earlier version, is about everybody's.
    """

    model_config = ConfigDict(frozen=True)

    trouble: Trouble
    said: Annotated[str, StringConstraints(max_length=LONGEST_SAID)]
    credential: Annotated[str, StringConstraints(max_length=LONGEST_REFERENCE)] = ""
    since: AwareDatetime
    user: Annotated[str, StringConstraints(max_length=LONGEST_REFERENCE)] = ""

    def __str__(self) -> str:
        which = f"the credential {self.credential}" if self.credential else "a credential"
        match self.trouble:
            case Trouble.REFUSED:
                return f"the service refuses {which} ({self.said})"
            case Trouble.MISSING:
                return f"{which} was not found ({self.said})"
        return f"the service does not answer as it should ({self.said})"


def held(trouble: Trouble, said: str, since: datetime, credential: str = "", user: str = "") -> OpenCircuit:
    """A hold, its words cut to what may be kept."""
    short = said if len(said) <= LONGEST_SAID else said[: LONGEST_SAID - 1] + "…"
    return OpenCircuit(trouble=trouble, said=short, since=since, credential=credential, user=user)


def to_fix(hold: OpenCircuit, campaign: str) -> str:
    """What a person has to fix, and what goes on by itself."""
    kind, _, name = hold.credential.partition(":")
    where = {
        "env": f"start the worker again with a valid one in {name}",
        "file": f"put a valid one into {name}, which is read again for each call",
    }.get(kind, "put a valid one where its reference points")
    resume = f"`edgeshift resume {campaign}`"
    if hold.trouble is Trouble.OUTAGE:
        then = f"no action needed: the campaign resumes when the service responds, or at once by {resume}"
    else:
        then = (
            f"{where}; the campaign then resumes by itself, or at once by `edgeshift doctor FILE` or {resume}"
        )
    return f"{then}; meanwhile one call a minute is made"


class Circuit(BaseModel):
    """What is held of one user, by credential reference (an outage: the empty one). ``probe_at``: when the
    next probe may be made; ``probed``, ``fixed``: when each was last. Seconds since the epoch.
    """

    holds: dict[str, OpenCircuit] = {}
    probe_at: float = 0.0
    probed: dict[str, float] = {}
    fixed: dict[str, float] = {}


class Standing(BaseModel):
    """What is held now, and when the next probe may be made, in seconds since the epoch."""

    holds: tuple[OpenCircuit, ...] = ()
    probe_at: float = 0.0


def has_room(holds: Collection[OpenCircuit], hold: OpenCircuit, most: int) -> bool:
    """Whether one more may be kept beside these, of which there may be ``most``."""
    if len(holds) >= most:
        return False
    return sum(len(one.model_dump_json().encode()) for one in (*holds, hold)) <= MOST_HELD_BYTES


def opened(circuit: Circuit, hold: OpenCircuit, now: float, minute: float) -> Circuit:
    """The state once calls are held. Older news than the last fixing counts no more. Where there is no room,
    others give way: a credential that is refused is held whatever anybody has named before.
    """
    if not _is_news(circuit, hold):
        return circuit
    kept = dict(circuit.holds)
    while not _fits(kept, hold):
        del kept[_least_asked_for(circuit, kept, now, minute)]
    # A crowd that is named again and again puts off nobody's probe.
    crowded = len(kept) < len(circuit.holds)
    return circuit.model_copy(
        update={
            "holds": {**kept, hold.credential: hold},
            "probe_at": circuit.probe_at if crowded else max(circuit.probe_at, now + minute),
            "probed": {key: at for key, at in circuit.probed.items() if key in kept},
        }
    )


def is_crowded(circuit: Circuit, hold: OpenCircuit) -> bool:
    """Whether others have to give way to a hold."""
    return _is_news(circuit, hold) and not _fits(circuit.holds, hold)


def _is_news(circuit: Circuit, hold: OpenCircuit) -> bool:
    key = hold.credential
    return key not in circuit.holds and hold.since.timestamp() >= circuit.fixed.get(key, 0.0)


def _fits(holds: Mapping[str, OpenCircuit], hold: OpenCircuit) -> bool:
    """Whether there is room for one more; for an outage, of which there is one, there always is."""
    return not hold.credential or not any(holds) or has_room(holds.values(), hold, MOST_HELD)


def _least_asked_for(circuit: Circuit, holds: Mapping[str, OpenCircuit], now: float, minute: float) -> str:
    """The credential that was probed longest ago, or has been held for longest where it never was; one that
    was probed lately only where all were. Nobody probes for long what nobody calls with.
    """

    def last(key: str) -> tuple[bool, float]:
        since, probed = holds[key].since.timestamp(), circuit.probed.get(key, 0.0)
        # Whoever names a hold gives its time: one that is to come shall not outlast those of today.
        return now - probed < KEPT_FOR * minute, max(probed, since if since <= now else 0.0)

    return min(filter(None, holds), key=last)


def closed(circuit: Circuit, credentials: Iterable[str], now: float) -> Circuit:
    """The state once it is known, or said by a person, that the service answers these credentials."""
    over = {"", *credentials}
    kept = {key: hold for key, hold in circuit.holds.items() if key not in over}
    ended = [key for key in circuit.holds if key not in kept]
    fixed = {
        **{key: at for key, at in circuit.fixed.items() if key not in ended},
        **dict.fromkeys(ended, now),
    }
    return circuit.model_copy(
        update={
            "holds": kept,
            "fixed": _latest(fixed),
            "probed": {key: at for key, at in circuit.probed.items() if key in kept},
        }
    )


def _latest(fixed: dict[str, float]) -> dict[str, float]:
    """The last ones that there is room for: older news than these hardly comes."""
    found, left = list[tuple[str, float]](), MOST_HELD_BYTES
    for key, at in reversed(fixed.items()):
        left -= len(json.dumps(key)) + len(str(at))
        if left < 0 or len(found) == MOST_HELD:
            break
        found.append((key, at))
    return dict(reversed(found))


def standing(circuit: Circuit) -> Standing:
    """What is held."""
    return Standing(holds=tuple(circuit.holds.values()), probe_at=circuit.probe_at)


def stops(holds: Iterable[OpenCircuit], credential: str) -> OpenCircuit | None:
    """The hold that stops calls with this credential, or None. An outage stops all."""
    found = {hold.credential: hold for hold in holds}
    return found.get("") or found.get(credential)


def probe(
    circuit: Circuit, now: float, minute: float, credentials: Iterable[str]
) -> tuple[Circuit, OpenCircuit | None]:
    """Hand out a probe to somebody who has these credentials, where one is due: the hold that is to be tried,
    the one that was tried longest ago first.
    """
    mine = {"", *credentials}
    candidates = [key for key in circuit.holds if key in mine]
    if now < circuit.probe_at or not candidates:
        return circuit, None
    key = min(candidates, key=lambda candidate: circuit.probed.get(candidate, 0.0))
    return (
        circuit.model_copy(update={"probe_at": now + minute, "probed": {**circuit.probed, key: now}}),
        circuit.holds[key],
    )


def fresh(hold: OpenCircuit, now: float) -> OpenCircuit:
    """The hold with the time of whoever keeps it."""
    return hold.model_copy(update={"since": datetime.fromtimestamp(now, UTC)})
