"""How the activities of changes that can be undone are told: the wait until one shows, and the looks at it.
Pure.
"""

from __future__ import annotations

from edgeshift.areas import area_of
from edgeshift.views.activity_kit import Activity, Context
from edgeshift.views.entries import Entry, EntryKind
from edgeshift.views.words import one_line, short


def tell_settled(context: Context, entry: Entry, activity: Activity) -> bool:
    """The wait until a change shows, or is gone again."""
    phrases, came = area_of(context.area).phrases, activity.came
    wanted = phrases.shows if activity.given.get("wanted") else phrases.shows_undone
    entry.kind = EntryKind.VERIFIED
    if not activity.ended:
        entry.text = f"looking until {wanted}"
    elif came.get("reached"):
        entry.text = wanted
    elif came.get("unchanged"):
        entry.text = "the service shows nothing of it for as long as it may take"
    else:
        entry.text = "could not see what became of it"
    if came.get("reason"):
        entry.details.append(one_line(str(came["reason"])))
    context.attempt.doing = entry.text
    return True


def tell_watched(context: Context, entry: Entry, activity: Activity) -> bool:
    """One look at a change that was made, or at one that was undone."""
    came = activity.came
    if not came:
        return False
    said, worse = one_line(str(came.get("said") or "")), one_line(str(came.get("worse") or ""))
    entry.kind = EntryKind.WATCHED
    if worse:
        entry.text = f"looked at it: worse than agreed, so it is undone - {worse}"
    elif activity.given.get("back"):
        entry.text = "looked whether all is as before"
    else:
        entry.text = "looked at it for the last time" if came.get("done") else "looked at it: as agreed"
    if said:
        entry.text += f": {said}"
    # A look in between that found nothing says nothing either.
    entry.technical = not (worse or said or came.get("done"))
    if came.get("record"):
        entry.objects["record"] = str(came["record"])
        entry.details.append(f"result record {short(str(came['record']))} in the archive")
    context.attempt.doing = "being rolled back" if worse else "being watched"
    return True
