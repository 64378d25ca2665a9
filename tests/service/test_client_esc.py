"""The client's calls on ESC (docs/service.md §2.1, §3.1, §4.1): every form of answer, and no secret told."""

from __future__ import annotations

import json
import secrets
import traceback
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from edgeshift.rate_limit.pacing import Pacer
from edgeshift.rate_limit.terms import Lane
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.redaction import MASK, redact_text, register_secret
from edgeshift.service_api import (
    Credential,
    EscSetting,
    Gone,
    InvalidIdentifier,
    NotFound,
    NotUnderstood,
    Outcome,
    RateLimited,
    Refused,
    ServerError,
    ServiceClient,
    ServiceError,
    Unsuccessful,
)
from tests.service.client_kit import client_of
from tests.service.raw_service import RawService, envelope, http, raw_service, refusal
from tests.service.simulated import MovableTime, a_fleet, simulated

ZONE = f"zones/{'a' * 32}"
ACCOUNT = f"accounts/{'b' * 32}"
SECRET = 'edgeshift-7f"Q\\ä/+&e1'
REMOVED = "Edge Side Code was removed on 2024-01-01"


def client(service: RawService | str, pacer: Pacer | None = None) -> ServiceClient:
    base_url = service if isinstance(service, str) else service.base_url
    return ServiceClient(base_url, Credential(token="t" * 40), pacer=pacer or Unpaced())


async def reading(answer: bytes) -> EscSetting:
    """What the client reads from one answer."""
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        return await calls.esc(ZONE)


def setting(always: bool | None = None, secret: str | None = None) -> EscSetting:
    return EscSetting(always=always, with_secret=None if secret is None else SecretStr(secret))


READ: list[tuple[str, bytes, EscSetting]] = [
    ("the status", http(200, {"always": True}), setting(True)),
    ("ESC not disabled", http(200, {"always": False}), setting(False)),
    ("a secret", http(200, {"with_secret": SECRET}), setting(secret=SECRET)),
    ("both", http(200, {"always": True, "with_secret": SECRET}), setting(True, SECRET)),
    ("an empty secret", http(200, {"with_secret": ""}), setting()),
    ("both null", http(200, {"always": None, "with_secret": None}), setting()),
    ("in the envelope", http(200, envelope({"always": True})), setting(True)),
    ("a null result", http(200, envelope(None)), setting()),
    ("an empty result", http(200, envelope({})), setting()),
    ("an empty object", http(200, {}), setting()),
    ("null", http(200, "null"), setting()),
    ("no body", http(200), setting()),
    ("204", http(204), setting()),
    ("404 without a body", http(404), setting()),
    ("404 that says so", http(404, refusal({"message": "no setting is configured"})), setting()),
    ("404 of a scope", http(404, refusal({"message": "no setting found for zone"})), setting()),
]


@pytest.mark.parametrize(("answer", "found"), [case[1:] for case in READ], ids=[case[0] for case in READ])
async def test_every_form_of_a_setting_is_read(answer: bytes, found: EscSetting) -> None:
    """Bare or in the envelope, with both fields, either or neither, or with no body at all."""
    assert (await reading(answer)).model_dump() == found.model_dump()


NO_READING: list[tuple[str, bytes, type[ServiceError]]] = [
    ("another object", http(200, {"status": "on"}), NotUnderstood),
    ("an error in a 200", http(200, {"errors": [{"message": "no"}]}), NotUnderstood),
    ("an array", http(200, []), NotUnderstood),
    ("a word", http(200, '"true"'), NotUnderstood),
    ("a status that is a word", http(200, {"always": "true"}), NotUnderstood),
    ("a status that is a number", http(200, {"always": 1}), NotUnderstood),
    ("a page of something between", http(200, "<html>hello</html>"), NotUnderstood),
    ("an envelope without a result", http(200, {"success": True, "always": True}), NotUnderstood),
    ("an envelope that says failure", http(200, refusal({"message": "no"})), Unsuccessful),
    ("a 404 page of something between", http(404, "<html>not here</html>"), NotUnderstood),
    ("404 of another service", http(404, {"message": "no Route matched with those values"}), NotUnderstood),
    ("a path that is not known", http(404, refusal({"code": 7003, "message": "no route"})), NotFound),
    ("a zone that is gone", http(404, refusal({"code": 1001, "message": "Zone not found"})), NotFound),
    ("a zone that is gone, in words", http(404, refusal({"message": "Zone not found"})), NotFound),
    (
        "a zone that was moved",
        http(404, refusal({"message": "the zone does not exist or was moved"})),
        NotFound,
    ),
    ("an account that is gone", http(404, refusal({"message": "Could not: account not found"})), NotFound),
    ("no identifier", http(404, refusal({"message": "Invalid zone identifier"})), NotFound),
    ("404 after the removal", http(404, refusal({"message": REMOVED})), NotFound),
    ("410 after the removal", http(410, refusal({"message": REMOVED})), Gone),
    ("500", http(500, "error code: 500"), ServerError),
]


