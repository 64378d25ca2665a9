"""What an area has of its own in timelines and reports (edgeshift/areas/parts.py). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from edgeshift.areas.parts import PartOf
from edgeshift.stores.documents import Proposal
from edgeshift.views.entries import Attempt


class ViewPart:
    """One area's part of the views; as it stands, that of a change which can be undone.

    ``signs_evidence``: whether people sign what the evidence of a target says, so that a report shows it
    rather than what the result's record names. ``proposals``: what a proposal may be that a timeline reads,
    the one with most in it first; ``tells_additions``: whether what it adds is told there. ``template``: the
    file that has the area's sections of the report, as macros ``nav`` and ``sections``, in the folder
    ``templates`` of the package ``package``.
    """

    signs_evidence: bool = False
    proposals: tuple[type[BaseModel], ...] = (Proposal,)
    tells_additions: bool = True
    package: str = "edgeshift.views"
    template: str = "area_reversible.html.j2"

    def sentence(self, name: str, last: Attempt) -> str | None:
        """What happened to the target of this name, by its last attempt. None: what is said of all changes
        that can be undone.
        """
        return None

    def reads(self, objects: Mapping[str, str]) -> bool:
        """Whether a timeline reads what the archive holds for an entry that names these objects, by role."""
        return bool(objects)


VIEWS = PartOf("views", ViewPart)
