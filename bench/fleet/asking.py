"""The people of a measured campaign, in a process: ``python -m bench.fleet.asking OPTIONS FILE``.

They ask how the campaign stands, sign what waits and pause it now and then, each as the command line does it,
as regularly as the options (JSON) say. FILE gets a line for each thing as it happens. The process ends with
the campaign.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence, Set
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from temporalio.client import Client

from bench.fleet.records import Answered, Asked, Kind, Standing
from edgeshift.authority.keyring import Keyring
from edgeshift.messages import CampaignSummary, Step
from edgeshift.model.sign_off import Choice
from edgeshift.operations import NotFound, OperationError, Refused, pause, resume, sign_fingerprints, summary
from edgeshift.operations.pen import Pen
from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.stores.archive import Archive
from edgeshift.testbed.invariants.control import Control
from edgeshift.testbed.invariants.seen import Signature, StopRecord

APPROVER = "ada"
OPERATOR = "olga"

PATIENCE = 120.0
"""Seconds after which somebody who waits for an answer gives up."""

PAUSED_FOR = 0.5
"""Seconds for which a campaign stands still: long enough for the checker of rule 7 to see what goes on."""

AWAITING = ("awaiting", "awaiting_separate")
"""Places of targets that wait for a sign-off."""

TRIES = 100
"""How often somebody asks for a campaign to go on until it answers."""

MOST_SIGNED = 100
"""Fingerprints that are signed with one word."""


class Asking(BaseModel):
    """How often what is asked, in seconds. ``pause_every`` None: never.

    ``gather``: nobody signs before so many targets wait. For ``held_for`` seconds from then on, nobody signs
    more than ``signed_first`` fingerprints; at their end the simulator (its control API at ``hurry``) is
    told that further migrations take no time, where that is given. ``archive``: its URL; ``authority``: the
    folder with everybody's keys.
    """

    address: str
    namespace: str
    campaign: str
    archive: str
    authority: str
    status_every: float = 1.0
    sign_every: float = 2.0
    pause_every: float | None = 15.0
    gather: int = 0
    signed_first: int = 0
    held_for: float = 0.0
    hurry: str | None = None


class People:
    """Whoever asks, and what they note."""

    def __init__(self, client: Client, options: Asking, file: Path) -> None:
        self._client, self._options = client, options
        self._file = file.open("a", buffering=1)
        self._gathered = asyncio.Event()
        self._gathered_at = 0.0
        self._known: set[str] = set()
        self._signed: set[str] = set()
        self._over = asyncio.Event()
        self._spec = ""
        keyring, archive = Keyring(Path(options.authority)), Archive(options.archive)
        self._pens = {by: Pen(keyring.signer(by), archive, by) for by in (APPROVER, OPERATOR)}

    async def work(self) -> None:
        """Ask until the campaign is closed."""
        with self._file:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one()) for one in self._parts()]
                await self._over.wait()
                for task in tasks:
                    task.cancel()

    def _parts(self) -> tuple[Callable[[], Coroutine[Any, Any, None]], ...]:
        return (self._look, self._sign, self._pause, self._hurry)

    async def _hurry(self) -> None:
        if self._options.hurry is None:
            return
        await self._gathered.wait()
        await asyncio.sleep(self._options.held_for)
        await Control(self._options.hurry).send("PUT", "options", {"migration_seconds": 0})

    async def _look(self) -> None:
        async def look() -> None:
            self._note(await summary(self._client, self._options.campaign))

        async for due in beat(self._options.status_every):
            await self._ask("status", look, due)

    def _note(self, found: CampaignSummary) -> None:
        self._spec = found.spec
        self._known |= {item.fingerprint for item in found.waiting if item.zones > item.separate}
        standing = Standing(
            at=datetime.now(UTC), state=found.state, places=found.places, permits=found.permits_out
        )
        self._write("standing", standing)
        waiting = sum(found.places.get(place, 0) for place in AWAITING)
        if not self._gathered.is_set() and waiting >= self._options.gather:
            self._gathered_at = time.monotonic()
            self._gathered.set()
        if found.state == "closed":
            self._over.set()

    async def _sign(self) -> None:
        """Sign what is new; where nothing is, one that was signed before, as somebody does who signs a wave
        again.
        """
        turn = 0
        async for due in beat(self._options.sign_every):
            turn += 1
            fresh = self._fresh()
            again = sorted(self._signed)
            if chosen := fresh[:MOST_SIGNED] or again[turn % max(1, len(again)) :][:1]:
                await self._sign_these(chosen, due)

    async def _sign_these(self, fingerprints: Sequence[str], due: float) -> None:
        async def sign() -> None:
            name, said = self._options.campaign, "read"
            await self._pens[APPROVER].fingerprints(
                name, self._spec, Choice.APPROVE, step=Step.COMMIT, fingerprints=fingerprints, reason=said
            )
            await sign_fingerprints(
                self._client, name, fingerprints, Choice.APPROVE, by=APPROVER, reason=said
            )
            self._signed |= set(fingerprints)

        at = datetime.now(UTC)
        await self._ask("sign_off", sign, due)
        # Also where no answer came: it may count.
        for one in fingerprints:
            self._write("signature", Signature(by=APPROVER, choice="approve", digest=one, at=at))

    def _fresh(self) -> list[str]:
        """The fingerprints that are signed next."""
        if not self._gathered.is_set():
            return []
        held = time.monotonic() - self._gathered_at < self._options.held_for
        most = self._options.signed_first if held else None
        return next_signed(self._known, self._signed, most)

    async def _pause(self) -> None:
        name, reason = self._options.campaign, "measured"

        async def stop() -> None:
            await pause(self._client, name, by=OPERATOR, reason=reason, pen=self._pens[OPERATOR])

        async def go_on() -> None:
            await resume(self._client, name, by=OPERATOR, reason=reason, pen=self._pens[OPERATOR])

        while self._options.pause_every is not None:
            await asyncio.sleep(self._options.pause_every)
            asked_at = datetime.now(UTC)
            trouble = await self._ask("pause", stop)
            answered_at = datetime.now(UTC)
            if trouble is None:
                await asyncio.sleep(PAUSED_FOR)
            resumed_at = datetime.now(UTC)
            # Also where no answer came: the campaign may stand still.
            for _ in range(TRIES):
                why = await self._ask("resume", go_on)
                if why is None or isinstance(why, Refused):
                    break
                await asyncio.sleep(1.0)
            if trouble is None:
                self._write(
                    "stop",
                    StopRecord(
                        campaign=name,
                        kind="pause",
                        by=OPERATOR,
                        asked_at=asked_at,
                        answered_at=answered_at,
                        resumed_at=resumed_at,
                    ),
                )

    async def _ask(
        self, kind: Kind, call: Callable[[], Awaitable[None]], due: float | None = None
    ) -> Exception | None:
        """Ask, and note how long the answer took; why there was none. What a campaign refuses since it has
        closed meanwhile is no answer of it. ``due``: when it was to be asked, by ``time.perf_counter``, from
        which on it counts.
        """
        at, began = datetime.now(UTC), time.perf_counter() if due is None else due
        trouble: Exception | None = None
        try:
            async with asyncio.timeout(PATIENCE):
                await call()
        except (OperationError, TimeoutError) as error:
            trouble = error
        if not isinstance(trouble, Refused | NotFound):
            seconds = round(time.perf_counter() - began, 4)
            why = (str(trouble) or "no answer")[:200] if trouble else ""
            self._write("answer", Answered(kind=kind, at=at, seconds=seconds, trouble=why))
        return trouble

    def _write(self, what: str, record: BaseModel) -> None:
        self._file.write(f"{what} {record.model_dump_json()}\n")


async def beat(every: float) -> AsyncIterator[float]:
    """Moments in equal distances, by ``time.perf_counter``, each as soon as it has come. What kept whoever
    asks from some of them does not leave these out: who waits for an answer of ten seconds had ten questions.
    """
    due = time.perf_counter()
    while True:
        due += every
        await asyncio.sleep(due - time.perf_counter())
        yield due


def next_signed(known: Set[str], signed: Set[str], most: int | None) -> list[str]:
    """The fingerprints that are not signed yet: so many that at most ``most`` are signed in all, or every one
    (None).
    """
    fresh = sorted(known - signed)
    return fresh if most is None else fresh[: max(0, most - len(signed))]


READ: dict[str, Callable[[Asked, str], None]] = {
    "answer": lambda found, text: found.answers.append(Answered.model_validate_json(text)),
    "standing": lambda found, text: found.standings.append(Standing.model_validate_json(text)),
    "stop": lambda found, text: found.stops.append(StopRecord.model_validate_json(text)),
    "signature": lambda found, text: found.signatures.append(Signature.model_validate_json(text)),
}


def asked(file: Path) -> Asked:
    """What a process has noted in its file."""
    found = Asked()
    for line in file.read_text().splitlines():
        what, _, text = line.partition(" ")
        READ[what](found, text)
    return found


@contextlib.asynccontextmanager
async def people(options: Asking, file: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """The people, in a process of their own, until the block ends or their campaign does."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.fleet.asking", options.model_dump_json(), str(file)
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def _main(options: Asking, file: Path) -> None:
    settings = TemporalSettings(address=options.address, namespace=options.namespace)
    client = await connect(settings, identity="bench")
    # The first call of a client opens its connection; what is measured is the campaign.
    deadline = time.monotonic() + timedelta(minutes=1).total_seconds()
    while time.monotonic() < deadline:
        with contextlib.suppress(OperationError):
            await summary(client, options.campaign)
            break
        await asyncio.sleep(0.2)
    await People(client, options, file).work()


if __name__ == "__main__":
    asyncio.run(_main(Asking.model_validate_json(sys.argv[1]), Path(sys.argv[2])))
