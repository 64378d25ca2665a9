"""A worker's two processes: people's queues are served by one of their own; neither outlives the other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import Settings, WorkerSettings
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.kit.processes import children, until, until_gone
from worker.process import divided

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(300)]

RUNS = "worker runs"


def of(**worker: object) -> Settings:
    return Settings(worker=WorkerSettings.model_validate(worker))


def test_what_people_wait_for_has_a_process_of_its_own() -> None:
    """Campaigns and quotas are served apart from zones, and each queue by exactly one of the two."""
    ours, theirs = divided(of())
    assert theirs is not None
    assert theirs.worker.served == (Queue.CONTROL, Queue.QUOTA)
    assert ours.worker.served == (Queue.ZONES, Queue.CHANGES, Queue.LONG)


@pytest.mark.parametrize("worker", [{"processes": 1}, {"queues": "control,quota"}, {"queues": "zones"}])
def test_one_process_serves_one_kind_of_work(worker: dict[str, object]) -> None:
    """As it does everything where the settings say so."""
    settings = of(**worker)
    assert divided(settings) == (settings, None)


class Running:
    """A worker by the command line, and what it has logged."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process, self.log = process, log

    def times(self, words: str) -> int:
        """How often the log has these words."""
        return self.log.read_text().count(words)

    @property
    def beside(self) -> list[int]:
        """The other process."""
        return children(self.process.pid)


@pytest.fixture
def worker(embedded: EmbeddedTemporal, tmp_path: Path) -> Iterator[Running]:
    """A worker of which both processes run, in a folder with a package that is called as one of ours."""
    with _running(embedded, tmp_path) as found:
        yield found


@contextmanager
def _running(embedded: EmbeddedTemporal, folder: Path) -> Iterator[Running]:
    (folder / "worker").mkdir()
    (folder / "worker" / "__init__.py").write_text("raise SystemExit('not this one')")
    names = {name: value for name, value in os.environ.items() if not name.startswith("EDGESHIFT_")}
    here = {"EDGESHIFT_TEMPORAL_ADDRESS": embedded.address, "EDGESHIFT_STATE_DIR": str(folder / "state")}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "edgeshift.cli.main", "worker"],
            cwd=folder,
            env={**names, **here},
            stderr=log,
        )
    found = Running(process, folder / "log")
    try:
        until(lambda: found.times(RUNS) == 2)
        yield found
    finally:
        process.terminate()
        process.wait(120)


def test_both_end_when_the_worker_is_told_to(worker: Running) -> None:
    """With 0, after what is under way; the one that gives turns within the rate limit ends last."""
    beside = worker.beside
    assert len(beside) == 1
    worker.process.send_signal(signal.SIGINT)
    assert worker.process.wait(120) == 0
    until_gone(beside)
    stopped = [line for line in worker.log.read_text().splitlines() if "worker stopped" in line]
    assert ["zones,changes,long" in stopped[0], "control,quota" in stopped[1]] == [True, True], stopped


def test_the_other_one_ends_with_a_worker_that_is_killed(worker: Running) -> None:
    """Nobody else would end it."""
    beside = worker.beside
    worker.process.kill()
    worker.process.wait()
    until_gone(beside)


def test_the_other_one_is_started_again(worker: Running) -> None:
    """Where it has ended by itself, the worker goes on, and says so."""
    (beside,) = worker.beside
    os.kill(beside, signal.SIGKILL)
    until(lambda: worker.times(RUNS) == 3)
    assert worker.beside and worker.beside != [beside]
    assert worker.times("is started again") == 1
    assert worker.process.poll() is None
