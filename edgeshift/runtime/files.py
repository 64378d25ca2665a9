"""Files that people ask for: there whole or not at all, and known to be writable before any work is done."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def path_named(text: str | Path) -> Path:
    """The path that a setting means, ``~`` followed. Raises OSError also for what no file can be named."""
    try:
        path = Path(text).expanduser()
        possible = b"\0" not in os.fsencode(path)
    except RuntimeError:
        raise FileNotFoundError(errno.ENOENT, "there is no such user") from None
    except ValueError:
        possible = False
    if not possible:
        raise OSError(errno.EINVAL, "no file can have such a name")
    return path


@contextmanager
def whole_path(path: Path) -> Iterator[Path]:
    """Where to write what takes ``path``'s place when the work ends, and is gone if anything fails: then what
    was there stays.

    Folders on the way are made, and are gone as well then. What is no plain file (a pipe, ``/dev/stdout``) is
    written directly. Raises OSError with ``path`` as its file name.
    """
    with _named(path):
        place = Path(os.path.realpath(path))
        if place.exists() and not place.is_file() and not place.is_dir():
            yield place
            return
        made, beside = _folders_to_make(place), None
        try:
            beside = _beside(place)
            if place.exists():
                beside.chmod(place.stat().st_mode & 0o777)
            yield beside
            beside.replace(place)
        except BaseException:
            if beside is not None:
                beside.unlink(missing_ok=True)
            _unmake(made)
            raise


def write_whole(path: Path, text: str) -> None:
    """Write a text file, whole or not at all. Raises OSError with ``path`` as its file name."""
    with whole_path(path) as place, place.open("w", encoding="utf-8") as out:
        out.write(text)
        if place.is_file():
            out.flush()
            os.fsync(out.fileno())


def check_writable(path: Path) -> None:
    """See that a file could be written, its folders too, and leave nothing behind: whoever refuses afterwards
    has written nothing. Raises OSError with ``path`` as its file name.
    """
    with _named(path):
        place = Path(os.path.realpath(path))
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if place.exists() and not place.is_file():
            if not os.access(place, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        made = _folders_to_make(place)
        try:
            _beside(place).unlink()
        finally:
            _unmake(made)


def _beside(place: Path) -> Path:
    """A new and empty file in the folder of ``place``, which is made if needed."""
    place.parent.mkdir(parents=True, exist_ok=True)
    while True:
        beside = place.parent / f".{place.stem[:100]}.{secrets.token_hex(4)}{place.suffix}"
        with contextlib.suppress(FileExistsError):
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            return beside


def _folders_to_make(place: Path) -> list[Path]:
    """The folders on the way to a file that are not there, innermost first."""
    return [folder for folder in place.parents if not folder.exists()]


def _unmake(folders: list[Path]) -> None:
    """Remove folders, innermost first. One that was not made, or in which somebody has written meanwhile,
    stays as it is.
    """
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file that a person asked for in whatever fails, in place of the one beside it."""
    try:
        yield
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror or str(problem), str(path)) from None
