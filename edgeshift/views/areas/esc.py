"""The area esc in timelines and reports: probes, and what was seen while a scope was watched. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from edgeshift.areas import esc
from edgeshift.areas.esc.probe import ProbeReport
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.model.counts import counted
from edgeshift.stores.documents import Proposal
from edgeshift.stores.documents.areas.esc import ProbedProposal
from edgeshift.views.areas.esc_activities import tell_probed
from edgeshift.views.areas.esc_lines import coverage_lines, probe_lines, watched_lines
from edgeshift.views.parts import ViewPart
from edgeshift.views.words import short

if TYPE_CHECKING:
    from edgeshift.operations.preview import Preview
    from edgeshift.views.report_source import Source


class EscViews(ViewPart):
    """What a person sees of Edge Side Code being turned off."""

    signs_evidence = True
    proposals = (ProbedProposal, Proposal)
    documents = MappingProxyType({"probe": (ProbeReport,)})
    tellers = MappingProxyType({"probe_esc_scope": tell_probed})
    template = "area_esc.html.j2"

    def evidence(self, verdict: EvidenceVerdict) -> str:
        """How the probe ended. That it could be made says nothing of what it found."""
        return "probe finished" if verdict is EvidenceVerdict.PASS else "probe finished, with doubts"

    def report(self, source: Source) -> BaseModel:
        """What needs a replacement, by the probes."""
        from edgeshift.views.areas.esc_report import sections

        probes = {index: one for index, one in source.documents.items() if isinstance(one, ProbeReport)}
        return sections(source.rows, probes)

    def step_text(self, shown: Preview) -> str:
        """What would be turned off."""
        all_of_it = f"all {counted(shown.covers, 'zone')} of the account at once"
        whom = all_of_it if shown.covers else "this zone"
        return f"turn esc off for every request, for {whom}; watched, and turned on again if it gets worse"

    def seen_lines(self, shown: Preview, most: int = 6) -> list[str]:
        """How the probe ended, and what it looked at; its differences are in the body that is signed."""
        if not isinstance(shown.evidence, ProbeReport):
            return []
        found = counted(len(shown.evidence.differences), "difference")
        return [f"finished, {found}", *coverage_lines(shown.evidence, most)]

    def is_before(self, reading: dict[str, Any]) -> bool | None:
        """Whether it was not off yet, and had no test secret of edgeshift's: setting that comes first. None:
        the setting showed a secret alone, and not whether it is off.
        """
        if reading.get("told") is False:
            return None
        return not reading.get("always") and reading.get("secret") != esc.Secret.TEST.value

    def lines(self, role: str, document: BaseModel) -> list[str]:
        """What a probe found, or what was seen while the scope was watched. What a proposal adds is in its
        probe, which is told by itself.
        """
        if isinstance(document, ProbeReport):
            return probe_lines(document) if role == "probe" else watched_lines(document)
        found = [f"to know: {one}" for one in document.warnings] if isinstance(document, Proposal) else []
        if isinstance(document, ProbedProposal):
            found.append(f"baseline {short(document.baseline)} in the archive, for the looks after it")
        return found


PART = EscViews()
