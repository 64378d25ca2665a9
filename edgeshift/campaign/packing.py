"""Many small numbers and sets of indexes as short text: what continue-as-new and a workflow's input carry.
Pure.
"""

from __future__ import annotations

import base64
import sys
import zlib
from array import array
from collections.abc import Iterable

FEW = 4_000
"""Bytes, compressed, up to which there is nothing to gain."""

LEVEL = 1
"""Of compression. A higher one takes up to twenty times as long on numbers strewn at random, and saves a few
percent; meanwhile the workflow answers nobody.
"""


def pack(data: bytes) -> str:
    """``data`` compressed, as text that JSON has nothing to escape in."""
    return base64.b85encode(_compressed(data)).decode()


def _compressed(data: bytes) -> bytes:
    """Where there is little that repeats, as in numbers strewn at random, looking for it makes it longer."""
    found = zlib.compress(data, LEVEL)
    if len(found) > FEW:
        plain = zlib.compressobj(LEVEL, strategy=zlib.Z_HUFFMAN_ONLY)
        found = min(found, plain.compress(data) + plain.flush(), key=len)
    return found


def unpack(text: str) -> bytes:
    """What ``pack`` was given."""
    return zlib.decompress(base64.b85decode(text))


def pack_numbers(numbers: Iterable[int], where: bytes | None = None) -> str:
    """Numbers from 0 to 65,535; low and high bytes apart, since most high bytes are equal. ``where``: a byte
    for each, 255 where it counts, and 0 where 0 is to take its place.
    """
    listed = array("H", numbers)
    if sys.byteorder == "big":
        listed.byteswap()
    data = listed.tobytes()
    data = data[0::2] + data[1::2]
    if where is not None:
        data = (int.from_bytes(data) & int.from_bytes(where + where)).to_bytes(len(data))
    return pack(data)


def unpack_numbers(text: str) -> array[int]:
    """What ``pack_numbers`` was given."""
    data = unpack(text)
    half = len(data) // 2
    both = bytearray(len(data))
    both[0::2], both[1::2] = data[:half], data[half:]
    found = array("H", bytes(both))
    if sys.byteorder == "big":
        found.byteswap()
    return found


def pack_bits(indexes: Iterable[int], count: int) -> str:
    """A set of indexes below ``count`` as a compressed bitmap."""
    bits = bytearray((count + 7) // 8)
    for index in indexes:
        bits[index >> 3] |= 1 << (index & 7)
    return pack(bytes(bits))


class Bits:
    """A packed set of indexes, to be asked."""

    def __init__(self, packed: str) -> None:
        self._bits = unpack(packed) if packed else b""

    def __contains__(self, index: int) -> bool:
        place = index >> 3
        return 0 <= place < len(self._bits) and bool(self._bits[place] & (1 << (index & 7)))
