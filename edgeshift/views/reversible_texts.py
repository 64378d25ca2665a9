"""How the activities of changes that can be undone are told: probes, looks at a change, holds. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgeshift.areas import area_of
from edgeshift.model.fleet import Area
from edgeshift.views.entries import Entry, EntryKind, listed, part
from edgeshift.views.words import one_line, short


def describe_probe(entry: Entry, came: Mapping[str, Any]) -> None:
    """The differential probe, by what it came to."""
    gathered = part(came, "gathered")
    why = one_line(str(gathered.get("why") or ""))
    verdict = one_line(str(gathered.get("verdict") or ""), 40)
    entry.text = "asked with and without the secret what changes"
    entry.text += f": {verdict}{f' - {why}' if why else ''}" if verdict != "pass" else ""
    if evidence := str(gathered.get("evidence") or ""):
        entry.objects["probe"] = evidence
        entry.details.append(f"probe report {short(evidence)} in the archive")


def describe_settle(
    entry: Entry, given: Mapping[str, Any], came: Mapping[str, Any], ended: bool, area: Area
) -> None:
    """The wait until a change shows, or is gone again."""
    phrases = area_of(area).phrases
    wanted = phrases.shows if given.get("wanted") else phrases.shows_undone
    entry.kind = EntryKind.VERIFIED
    if not ended:
        entry.text = f"looking until {wanted}"
    elif came.get("reached"):
        entry.text = wanted
    elif came.get("unchanged"):
        entry.text = "the service shows nothing of it for as long as it may take"
    else:
        entry.text = "could not see what became of it"
    if came.get("reason"):
        entry.details.append(one_line(str(came["reason"])))


def describe_watch(entry: Entry, given: Mapping[str, Any], came: Mapping[str, Any]) -> None:
    """One look at a change that was made, or at one that was undone."""
    said, worse = one_line(str(came.get("said") or "")), one_line(str(came.get("worse") or ""))
    entry.kind = EntryKind.WATCHED
    if worse:
        entry.text = f"looked at it: worse than agreed, so it is undone - {worse}"
    elif given.get("back"):
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


def describe_hold(entry: Entry, name: str, came: Mapping[str, Any], ended: bool) -> None:
    """Holding an account's zones for its workflow, or letting go of them."""
    entry.kind = EntryKind.HELD
    others = [one_line(str(other)) for other in listed(came, "others")]
    if name.startswith("release"):
        entry.text = "let go of the account's zones" if ended else "letting go of the account's zones"
    elif others:
        entry.text = f"could not hold the account's zones: {'; '.join(others)}"
    else:
        entry.text = "holds every zone of the account" if ended else "holding the account's zones"
