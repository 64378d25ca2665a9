"""Many small numbers and sets of indexes as short text: what continue-as-new and a workflow's input carry.
Pure.
"""

from __future__ import annotations

import base64
import zlib
from array import array
from collections.abc import Iterable


def pack(data: bytes) -> str:
    """``data`` compressed, as text that JSON has nothing to escape in."""
    return base64.b85encode(zlib.compress(data, 9)).decode()


def unpack(text: str) -> bytes:
    """What ``pack`` was given."""
    return zlib.decompress(base64.b85decode(text))


def pack_numbers(numbers: Iterable[int]) -> str:
    """Numbers from 0 to 65,535; low and high bytes apart, since most high bytes are equal."""
    listed = list(numbers)
    return pack(bytes(number & 255 for number in listed) + bytes(number >> 8 for number in listed))


def unpack_numbers(text: str) -> array[int]:
    """What ``pack_numbers`` was given."""
    data = unpack(text)
    half = len(data) // 2
    return array("H", (low | high << 8 for low, high in zip(data[:half], data[half:], strict=True)))


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
