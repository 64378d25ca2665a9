"""How a zone's activities are told: what was read, sent, verified, judged, and what came back. Pure.

An activity is known by its name: those that every area has are told here, the others by the area, or as those
of a change that can be undone. Of any other, its name is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from edgeshift.areas import area_of
from edgeshift.messages import UNSIGNED, Step
from edgeshift.views.activity_kit import Activity, Context, Teller
from edgeshift.views.entries import Entry, EntryKind, Sending, decision_words, listed, part, parts
from edgeshift.views.parts import VIEWS, ViewPart
from edgeshift.views.words import one_line, short, word

_STATUSES = {
    "answered": "the service answered",
    "nothing_happened": "nothing happened at the service",
    "refused": "the service refused it",
    "unknown": "no clear answer: it may or may not have happened",
}

_HOUSEKEEPING = frozenset({"record_rejection", "look_back_at_commits"})
"""Activities that keep what another line of the history says, and say nothing of the zone themselves."""


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
    tried: str = "",
    begun: bool = True,
    ended: bool = True,
) -> Entry:
    """The line of one activity. ``given`` is None for a local activity, whose input no history has.
    ``tried``: which try it was, where it was not the first.
    """
    came = result if isinstance(result, dict) else {}
    entry = Entry(at=at, kind=EntryKind.OTHER, text="", took=took, event=event)
    teller = _teller(context, name)
    if teller is not None and teller(context, entry, Activity(name, given or {}, came, begun, ended)):
        pass
    elif name.startswith("tell"):
        entry.kind = EntryKind.TOLD
        entry.text = summary or "told the campaign"
        entry.technical = not failure
    else:
        entry.text = f"{'did' if ended else 'doing'} {one_line(name.replace('_', ' '), 100)}"
        if summary:
            entry.text += f" ({summary})"
        entry.technical = not failure and name in _HOUSEKEEPING
    if tried:
        entry.details.append(tried)
    if failure:
        entry.details.append(f"failed: {one_line(failure)}")
        if entry.kind in (EntryKind.OTHER, EntryKind.TOLD):
            entry.kind = EntryKind.TROUBLE
    return entry


def _teller(context: Context, name: str) -> Teller | None:
    """Who tells an activity of this name, if anybody. The first word of a name is its verb."""
    verb = name.partition("_")[0]
    own = VIEWS.of(context.area).tellers
    return _SHARED.get(name) or own.get(name) or own.get(verb) or ViewPart.tellers.get(verb)


def _tell_change(context: Context, entry: Entry, activity: Activity) -> bool:
    status = str(activity.came.get("status") or "")
    if not status and activity.ended:
        # One that never began proves that nothing was sent; one that began and failed proves nothing.
        status = "unknown" if activity.begun else "nothing_happened"
    _change(context, entry, activity.given, activity.came, status)
    return True


def _change(context: Context, entry: Entry, given: dict[str, Any], came: dict[str, Any], status: str) -> None:
    step = str(given.get("step") or "")
    mode = f" ({given['mode']} mode)" if given.get("mode") else ""
    what = area_of(context.area).sent.get(step) or word(step, context.area) or "a change"
    digest, fingerprint = str(given.get("digest") or ""), str(given.get("fingerprint") or "")
    context.waiting |= {fingerprint: "the fingerprint", digest: "the proposal"}
    context.proposal = context.proposal or digest
    counting = _counting(context, given)
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
    entry.undecided = not counting and bool(given) and step not in UNSIGNED
    entry.because = [decision_words(item, context.waiting) for item in counting]
    entry.because += _because(step, permit, decided=bool(counting), undecided=entry.undecided)
    entry.details += _details(came)
    if came.get("found"):
        entry.objects["found"] = str(came["found"])
    agreed = [one_line(str(item.get("by"))) for item in counting if item.get("choice") == "approve"]
    if step:
        number = permit if isinstance(permit, int) else 0
        sending = Sending(step=step, status=status, digest=digest, permit=number, agreed=agreed)
        context.attempt.sendings.append(sending)
    context.attempt.doing = f"{what} was sent" if status else f"sending {what}"


def _counting(context: Context, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The decisions that came with a change, are on it and can count, each once."""
    about = [str(given.get(of) or "") for of in ("digest", "fingerprint")]
    counting = [item for item in parts(given, "decisions") if item.get("digest") in about]
    counting = [item for item in counting if not context.refused(item)]
    # The same word may come twice, for the proposal and for its fingerprint, where the two are the same.
    return list(
        {(item.get("by"), item.get("choice"), item.get("digest")): item for item in counting}.values()
    )


def _because(step: str, permit: object, *, decided: bool, undecided: bool) -> list[str]:
    """What let a change through beside decisions, or that none did. ``permit``: its number, or None."""
    found = [f"permit {permit}"] if permit is not None and step != Step.ROLL_BACK else []
    if step == Step.ROLL_BACK:
        found.append("the rollback needs neither a sign-off nor a permit")
    elif not decided and step in UNSIGNED:
        found.append("no sign-off is needed for this step")
    elif undecided:
        found.append("NO DECISION ON THIS DIGEST IS ON RECORD")
    return found


def _details(came: Mapping[str, Any]) -> list[str]:
    """What is shown below a change of how it was answered."""
    found = [one_line(str(came["reason"]))] if came.get("reason") else []
    if came.get("found"):
        found.append(f"what it found and wrote: record {short(str(came['found']))} in the archive")
    if came.get("ray"):
        found.append(f"ray {one_line(str(came['ray']), 60)}")
    return found


def _given_up(context: Context, entry: Entry, activity: Activity) -> bool:
    came = activity.came
    if not came:
        return False
    entry.kind = EntryKind.SENT
    what, given_up = "the change", bool(came.get("given_up"))
    for sending in [one for one in context.attempt.sendings if one.permit == came.get("permit")][-1:]:
        what = area_of(context.area).sent.get(sending.step, what)
        sending.status = "nothing_happened" if given_up else "unknown"
    entry.text = (
        f"{what} was not sent, and no worker can send it under that permit any more"
        if given_up
        else f"{what} may have been sent, and can no longer be stopped"
    )
    return True


def _tell_hold(context: Context, entry: Entry, activity: Activity) -> bool:
    """Holding an account's zones for its workflow, or letting go of them."""
    entry.kind = EntryKind.HELD
    others = [one_line(str(other)) for other in listed(activity.came, "others")]
    if activity.name == "release_zones":
        entry.text = (
            "let go of the account's zones" if activity.ended else "letting go of the account's zones"
        )
    elif others:
        entry.text = f"could not hold the account's zones: {'; '.join(others)}"
    else:
        entry.text = "holds every zone of the account" if activity.ended else "holding the account's zones"
    return True


def _tell_ticket(context: Context, entry: Entry, activity: Activity) -> bool:
    location = one_line(str(activity.came.get("location") or ""))
    if not location:
        return False
    entry.kind = EntryKind.TICKET
    entry.text = f"opened ticket {one_line(str(activity.came.get('key') or ''))}"
    entry.details.append(location)
    context.attempt.tickets.append(location)
    context.attempt.doing = "waiting for the provider's support"
    return True


_SHARED: Mapping[str, Teller] = {
    "change_zone": _tell_change,
    "give_up_change": _given_up,
    "hold_zones": _tell_hold,
    "release_zones": _tell_hold,
    "open_ticket": _tell_ticket,
}
"""The activities of every area, by name."""
