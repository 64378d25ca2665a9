"""The byte scan finds a secret wherever and however it lies, and knows when it is blind."""

from __future__ import annotations

import base64
import gzip
import json
import sqlite3
import zlib
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest

from edgeshift.testbed.invariants import wrapped
from edgeshift.testbed.invariants.leaks import scan, values

SECRET = 'fake-token/+"0123456789abcdefABCDEF'


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        json.dumps({"token": SECRET}),
        quote(SECRET, safe=""),
        quote(SECRET, safe="").replace("%2F", "%2f").replace("%2B", "%2b"),
        quote(SECRET),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        base64.urlsafe_b64encode(b"??>" + SECRET.encode() + b"?>?").decode(),
        *(base64.b64encode(b"Bearer "[:n] + SECRET.encode() + b" rest").decode() for n in range(4)),
    ],
)
def test_a_secret_is_found_in_every_form(tmp_path: Path, text: str) -> None:
    """Plain, in JSON, in a URL, in hexadecimal and in Base64 at each alignment."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file.log").write_text(f"before {text} after")
    (tmp_path / "clean.log").write_text("nothing here")
    leaks = {Path(one.place).name: one.leaks for one in scan(tmp_path, {"token of ada": SECRET})}
    assert leaks == {"file.log": ("token of ada",), "clean.log": ()}


def test_a_secret_is_found_across_the_pages_of_a_database(tmp_path: Path) -> None:
    """SQLite cuts long values up over pages, and keeps the newest in a log beside the file."""
    path = tmp_path / "temporal.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA page_size=512")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE t (value BLOB)")
    for shift in range(0, 520, 13):
        connection.execute("INSERT INTO t VALUES (?)", (b"x" * (2000 + shift) + SECRET.encode(),))
        assert any(one.leaks for one in scan(path, {"s": SECRET})), shift
        connection.execute("DELETE FROM t")
    connection.close()


def test_a_search_locks_nobody_out_of_a_database(tmp_path: Path) -> None:
    """Whoever writes it goes on at once, also in the middle of the search: a server may not try again."""
    path = tmp_path / "temporal.db"
    connection = sqlite3.connect(path, isolation_level=None, timeout=0)
    connection.execute("CREATE TABLE t (value TEXT)")
    # In one transaction: each of its own would wait for the disk.
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO t VALUES (?)", [(SECRET,)] * 1000)
    connection.execute("COMMIT")
    searching = values(path)
    assert SECRET.encode() in next(searching)
    connection.execute("INSERT INTO t VALUES ('later')")
    connection.close()
    assert sum(SECRET.encode() in block for block in searching) == 999


def test_a_transaction_that_is_under_way_is_searched(tmp_path: Path) -> None:
    """What has been written over is still in the journal, and belongs to the database until it is done."""
    path = tmp_path / "temporal.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size=1")
    connection.execute("CREATE TABLE t (value TEXT)")
    connection.executemany("INSERT INTO t VALUES (?)", [(SECRET + "x" * 3000,)] * 50)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE t SET value = 'gone' || hex(zeroblob(2000))")
    assert any(one.leaks for one in scan(path, {"s": SECRET}))
    connection.execute("ROLLBACK")
    connection.close()


def test_a_search_that_misses_what_is_there_says_so(tmp_path: Path) -> None:
    """A place in which the known text is not found was not really searched."""
    (tmp_path / "a").write_text("shop.example")
    assert all(one.sighted for one in scan(tmp_path, {"s": SECRET}, sighting="shop.example"))
    assert not all(one.sighted for one in scan(tmp_path, {"s": SECRET}, sighting="other.example"))


def test_what_is_skipped_is_not_searched(tmp_path: Path) -> None:
    """The places that hold the secrets rightly, such as the simulator's own data, are left out by name."""
    (tmp_path / "simulator").mkdir()
    (tmp_path / "simulator" / "fleet.json").write_text(SECRET)
    assert scan(tmp_path, {"s": SECRET}, skip=[tmp_path / "simulator"]) == []


LINES = b"nothing of it\n" * 50 + SECRET.encode() + b"\nnor here" * 50


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(LINES, mtime=0),
        b"head " + zlib.compress(LINES, 1) + b" tail",
        b'{"packed": "' + base64.b85encode(zlib.compress(LINES, 9)) + b'"}',
        b'{"data": "' + base64.b64encode(gzip.compress(LINES, mtime=0)) + b'"}',
        b'{"ledger":"' + base64.b64encode(b"four" + zlib.compress(LINES, 1) + b"more" * 50) + b'"}',
        b"url/" + base64.urlsafe_b64encode(zlib.compress(LINES)) + b"?",
        zlib.compress(LINES).hex().encode(),
        gzip.compress(base64.b64encode(zlib.compress(base64.b64encode(LINES))), mtime=0),
    ],
    ids=["gzip", "zlib", "base85", "base64", "inside base64", "url", "hexadecimal", "twice"],
)
def test_a_secret_is_found_in_what_is_packed(tmp_path: Path, content: bytes) -> None:
    """gzip and zlib, bare, in Base64, Base85 and hexadecimal, and one in the other; a torn end is no end."""
    for cut in (len(content), len(content) - 2):
        (tmp_path / "part").write_bytes(content[:cut])
        assert [one.leaks for one in scan(tmp_path, {"s": SECRET})] == [("s",)]


def test_what_only_looks_packed_costs_no_copy_of_all_that_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bytes in 16,000 look like the beginning of a stream: each is handed a small part of the block. What
    is packed, and is longer than such a part, is found whole.
    """
    given: list[int] = []

    class Watched:
        def __init__(self, bits: int) -> None:
            self._stream = zlib.decompressobj(bits)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._stream, name)

        def decompress(self, data: bytes, most: int) -> bytes:
            given.append(len(data))
            return self._stream.decompress(data, most)

    monkeypatch.setattr(wrapped, "zlib", SimpleNamespace(**vars(zlib) | {"decompressobj": Watched}))
    noise = Random(1).randbytes(300_000)
    inside = Random(2).randbytes(200_000) + SECRET.encode()
    block = noise + zlib.compress(inside) + noise
    assert inside in list(wrapped.unwrapped(block))
    assert len(given) > 20 and max(given) <= 65_536


def test_a_packed_value_is_found_in_a_database_and_its_write_ahead_log(tmp_path: Path) -> None:
    """Before and after the log was folded in."""
    path = tmp_path / "temporal.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE t (value BLOB)")
    connection.execute("INSERT INTO t VALUES (?)", (zlib.compress(LINES * 20, 9),))
    assert any(one.leaks for one in scan(tmp_path, {"s": SECRET}))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert any(one.leaks for one in scan(tmp_path, {"s": SECRET}))
    connection.close()


def test_what_cannot_be_opened_is_not_taken_for_clean(tmp_path: Path) -> None:
    """A Zstandard stream, bare or in Base64."""
    stream = b"\x28\xb5\x2f\xfd" + b"x" * 40
    for content in (stream, b'{"d": "' + base64.b64encode(stream) + b'"}'):
        (tmp_path / "part").write_bytes(content)
        assert [one.sighted for one in scan(tmp_path, {"s": SECRET})] == [False]
