"""What ``make demo`` has printed and what verbs print, as pictures for the documentation."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

from rich.text import Text
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter

from edgeshift.cli.picture import WIDTH, save_picture
from edgeshift.cli.proposals import show_proposal
from edgeshift.cli.shell import Shell
from edgeshift.views.console import SafeConsole
from edgeshift.views.entries import Timeline
from edgeshift.views.events import Run, read_run
from edgeshift.views.history_view import history_view
from edgeshift.views.lists import zone_lists
from edgeshift.views.timeline import build_timeline
from tests.pages import demo_run
from tests.pages.page_kit import report_source
from tests.pages.waiting_kit import approval_data

HISTORY = Path(__file__).parents[1] / "replay" / "histories" / "zone-migrated-enterprise.json"
"""The history of a zone that was migrated: captured from a run, and replayed by the tests."""


def draw(folder: Path) -> None:
    """Draw every picture into a folder."""
    name = approval_data().summary.name
    for file, shown, title in (
        ("demo.svg", demo_run.running(), "make demo"),
        ("demo-end.svg", demo_run.end(), "make demo"),
        ("status.svg", zone_lists(report_source().rows, name), f"edgeshift status {name}"),
        ("history.svg", history_view(history()), f"edgeshift history {history().name}"),
        ("sign-off.svg", sign_off(), f"edgeshift sign-off approve {name} --zone {signed_zone()}"),
    ):
        save_picture(folder / file, shown, title)


def history() -> Timeline:
    """The timeline of a committed history, its campaign called as the others are here."""
    events = WorkflowHistory.from_json("zone", HISTORY.read_text(encoding="utf-8")).events
    run = asyncio.run(read_run("0199f2c4", events, pydantic_data_converter))
    (campaign,) = {attempt.campaign for attempt in build_timeline("zone", [run]).attempts}
    run = Run.model_validate_json(run.model_dump_json().replace(campaign, approval_data().summary.name))
    return build_timeline("zone", [run])


def signed_zone() -> str:
    """The zone whose sign-off is shown."""
    return approval_data().sheets[-2].names[0]


def sign_off() -> Text:
    """What is shown before a zone is signed whose own evidence failed, and the answer."""
    shown = approval_data().sheets[-2].shown
    assert shown is not None
    shell = Shell()
    shell.console = SafeConsole(
        width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    show_proposal(shell, shown)
    shell.console.print(f"Approve this for {shown.zone} as ada? [y/N] n")
    return Text.from_ansi(shell.console.file.getvalue())  # type: ignore[attr-defined]
