"""Areas as objects: what the registry has of each, and what becomes of one that is not as it must be."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pytest
from pydantic import TypeAdapter

from edgeshift.alarms import of_zones
from edgeshift.areas import AREAS, AreaNotLoaded, area_of, load
from edgeshift.areas.area import AreaDefinition
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.campaign_file.spec import CampaignSpec, TargetSpec
from edgeshift.messages import Step
from edgeshift.model.area_reasons import AreaReason
from edgeshift.model.fleet import Area, has_to_be_named, named_for
from edgeshift.model.reasons import ReasonCode
from edgeshift.views import words


def test_every_area_has_a_definition_of_its_own_name() -> None:
    """The registry has each area, the built-in ones first and in their order, under its own name."""
    assert list(AREAS)[:3] == [Area.WAF, Area.ESC, Area.LOG_FIELDS]
    assert set(AREAS) == set(Area)
    for area, definition in AREAS.items():
        assert definition.name is area
        assert len({entry.workflow for entry in AREAS.values()}) == len(AREAS)
        assert definition.first_step in set(Step)


def test_a_section_says_how_long_a_change_takes() -> None:
    """An area's times are those of its own section of the campaign file; one without a section has none."""
    spec = CampaignSpec(name="one", targets=TargetSpec(all=True), area=Area.ESC)
    times = area_of(Area.ESC).times(spec)
    terms = EscSpec()
    assert times is not None
    assert (times.effect, times.watch, times.every) == (terms.effect_limit, terms.observe, terms.every)
    assert area_of(Area.WAF).times(spec) is None


def test_what_is_not_there_is_named() -> None:
    """A place that has nothing, or something else than was asked for, is told by its name."""
    with pytest.raises(AreaNotLoaded, match=r"edgeshift\.nowhere:DEFINITION cannot be loaded"):
        load("edgeshift.nowhere:DEFINITION", AreaDefinition)
    with pytest.raises(AreaNotLoaded, match="is no AreaDefinition, but a "):
        load("edgeshift.model.fleet:Area", AreaDefinition)


def test_an_area_that_validates_says_how_its_evidence_is_judged_again() -> None:
    """Else no door would ask for it: such an area is not loaded."""
    assert area_of(Area.WAF).evidence is not None
    assert [area for area in AREAS.values() if area.evidence and not area.validates] == []
    with pytest.raises(ValueError, match="say how their evidence is judged again"):
        AreaDefinition(name=Area.ESC, title="t", workflow="W", reversible=True, validates=True)


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
