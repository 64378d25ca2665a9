"""The rules of turning Edge Side Code off, pure: what was read goes in, what follows comes out."""

from edgeshift.areas.esc.reading import (
    CALLS,
    TEST_SECRET,
    Assessment,
    Reading,
    Secret,
    assess,
    body,
    late,
    not_sendable,
    secret_body,
    sets_secret,
    state,
    too_late,
    whose,
    work_of_one,
)

__all__ = [
    "CALLS",
    "TEST_SECRET",
    "Assessment",
    "Reading",
    "Secret",
    "assess",
    "body",
    "late",
    "not_sendable",
    "secret_body",
    "sets_secret",
    "state",
    "too_late",
    "whose",
    "work_of_one",
]
