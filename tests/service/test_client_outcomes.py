"""What can have come of a write that failed (docs/service.md §7): every odd answer, from a real socket."""

from __future__ import annotations

import asyncio
import gzip
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from edgeshift.rate_limit.circuit import Trouble, held
from edgeshift.rate_limit.errors import CircuitIsOpen, NoLease, TurnRefused
from edgeshift.rate_limit.terms import Lane
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import (
    Conflict,
    ConnectionLost,
    ConnectionRefused,
    Forbidden,
    GatewayError,
    Gone,
    InvalidIdentifier,
    NotFound,
    NotUnderstood,
    NoTurn,
    Outcome,
    RateLimited,
    Redirected,
    Refused,
    ServerError,
    ServiceCircuitOpen,
    ServiceError,
    TimedOut,
    Unauthorized,
    Unsuccessful,
)
from tests.service.client_kit import BODY, TOKEN, ZONE, client, failure_of_put
from tests.service.raw_service import Answer, Hang, Reset, envelope, http, raw_service, refusal

FAULT = refusal({"code": 20120, "message": "no"})

NOTHING: list[tuple[str, Answer, type[ServiceError]]] = [
    ("429 with the envelope", http(429, refusal({"code": 10100, "message": "slow down"})), RateLimited),
    ("429 without a body", http(429), RateLimited),
    ("400 with the envelope", http(400, FAULT), Refused),
    ("401 with the envelope", http(401, FAULT), Unauthorized),
    ("403 with the envelope", http(403, FAULT), Forbidden),
    ("404 with the envelope", http(404, FAULT), NotFound),
    ("404 with the envelope, without a code", http(404, {"success": False, "errors": None}), NotFound),
    ("410 with the envelope", http(410, FAULT), Gone),
    ("422 with null errors", http(422, {"success": False, "errors": None, "messages": None}), Refused),
]

MAYBE: list[tuple[str, Answer, type[ServiceError]]] = [
    ("400 without the envelope", http(400, "<html>bad</html>"), Refused),
    ("400 that says success", http(400, envelope({})), Refused),
    ("403 of something between", http(403, {"error": "blocked"}), Forbidden),
    ("a 404 page of something between", http(404, "<html>not here</html>"), NotUnderstood),
    ("404 of another service", http(404, {"message": "no Route matched with those values"}), NotUnderstood),
    ("404 that says success", http(404, envelope({})), NotUnderstood),
    ("404 without a body", http(404), NotUnderstood),
    ("408 with the envelope", http(408, FAULT), TimedOut),
    ("409 with the envelope", http(409, FAULT), Conflict),
    ("500 with the envelope", http(500, FAULT), ServerError),
    ("500 bare", http(500, "oops"), ServerError),
    ("502 bare", http(502, "<html>Bad gateway</html>"), GatewayError),
    ("504 as JSON without a code", http(504, refusal({"message": "timed out"})), GatewayError),
    ("522", http(522), GatewayError),
    ("a redirect", http(307, location="https://elsewhere.example/"), Redirected),
    ("200 that says failure", http(200, FAULT), Unsuccessful),
    ("200 that is no JSON", http(200, "<html>welcome</html>"), NotUnderstood),
    ("200 that is an array", http(200, [1]), NotUnderstood),
    ("200 without success", http(200, {"result": {}}), NotUnderstood),
    ("200 with another result", http(200, envelope("fine")), NotUnderstood),
    ("200 with rules that are none", http(200, envelope({"rules": "all"})), NotUnderstood),
    ("200 in broken gzip", http(200, b"not gzip", content_encoding="gzip"), NotUnderstood),
    ("a body that stops coming", http(200, envelope({}))[:-5], TimedOut),
    ("a body cut short", http(200, envelope({}), connection="close")[:-5], ConnectionLost),
    ("a reset connection", Reset(), ConnectionLost),
    ("no HTTP at all", b"SSH-2.0-OpenSSH_9\r\n\r\nconnection: close", ConnectionLost),
]


@pytest.mark.parametrize(("_what", "answer", "kind"), NOTHING, ids=[row[0] for row in NOTHING])
async def test_a_refusal_with_the_envelope_proves_that_nothing_happened(
    _what: str, answer: Answer, kind: type[ServiceError]
) -> None:
    """Nothing happened: 429 in any form, and other 4xx that carry the envelope."""
    failure = await failure_of_put(answer)
    assert type(failure) is kind
    assert failure.outcome is Outcome.NOTHING_HAPPENED
    assert failure.nothing_happened


@pytest.mark.parametrize(("_what", "answer", "kind"), MAYBE, ids=[row[0] for row in MAYBE])
async def test_anything_else_may_have_happened(_what: str, answer: Answer, kind: type[ServiceError]) -> None:
    """Whatever proves nothing leaves the outcome open, and the PUT is still sent only once."""
    failure = await failure_of_put(answer, request_limit=timedelta(seconds=0.5))
    assert type(failure) is kind
    assert failure.outcome is Outcome.MAY_HAVE_HAPPENED
    assert not failure.nothing_happened


