"""Plays many cases in several processes, and keeps the verdict of each as soon as it is there."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from edgeshift.runtime.parent_death import tied_to_parent
from tests.harness.cases import Case
from tests.harness.running.kept import Kept
from tests.harness.verdict import Verdict

GRACE = 120.0
"""Seconds past a case's own deadline after which its process is given up."""

RETIRES_AFTER = 1500
"""Zone-schedules after which a process and its server make room for new ones."""

MOST_LOST = 2
"""How often a case is played again because its server was gone."""

PLAYER = "from tests.harness.running.player import main; main()"
"""The program of a player. By ``-m``, each of its worker processes would load its main module once more."""

Told = Callable[[Case, Verdict], None]


@dataclass
class Player:
    """A process, with what it plays at the moment and since when."""

    process: asyncio.subprocess.Process
    playing: dict[str, tuple[Case, float]] = field(default_factory=dict)
    played: int = 0

    @property
    def zones(self) -> int:
        """Zone-schedules under way."""
        return sum(case.zones for case, _ in self.playing.values())

    def takes(self, case: Case, most: int) -> bool:
        """Whether it has room for a case. One that is larger than all room is taken alone."""
        return self.played < RETIRES_AFTER and (not self.playing or self.zones + case.zones <= most)


class Run:
    """One run. ``most``: zone-schedules that each process plays at a time. ``until``: the moment, by the
    monotonic clock, from which on nothing more is begun.
    """

    def __init__(self, cases: Iterable[Case], kept: Kept, told: Told, *, jobs: int, most: int) -> None:
        self._due = deque(cases)
        self._kept = kept
        self._told = told
        self._jobs = jobs
        self._most = most
        self._lost: Counter[str] = Counter()
        """How often the server of a case was gone before it had ended."""
        self.until = float("inf")
        self.left: list[Case] = []
        """Cases that were not begun for want of time."""

    async def play(self) -> None:
        """Play them all, or as many as the time is for."""
        async with asyncio.TaskGroup() as players:
            for number in range(self._jobs):
                players.create_task(self._one_after_another(number))
        self.left = list(self._due)

    async def _one_after_another(self, number: int) -> None:
        """One process after another, until there is nothing more to play."""
        while self._due and time.monotonic() < self.until:
            await self._process(number)

    async def _process(self, number: int) -> None:
        player = await self._start(number)
        try:
            answers = asyncio.create_task(self._read(player))
            while not answers.done():
                self._give(player)
                nothing_more = not self._due or time.monotonic() >= self.until
                if not player.playing and (nothing_more or player.played >= RETIRES_AFTER):
                    break
                self._give_up_the_late(player)
                await asyncio.wait([answers], timeout=0.2)
            _close(player)
            await answers
            await player.process.wait()
        finally:
            await _end(player)
            for case, _ in player.playing.values():
                if sys.exc_info()[0] is None:
                    self._ended(case, self._died(case, player, number))

    async def _start(self, number: int) -> Player:
        log = self._kept.folder / f"player-{number}.log"
        with log.open("ab") as stderr:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                PLAYER,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                # Ctrl-C is this process's alone to handle.
                start_new_session=True,
                preexec_fn=tied_to_parent(os.getpid()),
                limit=1 << 24,
            )
        return Player(process)

    def _give(self, player: Player) -> None:
        """Give it as much as it has room for."""
        assert player.process.stdin is not None
        while self._due and time.monotonic() < self.until and player.takes(self._due[0], self._most):
            case = self._due.popleft()
            folder = self._kept.folder_of(case.id)
            shutil.rmtree(folder, ignore_errors=True)
            player.playing[case.id] = (case, time.monotonic())
            player.played += case.zones
            order = json.dumps({"id": case.id, "folder": str(folder)})
            with suppress(ConnectionError):
                player.process.stdin.write(order.encode() + b"\n")

    async def _read(self, player: Player) -> None:
        assert player.process.stdout is not None
        while line := await player.process.stdout.readline():
            answer = json.loads(line)
            case, _ = player.playing.pop(answer["id"])
            if answer["lost"] and self._lost[case.id] < MOST_LOST:
                # Its server is gone, which says nothing of the case: it is played again on another one.
                print(f"{case.id}: its server is gone; it is played again", file=sys.stderr, flush=True)
                self._lost[case.id] += 1
                player.played = RETIRES_AFTER
                self._due.append(case)
                continue
            self._ended(case, Verdict.model_validate(answer["verdict"]))

    def _ended(self, case: Case, verdict: Verdict) -> None:
        self._kept.keep(case.id, verdict)
        if not verdict.complaints:
            shutil.rmtree(self._kept.folder_of(case.id), ignore_errors=True)
        self._told(case, verdict)

    def _give_up_the_late(self, player: Player) -> None:
        """A process that does not even say that a case is late hangs."""
        now = time.monotonic()
        if any(now - since > case.within + GRACE for case, since in player.playing.values()):
            player.process.kill()

    def _died(self, case: Case, player: Player, number: int) -> Verdict:
        log = self._kept.folder / f"player-{number}.log"
        why = f"the process that played it ended with {player.process.returncode}; its log: {log}"
        return Verdict(zone_schedules=case.zones, complaints=[f"{case.id}: {why}"])


def _close(player: Player) -> None:
    """Nothing more comes."""
    assert player.process.stdin is not None
    with suppress(ConnectionError):
        player.process.stdin.close()


async def _end(player: Player) -> None:
    """End the process, if it has not ended."""
    if player.process.returncode is None:
        with suppress(ProcessLookupError):
            player.process.terminate()
        try:
            await asyncio.wait_for(player.process.wait(), 20)
        except TimeoutError:
            player.process.kill()
            await player.process.wait()
