"""Where failures get the names that retry policies know. Messages stay short and never carry a body or a
secret.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pydantic
from temporalio import activity
from temporalio.exceptions import ApplicationError

from edgeshift.rate_limit.circuit import ServiceHold, Trouble, held
from edgeshift.runtime.secret_refs import CredentialMissing, SecretRefError
from edgeshift.service_api import (
    Forbidden,
    InvalidIdentifier,
    Misconfigured,
    NotFound,
    NoTurn,
    RateLimited,
    Refused,
    ServiceError,
    ServiceHeld,
    Unauthorized,
)
from edgeshift.stores.archive import ArchiveCorrupt, ArchiveError
from edgeshift.stores.tickets import TicketError

Work = TypeVar("Work", bound=Callable[..., Awaitable[Any]])

_PERMANENT: tuple[tuple[type[Exception], str], ...] = (
    (Forbidden, "Forbidden"),
    (NotFound, "NotFound"),
    (ArchiveCorrupt, "ArchiveCorrupt"),
    (Misconfigured, "BadInput"),
    (InvalidIdentifier, "BadInput"),
)

_KNOWN = (
    ServiceError,
    ArchiveError,
    SecretRefError,
    TicketError,
    Misconfigured,
    InvalidIdentifier,
    pydantic.ValidationError,
)

LONGEST = 300

MOST_REFUSALS = 5
"""How often the service is asked again for what it refuses in words that nobody knows."""


def hold_of(failure: Exception) -> ServiceHold | None:
    """Why there is no sense in calling the service until a person, or time, has mended something; None where
    the failure is no such one.
    """
    if isinstance(failure, ServiceHeld):
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
    """The failure as an application error whose type says what it is and whether trying again can mend it."""
    text = str(failure)[:LONGEST]
    if hold := hold_of(failure):
        what = "CredentialMissing" if hold.trouble is Trouble.MISSING else "InvalidCredential"
        what = "ServiceHeld" if isinstance(failure, ServiceHeld) else what
        return ApplicationError(text, hold, type=what, non_retryable=True)
    for kind, name in _PERMANENT:
        if isinstance(failure, kind):
            return ApplicationError(text, type=name, non_retryable=True)
    if isinstance(failure, SecretRefError):
        return ApplicationError(text, type="SecretUnresolved", non_retryable=True)
    if isinstance(failure, RateLimited):
        wait = timedelta(seconds=failure.retry_after) if failure.retry_after else None
        return ApplicationError(text, type="RateLimited", next_retry_delay=wait)
    if isinstance(failure, pydantic.ValidationError):
        return ApplicationError(
            f"{failure.title}: {failure.error_count()} error(s)", type="BadInput", non_retryable=True
        )
    # A plain refusal may pass, as that of a zone that is busy; one that stays is the service's last word.
    stays = type(failure) is Refused and activity.in_activity() and activity.info().attempt >= MOST_REFUSALS
    return ApplicationError(text, type=type(failure).__name__, non_retryable=stays)


def named_failures(work: Work) -> Work:
    """Name the failures of an activity's outside systems; bugs keep their own names and are retried as they
    are.
    """

    @functools.wraps(work)
    async def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return await work(*args, **kwargs)
        except _KNOWN as failure:
            raise named(failure) from None

    return guarded  # type: ignore[return-value]


def heartbeating(work: Work) -> Work:
    """Heartbeat while one long piece of work goes on, such as listing every zone or waiting for a turn within
    the rate limit: every ten seconds, or often enough for a shorter time-out.
    """

    async def beat() -> None:
        limit = activity.info().heartbeat_timeout
        pause = min(10.0, limit.total_seconds() / 3) if limit else 10.0
        while True:
            activity.heartbeat()
            await asyncio.sleep(pause)

    @functools.wraps(work)
    async def beating(*args: Any, **kwargs: Any) -> Any:
        heart = asyncio.create_task(beat())
        try:
            return await work(*args, **kwargs)
        finally:
            heart.cancel()

    return beating  # type: ignore[return-value]
