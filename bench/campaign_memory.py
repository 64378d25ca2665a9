"""How much a campaign carries at fleet size, and how long its code paths take: pure, without Temporal.

100,000 targets in 20 waves propose 2,000 fingerprints, and all wait; three people decide on each, in words
over many fingerprints or each by itself, with reasons of 500 characters. Milliseconds of processor time, of
what changes nothing the best of five.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from edgeshift.campaign.book import DecidingWord
from edgeshift.campaign.ledger import PARTS, Ledger
from edgeshift.campaign.packing import split
from edgeshift.campaign.target_states import FAILURES, IN_FLIGHT, TargetState
from edgeshift.messages import ReportKind, Step, ZoneReport
from edgeshift.model.fleet import Wave
from edgeshift.model.sign_off import Choice, SignOffPolicy

COUNT, SHAPES, PEOPLE = 100_000, 2_000, ("ann", "bob", "carl")
BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
FORTNIGHT = timedelta(days=14)
WAVES = tuple(Wave(number=n, name=f"w{n}", first=n * 5_000, end=n * 5_000 + 5_000) for n in range(20))
POLICY = SignOffPolicy(approvers=PEOPLE, required=3)
PRINTS = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(SHAPES)]


def waiting(dice: random.Random, often: list[float]) -> Ledger:
    """A campaign that has taken four hours to bring every target to its sign-off, one in fifty by itself.
    ``often``: how often there is each fingerprint.
    """
    ledger = Ledger(COUNT, BEGAN, FORTNIGHT / 100, waves=WAVES)
    found = dice.choices(PRINTS, often, k=COUNT)
    for index in range(COUNT):
        ledger.begin(index)
        word = ZoneReport(
            campaign_run="r",
            index=index,
            attempt=1,
            sequence=dice.choice((11, 11, 11, 11, 11, 11, 11, 11, 11, 17)),
            kind=ReportKind.AWAITING,
            step=Step.COMMIT,
            fingerprint=found[index],
            joins=dice.random() > 0.02,
        )
        ledger.hear(word, BEGAN + timedelta(hours=4) * index / COUNT)
    return ledger


def decide(ledger: Ledger, by: str, at_once: int, dice: random.Random) -> float:
    """One person decides on every fingerprint; the longest that one word takes, in milliseconds."""
    longest = 0.0
    for first in range(0, SHAPES, at_once):
        some = PRINTS[first : first + at_once]
        reason = "".join(dice.choices("abcdefghijklmnopqrstuvwxyz ", k=500))
        at = BEGAN + timedelta(
            days=1 + PEOPLE.index(by) / 10, milliseconds=1_500 * first + dice.randrange(1_000)
        )
        began = time.process_time()
        word = DecidingWord(Choice.APPROVE, by, ledger.book.kept(reason), at)
        for fingerprint in some:
            ledger.book.record(fingerprint, None, word)
        ledger.apply_to(some, POLICY, "olga", at)
        longest = max(longest, time.process_time() - began)
    return longest * 1_000


def sizes(packed: bytes) -> dict[str, int]:
    """Bytes of each part of a packed ledger; of its sets together."""
    names = [*PARTS, "sets"]
    found = dict.fromkeys(names, 0)
    for number, part in enumerate(split(packed[1:])):
        found[names[min(number, len(PARTS))]] += len(part)
    return found


def best(path: Callable[[], object]) -> float:
    """Milliseconds of processor time, of five runs the shortest."""
    found = []
    for _ in range(5):
        began = time.process_time()
        path()
        found.append(time.process_time() - began)
    return min(found) * 1_000


def show(at_once: int, often: list[float], how: str) -> None:
    """Measure one campaign, and print."""
    dice = random.Random(1)
    ledger = waiting(dice, often)
    longest = max(decide(ledger, by, at_once, dice) for by in PEOPLE)
    packed = ledger.packed()
    print(f"{at_once:,} fingerprints a word, {how}:")
    print(f"  carried: {len(packed):,} bytes")
    for name, size in sizes(packed).items():
        print(f"    {name}: {size:,}")
    print(f"  the longest word: {longest:.1f} ms; ready then: {ledger.number(TargetState.READY):,}")
    print(f"  packing: {best(ledger.packed):.1f} ms")
    empty = [Ledger(COUNT, BEGAN, FORTNIGHT / 100, waves=WAVES) for _ in range(5)]
    print(f"  unpacking: {best(lambda: empty.pop().unpack(packed)):.1f} ms")
    print(f"  overdue: {best(lambda: ledger.overdue(BEGAN + FORTNIGHT, FORTNIGHT)):.1f} ms")
    counts = best(lambda: [ledger.tallies(wave) for wave in (None, *range(20))])
    print(f"  counts of all waves: {counts:.2f} ms")
    state = best(lambda: (ledger.finished(), ledger.failures(), ledger.zones(*IN_FLIGHT, *FAILURES)))
    print(f"  what each message asks: {state:.3f} ms")


def main() -> None:
    """Fingerprints of which most are rare, and that are all as frequent."""
    falling = [1 / (number + 1) for number in range(SHAPES)]
    for at_once in (300, 1):
        show(at_once, falling, "most of which are rare")
        show(at_once, [1.0] * SHAPES, "all as frequent")


if __name__ == "__main__":
    main()
