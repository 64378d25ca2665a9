"""Changing a roots file and the files beside it: who is added, with which key, and which keys count no more.

Each file is replaced at once, with the mode that it had; one change at a time, of however many processes.
Comments and the order of a roots file stay. What would come of a change is read before anything is written.
"""

from __future__ import annotations

import fcntl
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from edgeshift.authority.loading import NO_YAML, RootsError, load_roots, not_yaml, roots_from
from edgeshift.authority.roots import Role, Roots
from edgeshift.authority.signers import BadSigners, line_of
from edgeshift.authority.sshsig import PublicKey

REVOKED = "revoked_keys"
"""The file of revoked keys where the roots file names none yet."""


class NotAdded(ValueError):
    """A change of the roots that is refused: whose key it is already, or what it lacks."""


class RootsEditor:
    """Changes the roots of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, name: str, key: PublicKey, roles: Sequence[str], accounts: Sequence[str] = ()) -> bool:
        """Let a person sign with a key; further roles and accounts are added to those they have. False where
        all of it was so already. Raises NotAdded, also for an account where they have all of them, since that
        would take the others away; RootsError.
        """
        with held(self._path.parent):
            roots = load_roots(self._path)
            known = roots.file.people.get(name)
            if known is None and not roles:
                some = ", ".join(role.value for role in Role)
                raise NotAdded(f"{name} has no role yet: give one or more of {some}")
            if accounts and known is not None and not known.accounts:
                said = "to let them decide on some alone, write these into the roots file"
                raise NotAdded(f"{name} has all accounts: {said}")
            owners = sorted({n for a in roots.signers.keys if a.key.blob == key.blob for n in a.names})
            if others := [owner for owner in owners if owner != name]:
                raise NotAdded(f"key {key.id} is {others[0]}'s already: each person has a key of their own")
            if key.id in roots.signers.revoked:
                raise NotAdded(f"key {key.id} was revoked: make a new one")
            signers = self._path.parent / roots.file.signers
            before = signers.read_text()
            after = before if owners else _with_line(before, _line(name, key))
            text = self._path.read_text()
            yaml, found = _document(self._path, text)
            changed = _admit(found, name, [Role(role).value for role in roles], accounts)
            new = _dumped(yaml, found) if changed else text
            if not changed and after == before:
                return False
            # The key first: whoever has one and no role may sign nothing, and a person without a key would
            # make the roots unreadable.
            self._check(new, after, _revoked(self._path, roots))
            replace(signers, after)
            replace(self._path, new)
        return True

    def revoke(self, who: str) -> tuple[PublicKey, ...]:
        """Let a key, by its identifier, or every key of a person sign nothing from now on; those that could
        until now. Raises NotAdded where there is none, RootsError.
        """
        with held(self._path.parent):
            roots = load_roots(self._path)
            found = {
                allowed.key.id: allowed.key
                for allowed in roots.signers.keys
                if who in (allowed.key.id, *allowed.names)
            }
            if not found:
                raise NotAdded(f"{who} is neither a person with a key nor a key of these roots")
            gone = [key for key in found.values() if key.id not in roots.signers.revoked]
            if not gone:
                return ()
            before = _revoked(self._path, roots)
            after = before
            for key in gone:
                after = _with_line(after, key.line)
            text = new = self._path.read_text()
            if roots.file.revoked is None:
                yaml, document = _document(self._path, text)
                document["revoked"] = REVOKED
                new = _dumped(yaml, document)
            self._check(new, (self._path.parent / roots.file.signers).read_text(), after)
            replace(self._path.parent / (roots.file.revoked or REVOKED), after)
            if new != text:
                replace(self._path, new)
        return tuple(gone)

    def _check(self, text: str, signers: str, revoked: str) -> None:
        roots_from(self._path, text, lambda name, of: signers if of == "signers" else revoked)


def _line(name: str, key: PublicKey) -> str:
    try:
        return line_of(name, key.line)
    except BadSigners as why:
        raise NotAdded(str(why)) from None


def _with_line(text: str, line: str) -> str:
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}\n"


def _revoked(path: Path, roots: Roots) -> str:
    if roots.file.revoked is None:
        # A file that is there by chance would come to count.
        with suppress(FileNotFoundError):
            return (path.parent / REVOKED).read_text()
        return ""
    return (path.parent / roots.file.revoked).read_text()


def _document(path: Path, text: str) -> tuple[YAML, Any]:
    """The file as YAML that keeps its comments."""
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 10_000
    dashes = any(line.startswith("  - ") for line in text.splitlines())
    yaml.indent(mapping=2, sequence=4 if dashes else 2, offset=2 if dashes else 0)
    try:
        return yaml, yaml.load(text)
    except NO_YAML as why:
        raise RootsError(not_yaml(path, why)) from None


def _dumped(yaml: YAML, document: Any) -> str:
    text = io.StringIO()
    yaml.dump(document, text)
    return text.getvalue()


def _admit(document: Any, name: str, roles: Sequence[str], accounts: Sequence[str]) -> bool:
    """Put a person with these roles into the document; whether that changed anything."""
    if document.get("people") is None:
        document["people"] = {}
    people = document["people"]
    if name not in people:
        people[name] = {
            "roles": list(dict.fromkeys(roles)),
            **({"accounts": [*accounts]} if accounts else {}),
        }
        return True
    changed = False
    for field, wanted in (("roles", roles), ("accounts", accounts)):
        if new := [item for item in dict.fromkeys(wanted) if item not in (people[name].get(field) or [])]:
            people[name].setdefault(field, []).extend(new)
            changed = True
    return changed


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder for one change; others wait."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def replace(path: Path, text: str) -> None:
    """Replace a file at once, so that nobody reads half of it. A new one is its owner's alone; one that was
    there keeps its mode, and its owner where this process may give it to them.
    """
    beside = path.with_name(f".{path.name}.new")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        with suppress(FileNotFoundError):
            was = path.stat()
            with suppress(PermissionError):
                os.fchown(descriptor, was.st_uid, was.st_gid)
            os.fchmod(descriptor, was.st_mode & 0o7777)
        file.write(text)
        file.flush()
        os.fsync(descriptor)
    beside.replace(path)
