"""Tickets: one per zone and cause, whatever is retried or runs at the same time."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from edgeshift.campaign_file.spec import TicketSpec
from edgeshift.runtime.safe_text import hides
from edgeshift.runtime.secret_refs import SecretRefError
from edgeshift.stores.tickets import (
    FolderTickets,
    Ticket,
    TicketsMisconfigured,
    TicketsRefused,
    TicketsUnavailable,
    WebhookTickets,
    ticket_key,
    ticket_system,
)
from tests.service.raw_service import Hang, Request, Reset, http, raw_service

ZONE = "a" * 32


def ticket(cause: str = "too_many_rules", **changes: str) -> Ticket:
    values = {
        "key": ticket_key(ZONE, "waf", cause),
        "zone_id": ZONE,
        "zone_name": "shop.example",
        "account": "b" * 32,
        "cause": cause,
        "title": "More than 200 firewall rules\nto migrate",
        "body": "| rule | bytes |\n| --- | ---: |\n| `r1` | 4,097 |\n",
        "campaign": "spring",
    }
    return Ticket.model_validate(values | changes)


async def test_a_ticket_is_one_file_however_often_it_is_opened(tmp_path: Path) -> None:
    """Forty at once and one later, from two campaigns: one is the first, and its file stays as it was."""
    systems = [FolderTickets(tmp_path / "tickets"), FolderTickets(tmp_path / "tickets")]
    found = await asyncio.gather(*(systems[n % 2].open(ticket(campaign=f"c{n}")) for n in range(40)))
    assert [ref.created for ref in found].count(True) == 1
    path = Path(found[0].location)
    text = await asyncio.to_thread(path.read_text)
    again = await systems[0].open(ticket(body="other"))
    assert not again.created
    assert again.location == found[0].location
    assert await asyncio.to_thread(path.read_text) == text
    assert await asyncio.to_thread(os.listdir, tmp_path / "tickets") == [f"waf-too_many_rules-{ZONE}.md"]


OPENER = """
import asyncio, sys
from edgeshift.stores.tickets import FolderTickets, Ticket, ticket_key

async def run():
    system = FolderTickets(sys.argv[1])
    for number in range(10):
        zone = "%032x" % number
        ref = await system.open(Ticket(
            key=ticket_key(zone, "waf", "c"), zone_id=zone, zone_name="z", account="a", cause="c",
            title="t", body="b" * 100000, campaign="x",
        ))
        print(int(ref.created), end="")

asyncio.run(run())
"""


def test_processes_that_race_open_one_ticket(tmp_path: Path) -> None:
    """Four processes open the same ten tickets at the same time: ten files, each created once."""
    command = [sys.executable, "-c", OPENER, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    created = [process.communicate()[0].decode() for process in running]
    assert [sum(int(row[number]) for row in created) for number in range(10)] == [1] * 10
    assert len(asyncio.run(FolderTickets(tmp_path).open_tickets())) == 10


async def test_each_cause_has_a_ticket_of_its_own(tmp_path: Path) -> None:
    """Two causes of one zone are two tickets; both are read back as they were written."""
    system = FolderTickets(tmp_path)
    await system.open(ticket("too_many_rules"))
    await system.open(ticket("expression_too_long"))
    found = await system.open_tickets()
    assert [item.cause for item in found] == ["expression_too_long", "too_many_rules"]
    assert found[1] == ticket(title="More than 200 firewall rules to migrate")


async def test_a_key_never_leaves_the_folder(tmp_path: Path) -> None:
    """Keys are file names; whatever stands in zone or cause becomes one."""
    assert ticket_key("../../etc/passwd", "waf", "A b/c") == "waf-a_b_c-etc_passwd"
    with pytest.raises(ValidationError):
        ticket(key="../outside")
    with pytest.raises(TicketsMisconfigured):
        FolderTickets(tmp_path).path("../outside")


async def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file in the way: the error names it and the reason; what is no ticket is named too."""
    (tmp_path / "file").write_text("")
    with pytest.raises(TicketsUnavailable, match="file"):
        await FolderTickets(tmp_path / "file").open(ticket())
    with pytest.raises(TicketsUnavailable, match="file"):
        await FolderTickets(tmp_path / "file").check()
    (tmp_path / "notes.md").write_text("nothing of ours")
    with pytest.raises(TicketsUnavailable, match=r"notes\.md"):
        await FolderTickets(tmp_path).open_tickets()


async def test_the_webhook_gets_the_ticket_with_its_key() -> None:
    """JSON, the idempotency key and the secret go along; the ticket's address comes back."""
    answer = http(201, {"url": "/browse/EDGE-7"})
    async with raw_service(lambda request: answer) as desk:
        system = WebhookTickets(f"http://127.0.0.1:{desk.port}/hook?token=hush", secret=SecretStr("s3cret"))
        ref = await system.open(ticket())
        assert "hush" not in repr(system)
    (request,) = desk.requests
    assert request.headers["idempotency-key"] == ticket().key == ref.key
    assert request.headers["authorization"] == "Bearer s3cret"
    assert json.loads(request.body) == ticket().model_dump()
    assert ref.location == f"http://127.0.0.1:{desk.port}/browse/EDGE-7"
    assert ref.created


@pytest.mark.parametrize("place", ["http://[", "https://desk.example]/1", "//[::1"])
async def test_a_ticket_whose_address_is_none_is_there(place: str) -> None:
    """It was taken: the receiver is named in its place, and nothing is posted again."""
    for answer in (http(201, location=place), http(201, {"url": place})):
        async with raw_service(lambda request, answer=answer: answer) as desk:  # type: ignore[misc]
            ref = await WebhookTickets(f"http://127.0.0.1:{desk.port}/new").open(ticket())
        assert ref.created and ref.location == f"http://127.0.0.1:{desk.port}/new"
        assert len(desk.requests) == 1


