"""What came of the mutants, for people: a table in a terminal, and one in docs/reliability.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.mutants.playing import Caught, Try

_PASSING = re.compile(r"\b(?:[0-9a-f]{8,}|[a-z0-9-]+\.[0-9a-f]{8}\.example|\d\d:\d\d:\d\d\.\d+)\b")
_RULE = re.compile(r"^rule (\d+) \(.*?\): (?=\S)")


def told(found: Sequence[Caught], figures: Mapping[str, Any]) -> str:
    """In a terminal: one line a mutant, then the totals."""
    width = max((len(one.name) for one in found), default=0)
    lines = [
        f"{one.name:<{width}}  {one.seconds:5.0f} s  {one.by or 'SURVIVES':<32}  {one.complaint[:90]}"
        for one in found
    ]
    lines += [f"the unchanged project: {text}" for text in figures["control_complaints"]]
    lines.append(
        f"{figures['mutants_caught']} of {figures['mutants_total']} mutants caught in"
        f" {figures['seconds']:.0f} s; {figures['control_cases']} cases of the unchanged project,"
        f" {len(figures['control_complaints'])} complaints"
    )
    return "\n".join(lines)


def table(found: Iterable[Caught], control: Sequence[Try]) -> str:
    """For the document: what is wrong with each mutant, and what found it."""
    listed = list(found)
    rows = [
        f"| `{one.name}` | {one.wrong} | {_complaint(one)} | `{one.by or 'survives'}` |" for one in listed
    ]
    caught = sum(one.caught for one in listed)
    clean = sum(not one.complaints and not one.trouble for one in control)
    return "\n".join(
        [
            f"{caught} of {len(listed)} found; of the same {len(control)} cases, the unchanged project passes"
            f" {clean}.",
            "",
            "| Mutant | What is wrong with it | Who complains | Found by |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _complaint(one: Caught) -> str:
    """Which checker or oracle complained, without what is another one each time."""
    if match := _RULE.match(one.complaint):
        return f"checker of rule {match.group(1)}"
    return f"oracle: {_PASSING.sub('…', one.complaint)[:90]}" if one.complaint else "nobody"
