"""What the breaker is told of readings of Edge Side Code, and what a 404 says is missing."""

from __future__ import annotations

import pytest

from edgeshift.rate_limit.breaker import Fate
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import NotFound
from tests.service.raw_service import http, raw_service, refusal
from tests.service.test_client_esc import READ, ZONE, client, reading, setting


class Fates(Unpaced):
    """What became of each call."""

    def __init__(self) -> None:
        self.fates: list[Fate] = []

    def ended(self, fate: Fate, said: str = "", credential: str = "") -> None:
        """Kept."""
        self.fates.append(fate)


@pytest.mark.parametrize("answer", [case[1] for case in READ], ids=[case[0] for case in READ])
async def test_a_setting_that_is_read_is_no_sign_of_an_outage(answer: bytes) -> None:
    """Else a plan of scopes in which nothing is configured would hold all calls of its user."""
    found = Fates()
    async with raw_service(lambda request: answer) as service, client(service, found) as calls:
        await calls.esc(ZONE)
    assert found.fates == [Fate.ANSWERED]


@pytest.mark.parametrize(
    "said",
    [
        "ESC setting for zone not found",
        "the setting of this zone was not found",
        "Edge Side Code configuration of the account does not exist",
        "secret for zone could not be found",
        "No such zone setting",
        "Unknown account configuration",
    ],
)
async def test_that_a_scope_lacks_something_is_not_that_it_is_gone(said: str) -> None:
    """Nothing is configured in it."""
    found = await reading(http(404, refusal({"message": said})))
    assert found.model_dump() == setting().model_dump()


@pytest.mark.parametrize(
    "said",
    [
        "The requested zone was not found",
        "No setting: the zone does not exist",
        "disable_esc: account not found",
        "setting not found, zone could not be found",
        f"zone '{'a' * 32}' not found",
        "cannot read the setting of an unknown account",
        "Could not route to /zones/x/disable_esc, perhaps your object identifier is invalid?",
        "Account or zone not found",
        "DNS zone not found",
    ],
)
async def test_that_a_scope_is_gone_is_not_that_it_lacks_something(said: str) -> None:
    """Also where the setting is named beside it."""
    with pytest.raises(NotFound):
        await reading(http(404, refusal({"message": said})))
