"""Answers that are wrong in every way: each is an error with a name, or it is read right; nothing goes on
without end (docs/service.md §7).
"""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from activities.stable_read import MOST_LOOKS, twice
from edgeshift.areas import waf
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import Credential, NotUnderstood, ServiceClient, ServiceError, Unsuccessful
from edgeshift.service_api.documents import DEEPEST, NotADocument, document_of
from tests.harness.poison_bodies import meet
from tests.service.raw_service import Answer, Request, envelope, http, raw_service

ZONE = "a" * 32


async def test_spoilt_bodies_are_named_errors_or_read_right(tmp_path: Path) -> None:
    """A seeded hundred of them, through every call of the client and what each area makes of its answer."""
    met = await meet(1, 100, tmp_path)
    assert not met.complaints, "\n".join(met.complaints)
    assert len(met.bodies) > 20
    assert met.answers["believed"] > 10


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": 1, "a": 2}',
        b'{"a": [{"b": 1, "b": 1}]}',
        b"[NaN]",
        b"[-Infinity]",
        b"[1e999]",
        b"[9007199254740993]",
        b"[" + b"9" * 5_000 + b"]",
        b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1),
        b"[" * 100_000 + b"]" * 100_000,
        b"[" + b"0," * 1_000_001 + b"0]",
        rb'["\ud800"]',
        rb'{"\udfff": 1}',
        b'["\xff"]',
        b'["\xed\xa0\x80"]',
        '["a"]'.encode("utf-16"),
        b"",
        b"{} {}",
    ],
    ids=lambda body: repr(body[:24]),
)
def test_what_two_readers_could_read_differently_is_no_document(body: bytes) -> None:
    """Doubled keys, odd numbers, half characters, levels and values without end."""
    with pytest.raises(NotADocument):
        document_of(body)


