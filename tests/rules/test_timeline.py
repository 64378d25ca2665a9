"""The timeline of a zone, told from histories written by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from rich.console import Console

from edgeshift.views.entries import EntryKind
from edgeshift.views.events import Run
from edgeshift.views.history_view import history_view
from edgeshift.views.timeline import build_timeline
from tests.rules.history_kit import (
    ANSWERED,
    DIGEST,
    FINGERPRINT,
    OTHER,
    ZONE,
    History,
    attempts_of,
    decision,
    migrated,
)


def test_the_first_line_says_what_happened_and_who_agreed() -> None:
    """A migrated zone's sentence names the campaign, the moment and whoever agreed."""
    told = migrated().told()
    expected = "shop.example was migrated by campaign autumn on 2026-03-01 12:00:08 UTC: alice agreed"
    assert told.sentence == f"{expected} to what was sent."


def test_the_commit_names_the_decision_and_the_permit_that_led_to_it() -> None:
    """The line of the sending says because of whose decision, when and why, and under which permit."""
    (sent,) = [entry for entry in migrated().told().attempts[0].entries if entry.kind is EntryKind.SENT]
    assert sent.because[0].startswith("alice approved the proposal dddddddddddd on 2026-03-01 12:00:03 UTC")
    assert sent.because[0].endswith(": looks good")
    assert sent.because[1] == "permit 7"
    assert "answered 200" in sent.text


def test_a_commit_without_a_decision_on_its_digest_is_called_out() -> None:
    """A decision on some other digest is not an agreement, and the timeline says so loudly."""
    history = History()
    history.prepared()
    history.change(decision("alice", digest=OTHER), result=ANSWERED)
    history.close("migrated")
    told = history.told()
    assert "NOBODY'S AGREEMENT IS ON RECORD" in told.sentence
    (sent,) = [entry for entry in told.attempts[0].entries if entry.kind is EntryKind.SENT]
    assert sent.undecided and sent.because[-1] == "NO DECISION ON THIS DIGEST IS ON RECORD"


def test_an_agreement_to_the_fingerprint_counts_as_such() -> None:
    """A decision on the fingerprint, passed on with the permit, is told as what it is."""
    history = History()
    history.prepared()
    history.change(decision("bob", digest=FINGERPRINT), result=ANSWERED)
    history.close("migrated")
    told = history.told()
    assert told.sentence.endswith("bob agreed to what was sent.")
    (sent,) = [entry for entry in told.attempts[0].entries if entry.kind is EntryKind.SENT]
    assert sent.because[0].startswith("bob approved the fingerprint ffffffffffff")


@pytest.mark.parametrize("told", [False, True])
def test_a_zone_that_begins_with_the_plans_reading_tells_what_it_proposes(told: bool) -> None:
    """No activity reads it: what waits for a sign-off is known from its start on. ``told``: to its campaign,
    by whoever has started it.
    """
    planned = {"verdict": "ready", "snapshot": "a" * 64, "digest": DIGEST, "fingerprint": FINGERPRINT}
    planned |= {"step": "commit", "proposal": OTHER}
    history = History(planned={"told": planned} if told else planned)
    history.add("WorkflowExecutionSignaled", name="sign_off", input=(decision("carol"),))
    began, signed = history.told().attempts[0].entries[:2]
    assert "begins with what the plan has read of the zone" in began.details
    assert began.digest == DIGEST and began.objects["proposal"] == OTHER
    assert "not waiting" not in signed.text


def test_a_sign_off_of_an_old_digest_is_told_as_not_waiting() -> None:
    """Whoever signed a digest that was not waiting is told apart from whoever signed the right one."""
    history = History()
    history.prepared()
    history.add("WorkflowExecutionSignaled", name="sign_off", input=(decision("carol", digest=OTHER),))
    (signed,) = [entry for entry in history.told().attempts[0].entries if entry.kind is EntryKind.SIGNED]
    assert "a digest that was not waiting here" in signed.text


