"""Where failures get the names that retry policies know. Messages stay short and never carry a body or a
secret.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pydantic
from temporalio import activity
from temporalio.exceptions import ApplicationError

from edgeshift.messages import MissingObject
from edgeshift.model.counts import counted
from edgeshift.model.failures import FAILURES, Failure, kind_of
from edgeshift.rate_limit.circuit import OpenCircuit, Trouble, held
from edgeshift.runtime.secret_refs import CredentialMissing, SecretRefError
from edgeshift.service_api import (
    InvalidIdentifier,
    Misconfigured,
    NoTurn,
    RateLimited,
    ServiceCircuitOpen,
    ServiceError,
    Unauthorized,
)
from edgeshift.stores.archive import ArchiveError, ArchiveMissing
from edgeshift.stores.tickets import TicketError

Work = TypeVar("Work", bound=Callable[..., Awaitable[Any]])

KNOWN = (
    ServiceError,
    ArchiveError,
    SecretRefError,
    TicketError,
    Misconfigured,
    InvalidIdentifier,
    pydantic.ValidationError,
)

LONGEST = 300

MOST_ROWS = 10_000
"""Activities that were refused last, of which a worker remembers since which try."""


def hold_of(failure: Exception) -> OpenCircuit | None:
    """Why there is no sense in calling the service until a person, or time, has fixed something; None where
    the failure is no such one.
    """
    if isinstance(failure, ServiceCircuitOpen):
        return failure.hold
    if isinstance(failure, Unauthorized):
        return held(Trouble.REFUSED, failure.answer, datetime.now(UTC), failure.credential)
    if isinstance(failure, CredentialMissing):
        return held(Trouble.MISSING, str(failure), datetime.now(UTC), failure.credential)
    return None


def refuse_held(failure: Exception) -> None:
    """Raises the failure again where the service is not to be called for now, or where no turn to call it was
    given: that says nothing of what was looked for, and a reading that is repeated until it shows something
    ends by it, to be done again later.
    """
    if isinstance(failure, NoTurn) or hold_of(failure) is not None:
        raise failure


def named(failure: Exception) -> ApplicationError:
    """The failure as an application error whose type says what it is and whether trying again can fix it, by
    the table of failures.
    """
    kind = kind_of(type(failure)) or type(failure).__name__
    found = FAILURES.get(kind)
    text = str(failure)[:LONGEST]
    if isinstance(failure, pydantic.ValidationError):
        text = f"{failure.title}: {counted(failure.error_count(), 'error')}"
    hold = hold_of(failure)
    wait = failure.retry_after if isinstance(failure, RateLimited) else None
    return ApplicationError(
        text,
        *([hold] if hold else []),
        *([MissingObject(digest=failure.digest)] if isinstance(failure, ArchiveMissing) else []),
        type=(found.named if found else "") or kind,
        non_retryable=found is not None and _is_final(found),
        next_retry_delay=timedelta(seconds=wait) if wait else None,
    )


def _is_final(failure: Failure) -> bool:
    """Whether it has been tried as often as it may be, and failed so each time in a row."""
    if failure.tries is None or failure.tries == 1:
        return failure.tries == 1
    return activity.in_activity() and _in_a_row() >= failure.tries


_ROWS: OrderedDict[tuple[str, str], range] = OrderedDict()
"""Of each activity whose latest try that this process knows of was refused, those that were so in a row."""


def _in_a_row() -> int:
    """How many tries of the activity that is under way were refused in a row, with this one. One that another
    worker has made counts as refused between two that were refused here, and not before them.
    """
    attempt, of = activity.info().attempt, _activity()
    row = _ROWS.pop(of, range(0))
    row = range(row.start if row and row.start <= attempt else attempt, attempt + 1)
    _ROWS[of] = row
    while len(_ROWS) > MOST_ROWS:
        _ROWS.popitem(last=False)
    return len(row)


def _end_row() -> None:
    """The try that is under way has ended: where it was not refused, none are in a row any more."""
    if activity.in_activity() and activity.info().attempt not in _ROWS.get(_activity(), range(0)):
        _ROWS.pop(_activity(), None)


def _activity() -> tuple[str, str]:
    info = activity.info()
    return info.workflow_run_id or "", info.activity_id


_BEGAN: ContextVar[float | None] = ContextVar("began", default=None)
"""When the activity that is under way began, by the monotonic clock of this process."""


def passed() -> timedelta:
    """For how long the activity that is under way has been, as this process has seen it."""
    began = _BEGAN.get()
    return timedelta(seconds=time.monotonic() - began) if began is not None else timedelta(0)


_ASKED: ContextVar[datetime | None] = ContextVar("asked", default=None)
"""When the local activity that is under way was asked for, by the server's clock."""


def asked_at(told: datetime | None) -> None:
    """What the message of a local activity says of when it was asked for, for ``server_began``."""
    _ASKED.set(told)


def server_began() -> datetime:
    """When the activity that is under way began by the server's clock, or a little earlier. Raises
    RuntimeError in a local one whose message does not say it: its own start is by its worker's clock.
    """
    info = activity.info()
    if not info.is_local:
        return info.started_time
    if (asked := _ASKED.get()) is None:
        raise RuntimeError(f"{info.activity_type} is local, and was not told the server's time")
    return asked


def or_server_time(now: datetime) -> datetime:
    """What time it is by a machine's clock, or by the server's where that is later: one that is behind is not
    believed.
    """
    return max(now, activity.info().started_time) if activity.in_activity() else now


def named_failures(work: Work) -> Work:
    """Name the failures of an activity's outside systems; bugs keep their own names and are retried as they
    are.
    """

    @functools.wraps(work)
    async def guarded(*args: Any, **kwargs: Any) -> Any:
        _BEGAN.set(time.monotonic())
        try:
            return await work(*args, **kwargs)
        except KNOWN as failure:
            raise named(failure) from None
        finally:
            _end_row()

    return guarded  # type: ignore[return-value]


_COME_TO: ContextVar[list[Any]] = ContextVar("come_to")
"""What the heartbeats of the activity that is under way tell."""


def come_to(*details: Any) -> None:
    """How far a ``heartbeating`` activity has come, from which another attempt goes on: few and small
    details, which each heartbeat from now on tells.
    """
    _COME_TO.get()[:] = details
    activity.heartbeat(*details)


def heartbeating(work: Work) -> Work:
    """Heartbeat while one long piece of work goes on, such as listing every zone or waiting for a turn within
    the rate limit: every ten seconds, or often enough for a shorter time-out. Each tells how far the work
    has come (``come_to``), at first what an earlier attempt has told.
    """

    async def beat(details: list[Any]) -> None:
        limit = activity.info().heartbeat_timeout
        pause = min(10.0, limit.total_seconds() / 3) if limit else 10.0
        if details:
            activity.heartbeat(*details)
        while True:
            # Most are over before the first one is due, which would be a call of the server's for nothing.
            await asyncio.sleep(pause)
            activity.heartbeat(*details)

    @functools.wraps(work)
    async def beating(*args: Any, **kwargs: Any) -> Any:
        details = list(activity.info().heartbeat_details)
        _COME_TO.set(details)
        heart = asyncio.create_task(beat(details))
        try:
            return await work(*args, **kwargs)
        finally:
            heart.cancel()

    return beating  # type: ignore[return-value]
