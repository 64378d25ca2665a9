"""A zone is as signed where it does what was signed; what it does otherwise is told in words, by rule."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from edgeshift.areas.waf import MANAGED_RULESET, OWASP_RULESET, skip_rule
from edgeshift.areas.waf.standing import standing
from edgeshift.areas.waf.terraform import EntryPoint
from edgeshift.model.digests import Body

Json = dict[str, Any]
ENTRY = EntryPoint(id="c" * 32, name="default")


def signed() -> Body:
    """A body as it was signed."""
    core = {
        "categories": [
            {"category": "paranoia-level-3", "enabled": False},
            {"category": "paranoia-level-4", "enabled": False},
        ],
        "rules": [{"id": "score", "action": "block", "score_threshold": 40}],
    }
    return {
        "name": "default",
        "rules": [
            {**skip_rule("shop.example/api/*", "api"), "action_parameters": {"phases": ["b", "a"]}},
            {"action": "execute", "expression": "true", "action_parameters": {"id": MANAGED_RULESET}},
            {
                "action": "execute",
                "expression": "true",
                "enabled": True,
                "action_parameters": {"id": OWASP_RULESET, "overrides": core},
            },
        ],
    }


def stored(**rest: Any) -> Json:
    """The same as the service stores it, with what it assigns."""
    found = copy.deepcopy(signed())
    rules = [
        {"enabled": True, "description": "", **rule, "id": f"{place}", "version": "2", "ref": "r"}
        for place, rule in enumerate(found["rules"])
    ]
    return {"id": ENTRY.id, "name": "default", "version": "7", "phase": "x", "rules": rules, **rest}


def overrides(found: Json) -> Json:
    """The overrides of the core ruleset."""
    return dict[str, Any](found["rules"][2]["action_parameters"]["overrides"])


def test_what_makes_no_difference_is_none() -> None:
    """Null, empty lists, the order of a set, the latest version named, and what the service assigns."""
    assert standing(signed(), ENTRY, stored()).same
    found = stored()
    found["rules"][0]["action_parameters"]["phases"] = ["a", "b"]
    found["rules"][1]["action_parameters"] |= {"version": "latest", "overrides": {"rules": []}}
    found["rules"][2]["action_parameters"]["overrides"]["action"] = None
    seen = standing(signed(), ENTRY, found)
    assert seen.same and not seen.switched and not seen.notes


def test_a_version_that_nobody_signed_is_noted() -> None:
    """The service may name the one that it runs; where one was signed, another one is a change."""
    found = stored()
    found["rules"][1]["action_parameters"]["version"] = "57"
    seen = standing(signed(), ENTRY, found)
    assert seen.same and not seen.switched
    (note,) = seen.notes
    assert note.startswith("the zone runs version 57 of the managed ruleset, where none was signed")
    pinned = signed()
    pinned["rules"][1]["action_parameters"]["version"] = "3"
    assert standing(pinned, ENTRY, found).changed and not standing(pinned, ENTRY, found).notes


def test_a_level_that_is_back_on_is_named() -> None:
    """As provider 3.35 leaves a zone whose configuration says ``enabled = false``."""
    found = stored()
    for item in overrides(found)["categories"]:
        del item["enabled"]
    found["rules"][2]["action_parameters"]["overrides"]["categories"] = []
    seen = standing(signed(), ENTRY, found)
    assert not seen.same
    assert seen.switched == (
        "category paranoia-level-3 of the OWASP core ruleset: off → as delivered",
        "category paranoia-level-4 of the OWASP core ruleset: off → as delivered",
    )
    assert all(line.startswith("changed: rule 3, action_parameters.overrides") for line in seen.changed)


@pytest.mark.parametrize(
    ("place", "change", "said"),
    [
        (2, {"enabled": False}, "the OWASP core ruleset: run → not run"),
        (1, {"enabled": False}, "the managed ruleset: run → not run"),
        (
            1,
            {"action_parameters": {"id": MANAGED_RULESET, "overrides": {"action": "log"}}},
            "the managed ruleset: run → log",
        ),
        (
            1,
            {
                "action_parameters": {
                    "id": MANAGED_RULESET,
                    "overrides": {"rules": [{"id": "x", "enabled": False}]},
                }
            },
            "rule x of the managed ruleset: as delivered → off",
        ),
    ],
)
def test_what_protects_otherwise_is_said_in_words(place: int, change: Json, said: str) -> None:
    """A ruleset that is not run, or only logs; a rule that is off."""
    found = stored()
    found["rules"][place] |= change
    seen = standing(signed(), ENTRY, found)
    assert not seen.same and said in seen.switched
    assert any(line.startswith(f"changed: rule {place + 1}, ") for line in seen.changed)


def test_rules_that_went_and_came_are_named() -> None:
    """A skip rule before the rest opens a gap; an entry point without rules protects nothing."""
    found = stored()
    found["rules"].insert(0, skip_rule("*", "all"))
    (line,) = standing(signed(), ENTRY, found).changed
    assert line.startswith("added: rule 1, skip on true")
    gone = standing(signed(), ENTRY, None)
    assert not gone.same and len(gone.changed) == 3
    assert gone.notes == ("the zone has no entry point any more: no managed rules run",)
    assert "the OWASP core ruleset: run → not run" in gone.switched


def test_an_answer_that_is_none_is_not_as_signed() -> None:
    """Rules that are no objects, or no list."""
    for rules in (["x"], {"a": 1}, "x"):
        assert not standing(signed(), ENTRY, stored(rules=rules)).same


def test_an_entry_point_that_was_made_again_is_noted() -> None:
    """It does what was signed; Terraform has to import it under its new identifier."""
    seen = standing(signed(), ENTRY, stored(id="d" * 32, name="zone"))
    assert seen.same
    assert len(seen.notes) == 2 and "deleted and made again" in seen.notes[0]