def test_a_sign_off_by_somebody_who_is_not_listed_is_told_as_not_counting() -> None:
    """The zone's own policy says who may sign; anybody else's word is shown, and shown not to count."""
    history = History(policy={"sign_off": {"approvers": ["alice"]}})
    history.prepared()
    history.add("WorkflowExecutionSignaled", name="sign_off", input=(decision("mallory"),))
    history.change(decision("mallory"), result=ANSWERED)
    told = history.told()
    (signed,) = [entry for entry in told.attempts[0].entries if entry.kind is EntryKind.SIGNED]
    assert signed.details[0].startswith("does not count: 'mallory' is not an approver")
    assert told.attempts[0].sendings[0].agreed == []


def test_a_sending_that_began_and_broke_off_is_unknown() -> None:
    """An activity that started and timed out may have sent; the timeline never claims that it did not."""
    history = History()
    history.prepared()
    history.change(decision("alice"), result=None)
    history.close("unknown", "no answer")
    told = history.told()
    (sending,) = told.attempts[0].sendings
    assert sending.status == "unknown"
    assert "is unknown (no answer); a commit was sent (alice agreed to what was sent)" in told.sentence


@pytest.mark.parametrize(
    "given_up, status, sentence",
    [(True, "nothing_happened", "nothing was sent that changes it"), (False, "unknown", "a commit was sent")],
)
def test_a_sending_that_was_given_up_was_not_sent(given_up: bool, status: str, sentence: str) -> None:
    """No worker had come so far as to send it: the archive keeps it from being sent, which is the proof."""
    history = History()
    history.prepared()
    history.change(decision("alice"), result=None)
    history.local("give_up_change", {"given_up": given_up, "permit": 7})
    history.close("aborted", "by hand")
    told = history.told()
    assert [sending.status for sending in told.attempts[0].sendings] == [status]
    assert sentence in told.sentence
    sent = [entry.text for entry in told.attempts[0].entries if entry.kind is EntryKind.SENT]
    assert ("was not sent, and no worker can" in sent[1]) is given_up
    assert ("may have been sent" in sent[1]) is not given_up


def never_began() -> History:
    """A zone whose permit ran out before any worker took its change."""
    history = History()
    history.prepared()
    given = {"step": "commit", "permit": {"number": 7}, "digest": DIGEST, "fingerprint": FINGERPRINT}
    scheduled = history.add("ActivityTaskScheduled", name="change_zone", input=(given,))
    history.add("ActivityTaskTimedOut", refers=scheduled, failure="activity ScheduleToStart timeout")
    return history


def test_a_sending_that_never_began_was_not_sent() -> None:
    """A permit that ran out before the activity started proves that nothing was sent."""
    history = never_began()
    history.close("failed", "given up")
    told = history.told()
    assert told.attempts[0].sendings[0].status == "nothing_happened"
    assert told.sentence.endswith("failed (given up); nothing was sent that changes it.")


def test_a_sending_that_never_began_and_cannot_be_given_up_is_unknown() -> None:
    """A run that was reset since may have sent it under the same permit."""
    history = never_began()
    history.local("give_up_change", {"given_up": False, "permit": 7})
    history.close("unknown", "nobody knows")
    assert [sending.status for sending in history.told().attempts[0].sendings] == ["unknown"]


def test_a_refused_commit_was_sent_and_changed_nothing() -> None:
    """A commit that the service refused is told as sent and refused."""
    history = History()
    history.prepared()
    history.change(decision("alice"), result={"status": "refused", "http_status": 403})
    history.close("failed", "the service refused it")
    assert history.told().sentence.endswith("the commit was sent and refused.")


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("blocked", "was not migrated by campaign autumn: blocked (why); nothing was sent that changes it."),
        ("on_hold", "was not migrated by campaign autumn: on hold (why); nothing was sent that changes it."),
        ("already_migrated", "had been migrated already when campaign autumn looked; nothing was sent"),
        ("something_new", "was not migrated by campaign autumn: something new (why)"),
    ],
)
def test_every_outcome_has_its_sentence(outcome: str, expected: str) -> None:
    """Outcomes without a change say that nothing was sent; unknown outcomes are named as they are."""
    history = History()
    history.prepared()
    history.close(outcome, "why")
    assert expected in history.told().sentence


