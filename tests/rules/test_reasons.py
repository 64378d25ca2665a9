"""Reasons: a code with facts, one text for each, and what earlier versions wrote."""

from __future__ import annotations

import base64
import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from activities.change.own_changes import NOT_ENOUGH, NOT_OURS, NOT_SHOWN
from activities.change.settled import AS_SIGNED
from edgeshift.messages import Prepared, Shown, Watched, ZoneReport, ZoneResult, reason_of_hold
from edgeshift.model.reason_texts import TEXTS, text_of
from edgeshift.model.reasons import Reason, ReasonCode, codes_of, in_words
from edgeshift.rate_limit.circuit import Trouble, held

HISTORIES = Path(__file__).parents[1] / "replay" / "histories"
WHOLE = {
    "count": 3,
    "of": 5,
    "limit": 2,
    "size": 9000,
    "seconds": 1.25,
    "names": ("a", "b"),
    "state": "start",
    "plan": "pro",
    "day": date(2024, 1, 1),
    "at": date(2024, 1, 2),
    "by": "ada",
    "said": "its words",
    "because": (Reason(code=ReasonCode.ESC_ON),),
    "then": (Reason(code=ReasonCode.ESC_OFF),),
}


@pytest.mark.parametrize("code", ReasonCode)
def test_every_code_has_a_text_of_its_own(code: ReasonCode) -> None:
    """With all facts and with none; no text shows that a fact is missing where it is there."""
    whole = text_of(Reason.model_validate({"code": code, **WHOLE}))
    assert whole and "None" not in whole and "  " not in whole
    assert isinstance(text_of(Reason(code=code)), str)


def test_no_text_is_of_a_code_that_there_is_not() -> None:
    """The two lists are the same."""
    assert set(TEXTS) == set(ReasonCode)


@pytest.mark.parametrize("code", ReasonCode)
def test_a_reason_comes_back_from_json_with_the_facts_that_it_has(code: ReasonCode) -> None:
    """Whole, and without facts, which leave nothing behind in the JSON."""
    whole = Reason.model_validate({"code": code, **WHOLE})
    assert Reason.model_validate_json(whole.model_dump_json()) == whole
    assert json.loads(Reason(code=code).model_dump_json()) == {"code": code.value}


def test_a_reason_of_a_later_version_is_read() -> None:
    """Its code is not known, its words are; facts that are not known are left out."""
    later = {"code": "of_tomorrow", "words": "it rains", "colour": "red"}
    assert Reason.model_validate(later) == Reason(code=ReasonCode.OTHER, words="it rains")


def test_reasons_lead_to_each_other() -> None:
    """What led to it comes first, then what was found after."""
    worse = Reason(code=ReasonCode.URLS_WORSE, names=("/a answers 500",))
    back = Reason(code=ReasonCode.URLS_AS_BEFORE, count=7)
    undone = Reason(code=ReasonCode.ROLLED_BACK, seconds=2.04, because=(worse,), then=(back,))
    assert text_of(undone) == "/a answers 500; rolled back in 2.0 s: 7 URLs answer as before"
    assert codes_of((worse, back, worse)) == (ReasonCode.URLS_WORSE, ReasonCode.URLS_AS_BEFORE)


