"""The small files of an archive that is a folder: read and listed by a few threads, each in one go.

By the object store a reading takes several turns between its threads and ours, and four times the processor's
time. What is written goes through it all the same: it is whole before it has its name.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from edgeshift.stores.folder_place import FolderPlace

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 6
"""More of them would mostly wait for each other."""

_READERS = ThreadPoolExecutor(THREADS, thread_name_prefix="archive")
# Apart from those that flush to the disk: a slow disk keeps nobody from reading what is in memory.


async def in_a_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the work gives, done where it holds nobody up."""
    return await asyncio.get_running_loop().run_in_executor(_READERS, partial(work, *args, **kwargs))


def content(place: FolderPlace, name: str) -> bytes | None:
    """The bytes of a file, by its name below the folder; None where there is no such file. Raises OSError,
    also where the folder is not the one that was opened.
    """
    try:
        with open(place.path / name, "rb", buffering=0) as file:
            return file.readall()
    except (FileNotFoundError, IsADirectoryError):
        # What is found needs no such question: no record is ever replaced, so a copy of it says the same.
        place.check()
        return None
    except NotADirectoryError:
        place.check()
        raise


def names(place: FolderPlace, prefix: str) -> list[str]:
    """The files under a prefix of whole parts, by their names below the folder, in no order. Those that are
    being written are left out: they have a ``#`` in their names, which no key has. Raises OSError, also where
    the folder is not the one that was opened: then nothing is known of what it has.
    """
    found: list[str] = []
    left = [prefix]
    while left:
        folder = left.pop()
        try:
            entries = os.scandir(place.path / folder)
        except (FileNotFoundError, NotADirectoryError):
            continue
        with entries:
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir():
                    left.append(name)
                elif entry.is_file() and "#" not in entry.name:
                    found.append(name)
    place.check()
    return found
