"""Waves count from 1 in everything that leaves edgeshift."""

from __future__ import annotations

import json

from edgeshift.messages import Book, Step, Waiting, WaveSummary, ZoneAssessment
from edgeshift.model.fleet import Plan, Wave, Zone
from edgeshift.views.csv_rows import as_csv
from edgeshift.views.entries import Attempt
from edgeshift.views.rows import ZoneRow
from edgeshift.views.waves import assessment_data, summary_data, wave_data
from tests.rules.test_timeline_watch import BEGAN, PRINT, summary

ROW = ZoneRow(index=0, id="a" * 32, name="shop.example", account="b", plan="pro", wave=0, place="failed")


def test_a_summary_counts_from_one() -> None:
    """The wave that it is in, each wave, those of groups that wait and of decisions; all else is as it is."""
    waves = [WaveSummary(number=number, name=f"w{number}", size=1, places={}) for number in range(3)]
    group = Waiting(fingerprint=PRINT, zones=2, waves=[0, 2], example=0, step=Step.COMMIT)
    books = [Book(fingerprint=PRINT, wave=1), Book(fingerprint=PRINT)]
    found = summary(wave=2, waves=waves, waiting=[group], book=books)
    data = summary_data(found)
    assert data is not None
    assert data["wave"] == 3 and [wave["number"] for wave in data["waves"]] == [1, 2, 3]
    assert data["waiting"][0]["waves"] == [1, 3]
    assert [book["wave"] for book in data["book"]] == [2, None]
    same = found.model_dump(mode="json")
    assert {key for key in same if same[key] != data[key]} == {"wave", "waves", "waiting", "book"}
    assert summary_data(None) is None


def test_zones_plans_and_histories_count_from_one() -> None:
    """In JSON and CSV alike; within edgeshift nothing changes."""
    assert json.loads(ROW.model_dump_json())["wave"] == 1 and ROW.wave == 0
    assert as_csv([ROW]).splitlines()[1].split(",")[5] == "1"
    attempt = Attempt(number=1, campaign="c", wave=2, run_ids=[], started_at=BEGAN)
    assert attempt.model_dump(mode="json")["wave"] == 3 and attempt.wave == 2
    assert Attempt(number=1, campaign="c", run_ids=[], started_at=BEGAN).model_dump()["wave"] is None
    zone = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.PRO)
    assert assessment_data(ZoneAssessment(index=0, zone=zone, wave=1))["wave"] == 2
    wave = wave_data(Wave(number=0, name="canary", first=0, end=5))
    assert (wave["number"], wave["size"], wave["first"]) == (1, 5, 0)
