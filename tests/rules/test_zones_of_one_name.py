"""Zones as people name them: one that is named twice is one, and several accounts may each have one of a
name.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from edgeshift import operations
from edgeshift.cli.errors import CommandError
from edgeshift.cli.sign_off_each import _refuse_gone
from edgeshift.cli.status import _cards
from edgeshift.messages import TargetAt, ZonePhase, ZoneState
from edgeshift.model.fleet import Area, Plan, Target, Zone, ZoneOutcome
from edgeshift.operations.apart import Apart
from edgeshift.operations.errors import BadInput, NotAsSigned, NotFound
from edgeshift.operations.parts import EACH
from edgeshift.operations.zones import FoundZone, check_campaign, pick_zone, pick_zones
from edgeshift.views import approval_file
from edgeshift.views.rows import ZoneRow, chosen
from tests.rules.test_next_steps import drawn

TWIN = "shop.example"
IDS = [f"{number:032x}" for number in range(1, 4)]
TARGETS = [
    Target(zone=Zone(id=one, name=name, account=account * 32, plan=Plan.PRO), wave=0)
    for one, name, account in zip(IDS, (TWIN, "inn.example", TWIN), "aab", strict=True)
]
ROWS = [
    ZoneRow(
        index=index,
        id=target.zone.id,
        name=target.zone.name,
        account=target.zone.account,
        plan="pro",
        wave=0,
        place="awaiting",
        fingerprint="f" * 64,
    )
    for index, target in enumerate(TARGETS)
]


def state(campaign: str, outcome: ZoneOutcome | None = None) -> ZoneState:
    """Of an attempt of a campaign at the zone that has its name alone."""
    phase = ZonePhase.AWAITING_SIGN_OFF if outcome is None else ZonePhase.CLOSED
    return ZoneState(
        zone=TARGETS[1].zone,
        campaign=f"campaign/{campaign}",
        wave=0,
        attempt=1,
        phase=phase,
        since=datetime(2026, 1, 1, tzinfo=UTC),
        outcome=outcome,
    )


def test_a_zone_that_is_named_several_times_is_found_once() -> None:
    """By name, in other case, with space and dot, by identifier: in the order of the first names."""
    named = [IDS[1], IDS[2], " INN.example. ", "inn.example", IDS[0], IDS[2]]
    assert [one.index for one in pick_zones(TARGETS, named, "a", Area.WAF)] == [1, 2, 0]
    with pytest.raises(BadInput, match=f"2 zones named .*{IDS[0]}, {IDS[2]}"):
        pick_zones(TARGETS, ["inn.example", TWIN], "a", Area.WAF)


@pytest.mark.parametrize("typed", ["inn.example", "INN.example", " inn.example", "inn.example.", IDS[1]])
def test_a_row_is_found_as_a_zone_is(typed: str) -> None:
    """What `sign-off`, `retry` and `show` take for a zone, `status` and `export` take too."""
    assert pick_zone(TARGETS, typed, "a", Area.WAF).index == 1
    assert [row.index for row in chosen(ROWS, zone=typed)] == [1]
    assert chosen(ROWS, zone=" ") == []


def test_an_account_whose_name_ends_in_a_dot_is_found() -> None:
    """As it is called, and without the dot."""
    zone = TARGETS[1].zone.model_copy(update={"name": "Acme Inc."})
    target, row = TARGETS[1].model_copy(update={"zone": zone}), ROWS[1].model_copy(update={"name": zone.name})
    for typed in ("Acme Inc.", "acme inc"):
        assert pick_zone([target], typed, "a", Area.ESC).index == 0
        assert chosen([row], zone=typed) == [row]


@pytest.mark.parametrize("name", ["a;id #", "ZONE-1", ""])
def test_a_campaign_that_is_called_anything_is_in_no_command(name: str) -> None:
    """Who starts a workflow under a zone's id may write anything there."""
    with pytest.raises(NotFound, match="in the hands of no campaign of a known name") as why:
        check_campaign(state(name), "mine", "sign-off approve CAMPAIGN --zone ZONE")
    assert why.value.hint == "`edgeshift history inn.example` tells of its attempts"


