"""How a plan's targets are put into batches, and what it says where credentials cannot list their zones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio import workflow
from temporalio.exceptions import ApplicationError

from activities.targets import line_of, one_each
from activities.zone_lists import _of_all, listed_by_all
from edgeshift.campaign.callers import callers_of
from edgeshift.messages import AssessmentStart, Caller, Callers, ResolvedTargets
from edgeshift.model.fleet import Plan, Target, Zone
from edgeshift.rate_limit.circuit import OpenCircuit
from edgeshift.runtime.secret_refs import CredentialMissing
from edgeshift.service_api import ConnectionRefused, TimedOut
from workflows.assessment import MOST_BATCHES, batches_of

START = AssessmentStart(name="plan", spec="0" * 64)
USERS = [Caller(credential=f"env:T{number}", user=f"u{number % 3}") for number in range(4)]


def frozen(count: int, callers: Callers) -> ResolvedTargets:
    return ResolvedTargets(targets="1" * 64, count=count, waves=(), plans={}, enterprise="", callers=callers)


@pytest.mark.parametrize("count", [4, 130, 100_000])
def test_a_batch_is_of_one_credential_and_each_target_in_one(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """So no user's trouble holds another's up. There are few, however many targets."""
    monkeypatch.setattr(workflow, "patched", lambda name: True)
    of = [USERS[index % 7 % 4] for index in range(count)]
    groups = batches_of(START, frozen(count, callers_of(of)))
    assert len(groups) == 4
    for group in groups:
        assert len({of[index] for batch in group for index in batch.indexes}) == 1
    every = [batch for group in groups for batch in group]
    assert sorted(index for batch in every for index in batch.indexes) == list(range(count))
    assert all((batch.indexes[0], batch.indexes[-1] + 1) == (batch.first, batch.end) for batch in every)
    assert len(every) <= MOST_BATCHES + 4


@pytest.mark.parametrize("patched", [True, False])
def test_plans_with_one_credential_and_those_under_way_are_read_as_before(
    monkeypatch: pytest.MonkeyPatch, patched: bool
) -> None:
    """Four batches at a time, one target after another."""
    monkeypatch.setattr(workflow, "patched", lambda name: patched)
    several = callers_of([USERS[index % 4] for index in range(60)])
    (group,) = batches_of(START, frozen(60, Callers() if patched else several))
    assert [(batch.first, batch.end, batch.indexes) for batch in group] == [
        (0, 25, ()),
        (25, 50, ()),
        (50, 60, ()),
    ]


class Listing:
    """The clients of three credentials. The first is listed once the last one was; some lead to no secret."""

    def __init__(self, *missing: int) -> None:
        names = [f"env:T{number}" for number in range(3)]
        self.spec: Any = SimpleNamespace(
            service=SimpleNamespace(credentials=[SimpleNamespace(reference=name) for name in names])
        )
        self.listed: set[str] = set()
        self._missing = [names[number] for number in missing]
        self._last_is = asyncio.Event()

    def client(self, digest: str, spec: Any, credential: Any) -> Any:
        """That of a credential."""
        name = credential.reference
        if name in self._missing:
            raise CredentialMissing(name, f"{name}: the variable is not set")

        async def zones(again: Any) -> AsyncIterator[Any]:
            if name == "env:T0":
                await asyncio.wait_for(self._last_is.wait(), 5)
            self.listed.add(name)
            if name == "env:T2":
                self._last_is.set()
            nothing: list[Any] = []
            for zone in nothing:
                yield zone

        return SimpleNamespace(zones=zones, base_url="http://127.0.0.1:1/client/v4")

    async def by_all(self) -> list[Any]:
        """What a plan lists."""
        there: Any = self

        async def is_over(hold: OpenCircuit) -> bool:
            raise AssertionError(f"nothing is held here: {hold}")

        return list(await listed_by_all(there, "0" * 64, self.spec, is_over))


async def test_credentials_list_their_zones_side_by_side() -> None:
    """None waits for another's."""
    listing = Listing()
    assert len(await listing.by_all()) == len(listing.listed) == 3


async def test_a_plan_names_every_credential_that_cannot_list_its_zones() -> None:
    """Without their zones it would be no plan of the campaign; the others are listed all the same."""
    one, two = Listing(1), Listing(0, 1)
    with pytest.raises(ApplicationError) as single:
        await one.by_all()
    with pytest.raises(ApplicationError) as several:
        await two.by_all()
    assert one.listed == {"env:T0", "env:T2"} and two.listed == {"env:T2"}
    assert single.value.type == several.value.type == "CredentialMissing"
    cause = "the variable is not set"
    assert single.value.message == f"1 of 3 credentials cannot list its zones: env:T1: {cause}"
    assert several.value.message == f"2 of 3 credentials cannot list their zones: env:T0, env:T1: {cause}"


def test_a_cause_of_every_credential_is_told_once() -> None:
    """Such as a service that nobody reaches; and what does not fit ends in a sign of that."""
    nobody = {f"env:T{number}": TimedOut("silent", call="zones.list") for number in range(3)}
    whole = _of_all(nobody, 3)
    assert str(whole).endswith("3 of 3 credentials cannot list their zones: zones.list: silent")
    odd = {
        name: TimedOut(f"silent {number} " + "x" * 99, call="zones.list")
        for number, name in enumerate(nobody)
    }
    cut = _of_all(odd, 3)
    assert isinstance(cut, ApplicationError) and len(cut.message) == 300 and cut.message.endswith("…")


TARGETS = [
    Target(zone=Zone(id=f"{n:032x}", name=f"z{n}.example", account="a" * 32, plan=Plan.PRO), wave=0)
    for n in range(6)
]


def test_a_plan_has_one_line_of_each_target() -> None:
    """A worker that knows of no credentials' batches reads also what lies between their targets. Of several
    lines one counts that could be read.
    """
    lines = [line_of(index, target) for index, target in enumerate(TARGETS)]
    failed = [line_of(index, target, "no answer") for index, target in enumerate(TARGETS)]
    assert one_each([*failed[1:5], *lines[0:5], lines[5], failed[5], *lines[1:3]], TARGETS) == lines
    assert one_each(reversed(failed), TARGETS) == failed


@pytest.mark.parametrize("places", [range(5), [0, 1, 2, 3, 4, 4], [0, 1, 2, 3, 5, 4]])
def test_a_plan_that_lacks_a_target_is_none(places: Any) -> None:
    """Nobody starts a campaign with it: it says to plan again."""
    lines = [line_of(index, TARGETS[place]) for index, place in enumerate(places)]
    with pytest.raises(ApplicationError, match=r"of 6 targets, as where .*; plan again") as raised:
        one_each(lines, TARGETS)
    assert raised.value.non_retryable and raised.value.type == "BadInput"


async def test_a_service_that_nobody_reaches_is_told_at_once() -> None:
    """No list begins again where no credential has had a zone: a clock to wait by is not even there."""
    listing: Any = Listing()

    async def zones(again: Any) -> AsyncIterator[Any]:
        if again is not None:
            raise ConnectionRefused("no connection", call="zones.list")
        yield

    listing.client = lambda *_: SimpleNamespace(zones=zones, base_url="http://127.0.0.1:1/client/v4")
    with pytest.raises(ApplicationError, match="3 of 3 credentials cannot list their zones"):
        await listing.by_all()
