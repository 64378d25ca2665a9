"""What each worker says of its roots and of its own key, and what doctor makes of that."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest
from temporalio.api.taskqueue.v1 import PollerInfo
from temporalio.client import Client

from edgeshift.authority.held import RootsHeld, held_by, last_told, tell
from edgeshift.authority.keyring import Keyring
from edgeshift.authority.loading import RootsFiles, load_roots
from edgeshift.doctor.check import State
from edgeshift.doctor.roots_checks import check_roots, judged, keys_judged, polls_now
from edgeshift.operations import archives
from edgeshift.operations.errors import Refused
from edgeshift.quota.leases import Quotas
from edgeshift.runtime.settings import AuthoritySettings, Settings
from edgeshift.stores.archive import Archive
from tests.kit import eventually
from worker import serving
from worker.recording_roots import recording_roots


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """An archive in a folder."""
    return Archive(tmp_path / "archive")


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    """Roots, and the keys that they know."""
    ring = Keyring(tmp_path / "authority")
    ring.make()
    return ring


def held(
    identity: str, state: Literal["none", "unreadable", "held"] = "held", digest: str = "1" * 64, **more: Any
) -> RootsHeld:
    """What a worker says of its roots."""
    at = more.pop("at", datetime.now(UTC))
    return RootsHeld(
        identity=identity,
        at=at,
        state=state,
        digest=digest if state == "held" else "",
        proof="signed",
        **more,
    )


async def test_the_last_that_a_worker_said_of_its_roots_counts(archive: Archive) -> None:
    """By its identity, whatever signs that has."""
    now = datetime.now(UTC)
    for number, digest in enumerate(("1" * 64, "2" * 64)):
        await tell(archive, held("7@host/~a", digest=digest, at=now + timedelta(seconds=number)))
    found = await last_told(archive, "7@host/~a")
    assert found is not None and found.digest == "2" * 64
    assert await last_told(archive, "8@host") is None


@pytest.mark.parametrize(
    ("told", "states", "said"),
    [
        ([held("a", worker="w"), held("b", worker="w")], [State.OK], "w signs the results"),
        ([held("a", worker="w"), held("b", worker="")], [State.FAILED], "b has no key that the roots know"),
        ([held("a")], [State.FAILED], "a has no key"),
        ([held("a", "none")], [], ""),
    ],
    ids=["known", "one is not", "of an earlier version", "without roots"],
)
def test_doctor_names_workers_whose_key_is_not_known(
    told: list[RootsHeld], states: list[State], said: str
) -> None:
    """Where roots ask for signatures, by what each worker said of its own key."""
    found = keys_judged({one.identity: one for one in told})
    assert [check.state for check in found] == states and said in "".join(check.text for check in found)


@pytest.mark.parametrize(
    ("told", "states", "said"),
    [
        ([held("a"), held("b")], [State.OK], "2 workers have 111111111111 (signed)"),
        ([held("a"), held("b", digest="2" * 64)], [State.FAILED], "do not agree"),
        ([held("a", "none")], [State.WARNING], "a has none, and changes nothing but rehearsals"),
        ([held("a"), held("b", "none")], [State.WARNING, State.FAILED], "do not agree"),
        ([held("a"), held("b", "unreadable")], [State.FAILED, State.FAILED], "b cannot read its roots"),
    ],
    ids=range(5),
)
def test_doctor_compares_the_roots_of_workers(told: list[RootsHeld], states: list[State], said: str) -> None:
    """Equal ones, different ones, none, and unreadable ones."""
    checks = judged({item.identity: item for item in told})
    assert [check.state for check in checks] == states
    assert said in " ".join(check.text for check in checks)


def test_a_worker_that_has_ended_is_not_asked_for_its_roots() -> None:
    """Temporal lists it for minutes; one that waits for work renews its poll every minute."""
    now = datetime.now(UTC)
    pollers = []
    for identity, ago in (("new", 0), ("waits", 60), ("ended", 120)):
        poller = PollerInfo(identity=identity)
        poller.last_access_time.FromDatetime(now - timedelta(seconds=ago))
        pollers.append(poller)
    assert polls_now(pollers) == {"new", "waits"}
    assert polls_now([]) == set()


def test_doctor_says_where_it_looks_into_another_archive() -> None:
    """Then nothing is known of the workers' roots."""
    (check,) = judged({"a": held("a"), "b": None})
    assert check.state is State.WARNING and "b recorded nothing" in check.text and "--archive" in check.fix