async def test_silence_may_have_happened() -> None:
    """A service that reads the request and never answers: the limit ends it, the outcome is open."""
    failure = await failure_of_put(Hang(), request_limit=timedelta(seconds=1))
    assert isinstance(failure, TimedOut)
    assert failure.outcome is Outcome.MAY_HAVE_HAPPENED


async def test_the_limit_holds_for_an_answer_that_trickles() -> None:
    """Bytes that keep coming do not stretch the limit of the whole request."""

    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 X\r\ncontent-length: 100000\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.05)
        except ConnectionError:
            writer.close()

    server = await asyncio.start_server(trickle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with client(f"http://127.0.0.1:{port}/client/v4", request_limit=timedelta(seconds=0.4)) as calls:
        async with asyncio.timeout(30):
            with pytest.raises(TimedOut):
                await calls.put_entry_point(ZONE, BODY, "pending")
    server.close()


async def test_a_refused_connection_proves_that_nothing_happened() -> None:
    """Nobody listens: nothing was written, and the error says where and why."""
    async with raw_service(lambda request: b"") as service:
        base_url = service.base_url
    async with client(base_url) as calls:
        with pytest.raises(ConnectionRefused, match=r"127\.0\.0\.1:\d+ \(.+\)") as raised:
            await calls.put_entry_point(ZONE, BODY, "pending")
    assert raised.value.outcome is Outcome.NOTHING_HAPPENED


async def test_an_unknown_name_proves_that_nothing_happened() -> None:
    """A host that does not exist is a connection that was never made."""
    async with client("https://no-such-host.invalid/client/v4") as calls:
        with pytest.raises(ConnectionRefused, match=r"no-such-host\.invalid") as raised:
            await calls.put_entry_point(ZONE, BODY, "pending")
    assert raised.value.outcome is Outcome.NOTHING_HAPPENED


async def test_failed_tls_proves_that_nothing_happened() -> None:
    """A service that speaks no TLS where https is asked for gets nothing of the request."""
    got = bytearray()

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        got.extend(await reader.read(65536))
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with client(f"https://127.0.0.1:{port}/client/v4") as calls:
        with pytest.raises(ConnectionRefused, match="TLS") as raised:
            await calls.put_entry_point(ZONE, BODY, "pending")
    server.close()
    assert raised.value.outcome is Outcome.NOTHING_HAPPENED
    assert TOKEN.encode() not in got


async def test_a_read_that_failed_has_no_effect_to_speak_of() -> None:
    """Reads fail by the same names, and nothing can have happened."""
    async with raw_service(lambda request: http(502)) as service, client(service) as calls:
        with pytest.raises(GatewayError) as raised:
            await calls.waf_check(ZONE)
    assert raised.value.outcome is Outcome.READ
    assert raised.value.nothing_happened


async def test_each_write_has_a_connection_of_its_own() -> None:
    """Reads share a connection; no write begins on one that was used before, nor leaves one behind."""
    answer = http(200, envelope({"compatible": True, "rules": []}))
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        await calls.waf_check(ZONE)
        await calls.put_entry_point(ZONE, BODY, "validation")
        await calls.waf_check(ZONE)
        await calls.put_entry_point(ZONE, BODY, "pending")
    assert [request.connection for request in service.requests] == [1, 2, 1, 3]


async def test_the_put_says_what_the_specification_asks_for() -> None:
    """Path, query and body of the migrating PUT; the body is sent as it was given."""
    async with raw_service(lambda request: http(200, envelope(BODY))) as service, client(service) as calls:
        await calls.put_entry_point(ZONE, BODY, "pending")
    (request,) = service.requests
    assert request.method == "PUT"
    assert request.path == (
        f"/client/v4/zones/{ZONE}/rulesets/phases/http_request_firewall_managed/entrypoint"
    )
    assert request.query == {"waf_migration": ["pending"], "phase_two": ["1"]}
    assert httpx.Response(200, content=request.body).json() == BODY
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["user-agent"].startswith("edgeshift/")


@pytest.mark.parametrize("value", ["1", "2", "", "Pending", "validation&x=1"])
async def test_no_other_word_of_migration_is_sent(value: str) -> None:
    """Aliases and slips are refused before anything is sent."""
    async with raw_service(lambda request: http(200)) as service, client(service) as calls:
        with pytest.raises(InvalidIdentifier, match="pending or validation"):
            await calls.put_entry_point(ZONE, BODY, value)
    assert service.requests == []


@pytest.mark.parametrize("zone", ["", "A" * 32, "a" * 31, "a" * 33, "../accounts", "a" * 32 + "\n"])
async def test_a_malformed_zone_id_is_never_sent(zone: str) -> None:
    """A path is only built of what can be an identifier."""
    async with raw_service(lambda request: http(200)) as service, client(service) as calls:
        with pytest.raises(InvalidIdentifier, match="zone id"):
            await calls.waf_status(zone)
        with pytest.raises(InvalidIdentifier, match="zone id"):
            await calls.put_entry_point(zone, BODY, "pending")
    assert service.requests == []


async def test_what_before_send_raises_keeps_the_write_from_being_sent() -> None:
    """The last check comes after the turn and before the first byte."""
    turns: list[Lane] = []

    class Recording(Unpaced):
        async def acquire(self, lane: Lane, credential: str = "") -> None:
            turns.append(lane)

    async def too_late() -> None:
        assert turns == [Lane.URGENT]
        raise LookupError("the permit ran out")

    script = http(200)
    async with raw_service(lambda request: script) as service, client(service, pacer=Recording()) as calls:
        with pytest.raises(LookupError, match="the permit ran out"):
            await calls.put_entry_point(ZONE, BODY, "pending", before_send=too_late)
    assert service.requests == []


HELD = held(Trouble.OUTAGE, "waf.check: 502", datetime(2026, 3, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("refused", "said"),
    [(CircuitIsOpen(HELD), ServiceCircuitOpen), (NoLease(TimeoutError("no quota")), NoTurn)],
    ids=["calls are held", "nobody hands out slots"],
)
async def test_a_call_without_a_turn_is_not_sent(refused: TurnRefused, said: type[ServiceError]) -> None:
    """The client says so in an error of its own, which proves that nothing happened."""

    class Refusing(Unpaced):
        async def acquire(self, lane: Lane, credential: str = "") -> None:
            raise refused

    script = http(200)
    async with raw_service(lambda request: script) as service, client(service, pacer=Refusing()) as calls:
        with pytest.raises(said, match=r"502|no quota") as found:
            await calls.put_entry_point(ZONE, BODY, "pending")
    assert found.value.nothing_happened
    assert service.requests == []


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"retry_after": "17"}, 17.0),
        ({"retry_after": "Fri, 01 Jan 2038 00:00:00 GMT"}, 3600.0),
        ({"retry_after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 300.0),
        ({"retry_after": "0"}, 300.0),
        ({"retry_after": "0", "ratelimit": '"default";r=0;t=0'}, 300.0),
        ({"ratelimit": '"default";r=0;t=400'}, 400.0),
        ({"ratelimit": '"burst";r=0;t=1, "default";r=0;t=400, "other";r=9;t=900'}, 400.0),
        ({"ratelimit": '"default";r=7;t=400'}, 300.0),
        ({"retry_after": "soon"}, 300.0),
        ({}, 300.0),
    ],
)
async def test_a_block_is_told_to_the_pacer(headers: dict[str, str], told: float) -> None:
    """Retry-After is honoured in every form it has; without it the block is believed to last as assumed."""
    blocks: list[float] = []

    class Recording(Unpaced):
        def blocked(self, seconds: float) -> None:
            blocks.append(seconds)

    failure = await failure_of_put(
        http(429, refusal({"code": 10100, "message": "x"}), **headers), pacer=Recording()
    )
    assert isinstance(failure, RateLimited)
    assert failure.blocked
    assert blocks == [told]
    assert failure.retry_after == (None if told == 300.0 else told)


