"""What log jobs deliver: entries, custom fields and batches (docs/service.md §2.3, §8)."""

from __future__ import annotations

import gzip
import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from edgeshift.testbed.simulator.edge_exchange import Headers
from edgeshift.testbed.simulator.logs.field_names import DEFAULT_FIELDS, HTTP_REQUESTS_FIELDS
from tests.kit import eventually
from tests.service.logs_kit import (
    AT,
    CUSTOM,
    ENTRY,
    JOBS,
    a_job,
    a_rule,
    an_exchange,
    collecting,
    lines,
    logged,
    objects,
)
from tests.service.simulated import Caller, Json, MovableTime, simulated


async def with_fields(call: Caller, *rules: Json) -> None:
    """Custom log fields of the Enterprise zone."""
    await call.result("PUT", f"enterprise:{ENTRY}", {"rules": list(rules)})


@pytest.mark.parametrize(
    ("timestamps", "start", "end"),
    [
        ("rfc3339", "2022-10-01T12:00:00Z", "2022-10-01T12:00:02Z"),
        ("unix", 1664625600, 1664625602),
        ("unixnano", 1664625600123456000, 1664625602123456000),
    ],
)
async def test_an_entry_has_exactly_the_fields_of_its_job(
    tmp_path: Path, timestamps: str, start: str | int, end: str | int
) -> None:
    """The fields in the order of `fields=`, and the moments as `timestamps=` says."""
    wanted: dict[str, Json] = {
        "EdgeStartTimestamp": start,
        "RayID": "0000000000000001",
        "EdgeEndTimestamp": end,
        "ClientIP": "192.0.2.7",
        "ClientRequestHost": "shop.enterprise.example",
        "ClientRequestMethod": "GET",
        "ClientRequestURI": "/basket?a=1",
        "ClientRequestPath": "/basket",
        "ClientRequestUserAgent": "tester",
        "ClientRequestReferer": "https://a.example/",
        "ClientRequestScheme": "https",
        "ClientRequestProtocol": "HTTP/1.1",
        "EdgeResponseStatus": 203,
        "EdgeResponseBytes": 42,
        "OriginResponseStatus": 200,
        "ZoneName": "enterprise.example",
        "WAFAction": "",
        "BotTags": [],
    }
    async with simulated(tmp_path) as call:
        await a_job(call, f"fields={','.join(wanted)}&timestamps={timestamps}")
        (entry,) = await logged(call, an_exchange(call.ids["enterprise"]))
        assert list(entry.items()) == list(wanted.items())


async def test_every_known_field_can_be_pushed(tmp_path: Path) -> None:
    """A job may name each field that is accepted; without `fields=` it pushes the usual ones, in
    nanoseconds."""
    every = sorted(HTTP_REQUESTS_FIELDS)
    async with simulated(tmp_path) as call:
        await a_job(call, f"fields={','.join(every)}")
        await a_job(call, None, address="gs://usual/zone")
        (entry,) = await logged(call, an_exchange(call.ids["enterprise"], ended_at=None))
        assert list(entry) == every
        (usual,) = lines(call, "gs/usual")
        assert tuple(usual) == DEFAULT_FIELDS
        assert usual["EdgeEndTimestamp"] == usual["EdgeStartTimestamp"] == 1664625600123456000


async def test_custom_fields_are_the_first_and_original_values(tmp_path: Path) -> None:
    """The first instance of a header, as the client and the origin sent it; cookies by their exact name; what
    is not there is left out."""
    request: Headers = [
        ("x-one", "1"),
        ("x-one", "2"),
        ("cookie", "Session=abc; session=def; Session=ghi; odd; empty="),
    ]
    origin: Headers = [("set-cookie", "first=1"), ("set-cookie", "second=2"), ("x-empty", "")]
    sent: Headers = [("set-cookie", "from-a-rule=1"), ("x-added", "later")]
    async with simulated(tmp_path) as call:
        await with_fields(
            call,
            a_rule(
                request_fields=["x-one", "x-absent", "cookie"], cookie_fields=["Session", "empty", "SESSION"]
            ),
            a_rule(response_fields=["set-cookie", "x-added", "x-empty"], request_fields=["x-one"]),
        )
        await a_job(call)
        exchange = an_exchange(call.ids["enterprise"], request=request, origin=origin, response_headers=sent)
        found = await logged(call, exchange)
        assert found == [
            {
                "RayID": "0000000000000001",
                "RequestHeaders": {"x-one": "1", "cookie": request[2][1]},
                "Cookies": {"Session": "abc", "empty": ""},
                "ResponseHeaders": {"set-cookie": "first=1", "x-empty": ""},
            }
        ]


