"""A campaign is not started that nobody could ever sign."""

from __future__ import annotations

from typing import Any, cast

import pytest

from edgeshift.authority.roots import Roots, RootsFile
from edgeshift.authority.signers import Signers
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.operations.campaigns import start_campaign
from edgeshift.operations.errors import BadInput
from edgeshift.operations.policies import policy_warnings, refuse_unsignable

TWO = ("ada", "grace")

PEOPLE = {
    "olga": {"roles": ["starter", "operator"]},
    "ada": {"roles": ["approver", "starter"]},
    "grace": {"roles": ["approver"]},
}


def campaign(targets: dict[str, Any] | None = None, **sign_off: Any) -> CampaignSpec:
    """A campaign file with this policy."""
    targets = targets or {"all": True}
    return CampaignSpec.model_validate({"name": "a", "targets": targets, "sign_off": sign_off})


def known(**file: Any) -> Roots:
    """Roots with a starter and two approvers."""
    services = [{"base_url": "loopback", "credentials": ["*"]}]
    said = {"signers": "allowed_signers", "people": PEOPLE, "services": services, **file}
    return Roots(RootsFile.model_validate(said), Signers([]))


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
    refuse_unsignable(campaign(approvers=approvers, required=required, four_eyes=four_eyes), by)


@pytest.mark.parametrize("by", ["ada", " Ada"])
def test_one_that_too_few_can_sign_is_refused_with_what_would_be_right(by: str) -> None:
    """Whoever starts it is one of two who must approve."""
    with pytest.raises(
        BadInput, match=r"2 must approve, and .* cannot \(four_eyes\): only grace may"
    ) as found:
        refuse_unsignable(campaign(approvers=TWO, required=2, four_eyes=True), by)
    assert "sign_off.approvers" in found.value.hint
    with pytest.raises(BadInput, match="nobody else may"):
        refuse_unsignable(campaign(approvers=("ada",), four_eyes=True), by)


async def test_it_is_not_started_either() -> None:
    """Before anything is asked or written."""
    spec = campaign(approvers=TWO, required=2, four_eyes=True)
    nothing = cast(Any, None)
    with pytest.raises(BadInput, match="only grace may"):
        await start_campaign(nothing, nothing, spec, by="ada")


def test_what_the_roots_ask_for_counts_beside_the_file() -> None:
    """They ask for two, and the file lists one: nobody is left to give the second approval."""
    asks = known(policy={"required": 2, "four_eyes": True})
    with pytest.raises(BadInput, match=r"2 must approve by the roots .*: only ada may;") as found:
        refuse_unsignable(campaign(approvers=["ada"]), "olga", asks)
    assert "keys add" in found.value.hint
    refuse_unsignable(campaign(approvers=["ada", "grace"]), "olga", asks)
    refuse_unsignable(campaign(), "olga", asks)
    with pytest.raises(BadInput, match=r"and ada, who starts .*\(four_eyes\): only grace may"):
        refuse_unsignable(campaign(), "ada", asks)
    assert policy_warnings(campaign(approvers=["ada"]), asks)[0].endswith("; `start` refuses it")
    named = known(policy={"required": 2, "proof": "named"})
    refuse_unsignable(campaign(approvers=["ada"]), "olga", named)


def test_a_listed_approver_whom_the_roots_do_not_know_is_named() -> None:
    """One who is there under another name, or in another role, cannot sign; in a rehearsal's folder, where
    everybody who signs is given a key, they can.
    """
    spec = campaign(approvers=["ada@example.com", "olga"])
    with pytest.raises(BadInput, match=r"nobody may; ada@example\.com, olga are no approvers by the roots"):
        refuse_unsignable(spec, "olga", known())
    refuse_unsignable(spec, "olga", known(), grow=True)
    assert policy_warnings(spec, known(), grow=True) == []
    some = campaign(approvers=["ada", "olga"])
    refuse_unsignable(some, "olga", known())
    (warning,) = policy_warnings(some, known())
    assert warning == "sign_off.approvers: olga is no approver by the roots that are known here"


@pytest.mark.parametrize(
    ("targets", "able"),
    [
        ({"accounts": ["a" * 32]}, True),
        ({"accounts": ["b" * 32]}, False),
        ({"accounts": ["a" * 32, "b" * 32]}, True),
        ({"accounts": ["Retail"]}, True),
        ({"accounts": ["b" * 32], "include": ["shop.example"]}, True),
        ({"all": True}, True),
    ],
)
def test_whoever_approves_for_some_accounts_is_counted_where_zones_may_be_theirs(
    targets: dict[str, Any], able: bool
) -> None:
    """A file that names other accounts alone, by their identifiers, has none of their zones."""
    roots = known(people={"ada": {"roles": ["approver"], "accounts": ["a" * 32]}})
    spec = campaign(targets, approvers=["ada"])
    if able:
        refuse_unsignable(spec, "olga", roots)
    else:
        with pytest.raises(BadInput, match="nobody may; ada is no approver"):
            refuse_unsignable(spec, "olga", roots)
