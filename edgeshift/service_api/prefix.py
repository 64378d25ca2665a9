"""The prefix that the service's address ends in, and how to know that it was left out. Pure."""

from __future__ import annotations

from edgeshift.service_api.errors import (
    Gone,
    Misconfigured,
    NotFound,
    NotUnderstood,
    OddPages,
    RateLimited,
    Redirected,
    Refused,
    ServiceError,
)

PREFIX = "/client/v4"
"""Every path of the service is below it (docs/service.md)."""


def without_prefix(base_url: str, failure: ServiceError) -> Misconfigured | None:
    """The error of a first call to an address that lacks the prefix, where its failure fits that; else None.

    A gateway may serve the service under another path: an address without the prefix is no mistake by
    itself, only together with an answer that nothing is there. Whoever lists or limits is there.
    """
    if isinstance(failure, (OddPages, RateLimited)):
        return None
    known = isinstance(failure, (Refused, NotFound, Gone, NotUnderstood, Redirected))
    if not known or base_url.rstrip("/").endswith(PREFIX):
        return None
    answers = f"answers {failure.status}" if failure.status else "does not answer as the service does"
    return Misconfigured(
        f"service.base_url {base_url} lacks the prefix {PREFIX}, and {failure.call} {answers}:"
        f" write it as {base_url.rstrip('/')}{PREFIX}"
    )
