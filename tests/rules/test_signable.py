"""A campaign is not started that nobody could ever sign."""

from __future__ import annotations

from typing import Any, cast

import pytest

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.sign_off import SignOffPolicy
from edgeshift.operations.campaigns import start_campaign
from edgeshift.operations.errors import BadInput
from edgeshift.operations.policies import refuse_unsignable

TWO = ("ada", "grace")


@pytest.mark.parametrize(
    ("approvers", "required", "four_eyes", "by"),
    [
        (TWO, 2, True, "olga"),
        (TWO, 2, False, "ada"),
        (TWO, 1, True, "ada"),
        ((), 2, True, "ada"),
        ((*TWO, "olga"), 2, True, "ada"),
    ],
)
def test_a_campaign_is_started_that_enough_can_sign(
    approvers: tuple[str, ...], required: int, four_eyes: bool, by: str
) -> None:
    """Others than whoever starts it, where that matters."""
    refuse_unsignable(SignOffPolicy(approvers=approvers, required=required, four_eyes=four_eyes), by)


@pytest.mark.parametrize("by", ["ada", " Ada"])
def test_one_that_too_few_can_sign_is_refused_with_what_would_be_right(by: str) -> None:
    """Whoever starts it is one of two who must approve."""
    with pytest.raises(
        BadInput, match=r"2 must approve, and .* cannot \(four_eyes\): only grace may"
    ) as found:
        refuse_unsignable(SignOffPolicy(approvers=TWO, required=2, four_eyes=True), by)
    assert "sign_off.approvers" in found.value.hint
    with pytest.raises(BadInput, match="nobody else may"):
        refuse_unsignable(SignOffPolicy(approvers=("ada",), four_eyes=True), by)


async def test_it_is_not_started_either() -> None:
    """Before anything is asked or written."""
    policy = {"approvers": TWO, "required": 2, "four_eyes": True}
    spec = CampaignSpec.model_validate({"name": "a", "targets": {"all": True}, "sign_off": policy})
    nothing = cast(Any, None)
    with pytest.raises(BadInput, match="only grace may"):
        await start_campaign(nothing, nothing, spec, by="ada")
