"""Log entries and ownership challenges as they lie where log jobs push them."""

from __future__ import annotations

import gzip
import json
import math
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from edgeshift.model.fleet import Plan, Zone
from edgeshift.stores import log_entries
from edgeshift.stores.log_entries import MOST_ENTRIES, LogStore, LogStoreError, moment

ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)
AT = datetime(2022, 10, 1, 12, tzinfo=UTC)
PUSHED = 1_700_000_000


def push(folder: Path, name: str, entries: list[Any], age: int = 0, *, packed: bool = False) -> None:
    """An object of entries, so many seconds old."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{json.dumps(entry)}\n" for entry in entries).encode()
    file.write_bytes(gzip.compress(lines) if packed else lines)
    os.utime(file, (PUSHED - age,) * 2)


async def read(url: str, since: datetime | None = None) -> list[Any]:
    return [entry["n"] async for entry in LogStore(url, ZONE).entries(since)]


async def test_the_newest_entries_come_first_packed_or_not(tmp_path: Path) -> None:
    """Of the zone's own folder; other files and lines that are no entry are passed over."""
    folder = tmp_path / "shop.example"
    push(folder, "20221001/old.log", [{"n": 1}], age=60)
    push(folder, "20221002/new.log.gz", [{"n": 2}, {"n": 3}], packed=True)
    push(folder, "ownership-challenge.txt", [{"n": 4}])
    push(tmp_path / "other.example", "x.log", [{"n": 5}])
    (folder / "torn.log").write_bytes(b'{"n": 6\nno\n[1]\n')
    (folder / "damaged.log.gz").write_bytes(b"\x1f\x8bno")
    assert await read(f"file://{tmp_path}/{{zone}}") == [2, 3, 1]


@pytest.mark.parametrize("form", ["rfc3339", "unix", "unixnano"])
async def test_entries_from_before_the_change_do_not_count(tmp_path: Path, form: str) -> None:
    """Their time may be written in each of the service's forms."""

    def written(second: int) -> str | int:
        seconds = int(AT.timestamp()) + second
        forms: dict[str, str | int] = {"unix": seconds, "unixnano": seconds * 10**9}
        return forms.get(form) or f"2022-10-01T12:00:{second:02}Z"

    push(tmp_path, "a.log", [{"n": second, "EdgeStartTimestamp": written(second)} for second in (1, 5, 9)])
    push(tmp_path, "b.log", [{"n": 0, "EdgeStartTimestamp": written(0)}], age=10)
    push(tmp_path, "c.log", [{"n": "never read"}], age=20)
    assert await read(f"file://{tmp_path}", AT.replace(second=5)) == [5, 9]


async def test_entries_without_a_time_are_as_old_as_their_object(tmp_path: Path) -> None:
    """A job need not list the time; what was pushed before the change says nothing of it."""
    push(tmp_path, "new.log", [{"n": 1}, {"n": 2, "EdgeStartTimestamp": "soon"}])
    push(tmp_path, "just.log", [{"n": 3}], age=10)
    push(tmp_path, "old.log", [{"n": 4}], age=11)
    push(tmp_path, "older.log", [{"n": 5}], age=12)
    since = datetime.fromtimestamp(PUSHED - 10, UTC)
    assert await read(f"file://{tmp_path}", since) == [1, 2, 3]
    assert await read(f"file://{tmp_path}", since.replace(year=2024)) == []
    assert await read(f"file://{tmp_path}") == [1, 2, 3, 4, 5]


async def test_entries_from_before_a_time_are_had_by_themselves(tmp_path: Path) -> None:
    """By their own time or that of their object, first of objects from before, then of one that came a little
    later; what cannot be read, and what came long after, is passed over.
    """
    push(tmp_path, "old.log", [{"n": 1}], age=60)
    push(tmp_path, "just.log", [{"n": 2}], age=10)
    earlier, later = ({"EdgeStartTimestamp": PUSHED + second} for second in (-1, 1))
    push(tmp_path, "soon.log", [{"n": 3, **earlier}, {"n": 4, **later}, {"n": 5}], age=-9)
    push(tmp_path, "long.log", [{"n": 6, **earlier}], age=-3_600)
    (tmp_path / "damaged.log.gz").write_bytes(b"\x1f\x8bno")
    os.utime(tmp_path / "damaged.log.gz", (PUSHED - 5,) * 2)
    until = datetime.fromtimestamp(PUSHED, UTC)
    store = LogStore(tmp_path.as_uri(), ZONE)
    assert [entry["n"] for entry in await store.before(until, 10)] == [2, 1, 3]
    assert [entry["n"] for entry in await store.before(until, 1)] == [2]
    assert await LogStore(f"{tmp_path.as_uri()}/none", ZONE).before(until, 1) == []


