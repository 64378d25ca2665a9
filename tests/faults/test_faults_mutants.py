"""A wrong version of edgeshift is found by the fault harness, and the right one is not complained of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.harness.running.share import shared
from tests.mutants.catalogue import mutant_of
from tests.mutants.playing import Control, hunted
from tests.mutants.trees import copied

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(900), pytest.mark.long]

QUICK = ("log-only-body-committed", "validation-for-everybody", "snapshot-late")
"""Mutants that one short scene, of two zones for which nothing goes wrong, is to find."""


@pytest.mark.parametrize("name", shared("mutants", QUICK))
def test_the_harness_finds_a_mutant(name: str, temporal_cli_path: Path, tmp_path: Path) -> None:
    """By a complaint of a checker, in a case that passes with the project as it is."""
    environment = {**os.environ, "EDGESHIFT_TEMPORAL_CLI": str(temporal_cli_path)}
    control = Control(copied(tmp_path / "tree"), environment)
    found = hunted(mutant_of(name), (), environment, control.passes)
    assert found.caught, [*found.tried, *control.tries]
    assert f"rule {found.rule} " in found.complaint or len(found.tried[0].complaints) > 1
