"""Codes of reasons in what commands print for programs: rows of zones, their CSV, attempts in a history."""

from __future__ import annotations

import csv
import io
import json

from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.views.csv_rows import as_csv
from edgeshift.views.report_data import as_json
from edgeshift.views.report_source import Source
from edgeshift.views.rows import ZoneRow
from tests.rules.history_kit import History
from tests.rules.test_alarms import NOW, summary

OVER = Reason(code=ReasonCode.TOO_MANY_RULES, count=201, limit=200)
LONG = Reason(code=ReasonCode.EXPRESSION_TOO_LONG, count=1, limit=4096, size=5000)


def row(*causes: Reason) -> ZoneRow:
    """A zone that needs support."""
    return ZoneRow(
        index=0,
        id="0" * 32,
        name="a.example",
        account="1" * 32,
        plan="pro",
        wave=0,
        place="needs_support",
        reason=text_of(*causes),
        causes=list(causes),
    )


def test_a_zone_has_its_codes_in_json() -> None:
    """Each with its facts, and the first by itself; one without reasons has none."""
    shown = json.loads(row(OVER, LONG).model_dump_json())
    assert shown["code"] == "too_many_rules"
    assert shown["causes"] == [
        {"code": "too_many_rules", "count": 201, "limit": 200},
        {"code": "expression_too_long", "count": 1, "limit": 4096, "size": 5000},
    ]
    bare = json.loads(row().model_dump_json())
    assert bare["code"] == "" and bare["causes"] == []


def test_the_csv_has_the_code() -> None:
    """By its name, and how many settings a migration lost: empty where that was not read."""
    (line,) = csv.DictReader(io.StringIO(as_csv([row(LONG)])))
    assert list(line)[-4:] == ["code", "lost_rules", "lost_groups", "afterwards"]
    assert line["afterwards"] == ""
    assert line["code"] == "expression_too_long" and line["lost_rules"] == line["lost_groups"] == ""
    counted = row(LONG).model_copy(update={"lost": {"rule": 3}})
    (line,) = csv.DictReader(io.StringIO(as_csv([counted])))
    assert (line["lost_rules"], line["lost_groups"]) == ("3", "0")


def test_the_csv_says_what_is_done_afterwards() -> None:
    """Of a zone that was changed: Terraform with its range, and the check."""
    changed = row().model_copy(update={"place": "migrated", "record": "f" * 64})
    (line,) = csv.DictReader(io.StringIO(as_csv([changed], "autumn")))
    said = line["afterwards"]
    assert "for provider 4 (>= 4.2.0, < 5.0.0)" in said
    assert (
        "edgeshift export terraform autumn --zone a.example" in said and "edgeshift check a.example" in said
    )


def test_a_report_counts_zones_by_code() -> None:
    """By place; a zone over two limits counts for both, one without reasons for none."""
    rows = [row(OVER, LONG), row(OVER, OVER), row()]
    shown = as_json(Source(summary=summary("closed"), made_at=NOW, rows=rows))
    assert shown["codes"] == {"needs_support": {"too_many_rules": 2, "expression_too_long": 1}}
    assert shown["campaign"] == "autumn" and shown["zones"] == rows


def test_an_attempt_has_the_codes_of_its_result() -> None:
    """Of a later version too; one of an earlier version has none, and one that was ended has its own."""
    history = History()
    later = {"code": "of_tomorrow", "words": "it rains"}
    result = {"outcome": "needs_support", "reason": "x", "why": [OVER.model_dump(), later, "no object"]}
    history.add("WorkflowExecutionCompleted", result=(result,))
    (attempt,) = history.told().attempts
    assert attempt.causes == [OVER, Reason(code=ReasonCode.OTHER, words="it rains")]
    shown = json.loads(attempt.model_dump_json())
    assert shown["causes"][0] == {"code": "too_many_rules", "count": 201, "limit": 200}

    earlier = History()
    earlier.close("failed", "it broke")
    assert earlier.told().attempts[0].causes == []
    ended = History()
    ended.add("WorkflowExecutionTerminated", facts={"reason": "enough"}, who="ada")
    (attempt,) = ended.told().attempts
    assert [one.code for one in attempt.causes] == [ReasonCode.WORKFLOW_ENDED]
    assert text_of(*attempt.causes) == attempt.reason
