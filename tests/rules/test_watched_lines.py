"""The lines of ``watch`` and of a demo where there is no terminal: each thing once, and nothing empty."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from rich.console import Console

from edgeshift.messages import Book, CampaignSummary
from edgeshift.model.fleet import Area
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.testbed.demo import course
from edgeshift.testbed.demo.parts import PARTS
from edgeshift.views.away import RECONNECT, Away
from edgeshift.views.watching import _Watcher
from tests.rules.test_timeline_watch import BEGAN, summary


class Printing:
    """A watcher without a terminal, and what it has printed."""

    def __init__(self) -> None:
        self._out = io.StringIO()
        away = Away(lambda: 0.0, RECONNECT)
        client: Any = None
        self._watcher = _Watcher(client, "autumn", Console(file=self._out, width=200), None, "", None, away)

    def lines(self, *looks: CampaignSummary | None) -> list[str]:
        """What is printed of these looks, without the time."""
        for look in looks:
            self._watcher._print(look)
        return [line.partition(" ")[2] for line in self._out.getvalue().splitlines()]


def test_a_campaign_that_has_published_nothing_yet_has_no_line() -> None:
    """It has just been started: there is nothing to say of it, and no trouble."""
    assert Printing().lines(None) == []


def said(by: str, *numbers: int) -> list[Book]:
    """Somebody rejected these fingerprints."""
    return [
        Book(
            fingerprint=fingerprint,
            decisions=[Decision(choice=Choice.REJECT, digest=fingerprint, by=by, at=BEGAN)],
        )
        for fingerprint in (f"{number:012}".ljust(64, "0") for number in numbers)
    ]


def test_a_decision_is_told_once() -> None:
    """A running campaign publishes the latest of its book; once it has closed, all of it is read."""
    lines = Printing().lines(
        summary(1, book=said("ada", 1)),
        summary(2, book=said("ada", 2)),
        summary(3, "closed", book=said("ada", 1, 2, 3)),
    )
    told = [line for line in lines if "rejected fingerprint" in line]
    assert len(told) == len(set(told)) == 3, lines


def test_a_note_is_told_once() -> None:
    """A running campaign publishes the beginning of a long one."""
    note = f"2026-03-01 12:30:05 paused by olga: {'why ' * 60}"
    later = note.replace("12:30:05", "12:30:06")
    lines = Printing().lines(summary(1, notes=[note[:160]]), summary(2, "closed", notes=[note, later]))
    assert sum("12:30:05" in line for line in lines) == 1, lines
    assert sum("12:30:06" in line for line in lines) == 1, lines


@pytest.mark.parametrize(
    ("area", "begun"), [(Area.ESC, ["1 scope", "2 scopes"]), (Area.WAF, ["1 zone", "2 zones"])]
)
async def test_a_demo_says_how_many_begin_in_the_words_of_its_area(
    monkeypatch: pytest.MonkeyPatch, area: Area, begun: list[str]
) -> None:
    """One of them is one."""

    class Over(Exception):
        """All campaigns have been started."""

    async def started(client: Any, archive: Any, spec: Any, **_: Any) -> Any:
        return spec

    async def targets(archive: Any, count: int) -> list[None]:
        return [None] * count

    monkeypatch.setattr(course, "start_campaign", started)
    monkeypatch.setattr(course, "frozen_targets", targets)
    monkeypatch.setattr(course, "Pen", Mock())
    monkeypatch.setattr(course, "Approver", Mock(side_effect=Over))
    console = Console(file=io.StringIO(), width=200)
    specs: Any = [SimpleNamespace(name=str(count), spec="s", targets=count) for count in (2, 1)]
    some: Any = Mock()
    teller = course.Teller(console)
    with pytest.raises(Over):
        await course.play(some, some, some, PARTS[area], some, specs, console=console, teller=teller)
    printed: str = console.file.getvalue()  # type: ignore[attr-defined]
    # The small campaign begins before the one that is watched.
    assert [line.partition(" started: ")[2] for line in printed.splitlines()] == begun
