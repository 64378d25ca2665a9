"""A configuration that runs nothing, where the previous WAF protects the zone: blocked, unless a person
consents to it by the zone's name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.operations.preview import preview_of
from edgeshift.stores.documents import Proposal, get_document
from tests.kit.faults import Stage, staged, zone

pytestmark = pytest.mark.embedded

SHELL: dict[str, Any] = {"migration": {"configuration": "disabled"}}
CORE = "4814384a9e5d4991b9815dcfc25d2f1f"
NOWHERE = [{"ruleset": "0" * 32, "action": "log"}]
OFF = [{"enabled": False}, {"ruleset": CORE, "enabled": False}]


async def blocked(stage: Stage, name: str) -> None:
    """The zone ends as blocked, for this reason, and nothing was sent to change it."""
    await stage.play.until(lambda seen: bool(seen.places.get("blocked")), 60)
    assert await stage.outcome(name) is ZoneOutcome.BLOCKED
    result = await stage.play.zone(stage.name(name)).result()
    assert [reason.code for reason in result.why] == [ReasonCode.UNPROTECTED]
    assert await stage.changes(name) == []


async def test_an_empty_shell_is_blocked_where_the_previous_waf_protects(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Where it was off as well, the same body may be signed, and says what it is. What the campaign adjusts
    in vain is told as well.
    """
    off = zone("off", previous_waf={"enabled": False})
    async with staged(temporal_client, tmp_path, zone("shell", **SHELL), off, adjustments=NOWHERE) as stage:
        await blocked(stage, "shell")
        shown = await preview_of(stage.play.archive, await stage.waits("off"), stage.play.spec.area)
        assert any("off as well" in line for line in shown.warnings)
        assert any(line.startswith("not adjusted: 0000") for line in shown.warnings)
        assert (await stage.finish()).outcomes == {"migrated": 1, "blocked": 1}
        await stage.check()


async def test_a_person_consents_by_the_zone_s_name(temporal_client: Client, tmp_path: Path) -> None:
    """The consent is for that zone alone, and recorded with what is signed. It is no sign-off."""
    zones = zone("agreed", "enterprise", **SHELL), zone("other", **SHELL)
    async with staged(temporal_client, tmp_path, *zones, begin=False) as stage:
        consents = {"unprotected": [stage.name("agreed")]}
        spec = stage.play.spec.model_dump() | {"consents": consents}
        stage.play.spec = type(stage.play.spec).model_validate(spec)
        await stage.play.begin()
        state = await stage.waits("agreed")
        proposal = await get_document(stage.play.archive, Proposal, state.proposal)
        assert proposal.notices == (Reason(code=ReasonCode.UNPROTECTED),)
        shown = await preview_of(stage.play.archive, state, stage.play.spec.area)
        assert any("runs no managed rule on any request" in line for line in shown.warnings)
        await blocked(stage, "other")
        assert (await stage.finish()).outcomes == {"migrated": 1, "blocked": 1}
        await stage.check({4, 7})


async def test_an_adjustment_can_make_an_empty_shell_of_it(temporal_client: Client, tmp_path: Path) -> None:
    """What is judged is the proposal."""
    async with staged(temporal_client, tmp_path, zone("adjusted"), adjustments=OFF) as stage:
        await blocked(stage, "adjusted")
        await stage.finish()


async def test_one_odd_answer_ends_no_zone(temporal_client: Client, tmp_path: Path) -> None:
    """A configuration that reads as an empty shell once is read again."""
    async with staged(temporal_client, tmp_path, zone("odd"), begin=False) as stage:
        nothing = {"/result/rules/0/enabled": False, "/result/rules/1/enabled": False}
        await stage.fault("wrong_types", "waf.config", "odd", replace=nothing)
        await stage.play.begin()
        assert (await stage.finish()).outcomes == {"migrated": 1}
        assert await stage.unfired() == []
        await stage.check()


async def test_a_zone_whose_configuration_comes_to_run_nothing_is_blocked_by_its_own_reading(
    temporal_client: Client, tmp_path: Path
) -> None:
    """While it waited for a sign-off: the commit finds other rules, and the new proposal is judged too."""
    async with staged(temporal_client, tmp_path, zone("turns")) as stage:
        await stage.waits("turns")
        await stage.change("turns", migration={"configuration": "disabled"})
        await stage.play.sign_zone(stage.name("turns"))
        await blocked(stage, "turns")
        await stage.finish()
