"""An address without its prefix is told at once, with what would be right."""

from __future__ import annotations

import pytest

from activities.boundary import named
from edgeshift.model.failures import PERMANENT
from edgeshift.service_api import ServiceError
from edgeshift.service_api.errors import (
    ConnectionRefused,
    NotFound,
    NotUnderstood,
    OddPages,
    Outcome,
    RateLimited,
    Refused,
)
from edgeshift.service_api.prefix import without_prefix


def failed(kind: type[ServiceError], status: int | None) -> ServiceError:
    """The failure of listing the zones."""
    return kind("no", call="zones.list", outcome=Outcome.READ, status=status)


@pytest.mark.parametrize(("kind", "status"), [(Refused, 400), (NotFound, 404), (NotUnderstood, 200)])
@pytest.mark.parametrize("base", ["https://api.example.com", "https://api.example.com/"])
def test_the_prefix_that_is_missing_is_named(kind: type[ServiceError], status: int, base: str) -> None:
    """With the whole address to write; trying again cannot help."""
    found = without_prefix(base, failed(kind, status))
    assert found is not None
    assert f"answers {status}: write it as https://api.example.com/client/v4" in str(found)
    activity = named(found)
    assert activity.non_retryable and activity.type in PERMANENT


def test_other_failures_are_what_they_are() -> None:
    """Of an address with the prefix, and of a service that is not there."""
    assert without_prefix("https://api.example.com/client/v4", failed(Refused, 400)) is None
    assert without_prefix("https://api.example.com/client/v4/", failed(NotFound, 404)) is None
    assert without_prefix("https://api.example.com", failed(ConnectionRefused, None)) is None


@pytest.mark.parametrize(("kind", "status"), [(RateLimited, 429), (OddPages, 200)])
def test_what_the_service_alone_says_is_no_sign_of_another_place(
    kind: type[ServiceError], status: int
) -> None:
    """A gateway may have the service under another path."""
    assert without_prefix("https://api.example.com/gateway", failed(kind, status)) is None
