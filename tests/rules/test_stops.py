"""What a zone that is told to stop ends as: the word's cause decides, not who is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from edgeshift.messages import CANCELLATION, LEFT_ALONE, OUTLIVED, Stop
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from workflows.zone.state import Ended, ZoneMemory


def ended(stop: Stop) -> tuple[ZoneOutcome, ReasonCode]:
    """What a zone with this word ends as."""
    with pytest.raises(Ended) as caught:
        ZoneMemory.check_stop(cast("ZoneMemory", SimpleNamespace(stop=stop)))
    return caught.value.outcome, caught.value.why[0].code


@pytest.mark.parametrize("name", [CANCELLATION, OUTLIVED, LEFT_ALONE])
def test_a_person_of_any_name_aborts(name: str) -> None:
    """Also where somebody calls themselves as the zone calls an end of its own."""
    stop = Stop(by=name, cause=ReasonCode.CAMPAIGN_ABORTED, ended_as=ZoneOutcome.MIGRATED)
    assert ended(stop) == (ZoneOutcome.ABORTED, ReasonCode.CAMPAIGN_ABORTED)


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        (CANCELLATION, ReasonCode.CANCELLED),
        (LEFT_ALONE, ReasonCode.CAMPAIGN_OVER),
        ("ada", ReasonCode.CAMPAIGN_ABORTED),
    ],
)
def test_a_word_of_before_names_no_cause(name: str, cause: ReasonCode) -> None:
    """Histories that are open hold such; they replay as they went."""
    assert ended(Stop(by=name)) == (ZoneOutcome.ABORTED, cause)
    assert ended(Stop(by=name, cause=cause)) == (ZoneOutcome.ABORTED, cause)


def test_how_an_attempt_had_ended_stands() -> None:
    """Where its campaign says that it was over, and knows as what."""
    stop = Stop(by=OUTLIVED, cause=ReasonCode.ATTEMPT_OVER, ended_as=ZoneOutcome.MIGRATED)
    assert ended(stop) == (ZoneOutcome.MIGRATED, ReasonCode.ATTEMPT_OVER)


def test_a_cause_that_stops_no_zone_is_an_abort() -> None:
    """Whoever may signal may have named any."""
    assert ended(Stop(by="ada", cause=ReasonCode.GIVEN_UP))[1] is ReasonCode.CAMPAIGN_ABORTED
