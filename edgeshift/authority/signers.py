"""Whose keys they are: OpenSSH's ``allowed_signers`` file, as ``ssh-keygen -Y verify`` reads it. Pure.

One line a key: the names of its owner, options, the key. Names are taken as they are: patterns are refused,
since whoever counts people must know them; so are certificates, which this does not check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from edgeshift.authority.sshsig import NAMESPACE, BadKey, PublicKey
from edgeshift.runtime.safe_text import hides

_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')
_OPTION = re.compile(r'([A-Za-z-]+)(?:="([^"]*)")?')
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)")
_KINDS = ("ssh-", "ecdsa-", "sk-")
_PATTERN = frozenset("*?!")
_NO_NAME = _PATTERN | frozenset(',"')
LONGEST_NAME = 100


class BadSigners(ValueError):
    """A line of an allowed_signers file that cannot be read; names the line and what would be right."""


@dataclass(frozen=True)
class AllowedKey:
    """A key, its owner's names, and when and for what it may sign (``namespaces`` empty: for anything)."""

    key: PublicKey
    names: tuple[str, ...]
    namespaces: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None

    def serves(self, namespace: str, at: datetime) -> bool:
        """Whether it may sign for this at that time."""
        if self.namespaces and namespace not in self.namespaces:
            return False
        return not (self.after and at < self.after) and not (self.before and at >= self.before)


class Signers:
    """The keys of a file, by their identifiers. ``revoked``: those that count no more, whenever they
    signed.
    """

    def __init__(self, keys: list[AllowedKey], revoked: frozenset[str] = frozenset()) -> None:
        self.keys = tuple(keys)
        self.revoked = revoked
        self._by_key: dict[bytes, list[AllowedKey]] = {}
        for allowed in keys:
            self._by_key.setdefault(allowed.key.blob, []).append(allowed)

    @property
    def names(self) -> frozenset[str]:
        """Everybody who has a key."""
        return frozenset(name for allowed in self.keys for name in allowed.names)

    def knows(self, key: PublicKey) -> bool:
        """Whether it is anybody's, revoked or not."""
        return key.blob in self._by_key

    def may_sign(self, key: PublicKey, name: str, at: datetime, namespace: str = NAMESPACE) -> str | None:
        """Why this key does not sign for this name at that time, or None where it does."""
        if key.id in self.revoked:
            return f"key {key.id} was revoked"
        found = self._by_key.get(key.blob)
        if not found:
            return f"key {key.id} is nobody's that is known"
        own = [allowed for allowed in found if name in allowed.names]
        if not own:
            return f"key {key.id} is not {name}'s"
        if not any(allowed.serves(namespace, at) for allowed in own):
            return f"key {key.id} of {name} does not serve for this, or not at that time"
        return None


def parsed(text: str, revoked: str = "") -> Signers:
    """The keys of a file with this text. ``revoked``: of a file with one public key a line. Raises
    BadSigners.
    """
    keys = [_allowed(number, line) for number, line in _lines(text)]
    gone = frozenset(_key(number, line.split(), "revoked keys").id for number, line in _lines(revoked))
    return Signers(keys, gone)


def line_of(name: str, key: str) -> str:
    """A line of an allowed_signers file for a person and a key (``kind base64``). Raises BadSigners for what
    could not be read back as this name.
    """
    name = checked_name(name)
    return f'"{name}" {key}' if " " in name else f"{name} {key}"


def checked_name(name: str) -> str:
    """A person's name, if an allowed_signers file can have it: it parts names by commas, and takes ``*``,
    ``?`` and ``!`` for patterns. Raises BadSigners.
    """
    odd = sorted(_NO_NAME & set(name))
    if odd:
        raise BadSigners(f"{name[:60]!r} is no name for a key: it has {odd[0]!r}; leave it out")
    if not name or name != " ".join(name.split()) or not name.isprintable() or name.startswith("#"):
        raise BadSigners(
            f"{name[:60]!r} is no name for a key: write letters, digits and signs, with single spaces between"
        )
    if len(name) > LONGEST_NAME:
        raise BadSigners(f"{name[:20]!r}… is no name for a key: it is longer than {LONGEST_NAME} characters")
    return name


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, by their numbers. They end where OpenSSH and editors end them: with what
    else Python takes for an end (U+2028, a lone carriage return), a key could stand in another's comment.
    """
    for number, line in enumerate(text.split("\n"), 1):
        said = line.removesuffix("\r")
        if odd := next((char for char in said if char != "\t" and hides(char)), None):
            raise BadSigners(f"line {number}: it has U+{ord(odd):04X}, which is not shown; take it out")
        if said.strip() and not said.lstrip().startswith("#"):
            yield number, said.strip()


def _allowed(number: int, line: str) -> AllowedKey:
    # They are counted, as no escape is known there; a pattern of the whole line could take for ever to fail.
    if line.count('"') % 2:
        raise BadSigners(f"line {number}: a quotation mark is not closed")
    words = _WORD.findall(line)
    names = tuple(name for name in words[0].strip('"').split(",") if name)
    if not names or any(_PATTERN & set(name) for name in names):
        raise BadSigners(f"line {number}: {words[0][:60]!r} is a pattern; write each person's name itself")
    at = 1
    options: dict[str, str] = {}
    if len(words) > 1 and not words[1].startswith(_KINDS):
        at = 2
        options = dict(_options(number, words[1]))
    key = _key(number, words[at:], "signers")
    spaces = tuple(part for part in options.get("namespaces", "").split(",") if part)
    return AllowedKey(
        key,
        names,
        spaces,
        _time(number, options.get("valid-after")),
        _time(number, options.get("valid-before")),
    )


def _options(number: int, text: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for item in re.findall(r'(?:[^,"]|"[^"]*")+', text):
        name = item.partition("=")[0].lower()
        if name == "cert-authority":
            raise BadSigners(f"line {number}: certificates are not taken; list the key of each person")
        if name not in ("namespaces", "valid-after", "valid-before"):
            raise BadSigners(
                f"line {number}: {name[:40]!r} is no option; namespaces, valid-after and valid-before are"
            )
        found = _OPTION.fullmatch(item)
        # Without a value it would be no limit at all.
        if found is None or not found[2]:
            raise BadSigners(f'line {number}: {name} has no value in quotation marks; write {name}="…"')
        if name in seen:
            raise BadSigners(f"line {number}: {name} stands there twice")
        if name == "namespaces" and _PATTERN & set(found[2]):
            raise BadSigners(f"line {number}: namespaces has a pattern; write each namespace itself")
        seen.add(name)
        yield name, found[2]


def _key(number: int, words: list[str], what: str) -> PublicKey:
    if len(words) < 2:
        raise BadSigners(f"line {number} of the {what}: there is no key; write its kind and its base64")
    try:
        return PublicKey.parsed(words[0], words[1])
    except BadKey as why:
        raise BadSigners(f"line {number} of the {what}: {why}") from None


def _time(number: int, text: str | None) -> datetime | None:
    """A time as OpenSSH writes it; without ``Z`` it is the machine's there, and UTC here."""
    if text is None:
        return None
    found = _TIME.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        parts = [int(part or 0) for part in found.groups()[:6]]
        return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]
    except ValueError:
        raise BadSigners(f"line {number}: {text[:20]!r} is no time; write YYYYMMDD[HHMM[SS]]Z") from None
