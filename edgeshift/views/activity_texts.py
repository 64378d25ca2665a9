"""How a zone's activities are told: what was read, sent, verified, judged, and what came back. Pure.

An activity is known by the shape of its result or input rather than by its name, so that histories of
earlier and later versions are told as well; what has no known shape is told by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from edgeshift.areas import area_of
from edgeshift.messages import BEFORE_SIGN_OFF, UNSIGNED, Step
from edgeshift.model.fleet import DEFAULT_AREA, Area
from edgeshift.model.sign_off import Decision, SignOffPolicy, refusal
from edgeshift.views.entries import Attempt, Entry, EntryKind, Sending, decision_words, listed, part, parts
from edgeshift.views.reversible_texts import describe_hold, describe_probe, describe_settle, describe_watch
from edgeshift.views.words import one_line, short, word

_STATUSES = {
    "answered": "the service answered",
    "nothing_happened": "nothing happened at the service",
    "refused": "the service refused it",
    "unknown": "no clear answer: it may or may not have happened",
}

_HOUSEKEEPING = frozenset({"record_rejection", "look_back_at_commits"})
"""Activities that keep what another line of the history says, and say nothing of the zone themselves."""


@dataclass
class Context:
    """What has been told so far. ``waiting``: digests that wait for a sign-off now, and what each is of."""

    attempt: Attempt
    waiting: dict[str, str] = field(default_factory=dict)
    area: Area = DEFAULT_AREA
    policy: SignOffPolicy | None = None
    started_by: str = ""

    def learn_policy(self, start: Mapping[str, Any]) -> None:
        """Take the sign-off policy from a workflow's input, as far as it can be read."""
        self.started_by = str(start.get("started_by") or "")
        try:
            self.policy = SignOffPolicy.model_validate(part(part(start, "policy"), "sign_off"))
        except ValidationError:
            self.policy = None

    def refused(self, decision: Mapping[str, Any]) -> str:
        """Why a decision cannot count by the zone's policy, or empty."""
        try:
            read = Decision.model_validate(decision)
        except ValidationError:
            return "it cannot be read as a decision"
        return one_line(refusal(read, self.policy, self.started_by) or "") if self.policy else ""


def tell_activity(
    context: Context,
    name: str,
    given: dict[str, Any] | None,
    result: Any,
    failure: str,
    *,
    at: datetime,
    took: float | None,
    event: int,
    summary: str,
    begun: bool = True,
    ended: bool = True,
) -> Entry:
    """The line of one activity. ``given`` is None for a local activity, whose input no history has."""
    came = result if isinstance(result, dict) else {}
    given = given or {}
    entry = Entry(at=at, kind=EntryKind.OTHER, text="", took=took, event=event)
    if {"permit", "step"} <= given.keys() or {"status", "http_status"} <= came.keys():
        status = str(came.get("status") or "")
        if not status and ended:
            # One that never began proves that nothing was sent; one that began and failed proves nothing.
            status = "unknown" if begun else "nothing_happened"
        _change(context, entry, given, came, status)
    elif {"given_up", "permit"} <= came.keys():
        _given_up(context, entry, came)
    elif {"verdict", "snapshot"} <= came.keys():
        _prepared(context, entry, came)
    elif {"prepared", "gathered"} <= came.keys():
        entry.kind = EntryKind.PROBED
        describe_probe(entry, came)
        _proposed(context, entry, part(came, "prepared"))
        context.attempt.evidence = entry.objects.get("probe", "")
    elif {"worse", "done"} <= came.keys():
        describe_watch(entry, given, came)
        context.attempt.doing = "being rolled back" if came["worse"] else "being watched"
    elif {"wanted", "since"} <= given.keys():
        describe_settle(entry, given, came, ended, context.area)
        context.attempt.doing = entry.text
    elif {"holder", "zones"} <= given.keys():
        describe_hold(entry, name, came, ended)
    elif "reached" in came or ("mode" in given and "limit" in given):
        _verified(context, entry, given, came, ended)
    elif {"evidence", "verdict"} <= came.keys():
        _gathered(context, entry, came)
    elif {"key", "location"} <= came.keys():
        entry.kind = EntryKind.TICKET
        entry.text = f"opened ticket {one_line(str(came['key']))}"
        entry.details.append(one_line(str(came["location"])))
        context.attempt.tickets.append(one_line(str(came["location"])))
        context.attempt.doing = "waiting for the provider's support"
    elif name.startswith("tell"):
        entry.kind = EntryKind.TOLD
        entry.text = summary or "told the campaign"
        entry.technical = not failure
    else:
        entry.text = f"{'did' if ended else 'doing'} {one_line(name.replace('_', ' '), 100)}"
        if summary:
            entry.text += f" ({summary})"
        entry.technical = not failure and name in _HOUSEKEEPING
    if failure:
        entry.details.append(f"failed: {one_line(failure)}")
        if entry.kind in (EntryKind.OTHER, EntryKind.TOLD):
            entry.kind = EntryKind.TROUBLE
    return entry


