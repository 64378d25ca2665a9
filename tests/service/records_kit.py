"""An archive whose worker's records its roots know, and what somebody else would lay in their place."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from activities.change.intents import commit_may_show, own_commit
from activities.connections import Connections
from activities.proof.records import WorkerRecords
from activities.proof.signed_starts import Owning
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.keyring import WORKER, Keyring
from edgeshift.authority.loading import RootsFiles
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.worker_pen import WorkerPen
from edgeshift.model.fleet import Area, Plan, Zone
from edgeshift.runtime.clock import SystemClock
from edgeshift.stores.archive import Archive, ArchiveUnavailable
from edgeshift.stores.documents import Intent, contents_of, encoded, intent_key
from tests.kit.signing import signed

LIMIT = timedelta(minutes=5)
ZONE = Zone(id="1" * 32, name="a.example", account="2" * 32, plan=Plan.ENTERPRISE)
KEY = intent_key(ZONE, Area.ESC, "p-1")
NOTHING, SEEN = (KEY.replace("intent/", f"{what}/", 1) for what in ("nothing", "seen"))

Forge = Callable[["Kept", str, Any], Awaitable[bytes]]


@dataclass
class Started:
    """Under which signed starts something is the campaign's own: none, where the run alone tells."""

    starts: frozenset[str] = frozenset()
    unread: ArchiveUnavailable | None = None

    async def own(self, spec: str) -> Owning:
        """As a worker asks for them."""
        return Owning(self.starts, self.unread)


@dataclass
class Kept:
    """An archive, and the records of a worker whom its roots know."""

    archive: Archive
    keyring: Keyring
    worker: FileSigner
    connections: Connections
    started: Started

    @property
    def records(self) -> WorkerRecords:
        """The worker's."""
        return self.connections.records

    def path(self, key: str) -> Path:
        """The file of a record."""
        assert self.archive.folder is not None
        return self.archive.folder / key

    def lay(self, key: str, data: bytes, ago: timedelta = timedelta(0)) -> None:
        """Put bytes in the place of a record, as if so long ago."""
        self.path(key).parent.mkdir(parents=True, exist_ok=True)
        self.path(key).write_bytes(data)
        then = (datetime.now(UTC) - ago).timestamp()
        os.utime(self.path(key), (then, then))

    async def sent(self, key: str = KEY, **more: Any) -> None:
        """The worker has been about to send a commit."""
        assert await self.records.create(key, intent(**more))

    async def may_show(self) -> bool:
        """Whether a commit may still come to show."""
        return await commit_may_show(self.connections, ZONE, Area.ESC, LIMIT)

    async def taken_up(self) -> Intent | None:
        """What the campaign takes up as its own."""
        return await own_commit(self.connections, ZONE, Area.ESC, "mine", LIMIT)


def intent(**more: Any) -> Intent:
    """A commit of the campaign ``mine``."""
    said = {"step": "commit", "at": datetime.now(UTC), "campaign": "mine", "run": "run", "attempt": 1}
    return Intent(**{**said, "proposal": "its", **more})


def kept_in(folder: Path) -> Kept:
    """A new archive in a folder, with keys and roots of its own."""
    keyring = Keyring(folder / "authority")
    keyring.make()
    worker = FileSigner(PrivateKey(keyring.worker().read_bytes()))
    archive, roots, clock = Archive(folder / "archive"), RootsFiles(keyring.roots), SystemClock()
    records = WorkerRecords(roots, archive, clock, WorkerPen(worker, WORKER))
    started = Started()
    found = SimpleNamespace(archive=archive, clock=clock, records=records, starts=started)
    return Kept(archive, keyring, worker, cast(Connections, found), started)


async def unsigned(kept: Kept, key: str, document: Any) -> bytes:
    return encoded(document)


async def by_a_stranger(kept: Kept, key: str, document: Any) -> bytes:
    return await signed(key, contents_of(document), FileSigner(PrivateKey.made()))


async def by_a_person(kept: Kept, key: str, document: Any) -> bytes:
    return await signed(key, contents_of(document), kept.keyring.signer("ada"), by="ada")


async def by_a_person_in_a_workers_name(kept: Kept, key: str, document: Any) -> bytes:
    return await signed(key, contents_of(document), kept.keyring.signer("ada"))


async def of_another_name(kept: Kept, key: str, document: Any) -> bytes:
    return await signed(key, contents_of(document), kept.worker, of=f"{key}-2")


async def of_other_contents(kept: Kept, key: str, document: Any) -> bytes:
    data = await signed(key, {**contents_of(document), "more": "x"}, kept.worker)
    return data.replace(b'"more":"x"', b'"more":"y"')


async def from_the_future(kept: Kept, key: str, document: Any) -> bytes:
    later = datetime.now(UTC) + timedelta(hours=1)
    return await signed(key, contents_of(document), kept.worker, issued=later)


async def by_a_revoked_key(kept: Kept, key: str, document: Any) -> bytes:
    other = kept.keyring.signer("worker-2", ("worker",))
    data = await signed(key, contents_of(document), other, by="worker-2")
    RootsEditor(kept.keyring.roots).revoke("worker-2")
    return data


FORGED = (
    unsigned,
    by_a_stranger,
    by_a_person,
    by_a_person_in_a_workers_name,
    of_another_name,
    of_other_contents,
    from_the_future,
    by_a_revoked_key,
)
forged = pytest.mark.parametrize("forge", FORGED, ids=lambda one: str(one.__name__))
