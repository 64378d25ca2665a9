"""The reasons, the sections and the lists that an area brings: how they are read where nobody knows them."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from typing import ClassVar

import pytest
from pydantic import ValidationError

from activities.change.door import passes
from activities.change.judging import judged
from edgeshift.areas import AreaNotLoaded, area_of
from edgeshift.areas.area import AreaSection, OwnList, OwnSection
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.areas.waf import Adjustment
from edgeshift.campaign_file.load import parse_campaign
from edgeshift.campaign_file.spec import CampaignSpec, TargetSpec
from edgeshift.messages import ChangeStatus, Shown, Watched
from edgeshift.model.area_reasons import AreaReason
from edgeshift.model.fleet import Area
from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import Reason, ReasonCode, codes_of
from edgeshift.service_api import NotUnderstood, RateLimited, Refused, ServerError, ServiceError, Unsuccessful
from edgeshift.service_api.errors import Outcome


class Frozen(AreaReason):
    """It is too cold."""

    code: ClassVar[str] = "ice.frozen"
    degrees: int

    def text(self) -> str:
        """In words."""
        return f"it has {self.degrees} degrees"


def test_a_reason_of_an_area_has_its_code_its_facts_and_its_text() -> None:
    """Typed where the area is known, as JSON and words everywhere."""
    why = Frozen(degrees=-3).reason()
    assert json.loads(why.model_dump_json()) == {
        "code": "ice.frozen",
        "facts": {"degrees": -3},
        "words": "it has -3 degrees",
    }
    assert text_of(why) == "it has -3 degrees" == Watched.as_worse(why).worse
    assert Frozen.of(why) == Frozen(degrees=-3)
    assert Frozen.of(Reason(code=ReasonCode.ESC_ON)) is None
    with pytest.raises(ValidationError, match="degrees"):
        Frozen.of(Reason(code=ReasonCode("ice.frozen")))


def test_its_code_is_kept_where_nobody_knows_it() -> None:
    """Read from JSON, sent on, copied and compared; a code without a dot is still one of a later version."""
    why = Shown.model_validate_json(json.dumps({"reached": True, "why": [{"code": "ice.frozen"}]})).why
    assert codes_of((*why, Frozen(degrees=1).reason())) == (ReasonCode("ice.frozen"),)
    code = why[0].code
    assert type(code) is ReasonCode and (code.value, str(code)) == ("ice.frozen", "ice.frozen")
    assert pickle.loads(pickle.dumps(code)) == copy.deepcopy(code) == code
    assert text_of(*why) == "ice.frozen"
    assert ReasonCode("of_tomorrow") is ReasonCode("ice.") is ReasonCode("Ice.frozen") is ReasonCode.OTHER
    assert code not in list(ReasonCode)


def test_an_area_brings_codes_of_its_own_name_alone() -> None:
    """So that no two areas have the same."""
    with pytest.raises(ValueError, match=r"the reason 'ice\.frozen' of area esc: begin it with `esc\.`"):
        replace(area_of(Area.ESC), reasons=(Frozen,))


def test_a_section_has_a_key_that_a_file_can_have() -> None:
    """And is found by its model, where an area has it."""
    with pytest.raises(ValueError, match="'Not a key' is no key of a section"):
        OwnSection(key="Not a key", model=EscSpec, meaning="")
    spec = CampaignSpec(name="one", targets=TargetSpec(all=True), area=Area.ESC)
    assert spec.section(EscSpec) is spec.own_sections["esc"]
    with pytest.raises(AreaNotLoaded, match="no area has AreaSection as its section"):
        spec.section(AreaSection)


def test_a_list_has_a_key_that_a_file_can_have() -> None:
    """And is found by the model of its items, where an area has it."""
    with pytest.raises(ValueError, match="'Not a key' is no key of a section"):
        OwnList(key="Not a key", model=Adjustment, meaning="", example=())
    spec = parse_campaign("name: one\ntargets: {all: true}\nadjustments: [{action: log}, {enabled: true}]\n")
    assert spec.own_list(Adjustment) == (Adjustment(action="log"), Adjustment(enabled=True))
    with pytest.raises(AreaNotLoaded, match="no area has a list of AreaSection in campaign files"):
        spec.own_list(AreaSection)


def test_a_section_of_no_duration_is_as_it_is_in_a_rehearsal() -> None:
    """And says nothing of times or targets unless it wants to."""
    section = AreaSection()
    assert section.faster(60) is section and section.times is None and list(section.troubles(None)) == []


@pytest.mark.parametrize(
    ("area", "case"), [(Area.WAF, ReasonCode.SUPPORT_REFUSAL), (Area.ESC, None), (Area.LOG_FIELDS, None)]
)
def test_a_refusal_is_a_case_for_support_where_the_area_says_so(area: Area, case: ReasonCode | None) -> None:
    """The same words mean nothing in an area that has no such cases."""
    said = ("please contact support",)
    refusal = Refused("no", call="x", outcome=Outcome.NOTHING_HAPPENED, status=400, messages=said)
    result = judged(refusal, area)
    assert (result.status, result.cause) == (ChangeStatus.REFUSED, case)


@pytest.mark.parametrize(
    ("kind", "status", "said", "case"),
    [
        (Unsuccessful, 200, "please contact support", ReasonCode.SUPPORT_REFUSAL),
        (Unsuccessful, 200, "cannot migrate more than 200 firewall rules", ReasonCode.TOO_MANY_RULES),
        (Unsuccessful, 200, "the zone is locked", None),
        (ServerError, 500, "cannot migrate more than 200 firewall rules", ReasonCode.TOO_MANY_RULES),
        (ServerError, 500, "internal error, please contact support", None),
        (NotUnderstood, None, "", None),
    ],
)
def test_what_may_have_happened_names_its_case_for_support_too(
    kind: type[ServiceError], status: int | None, said: str, case: ReasonCode | None
) -> None:
    """Whatever its status: it stays unknown, and a reading that says so is not simply made again."""
    failure = kind("no", call="x", outcome=Outcome.MAY_HAVE_HAPPENED, status=status, messages=(said,))
    result = judged(failure, Area.WAF)
    assert (result.status, result.cause) == (ChangeStatus.UNKNOWN, case)
    assert judged(failure, Area.ESC).cause is None
    assert passes(failure, Area.WAF) == (case is None) and passes(failure, Area.ESC)


def test_the_rate_limit_is_no_case_for_support() -> None:
    """Whatever it says."""
    failure = RateLimited("no", call="x", status=429, messages=("please contact support",))
    assert judged(failure, Area.WAF).cause is None and passes(failure, Area.WAF)