def test_a_rejection_names_who_rejected() -> None:
    """The ruling that the campaign passes on is told with its person and reason."""
    history = History()
    history.prepared()
    ruling = {"decision": decision("dora", FINGERPRINT, "reject", "too many false positives")}
    history.add("WorkflowExecutionSignaled", name="ruling", input=(ruling,))
    history.close("rejected", "rejected by dora")
    told = history.told()
    assert "dora rejected it" in told.sentence
    (signed,) = [entry for entry in told.attempts[0].entries if entry.kind is EntryKind.SIGNED]
    assert signed.reason == "too many false positives"


def test_earlier_attempts_come_first_whatever_order_they_are_given_in() -> None:
    """Each attempt is told in its place; the sentence is about the last one."""
    first = History()
    first.close("on_hold", "nobody signed")
    second = History(attempt=2)
    second.events = [event.model_copy(update={"at": event.at + timedelta(days=1)}) for event in second.events]
    runs = [Run(run_id="r2", events=tuple(second.events)), Run(run_id="r1", events=tuple(first.events))]
    told = build_timeline(ZONE, runs)
    assert [attempt.number for attempt in told.attempts] == [1, 2]
    assert told.attempts[0].outcome == "on_hold"
    assert "is in the hands of campaign autumn" in told.sentence


def test_a_run_that_continued_as_new_stays_one_attempt() -> None:
    """The second run of an attempt carries on its lines instead of beginning another attempt."""
    first = History()
    first.prepared()
    first.add("WorkflowExecutionContinuedAsNew")
    second = History(carried={"sequence": 3})
    began = second.events[0]
    facts = {**began.facts, "continued_execution_run_id": "r1"}
    second.events = [began.model_copy(update={"facts": facts, "at": began.at + timedelta(hours=1)})]
    runs = [Run(run_id="r1", events=tuple(first.events)), Run(run_id="r2", events=tuple(second.events))]
    (attempt,) = build_timeline(ZONE, runs).attempts
    assert attempt.run_ids == ["r1", "r2"]


def test_a_terminated_workflow_is_told_with_who_did_it() -> None:
    """A workflow that somebody terminated is not an outcome, and is named."""
    history = History()
    history.add("WorkflowExecutionTerminated", who="eve@laptop", facts={"reason": "clean-up"})
    told = history.told()
    assert told.attempts[0].outcome == "terminated"
    assert "the workflow was terminated: clean-up" in told.sentence
    assert told.attempts[0].entries[-1].by == "eve@laptop"


def test_events_that_nobody_knows_are_told_by_their_type() -> None:
    """Events of later servers are shown by their type and never break the answer."""
    history = migrated()
    history.add("EventType999")
    history.add("WorkflowExecutionTimeSkippingTransitioned")
    texts = [entry.text for entry in history.told().attempts[0].entries if not entry.technical]
    assert "event EventType999" in texts
    assert "event WorkflowExecutionTimeSkippingTransitioned" in texts


def test_housekeeping_is_told_only_when_asked() -> None:
    """What keeps the book, and timers that nobody waits for, are technical, unless they failed."""
    history = migrated()
    history.local("record_rejection", {}, summary="record the rejection")
    history.local("look_back_at_commits", {}, summary="what is left of earlier attempts")
    history.local("look_back_at_commits", failure="the archive does not answer")
    started = history.add("TimerStarted", facts={"seconds": 0.001}, summary="the end is kept")
    history.add("TimerFired", refers=started)
    texts = {entry.text: entry.technical for entry in history.told().attempts[0].entries}
    assert texts["did record rejection (record the rejection)"]
    assert texts["did look back at commits (what is left of earlier attempts)"]
    assert not texts["did look back at commits"]
    assert texts["waited 0.0s (the end is kept)"]


def test_the_view_shows_technical_lines_only_when_asked() -> None:
    """Workflow tasks and search attributes are counted, and shown with --all."""
    history = migrated()
    history.add("WorkflowTaskScheduled")
    console = Console(width=100)
    with console.capture() as calm:
        console.print(history_view(history.told()))
    with console.capture() as full:
        console.print(history_view(history.told(), technical=True))
    assert "1 technical event not shown (--all)" in calm.get()
    assert "WorkflowTaskScheduled" not in calm.get()
    assert "WorkflowTaskScheduled" in full.get()


