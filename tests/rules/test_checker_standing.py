"""Rule 12, of what people's keys hold back: a signed pause or abort, a rejection, an attempt that nobody
began.
"""

from __future__ import annotations

from typing import Any, Literal

import pytest

from edgeshift.authority.statements import AgainStatement, WordStatement
from edgeshift.model.sign_off import Choice
from edgeshift.testbed.invariants.keys import Signed
from tests.kit import APPROVER, OPERATOR
from tests.rules.checker_kit import BIG, ENTERPRISE, PRO, changed, the
from tests.rules.test_checker_keys import ONE, about, about_to_send, approval, judged, signed, start

BEGUN = start()
AGREED = (BEGUN, approval(BEGUN))


def word(said: Literal["pause", "resume", "abort"], second: float, number: int = 1, **more: Any) -> Signed:
    """A word of the operator, or of whoever is named."""
    by = more.pop("by", OPERATOR)
    facts = {"start": BEGUN.digest, "word": said, "number": number, **more}
    return signed(WordStatement(**about(by, second), **facts))


def again(verb: Literal["retry", "reopen"], second: float, by: str = OPERATOR, **more: Any) -> Signed:
    """A word of the operator, or of whoever is named, that begins the Professional zone again."""
    facts = {"start": BEGUN.digest, "verb": verb, "zones": (PRO,), **more}
    return signed(AgainStatement(**about(by, second), **facts))


def late(one: Signed) -> Signed:
    """The same, of which the place where it is found was not written."""
    return one.model_copy(update={"stored": None})


STOPPED = {
    "a pause": ((word("pause", 3),), "had signed a pause"),
    "an abort": ((word("abort", 3),), "had signed an abort"),
    "an abort, and a resume after it": ((word("abort", 3), word("resume", 5, 2)), "had signed an abort"),
    "a pause that names another start": ((word("pause", 3, start="0" * 64),), "had signed a pause"),
    "a pause, and nobody's resume": ((word("pause", 3), word("resume", 5, 2, by=APPROVER)), "a pause"),
    "a pause, and a resume before it": ((word("resume", 2), word("pause", 4, 2)), "had signed a pause"),
}


@pytest.mark.parametrize("name", STOPPED)
def test_a_signed_word_stops_what_begins_after_it(name: str) -> None:
    """Whatever Temporal was told, and whoever has approved the change."""
    words, text = STOPPED[name]
    (found,) = judged(*AGREED, *words)
    assert "by key" in found and text in found


GOES_ON = {
    "a pause that was lifted": (word("pause", 3), word("resume", 5, 2)),
    "a pause while it was under way": (word("pause", 9),),
    "a pause from afterwards": (word("pause", 20),),
    "a pause that never came to where it is found": (late(word("pause", 3)),),
    "a pause by an approver": (word("pause", 3, by=APPROVER),),
    "a pause before the campaign was started": (word("pause", -5, start="0" * 64),),
}


@pytest.mark.parametrize("name", GOES_ON)
def test_no_other_word_stops_anything(name: str) -> None:
    """What may have been checked before the word was there goes on as well."""
    assert judged(*AGREED, *GOES_ON[name]) == []


def test_a_stop_of_one_start_does_not_hold_the_next() -> None:
    """An aborted campaign is started again, and signed anew."""
    anew = start(second=4)
    assert judged(*AGREED, word("abort", 3), anew, approval(anew, issued=anew.at("issued"))) == []
    assert judged(*AGREED, word("abort", 3), anew)


def test_a_step_that_needs_no_sign_off_rests_on_a_start() -> None:
    """A validation, of a zone that no start lists; and of one whose campaign was paused before."""
    unlisted = changed(roster=ONE.seen, statements=AGREED)
    assert any("two.example" in text and "start" in text for text in the(12, unlisted).violations)
    all_listed = start(zones=(PRO, ENTERPRISE, BIG), second=-9)
    for words, text in (((), ""), ((word("pause", -5, start=all_listed.digest),), "a pause")):
        seen = changed(roster=ONE.seen, statements=(all_listed, *words))
        found = [one for one in the(12, seen).violations if "request 3)" in one]
        assert bool(found) is bool(text) and all(text in one for one in found)


