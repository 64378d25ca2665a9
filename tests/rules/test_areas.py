"""Areas as objects: what the registry has of each, and what becomes of one that is not as it must be."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from pydantic import TypeAdapter

from edgeshift.alarms import of_zones
from edgeshift.areas import AREAS, AreaNotLoaded, area_of, load, names
from edgeshift.areas.area import AreaDefinition
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.areas.parts import PartOf
from edgeshift.campaign_file.of_area import CAMPAIGN_FILE, times_of
from edgeshift.campaign_file.spec import CampaignSpec, TargetSpec
from edgeshift.cli.parts import CLI
from edgeshift.doctor.parts import DOCTOR
from edgeshift.messages import BEFORE_SIGN_OFF
from edgeshift.model.area_reasons import AreaReason
from edgeshift.model.fleet import Area, has_to_be_named, named_for
from edgeshift.model.reasons import ReasonCode
from edgeshift.operations.parts import CHECKS, PROPOSALS
from edgeshift.stores.documents.records import DOCUMENTS
from edgeshift.testbed.demo.parts import DEMO
from edgeshift.testbed.stack.parts import STACK
from edgeshift.views import words
from edgeshift.views.parts import VIEWS, ViewPart
from tests.runbook import ROOT
from worker.parts import WORKER


def test_every_area_has_a_definition_of_its_own_name() -> None:
    """The registry has each area, the built-in ones first and in their order, under its own name."""
    assert list(AREAS)[:3] == [Area.WAF, Area.ESC, Area.LOG_FIELDS]
    assert set(AREAS) == set(Area)
    for area, definition in AREAS.items():
        assert definition.name is area
        assert len({entry.workflow for entry in AREAS.values()}) == len(AREAS)
        assert definition.asks_first in BEFORE_SIGN_OFF


def test_a_section_says_how_long_a_change_takes() -> None:
    """An area's times are those of its own section of the campaign file; one without a section has none."""
    spec = CampaignSpec(name="one", targets=TargetSpec(all=True), area=Area.ESC)
    times = times_of(spec)
    terms = EscSpec()
    assert times is not None
    assert (times.effect, times.watch, times.every) == (terms.effect_limit, terms.observe, terms.every)
    assert times_of(spec.model_copy(update={"area": Area.WAF})) is None


def test_what_is_not_there_is_named() -> None:
    """A place that has nothing, or something else than was asked for, is told by its name."""
    with pytest.raises(AreaNotLoaded, match=r"edgeshift\.nowhere:DEFINITION cannot be loaded"):
        load("edgeshift.nowhere:DEFINITION", AreaDefinition)
    with pytest.raises(AreaNotLoaded, match="is no AreaDefinition, but a "):
        load("edgeshift.model.fleet:Area", AreaDefinition)


def test_an_area_that_validates_says_how_its_evidence_is_judged_again() -> None:
    """Else no door would ask for it: such an area is not loaded."""
    assert area_of(Area.WAF).evidence is not None
    # Esc has its probe, of every scope.
    others = [area.name for area in AREAS.values() if area.evidence and not area.validates]
    assert others == [Area.ESC]
    with pytest.raises(ValueError, match="say how their evidence is judged again"):
        AreaDefinition(name=Area.ESC, title="t", workflow="W", reversible=True, validates=True)


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"parts": {"view": "a:B"}}, "area esc: `parts` has no 'view'; it may have worker, doctor, "),
    ({"words": {"comit": "turn it off"}}, "area esc: `words` has no 'comit'; it may have zone, validate, "),
    ({"sent": {"committing": "it"}}, "area esc: `sent` has no 'committing'; it may have validate, "),
    (
        {"first_step": "nonsense"},
        "area esc: `first_step` has no 'nonsense'; it may have validate, set_secret",
    ),
    ({"first_step": "commit"}, "area esc: `first_step` has no 'commit'; it may have validate, set_secret"),
]


@pytest.mark.parametrize(("wrong", "said"), MISTAKES)
def test_a_name_that_there_is_not_is_no_definition(wrong: dict[str, Any], said: str) -> None:
    """Else its part, or its word, would be as if it were not there, and nobody would say so."""
    with pytest.raises(ValueError, match=re.escape(said)):
        AreaDefinition(name=Area.ESC, title="t", workflow="W", reversible=True, **wrong)


