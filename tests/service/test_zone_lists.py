"""The list of zones that a campaign begins with: pages that fail, credentials that fail, fleets that change
meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.circuit import HeldCallActivities, HeldHere
from activities.connections import Connections
from activities.targets import TargetActivities
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import ResolvedTargets, ResolveTargets
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import SystemClock
from edgeshift.runtime.settings import Settings
from edgeshift.stores.archive import Archive
from edgeshift.testbed.simulator.fleet_whole import Fleet
from tests.kit.stored import put_json
from tests.service.raw_service import Answer, Request, envelope, http, raw_service, refusal
from tests.service.simulated import Caller, simulated
from worker.wiring import area_work

ZONES, PAGES = 500, 10

ALL = {"all": True}

REFUSED = {"kind": "server_error", "status": 502}


class Quick(SystemClock):
    """Waits for nothing, and keeps for how long it was asked to."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Return at once."""
        self.slept.append(seconds)
        await super().sleep(0)


@dataclass
class Resolving:
    """The first activity of a plan, for one service."""

    work: TargetActivities
    spec: str
    clock: Quick

    async def once(self) -> ResolvedTargets:
        """One try of it."""
        return await ActivityEnvironment().run(self.work.resolve, ResolveTargets(spec=self.spec))


@asynccontextmanager
async def resolving(
    folder: Path, base_url: str, *tokens: str, targets: Mapping[str, Any] = ALL
) -> AsyncIterator[Resolving]:
    """The activity of a campaign over these of the zones of the tokens."""
    references = []
    for number, token in enumerate(tokens):
        file = folder / f"token-{number}"
        file.write_text(token)
        file.chmod(0o600)
        references.append({"token": f"file:{file}", "user": f"u{number}"})
    service = {"base_url": base_url, "credentials": references, "request_limit": "5s"}
    spec = CampaignSpec.model_validate({"name": "all", "targets": targets, "service": service})
    nobody: Any = None
    clock = Quick()
    archive = Archive(Settings(state_dir=folder / "state").archive)
    connections = Connections(nobody, archive, clock, lambda credential, campaign: Unpaced(), str(folder))
    held = HeldCallActivities(connections, HeldHere(clock))
    digest = await put_json(archive, spec.model_dump(mode="json"))
    try:
        yield Resolving(TargetActivities(connections, area_work(connections), held), digest, clock)
    finally:
        await connections.close()


def fleet() -> Fleet:
    """Many zones, and two users that reach each of them."""
    return Fleet.model_validate(
        {
            "users": [{"email": "one@example.org"}, {"email": "two@example.org"}],
            "credentials": [
                {"label": "one", "user": "one@example.org"},
                {"label": "two", "user": "two@example.org"},
            ],
            "zones": [{"name": f"z{number}.example", "plan": "pro"} for number in range(ZONES)],
        }
    )


@asynccontextmanager
async def many(folder: Path, *labels: str) -> AsyncIterator[tuple[Resolving, Caller]]:
    """The activity for credentials of the simulator, and the simulator."""
    made = fleet()
    tokens = [one.value for one in made.credentials if one.label in labels]
    async with (
        simulated(folder / "simulator", fleet=made) as call,
        resolving(folder, call.server.base_url, *tokens) as play,
    ):
        yield play, call


async def asked(call: Caller, label: str) -> Counter[int]:
    """The calls for pages of the list with this credential, by their status."""
    found = await call.journal(call="zones.list", limit=1000)
    return Counter(one["status"] for one in found if one["credential"] == label)


async def test_a_page_that_fails_is_read_again_and_no_other(tmp_path: Path) -> None:
    """Every fifth call goes wrong, and the first try has the whole list."""
    async with many(tmp_path, "one") as (play, call):
        for nth in range(5, 2 * PAGES + 1, 5):
            await call.control("POST", "faults", {**REFUSED, "match": {"call": "zones.list", "nth": nth}})
        assert (await play.once()).count == ZONES
        assert await asked(call, "one") == {200: 2 * PAGES, 502: 4}
        assert play.clock.slept == [0.2] * 4


