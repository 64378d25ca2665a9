"""What can have come of a write that failed (docs/service.md §7): every odd answer, from a real socket."""

from __future__ import annotations

import asyncio
import gzip
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from edgeshift.rate_limit.circuit import Trouble, held
from edgeshift.rate_limit.errors import CallsHeld, NoLease, TurnRefused
from edgeshift.rate_limit.pacing import Unpaced
from edgeshift.rate_limit.slots import Lane
from edgeshift.service_api import (
    Conflict,
    ConnectionLost,
    ConnectionRefused,
    Credential,
    Forbidden,
    GatewayError,
    Gone,
    InvalidCredential,
    InvalidIdentifier,
    Misconfigured,
    NotFound,
    NotUnderstood,
    NoTurn,
    Outcome,
    RateLimited,
    Redirected,
    Refused,
    ServerError,
    ServiceClient,
    ServiceError,
    ServiceHeld,
    TimedOut,
    Unauthorized,
    Unsuccessful,
)
from edgeshift.service_api.errors import abridged
from tests.service.raw_service import (
    Answer,
    Hang,
    RawService,
    Request,
    Reset,
    envelope,
    http,
    raw_service,
    refusal,
)

ZONE = "a" * 32
TOKEN = "secret-token-0123456789-0123456789-abcdef"
BODY = {"name": "default", "rules": [{"action": "execute", "expression": "true", "id": "", "ref": "x"}]}
EXPRESSION = 'http.host eq "shop.example" and ip.src in {10.0.0.0/8}'


def client(service: RawService | str, **options: Any) -> ServiceClient:
    base_url = service if isinstance(service, str) else service.base_url
    options.setdefault("pacer", Unpaced())
    return ServiceClient(base_url, Credential(token=TOKEN), **options)


async def failure_of_put(answer: Answer, **options: Any) -> ServiceError:
    """The error of a migrating PUT that is answered so; it was sent exactly once, whatever happened."""
    async with raw_service(lambda request: answer) as service, client(service, **options) as calls:
        with pytest.raises(ServiceError) as raised:
            await calls.put_entry_point(ZONE, BODY, "pending")
        assert len(service.requests) == 1
        return raised.value


FAULT = refusal({"code": 20120, "message": "no"})

NOTHING: list[tuple[str, Answer, type[ServiceError]]] = [
    ("429 with the envelope", http(429, refusal({"code": 10100, "message": "slow down"})), RateLimited),
    ("429 without a body", http(429), RateLimited),
    ("400 with the envelope", http(400, FAULT), Refused),
    ("401 with the envelope", http(401, FAULT), Unauthorized),
    ("403 with the envelope", http(403, FAULT), Forbidden),
    ("404 with the envelope", http(404, FAULT), NotFound),
    ("410 with the envelope", http(410, FAULT), Gone),
    ("422 with null errors", http(422, {"success": False, "errors": None, "messages": None}), Refused),
]

MAYBE: list[tuple[str, Answer, type[ServiceError]]] = [
    ("400 without the envelope", http(400, "<html>bad</html>"), Refused),
    ("400 that says success", http(400, envelope({})), Refused),
    ("403 of something between", http(403, {"error": "blocked"}), Forbidden),
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
    [(CallsHeld(HELD), ServiceHeld), (NoLease(TimeoutError("no quota")), NoTurn)],
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


async def test_errors_carry_neither_expressions_nor_secrets() -> None:
    """Texts quote neither a filter expression nor the credential; the codes and the ray are there."""
    document = refusal(
        {
            "code": 20127,
            "message": f"'{EXPRESSION}' is not a valid value for Expression because the expression is"
            f" invalid: unknown field {EXPRESSION}",
            "source": {"pointer": "/rules/0/expression"},
        },
        {"message": f"token {TOKEN} may not; {EXPRESSION} " + "long " * 500, "error_chain": [{"code": 6111}]},
    )
    failure = await failure_of_put(http(400, document, cf_ray="7f0a-FRA"))
    assert failure.codes == (20127, 6111)
    assert failure.ray == "7f0a-FRA"
    assert len(str(failure)) <= 300
    assert "is not a valid value for Expression" in str(failure)
    for text in (str(failure), repr(failure), *failure.messages):
        assert "shop.example" not in text
        assert "10.0.0.0" not in text
        assert TOKEN not in text


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("contact support: more than 200 firewall rules", "contact support: more than 200 firewall rules"),
        ("'zone' is not a valid value for kind", "'zone' is not a valid value for kind"),
        ('expression `http.host eq "a.b"` is over 4 KB', "expression `…` is over 4 KB"),
        ("filter ip.src in {10.0.0.1 10.0.0.2} and not cf.client.bot is bad", "filter …"),
        ("a" * 500, "a" * 199 + "…"),
        (f"{'x' * 1010} {TOKEN}", "x" * 199 + "…"),
    ],
)
def test_messages_are_abridged_to_what_may_be_kept(said: str, told: str) -> None:
    """Plain words stay as they are, expressions and secrets go, and nothing is longer than 200 characters."""
    assert abridged(said, (TOKEN,)) == told


