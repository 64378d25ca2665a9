"""The client's calls on log jobs (docs/service.md §2.3, §4.2): what is read, what is sent, what is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.redaction import MASK, destination_mask, redact_text, register_destination
from edgeshift.service_api import (
    Credential,
    InvalidIdentifier,
    LogJob,
    NotUnderstood,
    Outcome,
    Refused,
    ServiceClient,
    ServiceError,
    TimedOut,
    Unsuccessful,
)
from tests.service.client_kit import client_of
from tests.service.raw_service import RawService, envelope, http, raw_service, refusal
from tests.service.simulated import simulated

ZONE = "a" * 32
DESTINATION = (
    "s3://acme-logs/http/{DATE}?region=eu-1&access-key-id=AKIA77XYZW&secret-access-key=wJa/rX%2Bq+9z"
)
CHALLENGE = "00000000-challenge-4f3c"
OPTIONS = "fields=RayID,EdgeStartTimestamp&timestamps=rfc3339"
JOB: dict[str, Any] = {
    "id": 7,
    "name": "web.logs",
    "dataset": "http_requests",
    "destination_conf": DESTINATION,
    "logpull_options": OPTIONS,
    "ownership_challenge": CHALLENGE,
    "enabled": True,
    "frequency": "high",
    "last_complete": None,
    "last_error": "2022-10-01T00:00:00Z",
    "error_message": f"could not write to {DESTINATION} with wJa/rX+q+9z",
    "kind": "",
}
SECRETS = (DESTINATION, CHALLENGE, "AKIA77XYZW", "wJa/rX%2Bq+9z", "wJa/rX+q+9z")


def client(service: RawService, **options: Any) -> ServiceClient:
    return ServiceClient(service.base_url, Credential(token="t" * 40), pacer=Unpaced(), **options)


def untold(*texts: object) -> bool:
    """Whether none of the texts has any of the secrets."""
    return not any(secret in str(text) for text in texts for secret in SECRETS)


def challenge_below(data: Path, filename: str) -> str:
    """The challenge that the simulator put into a bucket's folder."""
    (found,) = [path for path in data.rglob("*") if path.name == Path(filename).name]
    return found.read_text().strip()


async def test_jobs_are_read_with_their_secrets_apart() -> None:
    """The values are there for who asks for them, and in no repr, dump, ``safe`` or ``raw``."""
    answer = http(200, envelope([JOB, {"id": 8, "destination_conf": "https://logs.example.com"}]))
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        first, second = await calls.log_jobs(ZONE)
        assert service.requests[0].path == f"/client/v4/zones/{ZONE}/logpush/jobs"
        assert service.requests[0].query == {}
    assert first.destination_conf is not None and first.ownership_challenge is not None
    assert first.destination_conf.get_secret_value() == DESTINATION
    assert first.ownership_challenge.get_secret_value() == CHALLENGE
    assert (first.id, first.name, first.dataset, first.enabled) == (7, "web.logs", "http_requests", True)
    assert (first.logpull_options, first.frequency, first.last_complete) == (OPTIONS, "high", None)
    assert first.error_message is not None and first.error_message.startswith("could not write to ")
    assert untold(repr(first), first, first.model_dump_json(), first.model_dump(), first.safe, first.raw)
    assert second.safe == {"id": 8, "destination_conf": "https://logs.example.com"}
    assert second.dataset is None and second.ownership_challenge is None


async def test_what_is_kept_of_a_job_is_all_but_its_secrets() -> None:
    """``safe`` has every key in its order; names and options stay to the letter even beside known secrets."""
    register_destination("https://u:RayID,EdgeStartTimestamp@logs.example.com/")
    job = LogJob.of(JOB)
    assert list(job.safe) == list(JOB)
    assert job.safe["destination_conf"] == "s3://acme-logs/…"
    assert job.safe["ownership_challenge"] == MASK
    for key in ("id", "name", "dataset", "logpull_options", "enabled", "frequency", "last_complete", "kind"):
        assert job.safe[key] == JOB[key]
    assert job.logpull_options == OPTIONS
    assert redact_text(f"it was {DESTINATION}!") == f"it was {MASK}!"
    assert redact_text("key wJa/rX+q+9z") == f"key {MASK}"


