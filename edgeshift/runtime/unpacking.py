"""Content encodings, unpacked piece by piece: never more than there is room for, whatever a peer packs."""

from __future__ import annotations

import zlib


class EncodingError(Exception):
    """A content encoding that was not asked for, or a body that does not fit its own."""


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
    found = bytearray()
    while data:
        member = zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            found += member.decompress(data, most + 1 - len(found))
        except zlib.error:
            return None
        if len(found) > most or not member.eof:
            return None
        data = member.unused_data
    return bytes(found)
