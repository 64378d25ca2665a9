"""Namespaces beside the runbook's own: an empty one, and one with a worker that soon gives up."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.journeys.runbook_fleet import temporal
from tests.journeys.runbook_kit import Desk

HASTY = """\
import sys
from edgeshift.cli.main import called
from workflows import reversible
from workflows.zone import changing as zone
zone.MOST_REFUSED_STARTS = 3
reversible.MOST_TRIES_BACK = 2
sys.exit(called(sys.argv[1:]))
"""
"""A worker that gives up after few tries: with their pauses, twenty take a quarter of an hour."""


@contextmanager
def namespace(here: Desk, name: str) -> Iterator[None]:
    """A new namespace without a worker, for every command in the block; workers started there end with it."""
    temporal(here, "operator", "namespace", "create", "--namespace", name, "--retention", "24h")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(here.names, "NAMESPACE", name)
        patch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", here.stack.address)
        patch.setenv("EDGESHIFT_TEMPORAL_NAMESPACE", name)
        patch.setenv("EDGESHIFT_ARCHIVE_URL", here.stack.archive)
        try:
            yield
        finally:
            here.end_workers()


@contextmanager
def hasty(here: Desk) -> Iterator[None]:
    """A namespace with a worker that soon gives up, for every command in the block."""
    with namespace(here, "hasty"):
        here.workers.append(here.worker(program=(sys.executable, "-c", HASTY)))
        yield
