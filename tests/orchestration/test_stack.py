"""The embedded stack: one folder, one stack, state that outlives it, and nothing left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from edgeshift.runtime.settings import TemporalSettings
from edgeshift.runtime.temporal import connect
from edgeshift.testbed.invariants.service import load_journal
from edgeshift.testbed.simulator.fleet_file import Credential, Fleet, FleetAccount, FleetZone
from edgeshift.testbed.stack import (
    Stack,
    StackError,
    StackPaths,
    paths,
    reserved_ports,
    stack,
)
from edgeshift.testbed.stack.children import Child
from edgeshift.testbed.stack.credentials import credential_specs
from edgeshift.testbed.stack.serving import until_served
from tests.kit.processes import children, until_gone
from tests.kit.stack_file import read_stack_file

pytestmark = [pytest.mark.embedded, pytest.mark.stack(85)]

free = paths._free


def small_fleet(zones: int = 3) -> Fleet:
    return Fleet(zones=[FleetZone(name=f"zone-{n}.example", plan="pro") for n in range(zones)])


async def ask(running: Stack) -> None:
    """One call of the service, as any client makes it."""
    token = next(iter(running.secrets.values()))
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"{running.service}/zones", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200, answer.text


async def answers(running: Stack) -> bool:
    try:
        await ask(running)
    except httpx.TransportError:
        return False
    return True


async def test_a_stack_goes_on_where_it_was(tmp_path: Path) -> None:
    """Ports, fleet, time scale and the simulator's journal are the same at the next start; Temporal's pages
    are there where they were asked for, at the same address.
    """
    async with stack(tmp_path, fleet=small_fleet(), time_scale=60, workers=0, ui=True) as first:
        await ask(first)
        async with httpx.AsyncClient(trust_env=False) as client:
            assert "<html" in (await client.get(str(first.ui))).text
        file = read_stack_file(tmp_path)
        assert file is not None and file.address == first.address and file.service == first.service
    assert read_stack_file(tmp_path) is None
    async with stack(tmp_path, workers=0, ui=True) as second:
        assert (second.address, second.service, second.ui) == (first.address, first.service, first.ui)
        assert (second.time_scale, second.fleet) == (60, first.fleet)
        assert len(await load_journal(second.control)) == 1


async def test_a_second_stack_in_the_folder_is_refused(tmp_path: Path) -> None:
    """It names the process that has the folder, and the first one goes on."""
    async with stack(tmp_path, fleet=small_fleet(), workers=0) as first:
        with pytest.raises(StackError, match=f"already runs in .*process {os.getpid()}"):
            async with stack(tmp_path, workers=0):
                raise AssertionError("two stacks share a folder")
        await ask(first)


async def test_a_stack_needs_a_fleet_once_and_keeps_to_it(tmp_path: Path) -> None:
    """Without a fleet a new folder is refused; with another one, an old folder is."""
    with pytest.raises(StackError, match="no fleet yet"):
        async with stack(tmp_path, workers=0):
            raise AssertionError("a stack without a fleet")
    async with stack(tmp_path, fleet=small_fleet(3), workers=0):
        pass
    with pytest.raises(StackError, match="another fleet, of 3 zones"):
        async with stack(tmp_path, fleet=small_fleet(4), workers=0):
            raise AssertionError("a stack with another fleet")


async def test_a_killed_simulator_and_a_killed_worker_are_started_again(tmp_path: Path) -> None:
    """Each comes back by itself, and says so."""
    said: list[str] = []
    async with stack(tmp_path, fleet=small_fleet(), workers=1, say=said.append) as running:
        for child in (running.simulator, running.workers[0]):
            before = child.pid
            child.kill()
            await until_another(child, before)
            assert any(line.startswith(f"{child.name} ended with -9") for line in said)
        async with asyncio.timeout(60):
            there = False
            while not there:
                await asyncio.sleep(0.2)
                there = await answers(running)


async def test_a_stack_is_served_whatever_temporal_is_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A named environment, TLS and the queues of another worker are none of its own worker's."""
    for name, value in {"ENV": "staging", "TEMPORAL_TLS": "true", "WORKER_QUEUES": "changes"}.items():
        monkeypatch.setenv(f"EDGESHIFT_{name}", value)
    async with stack(tmp_path, fleet=small_fleet(), workers=1) as running:
        settings = TemporalSettings(address=running.address, namespace=running.namespace)
        assert await until_served(await connect(settings))


async def until_another(child: Child, before: int | None) -> None:
    """Wait until another process runs in the child's place."""
    async with asyncio.timeout(60):
        while True:
            if child.pid != before and child.ended is None:
                return
            await asyncio.sleep(0.1)


