"""A campaign's book of decisions on fingerprints. What a person says of many fingerprints at once is kept
once; of a reason, as much as there is room for: the whole of it is in the archive. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice, pairwise

from pydantic import BaseModel

from edgeshift.messages import Book
from edgeshift.model.sign_off import Choice, Decision

ROOM = 12_000
"""Characters of reasons that are kept whole, over all decisions."""

SHORT = 80
"""Characters of a reason that are kept after that, until there are twice as many. Then none are."""

MOST_WEIGHT = 120_000
"""Bytes that the book may take before it is compressed, by ``weight_of``: three people who decide on each of
2,000 fingerprints by itself take 96,000.
"""

_EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, eq=False)
class Word:
    """What one person said, in one message, of one or many fingerprints. Of ``at``, milliseconds are kept."""

    choice: Choice
    by: str
    reason: str
    at: datetime | None

    def on(self, fingerprint: str) -> Decision:
        """It as a decision on one fingerprint."""
        # It was checked when it came in.
        return Decision.model_construct(
            choice=self.choice, digest=fingerprint, by=self.by, reason=self.reason, at=self.at
        )


class PackedBook(BaseModel):
    """The book in columns. Of each word: choice, person, reason (by their places in the lists), milliseconds
    since the one before. Of each entry: fingerprint, wave (0: every one), how many words, and which.
    Fingerprints and words are told by how far they are from the ones before, since they follow each other.
    """

    people: list[str] = []
    reasons: list[str] = []
    approves: list[int] = []
    by: list[int] = []
    reason: list[int] = []
    after: list[int | None] = []
    fingerprints: list[str] = []
    numbers: list[int] = []
    waves: list[int] = []
    sizes: list[int] = []
    words: list[int] = []


def weight_of(entries: int, words: int) -> int:
    """Bytes that so many words take before they are compressed, and so many entries that they are about."""
    return 8 * entries + 8 * words


class DecisionBook:
    """Decisions by fingerprint, and by wave where they were given for one alone; one a person in each."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, int | None], dict[str, Word]] = {}
        self._waves: dict[str, list[int | None]] = {}
        self._uses: dict[Word, int] = {}
        self._size = 0
        self._text = 0

    def __len__(self) -> int:
        """How many decisions it has: of one person on one fingerprint."""
        return self._size

    def __contains__(self, fingerprint: str) -> bool:
        return fingerprint in self._waves

    @property
    def weight(self) -> int:
        """Bytes that it takes before it is compressed, beside the reasons."""
        return weight_of(self._size, len(self._uses))

    def kept(self, reason: str) -> str:
        """As much of a reason as there is room for."""
        if self._text + len(reason) <= ROOM:
            return reason
        return reason[:SHORT] if self._text + SHORT <= 2 * ROOM else ""

    def record(self, fingerprint: str, wave: int | None, word: Word) -> Word | None:
        """Take a word in; what the same person had said before, if anything."""
        entry = self._entries.get((fingerprint, wave))
        if entry is None:
            entry = self._entries[fingerprint, wave] = {}
            self._waves.setdefault(fingerprint, []).append(wave)
        before = entry.pop(word.by, None)
        if before is not None:
            self._drop(before)
        entry[word.by] = word
        self._size += 1
        if word not in self._uses:
            self._text += len(word.reason)
        self._uses[word] = self._uses.get(word, 0) + 1
        return before

    def _drop(self, word: Word) -> None:
        self._size -= 1
        self._uses[word] -= 1
        if not self._uses[word]:
            del self._uses[word]
            self._text -= len(word.reason)

    def forget(self, fingerprint: str) -> None:
        """Nothing that was said of the fingerprint counts any more."""
        for wave in self._waves.pop(fingerprint, []):
            for word in self._entries.pop((fingerprint, wave)).values():
                self._drop(word)

    def take(self, entry: Book) -> None:
        """Take in what an earlier run has left of one fingerprint. What was said here stands."""
        known = self._entries.get((entry.fingerprint, entry.wave), {})
        for decision in entry.decisions:
            if decision.by not in known:
                reason = self.kept(decision.reason)
                at = decision.at and decision.at - timedelta(microseconds=decision.at.microsecond % 1_000)
                word = Word(decision.choice, decision.by, reason, at)
                self.record(entry.fingerprint, entry.wave, word)

    def said(self, fingerprint: str, wave: int) -> list[Decision]:
        """What counts for targets of a wave that propose the fingerprint."""
        return [
            word.on(fingerprint)
            for about in self._waves.get(fingerprint, ())
            if about in (None, wave)
            for word in self._entries[fingerprint, about].values()
        ]

    def waves_of(self, fingerprint: str) -> frozenset[int]:
        """The waves that something was said for alone."""
        return frozenset(wave for wave in self._waves.get(fingerprint, ()) if wave is not None)

    def latest(self, most: int) -> list[Book]:
        """The latest entries, the last one at the end."""
        some = list(islice(reversed(self._entries.items()), most))
        return [_shown(key, entry) for key, entry in reversed(some)]

    def packed(self, known: Sequence[str] = ()) -> PackedBook:
        """It in columns. ``known``: fingerprints that need not be named, since they are carried anyway."""
        found, words, last = PackedBook(), {word: place for place, word in enumerate(self._uses)}, 0
        people, reasons, fingerprints = _Listed(), _Listed(), _Listed(known)
        carried = len(fingerprints.listed)
        for word in words:
            found.approves.append(int(word.choice is Choice.APPROVE))
            found.by.append(people.place(word.by))
            found.reason.append(reasons.place(word.reason))
            at = (word.at - _EPOCH) // _MILLISECOND if word.at else None
            found.after.append(None if at is None else at - last)
            last = last if at is None else at
        for (fingerprint, wave), entry in self._entries.items():
            found.numbers.append(fingerprints.place(fingerprint))
            found.waves.append(0 if wave is None else wave + 1)
            found.sizes.append(len(entry))
            found.words.extend(words[word] for word in entry.values())
        found.people, found.reasons = list(people.listed), list(reasons.listed)
        found.fingerprints = list(fingerprints.listed)[carried:]
        found.numbers, found.words = _steps(found.numbers), _steps(found.words)
        return found

    @classmethod
    def unpacked(cls, packed: PackedBook, known: Sequence[str] = ()) -> DecisionBook:
        """What ``packed`` was made of."""
        book, words, said = cls(), list(_words(packed)), accumulate(packed.words)
        fingerprints = [*dict.fromkeys(known), *packed.fingerprints]
        book._uses = dict.fromkeys(words, 0)
        for number, wave, size in zip(accumulate(packed.numbers), packed.waves, packed.sizes, strict=True):
            for place in islice(said, size):
                word = words[place]
                key = (fingerprints[number], wave - 1 if wave else None)
                book._entries.setdefault(key, {})[word.by] = word
                book._text += 0 if book._uses[word] else len(word.reason)
                book._uses[word] += 1
                book._size += 1
        for fingerprint, about in book._entries:
            book._waves.setdefault(fingerprint, []).append(about)
        return book


