"""Log jobs and the ownership of their destinations at the simulator (docs/service.md §2.3, §4.2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.service.logs_kit import BUCKET, JOBS, a_job, challenge_in
from tests.service.simulated import STRICT, Json, in_process

POSTED = "https://logs.example/push?header_Authorization=Basic%20c2VjcmV0&zone=1"
OWNERSHIP = "enterprise:/logpush/ownership"


async def test_a_job_needs_only_a_destination(tmp_path: Path) -> None:
    """The rest is as usual: http_requests, disabled, of high frequency; ids count up from 1."""
    async with in_process(tmp_path) as call:
        job = await call.result("POST", f"enterprise:{JOBS}", {"destination_conf": POSTED})
        assert job == {
            "id": 1,
            "dataset": "http_requests",
            "name": "",
            "enabled": False,
            "frequency": "high",
            "logpull_options": None,
            "destination_conf": POSTED,
            "last_complete": None,
            "last_error": None,
            "error_message": None,
        }
        other = {"destination_conf": POSTED, "name": "a-1.B", "dataset": "dns_logs", "frequency": "low"}
        second = await call.result("POST", f"enterprise:{JOBS}", other)
        assert (second["id"], second["name"], second["dataset"]) == (2, "a-1.B", "dns_logs")
        assert await call.result("GET", f"enterprise:{JOBS}") == [job, second]
        assert await call.result("GET", f"enterprise:{JOBS}/2") == second
        assert await call.result("GET", f"pro:{JOBS}") == []
        for missing in ("3", "0", "x", "-1", f"{1:018}77", "9" * 5000):
            await call.refused(404, "GET", f"enterprise:{JOBS}/{missing}")
        await call.refused(404, "GET", f"pro:{JOBS}/1")


async def test_an_update_takes_six_keys_and_keeps_what_is_not_sent(tmp_path: Path) -> None:
    """Name and dataset cannot be changed: passed over, or refused where the option says so."""
    async with in_process(tmp_path) as call:
        made = {"destination_conf": POSTED, "name": "mine", "logpull_options": "fields=RayID&x=1"}
        job = await call.result("POST", f"enterprise:{JOBS}", made)
        changed = await call.result("PUT", f"enterprise:{JOBS}/1", {"enabled": True})
        assert changed == {**job, "enabled": True}
        patch = {"frequency": "low", "logpull_options": "fields=RayID,Cookies&x=1"}
        assert await call.result("PUT", f"enterprise:{JOBS}/1", patch) == {**changed, **patch}
        await call.control("PUT", "options", {"bodies": {"unknown_keys": "refuse"}})
        for key, value in (("name", "other"), ("dataset", "dns_logs"), ("kind", "edge"), ("id", 1)):
            (error,) = await call.refused(400, "PUT", f"enterprise:{JOBS}/1", {key: value})
            assert error["source"] == {"pointer": f"/{key}"}
        await call.control("PUT", "options", {"bodies": {"unknown_keys": "ignore"}})
        kept = await call.result("PUT", f"enterprise:{JOBS}/1", {"name": "other", "id": 7, "enabled": False})
        assert (kept["name"], kept["enabled"]) == ("mine", False)
    async with in_process(tmp_path) as call:
        assert await call.result("GET", f"enterprise:{JOBS}/1") == kept


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "under_score"),
        ("name", "blank space"),
        ("name", 7),
        ("dataset", "http_answers"),
        ("enabled", "yes"),
        ("frequency", "medium"),
        ("logpull_options", 7),
        ("logpull_options", "fields=RayID,Nothing"),
        ("logpull_options", "fields=rayid"),
        ("logpull_options", "fields="),
        ("logpull_options", "fields=RayID,RayID"),
        ("logpull_options", "timestamps=iso"),
        ("logpull_options", "fields=RayID&fields=Cookies"),
        ("logpull_options", "sample=0"),
        ("logpull_options", "sample=1.1"),
        ("logpull_options", "sample_rate=half"),
        ("logpull_options", "?fields=rayid"),
        ("destination_conf", None),
        ("destination_conf", ""),
        ("destination_conf", 7),
        ("destination_conf", "logs/zone"),
        ("destination_conf", "ftp://logs/zone"),
        ("destination_conf", "s3://logs/zone"),
        ("destination_conf", "s3://logs/zone?region="),
        ("destination_conf", "s3:///zone?region=a"),
        ("destination_conf", "s3://logs/../zone?region=a"),
        ("destination_conf", "s3://logs/%2e%2e/zone?region=a"),
        ("destination_conf", "s3://logs//zone?region=a"),
        ("destination_conf", "gs://../zone"),
        ("destination_conf", "http://logs.example/push"),
        ("destination_conf", "https://user:word@logs.example/push"),
        ("destination_conf", "https://[half"),
        ("kind", "edge"),
    ],
)
async def test_a_wrong_job_is_refused_with_its_place(tmp_path: Path, key: str, value: Any) -> None:
    """400 with the pointer of what is wrong; nothing is stored, and no address is repeated."""
    async with in_process(tmp_path, bodies=STRICT, log_jobs={"unknown_fields": "refuse"}) as call:
        body = {"destination_conf": POSTED, key: value}
        errors = await call.refused(400, "POST", f"enterprise:{JOBS}", body)
        assert errors[0]["source"] == {"pointer": f"/{key}"}
        if key == "destination_conf" and isinstance(value, str) and value:
            assert value not in errors[0]["message"]
        assert await call.result("GET", f"enterprise:{JOBS}") == []
        await call.result("POST", f"enterprise:{JOBS}", {"destination_conf": POSTED})
        await call.refused(400, "PUT", f"enterprise:{JOBS}/1", {key: value})


@pytest.mark.parametrize("name", ["RayId", "rayid", "Ray_ID", "Nonsense"])
async def test_a_misspelt_log_field_is_taken_without_a_word(tmp_path: Path, name: str) -> None:
    """As the service does; an option has it refused (docs/service.md §4.2)."""
    async with in_process(tmp_path) as call:
        body = {"destination_conf": POSTED, "logpull_options": f"fields=RayID,{name}"}
        answer = await call("POST", f"enterprise:{JOBS}", body)
        assert (answer.status_code, answer.json()["errors"]) == (200, [])
        job = await call.result("GET", f"enterprise:{JOBS}/{answer.json()['result']['id']}")
        assert job["logpull_options"] == body["logpull_options"]
        by_name = {"output_options": {"field_names": ["RayID", name]}}
        assert (await call.result("PUT", f"enterprise:{JOBS}/{job['id']}", by_name))["output_options"]
        await call.control("PUT", "options", {"log_jobs": {"unknown_fields": "refuse"}})
        await call.refused(400, "POST", f"enterprise:{JOBS}", body)
        await call.refused(400, "PUT", f"enterprise:{JOBS}/{job['id']}", by_name)


@pytest.mark.parametrize(
    "text", ["fields=RayID,EdgeStartTimestamp&timestamps=rfc3339", "timestamps=unix&CVE-1=true", "", None]
)
async def test_pull_options_that_are_right(tmp_path: Path, text: str | None) -> None:
    """They are kept as they were sent, with parameters that the simulator does not know."""
    async with in_process(tmp_path) as call:
        body = {"destination_conf": POSTED, "logpull_options": text}
        assert (await call.result("POST", f"enterprise:{JOBS}", body))["logpull_options"] == text


async def test_log_jobs_are_for_enterprise_zones_and_for_those_who_may(tmp_path: Path) -> None:
    """Another plan is refused every write; a credential without the permission every call."""
    async with in_process(tmp_path) as call:
        body = {"destination_conf": POSTED}
        for path in ("pro:/logpush/jobs", "pro:/logpush/ownership", "pro:/logpush/ownership/validate"):
            (error,) = await call.refused(403, "POST", path, body)
            assert "Enterprise" in error["message"]
        await call.refused(403, "GET", f"enterprise:{JOBS}", by="ada-reader")
        await call.refused(403, "POST", f"enterprise:{JOBS}", body, by="ada-reader")


async def test_a_bucket_has_to_be_proven_ones_own(tmp_path: Path) -> None:
    """The challenge lies at the destination; a job is created with it, and refused with none or another."""
    async with in_process(tmp_path) as call:
        asked = await call.result("POST", OWNERSHIP, {"destination_conf": BUCKET})
        assert (asked["valid"], asked["message"]) == (True, "")
        assert asked["filename"].startswith("zone/")
        challenge = challenge_in(call, asked["filename"])
        for wrong in (None, "", "wrong", challenge[:-1], 7):
            body = {"destination_conf": BUCKET, "ownership_challenge": wrong}
            (error,) = await call.refused(400, "POST", f"enterprise:{JOBS}", body)
            assert (error["code"], error["message"]) == (1002, "incorrect ownership challenge")
            assert await call.result("POST", f"{OWNERSHIP}/validate", body) == {"valid": False}
        body = {"destination_conf": BUCKET, "ownership_challenge": challenge}
        assert await call.result("POST", f"{OWNERSHIP}/validate", body) == {"valid": True}
        assert "ownership_challenge" not in await call.result("POST", f"enterprise:{JOBS}", body)
        elsewhere = {**body, "destination_conf": "s3://logs/other?region=us-east-1"}
        assert await call.result("POST", f"{OWNERSHIP}/validate", elsewhere) == {"valid": False}
        await call.refused(400, "POST", f"enterprise:{JOBS}", elsewhere)


async def test_an_update_proves_a_new_destination_alone(tmp_path: Path) -> None:
    """Another place needs its own challenge; the same place with other parameters needs none."""
    async with in_process(tmp_path) as call:
        await a_job(call)
        other = "s3://logs/other?region=us-east-1"
        path = f"enterprise:{JOBS}/1"
        (error,) = await call.refused(400, "PUT", path, {"destination_conf": other})
        assert error["code"] == 1002
        await call.result("PUT", path, {"destination_conf": "s3://logs/zone?region=eu-west-1"})
        await call.refused(400, "PUT", path, {"enabled": False, "ownership_challenge": "wrong"})
        asked = await call.result("POST", OWNERSHIP, {"destination_conf": other})
        body = {"destination_conf": other, "ownership_challenge": challenge_in(call, asked["filename"])}
        assert (await call.result("PUT", path, body))["destination_conf"] == other


@pytest.mark.parametrize(
    "address",
    [
        POSTED,
        "datadog://intake.example/v1?header_DD-API-KEY=k",
        "splunk://collector.example:8088/raw?channel=c",
        "s3://logs/zone?region=us-east-1&endpoint=storage.example",
        "r2://logs/zone?account-id=a",
        "http://127.0.0.1:9/push",
    ],
)
async def test_some_destinations_need_no_challenge(tmp_path: Path, address: str) -> None:
    """They are taken without; a challenge asked for there has no file."""
    async with in_process(tmp_path) as call:
        body = {"destination_conf": address}
        assert await call.result("POST", OWNERSHIP, body) == {"filename": "", "valid": True, "message": ""}
        await call.result("POST", f"enterprise:{JOBS}", body)
        await call.control("PUT", "options", {"log_jobs": {"needless_challenge": "refuse"}})
        await call.refused(400, "POST", OWNERSHIP, body)


@pytest.mark.parametrize("address", ["gs://logs/zone", "azure://logs/zone?sv=1&sig=s"])
async def test_other_buckets_need_one(tmp_path: Path, address: str) -> None:
    """A bucket of another provider is proven in the same way."""
    async with in_process(tmp_path) as call:
        body = {"destination_conf": address}
        await call.refused(400, "POST", f"enterprise:{JOBS}", body)
        asked = await call.result("POST", OWNERSHIP, body)
        proof = {"ownership_challenge": challenge_in(call, asked["filename"], address)}
        await call.result("POST", f"enterprise:{JOBS}", {**body, **proof})


async def test_a_bucket_that_cannot_be_written_is_not_valid(tmp_path: Path) -> None:
    """The answer says so, in place of a file name."""
    (tmp_path / "closed").write_text("a file where a folder should be")
    async with in_process(tmp_path / "data", buckets=str(tmp_path / "closed")) as call:
        asked = await call.result("POST", OWNERSHIP, {"destination_conf": BUCKET})
        assert (asked["filename"], asked["valid"]) == ("", False)
        assert asked["message"].startswith("error writing object: ")


@pytest.mark.parametrize(("answer", "shown"), [("bare", True), ("empty", False)])
async def test_what_a_write_answers_is_a_choice(tmp_path: Path, answer: str, shown: bool) -> None:
    """A bare job or nothing, where an envelope is not known to be right; the job is there."""
    async with in_process(tmp_path, log_jobs={"answer": answer}) as call:
        said = await call("POST", f"enterprise:{JOBS}", {"destination_conf": POSTED})
        (job,) = await call.result("GET", f"enterprise:{JOBS}")
        assert said.status_code == 200
        assert (said.json() == job) if shown else (said.content == b"")


async def test_the_journal_holds_no_address_and_no_challenge(tmp_path: Path) -> None:
    """Writes of log jobs are journalled without a digest of their bodies, refused ones too."""
    async with in_process(tmp_path) as call:
        body: Json = {"destination_conf": BUCKET + "&secret-access-key=verysecret"}
        asked = await call.result("POST", OWNERSHIP, body)
        challenge = challenge_in(call, asked["filename"])
        await call.refused(400, "POST", f"enterprise:{JOBS}", {**body, "region": "verysecret"})
        await call.result("POST", f"{OWNERSHIP}/validate", {**body, "ownership_challenge": challenge})
        await call.result("POST", f"enterprise:{JOBS}", {**body, "ownership_challenge": challenge})
        await call.result("PUT", f"enterprise:{JOBS}/1", {"enabled": True})
        entries = await call.journal()
        assert [one["call"] for one in entries] == [
            "logpush.ownership",
            "logpush.jobs.create",
            "logpush.ownership.validate",
            "logpush.jobs.create",
            "logpush.jobs.update",
        ]
        assert [one["effect"] for one in entries] == ["applied", "none", "none", "applied", "applied"]
        assert all(one["body_sha256"] is None for one in entries)
        text = json.dumps(entries)
        assert "verysecret" not in text
        assert challenge not in text
        assert challenge.encode() not in (tmp_path / "simulator.sqlite3-wal").read_bytes()