async def test_a_worker_says_it_again_where_what_it_said_is_gone(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive that was emptied while it runs is theirs all the same; while it is there, once is enough."""
    monkeypatch.setattr("worker.recording_roots.EVERY", 0.05)
    assert archive.folder is not None

    async def told() -> bool:
        return await last_told(archive, "a") is not None

    async with recording_roots("a", None, archive):
        for _ in range(2):
            await eventually(told, 10, "it says which roots it has")
            await asyncio.sleep(0.3)
            assert len([key async for key in archive.list("workers")]) == 1
            shutil.rmtree(archive.folder / "workers")


async def test_an_archive_is_the_workers_where_one_records_at_its_second_try(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever plans meanwhile waits for that; the refusal names what else it may be."""

    async def polls(_: Client) -> list[str]:
        return ["a"]

    monkeypatch.setattr(archives, "pollers", polls)
    monkeypatch.setattr("edgeshift.authority.held.TOLD_WITHIN", timedelta(seconds=0.5))
    client = await Client.connect("127.0.0.1:9", lazy=True)
    await archive.create_once("archive/other", b"{}")
    with pytest.raises(
        Refused, match=r"none of those that poll.*was emptied, or what is under workers/ removed"
    ):
        await archives.check_workers(client, archive)
    waiting = asyncio.create_task(archives.check_workers(client, archive))
    await asyncio.sleep(1.2)
    await tell(archive, held("a"))
    await waiting


def test_roots_that_cannot_be_read_are_told_as_such(tmp_path: Path, ring: Keyring) -> None:
    """A worker that has lost them refuses everything, and says so."""
    files = RootsFiles(ring.roots)
    now = datetime.now(UTC)
    assert held_by("a", files, now).digest == load_roots(ring.roots).digest
    ring.roots.write_text("[")
    assert held_by("a", files, now).state == "unreadable"
    assert held_by("a", None, now).state == "none"


@pytest.fixture
def in_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes as they are in containers with the machine's network: each the first one of the same host."""
    monkeypatch.setattr(os, "getpid", lambda: 1)
    monkeypatch.setattr(socket, "gethostname", lambda: "host")


@pytest.mark.usefixtures("in_containers")
async def test_doctor_tells_workers_of_one_machine_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What one says of its roots does not stand for the others, in containers neither."""
    polls: list[PollerInfo] = []

    async def connected(_: object, *, identity: str | None = None) -> SimpleNamespace:
        poller = PollerInfo(identity=identity or f"{os.getpid()}@{socket.gethostname()}")
        poller.last_access_time.FromDatetime(datetime.now(UTC))
        polls.append(poller)
        return SimpleNamespace(identity=poller.identity)

    async def done(_: object) -> None:
        return None

    async def polling(_: object, queue: object) -> list[PollerInfo]:
        return polls

    monkeypatch.setattr(serving, "connect", connected)
    monkeypatch.setattr(serving, "ensure_search_attributes", done)
    monkeypatch.setattr(serving, "workers", lambda *_: nullcontext())
    monkeypatch.setattr(serving, "keep_loaded", lambda: None)
    monkeypatch.setattr("edgeshift.doctor.roots_checks.polling", polling)
    monkeypatch.setattr("edgeshift.doctor.roots_checks.TOLD_WITHIN", timedelta())
    archive, stop, running = Archive(tmp_path / "archive"), asyncio.Event(), []
    for name in ("ours", "theirs"):
        ring = Keyring(tmp_path / name)
        ring.make()
        authority = AuthoritySettings(roots=ring.roots, worker_key=ring.worker())
        settings = Settings(archive_url=str(tmp_path / "archive"), authority=authority)
        client = await serving.connected(settings)
        running.append(asyncio.create_task(serving.serve(client, settings, stop)))

    async def told() -> bool:
        return len([key async for key in archive.list("workers")]) == 2

    try:
        await eventually(told, 10, "both say which roots they have")
        checks = await check_roots(cast(Client, None), Settings(archive_url=str(tmp_path / "archive")))
    finally:
        stop.set()
        await asyncio.gather(*running)
    assert [check.state for check in checks] == [State.FAILED, State.OK]
    assert checks[0].text.startswith("the workers do not agree: ")


@pytest.mark.usefixtures("in_containers")
async def test_the_quota_tells_workers_of_one_machine_apart() -> None:
    """What one has called is no call of a stranger by what another one saw."""
    client = await Client.connect("127.0.0.1:9", lazy=True)
    assert Quotas(client)._holder != Quotas(client)._holder
