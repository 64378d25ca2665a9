"""Roots from their file: YAML, with the allowed_signers file beside it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from edgeshift.authority.roots import LeastPolicy, PersonRoot, Roots, RootsFile, ServiceRoot
from edgeshift.authority.signers import BadSigners, parsed

LARGEST = 4 * 1024 * 1024
MOST_LINKS = 8

UID_MAP = Path("/proc/self/uid_map")
EVERYBODY = ["0", "0", "4294967295"]
"""The users that this process knows, as they are where it knows all (user_namespaces(7))."""

OVERFLOW_UID = Path("/proc/sys/kernel/overflowuid")
"""As whose the kernel shows what belongs to a user whom this process does not know."""

_SUCH_AS = {
    "signers": "signers: allowed_signers",
    "services": "services: [{base_url: loopback, credentials: ['*']}]",
    "roles": "roles: [approver]",
    "base_url": "base_url: https://api.example.com/client/v4",
    "credentials": "credentials: ['env:TOKEN']",
}
"""What a field that is needed may look like."""

_PARTS: dict[object, type[BaseModel]] = {
    "people": PersonRoot,
    "policy": LeastPolicy,
    "services": ServiceRoot,
}
"""What stands below a key of the file."""


class RootsError(ValueError):
    """Roots that cannot be used; names the file, the place and what would be right."""


Stamp = tuple[int, ...]
"""What tells one version of a file from another."""


class RootsFiles:
    """Roots that are read again when one of their files has changed, so that a key that is revoked signs
    nothing from then on. ``owned``: as ``load_roots`` has it.
    """

    def __init__(self, path: Path, *, owned: bool = False) -> None:
        self._path = path
        self._owned = owned
        self._stamps: dict[Path, Stamp] = {}
        self._roots: Roots | None = None

    def current(self) -> Roots:
        """The roots as they are now. Raises RootsError where they cannot be read: then nothing counts."""
        if self._roots is None or any(_stamp_of(path) != stamp for path, stamp in self._stamps.items()):
            self._roots = None
            stamps: dict[Path, Stamp] = {}
            # The stamps are those of what was read: a change meanwhile is seen at the next look.
            self._roots = load_roots(self._path, stamps, owned=self._owned)
            self._stamps = stamps
        return self._roots


def _stamp_of(path: Path) -> Stamp | None:
    try:
        return _stamp(path.stat())
    except OSError:
        return None


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_mode


def load_roots(path: Path, stamps: dict[Path, Stamp] | None = None, *, owned: bool = False) -> Roots:
    """The roots of a file. ``stamps`` is given those of the files. Raises RootsError, also where a group or
    everybody may write it. ``owned``: for whoever goes by them, a worker: also where it belongs to others
    than root and whoever this process runs as. People read the file of a worker's user, or of whoever brings
    it out, and permit nothing by it.
    """
    read = partial(_read, stamps=stamps, owned=owned)
    return roots_from(path, read(path), lambda name, _: read(path.parent / name))


def roots_from(path: Path, text: str, beside: Callable[[str, str], str]) -> Roots:
    """The roots that a file with this text is. ``beside``: the text of a file, by its name and by what it is
    (``signers``, ``revoked``). Raises RootsError.
    """
    try:
        found = _document(text)
    except NO_YAML as why:
        raise RootsError(not_yaml(path, why)) from None
    try:
        file = RootsFile.model_validate(found)
    except ValidationError as why:
        first = why.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise RootsError(f"{path}: {place}: {_mistake(first)}") from None
    listed = path.parent / file.signers
    try:
        signers = parsed(
            beside(file.signers, "signers"), beside(file.revoked, "revoked") if file.revoked else ""
        )
    except BadSigners as why:
        raise RootsError(f"{listed}: {why}") from None
    strangers = sorted(set(file.people) - signers.names)
    if strangers and file.policy.proof == "signed":
        raise RootsError(
            f"{path}: people: {strangers[0]} has no key in {file.signers};"
            " add a line for each person, or take them out"
        )
    return Roots(file, signers, str(path))


@lru_cache(maxsize=4)
def _document(text: str) -> object:
    """What the text says, for reading alone: a process has the same roots in several places, and to parse
    them takes longer than all that is judged by them.
    """
    found: object = YAML(typ="safe", pure=True).load(text)
    return found


NO_YAML = (YAMLError, ValueError, KeyError, IndexError, OverflowError, RecursionError)
"""What the parser raises of a text that is no YAML, or has a value that is none."""


def not_yaml(path: Path, why: Exception) -> str:
    """What is said of a file that is no YAML: with the place, and without what stands there."""
    from edgeshift.campaign_file.error_text import parse_trouble

    if not isinstance(why, MarkedYAMLError):
        deep = isinstance(why, RecursionError)
        return f"{path}: not YAML: {'it is nested too deeply' if deep else 'a value in it cannot be read'}"
    mark = why.problem_mark or why.context_mark
    place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
    if isinstance(why, DuplicateKeyError):
        key = re.search(r'duplicate key "([^"\n]{1,80})"', why.problem or "")
        return f"{place}: not YAML: {key.group(1) if key else 'a key'} is given twice; keep one of them"
    said = parse_trouble(why.problem, why.context)
    return f"{place}: {said.replace('a campaign file is', 'it has to be')}"


def _mistake(found: Mapping[str, Any]) -> str:
    """What is wrong there, and what would be right. The value itself is not shown."""
    where, kind = found["loc"], found["type"]
    if kind == "missing":
        return f"it must be given, such as `{_SUCH_AS.get(where[-1], where[-1])}`"
    if kind == "extra_forbidden":
        part = _PARTS.get(where[0], RootsFile) if len(where) > 1 else RootsFile
        return f"there is no such key; known here are {', '.join(part.model_fields)}"
    if kind == "model_type":
        part = _PARTS.get(where[0], RootsFile) if where else RootsFile
        return f"it must be a mapping with the keys {', '.join(part.model_fields)}"
    said = str(found["msg"]).removeprefix("Value error, ").replace("Input should be", "it must be")
    for theirs, ours in (("a valid dictionary", "a mapping"), ("a valid tuple", "a list")):
        said = said.replace(theirs, ours)
    return said.replace("a valid string", "a text")


def _read(path: Path, stamps: dict[Path, Stamp] | None, *, owned: bool) -> str:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            _check_writers(path, found, owned=owned)
            for folder in _folders(path):
                _check_writers(folder, folder.stat(), owned=owned)
            data = file.read(LARGEST + 1)
    except OSError as why:
        raise RootsError(f"{path}: it cannot be read: {why.strerror}") from None
    if len(data) > LARGEST:
        raise RootsError(f"{path}: it is larger than {LARGEST:,} bytes")
    if stamps is not None:
        stamps[path] = _stamp(found)
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise RootsError(f"{path}: it is not UTF-8") from None


def _folders(path: Path) -> Iterator[Path]:
    """The folder of a file and, where that is a link, those of what it leads to: whoever may write one of
    them may put another file in its place.
    """
    for _ in range(MOST_LINKS):
        yield path.parent
        if not path.is_symlink():
            yield path.resolve().parent
            return
        path = path.parent / path.readlink()
    raise RootsError(f"{path}: it is a link to more than {MOST_LINKS} others")


def _check_writers(path: Path, found: os.stat_result, *, owned: bool) -> None:
    """That nobody may write it but its owner; ``owned``: who is root, or whoever this process runs as. Raises
    RootsError, OSError.
    """
    mode, me = stat.S_IMODE(found.st_mode), os.geteuid()
    # In a sticky folder, such as that of a mounted secret, everybody has only their own files; into one that
    # is mounted read-only, such as that of a ConfigMap, nobody puts any.
    folder, sticky = stat.S_ISDIR(found.st_mode), mode & stat.S_ISVTX
    if mode & (stat.S_IWGRP | stat.S_IWOTH) and not (folder and (sticky or _read_only(path))):
        raise RootsError(f"{path}: others may write it (mode {mode:o}); chmod go-w {path}")
    # Root keeps what belongs to those who run workers.
    if owned and me and found.st_uid not in (0, me) and not _from_outside(path, found.st_uid):
        raise RootsError(
            f"{path}: others may write it (it is user {found.st_uid}'s); chown it to root, or to {me}, as"
            " whom this worker runs"
        )


def _from_outside(path: Path, owner: int) -> bool:
    """Whether it is mounted into a container of users of its own, to be read alone, and belongs to somebody
    outside it: nobody here can tell who that is, such as the machine's root, and nobody here can write it.
    Raises OSError.
    """
    try:
        if owner != int(OVERFLOW_UID.read_text()) or UID_MAP.read_text().split() == EVERYBODY:
            return False
    except (OSError, ValueError):
        # No Linux.
        return False
    return _read_only(path)


def _read_only(path: Path) -> bool:
    """Whether it is mounted read-only. Raises OSError."""
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