async def test_only_enabled_rules_and_listed_objects_are_logged(tmp_path: Path) -> None:
    """A disabled rule logs nothing, and a job has the objects that its `fields=` lists; the rules of the
    moment of the request count."""
    async with simulated(tmp_path) as call:
        zone = call.ids["enterprise"]
        await a_job(call, "fields=RequestHeaders")
        seen = an_exchange(zone, request=[("a", "1"), ("b", "2"), ("cookie", "c=3")])
        record = call.server.state.logs.record
        record(seen)
        await with_fields(
            call,
            a_rule(request_fields=["a"], cookie_fields=["c"]),
            {**a_rule(request_fields=["b"]), "enabled": False},
        )
        record(seen)
        await with_fields(call, a_rule(request_fields=["b"]))
        record(seen)
        found = await logged(call)
        assert found == [
            {"RequestHeaders": {}},
            {"RequestHeaders": {"a": "1"}},
            {"RequestHeaders": {"b": "2"}},
        ]


@pytest.mark.parametrize(
    ("rules", "headers"), [("add_up", {"a", "b"}), ("last", {"b"}), ("first", {"a"}), ("one", None)]
)
async def test_what_several_rules_log_is_an_option(
    tmp_path: Path, rules: str, headers: set[str] | None
) -> None:
    """The fields of all enabled rules, of the last one, or of the first; or a second rule is refused."""
    one, other = a_rule(request_fields=["a"]), a_rule(request_fields=["b"])
    off = {**a_rule(request_fields=["c"]), "enabled": False}
    async with simulated(tmp_path, log_fields={"rules": rules}) as call:
        await a_job(call, "fields=RequestHeaders")
        if headers is None:
            await with_fields(call, one)
            (error,) = await call.refused(400, "PUT", f"enterprise:{ENTRY}", {"rules": [one, other]})
            assert error["source"] == {"pointer": "/rules/1"}
            return
        await with_fields(call, off, one, other, off)
        request = [("a", "1"), ("b", "2"), ("c", "3")]
        call.server.state.logs.record(an_exchange(call.ids["enterprise"], request=request))
        (found,) = await logged(call)
        assert set(found["RequestHeaders"]) == headers


def values(entry: Json) -> str:
    """All custom values of an entry, in the order of the limit."""
    return "".join("".join(entry[key].values()) for key in ("RequestHeaders", "Cookies", "ResponseHeaders"))


async def test_eight_kilobytes_are_logged_and_one_byte_more_is_cut(tmp_path: Path) -> None:
    """The limit is over all three objects: request headers first, then cookies, then response headers."""
    async with simulated(tmp_path) as call:
        await with_fields(
            call, a_rule(request_fields=["a"], cookie_fields=["C"], response_fields=["r", "s", "t"])
        )
        await a_job(call)
        full: Headers = [("a", "a" * 4000), ("cookie", f"C={'c' * 4000}")]

        def answered(size: int) -> Headers:
            return [("r", "r" * size), ("s", "s"), ("t", "t" * 9000)]

        zone = call.ids["enterprise"]
        exact, over = await logged(
            call,
            an_exchange(zone, 1, request=full, origin=[("r", "r" * 191), ("s", "s")]),
            an_exchange(zone, 2, request=full, origin=answered(192)),
        )
        assert len(values(exact)) == 8192
        assert exact["ResponseHeaders"] == {"r": "r" * 191, "s": "s"}
        assert len(values(over)) == 8192
        assert over["ResponseHeaders"] == {"r": "r" * 192, "s": "", "t": ""}
        assert over["Cookies"] == {"C": "c" * 4000}


async def test_the_limit_counts_bytes_and_splits_no_character(tmp_path: Path) -> None:
    """Values are counted in UTF-8; a character that the cut goes through is left out as a whole."""
    async with simulated(tmp_path) as call:
        await with_fields(call, a_rule(request_fields=["a", "b"]))
        await a_job(call, "fields=RequestHeaders")
        (entry,) = await logged(
            call, an_exchange(call.ids["enterprise"], request=[("a", "a" * 8191), ("b", "é")])
        )
        assert entry["RequestHeaders"] == {"a": "a" * 8191, "b": ""}
        await call.control("PUT", "options", {"log_fields": {"data_bytes": 10, "data_counts_names": True}})
        _, short = await logged(
            call, an_exchange(call.ids["enterprise"], 2, request=[("a", "é" * 4), ("b", "12345")])
        )
        assert short["RequestHeaders"] == {"a": "é" * 4, "b": ""}


