"""Content encodings, unpacked piece by piece: never more than there is room for, whatever a peer packs."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

_GIVEN = 64 * 1024


class EncodingError(Exception):
    """A content encoding that was not asked for, or a body that does not fit its own."""


class NotWhole(Exception):
    """What is no gzip file, or not all of one, or holds more than there is room for."""


class Unpacking:
    """A body's content encoding, plain or gzip: never more is unpacked than has room. ``encoding``: the
    header. One encoding in another is none: a kilobyte of it may be gigabytes. Raises EncodingError.
    """

    def __init__(self, encoding: str) -> None:
        named = [one for part in encoding.lower().split(",") if (one := part.strip()) not in ("", "identity")]
        if named not in ([], ["gzip"], ["x-gzip"]):
            raise EncodingError
        self._gzip = zlib.decompressobj(16 + zlib.MAX_WBITS) if named else None
        self._begun = False

    def more(self, part: bytes, most: int) -> bytes:
        """What the part is, at most so many bytes of it, one at least. Raises EncodingError, or zlib's
        error.
        """
        if self._gzip is None:
            return part
        self._begun = self._begun or bool(part)
        if self._gzip.eof and part:
            raise EncodingError
        found = self._gzip.decompress(part, max(1, most))
        if self._gzip.unused_data:
            raise EncodingError
        return found

    def end(self) -> None:
        """Nothing more comes. Raises EncodingError where the body is not whole."""
        if self._gzip is not None and self._begun and not self._gzip.eof:
            raise EncodingError


def gunzipped(data: bytes, most: int) -> bytes | None:
    """What a gzip file holds, members one after the other; None where it is none, is not whole, or holds
    more bytes than ``most``.
    """
    try:
        return b"".join(gunzipped_parts(data, most, most))
    except NotWhole:
        return None


def gunzipped_parts(data: bytes, most: int, size: int) -> Iterator[bytes]:
    """As ``gunzipped``, in parts of at most ``size`` bytes. Raises NotWhole where it is none, is not whole
    or holds more, which may be known at its end only.
    """
    at = 0
    while at < len(data):
        member = zlib.decompressobj(16 + zlib.MAX_WBITS)
        while not member.eof:
            # What a member leaves of that is copied: it is given little at a time.
            given = member.unconsumed_tail
            if not given:
                given = data[at : at + _GIVEN]
                at += len(given)
            try:
                part = member.decompress(given, max(1, min(size, most + 1)))
            except zlib.error:
                raise NotWhole from None
            most -= len(part)
            if most < 0 or not (given or part or member.eof):
                raise NotWhole
            if part:
                yield part
        at -= len(member.unused_data)