@pytest.mark.parametrize(
    ("code", "said", "words"),
    [
        ("change_not_signed", "", "no worker has signed that this campaign made the change"),
        ("watched_too_short", "", "it has not been watched for as long as it is to be"),
        ("made_by_others", "", "what the campaign sent never showed: somebody else has made the change"),
        ("may_still_show", "", "a change that was sent may still come to show"),
        ("seen_to_its_end", "", "it was seen to its end before"),
        ("seen_to_its_end", "what it would undo was seen to its end", ""),
        ("rollback_not_made", "no answer within the request's limit", ""),
        ("no_room_by_roots", "the roots let no more through", ""),
    ],
)
def test_why_nothing_is_signed_of_a_look_is_a_code(code: str, said: str, words: str) -> None:
    """Whose text is what people have always read; none is told as ``other``."""
    why = Reason(code=ReasonCode(code), said=said)
    assert why.code.value == code and text_of(why) == (words or said)
    assert [one.code for one in (NOT_OURS, NOT_ENOUGH, NOT_SHOWN, AS_SIGNED)] == [
        ReasonCode.CHANGE_NOT_SIGNED,
        ReasonCode.WATCHED_TOO_SHORT,
        ReasonCode.MADE_BY_OTHERS,
        ReasonCode.SEEN_TO_ITS_END,
    ]
    unseen = Watched.not_looked_at(NOT_OURS)
    assert (
        unseen.said
        == "it could not be looked at again: no worker has signed that this campaign made the change"
    )
    assert unseen.why[0].because == (NOT_OURS,)


def test_messages_make_their_text_of_the_reasons() -> None:
    """Where both are given, both stay."""
    why = (Reason(code=ReasonCode.NOT_SIGNED_IN_TIME),)
    result = ZoneResult.model_validate({"outcome": "on_hold", "why": [{"code": "not_signed_in_time"}]})
    assert result.why == why and result.reason == text_of(*why)
    assert Watched.as_worse(*why).worse == Watched.as_done(*why, record="").said == text_of(*why)
    shown = Shown(reached=True, reason="migrated", why=why)
    assert shown.reason == "migrated" and shown.explained == why


def test_messages_of_earlier_versions_are_explained_by_their_words() -> None:
    """They have no code; a reading has the codes of what stands in the way."""
    old = ZoneResult.model_validate({"outcome": "failed", "reason": "it broke"})
    assert old.why == () and old.explained == in_words("it broke") and text_of(*old.explained) == "it broke"
    assert ZoneResult.model_validate({"outcome": "migrated", "reason": ""}).explained == ()
    report = {"campaign_run": "r", "index": 0, "attempt": 1, "sequence": 1, "kind": "waiting"}
    assert ZoneReport.model_validate(report).codes == ()
    read = {"verdict": "needs_support", "snapshot": "s", "causes": ["too_many_rules"], "reasons": ["a", "b"]}
    first, second = Prepared.model_validate(read).explained
    assert (first.code, first.words) == (ReasonCode.TOO_MANY_RULES, "a")
    assert (second.code, second.words) == (ReasonCode.OTHER, "b")


EXPIRED_BEFORE = "nobody signed it off in time; reopen it when somebody will"


def test_results_in_committed_histories_are_read() -> None:
    """Those of earlier versions among them."""
    found = 0
    for path in HISTORIES.glob("*.json"):
        if path.name.startswith(("assessment", "campaign", "hold", "freeze", "quota")):
            continue
        last = json.loads(path.read_text())["events"][-1]
        ended = last.get("workflowExecutionCompletedEventAttributes")
        if ended is not None:
            result = ZoneResult.model_validate_json(base64.b64decode(ended["result"]["payloads"][0]["data"]))
            # Earlier versions wrote "4 URL(s)", and had another sentence for a sign-off that expired.
            said = result.reason.replace(EXPIRED_BEFORE, text_of(Reason(code=ReasonCode.NOT_SIGNED_IN_TIME)))
            assert text_of(*result.explained) in {said.replace("(s)", form) for form in ("", "s")}
            assert result.reason
            found += 1
    assert found > 5


@pytest.mark.parametrize("trouble", Trouble)
def test_a_hold_is_a_reason_to_wait(trouble: Trouble) -> None:
    """With its own words, and a code for each trouble."""
    hold = held(trouble, "401", datetime(2026, 3, 1, tzinfo=UTC), "env:TOKEN")
    why = reason_of_hold(hold)
    assert text_of(why) == str(hold) and why.by == "env:TOKEN" and why.said == "401"
