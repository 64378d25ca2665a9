"""What an area has of its own in timelines and reports (edgeshift/areas/parts.py). Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.parts import PartOf
from edgeshift.stores.documents import Proposal, ZoneRecord
from edgeshift.views.activity_kit import Teller, tell_prepared
from edgeshift.views.reversible_texts import tell_settled, tell_watched
from edgeshift.views.rolled_back import UndoneSections, rolled_back
from edgeshift.views.words import word

if TYPE_CHECKING:
    from edgeshift.operations.preview import Preview
    from edgeshift.views.entries import Attempt
    from edgeshift.views.report_source import Source


class ViewPart:
    """One area's part of the views; as it stands, that of a change which can be undone.

    ``signs_evidence``: whether people sign what the evidence of a target says, so that a report shows it
    rather than what the result's record names. ``proposals``: what a proposal may be that a timeline reads,
    the one with most in it first; ``documents``: the same of what else the area's activities name, by its
    role (``Entry.objects``). Records and evidence are those of the area's ``DocumentsPart``. ``tellers``: who
    tells the area's activities in a timeline, by their names, or by the verb with which these begin; for what
    is not there, those that stand here, and for any other its name.

    ``template``: the file that has the area's sections of the report, as macros ``nav`` and ``sections``, in
    the folder ``templates`` of the package ``package``; ``seen_template``: the one that has what was seen
    before a sign-off, for the page of what waits, as a macro ``seen``. ``counts_losses``: whether records say
    what a change has lost, so that a report reads those of very many zones. ``terraform``: whether there is
    Terraform of what it changed.
    """

    signs_evidence: bool = False
    proposals: tuple[type[BaseModel], ...] = (Proposal,)
    documents: Mapping[str, tuple[type[BaseModel], ...]] = MappingProxyType({})
    tellers: Mapping[str, Teller] = MappingProxyType(
        {"prepare": tell_prepared, "settle": tell_settled, "watch": tell_watched}
    )
    counts_losses: bool = False
    terraform: bool = False
    package: str = "edgeshift.views"
    template: str = "area_reversible.html.j2"
    seen_template: str = "seen.html.j2"

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

    def report(self, source: Source) -> BaseModel:
        """What the area's own sections of a report have: ``data.area`` in its template. Where that says what
        was rolled back, as of all changes that can be undone, it is an ``UndoneSections`` with more.
        """
        return UndoneSections(rolled_back=rolled_back(source.rows))

    def report_json(self, source: Source) -> dict[str, Any]:
        """What the report for programs says beside what it says of every area; there under ``own``."""
        return {}

    def losses(self, record: ZoneRecord) -> tuple[BaseModel, ...]:
        """What the change with this record has lost, each thing as facts. ``record``: as of the area's
        ``DocumentsPart``.
        """
        return ()

    def loss_text(self, loss: BaseModel) -> str:
        """One of these in words."""
        return str(loss)

    def lost(self, losses: Sequence[BaseModel]) -> dict[str, int]:
        """How many of these are lost, by their kind."""
        return {}

    def filters(self) -> Mapping[str, Callable[..., Any]]:
        """What the area's templates call beside the filters of all pages, by name."""
        return {}

    def step_text(self, shown: Preview) -> str:
        """What would be sent for a proposal, and whether it can be undone."""
        return f"{word(shown.step, shown.area)}; it can be undone"

    def remarks(self, shown: Preview) -> list[tuple[str, Sequence[str]]]:
        """What is to be known of that step, before the body: lines, each list with what they are called."""
        return []

    def seen_lines(self, shown: Preview, most: int = 6) -> list[str]:
        """What is known of what a proposal does, in lines for people; of waf, only that nothing is. ``most``:
        names in a line.
        """
        return []

    def snapshot_lines(self, reading: dict[str, Any]) -> list[str]:
        """What a snapshot holds, in lines for people."""
        return json.dumps(reading, indent=2, ensure_ascii=False).splitlines()

    def is_before(self, reading: dict[str, Any]) -> bool | None:
        """Whether a snapshot shows a target as it was before a change of this area. None: a reading cannot
        tell, and what was taken before the first change is.
        """
        return None

    def lines(self, role: str, document: BaseModel) -> list[str]:
        """What a timeline says of a document that one of its entries names, in lines for people. ``role``:
        what it is for the entry. What a record has lost, and its evidence, are told after it.
        """
        if isinstance(document, Proposal):
            return [*document.additions, *(f"to know: {one}" for one in document.warnings)]
        return []

    def evidence_of(self, record: ZoneRecord) -> str:
        """The evidence that is told with a record, by its digest; empty where another line has told it."""
        return record.evidence

    def reads(self, objects: Mapping[str, str]) -> bool:
        """Whether a timeline reads what the archive holds for an entry that names these objects, by role."""
        return bool(objects)


VIEWS = PartOf("views", ViewPart)