async def test_a_flood_of_entries_is_read_in_part(tmp_path: Path) -> None:
    """No more than a sample is needed."""
    push(tmp_path, "a.log", [{"n": 1}] * (MOST_ENTRIES + 5))
    assert len(await read(f"file://{tmp_path}")) == MOST_ENTRIES


async def test_a_flood_is_read_no_further_than_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few kilobytes hold millions of entries: they are not all made, nor where all else has to wait."""
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(b"{}\n" * 4_000_000))
    made: list[bool] = []

    def entry(line: bytes) -> object:
        made.append(threading.current_thread() is threading.main_thread())
        return {}

    monkeypatch.setattr(json, "loads", entry)
    assert [one async for one in LogStore(tmp_path.as_uri(), ZONE).entries()] == [{}] * MOST_ENTRIES
    assert MOST_ENTRIES <= len(made) < 200_000 and not any(made)


async def test_lines_of_an_object_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their length as well; what lies on the edge of two parts is one line, and the last one needs no end."""
    monkeypatch.setattr(log_entries, "LONGEST_LINE", 2 * log_entries._PART)
    long, short = ({"n": n, "x": "x" * log_entries._PART * size} for n, size in ((1, 3), (2, 1)))
    lines = "\n".join(map(json.dumps, ({"n": 0}, long, short, {"n": 3}, "no", {"n": 4}))).encode()
    for written in (lines, gzip.compress(lines)):
        (tmp_path / "a.log").write_bytes(written)
        assert await read(tmp_path.as_uri()) == [0, 2, 3, 4]
    monkeypatch.setattr(log_entries, "MOST_LINES", 4)
    assert await read(tmp_path.as_uri()) == [0, 2, 3]


async def test_what_is_not_whole_counts_for_nothing(tmp_path: Path) -> None:
    """Nor does what comes before the damage; members may follow each other."""
    whole = gzip.compress(b'{"n": 1}\n' * 100_000)
    (tmp_path / "a.log.gz").write_bytes(whole[:-3])
    assert await read(tmp_path.as_uri()) == []
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(b'{"n": 1}\n') * 2)
    assert await read(tmp_path.as_uri()) == [1, 1]


async def test_before_the_first_batch_there_is_nothing(tmp_path: Path) -> None:
    """A folder that is not there yet has no entries, and is not made."""
    assert await read(f"file://{tmp_path}/later") == []
    assert not (tmp_path / "later").exists()


async def test_a_challenge_is_read_from_its_file(tmp_path: Path) -> None:
    """By its path in the bucket, or where the URL names the folder already."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "challenge.txt").write_text("c-1\n")
    for url in (f"file://{tmp_path}", f"file://{folder}"):
        assert await LogStore(url, ZONE).challenge("logs/challenge.txt") == "c-1"
    with pytest.raises(LogStoreError, match=r"no ownership challenge in logs/none.txt"):
        await LogStore(f"file://{tmp_path}", ZONE).challenge("logs/none.txt")


@pytest.mark.parametrize(
    "url", ["/a/folder", "https://logs.example/x", "s3:///x", "s3://key:hidden@bucket/x", "s3://b/x?k=hidden"]
)
def test_a_store_that_cannot_be_one_is_told_without_its_address(url: str) -> None:
    """It may carry credentials; what would be right is said."""
    with pytest.raises(LogStoreError) as raised:
        LogStore(url, ZONE)
    assert "hidden" not in str(raised.value)
    assert "s3" in str(raised.value)


@pytest.mark.parametrize("filename", ["../x", "a/../../x", "..", "a//b", "a\x00b", "a" * 5_000])
async def test_a_challenge_in_a_file_that_no_store_has_is_told(filename: str, tmp_path: Path) -> None:
    """The service names the file: one that leads out of the destination is not there."""
    with pytest.raises(LogStoreError):
        await LogStore(tmp_path.as_uri(), ZONE).challenge(filename)


@pytest.mark.parametrize("value", [None, "soon", True, -1, 1e30, 10**400, 1e12, 5e20, math.nan, {}])
def test_what_is_no_time_is_none(value: object) -> None:
    """Such entries count as if they had none."""
    assert moment(value) is None
