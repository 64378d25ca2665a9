"""An archive that is gone, or another one in its place, does not read as an empty one, and nothing is written
there.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from activities.change.intents import commit_may_show, give_up
from edgeshift.doctor.check import State
from edgeshift.doctor.checks import check_archive
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Area
from edgeshift.stores import archive as archives
from edgeshift.stores import folder_files
from edgeshift.stores.archive import Archive, ArchiveMisconfigured, ArchiveMissing, ArchiveUnavailable
from edgeshift.stores.folder_place import FolderGone, FolderPlace
from edgeshift.stores.identity import KEY, identity_of, known_identity
from tests.service.gate_kit import gate

Asked = Callable[[Archive], Awaitable[object]]


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def _names(archive: Archive, prefix: str) -> list[str]:
    return [name async for name in archive.list(prefix)]


async def _parts(archive: Archive) -> list[bytes]:
    return [part async for part in archive.object_parts("f" * 64)]


QUESTIONS: dict[str, Asked] = {
    "put": lambda archive: archive.put_object(b"more"),
    "put much": lambda archive: archive.put_object(b"x" * (archives.ONE_REQUEST + 1)),
    "create": lambda archive: archive.create_once("intent/zone/waf/2", b"{}"),
    "create again": lambda archive: archive.create_once("intent/zone/waf/1", b"{}", lasting=False),
    "get": lambda archive: archive.get_named("intent/zone/waf/2"),
    "object": lambda archive: archive.get_object("f" * 64),
    "parts": _parts,
    "holds": lambda archive: archive.holds("intent/zone/waf/2", b"{}"),
    "stored at": lambda archive: archive.stored_at("intent/zone/waf/2"),
    "list": lambda archive: _names(archive, "intent"),
    "lists": lambda archive: archive.lists(["intent", "word"], 10),
    "identity": known_identity,
}
"""What an archive is asked for that is not there, or told to keep."""


async def _nothing_is_known(archive: Archive, reason: str) -> None:
    for name, ask in QUESTIONS.items():
        with pytest.raises(ArchiveUnavailable, match=reason):
            print(name, await ask(archive))


@pytest.mark.parametrize("instead", ["nothing", "made anew", "a file", "another archive"])
async def test_a_folder_that_was_moved_away_takes_nothing_and_says_nothing(
    tmp_path: Path, instead: str
) -> None:
    """Whoever made one in its place, as a disk that is not mounted leaves it: no reading finds it empty, no
    writing makes it anew; once it is back, it has what it had.
    """
    folder = tmp_path / "archive"
    archive = Archive(folder)
    await archive.create_once("intent/zone/waf/1", b"{}")
    if instead == "another archive":
        await identity_of(archive)
    aside = folder.rename(tmp_path / "aside")
    if instead == "a file":
        folder.touch()
    elif instead != "nothing":
        other = Archive(folder)
        if instead == "another archive":
            await identity_of(other)
    before = _files(tmp_path)
    questions = "is gone: put it back" if instead == "nothing" else "another (folder|archive) is in"
    await _nothing_is_known(archive, questions)
    assert _files(tmp_path) == before
    if instead == "a file":
        folder.unlink()
    elif instead != "nothing":
        shutil.rmtree(folder)
    aside.rename(folder)
    assert await _names(archive, "intent") == ["intent/zone/waf/1"]
    assert await archive.create_once("intent/zone/waf/2", b"{}")
    assert await archive.get_named("intent/zone/waf/3") is None


async def test_an_archive_that_was_emptied_in_its_place_has_lost_its_name(tmp_path: Path) -> None:
    """Also a folder that was removed and made anew under the old one's number."""
    archive = Archive(tmp_path / "archive")
    await identity_of(archive)
    for entry in (tmp_path / "archive").iterdir():
        shutil.rmtree(entry)
    await _nothing_is_known(archive, "has lost what names it")