def _steps(numbers: list[int]) -> list[int]:
    return [*numbers[:1], *(after - before for before, after in pairwise(numbers))]


class _Listed:
    def __init__(self, known: Sequence[str] = ()) -> None:
        self.listed = {text: place for place, text in enumerate(dict.fromkeys(known))}

    def place(self, text: str) -> int:
        return self.listed.setdefault(text, len(self.listed))


def _words(packed: PackedBook) -> Iterator[Word]:
    last = 0
    columns = zip(packed.approves, packed.by, packed.reason, packed.after, strict=True)
    for approves, by, reason, after in columns:
        at = None
        if after is not None:
            last += after
            at = _EPOCH + last * _MILLISECOND
        choice = Choice.APPROVE if approves else Choice.REJECT
        yield Word(choice, packed.people[by], packed.reasons[reason], at)


def _shown(key: tuple[str, int | None], words: dict[str, Word]) -> Book:
    fingerprint, wave = key
    decisions = [word.on(fingerprint) for word in words.values()]
    return Book(fingerprint=fingerprint, wave=wave, decisions=decisions)


def fingerprints_of(entries: Iterable[Book]) -> list[str]:
    """The fingerprints that entries are about, each once."""
    return list(dict.fromkeys(entry.fingerprint for entry in entries))