@pytest.mark.parametrize("field", ["name", "dataset", "frequency", "logpull_options", "last_complete"])
async def test_a_destination_in_another_field_is_not_taken_for_an_answer(field: str) -> None:
    """An answer with its fields mixed up is not kept, and what it holds is a secret from then on."""
    odd = f"s3://acme-logs/a?region=eu&secret-access-key=mixed-up-{field}"
    with pytest.raises(ValidationError) as refused:
        LogJob.of({**JOB, field: odd})
    assert "another field" in str(refused.value.errors(include_input=False)[0]["msg"])
    assert redact_text(f"key mixed-up-{field}!") == f"key {MASK}!"
    assert LogJob.of({**JOB, field: "https://wiki.example.com/jobs?page=7"}).id == JOB["id"]


@pytest.mark.parametrize(
    ("destination", "shown"),
    [
        (DESTINATION, "s3://acme-logs/…"),
        ("s3://acme-logs?region=eu-1", "s3://acme-logs/…"),
        ("s3://acme-logs", "s3://acme-logs"),
        ("gs://acme-logs/", "gs://acme-logs"),
        ("https://user:hunter22@logs.example.com:8443", "https://logs.example.com:8443"),
        ("https://collect.example.com/receiver/v1/http/ZaVnC4dhaV1", "https://collect.example.com/…"),
        ("splunk://splunk.example.com?header_Authorization=Basic%20Zm9v", "splunk://splunk.example.com/…"),
        ("azure://container?sv=2020&sig=abc", "azure://container/…"),
        ("just text with a key", MASK),
        ("https://[broken?key=secret", MASK),
        ("", MASK),
    ],
)
def test_a_destination_is_shown_by_scheme_and_bucket_alone(destination: str, shown: str) -> None:
    """Neither query nor user, nor the path, which some receivers know their customers by."""
    assert destination_mask(destination) == shown


def test_parts_of_a_destination_are_secrets_by_themselves() -> None:
    """What is named like a credential is masked wherever it turns up; regions and the like are not."""
    register_destination("splunk://s.example.com?channel=chan-1234&header_Authorization=Basic%20Zm9v-YmFy")
    register_destination("https://collect.example.com/receiver/v1/http/ZaVnC4dhaV1xyz789")
    text = "region chan-1234 token Zm9v-YmFy at /receiver and ZaVnC4dhaV1xyz789 of collect.example.com"
    kept = f"region chan-1234 token {MASK} at /receiver and {MASK} of collect.example.com"
    assert redact_text(text) == kept


@pytest.mark.parametrize(
    "document",
    [
        envelope({"jobs": []}),
        envelope([{"name": "no id"}]),
        envelope([{**JOB, "id": "seven"}]),
        envelope([{**JOB, "enabled": "yes"}]),
        envelope([{**JOB, "destination_conf": {"bucket": DESTINATION}}]),
        envelope([JOB], result_info={"page": 1, "total_pages": 2, "count": 1, "total_count": 2}),
        [JOB],
    ],
)
async def test_a_list_that_is_not_whole_or_not_understood_is_no_list(document: Any) -> None:
    """The error says what was expected and repeats nothing of a job."""
    async with raw_service(lambda request: http(200, document)) as service, client(service) as calls:
        with pytest.raises(NotUnderstood) as raised:
            await calls.log_jobs(ZONE)
    assert untold(raised.value, repr(raised.value))


async def test_the_log_fields_of_requests_are_known_by_their_names() -> None:
    """Whatever the service says of each; an answer that names none says nothing."""
    answers = [{"RayID": "string", "Cookies": {"kind": "object"}}, {}, ["RayID"], None]
    async with (
        raw_service(lambda request: http(200, envelope(answers.pop(0)))) as service,
        client(service) as calls,
    ):
        assert await calls.request_log_fields(ZONE) == {"RayID", "Cookies"}
        assert service.requests[0].path.endswith(f"/zones/{ZONE}/logpush/datasets/http_requests/fields")
        for _ in range(3):
            with pytest.raises(NotUnderstood, match="names of log fields"):
                await calls.request_log_fields(ZONE)


