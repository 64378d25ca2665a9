"""Rule 10: secrets are nowhere. Checked by a search, byte by byte, of everything that a run leaves
behind.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, quote_plus

from edgeshift.testbed.invariants.seen import CheckerInput, RuleCheck, Scan
from edgeshift.testbed.invariants.wrapped import is_closed, unwrapped

_SQLITE = b"SQLite format 3\x00"

COPIES = 100
"""How often a database is copied until nobody has written it meanwhile."""

SHORTEST = 8
"""Bytes of the shortest text that is looked for; a shorter one may be anywhere by chance."""


def hidden(seen: CheckerInput) -> RuleCheck:
    """Rule 10. Tokens, keys and other secrets are never in history, logs, archive, tickets, reports or
    output.
    """
    violations = [f"{scan.place}: holds the secret of {label}" for scan in seen.scans for label in scan.leaks]
    violations += [
        f"{scan.place}: the search does not even see what is known to be there"
        for scan in seen.scans
        if not scan.sighted
    ]
    return RuleCheck(
        rule=10,
        title="secrets are nowhere",
        checker="byte scan",
        checked=len(seen.scans) if seen.secrets else 0,
        violations=violations,
    )


def forms(secret: str) -> set[bytes]:
    """The ways in which a secret may lie somewhere: plain, in JSON, in a URL, in hexadecimal, and in Base64
    of both alphabets at each alignment.
    """
    raw = secret.encode()
    found = {raw, raw.hex().encode(), raw.hex().upper().encode()}
    found |= {json.dumps(secret, ensure_ascii=plain)[1:-1].encode() for plain in (True, False)}
    for escaped in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        found |= {escaped.encode(), re.sub("%..", lambda part: part[0].lower(), escaped).encode()}
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw)
        # The first and last digits also carry bits of the neighbours, so only those in between are certain.
        certain = encoded[(0, 2, 3)[shift] : len(encoded) - 4]
        found |= {certain, certain.translate(bytes.maketrans(b"+/", b"-_"))}
    return {form for form in found if len(form) >= SHORTEST}


def _by_beginning(secrets: Mapping[str, str]) -> dict[bytes, list[tuple[str, bytes]]]:
    """Every form of every secret (label, form) by its first bytes, which are looked for first: secrets of one
    kind begin alike, and there may be thousands of them.
    """
    found: dict[bytes, list[tuple[str, bytes]]] = {}
    for label, value in secrets.items():
        for way in forms(value):
            found.setdefault(way[:SHORTEST], []).append((label, way))
    return found


def scan(
    place: Path, secrets: Mapping[str, str], *, sighting: str | None = None, skip: Iterable[Path] = ()
) -> list[Scan]:
    """Search a file, or every file of a folder, for the secrets (label to value).

    A SQLite file is searched as bytes and value by value, since a long value may be cut up over its pages;
    what is compressed in a file or a value is unpacked. One that cannot be is not sighted.
    ``sighting``: a text that is known to be somewhere in ``place``. ``skip``: paths that are not searched.
    """
    wanted = _by_beginning(secrets)
    skipped = {path.resolve() for path in skip}
    files = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
    found: list[Scan] = []
    sighted = sighting is None
    for path in files:
        if any(path.resolve().is_relative_to(other) for other in skipped):
            continue
        leaks: set[str] = set()
        size = 0
        closed = False
        try:
            for block in _opened(path):
                size += len(block)
                closed = closed or is_closed(block)
                sighted = sighted or (sighting is not None and sighting.encode() in block)
                for beginning, ways in wanted.items():
                    if beginning in block:
                        leaks |= {label for label, way in ways if way in block}
        except sqlite3.DatabaseError:
            # It was copied in the middle of a change: not all of it was seen.
            closed = True
        except FileNotFoundError:
            # Such as the journal of a database that goes on: it was deleted since the folder was listed.
            continue
        found.append(Scan(place=str(path), size=size, leaks=tuple(sorted(leaks)), sighted=not closed))
    if not sighted:
        found.append(Scan(place=str(place), size=0, sighted=False))
    return found


def _opened(path: Path) -> Iterator[bytes]:
    """Every block of a file, and what is wrapped in it."""
    for block in _blocks(path):
        yield block
        yield from unwrapped(block)


def _blocks(path: Path) -> Iterator[bytes]:
    content = path.read_bytes()
    yield content
    if content.startswith(_SQLITE):
        yield from values(path)


def values(path: Path) -> Iterator[bytes]:
    """Every text and blob of a SQLite file, those in its write-ahead log included. Of a copy: whoever reads
    the file itself locks out the one who writes it, which Temporal's development server does not get over.
    """
    with tempfile.TemporaryDirectory(prefix="edgeshift-search-") as folder:
        connection = sqlite3.connect(_copied(path, Path(folder)))
        try:
            tables = [
                name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            for table in tables:
                quoted = table.replace('"', '""')
                try:
                    rows = connection.execute(f'SELECT * FROM "{quoted}"')
                except sqlite3.OperationalError as error:
                    # A virtual table whose module is not loaded here: its contents lie in tables beside it.
                    if "no such module" not in str(error):
                        raise
                    continue
                for row in rows:
                    texts = (value.encode() if isinstance(value, str) else value for value in row)
                    yield b"\x00".join(text for text in texts if isinstance(text, bytes))
        finally:
            connection.close()


def _copied(path: Path, folder: Path) -> Path:
    """A copy of a SQLite file with what belongs to it; if it can be had, of a moment when nobody wrote."""
    copy = folder / "copy"
    parts = [path.with_name(path.name + ending) for ending in ("", "-journal", "-wal")]
    for _ in range(COPIES):
        before = [_stamp(part) for part in parts]
        for part in parts:
            target = folder / part.name.replace(path.name, copy.name, 1)
            target.unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                shutil.copyfile(part, target)
        if before == [_stamp(part) for part in parts]:
            break
        time.sleep(0.1)
    return copy


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size