def test_every_part_that_a_room_asks_for_can_be_named() -> None:
    """And no other: a room that asks for one more is an error as soon as it is loaded."""
    kinds = (DOCUMENTS, DOCTOR, VIEWS, CLI, CAMPAIGN_FILE, PROPOSALS, CHECKS, STACK, DEMO, WORKER)
    assert {kind.name for kind in kinds} == set(names.PARTS)
    with pytest.raises(ValueError, match="areas have no part 'view'"):
        PartOf("view", ViewPart)


def test_the_page_lists_the_names_of_parts_and_steps() -> None:
    """Whoever writes an area finds them there."""
    page = (ROOT / "docs/adding-an-area.md").read_text(encoding="utf-8")
    listed = page.partition("### Names that there are")[2].partition("## Its section")[0]
    assert [name for name in (*names.PARTS, *names.STEPS) if f"`{name}`" not in listed] == []


def test_every_place_that_is_shown_can_have_a_word() -> None:
    """Whatever has a look of its own can be called otherwise."""
    assert set(names.WORDS) >= words.PLACES


class Kept(AreaReason):
    """An area's own reason to keep what nobody could verify."""

    code: ClassVar[str] = "esc.kept"

    def text(self) -> str:
        """In words."""
        return "nobody could tell"


def test_what_an_installed_area_keeps_unverified_has_no_tick_and_is_an_alarm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the reasons that the area itself names, and of that area alone."""
    kept = frozenset({ReasonCode(Kept.code)})
    made = replace(area_of(Area.ESC), reasons=(Kept,), unverified=kept)
    monkeypatch.setattr(words, "AREAS", {**AREAS, Area.ESC: made})
    monkeypatch.setattr(of_zones, "area_of", {**AREAS, Area.ESC: made}.__getitem__)
    for area, mark, alarms in ((Area.ESC, "○", ("fields-unverified",)), (Area.WAF, "✓", ())):
        appears = words.look_ended("settled", area, [Kept().reason()])
        assert (appears.mark, "not verified" in appears.label) == (mark, mark == "○")
        assert of_zones.alarm_codes("settled", [ReasonCode(Kept.code)], area) == alarms
    assert words.maybe_unverified("settled", Area.ESC)


@pytest.mark.parametrize("code", ["esc.other", "kept"])
def test_an_area_keeps_nothing_by_a_reason_that_it_does_not_give(code: str) -> None:
    """A misspelt one would be shown as verified."""
    with pytest.raises(ValueError, match="area esc gives no reason"):
        replace(area_of(Area.ESC), reasons=(Kept,), unverified=frozenset({ReasonCode(code)}))


def test_only_the_area_that_nobody_has_to_name_has_the_usual_names() -> None:
    """Those of all others have the area's name in them, so that none takes the place of another one's."""
    assert [named_for(area, "campaign") for area in list(Area)[:3]] == [
        "campaign",
        "campaign-esc",
        "campaign-log-fields",
    ]
    assert named_for(Area.ESC, "edgeshift demo", joint=" ") == "edgeshift demo esc"
    assert [area for area in Area if not has_to_be_named(area)] == [CampaignSpec.model_fields["area"].default]


def test_an_area_that_is_registered_is_read_and_written_by_its_name() -> None:
    """A name that another distribution brings becomes an area: the same object each time, JSON as others."""
    assert Area.register("esc") is Area.ESC
    with pytest.raises(ValueError, match="is not a valid area name"):
        Area.register("Not a name")
    adapter = TypeAdapter(Area)
    assert adapter.dump_json(Area.LOG_FIELDS) == b'"log-fields"'


def test_a_new_name_is_an_area_like_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registered name is listed, found by its value and read from JSON; there is one object of it."""
    for name in ("_member_names_", "_member_map_", "_value2member_map_"):
        monkeypatch.setattr(Area, name, getattr(Area, name).copy())
    made = Area.register("always-https")
    assert Area.register("always-https") is made is Area("always-https")
    assert list(Area)[-1] is made
    assert TypeAdapter(Area).validate_json('"always-https"') is made