@pytest.mark.parametrize("plain", [True, False])
async def test_bodies_are_sent_as_given(plain: bool) -> None:
    """Secrets may be plain or SecretStr; each write is sent once, to its own path."""
    kept: Any = str if plain else SecretStr
    body = {"destination_conf": kept(DESTINATION), "ownership_challenge": kept(CHALLENGE), "name": "n"}
    change = {"logpull_options": "fields=RayID,Cookies", "destination_conf": kept(DESTINATION)}
    async with raw_service(lambda request: http(201, envelope(JOB))) as service, client(service) as calls:
        made = await calls.create_log_job(ZONE, body)
        changed = await calls.update_log_job(ZONE, 7, change)
        sent = [
            (one.method, one.path.partition("/logpush")[2], json.loads(one.body)) for one in service.requests
        ]
    assert made is not None and changed is not None and made.id == changed.id == 7
    assert sent == [
        ("POST", "/jobs", {"destination_conf": DESTINATION, "ownership_challenge": CHALLENGE, "name": "n"}),
        ("PUT", "/jobs/7", {"logpull_options": "fields=RayID,Cookies", "destination_conf": DESTINATION}),
    ]


@pytest.mark.parametrize(
    ("answer", "job"),
    [
        (http(200, envelope(JOB)), 7),
        (http(200, JOB), 7),
        (http(200, envelope({})), None),
        (http(200, envelope(None)), None),
        (http(200), None),
        (http(204), None),
        (http(200, "done"), None),
    ],
)
async def test_any_2xx_answers_a_write_of_a_job(answer: bytes, job: int | None) -> None:
    """What the service answers is not shown: the job where one can be read, None where none can."""
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        for found in (await calls.create_log_job(ZONE, JOB), await calls.update_log_job(ZONE, 7, {})):
            assert (found and found.id) == job


@pytest.mark.parametrize(
    "told",
    [
        f"{DESTINATION} is not a destination",
        f"body {json.dumps(JOB)}",
        f"incorrect ownership challenge '{CHALLENGE}'",
        "AKIA77XYZW may not; sign with wJa/rX+q+9z",
    ],
)
async def test_no_error_repeats_a_destination_or_a_challenge(told: str) -> None:
    """Whatever the service quotes, of any write, in a refusal, a success that is none, or a time-out."""
    destination, challenge = SecretStr(DESTINATION), SecretStr(CHALLENGE)
    body = {"destination_conf": destination, "ownership_challenge": challenge}
    answers = (http(status, refusal({"code": 1002, "message": told})) for status in (400, 200) for _ in "123")
    async with raw_service(lambda request: next(answers)) as service, client(service) as calls:
        for refused in (True, False):
            for write in (
                calls.create_log_job(ZONE, body),
                calls.update_log_job(ZONE, 7, body),
                calls.validate_ownership(ZONE, destination, challenge),
            ):
                with pytest.raises(Refused if refused else Unsuccessful) as raised:
                    await write
                failure = raised.value
                assert isinstance(failure, ServiceError)
                assert failure.codes == (1002,)
                assert failure.nothing_happened is refused
                assert untold(repr(failure), *failure.messages, *failure.unabridged)


async def test_a_destination_is_proved_by_its_challenge() -> None:
    """The answer names the file; only ``valid: true`` is a yes."""
    answers = iter(
        [
            envelope({"filename": "logs/challenge.txt", "valid": True, "message": f"put at {DESTINATION}"}),
            envelope({"valid": True}),
            envelope({"valid": False}),
            envelope({}),
        ]
    )
    async with raw_service(lambda request: http(200, next(answers))) as service, client(service) as calls:
        put = await calls.ownership_challenge(ZONE, SecretStr(DESTINATION))
        assert (put.filename, put.valid) == ("logs/challenge.txt", True)
        assert untold(repr(put), put.raw, put.model_dump_json())
        found = [
            await calls.validate_ownership(ZONE, SecretStr(DESTINATION), SecretStr(CHALLENGE))
            for _ in range(3)
        ]
        sent = [(one.path.partition("/logpush")[2], json.loads(one.body)) for one in service.requests]
    assert found == [True, False, False]
    assert sent[0] == ("/ownership", {"destination_conf": DESTINATION})
    asked = {"destination_conf": DESTINATION, "ownership_challenge": CHALLENGE}
    assert sent[1] == ("/ownership/validate", asked)