@pytest.mark.parametrize(
    "fault,named,calls",
    [
        (REFUSED, "GatewayError", 4),
        ({"kind": "server_error", "status": 403}, "Forbidden", 1),
        ({"kind": "rate_limit", "retry_after": 7}, "RateLimited", 1),
    ],
)
async def test_a_page_that_stays_away_ends_the_try(
    tmp_path: Path, fault: dict[str, Any], named: str, calls: int
) -> None:
    """After four calls; what is final, and what the limit refuses, at once."""
    async with many(tmp_path, "one") as (play, call):
        await call.control("POST", "faults", {**fault, "match": {"call": "zones.list"}})
        with pytest.raises(ApplicationError) as raised:
            await play.once()
        assert raised.value.type == named
        assert (await asked(call, "one")).total() == calls


async def test_a_credential_that_fails_costs_the_others_nothing(tmp_path: Path) -> None:
    """Its list begins again within the try, and each page of the others is read twice, as ever."""
    async with many(tmp_path, "one", "two") as (play, call):
        flaps = {**REFUSED, "match": {"call": "zones.list", "credential": "two"}, "times": 9}
        await call.control("POST", "faults", flaps)
        assert (await play.once()).count == ZONES
        assert await asked(call, "one") == {200: 2 * PAGES}
        assert await asked(call, "two") == {200: 2 * PAGES, 502: 9}


