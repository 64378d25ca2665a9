"""Which campaigns ``pause --all`` and ``resume --all`` mean, and how each is listed."""

from __future__ import annotations

import pytest

from edgeshift.cli import control


@pytest.mark.parametrize(
    ("state", "by_hand", "paused", "resumed"),
    [
        ("running", False, True, False),
        ("halted", False, True, False),
        ("paused", True, False, True),
        ("paused", False, True, False),
        ("pausing", True, False, True),
        ("pausing", False, True, False),
        ("aborting", True, False, False),
        ("closed", False, False, False),
        (control.NOT_KNOWN, True, True, True),
        (control.NOT_KNOWN, False, True, False),
    ],
)
def test_whom_all_means(state: str, by_hand: bool, paused: bool, resumed: bool) -> None:
    """A pause those that would go on, also by themselves; a resumption those that a person paused."""
    stands = control._Stands(state, by_hand)
    assert (control._is_meant("pause", stands), control._is_meant("resume", stands)) == (paused, resumed)


@pytest.mark.parametrize(
    ("state", "by_hand", "listed"),
    [
        ("halted", False, "halted"),
        ("paused", True, "paused and halted; it stays halted"),
        ("pausing", True, "pausing and halted; it stays halted"),
        ("paused", False, "paused and halted"),
    ],
)
def test_who_resumes_all_is_shown_what_a_pause_hides(state: str, by_hand: bool, listed: str) -> None:
    """A campaign that is halted as well is listed so, and stays so where its pause ends."""
    assert control._Stands(state, by_hand, halted=True).text("resume") == listed
