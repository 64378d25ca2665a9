"""What is remembered of the signed statements of an archive, so that what lies there is taken apart once and
not at each look. Bounded: anybody who can write to the archive can lay things there.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from edgeshift.authority.sshsig import PublicKey
from edgeshift.authority.statements import Attested, opened
from edgeshift.stores.archive import ArchiveUnavailable

KEPT = 20_000
"""Statements that are kept, and as many that do not count."""

MOST_OF_STRANGERS = 32_000_000
"""Bytes of statements, as they lie in the archive, that are kept of keys which nobody here knows."""

LARGE = 20_000
"""Bytes of a statement that is taken apart beside what else there is to do."""

MOST_NAMED = 20
"""Statements of other campaigns that wait for being told."""

_OF_ANOTHER = "its statement is another campaign's"

Knows = Callable[[PublicKey], bool]


class Damage(NamedTuple):
    """A name whose statement cannot be read. ``key``: where the statement would lie; ``data``: what lies
    there, empty where nothing does. ``key`` is empty where the name is none that can have a statement.
    ``unread``: where nobody can say now what lies there, since it cannot be read.
    """

    name: str
    key: str
    data: bytes
    why: str
    unread: ArchiveUnavailable | None = None


class Remembered:
    """``knows``: whether a key is anybody's, by the roots as they are now; None where nobody can say.
    ``untold``: by where it lies, what was found of other campaigns, which people are to be told.
    """

    def __init__(self, knows: Knows | None = None) -> None:
        self._knows = knows
        self._said: OrderedDict[str, Attested] = OrderedDict()
        self._strangers: dict[str, int] = {}
        self._of_strangers = 0
        self._useless: OrderedDict[tuple[str, str], str | PublicKey] = OrderedDict()
        self._elsewhere: OrderedDict[str, None] = OrderedDict()
        self.untold: dict[str, Damage] = {}

    def __contains__(self, digest: str) -> bool:
        return digest in self._said

    def said(self, digest: str) -> Attested | None:
        """The statement with this digest."""
        if (said := self._said.get(digest)) is not None:
            self._said.move_to_end(digest)
        return said

    def keep(self, said: Attested, size: int, key: str, bytes_of: str) -> bool:
        """Whether a statement is kept. One is not whose key nobody knows, where there are many of those: it
        counts for nothing, and that is kept of what lies at ``key``, until somebody knows that key.
        ``bytes_of``: their digest.
        """
        if self._knows is not None and not self._knows(said.key):
            self._forget(said.digest)
            if self._of_strangers + size > MOST_OF_STRANGERS:
                self._mark(key, bytes_of, said.key)
                return False
            self._strangers[said.digest] = size
            self._of_strangers += size
        self._said[said.digest] = said
        while len(self._said) > KEPT:
            digest, _ = self._said.popitem(last=False)
            self._forget(digest)
        return True

    def _forget(self, stranger: str) -> None:
        self._of_strangers -= self._strangers.pop(stranger, 0)

    def damaged(self, key: str, bytes_of: str, why: str) -> None:
        """What lies there, these bytes, cannot be read."""
        self._mark(key, bytes_of, why)

    def _mark(self, key: str, bytes_of: str, what: str | PublicKey) -> None:
        self._useless[key, bytes_of] = what
        while len(self._useless) > KEPT:
            self._useless.popitem(last=False)

    def useless(self, key: str, bytes_of: str) -> str | None:
        """Why what lies there, these bytes, cannot be read; empty where it can, and is a stranger's that is
        not kept; None where nobody knows yet.
        """
        found = self._useless.get((key, bytes_of))
        if not isinstance(found, PublicKey):
            return found
        return None if self._knows is None or self._knows(found) else ""

    def elsewhere(self, name: str, key: str) -> None:
        """What lies there is of another campaign: as its name is its digest, it always will be."""
        self._elsewhere[key] = None
        while len(self._elsewhere) > KEPT:
            self._elsewhere.popitem(last=False)
        if len(self.untold) < MOST_NAMED:
            self.untold[key] = Damage(name, key, b"", _OF_ANOTHER)

    def is_elsewhere(self, key: str) -> bool:
        """Whether what lies there is known to be of another campaign."""
        return key in self._elsewhere


def _with_digest(data: bytes, campaign: str | None) -> Attested:
    said = opened(data, campaign)
    # It is kept with the statement, and takes as long as the rest.
    assert said.digest
    return said


async def taken_apart(data: bytes, campaign: str | None = None) -> Attested:
    """As ``opened``, beside what else there is to do where it takes a while. Raises BadStatement."""
    if len(data) > LARGE:
        return await asyncio.to_thread(_with_digest, data, campaign)
    return _with_digest(data, campaign)