def page(request: Request, count: int, total: int | None = None) -> Answer:
    """A page of a list of so many zones, which says that there are ``total``."""
    number, size = int(request.query["page"][0]), int(request.query["per_page"][0])
    zones = [
        {
            "id": f"{index:032x}",
            "name": f"z{index:05}.example",
            "account": {"id": "a" * 32, "name": "A"},
            "plan": {"legacy_id": "pro"},
        }
        for index in range(count)
    ][(number - 1) * size : number * size]
    info = {
        "page": number,
        "per_page": size,
        "count": len(zones),
        "total_count": total or count,
        "total_pages": -(-count // size),
    }
    return http(200, envelope(zones, result_info=info))


def odd_looks(*odd: int) -> Callable[[Request], Answer]:
    """Lists of 120 zones; those of these numbers, from 1, end before they are whole."""
    looks = 0

    def answer(request: Request) -> Answer:
        nonlocal looks
        looks += request.query["page"] == ["1"]
        return page(request, 120, 121 if looks in odd else None)

    return answer


@pytest.mark.parametrize("path", ["/client/v4", "/gateway"])
async def test_a_list_that_changes_while_it_is_read_is_one_of_the_looks(tmp_path: Path, path: str) -> None:
    """A zone that came or went spoils that look, and the next two agree; also where a gateway has the service
    under another path.
    """
    for odd in ((1,), (2,), (1, 2)):
        async with (
            raw_service(odd_looks(*odd)) as service,
            resolving(tmp_path, f"http://127.0.0.1:{service.port}{path}", "t") as play,
        ):
            assert (await play.once()).count == 120
            assert len(service.requests) == 3 * (4 if odd != (1,) else 3)


def three(*without: int) -> Answer:
    """Three zones, of which these come without their account."""
    account = {"account": {"id": "a" * 32, "name": "A"}}
    zones = [
        {"id": f"{index:032x}", "name": f"z{index}.example", "plan": {"legacy_id": "pro"}}
        | ({} if index in without else account)
        for index in range(3)
    ]
    return http(200, envelope(zones))


@pytest.mark.parametrize("targets", [{"all": True}, {"accounts": ["A"]}, {"include": ["z1.example"]}])
async def test_zones_without_an_account_are_not_left_out_without_a_word(
    tmp_path: Path, targets: dict[str, Any]
) -> None:
    """Where one is or may be meant, nothing begins: the list is the same twice, another try is no use."""
    async with (
        raw_service(lambda _: three(1)) as service,
        resolving(tmp_path, service.base_url, "t", "u", targets=targets) as play,
    ):
        with pytest.raises(ApplicationError, match=r"lists 1 zone .* without its account: z1\.ex") as raised:
            await play.once()
        assert raised.value.type == "BadInput" and raised.value.non_retryable
        assert len(service.requests) == 2 * 2 and play.clock.slept == []


@pytest.mark.parametrize(
    ("targets", "count"),
    [
        ({"include": ["z0.example"]}, 1),
        ({"all": True, "exclude": ["z1.example"]}, 2),
        ({"accounts": ["A"], "exclude": [f"{1:032x}"]}, 2),
        ({"include": ["z2.example"], "exclude": ["z1.example"]}, 1),
    ],
)
async def test_a_zone_without_an_account_that_is_not_meant_keeps_none_from_beginning(
    tmp_path: Path, targets: dict[str, Any], count: int
) -> None:
    """Others are named, or it is taken away by its name."""
    async with (
        raw_service(lambda _: three(1)) as service,
        resolving(tmp_path, service.base_url, "t", targets=targets) as play,
    ):
        assert (await play.once()).count == count


async def test_a_zone_that_one_credential_lists_with_its_account_has_one(tmp_path: Path) -> None:
    """What another shows of it less does not count."""

    def answer(request: Request) -> Answer:
        return three() if request.headers["authorization"] == "Bearer t" else three(1)

    for tokens in (("t", "u"), ("u", "t")):
        async with raw_service(answer) as service, resolving(tmp_path, service.base_url, *tokens) as play:
            assert (await play.once()).count == 3


def spoilt(call: int, answer: bytes) -> Callable[[Request], Answer]:
    """Lists of 120 zones; the call of this number, from 1, is answered so."""
    calls = 0

    def answered(request: Request) -> Answer:
        nonlocal calls
        calls += 1
        return answer if calls == call else page(request, 120)

    return answered


@pytest.mark.parametrize("call", [2, 4])
async def test_a_service_that_has_listed_zones_is_where_its_address_says(tmp_path: Path, call: int) -> None:
    """A page that is nothing, in the middle or of the second look, is read again: the prefix is in question
    until a zone was listed.
    """
    async with (
        raw_service(spoilt(call, http(200, "{"))) as service,
        resolving(tmp_path, f"http://127.0.0.1:{service.port}/gateway", "t") as play,
    ):
        assert (await play.once()).count == 120
        assert play.clock.slept == [0.2]


async def test_a_service_without_its_prefix_is_told_at_once(tmp_path: Path) -> None:
    """It lists nothing."""
    async with (
        raw_service(lambda request: http(404, "nothing here")) as service,
        resolving(tmp_path, f"http://127.0.0.1:{service.port}", "t") as play,
    ):
        with pytest.raises(ApplicationError, match="lacks the prefix /client/v4") as raised:
            await play.once()
        assert raised.value.non_retryable and len(service.requests) == 1


async def test_a_limit_says_nothing_of_the_address(tmp_path: Path) -> None:
    """Whoever is refused for a while has reached the service."""
    async with (
        raw_service(spoilt(1, http(429, refusal({"code": 10100, "message": "slow down"})))) as service,
        resolving(tmp_path, f"http://127.0.0.1:{service.port}/gateway", "t") as play,
    ):
        with pytest.raises(ApplicationError) as raised:
            await play.once()
        assert raised.value.type == "RateLimited" and not raised.value.non_retryable


async def test_a_list_that_is_never_whole_is_not_believed(tmp_path: Path) -> None:
    """Four looks, and the try ends with what was odd about it."""
    async with (
        raw_service(odd_looks(1, 2, 3, 4)) as service,
        resolving(tmp_path, service.base_url, "t") as play,
    ):
        with pytest.raises(ApplicationError, match="ended after 120 of 121 items") as raised:
            await play.once()
        assert raised.value.type == "NotUnderstood" and not raised.value.non_retryable
        assert len(service.requests) == 3 * 4
