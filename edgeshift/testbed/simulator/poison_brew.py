"""What the mutations of a poisoned answer work on, and how it becomes bytes. Pure."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

JSON_TYPE = ("content-type", "application/json")
# A character that no text has marks what JSON itself cannot say, until the text is made.
_MARK = "\ufdd0"
MOST_PLACES = 20_000


@dataclass(frozen=True)
class Place:
    """A value within a document: ``parent[key]``, and its name such as ``result.rules.0.action``."""

    parent: Any
    key: Any
    name: str

    @property
    def value(self) -> Any:
        """What stands there."""
        return self.parent[self.key]

    def put(self, value: Any) -> None:
        """Let something else stand there."""
        self.parent[self.key] = value


@dataclass
class Brew:
    """An answer while it is spoilt. ``root``: holds the document under its one key. ``body``: the bytes, once
    they are no longer made of the document.
    """

    chance: random.Random
    status: int
    root: dict[str, Any]
    others: Sequence[str]
    headers: list[tuple[str, str]] = field(default_factory=lambda: [JSON_TYPE])
    body: bytes | None = None
    names: list[str] = field(default_factory=list)
    _raw: list[bytes] = field(default_factory=list)
    _where: str = ""

    @classmethod
    def of(cls, chance: random.Random, status: int, document: Any, others: Sequence[str]) -> Brew:
        """A brew of its own copy of the document."""
        return cls(chance, status, {"": copy.deepcopy(document)}, others)

    @property
    def document(self) -> Any:
        """The answer's document so far."""
        return self.root[""]

    def told(self, name: str) -> None:
        """Note what was done, and where."""
        self.names.append(f"{name}@{self._where}" if self._where else name)
        self._where = ""

    def at(self, place: Place) -> Place:
        """The same place, noted as the one that is changed."""
        self._where = place.name
        return place

    def raw(self, data: bytes) -> str:
        """Stands for these bytes in the document, as they are."""
        self._raw.append(data)
        return f"{_MARK}{len(self._raw) - 1}{_MARK}"

    def places(self, wanted: Callable[[Any], bool] = lambda value: True) -> list[Place]:
        """The values of the answer's result, or of an answer without an envelope, that are wanted."""
        found: list[Place] = []
        document = self.document
        inside = isinstance(document, dict) and "result" in document
        start = Place(document, "result", "result") if inside else Place(self.root, "", "answer")
        left = [start]
        while left and len(found) < MOST_PLACES:
            place = left.pop()
            if wanted(place.value):
                found.append(place)
            keys: Any = ()
            if isinstance(place.value, dict):
                keys = place.value
            elif isinstance(place.value, list):
                keys = range(len(place.value))
            left += [Place(place.value, key, f"{place.name}.{key}") for key in keys]
        return found

    def some(self, wanted: Callable[[Any], bool] = lambda value: True) -> Place:
        """One of those values by chance; the whole answer where there is none."""
        found = self.places(wanted)
        return self.at(self.chance.choice(found) if found else Place(self.root, "", "answer"))

    def bytes(self) -> bytes:
        """The answer's body."""
        if self.body is not None:
            return self.body
        if self.document is None and not self._raw:
            return b""
        text = json.dumps(self.document, ensure_ascii=False, separators=(",", ":"))
        data = text.encode("utf-8", "surrogatepass")
        for number, raw in enumerate(self._raw):
            data = data.replace(f'"{_MARK}{number}{_MARK}"'.encode(), raw)
        # What is left of a mark stood within a key, which it makes a second one of the same name.
        return data.replace(_MARK.encode(), b"")


Mutation = Callable[[Brew], None]
