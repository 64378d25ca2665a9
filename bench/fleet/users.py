"""Several users side by side in one campaign, one of which the service does not answer for a while. Pure, but
for the outage itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bench.fleet import figures
from bench.fleet.zones import email_of
from edgeshift.testbed.invariants.control import Control
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.simulator.fleet_file import Fleet


async def outage_of_the_last(
    control: Control, users: int, after: float, lasts: float, spans: list[figures.Span]
) -> None:
    """So many seconds after the next call, and for so long, the service answers every call of the last user
    with 503; the time goes into ``spans``.
    """
    last = (await control.journal())[-1]["seq"]
    # The simulator tells nobody of a call: it is asked.
    while not (await control.get("journal", after=last, limit=1))["entries"]:  # noqa: ASYNC110
        await asyncio.sleep(0.5)
    await asyncio.sleep(after)
    began = datetime.now(UTC)
    down = {"kind": "server_error", "status": 503, "effect": "before", "match": {"user": email_of(users - 1)}}
    made = await control.send("POST", "faults", down)
    await asyncio.sleep(lasts)
    await control.send("DELETE", f"faults/{made['id']}")
    spans.append((began, datetime.now(UTC)))


def users_of(fleet: Fleet) -> dict[str, str]:
    """The users' identifiers, in the order of their numbers, and their e-mails."""
    return {user.id: user.email for user in fleet.users}


def by_user(
    calls: Sequence[Request],
    users: Mapping[str, str],
    calls_per_second: float,
    pauses: Sequence[figures.Span],
    outages: Sequence[figures.Span],
) -> dict[str, Any]:
    """What each user's calls used of its own limit while it had work, the last one's without its outage; and
    how the others did meanwhile.

    ``others_kept``: what another one used of its limit during the outage, in what it used just before it, in
    as long a time at most: of the others, the one that kept least; None where one had no work then.
    ``calls_in_vain``: the last user's during the outage. ``back_in_seconds``: from its end until a call of
    the last user was answered.
    """
    own = {user: [call for call in calls if call.user == user] for user in users}
    *others, last = users
    used = {
        users[user]: figures.rounded(
            (work := figures.work_of(made))
            and figures.quota_used(
                made, work, calls_per_second, [*pauses, *(outages if user == last else ())]
            )
        )
        for user, made in own.items()
    }
    found: dict[str, Any] = {"users": len(users), "quota_used_by_user": used}
    if not outages or not others:
        return found
    ((begin, end),) = outages
    kept = [_kept(own[user], (begin, end), calls_per_second, pauses) for user in others]
    answered = [call.time for call in own[last] if call.time >= end and call.status == 200]
    return found | {
        "outage_seconds": round((end - begin).total_seconds(), 1),
        "others_kept": figures.rounded(None if None in kept else min(one for one in kept if one is not None)),
        "calls_in_vain": sum(begin <= call.time < end and call.status == 503 for call in own[last]),
        "back_in_seconds": round((min(answered) - end).total_seconds(), 1) if answered else None,
    }


def _kept(
    calls: Sequence[Request], outage: figures.Span, calls_per_second: float, pauses: Sequence[figures.Span]
) -> float | None:
    begin, end = outage
    first = min((call.time for call in calls), default=begin)
    before = figures.quota_used(calls, (max(first, begin - (end - begin)), begin), calls_per_second, pauses)
    meanwhile = figures.quota_used(calls, (begin, end), calls_per_second, pauses)
    return meanwhile / before if before and meanwhile is not None else None