@pytest.mark.parametrize(
    ("answer", "kind"), [case[1:] for case in NO_READING], ids=[case[0] for case in NO_READING]
)
async def test_what_is_no_setting_never_passes_for_one(answer: bytes, kind: type[ServiceError]) -> None:
    """Least of all for "nothing is configured": a page, another object, the end of ESC."""
    with pytest.raises(kind) as raised:
        await reading(answer)
    assert raised.value.outcome is Outcome.READ


@pytest.mark.parametrize("status", [400, 404, 410])
async def test_the_end_of_esc_is_a_refusal_in_the_words_of_the_service(status: int) -> None:
    """Reading and writing alike; nothing came of the write."""
    answer = http(status, refusal({"message": REMOVED}))
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        for attempt in (calls.esc, calls.disable_esc, calls.enable_esc):
            with pytest.raises(Refused) as raised:
                await attempt(ZONE)
            assert raised.value.messages == (REMOVED,)
            assert raised.value.status == status
            assert raised.value.nothing_happened


@pytest.mark.parametrize(
    "answer",
    [
        http(200, {"always": True}),
        http(200, {}),
        http(200),
        http(201, "done"),
        http(204),
        http(200, "null"),
        http(200, []),
        http(200, envelope({"always": True})),
        http(200, envelope(None, errors=None, messages=None)),
    ],
)
async def test_any_2xx_answers_a_write(answer: bytes) -> None:
    """What POST and DELETE answer is not shown; each is sent once, with the body that tells which it is."""
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        await calls.set_esc_secret(ZONE, SecretStr(SECRET))
        await calls.disable_esc(ACCOUNT)
        await calls.enable_esc(ACCOUNT)
        sent = [
            (one.method, one.path, json.loads(one.body) if one.body else None) for one in service.requests
        ]
    assert sent == [
        ("POST", f"/client/v4/{ZONE}/disable_esc", {"with_secret": SECRET}),
        ("POST", f"/client/v4/{ACCOUNT}/disable_esc", {"always": True}),
        ("DELETE", f"/client/v4/{ACCOUNT}/disable_esc", None),
    ]


async def test_a_page_answers_no_write() -> None:
    """Somebody between has sent it: what the service did is not known."""
    answer = http(200, "\n<h1>It works</h1>")
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        for attempt in (calls.disable_esc, calls.enable_esc):
            with pytest.raises(NotUnderstood) as raised:
                await attempt(ZONE)
            assert not raised.value.nothing_happened


async def test_an_envelope_of_failure_is_no_success() -> None:
    """200 with ``success: false``: something may have happened, and the codes are there."""
    answer = http(200, refusal({"code": 1234, "message": "no"}))
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        for attempt in (calls.disable_esc, calls.enable_esc):
            with pytest.raises(Unsuccessful) as raised:
                await attempt(ZONE)
            assert raised.value.codes == (1234,)
            assert raised.value.outcome is Outcome.MAY_HAVE_HAPPENED


@pytest.mark.parametrize(
    "told",
    [
        SECRET,
        f"with_secret {SECRET} is not allowed",
        f"body {json.dumps({'with_secret': SECRET})}",
        f"body {json.dumps({'with_secret': SECRET}, ensure_ascii=False)}",
        f"body { ({'with_secret': SECRET})!r}",
        "cookie disable_esc=edgeshift-7f%22Q%5C%C3%A4%2F%2B%26e1",
        "long " * 816 + SECRET,
    ],
)
async def test_no_error_repeats_the_secret_that_was_sent(told: str) -> None:
    """A refusal that quotes the body, in whichever writing, is told without the secret."""
    answer = http(400, refusal({"code": 1004, "message": told}))
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        with pytest.raises(Refused) as raised:
            await calls.set_esc_secret(ZONE, SecretStr(SECRET))
    failure = raised.value
    texts = [str(failure), repr(failure), *failure.messages, *failure.unabridged]
    for text in [*texts, "".join(traceback.format_exception(failure))]:
        assert "7f" not in text
        # The folder of the project may have any name.
        assert "e1" not in text.replace(str(Path(__file__).parents[2]), "").replace("service1", "")