async def test_a_simulator_of_somebody_else_at_its_port_is_not_taken_for_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that took it since the port was chosen: it answers, and it takes the same credentials."""
    async with stack(tmp_path / "theirs", fleet=small_fleet(), workers=0) as theirs:
        places = StackPaths(tmp_path / "ours")
        places.make()
        taken = httpx.URL(theirs.service).port
        places.folder.joinpath("ports.json").write_text(json.dumps({"simulator": taken}))
        monkeypatch.setattr(reserved_ports, "_folders", lambda: iter(()))
        monkeypatch.setattr(paths, "_free", lambda port: port == taken or free(port))
        with pytest.raises(StackError, match="the simulator did not start") as refused:
            async with stack(places.folder, fleet=small_fleet(), workers=0):
                pass
        assert any(f"cannot listen on 127.0.0.1:{taken}" in line for line in refused.value.details)


async def test_secrets_lie_in_files_for_their_owner_alone(tmp_path: Path) -> None:
    """Campaigns refer to them; neither stack.json nor the campaign file holds one."""
    async with stack(tmp_path, fleet=small_fleet(), workers=0) as running:
        (spec,) = running.credentials
        assert spec.token is not None
        kept_well(Path(spec.token.removeprefix("file:")), running)
        assert "EDGESHIFT_TEMPORAL_ADDRESS" in running.environment


def kept_well(path: Path, running: Stack) -> None:
    assert path.read_text() in running.secrets.values()
    assert path.stat().st_mode & 0o077 == 0
    assert running.places.fleet.stat().st_mode & 0o077 == 0
    for file in (running.places.stack_file, running.campaign_file):
        assert not any(secret in file.read_text() for secret in running.secrets.values())


def test_each_account_has_the_narrowest_credential(tmp_path: Path) -> None:
    """A credential of the account alone is taken before one for all accounts."""
    fleet = Fleet(
        accounts=[FleetAccount(name="One"), FleetAccount(name="Two")],
        credentials=[
            Credential(label="all"),
            Credential(label="reader", permissions=["zone:read"], accounts=["Two"]),
            Credential(label="two/key", kind="key", accounts=["Two"]),
        ],
    )
    one, two = credential_specs(StackPaths(tmp_path), fleet)
    assert one.token is not None and one.token.endswith("/credentials/all")
    assert two.key is not None and two.key.endswith("/credentials/two%2Fkey")
    assert two.accounts == (fleet.accounts[1].id,)


def test_what_a_stack_makes_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Whatever the person's umask, nobody else can open databases, archive, logs or files of a stack; and
    folders of an earlier version, which everybody could open, are closed by the next start.
    """
    folder = tmp_path / "s"
    before = os.umask(0o022)
    try:
        for name in ("archive", "temporal", "logs"):
            (folder / name).mkdir(parents=True)
        (folder / "ports.json").write_text("{}")
        with up(folder, "--zones", "60") as process:
            until_running(folder)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    finally:
        os.umask(before)
    found = {path.relative_to(folder): path.stat().st_mode & 0o077 for path in folder.rglob("*")}
    made = {path.name for path in found}
    assert {"temporal.db", "simulator.sqlite3", "worker-1.log", "temporal.log", "campaign.yaml"} <= made
    assert [str(path) for path, mode in found.items() if mode] == []


@contextmanager
def up(folder: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """``edgeshift up`` as a person starts it."""
    command = [sys.executable, "-m", "edgeshift.cli.main", "up", "--folder", str(folder), *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def until_running(folder: Path) -> Any:
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        if (folder / "stack.json").exists():
            time.sleep(0.2)
            return json.loads((folder / "stack.json").read_text())
        time.sleep(0.1)
    raise AssertionError("the stack did not start")


def test_nothing_outlives_a_killed_stack(tmp_path: Path) -> None:
    """The children of an ``edgeshift up`` that is killed end with it, and so do theirs."""
    with up(tmp_path / "s", "--zones", "60") as process:
        until_running(tmp_path / "s")
        found = children(process.pid)
        assert len(found) >= 3
        found += [one for child in found for one in children(child)]
        process.send_signal(signal.SIGKILL)
        process.wait()
        until_gone(found)


def test_up_says_where_everything_is_and_stops_by_ctrl_c(tmp_path: Path) -> None:
    """Addresses and exports are printed; SIGINT ends it with 0, and a second start goes on."""
    folder = tmp_path / "s"
    for more in (["--zones", "60"], []):
        with up(folder, *more) as process:
            told = until_running(folder)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=60)
            assert process.returncode == 0, output
            export = "export EDGESHIFT_TEMPORAL_ADDRESS="
            for text in (told["address"], told["service"], told["control"], export):
                assert text in output
        assert not (folder / "stack.json").exists()


def test_up_refuses_a_folder_that_is_in_use(tmp_path: Path) -> None:
    """The error is one line that names the process and the folder; the first stack is left alone."""
    folder = tmp_path / "s"
    with up(folder, "--zones", "60") as first:
        until_running(folder)
        with up(folder) as second:
            output, _ = second.communicate(timeout=60)
            assert second.returncode == 6
            said = f"error: a stack already runs in {folder} (process {first.pid})\n\nhint: use that one, "
            assert said in output
        assert first.poll() is None