@pytest.mark.parametrize("instead", ["nothing", "another folder"])
@pytest.mark.parametrize("lasting", [True, False])
async def test_what_was_written_elsewhere_is_not_told_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lasting: bool, instead: str
) -> None:
    """It is moved away between the question and the writing, which never makes the folder anew: the record
    is not in the archive, and nobody is told that it is.
    """
    archive, put = Archive(tmp_path / "archive"), folder_files._put
    await identity_of(archive)

    def moved_before(*args: Any, **options: Any) -> None:
        (tmp_path / "archive").rename(tmp_path / "aside")
        if instead != "nothing":
            (tmp_path / "archive").mkdir()
        put(*args, **options)

    monkeypatch.setattr(folder_files, "_put", moved_before)
    with pytest.raises(ArchiveUnavailable, match="is gone" if instead == "nothing" else instead):
        await archive.create_once("intent/zone/waf/1", b"{}", lasting=lasting)
    assert (tmp_path / "archive").exists() == (instead != "nothing")
    assert not (tmp_path / "aside" / "intent").exists()


async def test_a_worker_that_began_before_its_disk_was_mounted_has_the_archive_afterwards(
    tmp_path: Path,
) -> None:
    """A folder without a name gives its place to an archive that has one; never the other way round."""
    await identity_of(Archive(tmp_path / "disk"))
    early = Archive(tmp_path / "archive")
    assert await known_identity(early) is None
    (tmp_path / "archive").rename(tmp_path / "mount point")
    (tmp_path / "disk").rename(tmp_path / "archive")
    assert await early.get_named("intent/zone/waf/1") is None
    assert await known_identity(early) is not None
    (tmp_path / "archive").rename(tmp_path / "disk")
    (tmp_path / "mount point").rename(tmp_path / "archive")
    await _nothing_is_known(early, "another folder")


async def test_a_commit_that_was_sent_may_show_while_the_archive_is_gone(tmp_path: Path) -> None:
    """Nobody gives it up by a record in a folder that was made for it, nor finds that none was sent."""
    async with gate(tmp_path) as play:
        assert (await play.change(play.body, play.body)).status is ChangeStatus.ANSWERED
        folder, limit = play.connections.archive.folder, play.start.policy.migration_limit
        assert folder is not None
        sent = await play.message(play.body, play.body)
        next_one = await play.message(play.body, play.body, permit=2)
        aside = folder.rename(tmp_path / "aside")
        for instead in ("nothing", "an empty folder"):
            if instead != "nothing":
                folder.mkdir()
            with pytest.raises(ArchiveUnavailable):
                await give_up(play.connections, sent)
            with pytest.raises(ArchiveUnavailable):
                await commit_may_show(play.connections, play.zone, Area.WAF, limit)
            with pytest.raises(ArchiveUnavailable):
                await give_up(play.connections, next_one)
        folder.rmdir()
        aside.rename(folder)
        assert not await play.give_up(play.body, play.body)
        assert await commit_may_show(play.connections, play.zone, Area.WAF, limit)
        assert len(await play.sent()) == 1


async def test_whoever_only_reads_makes_no_folder(tmp_path: Path) -> None:
    """It is not there, which is no empty archive; once a worker has made it, it is read."""
    archive = Archive(tmp_path / "archive", make=False)
    await _nothing_is_known(archive, "there is no such folder: name the archive of the workers")
    checked = await check_archive(str(tmp_path / "archive"))
    assert checked.state is State.FAILED and "is not there" in checked.text
    assert not archive.is_made and _files(tmp_path) == []
    await Archive(tmp_path / "archive").create_once("word/abort", b"{}")
    assert await archive.get_named("word/abort") == b"{}" and await archive.get_named("word/none") is None
    (tmp_path / "file").touch()
    for wrong in ("file", "file/archive"):
        with pytest.raises(ArchiveMisconfigured, match="cannot be used: Not a directory"):
            Archive(tmp_path / wrong, make=False)


class Bucket:
    """A bucket at a store that speaks as little of S3 as an archive needs; ``there``: whether it is."""

    def __init__(self) -> None:
        self.there = True
        self.objects: dict[str, bytes] = {}
        self.asked: list[str] = []

    def answer(self, method: str, path: str, data: bytes) -> tuple[int, bytes]:
        """The status and the body."""
        path, _, query = path.partition("?")
        self.asked.append(f"{method} {path}")
        if not self.there:
            return 404, b"<Error><Code>NoSuchBucket</Code><Message>no such bucket</Message></Error>"
        if "list-type=2" in query:
            prefix = query.partition("prefix=")[2].partition("&")[0].replace("%2F", "/")
            found = "".join(
                f"<Contents><Key>{key}</Key><Size>{len(value)}</Size><ETag>e</ETag>"
                "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
                for key, value in self.objects.items()
                if key.startswith(prefix)
            )
            listed = f"<IsTruncated>false</IsTruncated>{found}"
            return 200, f"<ListBucketResult>{listed}</ListBucketResult>".encode()
        key = path.removeprefix("/bucket/")
        if method == "PUT":
            if key in self.objects:
                return 412, b"<Error><Code>PreconditionFailed</Code></Error>"
            self.objects[key] = data
            return 200, b""
        if key not in self.objects:
            return 404, b"<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>"
        return 200, self.objects[key]


