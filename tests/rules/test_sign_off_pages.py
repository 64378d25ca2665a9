"""A sign-off by wave or by fingerprint sees every zone that waits, in as many answers as that takes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from temporalio.client import Client

from edgeshift.campaign.ledger import Ledger
from edgeshift.campaign.target_states import TargetState
from edgeshift.messages import PlacesAsked, Step, WaitingAsked
from edgeshift.model.fleet import Wave
from edgeshift.operations.again import MOST_AT_ONCE, zones_at
from edgeshift.operations.errors import BadInput, NotFound
from edgeshift.operations.sign_offs import (
    AWAITING,
    SEPARATE,
    ToSign,
    by_prefix,
    by_wave,
    checked_prefix,
    separate_zones,
    waiting_groups,
)
from tests.rules.ledger_kit import FORTNIGHT, NOW
from workflows.campaign.summary import targets_at, waiting_found

COUNT, SHAPES = 12_000, 1_200
WAVES = (
    Wave(number=0, name="one", first=0, end=1_000),
    Wave(number=1, name="two", first=1_000, end=9_000),
    Wave(number=2, name="three", first=9_000, end=COUNT),
)
SUMMARY: Any = SimpleNamespace(name="c", waves=WAVES, fingerprints_waiting=SHAPES, places={})


def shape_of(index: int) -> str:
    return f"{index % SHAPES:04d}" + "a" * 60


def is_apart(index: int) -> bool:
    """Whether a target waits for a sign-off of its own."""
    return index % 7 == 3


def campaign() -> Any:
    """As much of a campaign as its queries read: every target waits, but for the last hundred."""
    found = Ledger(COUNT, NOW, FORTNIGHT / 100, waves=WAVES)
    for number in range(SHAPES):
        found.know(shape_of(number), Step.COMMIT)
    for index in range(COUNT - 100):
        found.propose(index, index % SHAPES + 1)
        found.places[index] = TargetState.AWAITING_SEPARATE if is_apart(index) else TargetState.AWAITING
    return SimpleNamespace(ledger=found, start=SimpleNamespace(waves=WAVES))


class Asked:
    """A client of one campaign, whose queries the campaign's own code answers."""

    def __init__(self) -> None:
        self.questions = 0
        self._campaign = campaign()

    def get_workflow_handle(self, identifier: str) -> Asked:
        assert identifier == "campaign/c"
        return self

    async def query(self, name: str, arg: Any = None, *, args: Any = (), **_: Any) -> Any:
        self.questions += 1
        message = args[0] if args else arg
        if name == "waiting":
            return waiting_found(self._campaign, WaitingAsked.model_validate(message))
        return targets_at(self._campaign, PlacesAsked.model_validate(message))


@pytest.fixture(scope="module")
def asked() -> Asked:
    return Asked()


def client(asked: Asked) -> Client:
    return cast(Client, asked)


async def test_a_wave_is_signed_whole(asked: Asked) -> None:
    """Its fingerprints and how many zones each reaches, though there are 8,000 of them."""
    chosen = by_wave(await waiting_groups(client(asked), "c", 1), 1, SUMMARY)
    expected = [index for index in range(1_000, 9_000) if not is_apart(index)]
    assert len(chosen.groups) == SHAPES and chosen.wave == 1
    assert chosen.count == len(expected) and chosen.separate == 8_000 - len(expected)
    assert set(chosen.fingerprints) == {shape_of(index) for index in expected}
    sizes = [group.zones for group in chosen.groups]
    assert sizes == sorted(sizes, reverse=True) and sum(sizes) == 8_000
    assert all(1_000 <= group.example < 9_000 and group.waves == [1] for group in chosen.groups)


@pytest.mark.parametrize("wave", [None, 0, 2])
async def test_every_fingerprint_is_counted_over_the_zones_that_wait(asked: Asked, wave: int | None) -> None:
    """In all waves, or in one."""
    first, end = (0, COUNT) if wave is None else (WAVES[wave].first, WAVES[wave].end)
    groups = {group.fingerprint: group for group in await waiting_groups(client(asked), "c", wave)}
    indexes = range(first, min(end, COUNT - 100))
    assert sum(group.zones for group in groups.values()) == len(indexes)
    for number in (0, 1, 700, SHAPES - 1):
        mine = [index for index in indexes if index % SHAPES == number]
        group = groups.get(shape_of(number))
        assert (group.zones if group else 0) == len(mine)
        assert (group.separate if group else 0) == sum(map(is_apart, mine))


async def test_a_fingerprint_is_found_by_its_beginning(asked: Asked) -> None:
    """Those alone are asked for that begin so. Several, or none, are refused."""
    before = asked.questions
    chosen = by_prefix(await waiting_groups(client(asked), "c", prefix="0007a"), "0007a", SUMMARY)
    assert asked.questions == before + 1
    assert chosen.groups[0].fingerprint == shape_of(7) and chosen.wave is None
    assert chosen.count + chosen.separate == COUNT // SHAPES
    with pytest.raises(NotFound, match="ffff"):
        by_prefix(await waiting_groups(client(asked), "c", prefix="ffff"), "ffff", SUMMARY)
    some = await waiting_groups(client(asked), "c", prefix="000")
    with pytest.raises(BadInput, match="10 waiting fingerprints"):
        by_prefix(some, "000", SUMMARY)
    for nonsense in ("abc", "no hex", "a" * 65):
        with pytest.raises(BadInput):
            checked_prefix(nonsense)


async def test_zones_at_a_place_are_all_named_in_their_order(asked: Asked) -> None:
    """As many as are asked for, a page at a time; of one wave, or with one fingerprint."""
    before = asked.questions
    found = await zones_at(client(asked), "c", (AWAITING, SEPARATE), COUNT)
    assert [target.index for target in found.targets] == list(range(COUNT - 100))
    assert asked.questions - before == -(-(COUNT - 100) // MOST_AT_ONCE)
    some = await zones_at(client(asked), "c", (AWAITING, SEPARATE), 5_003)
    assert [target.index for target in some.targets] == list(range(5_003)) and some.total == COUNT - 100
    mine = await zones_at(client(asked), "c", (AWAITING,), wave=1, fingerprint=shape_of(5))
    expected = [index for index in range(1_000, 9_000) if index % SHAPES == 5 and not is_apart(index)]
    assert [(target.index, target.wave) for target in mine.targets] == [(index, 1) for index in expected]


async def test_who_waits_for_a_sign_off_of_its_own_is_named(asked: Asked) -> None:
    """The first few of the wave, or of the fingerprint."""
    groups = await waiting_groups(client(asked), "c", 2)
    named = await separate_zones(client(asked), "c", by_wave(groups, 2, SUMMARY), 5)
    assert [target.index for target in named] == [index for index in range(9_000, COUNT) if is_apart(index)][
        :5
    ]
    (one,) = [group for group in await waiting_groups(client(asked), "c") if group.fingerprint == shape_of(3)]
    named = await separate_zones(client(asked), "c", ToSign((one,)), 5)
    assert [target.index for target in named] == [
        index for index in range(COUNT - 100) if index % SHAPES == 3 and is_apart(index)
    ][:5]
