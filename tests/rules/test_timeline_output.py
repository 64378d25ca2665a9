"""docs/output.md against the models that it describes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import CampaignSummary
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import Reason
from edgeshift.views.entries import Attempt, Entry, Sending, Signed, Timeline
from edgeshift.views.lists import CampaignLine
from edgeshift.views.rows import ZoneRow
from edgeshift.views.words import FINISHED, Kind, look

TEXT = (Path(__file__).parents[2] / "docs" / "output.md").read_text()


@pytest.mark.parametrize("model", [ZoneRow, Reason, Timeline, Attempt, Entry, Sending, Signed])
def test_every_field_is_described(model: type[BaseModel]) -> None:
    """No field of the JSON is left undescribed."""
    shown = [name for name, field in model.model_fields.items() if not field.exclude]
    assert [name for name in shown if f"`{name}`" not in TEXT] == []


def test_the_fields_of_a_listed_campaign_are_shown() -> None:
    """The example of the list of campaigns has every field."""
    assert [name for name in CampaignLine.model_fields if f'"{name}"' not in TEXT] == []


def test_the_summary_is_described_by_fields_that_it_has() -> None:
    """What the text says of the summary exists."""
    (line,) = [line for line in TEXT.splitlines() if line.startswith("| `summary`")]
    named = set(re.findall(r"`(\w+)`", line)) - {"summary"}
    assert named <= set(CampaignSummary.model_fields)


def test_every_field_of_the_summary_is_described() -> None:
    """Under the call that prints it."""
    section = TEXT.split("\n## `edgeshift status CAMPAIGN --json`\n")[1].split("\n### ")[0]
    assert [name for name in CampaignSummary.model_fields if f"`{name}`" not in section] == []


def test_every_place_is_described_and_has_a_word_of_its_own() -> None:
    """Each place of the ledger is in the table, has a label and a mark; outcomes count as finished."""
    for place in TargetState:
        name = place.name.lower()
        assert f"`{name}`" in TEXT
        appears = look(name)
        assert appears.mark
        assert (appears.kind in FINISHED) == (place >= TargetState.EXCLUDED)
    labels = [look(place.name.lower()).label for place in TargetState]
    assert len(labels) == len(set(labels))
    assert look(TargetState.PENDING.name.lower()).kind is Kind.UNSTARTED


def test_marks_of_outcomes_differ_between_kinds() -> None:
    """Who cannot see colours can tell done, needs a person and failed apart by the mark alone."""
    marks: dict[str, set[Kind]] = {}
    for outcome in ZoneOutcome:
        marks.setdefault(look(outcome).mark, set()).add(look(outcome).kind)
    assert all(len(kinds) == 1 for kinds in marks.values())
