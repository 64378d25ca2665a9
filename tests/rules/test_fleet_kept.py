"""What was measured of fleets is kept, by part and course, and so is what a failed measurement left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.fleet.__main__ import missed_by, write
from bench.fleet.campaign import Course
from bench.fleet.kept import Kept, code_digest
from bench.fleet.left import state_in
from bench.fleet.many import Many
from bench.fleet.parts import chosen, in_order, labelled
from tests.rules.fleet_kit import paced


def test_figures_are_kept_for_one_course_on_one_code(tmp_path: Path) -> None:
    """Another course and another code are measured again."""
    course = Course(name="paced-1", zones=10)
    Kept(tmp_path, "one").keep("paced-1", course, {"zones": 10})
    assert Kept(tmp_path, "one").figures("paced-1", course) == {"zones": 10}
    assert Kept(tmp_path, "two").figures("paced-1", course) is None
    assert Kept(tmp_path, "one").figures("paced-1", course.model_copy(update={"zones": 20})) is None
    assert Kept(tmp_path, "one").figures("paced-4", course) is None
    (tmp_path / "paced-1.json").write_text("{")
    assert Kept(tmp_path, "one").figures("paced-1", course) is None


def test_the_code_s_digest_is_that_of_every_module(tmp_path: Path) -> None:
    """A change of any module is another code."""
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "a.py").write_text("1")
    before = code_digest(tmp_path)
    (tmp_path / "bench" / "b.py").write_text("2")
    assert code_digest(tmp_path) != before


def test_a_part_that_was_measured_with_other_terms_stays_beside_its_own_course(tmp_path: Path) -> None:
    """Whatever is asked for next, with the terms in its label; neither takes the other's place."""
    kept = Kept(tmp_path / "kept", "one")
    own = chosen(["paced-1"])[0]
    small = chosen(["paced-1"], zones=60, scale=5.0)[0]
    few = chosen(["paced-1"], zones=60)[0]
    measured = ((small, 60), (own, 10_000), (few, 61))
    for part, zones in measured:
        kept.keep(labelled(part), part, paced(zones=zones))
    assert labelled(small) == "paced-1 (zones 60, scale 5)"
    found = write(kept, tmp_path / "found.json")
    told = {label: one["zones"] for label, one in found["parts"].items()}
    assert told == {"paced-1": 10_000, "paced-1 (zones 60)": 61, "paced-1 (zones 60, scale 5)": 60}
    assert json.loads((tmp_path / "found.json").read_text())["zones"] == 10_000
    assert Kept(tmp_path / "kept", "two").all() == {}


def test_parts_come_in_their_own_order(tmp_path: Path) -> None:
    """A part that there is no more is left out."""
    labels = ["many (zones 9)", "paced-4", "paced-1 (zones 9)", "paced-1", "stuck", "gone"]
    assert list(in_order({label: {} for label in labels})) == [
        "stuck",
        "paced-1",
        "paced-1 (zones 9)",
        "paced-4",
        "many (zones 9)",
    ]


def test_whoever_asks_for_a_part_hears_of_its_goals_alone() -> None:
    """What another one missed is in the file, and is not this run's failure."""
    missed = ["paced-1: a: 1", "paced-1 (zones 60): b: 2", "paced-4: c: 3"]
    assert missed_by(missed, chosen(["paced-1"], zones=60)) == ["paced-1 (zones 60): b: 2"]
    assert missed_by(missed, chosen(["paced-1"])) == ["paced-1: a: 1"]


def test_every_short_part_has_a_label_of_its_own() -> None:
    """The file of its figures is another one than that of the whole part."""
    labels = [labelled(part) for part in chosen([], short=True)]
    assert len(set(labels)) == len(labels)
    assert "users (zones 300, outage 20 to 40)" in labels
    assert labelled(Many(name="many")) == "many"


def test_what_a_failed_measurement_left_is_kept(tmp_path: Path) -> None:
    """Also when the part is measured again; one that is through, or that a person ends, leaves nothing."""
    said: list[str] = []
    folder, kept = tmp_path / "state", tmp_path / "state-failed"

    def play(text: str, failure: BaseException | None = None) -> None:
        with state_in(folder, said.append):
            assert not folder.exists()
            folder.mkdir()
            (folder / "journal").write_text(text)
            if failure is not None:
                raise failure

    with pytest.raises(OSError, match="no checks"):
        play("an hour's", OSError("no checks"))
    assert said == [f"it failed; what it left is in {kept}"]
    play("the next one's")
    with pytest.raises(KeyboardInterrupt):
        play("an ended one's", KeyboardInterrupt())
    assert (kept / "journal").read_text() == "an hour's"
    assert not folder.exists()
