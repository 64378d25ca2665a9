"""How the messages of a zone are told: signals, updates, the decisions and permits in them. Pure."""

from __future__ import annotations

from typing import Any

from edgeshift.areas import area_of
from edgeshift.messages import OUTLIVED
from edgeshift.model.reasons import ReasonCode
from edgeshift.views.activity_kit import Context
from edgeshift.views.entries import Entry, EntryKind, Signed, decision_words, part, parts, time_of
from edgeshift.views.events import Event
from edgeshift.views.words import moment, one_line, short, word

PASSED_ON = "passed on by the campaign"
"""How a decision on a fingerprint reaches a zone."""


def first(values: tuple[Any, ...]) -> dict[str, Any]:
    """The first of a message's values if it is an object, else an empty one."""
    return values[0] if values and isinstance(values[0], dict) else {}


def describe_signal(context: Context, event: Event) -> Entry:
    """A signal: a decision, a permit, the campaign's or the account's word."""
    message = first(event.input)
    match event.name:
        case "sign_off":
            return _decision(context, event, message, "by the plain signal")
        case "permit":
            permit = part(message, "permit")
            decisions = parts(message, "decisions")
            carried = [f"with it: {decision_words(item, context.waiting)}" for item in decisions]
            text = f"the campaign gave {permit_words(context, permit)}"
            return Entry(at=event.at, kind=EntryKind.PERMIT, text=text, details=carried, event=event.id)
        case "revoke":
            text = f"the campaign took back permit {message.get('number', '?')}"
            return Entry(at=event.at, kind=EntryKind.PERMIT, text=text, event=event.id)
        case "ruling":
            return _decision(context, event, part(message, "decision"), PASSED_ON)
        case "expire":
            text = "the campaign said that the time for a sign-off is over"
            return Entry(at=event.at, kind=EntryKind.STOPPED, text=text, event=event.id)
        case "stop":
            over = ReasonCode.ATTEMPT_OVER.value
            if message.get("cause") == over or (not message.get("cause") and message.get("by") == OUTLIVED):
                text = "the campaign said that the attempt had ended before"
                return Entry(at=event.at, kind=EntryKind.STOPPED, text=text, event=event.id)
            return _said(event, message, EntryKind.STOPPED, "aborted the campaign")
        case "go_on":
            text = "the campaign said that the service may be called again"
            return Entry(at=event.at, kind=EntryKind.TOLD, text=text, event=event.id)
        case "say_again":
            # A sweep asks every zone that waits, again and again: nothing has happened to it.
            text = "the campaign asked what it waits for"
            return Entry(at=event.at, kind=EntryKind.OTHER, text=text, event=event.id, technical=True)
        case "release":
            text = "the account's workflow let go of it"
            return Entry(at=event.at, kind=EntryKind.HELD, text=text, event=event.id)
        case "support_resolved":
            return _said(event, message, EntryKind.SUPPORT, "said that support has fixed the zone")
    text = f"signal {one_line(event.name, 100)}"
    return Entry(at=event.at, kind=EntryKind.OTHER, text=text, by=one_line(event.who), event=event.id)


def describe_update(context: Context, event: Event) -> Entry:
    """An update that was accepted."""
    message = first(event.input)
    if event.name == "decide":
        return _decision(context, event, message, "by update")
    text = f"update {one_line(event.name, 100)}"
    return Entry(at=event.at, kind=EntryKind.OTHER, text=text, event=event.id)


def describe_answer(event: Event) -> Entry:
    """What an update was answered."""
    answer = event.failure or str(first(event.result).get("text") or "done")
    return Entry(
        at=event.at,
        kind=EntryKind.TROUBLE if event.failure else EntryKind.OTHER,
        text=f"update answered: {one_line(answer)}",
        event=event.id,
        technical=not event.failure,
    )


def _said(event: Event, message: dict[str, Any], kind: EntryKind, what: str) -> Entry:
    by = one_line(str(message.get("by") or "somebody"))
    reason = one_line(str(message.get("reason") or ""))
    return Entry(at=event.at, kind=kind, text=f"{by} {what}", by=by, reason=reason, event=event.id)


def _decision(context: Context, event: Event, decision: dict[str, Any], way: str) -> Entry:
    by = one_line(str(decision.get("by") or "somebody"))
    choice = str(decision.get("choice") or "")
    verb = {"approve": "approved", "reject": "rejected"}.get(choice, f"said {one_line(choice, 40)!r} to")
    digest = str(decision.get("digest") or "")
    subject = context.waiting.get(digest)
    refused = context.refused(decision)
    reason = one_line(str(decision.get("reason") or ""))
    signed = Signed(
        by=by,
        choice=one_line(choice, 40),
        digest=digest,
        reason=reason,
        at=event.at,
        way=way,
        refused=refused,
    )
    context.attempt.signed.append(signed)
    if subject is None:
        subject = "a digest that was not waiting here"
    return Entry(
        at=event.at,
        kind=EntryKind.SIGNED,
        text=f"{by} {verb} {subject} {short(one_line(digest))}, {way}",
        by=by,
        reason=reason,
        digest=digest,
        details=[f"does not count: {refused}"] if refused else [],
        event=event.id,
    )


def permit_words(context: Context, permit: dict[str, Any]) -> str:
    """A permit: its number, what for, and until when it is good."""
    step = word(str(permit.get("step") or "?"), context.area)
    words = f"permit {permit.get('number', '?')} {area_of(context.area).phrases.permit} {step}"
    expires = time_of(permit.get("expires_at"))
    return f"{words}, good until {moment(expires)}" if expires else words
