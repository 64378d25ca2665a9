"""How the activities of the area waf are told: the look at the status, and the evidence of a window. Pure."""

from __future__ import annotations

from edgeshift.views.activity_kit import Activity, Context
from edgeshift.views.entries import Entry, EntryKind
from edgeshift.views.words import one_line, short


def tell_verified(context: Context, entry: Entry, activity: Activity) -> bool:
    """The wait until the status shows what was sent, and the stored rules, read back."""
    came = activity.came
    mode = str(activity.given.get("mode") or "")
    wanted = {"pending": "the migration", "validation": "the validation"}.get(mode, "the change")
    entry.kind = EntryKind.VERIFIED
    if not activity.ended:
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
    return True


def tell_gathered(context: Context, entry: Entry, activity: Activity) -> bool:
    """What the events of a window say."""
    came = activity.came
    if not came:
        return False
    entry.kind = EntryKind.EVIDENCE
    verdict = one_line(str(came.get("verdict")), 40)
    entry.text = f"evidence of the window: {verdict} - {one_line(str(came.get('why') or ''))}"
    entry.details.append(f"evidence {short(str(came.get('evidence') or ''))} in the archive")
    if came.get("evidence"):
        entry.objects["evidence"] = str(came["evidence"])
    context.attempt.evidence = str(came.get("evidence") or "")
    context.attempt.doing = f"waiting for the sign-off of {short(context.proposal)}"
    return True