@pytest.mark.parametrize("part", ["a.", "'", "(", "a.b[x]", "'a ", "not ", "a.b eq ", "{1 ", "'x'x"])
def test_hostile_messages_are_abridged_soon(part: str) -> None:
    """No message, however it repeats itself, keeps the client busy."""
    began = time.process_time()
    abridged(part * 5000)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (
            400,
            {
                "code": 6003,
                "message": "Invalid request headers",
                "error_chain": [{"code": 6111, "message": "x"}],
            },
        ),
        (400, {"code": 9103, "message": "Unknown X-Auth-Key or X-Auth-Email"}),
        (403, {"code": 9109, "message": "Invalid access token"}),
        (401, {"code": 1000, "message": "Invalid API Token"}),
        (401, {"message": "Invalid API Token"}),
    ],
)
async def test_a_bad_credential_has_a_name(status: int, error: dict[str, Any]) -> None:
    """Every way in which the service refuses a credential is InvalidCredential."""
    assert type(await failure_of_put(http(status, refusal(error)))) is InvalidCredential


@pytest.mark.parametrize("code", [9109, 10000])
async def test_a_missing_permission_is_forbidden(code: int) -> None:
    """403 without word of a bad token is a permission that is missing."""
    error = {"code": code, "message": "Unauthorized to access requested resource"}
    assert type(await failure_of_put(http(403, refusal(error)))) is Forbidden


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"retry_after": "17"}, 17.0),
        ({"retry_after": "Fri, 01 Jan 2038 00:00:00 GMT"}, 3600.0),
        ({"retry_after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"ratelimit": '"default";r=0;t=30'}, 30.0),
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


async def test_an_answer_too_large_is_not_read_to_its_end() -> None:
    """A small body that unpacks to more than 16 MB is refused by what comes out."""
    bomb = http(200, gzip.compress(b" " * (20 * 2**20)), content_encoding="gzip")
    async with raw_service(lambda request: bomb) as service, client(service) as calls:
        with pytest.raises(NotUnderstood, match="at most 16 MB"):
            await calls.waf_config(ZONE)


async def test_a_proxy_that_refuses_its_tunnel_lets_nothing_through() -> None:
    """The request never left: nothing happened; the proxy's password is in no text."""
    async with raw_service(lambda request: http(407)) as proxy:
        way = f"http://user:pass-word@127.0.0.1:{proxy.port}"
        async with client("https://api.example/client/v4", proxy=way) as calls:
            with pytest.raises(ConnectionRefused, match="proxy") as raised:
                await calls.put_entry_point(ZONE, BODY, "pending")
    assert raised.value.outcome is Outcome.NOTHING_HAPPENED
    assert "pass-word" not in f"{raised.value!r}{calls!r}"
    assert [request.method for request in proxy.requests] == ["CONNECT"]


async def test_requests_go_through_the_proxy() -> None:
    """A configured proxy carries the call."""

    def forward(request: Request) -> Answer:
        return http(200, envelope({"compatible": True}))

    async with raw_service(forward) as proxy:
        options: dict[str, Any] = {"proxy": f"http://127.0.0.1:{proxy.port}", "allow_plain_text": True}
        async with client("http://api.example/client/v4", **options) as calls:
            assert (await calls.waf_check(ZONE)).compatible is True
    assert proxy.requests[0].headers["host"] == "api.example"


@pytest.mark.parametrize(
    ("base_url", "what"),
    [
        ("ftp://api.example/client/v4", "https://HOST"),
        ("api.example/client/v4", "https://HOST"),
        ("https://user:pw@api.example/client/v4", "credential"),
        ("http://api.example/client/v4", "plain text"),
        ("https://api.example/client/v4?x=1", "https://HOST"),
    ],
)
def test_a_base_url_that_cannot_work_is_refused(base_url: str, what: str) -> None:
    """Wrong addresses, and plain text outside loopback, are refused before anything is sent."""
    with pytest.raises(Misconfigured, match=what):
        client(base_url)


def test_a_ca_file_that_cannot_work_is_named(tmp_path: Path) -> None:
    """A missing CA file and one without certificates are different mistakes."""
    (tmp_path / "empty.pem").write_text("nothing")
    with pytest.raises(Misconfigured, match=r"no file .*none\.pem"):
        client("https://api.example/client/v4", ca_file=str(tmp_path / "none.pem"))
    with pytest.raises(Misconfigured, match=r"empty\.pem is not a readable file"):
        client("https://api.example/client/v4", ca_file=str(tmp_path / "empty.pem"))


def test_a_credential_shows_nothing() -> None:
    """Neither repr nor the error of a malformed credential repeats it."""
    assert TOKEN not in repr(Credential(token=TOKEN))
    for wrong in ("", "  ", "two words", "line\nbreak-secret", "sécret"):
        with pytest.raises(Misconfigured) as raised:
            Credential(token=wrong)
        assert not wrong.strip() or wrong not in str(raised.value)
    with pytest.raises(Misconfigured, match="either a token"):
        Credential(token=TOKEN, key="k", email="a@example.org")
    assert Credential(token=f"{TOKEN}\n").headers() == {"Authorization": f"Bearer {TOKEN}"}