def test_a_rejection_binds_until_an_operator_reopens_the_zone() -> None:
    """Whoever has approved, and for whichever start; then people decide anew."""
    rejected = approval(BEGUN, "bob", choice=Choice.REJECT, issued=about("bob", 3)["issued"])
    of_before = approval(start(second=-9), "bob", choice=Choice.REJECT)
    for one in (rejected, of_before):
        (found,) = judged(*AGREED, one)
        assert "bob had rejected it" in found
    reopened = again("reopen", 4)
    assert "0 of 1" in judged(*AGREED, rejected, reopened)[0]
    anew = approval(BEGUN, issued=about(APPROVER, 5)["issued"])
    assert judged(BEGUN, rejected, reopened, anew) == []
    assert judged(BEGUN, rejected, again("reopen", 4, by=APPROVER), anew)
    assert judged(BEGUN, rejected, again("retry", 4), anew)
    usual, shared = ("aborted", "excluded", "on_hold"), again("reopen", 6, zones=(), places=("on_hold",))
    (found,) = judged(BEGUN, rejected, again("reopen", 4, zones=(), places=usual), anew)
    assert "bob had rejected it" in found
    assert judged(BEGUN, rejected, again("reopen", 4, zones=(), places=("rejected",)), anew) == []
    assert judged(BEGUN, rejected, reopened, anew, shared) == []
    # Where nobody has rejected it, a reopening voids nothing; what is rejected under way comes too late.
    assert judged(*AGREED, reopened) == []
    assert (
        judged(*AGREED, approval(BEGUN, "bob", choice=Choice.REJECT, issued=about("bob", 9)["issued"])) == []
    )


def test_a_rejection_of_somebody_whom_the_campaign_does_not_list_binds_nobody() -> None:
    """Nor one by somebody without the role, or of something else."""
    listed = BEGUN.model_copy(update={"approvers": frozenset({APPROVER})})
    rejected = approval(BEGUN, "bob", choice=Choice.REJECT)
    assert judged(listed, approval(listed), rejected) == []
    shared: dict[str, Any] = {"choice": Choice.REJECT, "about": "fingerprint", "zone": None, "attempt": None}
    assert judged(*AGREED, approval(BEGUN, "bob", **shared))
    one_by_one = BEGUN.model_copy(update={"one_by_one": True})
    assert judged(one_by_one, approval(BEGUN), approval(BEGUN, "bob", **shared)) == []
    for other in (
        approval(BEGUN, "opal", choice=Choice.REJECT),
        approval(BEGUN, "bob", choice=Choice.REJECT, subjects=("e" * 64,)),
        approval(BEGUN, "bob", choice=Choice.REJECT, campaign="d"),
        approval(BEGUN, "bob", choice=Choice.REJECT, zone=ENTERPRISE),
    ):
        assert judged(*AGREED, other) == []


def test_an_attempt_after_the_first_is_begun_by_an_operators_key() -> None:
    """A retry or a reopening, of this zone and for this start."""
    second: dict[str, Any] = {"intents": (about_to_send(2),)}
    agreed = (BEGUN, approval(BEGUN, attempt=2, issued=about(APPROVER, 5)["issued"]))
    (found,) = judged(*agreed, **second)
    assert "nobody who may has begun attempt 2" in found
    for verb in ("retry", "reopen"):
        assert judged(*agreed, again(verb, 4), **second) == []
    assert judged(*agreed, again("retry", 4, zones=()), **second) == []
    for other in (
        again("retry", 4, by=APPROVER),
        again("retry", 4, zones=(ENTERPRISE,)),
        again("retry", 4, start="0" * 64),
        again("retry", 20),
    ):
        assert judged(*agreed, other, **second)
    # Two attempts may have been under way; of none that is recorded nothing is said.
    assert judged(*AGREED, intents=(about_to_send(1, 8.5), about_to_send(2))) == []
    assert judged(*agreed, intents=()) == []
