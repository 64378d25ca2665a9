"""Dates in headers of answers, whoever wrote them."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def http_date(text: str | None) -> datetime | None:
    """The moment that a header names (RFC 9110, 5.6.7), in UTC; None where it names none, or one that no
    calendar has.
    """
    try:
        moment = parsedate_to_datetime(text or "")
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
