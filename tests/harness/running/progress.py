"""How far a run is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from tests.harness.cases import Case
from tests.harness.verdict import Verdict


class Progress:
    """Counts zone-schedules. ``total``: how many there are to play."""

    def __init__(self, total: int) -> None:
        self._console = Console()
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("zone-schedules", total=total)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def ended(self, case: Case, verdict: Verdict) -> None:
        """A case has ended."""
        self._done += verdict.zone_schedules
        self._bar.update(self._task, completed=self._done)
        rate = self._done / max(time.monotonic() - self._began, 0.001)
        said = "; ".join(verdict.complaints)[:300] or "as it is to be"
        line = (
            f"{case.id}: {verdict.zone_schedules} in {verdict.seconds:.0f} s, {said}"
            f" ({self._done:,} of {self._total:,}, {rate:.1f} a second)"
        )
        if not self._console.is_terminal:
            print(line, flush=True)
        elif verdict.complaints:
            self._bar.console.print(line, markup=False)
