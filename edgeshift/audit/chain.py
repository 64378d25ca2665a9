"""The lines of an audit file, each chained to the one before it. Pure: files are read and written only.

A line is canonical JSON (RFC 8785) of ``data``, ``kind``, ``n`` (its number from 0) and ``prev`` (the SHA-256
of the line before it, without its end), so that there is one way to write it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, BinaryIO, Literal

from pydantic import Field

from edgeshift.authority.statements import Moment, Signable
from edgeshift.messages.base import By
from edgeshift.model.digests import NotCanonical, canonical_bytes, sha256
from edgeshift.model.sign_off import Digest

FORMAT = 1
BEFORE_ALL = "0" * 64
"""What the first line has in the place of the digest of a line before it."""

LONGEST = 64 * 1024 * 1024
"""Bytes of a line at most."""


class Kind(StrEnum):
    """What a line is, in the order in which they stand (docs/audit.md has the fields of each)."""

    HEADER = "header"
    SPEC = "spec"
    TARGETS = "targets"
    TARGET = "target"
    SIGNED = "signed"
    BODY = "body"
    REQUEST = "request"
    ANSWER = "answer"
    CAMPAIGN = "campaign"
    OUTCOME = "outcome"
    ODD = "odd"
    SEAL = "seal"


class SealStatement(Signable):
    """What whoever exports a file signs of it: that it has ``count`` lines before its seal, and the digest of
    the last of these. Signed as statements are, and none of them (``authority/statements``).
    """

    edgeshift: Literal[1] = 1
    kind: Literal["seal"] = "seal"
    campaign: str
    by: By
    at: Moment
    count: Annotated[int, Field(ge=1)]
    head: Digest


class NoAudit(ValueError):
    """What is no audit file, or one of another format. The text says which."""


class Broken(ValueError):
    """A file that was changed. ``line``: at which line that shows, from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


class ChainWriter:
    """Writes lines. ``count``: how many there are; ``head``: the digest of the last."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.count = 0
        self.head = BEFORE_ALL

    def add(self, kind: Kind, data: bytes) -> None:
        """Write a line. ``data``: its canonical JSON."""
        line = line_of(kind, data, self.count, self.head)
        self._out.write(line + b"\n")
        self.count += 1
        self.head = sha256(line)


def line_of(kind: str, data: bytes, number: int, before: str) -> bytes:
    """A line without its end. The names of its fields are in their canonical order."""
    end = f'"kind":{json.dumps(kind)},"n":{number},"prev":"{before}"}}'
    return b'{"data":' + data + b"," + end.encode()


@dataclass(frozen=True)
class Line:
    """A line that was read. ``number``: from 1, as an editor counts them. ``before``: what it is chained
    to.
    """

    number: int
    kind: Kind
    data: dict[str, Any]
    before: str


def lines_of(file: BinaryIO) -> Iterator[Line]:
    """The lines of a file, each known to be whole and in its place before it is given. What the last one lets
    be changed, and that there is a seal, is for the reader to ask. Raises NoAudit, Broken.
    """
    before, number = BEFORE_ALL, 0
    while raw := file.readline(LONGEST + 2):
        number += 1
        if not raw.endswith(b"\n"):
            why = "it is longer than a line may be" if len(raw) > LONGEST else "its end is missing"
            if number == 1:
                raise NoAudit("it is no audit file")
            raise Broken(number, why)
        line = _line(number, raw[:-1], before)
        before = sha256(raw[:-1])
        yield line
    if not number:
        raise NoAudit("it is empty")


def _line(number: int, raw: bytes, before: str) -> Line:
    try:
        found = json.loads(raw)
        kind, data = found["kind"], found["data"]
        # Whatever equals a whole number, such as 4.0, is another line; the seal has nobody's digest after it.
        if not isinstance(kind, str) or type(found["n"]) is not int:
            raise TypeError
        written = line_of(kind, canonical_bytes(data), found["n"], found["prev"])
    except (ValueError, KeyError, TypeError, RecursionError, NotCanonical):
        if number == 1:
            raise NoAudit("it is no audit file") from None
        raise Broken(number, "it is no line of an audit file") from None
    if number == 1:
        _check_header(kind, data)
    if written != raw:
        raise Broken(number, "it is written in another way than a line is")
    if found["prev"] != before:
        raise Broken(
            number, "it does not follow the line before it: one was changed, removed, added or moved here"
        )
    if found["n"] != number - 1:
        raise Broken(number, "it has another number than its place")
    if kind not in set(Kind) or not isinstance(data, dict):
        raise Broken(number, "it is of no kind that is known")
    return Line(number, Kind(kind), data, before)


def _check_header(kind: object, data: object) -> None:
    if kind != Kind.HEADER or not isinstance(data, dict) or "format" not in data:
        raise NoAudit("it is no audit file")
    if data["format"] != FORMAT:
        raise NoAudit(
            f"it has format {str(data['format'])[:20]}, and this version of edgeshift reads {FORMAT}"
        )