async def test_a_secret_that_was_read_is_masked_from_then_on() -> None:
    """Not in repr, dump or ``raw`` of the setting, nor in any text that is cleaned."""
    secret = "a customer's own 5ecret"
    found = await reading(http(200, {"with_secret": secret, "note": f"it is {secret}"}))
    assert found.with_secret is not None and found.with_secret.get_secret_value() == secret
    for text in (repr(found), str(found), found.model_dump_json(), str(found.model_dump()), str(found.raw)):
        assert "5ecret" not in text
    assert found.raw["with_secret"] == MASK
    assert redact_text(f"cookie: disable_esc={secret}") == f"cookie: disable_esc={MASK}"


@pytest.mark.parametrize(
    "scope", ["", "zones", f"zones/{'A' * 32}", f"zones/{'a' * 31}", f"users/{'a' * 32}", f"/{ZONE}", "../x"]
)
async def test_a_scope_that_is_none_is_refused_before_sending(scope: str) -> None:
    """The text says what would be right."""
    async with raw_service(lambda request: http(200, {})) as service, client(service) as calls:
        for attempt in (calls.esc, calls.disable_esc, calls.enable_esc):
            with pytest.raises(InvalidIdentifier, match=r"zones/ or accounts/ and 32"):
                await attempt(scope)
        assert service.requests == []


async def test_a_secret_has_1_to_100_characters() -> None:
    """The limit of docs/service.md §8: at it, one past it, and none at all."""
    async with raw_service(lambda request: http(200, {})) as service, client(service) as calls:
        await calls.set_esc_secret(ZONE, SecretStr("ä" * 100))
        assert json.loads(service.requests[0].body) == {"with_secret": "ä" * 100}
        for wrong in ("z" * 101, ""):
            with pytest.raises(InvalidIdentifier, match="1 to 100") as raised:
                await calls.set_esc_secret(ZONE, SecretStr(wrong))
            assert "zz" not in str(raised.value)
        assert len(service.requests) == 1


class Lanes(Unpaced):
    """A pacer that notes the lanes and lets everything pass."""

    def __init__(self) -> None:
        self.lanes: list[Lane] = []
        self.blocks: list[float] = []

    async def acquire(self, lane: Lane, credential: str = "") -> None:
        self.lanes.append(lane)

    def blocked(self, seconds: float) -> None:
        self.blocks.append(seconds)


async def test_turning_off_and_on_goes_first() -> None:
    """Both take the urgent lane by themselves, a reading or a test secret only when it is asked for."""
    lanes = Lanes()
    async with raw_service(lambda request: http(200, {})) as service, client(service, lanes) as calls:
        await calls.esc(ZONE)
        await calls.esc(ZONE, urgent=True)
        await calls.set_esc_secret(ZONE, SecretStr(SECRET))
        await calls.set_esc_secret(ZONE, SecretStr(SECRET), urgent=True)
        await calls.disable_esc(ZONE)
        await calls.enable_esc(ZONE)
        await calls.enable_esc(ZONE, urgent=False)
    normal, urgent = Lane.NORMAL, Lane.URGENT
    assert lanes.lanes == [normal, urgent, normal, urgent, urgent, urgent, normal]


async def test_a_block_is_told_to_the_pacer() -> None:
    """A 429 to any of the calls holds back every other."""
    lanes = Lanes()
    answer = http(429, refusal({"code": 10100, "message": "slow"}), retry_after="7")
    async with raw_service(lambda request: answer) as service, client(service, lanes) as calls:
        for attempt in (calls.esc, calls.disable_esc, calls.enable_esc):
            with pytest.raises(RateLimited):
                await attempt(ZONE)
    assert lanes.blocks == [7.0] * 3


async def test_what_is_raised_before_sending_keeps_a_write_from_being_sent() -> None:
    """``before_send`` is the last word, after the turn has come."""

    async def too_late() -> None:
        raise TimeoutError("too late")

    async with raw_service(lambda request: http(200, {})) as service, client(service) as calls:
        for attempt in (calls.disable_esc, calls.enable_esc):
            with pytest.raises(TimeoutError):
                await attempt(ZONE, before_send=too_late)
        with pytest.raises(TimeoutError):
            await calls.set_esc_secret(ZONE, SecretStr(SECRET), before_send=too_late)
        assert service.requests == []


