"""The archive: what lies under a digest is what the digest says, and what was created once stays."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from edgeshift.doctor.check import State
from edgeshift.doctor.checks import check_archive
from edgeshift.model.digests import canonical_bytes
from edgeshift.stores.archive import (
    Archive,
    ArchiveCorrupt,
    ArchiveError,
    ArchiveMisconfigured,
    ArchiveMissing,
    ArchiveUnavailable,
    object_key,
)
from tests.kit.stored import put_json


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_json_comes_back_by_its_digest(tmp_path: Path) -> None:
    """The digest is of the canonical JSON: the order of keys does not matter, and the value comes back."""
    archive = Archive(tmp_path)
    digest = await archive.put_object(canonical_bytes({"b": [1, None, "é"], "a": {"x": 1.5}}), verify=True)
    assert digest == await put_json(archive, {"a": {"x": 1.5}, "b": [1, None, "é"]})
    assert await archive.get_json(digest) == {"a": {"x": 1.5}, "b": [1, None, "é"]}
    assert (tmp_path / object_key(digest)).read_bytes() == '{"a":{"x":1.5},"b":[1,null,"é"]}'.encode()


async def test_damage_is_noticed_and_named(tmp_path: Path) -> None:
    """Bytes that do not fit their digest are never returned; storing them again fixes the object."""
    archive = Archive(tmp_path)
    digest = await archive.put_object(b"as it was")
    (tmp_path / object_key(digest)).write_bytes(b"as it is")
    with pytest.raises(ArchiveCorrupt, match=digest):
        await archive.get_object(digest)
    await archive.put_object(b"as it was", verify=True)
    assert await archive.get_object(digest) == b"as it was"


@pytest.mark.parametrize("size", [100, 5 * 1024 * 1024])
async def test_what_is_there_is_written_again_only_where_it_is_damaged(tmp_path: Path, size: int) -> None:
    """A store may forbid changes of what is there; what was damaged is put right by storing it once more."""
    archive, data = Archive(tmp_path), b"x" * size
    digest = await archive.put_object(data)
    path = tmp_path / object_key(digest)
    first = path.stat().st_ino
    assert await archive.put_object(data, verify=True) == digest
    assert path.stat().st_ino == first
    path.write_bytes(b"damaged")
    assert await archive.put_object(data, verify=True) == digest
    assert path.read_bytes() == data


async def test_bytes_that_are_no_json_are_named(tmp_path: Path) -> None:
    """An object that is intact and no JSON is not taken for an empty one."""
    archive = Archive(tmp_path)
    digest = await archive.put_object(b"<html>")
    with pytest.raises(ArchiveCorrupt, match="not JSON"):
        await archive.get_json(digest)


async def test_what_is_missing_is_named(tmp_path: Path) -> None:
    """An absent object is an error that names it; an absent record is None."""
    with pytest.raises(ArchiveMissing, match="f" * 64):
        await Archive(tmp_path).get_object("f" * 64)
    assert await Archive(tmp_path).get_named("intent/zone/waf/1") is None


async def test_one_of_many_creates_a_record(tmp_path: Path) -> None:
    """Fifty try at once, through two archives on one folder: one is told True, and its bytes are there."""
    archives = [Archive(tmp_path), Archive(tmp_path.as_uri())]
    tries = [archives[number % 2].create_once("intent/zone/waf/p-1", b"%d" % number) for number in range(50)]
    created = await asyncio.gather(*tries)
    assert created.count(True) == 1
    assert await archives[0].get_named("intent/zone/waf/p-1") == b"%d" % created.index(True)
    assert not await Archive(tmp_path).create_once("intent/zone/waf/p-1", b"later")


async def test_nothing_is_left_beside_what_is_written(tmp_path: Path) -> None:
    """Created, created by another at the same time, written again: a folder has what is in the archive."""
    archive = Archive(tmp_path)
    await asyncio.gather(*(archive.create_once("seen/aa/waf/1", b"%d" % number) for number in range(20)))
    digest = await archive.put_object(b"as it was")
    (tmp_path / object_key(digest)).write_bytes(b"as it is")
    await archive.put_object(b"as it was", verify=True)
    assert {str(path.relative_to(tmp_path)) for path in files(tmp_path)} == {
        object_key(digest),
        "seen/aa/waf/1",
    }


async def test_a_prefix_is_of_whole_parts(tmp_path: Path) -> None:
    """Listing one zone's intents does not list those of a zone whose name begins alike."""
    archive = Archive(tmp_path)
    for zone in ("aa", "aab"):
        await archive.create_once(f"intent/{zone}/waf/1", b"")
    assert [key async for key in archive.list("intent/aa")] == ["intent/aa/waf/1"]
    assert {key async for key in archive.list()} == {"intent/aa/waf/1", "intent/aab/waf/1"}
    assert [key async for key in archive.list("snapshot")] == []


