"""What an area has of its own in timelines and reports (edgeshift/areas/parts.py). Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.parts import PartOf
from edgeshift.stores.documents import Proposal
from edgeshift.views.words import word

if TYPE_CHECKING:
    from edgeshift.operations.preview import Preview
    from edgeshift.views.entries import Attempt


class ViewPart:
    """One area's part of the views; as it stands, that of a change which can be undone.

    ``signs_evidence``: whether people sign what the evidence of a target says, so that a report shows it
    rather than what the result's record names. ``proposals``: what a proposal may be that a timeline reads,
    the one with most in it first; ``tells_additions``: whether what it adds is told there. ``template``: the
    file that has the area's sections of the report, as macros ``nav`` and ``sections``, in the folder
    ``templates`` of the package ``package``. ``terraform``: whether there is Terraform of what it changed.
    """

    signs_evidence: bool = False
    proposals: tuple[type[BaseModel], ...] = (Proposal,)
    tells_additions: bool = True
    terraform: bool = False
    package: str = "edgeshift.views"
    template: str = "area_reversible.html.j2"

    def sentence(self, name: str, attempts: Sequence[Attempt]) -> str | None:
        """What happened to the target of this name, by its attempts, the last of which counts; at least one.
        None: what is said of all changes that can be undone.
        """
        return None

    def evidence(self, verdict: EvidenceVerdict) -> str:
        """What a list says of a target's evidence."""
        return f"evidence: {verdict.value}"

    def after(self, campaign: str, name: str) -> tuple[str, ...]:
        """What a person does after a campaign has changed the target of this name, a line each."""
        return ()

    def step_text(self, shown: Preview) -> str:
        """What would be sent for a proposal, and whether it can be undone."""
        return f"{word(shown.step, shown.area)}; it can be undone"

    def seen_lines(self, shown: Preview, most: int = 6) -> list[str]:
        """What is known of what a proposal does, in lines for people; of waf, only that nothing is. ``most``:
        names in a line.
        """
        return []

    def snapshot_lines(self, reading: dict[str, Any]) -> list[str]:
        """What a snapshot holds, in lines for people."""
        return json.dumps(reading, indent=2, ensure_ascii=False).splitlines()

    def is_before(self, reading: dict[str, Any]) -> bool:
        """Whether a snapshot shows a target as it was before a change of this area."""
        return True

    def reads(self, objects: Mapping[str, str]) -> bool:
        """Whether a timeline reads what the archive holds for an entry that names these objects, by role."""
        return bool(objects)


VIEWS = PartOf("views", ViewPart)