def _prepared(context: Context, entry: Entry, came: dict[str, Any]) -> None:
    verdict = str(came.get("verdict") or "").replace("_", " ")
    reasons = [one_line(str(reason)) for reason in listed(came, "reasons")]
    entry.kind = EntryKind.READ
    entry.text = f"read the zone: {verdict}{f' - {reasons[0]}' if reasons else ''}"
    entry.details += reasons[1:]
    _snapshot(entry, came)
    _proposed(context, entry, came)


def _snapshot(entry: Entry, came: Mapping[str, Any]) -> None:
    snapshot = str(came.get("snapshot") or "")
    entry.details.append(f"snapshot {short(snapshot)} in the archive")
    if snapshot:
        entry.objects["snapshot"] = snapshot


def describe_planned(context: Context, entry: Entry, planned: dict[str, Any]) -> None:
    """That a zone begins with what the plan has read of it, and what that proposes."""
    entry.details.append("begins with what the plan has read of the zone")
    _snapshot(entry, planned)
    _proposed(context, entry, planned)


def _proposed(context: Context, entry: Entry, came: Mapping[str, Any]) -> None:
    digest, fingerprint = str(came.get("digest") or ""), str(came.get("fingerprint") or "")
    if not digest:
        return
    entry.digest = digest
    step = str(came.get("step") or "commit")
    said = f"proposed to {word(step, context.area)}: proposal {short(digest)}"
    entry.details.append(f"{said}, fingerprint {short(fingerprint)}")
    if came.get("proposal"):
        entry.objects["proposal"] = str(came["proposal"])
    context.waiting = {fingerprint: "the fingerprint", digest: "the proposal"}
    waits = "a permit" if step in BEFORE_SIGN_OFF else f"the sign-off of {short(digest)}"
    context.attempt.doing = f"waiting for {waits}"


