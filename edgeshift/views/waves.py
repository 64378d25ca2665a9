"""Waves as people count them. Within edgeshift they count from 0, in what leaves it from 1. Pure."""

from __future__ import annotations

from typing import Any

from edgeshift.messages import CampaignSummary, WaveSummary, ZoneAssessment
from edgeshift.model.fleet import Wave


def summary_data(summary: CampaignSummary | None) -> dict[str, Any] | None:
    """A campaign's summary for JSON (docs/output.md)."""
    if summary is None:
        return None
    data = summary.model_dump(mode="json")
    data["wave"] = summary.wave + 1
    data["waves"] = [wave_data(wave) for wave in summary.waves]
    for found, group in zip(data["waiting"], summary.waiting, strict=True):
        found["waves"] = [wave + 1 for wave in group.waves]
    for found, book in zip(data["book"], summary.book, strict=True):
        found["wave"] = None if book.wave is None else book.wave + 1
    return data


def wave_data(wave: Wave | WaveSummary) -> dict[str, Any]:
    """A wave for JSON."""
    return wave.model_dump(mode="json") | {"number": wave.number + 1, "size": wave.size}


def assessment_data(line: ZoneAssessment) -> dict[str, Any]:
    """A zone's line of a plan for JSON."""
    return line.model_dump(mode="json") | {"wave": line.wave + 1}