@pytest.mark.parametrize(("code", "told"), [(10100, 300.0), (None, 30.0)])
async def test_a_block_lasts_longer_than_the_window_of_a_limit(code: int | None, told: float) -> None:
    """That a limit has something left again in 30 seconds ends no block of five minutes; another refusal may
    end with it.
    """
    blocks: list[float] = []

    class Recording(Unpaced):
        def blocked(self, seconds: float) -> None:
            blocks.append(seconds)

    error = {"message": "x"} if code is None else {"message": "x", "code": code}
    answer = http(429, refusal(error), ratelimit='"burst";r=0;t=30, "default";r=50;t=300')
    await failure_of_put(answer, pacer=Recording())
    assert blocks == [told]


@pytest.mark.parametrize("ahead", [timedelta(minutes=-10), timedelta(0), timedelta(minutes=6)])
async def test_a_date_to_wait_for_is_told_by_the_clock_of_the_service(ahead: timedelta) -> None:
    """The worker's may be minutes ahead or behind: a block would be over at once, or last three times as long
    for everybody.
    """
    now = datetime.now(UTC) - ahead
    date, until = (f"{moment:%a, %d %b %Y %H:%M:%S} GMT" for moment in (now, now + timedelta(minutes=5)))
    failure = await failure_of_put(
        http(429, refusal({"code": 10100, "message": "x"}), date=date, retry_after=until)
    )
    assert isinstance(failure, RateLimited)
    assert failure.retry_after == 300.0


async def test_an_answer_too_large_is_not_read_to_its_end() -> None:
    """A small body that unpacks to more than 16 MB is refused by what comes out."""
    bomb = http(200, gzip.compress(b" " * (20 * 2**20)), content_encoding="gzip")
    async with raw_service(lambda request: bomb) as service, client(service) as calls:
        with pytest.raises(NotUnderstood, match="at most 16 MB"):
            await calls.waf_config(ZONE)
