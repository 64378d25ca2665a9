"""Many small numbers and sets of indexes in few bytes: what continue-as-new and a workflow's input carry.
Pure.

What takes packed bytes raises ValueError where they do not have the form.
"""

from __future__ import annotations

import base64
import binascii
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence

FEW = 4_000
"""Bytes, compressed, up to which there is nothing to gain."""

LEVEL = 1
"""Of compression. A higher one takes up to twenty times as long on numbers strewn at random, and saves a few
percent; meanwhile the workflow answers nobody.
"""

LENGTH = 4
"""Bytes that tell the length of a part."""


def pack(data: bytes) -> bytes:
    """``data`` compressed. Where there is little that repeats, as in reasons, looking for it makes it
    longer.
    """
    found = zlib.compress(data, LEVEL)
    return min(found, pack_plain(data), key=len) if len(found) > FEW else found


def pack_plain(data: bytes) -> bytes:
    """``data`` compressed by how frequent each byte is, and by runs of one byte alone: for arrays over the
    index, of which nothing else repeats. It takes a few milliseconds.
    """
    plain = zlib.compressobj(LEVEL, strategy=zlib.Z_RLE)
    return plain.compress(data) + plain.flush()


def unpack(packed: bytes) -> bytes:
    """What ``pack`` was given."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed)
    except zlib.error as failure:
        raise ValueError(f"not compressed as it should be: {failure}") from failure
    if not stream.eof or stream.unused_data:
        raise ValueError("a compressed part ends too early, or something follows it")
    return data


def pack_numbers(numbers: Iterable[int], where: bytes | None = None) -> bytes:
    """Numbers from 0 to 65,535; low and high bytes apart, since most high bytes are equal. ``where``: a byte
    for each, 255 where it counts, and 0 where 0 is to take its place.
    """
    data = _planes(array("H", numbers))
    if where is not None:
        data = (int.from_bytes(data) & int.from_bytes(where + where)).to_bytes(len(data))
    return pack_plain(data)


def unpack_numbers(packed: bytes) -> array[int]:
    """What ``pack_numbers`` was given."""
    return _from_planes(array("H"), unpack(packed))


def pack_wide(numbers: Iterable[int]) -> bytes:
    """Numbers of up to 63 bits, most of them small, also below 0. The sign is the lowest bit, so that the
    high bytes of small numbers are equal.
    """
    return pack(_planes(array("Q", [2 * one if one >= 0 else -2 * one - 1 for one in numbers])))


def unpack_wide(packed: bytes) -> list[int]:
    """What ``pack_wide`` was given."""
    return [-(one >> 1) - 1 if one & 1 else one >> 1 for one in _from_planes(array("Q"), unpack(packed))]


def _planes(numbers: array[int]) -> bytes:
    """The lowest bytes of all, then the next ones, and so on."""
    if sys.byteorder == "big":
        numbers.byteswap()
    data = numbers.tobytes()
    return b"".join(data[place :: numbers.itemsize] for place in range(numbers.itemsize))


def _from_planes(numbers: array[int], data: bytes) -> array[int]:
    each, rest = divmod(len(data), numbers.itemsize)
    if rest:
        raise ValueError(f"{len(data)} bytes are no numbers of {numbers.itemsize} bytes")
    mixed = bytearray(len(data))
    for place in range(numbers.itemsize):
        mixed[place :: numbers.itemsize] = data[place * each : (place + 1) * each]
    numbers.frombytes(bytes(mixed))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def pack_bits(indexes: Iterable[int], count: int) -> bytes:
    """A set of indexes below ``count`` as a compressed bitmap."""
    bits = bytearray((count + 7) // 8)
    for index in indexes:
        bits[index >> 3] |= 1 << (index & 7)
    return pack(bytes(bits))


class Bits:
    """A packed set of indexes, to be asked. Empty bytes are an empty set."""

    def __init__(self, packed: bytes) -> None:
        self._bits = unpack(packed) if packed else b""

    def __contains__(self, index: int) -> bool:
        place = index >> 3
        return 0 <= place < len(self._bits) and bool(self._bits[place] & (1 << (index & 7)))

    def __iter__(self) -> Iterator[int]:
        for place, byte in enumerate(self._bits):
            if byte:
                yield from (8 * place + bit for bit in range(8) if byte >> bit & 1)


def join(parts: Sequence[bytes]) -> bytes:
    """Several parts as one, each with its length in front."""
    return b"".join(len(part).to_bytes(LENGTH) + part for part in parts)


def split(joined: bytes, number: int | None = None) -> list[bytes]:
    """The parts that ``join`` was given. ``number``: how many there must be."""
    parts: list[bytes] = []
    place = 0
    while place < len(joined):
        begin = place + LENGTH
        place = begin + int.from_bytes(joined[place:begin])
        if place > len(joined) or begin > len(joined):
            raise ValueError(f"part {len(parts) + 1} is longer than what there is")
        parts.append(joined[begin:place])
    if number is not None and len(parts) != number:
        raise ValueError(f"{len(parts)} parts in place of {number}")
    return parts


def as_text(packed: bytes) -> str:
    """Packed bytes as text, for a field of a message that is JSON."""
    return base64.b64encode(packed).decode()


def of_text(text: str) -> bytes:
    """What ``as_text`` was given."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as failure:
        raise ValueError(f"not in Base64: {failure}") from failure