def test_what_is_unusual_and_clear_is_a_document() -> None:
    """A byte order mark, a pair of surrogates, the deepest and the largest that is read."""
    assert document_of(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    assert document_of(rb'["\ud83d\ude00"]') == ["\U0001f600"]
    assert document_of(b"[" * DEEPEST + b"]" * DEEPEST)
    assert document_of(b"[9007199254740991, 0.5, -1]") == [2**53 - 1, 0.5, -1]


def _rule(number: int) -> dict[str, Any]:
    return {"id": f"{number:032x}"}


LISTS: dict[str, Any] = {
    "null": envelope(None),
    "no result": {"success": True, "errors": []},
    "an object": envelope({"0": _rule(0)}),
    "beside errors": envelope([], errors=[{"message": "odd"}]),
    "an item twice": envelope([_rule(1), _rule(1)]),
    "fewer than it says": envelope([_rule(1)], result_info={"total_count": 2, "total_pages": 1}),
    "more than it says": envelope([_rule(1), _rule(2)], result_info={"total_count": 1, "total_pages": 1}),
    "another page": envelope([_rule(1)], result_info={"page": 2, "total_pages": 1}),
    "no pages": envelope([_rule(1)], result_info={"total_pages": 0}),
    "a thousand million pages": envelope([_rule(1)], result_info={"total_pages": 10**9}),
    "less than no pages": envelope([_rule(1)], result_info={"total_pages": -1}),
    "room for all": envelope([_rule(1)], result_info={"per_page": 10**9}),
    "information that is none": envelope([_rule(1)], result_info=[]),
}


@pytest.mark.parametrize("what", LISTS)
async def test_a_list_that_does_not_fit_what_it_says_is_not_believed(what: str) -> None:
    """A short list of rules must never pass for a whole one."""
    answer: Answer = http(200, LISTS[what])
    async with raw_service(lambda request: answer) as service, _client(service.base_url) as client:
        with pytest.raises((NotUnderstood, Unsuccessful)):
            await client.firewall_rules(ZONE)
        assert len(service.requests) == 1


@pytest.mark.parametrize("odd", ["managed", "A" * 32, "a" * 33, "../zones"])
async def test_an_identifier_that_no_path_can_have_is_not_believed(odd: str) -> None:
    """It is the answer that is wrong then, and not what people wrote: reading again may help."""
    answer: Answer = http(200, envelope([{"id": odd, "kind": "zone", "phase": "http_log_custom_fields"}]))
    async with raw_service(lambda request: answer) as service, _client(service.base_url) as client:
        for read in (client.rulesets, client.waf_packages, client.waf_overrides):
            with pytest.raises(NotUnderstood):
                await read(ZONE)


async def test_pages_end(tmp_path: Path) -> None:
    """Also where every page has things that no page had, with page numbers or with cursors."""
    numbers = itertools.count()

    def endless(request: Request) -> Answer:
        fresh = [_rule(next(numbers)) for _ in range(100 if "page" in request.query else 1)]
        return http(200, envelope(fresh, result_info={"cursors": {"after": fresh[0]["id"]}}))

    async with raw_service(endless) as service, _client(service.base_url) as client:
        for read in (client.firewall_rules, client.rulesets):
            service.requests.clear()
            with pytest.raises(NotUnderstood):
                await read(ZONE)
            assert len(service.requests) <= 200


@pytest.mark.parametrize(
    "encoding,body",
    [
        ("gzip", gzip.compress(b"[" * 2**26, mtime=0)),
        ("gzip, gzip", gzip.compress(gzip.compress(b"[" * 2**26, mtime=0), mtime=0)),
        ("gzip", b"plain"),
        ("gzip", gzip.compress(b"{}", mtime=0)[:-4]),
        ("gzip", gzip.compress(b"{}", mtime=0) + b"more"),
        ("br", b"plain"),
        ("deflate", b"plain"),
    ],
    ids=["bomb", "bomb-in-a-bomb", "plain", "cut", "more", "brotli", "deflate"],
)
async def test_a_body_is_unpacked_as_far_as_there_is_room(encoding: str, body: bytes) -> None:
    """A small body that unpacks to a large one, and an encoding that nobody asked for."""
    answer: Answer = http(200, body, content_encoding=encoding)
    async with raw_service(lambda request: answer) as service, _client(service.base_url) as client:
        with pytest.raises(NotUnderstood):
            await client.waf_status(ZONE)
        assert service.requests[0].headers["accept-encoding"] == "gzip"


async def test_a_packed_answer_is_read() -> None:
    """As the service packs it when it is asked to."""
    packed = gzip.compress(json.dumps(envelope({"migration_state": "start"})).encode())
    answer: Answer = http(200, packed, content_encoding="gzip")
    async with raw_service(lambda request: answer) as service, _client(service.base_url) as client:
        assert (await client.waf_status(ZONE)).migration_state == "start"


async def test_what_decides_is_read_alike_twice() -> None:
    """One odd answer is not believed, and answers that never agree are an error."""
    answers = iter([1, 2, 2, 3])

    async def read() -> int:
        return next(answers)

    assert await twice("call", read) == 2
    changing = itertools.count()

    async def differ() -> int:
        return next(changing)

    with pytest.raises(ServiceError, match="otherwise"):
        await twice("call", differ)
    assert next(changing) == MOST_LOOKS


@pytest.mark.parametrize(
    "odd", [None, 7, "x", {}, [None], [7], [{"constraint": 7}], [{"constraint": {"value": 7}}]]
)
def test_page_rules_of_odd_shapes_have_no_pattern(odd: Any) -> None:
    """They come from an archive as well as from the service."""
    rule = {"status": "active", "targets": odd, "actions": odd}
    assert waf.page_rule_patterns(rule) == ()
    assert waf.page_rule_effects(rule) == ()


def _client(base_url: str) -> ServiceClient:
    return ServiceClient(base_url, Credential("t" * 40), pacer=Unpaced())
