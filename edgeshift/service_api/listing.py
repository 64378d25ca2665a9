"""Lists that come in pages (docs/service.md §2.2, observed): which page follows, when the list is whole, and
what no list of the service is. Pure.

A short list must not pass for a whole one, and no list goes on without end: whatever a page says of itself
has to fit the page.
"""

from __future__ import annotations

from typing import Any

from edgeshift.service_api.models import ResultInfo

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of all pages of a list that is held whole."""

Item = dict[str, Any]


class OddList(Exception):
    """What the pages say is not so; the text says what, and repeats nothing of them."""


def check_whole(read: int, pages: int, info: ResultInfo) -> None:
    """Raises OddList where a list is only a part: ``read`` items on so many ``pages``, where its last answer
    says that there are others. It may say neither.
    """
    if info.total_count is not None:
        if read != info.total_count:
            raise OddList(f"the list ended after {read} of {info.total_count} items")
    elif info.total_pages is not None and info.total_pages > pages:
        raise OddList(f"the list ended after {pages} of {info.total_pages} pages")


class Pages:
    """A list that is read page by page. ``per_page``: how many items are asked for. ``most``: pages.
    ``in_doubt``: whether the last page may have been all, by its size, and only the next one can tell.
    """

    def __init__(self, per_page: int, most: int) -> None:
        self._per_page, self._most = per_page, most
        self._seen: set[str] = set()
        self.number = 1
        self.ended = self.in_doubt = False

    def take(self, items: list[Item], info: ResultInfo) -> list[Item]:
        """The items of the next page that no page before had; afterwards ``ended`` tells. Raises OddList."""
        names = [str(item.get("id")) for item in items]
        uncounted = info.total_pages is None and info.total_count is None
        again = self.number == 2 and self._seen.issuperset(names)
        if again and self.in_doubt and uncounted and not info.next_cursor:
            # It is not paged, and calls all that it has its page 1, whichever is asked for.
            self.ended = True
            return []
        self._check(items, info)
        fresh = [item for item, name in zip(items, names, strict=True) if name not in self._seen]
        self._seen.update(names)
        whole = info.total_pages is not None and self.number >= info.total_pages
        # A list that says nothing of pages ends with the first one that is not full, or that repeats the one
        # before: then it is not paged at all.
        unpaged = info.total_pages is None and (not fresh or self._is_last(items, info))
        if not items or whole or unpaged:
            self._check_whole(info)
            self.ended = True
        elif not fresh:
            raise OddList(f"page {self.number} repeats what earlier pages had")
        elif self.number >= self._most:
            raise OddList(f"the list does not end within {self._most} pages")
        self.in_doubt = uncounted and len(items) < self._per_page
        self.number += 1
        return fresh

    def _is_last(self, items: list[Item], info: ResultInfo) -> bool:
        """Whether a page ends a list that does not say how many it has. A service may have room for fewer
        items in a page than it was asked for: where it says that it is a page, but not of how many, only
        the next one can tell.
        """
        if info.total_count is not None:
            return len(items) < (info.per_page or self._per_page) and len(self._seen) >= info.total_count
        if info.per_page is None and (info.page is not None or info.count is not None):
            return False
        return len(items) < (info.per_page or self._per_page)

    def _check(self, items: list[Item], info: ResultInfo) -> None:
        if len({str(item.get("id")) for item in items}) != len(items):
            raise OddList(f"page {self.number} has an item twice")
        if info.page is not None and info.page != self.number and items:
            raise OddList(f"page {self.number} says that it is another")
        if info.count is not None and info.count != len(items):
            raise OddList(f"page {self.number} has {len(items)} items, and says that it has others")
        # One that is not paged may say how long it is.
        if info.per_page is not None and not 0 <= info.per_page <= max(self._per_page, len(items)):
            raise OddList(f"page {self.number} says that it has room for more than was asked for")
        pages, total = info.total_pages, info.total_count
        if pages is None and info.next_cursor:
            raise OddList("it names its next page by a cursor, though it was asked for by its number")
        if pages is not None and (pages < 0 or pages > self._most or (pages == 0 and items)):
            raise OddList(f"it says that it has a number of pages that cannot be: at most {self._most}")
        if total is not None and not len(items) <= total <= self._most * self._per_page:
            raise OddList("it says that it has a number of items that cannot be")
        if pages is not None and total is not None and pages * (info.per_page or self._per_page) < total:
            raise OddList("it says that it has more items than its pages have room for")

    def _check_whole(self, info: ResultInfo) -> None:
        if info.total_count is not None and len(self._seen) != info.total_count:
            raise OddList(f"the list ended after {len(self._seen)} of {info.total_count} items")