async def test_carriers_without_a_value_may_be_left_out(tmp_path: Path) -> None:
    """By an option; what the service does is unknown."""
    async with simulated(tmp_path) as call:
        await with_fields(call, a_rule(request_fields=["a"], response_fields=["b"]))
        await a_job(call, "fields=RayID,RequestHeaders,ResponseHeaders")
        await call.control("PUT", "options", {"log_fields": {"empty_carriers": "left_out"}})
        (entry,) = await logged(call, an_exchange(call.ids["enterprise"], request=[("a", "1")]))
        assert entry == {"RayID": f"{1:016x}", "RequestHeaders": {"a": "1"}}


async def test_only_enabled_jobs_of_the_dataset_and_zone_push(tmp_path: Path) -> None:
    """A disabled job, another dataset and another zone's exchange leave nothing."""
    async with simulated(tmp_path) as call:
        await a_job(call, enabled=False)
        await a_job(call, "fields=RayID", dataset="dns_logs")
        assert await logged(call, an_exchange(call.ids["enterprise"])) == []
        await call.result("PUT", f"enterprise:{JOBS}/1", {"enabled": True})
        assert await logged(call, an_exchange(call.ids["pro"]), an_exchange("0" * 32)) == []
        assert len(await logged(call, an_exchange(call.ids["enterprise"]))) == 1


@pytest.mark.parametrize("name", ["sample", "sample_rate"])
async def test_a_sample_is_the_same_part_of_the_requests(name: str, tmp_path: Path) -> None:
    """`sample` leaves about that part, chosen by the ray; so does the name that `output_options` have."""
    async with simulated(tmp_path) as call:
        await a_job(call, f"fields=RayID&{name}=0.25")
        zone = call.ids["enterprise"]
        first = await logged(call, *(an_exchange(zone, number) for number in range(400)))
        assert 60 <= len(first) <= 140
        again = await logged(call, *(an_exchange(zone, number) for number in range(400)))
        assert [one["RayID"] for one in again] == [one["RayID"] for one in first] * 2


@pytest.mark.parametrize("head", ["?", "https://api.example/client/v4/zones/1/logs/received?"])
async def test_an_address_of_a_pull_says_what_is_pushed(head: str, tmp_path: Path) -> None:
    """The whole of it, or its query alone; it is answered as it was sent, and the journal has its options."""
    async with simulated(tmp_path) as call:
        made = await a_job(call, f"{head}fields=RayID&timestamps=unix")
        assert made["logpull_options"] == f"{head}fields=RayID&timestamps=unix"
        found = await logged(call, an_exchange(call.ids["enterprise"]))
        assert [list(one) for one in found] == [["RayID"]]
        (entry,) = await call.journal(call="logpush.jobs.create")
        assert entry["log_job"]["sent"]["options"] == {"fields": "RayID", "timestamps": "unix"}


async def test_batches_leave_by_time(tmp_path: Path) -> None:
    """Nothing leaves before the seconds of the option have passed, shortened by the time scale; a job of low
    frequency gathers longer. The object's name says from when to when."""
    time = MovableTime()
    async with simulated(tmp_path, time=time, log_batch_seconds=60, time_scale=2) as call:
        zone, push = call.ids["enterprise"], call.server.state.logs.push_due
        await a_job(call)
        await a_job(call, address="gs://low/zone", frequency="low")
        call.server.state.logs.record(an_exchange(zone, 1))
        call.server.state.logs.record(an_exchange(zone, 2, at=AT + timedelta(seconds=5)))
        time.pass_by(29)
        assert await push() == 0
        time.pass_by(1)
        await arrived(call, 2)
        (file,) = objects(call.server.state.logs.buckets / "s3/logs")
        assert file.parent.relative_to(call.server.state.logs.buckets).as_posix() == "s3/logs/zone/20221001"
        assert re.fullmatch(r"20221001T120000Z_20221001T120005Z_[0-9a-f]{8}\.log", file.name)
        assert lines(call, "gs/low") == []
        time.pass_by(270)
        await arrived(call, 2, "gs/low")
        job = await call.result("GET", f"enterprise:{JOBS}/1")
        assert (job["last_complete"], job["last_error"]) == ("2022-10-01T12:00:30Z", None)


