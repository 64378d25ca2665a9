"""The files of an archive that is a folder: read, listed and written by a few threads, each in one go.

By the object store each takes several turns between its threads and ours, and a few times the processor's
time. What is written is whole before it has its name.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import math
import os
import random
import stat
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from edgeshift.stores.archive_keys import no_folder_at
from edgeshift.stores.folder_place import FolderPlace

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 6
"""More of them would mostly wait for each other."""

FLUSHING = 16
"""Records that are on their way to the disk at the same time: it flushes many as quickly as one."""

_READERS = ThreadPoolExecutor(THREADS, thread_name_prefix="archive")
# Those that write, and those that wait for the disk, are apart: a slow disk keeps nobody from reading what is
# in memory, nor from recording what need not outlive the machine.
_WRITERS = ThreadPoolExecutor(THREADS, thread_name_prefix="archive-writes")
_FLUSHERS = ThreadPoolExecutor(FLUSHING, thread_name_prefix="archive-flushes")


async def in_a_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the work gives, done where it holds nobody up."""
    return await asyncio.get_running_loop().run_in_executor(_READERS, partial(work, *args, **kwargs))


async def read(place: FolderPlace, name: str, most: int) -> bytes | None:
    """``content``, done where it holds nobody up."""
    return await in_a_thread(content, place, name, most)


async def looked_at(place: FolderPlace, name: str, most: int) -> None:
    """``check_file``, done where it holds nobody up."""
    await in_a_thread(check_file, place, name, most)


async def written(place: FolderPlace, name: str, data: bytes, *, once: bool, flush: bool) -> None:
    """``write``, done where it holds nobody up."""
    work = partial(write, place, name, data, once=once, flush=flush)
    await asyncio.get_running_loop().run_in_executor(_FLUSHERS if flush else _WRITERS, work)


async def flushed(place: FolderPlace, name: str) -> None:
    """``flush_file``, done where it holds nobody up."""
    await asyncio.get_running_loop().run_in_executor(_FLUSHERS, flush_file, place, name)


class NoFile(Exception):
    """Something else than a file is there, such as a pipe, or one that is too large. The text says which."""


def content(place: FolderPlace, name: str, most: int) -> bytes | None:
    """The bytes of a file, by its name below the folder; None where there is no such file. Raises NoFile,
    also where it has more bytes than ``most``; OSError, also where the folder is not the one that was opened.
    """
    try:
        with open(place.path / name, "rb", buffering=0, opener=_opened) as file:
            _check(os.fstat(file.fileno()), most)
            return file.readall()
    except (FileNotFoundError, IsADirectoryError):
        # What is found needs no such question: no record is ever replaced, so a copy of it says the same.
        place.check()
        return None
    except NotADirectoryError:
        place.check()
        raise


def check_file(place: FolderPlace, name: str, most: int) -> None:
    """Raises NoFile and OSError as ``content`` does, before somebody else reads the file."""
    _check(os.stat(place.path / name), most)


def _opened(path: str, flags: int) -> int:
    # Of a pipe, opening would wait for somebody who writes.
    return os.open(path, flags | os.O_NONBLOCK)


