"""Lists that say that they go on: a part must not pass for the whole (docs/service.md §2.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from edgeshift.service_api import OddPages, Refused, ServiceClient
from tests.service.client_kit import ZONE, client
from tests.service.raw_service import Answer, Request, envelope, http, raw_service, refusal

Info = Callable[[int, int], dict[str, Any]]


def service_of(total: int, size: int, info: Info) -> Callable[[Request], Answer]:
    """A list of so many items, ``size`` to a page whatever is asked for. ``info``: what a page says of
    itself, by its number and the items that it has.
    """
    items = [{"id": f"{one:032x}", "kind": "zone", "phase": f"p{one}"} for one in range(total)]

    def answer(request: Request) -> Answer:
        (asked,) = request.query.get("page") or request.query.get("cursor") or ["1"]
        number = int(asked.removeprefix("c"))
        page = items[(number - 1) * size : number * size]
        return http(200, envelope(page, result_info=info(number, len(page))))

    return answer


async def read(total: int, size: int, info: Info, of: Callable[[ServiceClient], Any]) -> int:
    """How many of the items the client reads."""
    async with raw_service(service_of(total, size, info)) as service, client(service) as calls:
        return len(await of(calls))


def firewall_rules(calls: ServiceClient) -> Any:
    return calls.firewall_rules(ZONE)


def rulesets(calls: ServiceClient) -> Any:
    return calls.rulesets(ZONE)


@pytest.mark.parametrize(
    "info",
    [
        lambda page, count: {"page": page, "count": count},
        lambda page, count: {"count": count},
        lambda page, count: {"page": page, "total_count": 120},
        lambda page, count: {"page": page, "per_page": 50},
        lambda page, count: {"page": page, "total_pages": 3},
    ],
)
async def test_pages_with_room_for_fewer_than_were_asked_for_are_read_to_the_end(info: Info) -> None:
    """A zone over the limit of 200 rules would be taken for one below it."""
    assert await read(120, 50, info, firewall_rules) == 120


async def test_a_list_that_says_nothing_of_pages_is_read_once() -> None:
    """It costs no call more than before."""
    async with (
        raw_service(service_of(7, 50, lambda page, count: {})) as service,
        client(service) as calls,
    ):
        assert len(await calls.firewall_rules(ZONE)) == 7
        assert len(service.requests) == 1


@pytest.mark.parametrize("info", [{"page": 1, "count": 3}, {"page": 1}, {"count": 3}])
async def test_a_list_that_calls_itself_page_1_whichever_is_asked_for_is_whole(info: dict[str, int]) -> None:
    """It is not paged, and has said nothing that is not so."""
    answer = http(200, envelope([{"id": f"{one:032x}"} for one in range(3)], result_info=info))
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        assert len(await calls.firewall_rules(ZONE)) == 3


@pytest.mark.parametrize("second", [[{"id": "f" * 32}], [{"id": f"{one:032x}"} for one in range(100)]])
async def test_a_page_that_says_that_it_is_another_ends_no_list_that_goes_on(second: list[Any]) -> None:
    """One with further items, or one that is full: what follows it nobody has seen."""
    items = [{"id": f"{one:032x}"} for one in range(3 if len(second) == 1 else 100)]

    def answer(request: Request) -> Answer:
        page = items if request.query["page"] == ["1"] else second
        return http(200, envelope(page, result_info={"page": 1, "count": len(page)}))

    async with raw_service(answer) as service, client(service) as calls:
        with pytest.raises(OddPages, match="page 2 says that it is another"):
            await calls.firewall_rules(ZONE)


async def test_a_list_that_had_a_second_page_does_not_end_with_the_first_one_again() -> None:
    """As something between may answer the third with it: the others nobody has seen."""
    items = [{"id": f"{one:032x}"} for one in range(60)]

    def answer(request: Request) -> Answer:
        number = int(request.query["page"][0]) % 3 or 1
        page = items[(number - 1) * 20 : number * 20]
        return http(200, envelope(page, result_info={"page": number, "count": len(page)}))

    async with raw_service(answer) as service, client(service) as calls:
        with pytest.raises(OddPages, match="page 3 says that it is another"):
            await calls.firewall_rules(ZONE)


BEYOND = http(400, refusal({"code": 1004, "message": "Invalid page"}))


@pytest.mark.parametrize("beyond", [BEYOND, http(404, refusal({"message": "no such page"}))])
async def test_a_list_ends_where_a_page_beyond_it_is_refused(beyond: bytes) -> None:
    """Its short page was the last one; whoever refuses every page just now has said nothing of that."""
    inner = service_of(7, 50, lambda page, count: {"page": page, "count": count})

    def answer(request: Request) -> Answer:
        return inner(request) if request.query["page"] == ["1"] else beyond

    async with raw_service(answer) as service, client(service) as calls:
        assert len(await calls.firewall_rules(ZONE)) == 7


async def test_a_page_that_is_refused_once_is_asked_for_again() -> None:
    """It was there all along: a part would have passed for the whole."""
    refusals = iter([BEYOND])
    inner = service_of(70, 50, lambda page, count: {"page": page, "count": count})

    def answer(request: Request) -> Answer:
        return inner(request) if request.query["page"] == ["1"] else next(refusals, None) or inner(request)

    async with raw_service(answer) as service, client(service) as calls:
        assert len(await calls.firewall_rules(ZONE)) == 70


@pytest.mark.parametrize(
    ("size", "beyond", "first_again"),
    [
        (100, BEYOND, True),
        (50, BEYOND, False),
        (50, http(403, refusal({"message": "not allowed"})), True),
        (50, http(404, refusal({"code": 1001, "message": "Zone not found"})), True),
        (50, http(400, "<html>"), True),
    ],
    ids=["after a full page", "every page", "not permitted", "no such zone", "of something between"],
)
async def test_a_refusal_that_is_of_no_page_ends_no_list(size: int, beyond: bytes, first_again: bool) -> None:
    """Or of one after a page that was full: a part never passes for the whole."""
    inner = service_of(120, size, lambda page, count: {"page": page, "count": count})
    asked: list[str] = []

    def answer(request: Request) -> Answer:
        first = request.query["page"] == ["1"] and (first_again or not asked)
        asked.append(request.path)
        return inner(request) if first else beyond

    async with raw_service(answer) as service, client(service) as calls:
        with pytest.raises(Refused):
            await calls.firewall_rules(ZONE)


@pytest.mark.parametrize("more", [{}, {"per_page": 50}, {"total_count": 50}])
async def test_pages_that_go_on_by_a_cursor_are_no_list_where_they_are_asked_for_by_number(
    more: dict[str, int],
) -> None:
    """Nobody knows what such a service makes of a page's number."""

    def info(page: int, count: int) -> dict[str, Any]:
        return {"cursors": {"after": f"c{page + 1}"}, **more}

    with pytest.raises(OddPages, match="cursor"):
        await read(120, 50, info, firewall_rules)


