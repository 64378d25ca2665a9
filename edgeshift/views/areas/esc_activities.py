"""How the probe of the area esc is told. Pure."""

from __future__ import annotations

from edgeshift.views.activity_kit import Activity, Context, tell_proposed
from edgeshift.views.entries import Entry, EntryKind, part
from edgeshift.views.words import one_line, short


def tell_probed(context: Context, entry: Entry, activity: Activity) -> bool:
    """The differential probe, by what it came to."""
    if not activity.came:
        return False
    gathered = part(activity.came, "gathered")
    why = one_line(str(gathered.get("why") or ""))
    verdict = one_line(str(gathered.get("verdict") or ""), 40)
    entry.kind = EntryKind.PROBED
    entry.text = "asked with and without the secret what changes"
    entry.text += f": {verdict}{f' - {why}' if why else ''}" if verdict != "pass" else ""
    if evidence := str(gathered.get("evidence") or ""):
        entry.objects["probe"] = evidence
        entry.details.append(f"probe report {short(evidence)} in the archive")
    tell_proposed(context, entry, part(activity.came, "prepared"))
    context.attempt.evidence = entry.objects.get("probe", "")
    return True