async def test_a_ticket_that_was_there_is_found_again() -> None:
    """409 says that the receiver has a ticket of this key; sending again is safe, by the same key."""
    seen: set[str] = set()

    def desk_of_one(request: Request) -> bytes:
        known = request.headers["idempotency-key"] in seen
        seen.add(request.headers["idempotency-key"])
        return http(409 if known else 200, location="https://desk.example/1")

    async with raw_service(desk_of_one) as desk:
        system = WebhookTickets(f"http://127.0.0.1:{desk.port}/")
        assert [(await system.open(ticket())).created for _ in range(3)] == [True, False, False]


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_a_desk_in_trouble_may_be_tried_again(status: int) -> None:
    """The error names the desk and the ticket, and neither its body nor a secret."""
    async with raw_service(lambda request: http(status, "echo: " + request.body.decode())) as desk:
        system = WebhookTickets(f"http://127.0.0.1:{desk.port}/hook?token=hush", secret=SecretStr("s3cret"))
        with pytest.raises(TicketsUnavailable, match=f"{status} to ticket waf-too_many_rules") as raised:
            await system.open(ticket())
    text = str(raised.value)
    assert not any(part in text for part in ("hush", "s3cret", "4,097"))


@pytest.mark.parametrize("status", [301, 400, 401, 404])
async def test_a_desk_that_refuses_needs_a_person(status: int) -> None:
    """Other refusals are another error; a redirect is not followed with the secret."""
    async with raw_service(lambda request: http(status, location="https://elsewhere.example/")) as desk:
        with pytest.raises(TicketsRefused, match=str(status)):
            await WebhookTickets(f"http://127.0.0.1:{desk.port}/").open(ticket())


@pytest.mark.parametrize("status", [200, 201, 409])
@pytest.mark.parametrize("page", ["<!DOCTYPE html>", "\r\n <html>", "\ufeff<html>"])
async def test_a_page_is_no_word_of_the_desk(status: int, page: str) -> None:
    """A proxy or a log-in answers every request so, and nobody has a ticket: it may be tried again."""
    async with raw_service(lambda request: http(status, f"{page}<p>hush: sign in</p>")) as desk:
        with pytest.raises(TicketsUnavailable, match=f"{status} to ticket .* with a page") as raised:
            await WebhookTickets(f"http://127.0.0.1:{desk.port}/").open(ticket())
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize("answer", [Hang(), Reset(), b"nonsense\r\n\r\n"])
async def test_a_desk_that_is_not_there_may_be_tried_again(answer: bytes | Hang | Reset) -> None:
    """Silence, a reset and nonsense are one error."""
    async with raw_service(lambda request: answer) as desk:
        with pytest.raises(TicketsUnavailable, match="was not taken"):
            await WebhookTickets(f"http://127.0.0.1:{desk.port}/", limit=0.3).open(ticket())


async def test_a_webhook_that_is_kept_elsewhere_is_repeated_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its query nor its path, in no error and no location, not even where the desk repeats them."""
    key, query = "services-Zx81kd02Lq94Mn", "q8Zk20Qm41Aa55Lp81"
    asked: list[Request] = []

    def desk_that_repeats(request: Request) -> bytes:
        asked.append(request)
        answer = {"url": f"/{key}/tickets/7?key={query}"}
        return http(500, answer) if len(asked) == 1 else http(201, answer)

    async with raw_service(desk_that_repeats) as desk:
        monkeypatch.setenv("HOOK_WITH_KEY", f"http://127.0.0.1:{desk.port}/{key}?key={query}")
        system = ticket_system(TicketSpec(webhook="env:HOOK_WITH_KEY"), "unused")
        with pytest.raises(TicketsUnavailable) as raised:
            await system.open(ticket())
        found = await system.open(ticket())
    assert asked[0].path.startswith(f"/{key}")
    for text in (str(raised.value), repr(system), found.location):
        assert key not in text and query not in text


async def test_where_a_ticket_is_has_one_line() -> None:
    """A receiver could write more of them into a terminal, or its commands."""
    place = "x:\\nzone b.example: migrated\\u001b[2J" + "y" * 600
    async with raw_service(lambda request: http(201, b'{"url": "' + place.encode() + b'"}')) as desk:
        opened = await WebhookTickets(f"http://127.0.0.1:{desk.port}/").open(ticket())
    assert opened.location.startswith("x:") and len(opened.location) == 500
    assert not any(map(hides, opened.location))


async def test_a_campaign_names_its_ticket_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder by default, the named folder, or the webhook with its secret resolved."""
    default = ticket_system(TicketSpec(), tmp_path / "default")
    assert (await default.open(ticket())).location.startswith(str(tmp_path / "default"))
    named = ticket_system(TicketSpec(folder=str(tmp_path / "named")), tmp_path / "default")
    assert (await named.open(ticket())).location.startswith(str(tmp_path / "named"))
    spec = TicketSpec(webhook="https://desk.example/hook", secret="env:EDGESHIFT_TEST_DESK")
    with pytest.raises(SecretRefError, match="EDGESHIFT_TEST_DESK"):
        ticket_system(spec, tmp_path)
    monkeypatch.setenv("EDGESHIFT_TEST_DESK", "s3cret")
    assert isinstance(ticket_system(spec, tmp_path), WebhookTickets)
    assert "s3cret" not in repr(ticket_system(spec, tmp_path))
    with pytest.raises(TicketsMisconfigured, match="without user or password"):
        WebhookTickets("https://user:pw@desk.example/")
