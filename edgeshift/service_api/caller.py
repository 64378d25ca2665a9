"""What every call has in common: the turn it waits for, the answer it needs, the pages it reads to the
end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from pydantic import ValidationError

from edgeshift.profiles import SPECIFICATION, ServiceProfile
from edgeshift.rate_limit.breaker import Fate
from edgeshift.rate_limit.errors import BlockedForLonger, CircuitIsOpen, NoLease, TooLate
from edgeshift.rate_limit.others import remaining_of
from edgeshift.rate_limit.pacing import Pacer
from edgeshift.rate_limit.terms import Lane
from edgeshift.service_api.credential import Credential
from edgeshift.service_api.envelope import NOT_THERE, Envelope, is_page, opened, refusal, says_nothing
from edgeshift.service_api.errors import (
    NotFound,
    NotUnderstood,
    NoTurn,
    OddPages,
    RateLimited,
    Redirected,
    Refused,
    ServerError,
    ServiceCircuitOpen,
    ServiceError,
    TimedOut,
    Unauthorized,
)
from edgeshift.service_api.listing import MOST_BYTES, OddList, Pages, check_whole
from edgeshift.service_api.made import count_call
from edgeshift.service_api.models import Answer, ResultInfo
from edgeshift.service_api.transport import MOST_CONNECTIONS, Call, Received, Transport

A = TypeVar("A", bound=Answer)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Still = Callable[[], None]
"""Asks whether a write may be sent still. What it raises keeps the write from being sent."""

BeforeSend = Callable[[], Awaitable[Still | None]]
"""Called when a write's turn has come, just before it is sent. What it raises keeps the write from being
sent. What it returns is called where it has taken so long that another turn was waited for.
"""

Again = Callable[[ServiceError, int], Awaitable[None]]
"""Called where a page of a list could not be read, with how often it was tried: returns when it is to be read
again, and raises where it is not.
"""

MOST_PAGES = 10_000
"""Of the list of all zones, which nobody holds whole."""

MOST_PAGES_HELD = 200
"""Of any other list."""

LONGEST_CURSOR = 4_000
"""Characters of the name of a page: with it, the address of the next one stays one that can be asked for."""


class Reading(Protocol[T_co]):
    """Makes a result of an answer, or raises the ServiceError that it is."""

    def __call__(self, call: Call, received: Received, *, secrets: tuple[str, ...]) -> T_co: ...


class Caller:
    """Calls one service with one credential. Use it as ``async with``, or close it by ``aclose``.

    ``pacer``: shared by everything that calls as the same user. ``assumed_block``: for how long a 429 is
    believed to refuse every call where the service does not say (docs/service.md §8, observed). ``profile``:
    what is known of the service. The other settings are those of Transport. Raises Misconfigured.
    """

    def __init__(
        self,
        base_url: str,
        credential: Credential,
        *,
        pacer: Pacer,
        proxy: str | None = None,
        ca_file: str | None = None,
        request_limit: timedelta = timedelta(seconds=30),
        assumed_block: timedelta | None = None,
        profile: ServiceProfile = SPECIFICATION,
        most_connections: int = MOST_CONNECTIONS,
        allow_plain_text: bool = False,
    ) -> None:
        self._pacer = pacer
        self._secrets = credential.secrets()
        self._credential = credential.named
        self._request_limit = request_limit.total_seconds()
        self._assumed_block = (
            assumed_block.total_seconds() if assumed_block is not None else float(profile.rate.block_seconds)
        )
        self.profile = profile
        self._transport = Transport(
            base_url,
            credential,
            proxy=proxy,
            ca_file=ca_file,
            request_limit=request_limit,
            most_connections=most_connections,
            allow_plain_text=allow_plain_text,
        )

    @property
    def base_url(self) -> str:
        """Where the service is."""
        return self._transport.base_url

    def service_time(self) -> datetime | None:
        """What time it is at the service, in UTC and to the second, by the ``Date`` of its last answer
        (docs/service.md §7, observed); None before an answer has said it.
        """
        return self._transport.service_time()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r}, {self._transport.credential!r})"

    async def aclose(self) -> None:
        """Close the connections. The pacer is others' too and stays."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _received(
        self, call: Call, *, urgent: bool | None = None, before_send: BeforeSend | None = None
    ) -> Received:
        """The answer as it came. ``urgent``: by default writes are, and reads are not."""
        lane = Lane.URGENT if (call.write if urgent is None else urgent) else Lane.NORMAL
        await self._turn(lane)
        fate, said, has_turn = Fate.NOT_MADE, "", True
        try:
            if before_send is not None:
                loop = asyncio.get_running_loop()
                began = loop.time()
                still = await before_send()
                if loop.time() - began > self._pacer.turn_lasts:
                    # Its slot is over: sent now, it would be one more of those whose slots come now.
                    has_turn = False
                    self._pacer.ended(fate, said, self._credential)
                    await self._turn(lane, self._request_limit)
                    has_turn = True
                    if still is not None:
                        still()
            sent = time.monotonic()
            count_call()
            try:
                received = await self._transport.exchange(call)
            except ServiceError as failure:
                fate, said = Fate.FAILED, f"{call.name}: {failure.what}"
                raise
            if not call.limited_apart and (limits := remaining_of(received.headers)) is not None:
                self._pacer.told(limits, time.monotonic() - sent)
            fate, said = self._fate(call, received)
            return received
        finally:
            if has_turn:
                self._pacer.ended(fate, said, self._credential)

    async def _turn(self, lane: Lane, within: float | None = None) -> None:
        """Wait until the call may be made, for at most ``within`` seconds. Raises ServiceCircuitOpen and
        NoTurn; then nothing was sent.
        """
        try:
            async with asyncio.timeout(within):
                await self._pacer.acquire(lane, self._credential)
        except TimeoutError:
            raise NoTurn(TooLate()) from None
        except CircuitIsOpen as held:
            raise ServiceCircuitOpen(held.hold) from held
        except NoLease as refused:
            raise NoTurn(refused.why) from refused
        except (TooLate, BlockedForLonger) as late:
            raise NoTurn(late) from late

    def _fate(self, call: Call, received: Received) -> tuple[Fate, str]:
        """Whether it was the service that answered, and whether it takes the credential."""
        if 200 <= received.status < 300:
            if not is_page(received.body):
                return Fate.ANSWERED, ""
            return (
                Fate.FAILED,
                f"{call.name}: {received.status}, expected a JSON object with success and result",
            )
        failure = refusal(call, received, received.document, secrets=self._secrets)
        if isinstance(failure, Unauthorized):
            return Fate.REFUSED, failure.answer
        failed = isinstance(failure, ServerError | TimedOut | Redirected | NotUnderstood)
        # A scope in which nothing is configured is no outage, however many of them there are.
        failed = failed and not says_nothing(received)
        return (Fate.FAILED, f"{call.name}: {failure.what}") if failed else (Fate.ANSWERED, "")

    async def _envelope(
        self, call: Call, *, urgent: bool | None = None, before_send: BeforeSend | None = None
    ) -> Envelope:
        return await self._exchanged(call, opened, urgent=urgent, before_send=before_send)

    async def _exchanged(
        self,
        call: Call,
        reading: Reading[T],
        *,
        urgent: bool | None = None,
        before_send: BeforeSend | None = None,
    ) -> T:
        """What ``reading`` makes of the call's answer."""
        received = await self._received(call, urgent=urgent, before_send=before_send)
        try:
            return reading(call, received, secrets=self._secrets)
        except RateLimited as refused:
            self._hold_back(refused)
            raise
        except Unauthorized as refused:
            refused.credential = self._credential
            raise

    def _hold_back(self, refused: RateLimited) -> None:
        self._pacer.blocked(refused.holds_for(self._assumed_block))

    async def _one(
        self, call: Call, kind: type[A], *, urgent: bool | None = None, before_send: BeforeSend | None = None
    ) -> A:
        """The call's result as a model. Raises NotUnderstood where it is not one."""
        envelope = await self._envelope(call, urgent=urgent, before_send=before_send)
        return self._read(call, kind, envelope.result)

    async def _many(self, call: Call, kind: type[A], *, urgent: bool | None = None) -> list[A]:
        """The call's result, an array that is not paged, as models. Raises OddPages where the answer says
        that there is more.
        """
        envelope = await self._envelope(call, urgent=urgent)
        found = [self._read(call, kind, item) for item in self._array(call, envelope.result)]
        info = self._info(call, envelope)
        if info.next_cursor:
            raise call.failed(OddPages, "the list is not paged, and names a next page")
        self._check_whole(call, len(found), 1, info)
        return found

    async def _pages(self, call: Call, kind: type[A], *, per_page: int, urgent: bool = False) -> list[A]:
        """Every item of a paged list, each once; raises what ``_paged`` raises."""
        pages = self._paged(call, kind, per_page=per_page, urgent=urgent, most=MOST_PAGES_HELD)
        return [item async for item in pages]

    async def _paged(
        self,
        call: Call,
        kind: type[A],
        *,
        per_page: int,
        urgent: bool = False,
        most: int = MOST_PAGES,
        again: Again | None = None,
    ) -> AsyncIterator[A]:
        """The items of a paged list, each once, read page by page. ``again``: without it, the first page that
        fails ends the list.

        Raises NotUnderstood where what the pages say of themselves does not fit them, or where there are more
        than ``most``.
        """
        pages, size = Pages(per_page, most), 0
        while not pages.ended:
            envelope = await self._next(call, pages, per_page, urgent, again)
            if envelope is None:
                return
            size += envelope.size
            if most <= MOST_PAGES_HELD and size > MOST_BYTES:
                raise self._not_understood(call, f"the list has more than {MOST_BYTES // 2**20} MB")
            items = self._array(call, envelope.result)
            try:
                fresh = pages.take(items, self._info(call, envelope))
            except OddList as why:
                raise call.failed(OddPages, str(why)) from None
            for item in fresh:
                yield self._read(call, kind, item)

    async def _next(
        self, call: Call, pages: Pages, per_page: int, urgent: bool, again: Again | None
    ) -> Envelope | None:
        """The page that follows. None where the last one may have been all, and the service refuses a page
        beyond it: before and after it answers the first one, so that it is no refusal of any page.
        """
        first, paged = (
            _with_params(call, {"page": str(number), "per_page": str(per_page)})
            for number in (1, pages.number)
        )
        try:
            return await self._page(paged, urgent, again, pages.in_doubt)
        except Refused as refused:
            if not (pages.in_doubt and _of_the_page(refused)):
                raise
        await self._page(first, urgent, again)
        try:
            return await self._page(paged, urgent, again, pages.in_doubt)
        except Refused as refused:
            if not _of_the_page(refused):
                raise
            return None

    async def _page(
        self, call: Call, urgent: bool, again: Again | None, may_be_beyond: bool = False
    ) -> Envelope:
        tried = 0
        while True:
            try:
                return await self._envelope(call, urgent=urgent)
            except ServiceError as failure:
                if again is None or (may_be_beyond and _of_the_page(failure)):
                    raise
                tried += 1
                await again(failure, tried)

    async def _cursored(self, call: Call, kind: type[A], *, urgent: bool = False) -> list[A]:
        """Every item of a list whose pages name the next one by a cursor, or have numbers, or of one that is
        not paged. Raises OddPages where it ends before it says that it does.
        """
        found: list[A] = []
        seen: set[str] = set()
        more: dict[str, str] = {}
        size = 0
        while True:
            paged = _with_params(call, more)
            envelope = await self._envelope(paged, urgent=urgent)
            found += [self._read(call, kind, item) for item in self._array(call, envelope.result)]
            size += envelope.size
            info = self._info(call, envelope)
            cursor = info.next_cursor
            if cursor is None and info.page is not None and info.page < (info.total_pages or 0):
                # The pages of this list have numbers, as those of others.
                if more and info.page != int(more.get("page", "0")):
                    raise call.failed(OddPages, "the list answers another page than it was asked for")
                more = {"page": str(info.page + 1)}
                cursor = more["page"]
            elif cursor is None:
                self._check_whole(call, len(found), len(seen) + 1, info)
                return found
            else:
                more = {"cursor": cursor}
            if cursor in seen:
                raise self._not_understood(call, "the list names a cursor that it named before")
            if len(cursor) > LONGEST_CURSOR:
                raise self._not_understood(call, f"the list names a cursor of {len(cursor)} characters")
            seen.add(cursor)
            if len(seen) >= MOST_PAGES_HELD or size > MOST_BYTES:
                raise self._not_understood(call, f"the list does not end within {len(seen)} pages")

    def _check_whole(self, call: Call, read: int, pages: int, info: ResultInfo) -> None:
        try:
            check_whole(read, pages, info)
        except OddList as why:
            raise call.failed(OddPages, str(why)) from None

    def _info(self, call: Call, envelope: Envelope) -> ResultInfo:
        """What an answer says of its place in a list; nothing where it says nothing."""
        return ResultInfo() if envelope.info is None else self._read(call, ResultInfo, envelope.info)

    def _array(self, call: Call, result: Any) -> list[Any]:
        if not isinstance(result, list) or not all(isinstance(item, dict) for item in result):
            raise self._not_understood(call, "expected result to be an array of objects")
        return result

    def _read(self, call: Call, kind: type[A], result: Any) -> A:
        try:
            return kind.of(result)
        except ValidationError as why:
            first = why.errors(include_input=False, include_url=False, include_context=False)[0]
            at = ".".join(("result", *map(str, first["loc"])))
            raise self._not_understood(
                call, f"expected {kind.__name__}, but at {at}: {first['msg'].lower()}"
            ) from None

    def _not_understood(self, call: Call, what: str) -> Exception:
        return call.failed(NotUnderstood, what)


def _of_the_page(failure: ServiceError) -> bool:
    """Whether the service itself refuses something, which may be that there is no such page."""
    return type(failure) in (Refused, NotFound) and failure.refused and not NOT_THERE & set(failure.codes)


def _with_params(call: Call, more: Mapping[str, str]) -> Call:
    return replace(call, params={**(call.params or {}), **more})
