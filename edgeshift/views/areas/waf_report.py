"""What a report of the area waf has of its own: the evidence of windows, and aftercare. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.aftercare import Aftercare
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.areas.waf.evidence_terms import Finding
from edgeshift.areas.waf.evidence_texts import SAID, clients_line, finding_line, limits_lines, sample_line
from edgeshift.areas.waf.loss_texts import text_of_loss
from edgeshift.areas.waf.losses import Loss
from edgeshift.areas.waf.names import Names, named
from edgeshift.views.report_source import MOST_LISTED
from edgeshift.views.rows import ZoneRow

MOST_SENTENCES = 100
"""Things to do, and settings that were lost, that the page lists over all zones."""

MOST_TERRAFORM = 20_000
"""Characters of a zone's Terraform configuration that the page shows."""

_IDENTIFIER = re.compile(r"\b[0-9a-f]{32}\b")
_GRAVE = (EvidenceVerdict.FAIL, EvidenceVerdict.INCONCLUSIVE, EvidenceVerdict.PASS)


class WafSections(BaseModel):
    """The sections, cut. ``left_out``: what each does not show; ``names``: what rules are called, by their
    identifiers.
    """

    evidence: list[tuple[ZoneRow, Evidence]]
    verdicts: dict[str, int]
    to_do: list[tuple[str, int]]
    losses: list[tuple[str, int]]
    aftercare: list[tuple[ZoneRow, Aftercare]]
    left_out: dict[str, int]
    names: dict[str, str]


def sections(
    rows: Sequence[ZoneRow],
    windows: Mapping[int, Evidence],
    cares: Mapping[int, Aftercare],
    lost: Mapping[int, Sequence[Loss]],
) -> WafSections:
    """The sections about these zones. The others by the zones' indexes, as far as gathered."""
    by_index = {row.index: row for row in rows}
    evidence = sorted(windows.items(), key=lambda item: (_GRAVE.index(item[1].verdict), item[0]))
    aftercare = sorted(cares.items())
    to_do = Counter(text for _, item in aftercare for text in item.review)
    losses = Counter(text_of_loss(loss) for some in lost.values() for loss in some)
    left_out = {
        "evidence": len(evidence) - MOST_LISTED,
        "aftercare": len(aftercare) - MOST_LISTED,
        "to_do": len(to_do) - MOST_SENTENCES,
        "losses": len(losses) - MOST_SENTENCES,
    }
    return WafSections(
        evidence=[(by_index[index], item) for index, item in evidence[:MOST_LISTED]],
        verdicts=dict(Counter(item.verdict.value for _, item in evidence)),
        to_do=to_do.most_common(MOST_SENTENCES),
        losses=losses.most_common(MOST_SENTENCES),
        aftercare=[(by_index[index], _short(item)) for index, item in aftercare[:MOST_LISTED]],
        left_out={name: max(0, count) for name, count in left_out.items()},
        names={rule: name for item in windows.values() for rule, name in item.names.items()},
    )


def _short(item: Aftercare) -> Aftercare:
    """The aftercare of a zone as far as a page can show it: a configuration may have 800 KB."""
    if len(item.terraform) <= MOST_TERRAFORM:
        return item
    left = len(item.terraform) - MOST_TERRAFORM
    note = f"\n# … {left:,} more characters: `edgeshift export terraform` writes all of it\n"
    return item.model_copy(update={"terraform": item.terraform[:MOST_TERRAFORM] + note})


def with_names(text: str, names: Names) -> str:
    """``text``, in which identifiers of rules stand after what the rules are called."""
    return _IDENTIFIER.sub(lambda found: named(found.group(), names), text)


def _finding(finding: Finding, names: Names) -> str:
    """A finding without its verdict, which stands before it."""
    return finding_line(finding.model_copy(update={"verdict": None}), names)


FILTERS: Mapping[str, Callable[..., Any]] = {
    "said": lambda value: SAID.get(value, value),
    "sampled": lambda item: f"{item.mode} mode: {sample_line(item)}",
    "limits": limits_lines,
    "loss": text_of_loss,
    "finding": _finding,
    "clients": clients_line,
    "named": named,
    "with_names": with_names,
}
"""What the templates of the area call."""