def _check(found: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NoFile("it is no file")
    if found.st_size > most:
        raise NoFile(f"it has more than {most:,} bytes")


def names(place: FolderPlace, prefix: str) -> list[str]:
    """The files under a prefix of whole parts, by their names below the folder, in no order. Those that are
    being written are left out: they have a ``#`` in their names, which no key has. What cannot be looked at
    below the prefix counts as a file of its name, which keeps nobody from seeing the others. So does a link
    to a folder, which is not followed: whoever goes by a name finds what is behind it. Where something else
    lies in the place of the prefix's folder, or of one on its way, and of a link to nothing below it, that is
    told by a name that is no key (``no_folder_at``): nothing of it can be there or be written. Raises
    OSError, also where the folder is not the one that was opened: then nothing is known of what it has.
    """
    found: list[str] = []
    left = [prefix]
    while left:
        folder = left.pop()
        try:
            entries = os.scandir(place.path / folder)
        except (FileNotFoundError, NotADirectoryError):
            if folder == prefix and (other := _in_the_way(place, prefix)):
                found.append(no_folder_at(other))
            continue
        except OSError:
            if folder == prefix:
                raise
            found.append(folder)
            continue
        with entries:
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    left.append(name)
                elif "#" not in entry.name and (told := _told_of(entry, name)):
                    found.append(told)
    place.check()
    return found


def _in_the_way(place: FolderPlace, prefix: str) -> str:
    """The first on the way to a prefix that is there and is no folder, such as a file, or a link to nothing;
    empty where none is.
    """
    folder = ""
    for part in prefix.split("/"):
        folder = f"{folder}/{part}" if folder else part
        path = place.path / folder
        if not path.is_dir():
            return folder if os.path.lexists(path) else ""
    return ""


def _told_of(entry: os.DirEntry[str], name: str) -> str:
    """By which name something is listed that is no folder; empty for what is not, such as a pipe."""
    try:
        if entry.is_file() or entry.is_dir():
            return name
        return "" if os.path.exists(entry.path) else no_folder_at(name)
    except OSError:
        # Such as a link to itself.
        return name


def oldest(place: FolderPlace, prefix: str, most: int) -> list[str]:
    """Those of ``names`` that were stored first, so many. One of which nobody can say when counts as stored
    last, and keeps nobody from the others. Raises OSError as ``names`` does.
    """

    def stored(name: str) -> tuple[float, str]:
        try:
            return os.lstat(place.path / name).st_mtime_ns, name
        except OSError:
            return math.inf, name

    return heapq.nsmallest(most, names(place, prefix), key=stored)


def names_of_each(place: FolderPlace, prefixes: Sequence[str]) -> list[list[str]]:
    """``names`` of each prefix."""
    return [names(place, prefix) for prefix in prefixes]


def write(place: FolderPlace, name: str, data: bytes, *, once: bool, flush: bool) -> None:
    """Write a file, by its name below the folder, which is whole before it has that name. ``once``: it is
    created, or FileExistsError raised where there is one; else it takes the place of one that is there.
    ``flush``: it is on the disk, with its name, when this returns.

    Raises OSError, also where the folder is not the one that was opened, before the writing or after it: then
    what was written is not in the archive. The folder itself is never made.
    """
    place.check()
    path = f"{place.path}/{name}"
    try:
        if once and os.path.lexists(path):
            raise FileExistsError
        _put(place, name, path, data, once=once, flush=flush)
    except (FileExistsError, FileNotFoundError):
        place.check()
        raise
    place.check()


def _put(place: FolderPlace, name: str, path: str, data: bytes, *, once: bool, flush: bool) -> None:
    staged, handle = _staged(place, name, path)
    with open(handle, "wb", buffering=0) as file:
        try:
            left = memoryview(data)
            while left:
                left = left[file.write(left) :]
            if once:
                # Of several links of one name, one is made.
                os.link(staged, path)
            else:
                os.rename(staged, path)
        finally:
            # One that is left has a name that no key has.
            with contextlib.suppress(OSError):
                os.unlink(staged)
        if flush:
            # Once it has its name: the disk takes both at once.
            os.fsync(handle)
            _flush_folder(os.path.dirname(path))


def _staged(place: FolderPlace, name: str, path: str) -> tuple[str, int]:
    """A new file beside that of the name, open for writing."""
    made = False
    while True:
        staged = f"{path}#{random.getrandbits(60)}"
        try:
            return staged, os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            continue
        except FileNotFoundError:
            if made:
                raise
            _make_folders(place, name)
            made = True


def _make_folders(place: FolderPlace, name: str) -> None:
    """Those on the way to a file. Raises FileNotFoundError where the archive's own is not there."""
    folder = str(place.path)
    for part in name.split("/")[:-1]:
        folder = f"{folder}/{part}"
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)


def flush_file(place: FolderPlace, name: str) -> None:
    """A file's bytes and its name are on the disk when this returns. Raises OSError."""
    path = f"{place.path}/{name}"
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    _flush_folder(os.path.dirname(path))


def _flush_folder(folder: str) -> None:
    """The names in a folder are on the disk when this returns. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
