"""A campaign's book of decisions on fingerprints. What a person says of many fingerprints at once is kept
once; of a reason, as much as there is room for: the whole of it is in the archive. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice, pairwise
from typing import TypeVar

from pydantic import BaseModel

from edgeshift.campaign.packing import as_text, join, of_text, pack, pack_wide, split, unpack, unpack_wide
from edgeshift.messages import Book
from edgeshift.model.sign_off import Choice, Decision

ROOM = 12_000
"""Characters of reasons that are kept whole, over all decisions."""

SHORT = 80
"""Characters of a reason that are kept after that, until there are twice as many. Then none are."""

MOST_APPROVALS = 40_000
"""Bytes that approvals may take, packed, beside the reasons. A word over many fingerprints takes next to
none: three people who approve 2,000 fingerprints in each of 20 waves, 300 at a time, take 11,000; as many who
approve each of 2,000 by itself take 21,000, and 37,000 in no order.
"""

MOST_APPROVED = 120_000
"""Approvals that are kept, of one person on one fingerprint: as many as these three people give. More would
take too long to pack and to unpack, while the campaign answers nobody.
"""

MOST_NAMES = 100_000
"""Bytes that the names of all who approved may take, written out: 5,000 names of 20 letters, or 500 of the
longest.
"""

MOST_PACKED, MOST_DECIDED = 1_000_000, 240_000
"""Bytes that the book may take at all, half of what Temporal takes, and decisions. Nobody comes near who does
not mean to; until then a rejection is taken in, however many approvals there are.
"""

SMALL = 1_250
"""Decisions up to which approvals fit, whatever they are, and nothing but names is measured: none takes more
than 32 bytes.
"""

COLUMNS = 8
"""Of a packed book."""

_EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, eq=False)
class DecidingWord:
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


class _Texts(BaseModel):
    """The texts of a packed book, each once."""

    people: list[str]
    reasons: list[str]
    fingerprints: list[str]


class DecisionBook:
    """Decisions by fingerprint, and by wave where they were given for one alone; one a person in each."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, int | None], dict[str, DecidingWord]] = {}
        self._waves: dict[str, list[int | None]] = {}
        self._uses: dict[DecidingWord, int] = {}
        self._size = 0
        self._text = 0

    def __len__(self) -> int:
        """How many decisions it has: of one person on one fingerprint."""
        return self._size

    def __contains__(self, fingerprint: str) -> bool:
        return fingerprint in self._waves

    def fingerprints(self) -> Iterable[str]:
        """The fingerprints that it has decisions on."""
        return self._waves.keys()

    def has_room_for(
        self, fingerprints: Iterable[str], wave: int | None, word: DecidingWord, known: Sequence[str] = ()
    ) -> bool:
        """Whether it stays small enough to be carried with this word. Where it is an approval of something
        that the person has not decided on, the approvals alone count: what was rejected, in an earlier run
        maybe, takes nothing from them. They keep out no rejection, and no word that only takes the place of
        others, such as of approvals that have expired. ``known``: as for ``packed``.
        """
        about = list(fingerprints)
        replaces = all(word.by in self._entries.get((fingerprint, wave), ()) for fingerprint in about)
        approves = word.choice is Choice.APPROVE and not replaces
        after = self._of_choice(Choice.APPROVE if approves else None)
        for fingerprint in about:
            after.record(fingerprint, wave, word)
        if approves and after._bytes_of_names() > MOST_NAMES:
            return False
        if self._size + len(about) <= SMALL:
            return True
        if len(after) > (MOST_APPROVED if approves else MOST_DECIDED):
            return False
        if not approves:
            return len(after.packed(known)) <= MOST_PACKED
        _, columns = after._columns(known)
        return sum(len(pack_wide(column)) for column in columns) <= MOST_APPROVALS

    def _bytes_of_names(self) -> int:
        return sum(len(by.encode()) for by in {word.by for word in self._uses})

    def _of_choice(self, choice: Choice | None) -> DecisionBook:
        """A copy, of all words or those with this choice."""
        some = DecisionBook()
        for key, entry in self._entries.items():
            kept = {by: word for by, word in entry.items() if choice is None or word.choice is choice}
            if kept:
                some._entries[key] = kept
                some._waves.setdefault(key[0], []).append(key[1])
                some._size += len(kept)
        some._uses = Counter(word for entry in some._entries.values() for word in entry.values())
        some._text = sum(len(word.reason) for word in some._uses)
        return some

    def kept(self, reason: str) -> str:
        """As much of a reason as there is room for."""
        if self._text + len(reason) <= ROOM:
            return reason
        return reason[:SHORT] if self._text + SHORT <= 2 * ROOM else ""

    def record(self, fingerprint: str, wave: int | None, word: DecidingWord) -> DecidingWord | None:
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

    def _drop(self, word: DecidingWord) -> None:
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
                word = DecidingWord(decision.choice, decision.by, reason, at)
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

    def latest(self, most: int, each: int = MOST_DECIDED, of_all: int = MOST_DECIDED) -> list[Book]:
        """The latest entries, the last one at the end. ``each``: how many decisions of an entry, the latest;
        ``of_all``: how many in all.
        """
        found, room = list[Book](), of_all
        for key, entry in islice(reversed(self._entries.items()), most):
            if not room:
                break
            found.append(_shown(key, entry, min(each, room)))
            room -= len(found[-1].decisions)
        return found[::-1]

    def packed(self, known: Sequence[str] = ()) -> bytes:
        """It in columns. ``known``: fingerprints that need not be named, since they are carried anyway.

        Of each word: choice and whether it has a time, person, reason (by their places among the texts),
        milliseconds since the one before. Of each entry: fingerprint, wave (0: every one), how many words,
        and which. Fingerprints and words are told by how far they are from the ones before, since they follow
        each other.
        """
        texts, columns = self._columns(known)
        return join([pack(texts.model_dump_json().encode()), *map(pack_wide, columns)])

    def _columns(self, known: Sequence[str]) -> tuple[_Texts, tuple[list[int], ...]]:
        words, entries = list(self._uses), self._entries.values()
        people, by = _listed([word.by for word in words])
        reasons, reason = _listed([word.reason for word in words])
        fingerprints, numbers = _listed([fingerprint for fingerprint, _ in self._entries], known)
        texts = _Texts(people=people, reasons=reasons, fingerprints=fingerprints[len(dict.fromkeys(known)) :])
        said_at = [(word.at - _EPOCH) // _MILLISECOND for word in words if word.at]
        place = {word: number for number, word in enumerate(words)}
        columns = (
            [_flags(word) for word in words],
            by,
            reason,
            _steps(said_at),
            _steps(numbers),
            [0 if wave is None else wave + 1 for _, wave in self._entries],
            list(map(len, entries)),
            _steps([place[word] for entry in entries for word in entry.values()]),
        )
        return texts, columns

    @classmethod
    def unpacked(cls, packed: bytes, known: Sequence[str] = ()) -> DecisionBook:
        """What ``packed`` was made of. Raises ValueError where it does not have the form."""
        written, *columns = split(packed, 1 + COLUMNS)
        texts = _Texts.model_validate_json(unpack(written))
        flags, by, reason, after, numbers, waves, sizes, said = map(unpack_wide, columns)
        fingerprints = [*dict.fromkeys(known), *texts.fingerprints]
        book, number = cls(), 0
        try:
            words = list(_words(flags, _each(texts.people, by), _each(texts.reasons, reason), after))
            about = _each(fingerprints, accumulate(numbers))
            spoken = _each(words, accumulate(said))
        except IndexError:
            raise ValueError("the book names what it does not have") from None
        if min(sizes, default=1) < 1 or sum(sizes) != len(spoken):
            raise ValueError("the book has another number of decisions than its entries")
        book._uses = dict.fromkeys(words, 0)
        for fingerprint, wave, size in zip(about, waves, sizes, strict=True):
            some = spoken[number : number + size]
            number += size
            key = (fingerprint, wave - 1 if wave else None)
            book._entries[key] = {word.by: word for word in some}
            book._waves.setdefault(fingerprint, []).append(key[1])
            for word in some:
                book._uses[word] += 1
        book._size = len(spoken)
        book._text = sum(len(word.reason) for word in words)
        return book


def _listed(texts: Sequence[str], known: Sequence[str] = ()) -> tuple[list[str], list[int]]:
    """Each text once, those that are known first; and of each the place there."""
    places = {text: place for place, text in enumerate(dict.fromkeys([*known, *texts]))}
    return list(places), [places[text] for text in texts]


T = TypeVar("T")


def _each(things: Sequence[T], places: Iterable[int]) -> list[T]:
    found = list(places)
    if min(found, default=0) < 0:
        raise IndexError
    return [things[place] for place in found]


def _steps(numbers: list[int]) -> list[int]:
    return [*numbers[:1], *(after - before for before, after in pairwise(numbers))]


def _flags(word: DecidingWord) -> int:
    return int(word.choice is Choice.APPROVE) | (2 if word.at else 0)


def _words(flags: list[int], by: list[str], reason: list[str], after: list[int]) -> Iterator[DecidingWord]:
    """Raises ValueError where the columns do not fit each other."""
    times = [_EPOCH + milliseconds * _MILLISECOND for milliseconds in accumulate(after)]
    if len(times) != sum(flag >> 1 for flag in flags) or max(flags, default=0) > 3:
        raise ValueError("the book has another number of times than its words")
    at = iter(times)
    for flag, person, why in zip(flags, by, reason, strict=True):
        choice = Choice.APPROVE if flag & 1 else Choice.REJECT
        yield DecidingWord(choice, person, why, next(at) if flag & 2 else None)


def _shown(key: tuple[str, int | None], words: dict[str, DecidingWord], most: int = MOST_DECIDED) -> Book:
    fingerprint, wave = key
    earlier = max(0, len(words) - most)
    decisions = [word.on(fingerprint) for word in islice(words.values(), earlier, None)]
    return Book(fingerprint=fingerprint, wave=wave, decisions=decisions, earlier=earlier)


def fingerprints_of(entries: Iterable[Book]) -> list[str]:
    """The fingerprints that entries are about, each once."""
    return list(dict.fromkeys(entry.fingerprint for entry in entries))


def packed_rejections(entries: Iterable[Book]) -> str:
    """What an earlier run has left, as text: each word once, as much of its reason as a campaign keeps."""
    book = DecisionBook()
    for entry in entries:
        book.take(entry)
    return as_text(book.packed())


def unpacked_rejections(text: str) -> tuple[Book, ...]:
    """What ``packed_rejections`` was given, but for longer reasons. Raises ValueError."""
    return tuple(_shown(key, said) for key, said in DecisionBook.unpacked(of_text(text))._entries.items())