def _change(context: Context, entry: Entry, given: dict[str, Any], came: dict[str, Any], status: str) -> None:
    step = str(given.get("step") or "")
    mode = f" ({given['mode']} mode)" if given.get("mode") else ""
    what = area_of(context.area).sent.get(step) or word(step, context.area) or "a change"
    digest, fingerprint = str(given.get("digest") or ""), str(given.get("fingerprint") or "")
    context.waiting |= {fingerprint: "the fingerprint", digest: "the proposal"}
    counting = [item for item in parts(given, "decisions") if item.get("digest") in (digest, fingerprint)]
    counting = [item for item in counting if not context.refused(item)]
    # The same word may come twice, for the proposal and for its fingerprint, where the two are the same.
    counting = list(
        {(item.get("by"), item.get("choice"), item.get("digest")): item for item in counting}.values()
    )
    permit = part(given, "permit").get("number")
    entry.kind = EntryKind.SENT
    entry.digest = digest
    answer = _STATUSES.get(status, one_line(status, 80) or "under way")
    if status == "drifted":
        answer = area_of(context.area).phrases.drifted
    if status == "answered" and came.get("http_status"):
        answer += f" {came['http_status']}"
    held = status in ("nothing_happened", "drifted")
    verb = "did not send" if held else "sent" if status else "sending"
    entry.text = f"{verb} {what}{mode} of {short(digest)}: {answer}"
    entry.because = [decision_words(item, context.waiting) for item in counting]
    if permit is not None and step != Step.ROLL_BACK:
        entry.because.append(f"permit {permit}")
    entry.undecided = not counting and bool(given) and step not in UNSIGNED
    if step == Step.ROLL_BACK:
        entry.because.append("the rollback needs neither a sign-off nor a permit")
    elif not counting and step in UNSIGNED:
        entry.because.append("no sign-off is needed for this step")
    elif entry.undecided:
        entry.because.append("NO DECISION ON THIS DIGEST IS ON RECORD")
    if came.get("reason"):
        entry.details.append(one_line(str(came["reason"])))
    if came.get("found"):
        entry.objects["found"] = str(came["found"])
        entry.details.append(f"what it found and wrote: record {short(str(came['found']))} in the archive")
    if came.get("ray"):
        entry.details.append(f"ray {one_line(str(came['ray']), 60)}")
    agreed = [one_line(str(item.get("by"))) for item in counting if item.get("choice") == "approve"]
    if step:
        number = permit if isinstance(permit, int) else 0
        sending = Sending(step=step, status=status, digest=digest, permit=number, agreed=agreed)
        context.attempt.sendings.append(sending)
    context.attempt.doing = f"{what} was sent" if status else f"sending {what}"


def _given_up(context: Context, entry: Entry, came: dict[str, Any]) -> None:
    entry.kind = EntryKind.SENT
    what, given_up = "the change", bool(came["given_up"])
    for sending in [sending for sending in context.attempt.sendings if sending.permit == came["permit"]][-1:]:
        what = area_of(context.area).sent.get(sending.step, what)
        sending.status = "nothing_happened" if given_up else "unknown"
    entry.text = (
        f"{what} was not sent, and no worker can send it under that permit any more"
        if given_up
        else f"{what} may have been sent: it cannot be kept from it any more"
    )


def _verified(
    context: Context, entry: Entry, given: dict[str, Any], came: dict[str, Any], ended: bool
) -> None:
    mode = str(given.get("mode") or "")
    wanted = {"pending": "the migration", "validation": "the validation"}.get(mode, "the change")
    entry.kind = EntryKind.VERIFIED
    if not ended:
        entry.text = f"looking until the status shows {wanted}"
        context.attempt.doing = entry.text
    elif came.get("reached"):
        entry.text = f"the status shows {wanted}"
    elif came.get("unchanged"):
        entry.text = f"the status does not show {wanted}: unchanged for as long as it may take"
    else:
        entry.text = f"could not see what became of {wanted}"
    if came.get("reason"):
        entry.details.append(one_line(str(came["reason"])))
    if came.get("record"):
        entry.objects["record"] = str(came["record"])
        entry.details.append(f"the stored rules were read back; result record {short(str(came['record']))}")


def _gathered(context: Context, entry: Entry, came: dict[str, Any]) -> None:
    entry.kind = EntryKind.EVIDENCE
    verdict = one_line(str(came.get("verdict")), 40)
    entry.text = f"evidence of the window: {verdict} - {one_line(str(came.get('why') or ''))}"
    entry.details.append(f"evidence {short(str(came.get('evidence') or ''))} in the archive")
    if came.get("evidence"):
        entry.objects["evidence"] = str(came["evidence"])
    context.attempt.evidence = str(came.get("evidence") or "")
    digest = next((digest for digest, what in context.waiting.items() if what == "the proposal"), "")
    context.attempt.doing = f"waiting for the sign-off of {short(digest)}"
