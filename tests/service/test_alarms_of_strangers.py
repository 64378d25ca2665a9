"""`edgeshift alarms` looks at what a running workflow names: whoever starts one has no secret of this machine
sent anywhere, nor a folder made.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from edgeshift.alarms import CheckFact, Facts
from edgeshift.authority.keyring import Keyring
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.statements import StartStatement, WaveSaid
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.cli.alarms import _unchecked
from edgeshift.model.check_codes import CheckCode
from edgeshift.runtime.settings import Settings, TemporalSettings
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import put_document
from edgeshift.views.alarming import checks_of


class Somebody:
    """A service that takes every call: what each was sent."""

    def __init__(self) -> None:
        self.got: list[bytes] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Nothing that is understood."""
        self.got.append(await reader.read(4000))
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()


@pytest.fixture
async def somebody(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Somebody, str]]:
    """One on this machine, and its address; a secret that campaign files may name."""
    monkeypatch.setenv("RETAIL_TOKEN", "retail-0123456789abcdef0123456789abcdef0123")
    found = Somebody()
    server = await asyncio.start_server(found.answer, "127.0.0.1", 0)
    async with server:
        yield found, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/client/v4"


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    """Roots that know olga, and every service on this machine."""
    ring = Keyring(tmp_path / "authority")
    ring.make()
    ring.signer("olga")
    return ring


def spec(url: str, **more: Any) -> CampaignSpec:
    """A campaign there, whose tickets are to lie in a folder of its own choice."""
    service = {"base_url": url, "credentials": [{"token": "env:RETAIL_TOKEN", "user": "retail"}]}
    data = {"name": "autumn", "area": "waf", "service": service, "targets": {"all": True}, **more}
    return CampaignSpec.model_validate(data)


async def checked(
    folder: Path, campaign: CampaignSpec, roots: Path | None, *, service: bool = True, signed: Any = None
) -> tuple[CheckFact, ...]:
    """What is told of a workflow that names this specification. ``signed``: by whom its start is."""
    archive = Archive(folder / "archive")
    kept = await put_document(archive, campaign)
    if signed is not None:
        now = datetime.now(UTC).replace(microsecond=0)
        start = StartStatement(
            service=campaign.service.base_url,
            campaign=campaign.name,
            area=campaign.area,
            by="olga",
            issued=now - timedelta(minutes=1),
            expires=now + timedelta(days=1),
            nonce="0" * 32,
            spec=kept,
            targets="b" * 64,
            count=1,
            waves=(WaveSaid(name="all", first=0, end=1),),
        )
        await SignedRecords(archive).put(start, await signed.sign(start.bytes))
    settings = Settings(
        state_dir=folder / "state",
        archive_url=(folder / "archive").as_uri(),
        temporal=TemporalSettings(address="127.0.0.1:1"),
    )
    named: Any = SimpleNamespace(spec=kept)
    return await checks_of(settings, archive, campaign.name, named, service=service, roots=roots)


async def test_only_for_a_start_that_counts_is_a_secret_sent(
    somebody: tuple[Somebody, str], ring: Keyring, tmp_path: Path
) -> None:
    """Nobody has signed the file, or the roots do not have its service; else it is asked."""
    found, url = somebody
    campaign = spec(url, tickets={"folder": str(tmp_path / "tickets")})
    for service in (True, False):
        checks = await checked(tmp_path, campaign, ring.roots, service=service)
        codes = [CheckCode.TICKETS, CheckCode.SERVICE]
        assert [one.code for one in checks] == codes[: 1 + service]
        assert {one.state for one in checks} == {"skipped"}
        why = checks[0].text
        assert "its start is signed by nobody who is known here" in why
        left = "the service of campaign autumn was" if service else "the tickets of campaign autumn were"
        facts = Facts(now=datetime.now(UTC), names={}, checks=checks)
        assert list(_unchecked(facts)) == [f"{left} not checked: {why}"]
    whole = ring.roots.read_text()
    assert whole.count("loopback") == 1
    ring.roots.write_text(whole.replace("loopback", "https://api.example.com/client/v4"))
    checks = await checked(tmp_path, campaign, ring.roots, signed=ring.signer("olga"))
    assert [(one.state, "is no service of the worker's roots" in one.text) for one in checks] == [
        ("skipped", True)
    ] * 2
    assert not found.got and not (tmp_path / "tickets").exists()
    ring.roots.write_text(whole)
    checks = await checked(tmp_path, campaign, ring.roots)
    assert "skipped" not in {one.state for one in checks}
    assert not list(_unchecked(Facts(now=datetime.now(UTC), names={}, checks=checks)))
    assert any(b"retail-0123456789" in one for one in found.got) and (tmp_path / "tickets").exists()


@pytest.mark.parametrize(
    ("place", "more"),
    [
        ("service.base_url", {}),
        ("tickets.webhook", {"tickets": {"webhook": "https://enemy.example/", "secret": "env:RETAIL_TOKEN"}}),
        ("service.proxy", {}),
    ],
)
async def test_without_roots_nothing_is_sent_beyond_this_machine(
    place: str, more: dict[str, Any], somebody: tuple[Somebody, str], tmp_path: Path
) -> None:
    """As workers have it; and nothing is resolved for it."""
    found, url = somebody
    there = "https://enemy.example/client/v4" if place == "service.base_url" else url
    campaign = spec(there, **more)
    if place == "service.proxy":
        service = campaign.service.model_copy(update={"proxy": "http://enemy.example:3128"})
        campaign = campaign.model_copy(update={"service": service})
    checks = await checked(tmp_path, campaign, None)
    said = f"{place} leads beyond this machine, and no roots are known here"
    assert [(one.state, one.text) for one in checks] == [("skipped", said)] * 2 and not found.got
    checks = await checked(tmp_path, spec(url), None)
    assert "skipped" not in {one.state for one in checks} and found.got