@contextmanager
def served(bucket: Bucket) -> Iterator[str]:
    """The store's endpoint."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, body = bucket.answer(self.command, self.path, data)
            self.send_response(status)
            for name, value in {
                "Content-Length": str(len(body)),
                "ETag": '"e"',
                "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT",
            }.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_PUT = do_HEAD = answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """A bucket, where the environment says it is."""
    found = Bucket()
    with served(found) as endpoint:
        for name, value in {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "id",
            "AWS_SECRET_ACCESS_KEY": "hush-hush",
            "AWS_REGION": "nowhere-1",
        }.items():
            monkeypatch.setenv(name, value)
        yield found


async def test_a_bucket_without_the_record_is_asked_for_the_archive_once(bucket: Bucket) -> None:
    """What is not found there is not there, whether the archive has a name yet or not; for a while, the next
    ones are believed without a question.
    """
    archive = Archive("s3://bucket/prefix")
    assert await known_identity(archive) is None
    assert await archive.get_named("intent/zone/waf/1") is None
    found = await identity_of(archive)
    again = Archive("s3://bucket/prefix")
    bucket.asked.clear()
    for number in range(5):
        assert await again.get_named(f"intent/zone/waf/{number}") is None
    assert await _names(again, "intent") == []
    assert bucket.asked.count(f"GET /bucket/prefix/{KEY}") == 1
    with pytest.raises(ArchiveMissing):
        await again.get_object("f" * 64)
    assert await known_identity(again) == found


@pytest.mark.parametrize("named", [False, True])
async def test_a_bucket_that_is_gone_is_not_empty(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    """Every question and every writing fails as of an archive that cannot be reached, with nothing of the
    request; once it is back, it has what it had.
    """
    monkeypatch.setattr(archives, "SURE_FOR", 0.0)
    archive = Archive("s3://bucket/prefix")
    if named:
        await identity_of(archive)
    await archive.create_once("intent/zone/waf/1", b"{}")
    bucket.there = False
    for name, ask in QUESTIONS.items():
        with pytest.raises(ArchiveUnavailable, match=r"^s3://bucket/prefix: could not ") as raised:
            print(name, await ask(archive))
        assert "127.0.0.1" not in str(raised.value) and "hush" not in str(raised.value)
    bucket.there = True
    assert await archive.get_named("intent/zone/waf/1") == b"{}"


@pytest.mark.parametrize("instead", ["nothing", "another archive"])
async def test_a_bucket_that_has_lost_the_archive_is_another_one(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch, instead: str
) -> None:
    """It answers, and has not what the archive must have."""
    monkeypatch.setattr(archives, "SURE_FOR", 0.0)
    archive = Archive("s3://bucket/prefix")
    await identity_of(archive)
    bucket.objects.clear()
    if instead == "another archive":
        await identity_of(Archive("s3://bucket/prefix"))
    for ask in (known_identity, QUESTIONS["get"], QUESTIONS["object"], QUESTIONS["list"]):
        with pytest.raises(ArchiveUnavailable, match=r"put (it|the bucket) back"):
            await ask(archive)


def test_a_name_that_is_written_while_it_is_looked_for_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where many start at once with a new archive: one of them was told that its folder was another."""
    place = FolderPlace(tmp_path, make=True, named_by=KEY)
    looked = os.path.lexists

    def written_meanwhile(path: str) -> bool:
        found = looked(path)
        (tmp_path / KEY).parent.mkdir(exist_ok=True)
        (tmp_path / KEY).write_bytes(b"0" * 32)
        place.named()
        return found

    monkeypatch.setattr(os.path, "lexists", written_meanwhile)
    place.check()
    monkeypatch.undo()
    place.check()
    (tmp_path / KEY).unlink()
    with pytest.raises(FolderGone):
        place.check()
