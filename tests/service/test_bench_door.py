"""What is measured of the door is all of it: also what was sent before, of a first and a second attempt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from activities.proof.authority import Authority
from bench import authority as bench
from edgeshift.authority.door import Earlier


async def test_each_check_at_the_door_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same calls as the fence's; the numbers of a busy machine say nothing here."""
    asked: list[tuple[str, int, bool]] = []
    for name in ("check", "check_again", "check_earlier"):
        _told(monkeypatch, name, asked)
    monkeypatch.setattr(bench, "CHANGES", 3)
    scenes = {
        "plain": bench.Signed(4, 2, 2, 2, 20),
        "with evidence": bench.Signed(4, 2, 2, 2, evidence=True),
    }
    monkeypatch.setattr(bench, "SCENES", scenes)
    client: Any = None
    found = await bench.measure(Console(quiet=True), client, tmp_path)
    each = [("check", False), ("check_again", False), ("check_earlier", False)]
    first = [(name, 1, before) for name, before in each] * 3
    again = [(name, 2, name == "check_earlier") for name, _ in each] * 2
    assert asked == [*first, *again] * 2
    for scene in scenes:
        assert all(found["scenes"][scene][figure] > 0 for figure in bench.FIGURES)


def _told(monkeypatch: pytest.MonkeyPatch, name: str, asked: list[tuple[str, int, bool]]) -> None:
    real = getattr(Authority, name)

    async def check(self: Authority, change: Any, *rest: Any) -> None:
        before = next((one.begun is not None for one in rest if isinstance(one, Earlier)), False)
        asked.append((name, change.start.attempt, before))
        await real(self, change, *rest)

    monkeypatch.setattr(Authority, name, check)
