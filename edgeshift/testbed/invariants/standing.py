"""Rule 12, of every step forward: a start that somebody has signed who may, nobody's signed pause or abort,
and a signed word that begins an attempt after the first. Checked by the statements in the archive alone.
"""

from __future__ import annotations

from edgeshift.testbed.invariants.keys import NOBODYS, Sent, Signed, begun_again, is_here


def held_back(sent: Sent) -> str | None:
    """Why what people signed keeps a step forward from being sent, or None."""
    why: str | None = NOBODYS
    starts = sent.starts()
    for start in starts:
        if sent.zone not in start.zones or _has_ended(sent, start, starts):
            continue
        why = _stopped(sent, start) or _begun_by_nobody(sent, start)
        if why is None:
            return None
    return why


def _has_ended(sent: Sent, start: Signed, starts: list[Signed]) -> bool:
    """Whether the same was started anew, before the step was checked."""
    return any(
        is_here(one, start)
        and one.statement["spec"] == start.statement["spec"]
        and start.at("issued") < one.at("issued") <= sent.settled
        for one in starts
    )


def _stopped(sent: Sent, start: Signed) -> str | None:
    """Why the last word on the campaign stops it, or None. A word that stops holds once it was there for as
    long as a step may take that was checked before; one that lets it go on holds as soon as it is signed.
    """
    counted = [
        one.statement
        for one in sent.of_kind("word")
        if sent.holds(one, "operator")
        and _is_meant(one, start)
        and (one.statement["word"] == "resume" or sent.is_settled(one))
    ]
    aborts = [word for word in counted if word["word"] == "abort"]
    last = max(aborts or counted, key=lambda word: (word["number"], word["word"] == "pause"), default=None)
    if last is None or last["word"] == "resume":
        return None
    return f"by key: {last['by']} had signed {'an abort' if last['word'] == 'abort' else 'a pause'}"


def _is_meant(one: Signed, start: Signed) -> bool:
    """Whether a word is about this start. One that stops is also where it names another start, if it was
    said after this one.
    """
    said = one.statement
    if said["start"] == start.digest:
        return True
    return is_here(one, start) and said["word"] != "resume" and one.since > start.at("issued")


def _begun_by_nobody(sent: Sent, start: Signed) -> str | None:
    """Why nobody who may has begun the attempt, or None, also where it is the first."""
    if not sent.attempts or min(sent.attempts) <= 1:
        return None
    if any(
        one.statement["start"] == start.digest and one.since >= start.at("issued")
        for one in begun_again(sent, start)
    ):
        return None
    return f"by key: nobody who may has begun attempt {min(sent.attempts)}"