def test_each_zone_of_a_name_has_a_card_whose_commands_work() -> None:
    """Its commands name it by its identifier, and the others' by their names."""
    known: Any = SimpleNamespace(
        start=SimpleNamespace(name="autumn"), summary=SimpleNamespace(state="running")
    )
    first, second = (drawn(card, 200) for card in _cards(known, ROWS, chosen(ROWS, zone=TWIN), plain=True))
    for text, one in ((first, IDS[0]), (second, IDS[2])):
        assert f"{TWIN} ({one})" in text
        assert f"edgeshift sign-off approve autumn --zone {one}" in text
        assert f"edgeshift history {one}" in text and f"edgeshift show {one}" in text
    (card,) = _cards(known, ROWS, chosen(ROWS, zone=IDS[1]), plain=True)
    assert "edgeshift sign-off approve autumn --zone inn.example" in drawn(card, 200)


@pytest.mark.parametrize(("index", "typed"), [(0, IDS[0]), (1, "inn.example"), (2, IDS[2])])
def test_the_page_for_approvers_names_a_zone_so_that_it_is_found(
    index: int, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command of a zone whose name another one has, too, has its identifier."""

    async def shown(*_: object) -> None:
        raise NotAsSigned("it is another one")

    monkeypatch.setattr(approval_file, "shown", shown)
    nothing: Any = None
    summary: Any = SimpleNamespace(name="autumn", area=Area.WAF)
    many = Counter(target.zone.name for target in TARGETS)
    at = TargetAt(index=index, place="awaiting_separate", wave=0, fingerprint="f" * 64)
    sheet = asyncio.run(approval_file._single(nothing, nothing, summary, TARGETS, many, at))
    assert sheet is not None and sheet.title == TARGETS[index].zone.name
    assert f"--zone {typed} --digest" in sheet.command("reject", "autumn")
    assert pick_zone(TARGETS, typed, "autumn", Area.WAF).index == index


async def test_of_zones_of_one_name_the_one_that_does_not_wait_is_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the other of that name waits, nothing is signed either."""
    asked: list[int] = []

    async def zone_state(_: object, found: FoundZone, command: str) -> ZoneState:
        asked.append(found.index)
        return state("autumn", ZoneOutcome.MIGRATED)

    monkeypatch.setattr(operations, "zone_state", zone_state, raising=False)
    named = [FoundZone.of(index, TARGETS[index], Area.WAF, "autumn") for index in (0, 2)]
    waits = [Apart(named[1], state("autumn"), EACH)]
    client: Any = None
    with pytest.raises(CommandError, match=f"{TWIN} does not wait for a sign-off; nothing was signed"):
        await _refuse_gone(client, named, waits, "show ZONE")
    assert asked == [0]
    await _refuse_gone(client, named[1:], waits, "show ZONE")


def test_an_attempt_is_that_of_its_campaign_alone() -> None:
    """Of another campaign's, whose it is, and what to call there; of one that is over, where to look."""
    check_campaign(state("b"), "b")
    with pytest.raises(NotFound) as refused:
        check_campaign(state("b"), "a", "sign-off approve CAMPAIGN --zone ZONE")
    assert refused.value.text == "zone inn.example is in the hands of campaign b"
    assert refused.value.hint == "edgeshift sign-off approve b --zone inn.example"
    with pytest.raises(NotFound) as refused:
        check_campaign(state("b", ZoneOutcome.MIGRATED), "a", "sign-off approve CAMPAIGN --zone ZONE")
    assert "campaign a has no attempt at zone inn.example now" in refused.value.text
    assert refused.value.hint == "`edgeshift history inn.example` tells of its attempts"
