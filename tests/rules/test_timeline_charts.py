"""The charts of the report: what they show adds up to all zones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.model.fleet import ZoneOutcome
from edgeshift.views.charts import finishes, parts_of
from edgeshift.views.report_data import counts
from tests.rules.report_kit import rows


def test_the_chart_of_finishes_ends_at_all_that_finished() -> None:
    """The stacked areas add up to the zones that closed, and the sentence tells the same."""
    some = rows(90)
    chart = finishes(some)
    assert chart is not None
    assert sum(layer.zones for layer in chart.layers) == 90
    assert sum(chart.table[-1][1]) == 90
    assert chart.told.startswith("90 zones finished within 10m 23s")


@given(st.dictionaries(st.sampled_from([outcome.value for outcome in ZoneOutcome]), st.integers(0, 10**6)))
def test_a_bar_is_full(places: dict[str, int]) -> None:
    """The parts of a bar follow one another without gap or overlap, up to the whole."""
    end = 0.0
    for part in parts_of(counts(places)):
        assert part.start == pytest.approx(end)
        end = part.start + part.width
    assert end == pytest.approx(100 if any(places.values()) else 0)
