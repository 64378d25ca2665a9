"""The area esc in timelines and reports: probes, and what was seen while a scope was watched. Pure."""

from __future__ import annotations

from edgeshift.stores.documents import ProbedProposal, Proposal
from edgeshift.views.parts import ViewPart


class EscViews(ViewPart):
    """What a person sees of Edge Side Code being turned off."""

    signs_evidence = True
    proposals = (ProbedProposal, Proposal)
    tells_additions = False
    template = "area_esc.html.j2"


PART = EscViews()