async def test_nothing_is_sent_where_an_identifier_or_the_last_word_forbids_it() -> None:
    """Zone ids, job ids from 1, and ``before_send`` of each write."""

    async def too_late() -> None:
        raise TimeoutError("too late")

    secret = SecretStr(DESTINATION)
    async with raw_service(lambda request: http(200, envelope(JOB))) as service, client(service) as calls:
        for attempt in (calls.log_jobs("zone"), calls.create_log_job("zone", {}), calls.log_job("zone", 1)):
            with pytest.raises(InvalidIdentifier, match="zone id"):
                await attempt
        for number in (0, -1):
            with pytest.raises(InvalidIdentifier, match="job id"):
                await calls.log_job(ZONE, number)
            with pytest.raises(InvalidIdentifier, match="job id"):
                await calls.update_log_job(ZONE, number, {})
        for write in (
            calls.create_log_job(ZONE, {}, before_send=too_late),
            calls.update_log_job(ZONE, 7, {}, before_send=too_late),
            calls.ownership_challenge(ZONE, secret, before_send=too_late),
            calls.validate_ownership(ZONE, secret, secret, before_send=too_late),
        ):
            with pytest.raises(TimeoutError, match="too late"):
                await write
        assert service.requests == []


async def test_a_write_that_timed_out_may_have_happened() -> None:
    """A gateway's 408: the job may be there; nothing is sent again."""
    answer = http(408, refusal({"message": f"no answer for {DESTINATION}"}))
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        with pytest.raises(TimedOut) as raised:
            await calls.create_log_job(ZONE, {"destination_conf": SecretStr(DESTINATION)})
        assert raised.value.outcome is Outcome.MAY_HAVE_HAPPENED
        assert untold(raised.value)
        assert len(service.requests) == 1


async def test_a_job_makes_a_round_trip_at_the_simulator(tmp_path: Path) -> None:
    """Challenge, validation, create, list, get, update: name, dataset and other options stay."""
    async with simulated(tmp_path) as here, client_of(here) as calls:
        zone = here.ids["enterprise"]
        assert await calls.log_jobs(zone) == []
        destination = SecretStr("s3://acme-logs/http?region=eu-1")
        put = await calls.ownership_challenge(zone, destination)
        assert put.valid is True and put.filename
        wrong = SecretStr("not-the-challenge")
        body = {
            "name": "web.logs",
            "destination_conf": destination,
            "dataset": "http_requests",
            "logpull_options": OPTIONS,
        }
        with pytest.raises(Refused) as raised:
            await calls.create_log_job(zone, {**body, "ownership_challenge": wrong})
        assert raised.value.nothing_happened and 1002 in raised.value.codes
        written = challenge_below(tmp_path, put.filename)
        assert await calls.validate_ownership(zone, destination, SecretStr(written)) is True
        made = await calls.create_log_job(zone, {**body, "ownership_challenge": SecretStr(written)})
        (listed,) = await calls.log_jobs(zone)
        assert made is not None and listed.id == made.id >= 1
        assert listed.destination_conf == destination
        options = OPTIONS.replace("RayID", "RayID,RequestHeaders")
        await calls.update_log_job(zone, listed.id, {"logpull_options": options, "enabled": True})
        found = await calls.log_job(zone, listed.id)
        assert (found.logpull_options, found.enabled) == (options, True)
        assert (found.name, found.dataset) == ("web.logs", "http_requests")
        assert found.safe["destination_conf"] == "s3://acme-logs/…"


async def test_a_zone_without_enterprise_has_no_log_jobs_at_the_simulator(tmp_path: Path) -> None:
    """The refusal is the service's; nothing happened."""
    async with simulated(tmp_path) as here, client_of(here) as calls:
        with pytest.raises(Refused) as raised:
            await calls.create_log_job(here.ids["pro"], {"destination_conf": "https://logs.example.com"})
        assert raised.value.nothing_happened and raised.value.messages
