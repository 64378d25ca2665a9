"""Numbers agree with their nouns and verbs."""

import re
from pathlib import Path

import pytest

import activities
import edgeshift
import workflows
from edgeshift.model.counts import agreed, counted


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 zones wait"), (1, "1 zone waits"), (2, "2 zones wait"), (1200, "1,200 zones wait")],
)
def test_a_number_agrees_with_its_noun_and_its_verb(count: int, said: str) -> None:
    """Both of them, and with thousands set apart."""
    assert f"{counted(count, 'zone')} {agreed(count, 'waits', 'wait')}" == said


def test_a_plural_may_be_its_own() -> None:
    """Not every noun takes an -s."""
    assert counted(2, "log entry", "log entries") == "2 log entries"
    assert counted(1, "log entry", "log entries") == "1 log entry"


def test_no_text_leaves_the_number_open() -> None:
    """Nothing that is told says ``zone(s)``."""
    for package in (edgeshift, activities, workflows):
        for path in Path(str(package.__path__[0])).rglob("*.py"):
            found = re.findall(r"\w\((?:s|es|ies)\)[ ,.:;]", path.read_text())
            assert not found, path