async def test_batches_leave_by_number(tmp_path: Path) -> None:
    """A full batch leaves at once; the rest waits. An object has no more entries than that."""
    time = MovableTime()
    async with simulated(tmp_path, time=time, log_batch_entries=3) as call:
        await a_job(call)
        for number in range(7):
            call.server.state.logs.record(an_exchange(call.ids["enterprise"], number))
        await arrived(call, 6)
        (standing,) = (await call.control("GET", "logs"))["jobs"]
        assert (standing["queued"], standing["lost"]) == (1, 0)
        assert (await call.control("POST", "logs/flush"))["delivered"] == 1
        files = objects(call.server.state.logs.buckets)
        assert sorted(len(file.read_bytes().splitlines()) for file in files) == [1, 3, 3]


async def test_what_waits_is_delivered_when_the_simulator_ends(tmp_path: Path) -> None:
    """An orderly end pushes what was gathered; a changed folder of buckets and compression are used."""
    async with simulated(tmp_path / "data", buckets=str(tmp_path / "elsewhere"), log_gzip=True) as call:
        await a_job(call, address="s3://logs/by/{DATE}/day?region=us-east-1")
        call.server.state.logs.record(an_exchange(call.ids["enterprise"]))
    (file,) = objects(tmp_path / "elsewhere")
    assert file.relative_to(tmp_path / "elsewhere").parent.as_posix() == "s3/logs/by/20221001/day"
    assert file.name.endswith(".log.gz")
    assert json.loads(gzip.decompress(file.read_bytes()))["RayID"] == "0000000000000001"


@pytest.mark.parametrize("compressed", [False, True])
async def test_entries_are_posted_to_an_http_destination(tmp_path: Path, compressed: bool) -> None:
    """NDJSON in the body, the parameters header_NAME as headers, the others in the address."""
    with collecting() as destination:
        async with simulated(tmp_path, log_gzip=compressed) as call:
            address = f"{destination.url}/push/here?header_Authorization=Bearer%20abc&zone=1"
            await a_job(call, CUSTOM, address=address)
            zone = call.ids["enterprise"]
            await logged(call, an_exchange(zone, 1), an_exchange(zone, 2))
    ((path, headers, body),) = destination.posted
    assert path == "/push/here?zone=1"
    assert (headers["authorization"], headers["content-type"]) == ("Bearer abc", "application/x-ndjson")
    assert headers.get("content-encoding") == ("gzip" if compressed else None)
    text = gzip.decompress(body) if compressed else body
    assert [json.loads(line)["RayID"][-1] for line in text.splitlines()] == ["1", "2"]


async def test_a_failing_destination_shows_at_the_job_and_is_tried_again(tmp_path: Path) -> None:
    """The job keeps when and why; the batch arrives once with the next success, which clears both."""
    time = MovableTime()
    with collecting(503) as destination:
        async with simulated(tmp_path, time=time) as call:
            await a_job(call, address=destination.url)
            await logged(call, an_exchange(call.ids["enterprise"]))
            job = await call.result("GET", f"enterprise:{JOBS}/1")
            assert (job["last_complete"], job["last_error"]) == (None, "2022-10-01T12:00:00Z")
            assert job["error_message"] == "error posting: the destination answered 503"
            time.pass_by(30)

            async def again() -> bool:
                return len(destination.posted) == 2

            await eventually(again, what="the second attempt")
            await call.control("POST", "logs/flush")
            job = await call.result("GET", f"enterprise:{JOBS}/1")
            assert (job["last_complete"], job["error_message"]) == ("2022-10-01T12:00:30Z", None)
    assert destination.posted[0][2] == destination.posted[1][2]


async def test_a_batch_that_never_arrives_is_given_up(tmp_path: Path) -> None:
    """Five attempts fail, then its entries are counted as lost; other jobs go on."""
    async with simulated(tmp_path) as call:
        await a_job(call, address="https://logs.example/push")
        await a_job(call)
        zone = call.ids["enterprise"]
        assert len(await logged(call, an_exchange(zone))) == 1
        for _ in range(4):
            await call.control("POST", "logs/flush")
        failing, well = (await call.control("GET", "logs"))["jobs"]
        assert (failing["queued"], failing["lost"], well["lost"]) == (0, 1, 0)
        job = await call.result("GET", f"enterprise:{JOBS}/1")
        assert job["error_message"] == "the simulator posts to this machine alone"


async def arrived(call: Caller, count: int, bucket: str = "s3/logs") -> None:
    """Wait until so many entries lie in a bucket."""

    async def there() -> bool:
        return len(lines(call, bucket)) == count

    await eventually(there, what=f"{count} entries in {bucket}")
