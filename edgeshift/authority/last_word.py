"""The last signed word of those that stop a campaign or let it go on. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from edgeshift.authority.roots import Role, Roots, as_of
from edgeshift.authority.statements import Attested, WordStatement, stops


def last_word(
    words: Iterable[Attested], start: Attested, roots: Roots, now: datetime
) -> WordStatement | None:
    """The last word that counts of those that stop a campaign or let it go on. An abort is the last.

    One that stops counts also where it names another start of the campaign, if it was said after this one:
    whoever stops a campaign may have been shown a start that is none.
    """
    counted = [
        said.statement
        for said in words
        if isinstance(said.statement, WordStatement) and is_meant(said, start) and _stands(said, roots, now)
    ]
    aborts = [word for word in counted if word.word == "abort"]
    return max(aborts or counted, key=lambda word: (word.number, word.word == "pause"), default=None)


def is_meant(said: Attested, start: Attested) -> bool:
    """Whether a word is about this start of a campaign. One by a clock that was ahead does not stop what is
    started later.
    """
    word, begun = said.statement, start.statement
    if not isinstance(word, WordStatement):
        return False
    if word.start == start.digest:
        return True
    same = word.service == begun.service and word.area is begun.area
    return same and word.word != "resume" and as_of(said) > begun.issued


def _stands(said: Attested, roots: Roots, now: datetime) -> bool:
    """Whether a word counts. One that stops does so also after its time, when its key serves no more, and
    when that was revoked since.
    """
    if stops(said.statement):
        return roots.lasting.refuses(said, Role.OPERATOR, said.statement.issued) is None
    return roots.refuses(said, Role.OPERATOR, now) is None