async def test_the_time_of_the_service_is_what_its_last_date_said() -> None:
    """None before an answer has said it; from errors too; nonsense and silence leave it as it was."""
    dates = iter(["Sun, 31 Dec 2023 23:59:58 GMT", "someday", None, "Mon, 01 Jan 2024 01:00:00 +0100"])

    def script(request: Any) -> bytes:
        date = next(dates)
        return http(503) if date is None else http(404, **{"date": date})

    async with raw_service(script) as service, client(service) as calls:
        assert calls.service_time() is None
        times = []
        for expected in (NotUnderstood, NotUnderstood, ServerError, NotUnderstood):
            try:
                await calls.esc(ZONE)
            except ServiceError as failure:
                assert isinstance(failure, expected)
            told = calls.service_time()
            assert told is not None and told.tzinfo is not None
            times.append(told)
    before, midnight = datetime(2023, 12, 31, 23, 59, 58, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
    assert times[:3] == sorted(times[:3]) and times[0] >= before
    assert times[3] >= midnight
    assert all(time - before < timedelta(minutes=5) for time in times)


@pytest.mark.parametrize("enveloped", [False, True])
@pytest.mark.parametrize(
    ("nothing", "answers"),
    [("always_false", "echo"), ("empty", "empty"), ("null", "no_content"), ("not_found", "envelope")],
)
async def test_a_scope_is_turned_off_and_on_at_the_simulator(
    tmp_path: Path, enveloped: bool, nothing: str, answers: str
) -> None:
    """Zone and account, whatever the unknown answers are; the account's secret is not the zone's."""
    deleted = "setting" if answers == "echo" else answers
    esc = {"envelope": enveloped, "nothing_configured": nothing, "post": answers, "delete": deleted}
    esc |= {"both_configured": "both"}
    options: dict[str, Any] = {"esc_effect_seconds": 0, "esc": esc}
    async with simulated(tmp_path, time=MovableTime(), **options) as here, client_of(here) as calls:
        zone, account = f"zones/{here.ids['enterprise']}", f"accounts/{here.fleet.accounts[0].id}"
        for scope in (zone, account):
            assert not (await calls.esc(scope)).always
            assert (await calls.esc(scope)).with_secret is None
        await calls.set_esc_secret(account, SecretStr("edgeshift-of-the-account"))
        assert (await calls.esc(zone)).with_secret is None
        await calls.set_esc_secret(zone, SecretStr("edgeshift-of-the-zone"))
        await calls.disable_esc(zone)
        found = await calls.esc(zone)
        assert found.always is True and found.with_secret == SecretStr("edgeshift-of-the-zone")
        assert (await calls.esc(account)).with_secret == SecretStr("edgeshift-of-the-account")
        await calls.enable_esc(zone)
        assert not (await calls.esc(zone)).always
        assert (await calls.esc(zone)).with_secret == SecretStr("edgeshift-of-the-zone")


async def test_after_the_removal_the_simulator_refuses_every_call(tmp_path: Path) -> None:
    """A second before 2024-01-01 it answers still; the service's own time says when that is."""
    time = MovableTime()
    time.now = datetime(2023, 12, 31, 23, 59, 59, tzinfo=UTC)
    async with simulated(tmp_path, fleet=a_fleet(), time=time) as here, client_of(here) as calls:
        zone = f"zones/{here.ids['enterprise']}"
        await calls.disable_esc(zone)
        told = calls.service_time()
        assert told is not None and timedelta(0) <= told - time.now < timedelta(minutes=5)
        time.pass_by(1)
        for attempt in (calls.esc, calls.disable_esc, calls.enable_esc):
            with pytest.raises(Gone, match="removed on 2024-01-01") as raised:
                await attempt(zone)
            assert raised.value.nothing_happened
        told = calls.service_time()
        assert told is not None and told >= datetime(2024, 1, 1, tzinfo=UTC)


def test_a_refusal_that_quotes_what_was_not_sent_is_masked_too() -> None:
    """A secret that this process has come to know, whichever call it came by; but not in what a refusal is
    recognised by: any customer chooses a secret, and it may be a word of all refusals.
    """
    secret = f"own-{secrets.token_hex(12)}"
    said = f"cannot answer: with_secret is {secret}"
    refused = Refused("refused", call="esc.get", messages=(said,))
    assert secret in str(refused)
    register_secret(secret)
    refused = Refused("refused", call="esc.get", messages=(said,))
    assert all(secret not in text for text in (str(refused), repr(refused), *refused.messages))
    own = Refused("refused", call="esc.get", messages=(said,), secrets=(secret,))
    assert refused.unabridged == (said,) and secret not in "".join(own.unabridged)