def test_a_headline_covers_every_attempt() -> None:
    """What an earlier attempt sent is not denied by the last, which sent nothing; and its consent counts."""
    first, second = History(), History(attempt=2)
    first.change(result=ANSWERED, step="validate")
    first.close("on_hold", "nobody signed")
    second.close("aborted", "by ada")
    sentence = attempts_of(first, second).sentence
    assert "nothing was sent that changes it" not in sentence
    assert "attempt 2 sent nothing that changes it, but attempt 1 sent the validation" in sentence
    committed, looked = History(campaign="campaign/spring"), History()
    committed.prepared()
    committed.change(decision("alice"), result={"status": "unknown"})
    committed.close("unknown", "no answer")
    looked.close("already_migrated", "it is")
    sentence = attempts_of(committed, looked).sentence
    assert "attempt 1 of campaign spring may have sent the commit" in sentence
    looked = History(attempt=2)
    looked.close("migrated", "new WAF on")
    assert "alice agreed to what was sent" in attempts_of(committed, looked).sentence


def test_a_headline_without_anything_sent_says_so() -> None:
    """However many attempts there were."""
    first, second = History(), History(attempt=2)
    first.close("on_hold", "nobody signed")
    second.close("aborted", "by ada")
    assert attempts_of(first, second).sentence.endswith("nothing was sent that changes it.")


def test_a_headline_tells_two_starts_of_one_campaign_apart() -> None:
    """Both have an attempt 1: after `start --again`, the second finds the zone migrated by the first."""
    committed, looked = History(origin="start-1"), History(origin="start-2")
    committed.change(decision("alice"), result=ANSWERED)
    committed.close("migrated", "new WAF on")
    looked.close("already_migrated", "it is")
    sentence = attempts_of(committed, looked).sentence
    expected = "attempt 1 of an earlier start of campaign autumn (begun on 2026-03-01 12:00:01 UTC)"
    assert f"attempt 1 sent nothing that changes it, but {expected} sent the commit" in sentence
    # One that was reset begins in its own start once more; of histories of before, the start is not known.
    for first, second in (("start-1", "start-1"), ("", "start-2"), ("", "")):
        told = attempts_of(
            *(_of_start(history, at) for history, at in ((committed, first), (looked, second)))
        )
        assert "but an earlier run of attempt 1 sent the commit" in told.sentence


def _of_start(history: History, origin: str) -> History:
    """The same history, begun by another start of its campaign."""
    began = history.events[0]
    history.events[0] = began.model_copy(update={"input": ({**began.input[0], "origin": origin},)})
    return history


def test_a_reading_says_how_often_it_was_tried_and_why_not_at_once() -> None:
    """A zone that stood still for minutes has a reason; it is told whichever the activity is, and not at
    length.
    """
    history = History()
    for name, why in (
        ("prepare_waf_zone", "entrypoint.get: no whole answer within 4 s"),
        ("gather", "x" * 999),
    ):
        scheduled = history.add("ActivityTaskScheduled", name=name)
        facts = {"attempt": 8, "last_failure": why}
        history.add("ActivityTaskStarted", refers=scheduled, facts=facts)
        history.add("ActivityTaskCompleted", refers=scheduled, result=({"verdict": "ready"},))
    once = history.add("ActivityTaskScheduled", name="prepare_waf_zone")
    history.add("ActivityTaskStarted", refers=once, facts={"attempt": 1})
    history.add("ActivityTaskCompleted", refers=once, result=({"verdict": "ready"},))
    read, gathered, at_once = history.told().attempts[0].entries[1:]
    assert "at try 8; before it: entrypoint.get: no whole answer within 4 s" in read.details
    assert max(map(len, gathered.details)) < 250
    assert not [line for line in at_once.details if "try" in line]


def test_what_a_campaign_asks_again_is_told_only_when_asked() -> None:
    """A sweep asks each zone that waits, again and again: that is nothing which happened to the zone."""
    history = History()
    history.add("WorkflowExecutionSignaled", name="say_again", input=({"attempt": 1},))
    (asked,) = history.told().attempts[0].entries[1:]
    assert asked.technical and asked.text == "the campaign asked what it waits for"
