"""What verbs print, as pictures for the documentation."""

from __future__ import annotations

import asyncio
import io
from datetime import timedelta
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter

from edgeshift.cli.picture import WIDTH, save_picture
from edgeshift.cli.proposals import show_proposal
from edgeshift.cli.shell import Shell
from edgeshift.views.console import SafeConsole
from edgeshift.views.entries import Timeline
from edgeshift.views.events import Run, read_run
from edgeshift.views.figures import Pace
from edgeshift.views.history_view import history_view
from edgeshift.views.lists import zone_lists
from edgeshift.views.live import campaign_view
from edgeshift.views.timeline import build_timeline
from tests.pages.page_kit import report_source
from tests.pages.waiting_kit import approval_data

HISTORY = Path(__file__).parents[1] / "replay" / "histories" / "zone-migrated-enterprise.json"
"""The history of a zone that was migrated: captured from a run, and replayed by the tests."""


def draw(folder: Path) -> None:
    """Draw every picture into a folder."""
    name = approval_data().summary.name
    for file, shown, title in (
        ("watch.svg", watch(), f"edgeshift watch {name}"),
        ("status.svg", zone_lists(report_source().rows, name), f"edgeshift status {name}"),
        ("history.svg", history_view(history()), f"edgeshift history {history().name}"),
        ("sign-off.svg", sign_off(), f"edgeshift sign-off approve {name} --zone {signed_zone()}"),
    ):
        save_picture(folder / file, shown, title)


def watch() -> RenderableType:
    """A campaign in which fingerprints wait."""
    summary = approval_data().summary
    pace = Pace()
    earlier = summary.model_copy(update={"places": {**summary.places, "migrated": 18, "working": 19}})
    pace.progress(earlier, summary.now - timedelta(seconds=60))
    return campaign_view(summary, pace.progress(summary, summary.now), summary.now)


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
