"""What the breaker is told of readings of Edge Side Code."""

from __future__ import annotations

import pytest

from edgeshift.rate_limit.breaker import Fate
from edgeshift.rate_limit.unpaced import Unpaced
from tests.service.raw_service import raw_service
from tests.service.test_client_esc import READ, ZONE, client


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