@pytest.mark.parametrize(
    "info",
    [
        lambda page, count: {"page": page, "per_page": 2, "total_pages": 3, "total_count": 5},
        lambda page, count: {"page": page, "total_pages": 3},
        lambda page, count: {"cursors": {"after": f"c{page + 1}"} if page < 3 else {}},
        lambda page, count: {"cursors": {"after": f"c{page + 1}"} if page < 3 else None, "total_count": 5},
        lambda page, count: {
            "cursors": {"after": f"c{page + 1}"} if page < 3 else {},
            "total_pages": 3,
        },
    ],
)
async def test_rulesets_are_read_to_the_end_by_numbers_or_by_cursors(info: Info) -> None:
    """Of one that is not seen, another one would be made beside it."""
    assert await read(5, 2, info, rulesets) == 5


@pytest.mark.parametrize(
    "info", [{"total_count": 3}, {"total_pages": 2}, {"page": 1, "total_pages": 1, "total_count": 3}]
)
@pytest.mark.parametrize("of", ["page_rules", "log_jobs", "rulesets"])
async def test_a_list_without_pages_that_says_that_there_is_more_is_no_list(
    of: str, info: dict[str, int]
) -> None:
    """A page rule that turns the WAF off would not be seen."""
    answer = http(200, envelope([{"id": "1" * 32 if of != "log_jobs" else 1}], result_info=info))
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        with pytest.raises(OddPages):
            await getattr(calls, of)(ZONE)


@pytest.mark.parametrize("info", [None, {}, {"count": 1}, {"total_count": 1}, {"page": 1, "total_pages": 1}])
@pytest.mark.parametrize("of", ["page_rules", "log_jobs", "rulesets"])
async def test_a_list_without_pages_may_say_nothing_or_that_it_is_whole(
    of: str, info: dict[str, int] | None
) -> None:
    """How many there are it need not say."""
    answer = http(200, envelope([{"id": "1" * 32 if of != "log_jobs" else 1}], result_info=info))
    async with raw_service(lambda request: answer) as service, client(service) as calls:
        assert len(await getattr(calls, of)(ZONE)) == 1
        assert len(service.requests) == 1
