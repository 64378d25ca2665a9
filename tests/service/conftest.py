"""What several tests of the service's side begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from activities.log_fields.rollback_log import RollbackLog
from tests.service.records_kit import Kept, kept_in
from tests.service.rollback_log_kit import log_of


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """An archive, and a worker whose key the roots know."""
    return kept_in(tmp_path)


@pytest.fixture
async def log(kept: Kept) -> RollbackLog:
    """The records of a commit that begins under the permit ``p-1``."""
    log = log_of(kept)
    assert await log.begin("p-1") == "p-1"
    return log
