"""What people sign in the area esc, thing by thing (docs/service.md §3.1, §4.1). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgeshift.areas.esc.difference_texts import named
from edgeshift.model.body_view import Item, Line, Mark, as_text
from edgeshift.model.counts import counted
from edgeshift.model.digests import Body


def items(body: Body, always: bool | None) -> tuple[Item, ...]:
    """The change that is sent, then each signed difference with the places at which it shows. ``always``:
    whether the snapshot shows Edge Side Code as off for every request; None where there is none.
    """
    change = body.get("change")
    if body.get("name") == "esc_test_secret":
        secret = Line(label="secret", text="made when it is sent, and shown nowhere")
        return (Item(mark=Mark.ADDED, title="a test secret", lines=(secret, *_others(body, {"change"}))),)
    lines = [Line(label="sent", text=as_text(change))]
    if isinstance(change, Mapping) and change.get("always") is True:
        before = None if always is None else "off" if always else "on"
        lines.insert(0, Line(label="for every request", text="off", before=before))
    lines += _others(body, {"change", "probe"})
    same = Mark.SAME if always else Mark.CHANGED
    return (Item(mark=same, title="Edge Side Code", lines=tuple(lines)), *_differences(body.get("probe")))


def _others(body: Body, handled: set[str]) -> list[Line]:
    """What else the body says: it is signed too."""
    found = []
    for key, value in body.items():
        if key == "covers" and isinstance(value, int):
            found.append(Line(label="covers", text=counted(value, "zone")))
        elif key not in handled | {"name"}:
            found.append(Line(label=str(key), text=as_text(value)))
    return found


def _differences(probe: Any) -> tuple[Item, ...]:
    """Each signed difference once, with all the places at which it shows. Of pages that changed, the body of
    the proposal has no excerpts.
    """
    listed = probe.get("differences") if isinstance(probe, Mapping) else None
    places: dict[tuple[str, ...], list[str]] = {}
    for one in listed or ():
        if isinstance(one, Mapping):
            key = tuple(str(one.get(name) or "") for name in ("feature", "kind", "what", "before", "after"))
            found = places.setdefault(key, [])
            found += [f"{one.get('host') or ''}{path}" for path in one.get("paths") or ()]
    ordered = sorted(places.items(), key=lambda pair: (pair[0][0], -len(pair[1]), pair[0]))
    return tuple(_difference(key, found) for key, found in ordered)


def _difference(signed: tuple[str, ...], places: list[str]) -> Item:
    feature, kind, what, before, after = signed
    lines = [Line(label="replaced by", text=feature)]
    if before or after:
        lines.append(Line(label="answer", text=after or "absent", before=before or "absent"))
    where = ", ".join(sorted(places))
    several = f"{counted(len(places), 'place')}: " if len(places) > 1 else ""
    lines.append(Line(label="at", text=f"{several}{where}"))
    return Item(mark=Mark.CHANGED, title=named(kind, what), lines=tuple(lines))