async def test_what_lies_in_the_place_of_a_folder_is_listed_as_what_is_no_key(tmp_path: Path) -> None:
    """A file or a link to nothing, there or on the way: whoever asks for odd names too is told that nothing
    can be there. What a person's tools leave within a folder is listed as ever, and so is a folder that is
    linked to.
    """
    archive, other = Archive(tmp_path / "archive"), tmp_path / "other"

    async def odd(prefix: str) -> list[str]:
        assert [key async for key in archive.list(prefix)] == []
        return [key async for key in archive.list(prefix, odd=True)]

    (tmp_path / "archive" / "file").write_text("")
    (tmp_path / "archive" / "link").symlink_to("nowhere")
    assert await odd("absent/a") == [] and await archive.lists(["absent"], 1) == ([],)
    for name in ("file", "link"):
        assert await odd(name) == await odd(f"{name}/a/b") == [f"{name}/(no folder)"]
        assert await archive.lists([f"{name}/a"], 1) == ([f"{name}/(no folder)"],)
        assert await archive.oldest(f"{name}/a", 1) == [f"{name}/(no folder)"]
    await archive.create_once("a/1", b"")
    for name in (".DS_Store", "1~", ".1.swp"):
        (tmp_path / "archive" / "a" / name).write_text("")
    assert {key async for key in archive.list("a")} == {"a/1", "a/.DS_Store", "a/.1.swp"}
    assert {key async for key in archive.list("a", odd=True)} == {"a/1", "a/.DS_Store", "a/.1.swp", "a/1~"}
    (tmp_path / "archive" / "a").rename(other)
    (tmp_path / "archive" / "a").symlink_to(other)
    assert {key async for key in archive.list("a")} == {"a/1", "a/.DS_Store", "a/.1.swp"}


async def test_several_places_are_listed_in_one_go(tmp_path: Path) -> None:
    """Each by itself, and no more of one than are asked for and one."""
    archive = Archive(tmp_path)
    for name in ("a/1", "a/2", "a/3", "b/1", "bb/1"):
        await archive.create_once(name, b"")
    first, second, none = await archive.lists(["a", "b", "c"], 1)
    assert len(first) == 2 and set(first) < {"a/1", "a/2", "a/3"} and (second, none) == (["b/1"], [])
    with pytest.raises(ArchiveMisconfigured, match="no key"):
        await archive.lists(["a", "../a"], 1)


async def test_what_is_no_record_is_neither_read_nor_listed(tmp_path: Path) -> None:
    """A folder, a link that leads nowhere, a file that somebody was killed at writing."""
    archive = Archive(tmp_path)
    assert await archive.create_once("seen/aa/waf/1", b"{}", lasting=False)
    assert not await archive.create_once("seen/aa/waf/1", b"other", lasting=False)
    place = tmp_path / "seen" / "aa" / "waf"
    (place / "2#17").write_bytes(b"half")
    (place / "3").symlink_to(tmp_path / "nowhere")
    (place / "4").mkdir()
    assert [key async for key in archive.list("seen")] == ["seen/aa/waf/1"]
    assert [await archive.get_named(f"seen/aa/waf/{number}") for number in (1, 3, 4)] == [b"{}", None, None]
    with pytest.raises(ArchiveUnavailable, match=r"could not read seen/aa/waf/1/x: Not a directory"):
        await archive.get_named("seen/aa/waf/1/x")


@pytest.mark.parametrize("key", ["", "/etc/passwd", "a/../b", "a//b", "a/.", "a b", "a#1", "a/\n", "é"])
async def test_a_key_that_leaves_the_archive_is_refused(tmp_path: Path, key: str) -> None:
    """Keys are plain parts; nothing is read or written for any other."""
    archive = Archive(tmp_path / "archive")
    with pytest.raises(ArchiveMisconfigured, match="no key"):
        await archive.create_once(key, b"x")
    with pytest.raises(ArchiveMisconfigured, match="no key"):
        await archive.get_named(key)
    assert files(tmp_path) == []


@pytest.mark.parametrize("digest", ["", "F" * 64, "f" * 63, "../" + "f" * 61])
async def test_what_is_no_digest_is_refused(tmp_path: Path, digest: str) -> None:
    """A digest is 64 hexadecimal digits."""
    with pytest.raises(ArchiveMisconfigured, match="no digest"):
        await Archive(tmp_path).get_object(digest)


@pytest.mark.parametrize(
    "url", ["ftp://host/x", "s3://", "s3://key:hush@bucket/x", "s3://b/x?token=hush", "file://h/x"]
)
def test_a_url_that_cannot_work_is_refused_without_its_secrets(url: str) -> None:
    """The error says what would be right, and repeats no credential."""
    with pytest.raises(ArchiveMisconfigured) as raised:
        Archive(url)
    assert "hush" not in str(raised.value)


