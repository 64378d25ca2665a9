"""What lies in bytes under a wrapping: compressed parts, and text that is Base64, Base85 or hexadecimal of
such.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator

MOST = 32 * 1024 * 1024
"""Bytes that one part is unpacked to at most."""

SLICE = 64 * 1024
"""Bytes that a stream is handed at a time."""

DEEPEST = 3
"""How many wrappings one in another are opened."""

_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_GZIP = re.compile(rb"\x1f\x8b\x08")
ZSTANDARD = b"\x28\xb5\x2f\xfd"
_BASE64 = re.compile(rb"(?=((?:e[AFJN]|H4sI|KLUv)[A-Za-z0-9+/_-]{20,}))")
"""As the beginnings of compressed bytes look in Base64, wherever they stand."""

_LONG_BASE64 = re.compile(rb'"([A-Za-z0-9+/]{200,})')
"""Bytes as JSON has them, in which compressed ones may begin anywhere."""

_STANDARD = bytes.maketrans(b"-_", b"+/")
_BASE85 = re.compile(rb"(?:c[$%mw-]|ABz|D7)[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{20,}")
_HEXADECIMAL = re.compile(rb"(?:78(?:01|5e|9c|da)|1f8b08|28b52ffd)(?:[0-9a-f]{2}){12,}", re.IGNORECASE)


def unwrapped(block: bytes, depth: int = DEEPEST) -> Iterator[bytes]:
    """Everything that can be unpacked out of ``block``, and out of that, and so on."""
    if depth <= 0:
        return
    for part in (*_inflated(block), *_decoded(block)):
        yield part
        yield from unwrapped(part, depth - 1)


def _inflated(block: bytes) -> Iterator[bytes]:
    for pattern, bits in ((_ZLIB, zlib.MAX_WBITS), (_GZIP, zlib.MAX_WBITS | 16)):
        for found in pattern.finditer(block):
            try:
                part = _stream(block, found.start(), bits)
            except zlib.error:
                continue
            if part:
                yield part


def _stream(block: bytes, start: int, bits: int) -> bytes:
    """What the stream that begins there unpacks to; as far as it goes, where it has no end. Raises zlib.error
    where there is none, which most beginnings show at once: they are not handed all that follows them.
    """
    stream, view = zlib.decompressobj(bits), memoryview(block)
    parts, room = list[bytes](), MOST
    for first in range(start, len(block), SLICE):
        part = stream.decompress(view[first : first + SLICE], room)
        parts.append(part)
        room -= len(part)
        if stream.eof or room <= 0:
            break
    return b"".join(parts)


def _decoded(block: bytes) -> Iterator[bytes]:
    """Text that is compressed bytes in disguise, or may have such in it: what is not compressed is looked for
    in its own form.
    """
    for found in _BASE64.finditer(block):
        text = found.group(1)
        # What is left over of a torn end is less than a byte.
        text = text[: len(text) - (len(text) % 4 == 1)]
        whole = text + b"=" * (-len(text) % 4)
        part = base64.b64decode(whole.translate(_STANDARD))
        if _is_compressed(part):
            yield part
    for found in _LONG_BASE64.finditer(block):
        text = found.group(1)
        yield base64.b64decode(text[: len(text) - len(text) % 4])
    for found in _BASE85.finditer(block):
        try:
            part = base64.b85decode(found.group())
        except ValueError:
            continue
        if _is_compressed(part):
            yield part
    for found in _HEXADECIMAL.finditer(block):
        part = bytes.fromhex(found.group().decode())
        if _is_compressed(part):
            yield part


def _is_compressed(part: bytes) -> bool:
    return bool(_ZLIB.match(part) or _GZIP.match(part) or part.startswith(ZSTANDARD))


def is_closed(block: bytes) -> bool:
    """Whether the block is a Zstandard stream, which nothing here can open."""
    return block.startswith(ZSTANDARD)