async def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """A file where the folder should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveMisconfigured, match=r"the folder .*/file"):
        Archive(tmp_path / "file" / "archive")


async def test_a_failing_disk_is_named(tmp_path: Path) -> None:
    """Something in the way of the objects: the text names the archive, the object and the reason."""
    archive = Archive(tmp_path)
    (tmp_path / "objects").write_text("not a folder")
    with pytest.raises(ArchiveUnavailable, match=r"could not write objects/.*: "):
        await archive.put_object(b"x")


@pytest.mark.parametrize("instead", ["nothing", "a file"])
async def test_a_folder_that_is_gone_is_not_empty(tmp_path: Path, instead: str) -> None:
    """Moved away under a worker: what it had is not known, and not that it had nothing."""
    archive = Archive(tmp_path / "archive")
    await archive.create_once("word/abort", b"{}")
    aside = (tmp_path / "archive").rename(tmp_path / "aside")
    if instead == "a file":
        (tmp_path / "archive").touch()
    for asked in (archive.get_named("word/abort"), archive.get_named("word/none"), _names(archive, "word")):
        with pytest.raises(ArchiveUnavailable, match=r"archive: could not (read|list) word"):
            await asked
    if instead == "a file":
        (tmp_path / "archive").unlink()
    aside.rename(tmp_path / "archive")
    assert await _names(archive, "word") == ["word/abort"] and await _names(archive, "other") == []
    assert await archive.get_named("word/none") is None


async def _names(archive: Archive, prefix: str) -> list[str]:
    return [name async for name in archive.list(prefix)]


async def test_a_remote_store_that_is_not_there_is_an_error_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens at the endpoint: ArchiveUnavailable within seconds, without the secret."""
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "hush-hush",
        "AWS_REGION": "nowhere-1",
    }.items():
        monkeypatch.setenv(name, value)
    archive = Archive("s3://bucket/prefix/")
    async with asyncio.timeout(20):
        with pytest.raises(
            ArchiveUnavailable, match=r"^s3://bucket/prefix: could not write objects/"
        ) as raised:
            await archive.put_object(b"x")
    assert "hush" not in f"{raised.value!r}{archive!r}"


WRITER = """
import asyncio, itertools, sys
from edgeshift.stores.archive import Archive

async def write():
    archive = Archive(sys.argv[1])
    print("ready", flush=True)
    for number in itertools.count():
        objects = (b"%d " % (number * 8 + part) * 200_000 for part in range(8))
        await asyncio.gather(*map(archive.put_object, objects))
        await archive.create_once(f"record/{number}", b"r" * 500_000)

asyncio.run(write())
"""


def test_a_kill_leaves_no_half_object(tmp_path: Path) -> None:
    """A process killed while it writes, again and again: every object under its name is whole."""
    for pause in (0.02, 0.05, 0.11):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        before, limit = written(tmp_path), time.monotonic() + 60
        while written(tmp_path) <= before:
            assert time.monotonic() < limit, "nothing is written"
        time.sleep(pause)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert asyncio.run(whole(Archive(tmp_path))) > 0


def written(folder: Path) -> int:
    """How many files are there under their names; one that is being written has another one."""
    return sum("#" not in path.name for path in files(folder))


async def whole(archive: Archive) -> int:
    """How many things the archive has, each of them read."""
    seen = 0
    async for key in archive.list():
        seen += 1
        if key.startswith("objects/"):
            await archive.get_object(key.rpartition("/")[2])
        else:
            assert len(await archive.get_named(key) or b"") == 500_000
    return seen


async def test_the_check_uses_the_archive_for_real(tmp_path: Path) -> None:
    """doctor's question is answered by writing, reading back and listing."""
    await Archive(tmp_path / "new" / "folder").check()
    (tmp_path / "objects").write_text("")
    with pytest.raises(ArchiveError):
        await Archive(tmp_path).check()


async def test_a_folder_that_it_makes_is_for_its_owner_and_the_doctor_tells_of_a_wider_one(
    tmp_path: Path,
) -> None:
    """A new folder is closed to others whatever the umask; of one that others can open, `doctor` warns."""
    before = os.umask(0)
    try:
        Archive(tmp_path / "archive")
    finally:
        os.umask(before)
    folder = tmp_path / "archive"
    assert folder.stat().st_mode & 0o077 == 0
    assert (await check_archive(str(folder))).state is State.OK
    folder.chmod(0o755)
    warned = await check_archive(str(folder))
    assert warned.state is State.WARNING and "go=" in warned.fix
