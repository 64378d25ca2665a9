"""What a setting may hold that leads nowhere: the error says what would be right, and repeats no secret."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from edgeshift.areas.esc.terms import ProbeSpec
from edgeshift.probes.fetch import Fetcher, ProbeError
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import SystemClock
from edgeshift.service_api import Credential, ServiceClient
from edgeshift.service_api.errors import Misconfigured
from edgeshift.stores.tickets import TicketsMisconfigured, WebhookTickets

URL = "https://desk.example/hook"
PROXIED: list[Callable[[str], object]] = [
    lambda proxy: ServiceClient(URL, Credential(token="t" * 40), pacer=Unpaced(), proxy=proxy),
    lambda proxy: WebhookTickets(URL, proxy=proxy),
    lambda proxy: Fetcher(ProbeSpec(), clock=SystemClock(), proxy=proxy),
]


@pytest.mark.parametrize("made", PROXIED)
@pytest.mark.parametrize(
    "proxy",
    [
        "http://user:S3cret/x@proxy.example:3128",
        "http://user:1234S3cret@[proxy.example:3128",
        "http://user:S3cret@proxy.example\x7f:3128",
        "socks9://user:S3cret@proxy.example",
    ],
)
def test_a_proxy_that_cannot_be_read_is_not_repeated(made: Callable[[str], object], proxy: str) -> None:
    """Not a part of it either: a password with a slash is half of it taken for a port."""
    with pytest.raises((Misconfigured, TicketsMisconfigured, ProbeError)) as raised:
        made(proxy)
    assert "(it is not repeated here)" in str(raised.value) and "S3cret" not in str(raised.value)
    assert raised.value.__cause__ is None and raised.value.__suppress_context__


@pytest.mark.parametrize(
    "url", ["https://desk.example:S3cret/x", "https://[S3cret", "https://d.example/S3cret\x7f"]
)
def test_a_webhook_that_cannot_be_read_is_not_repeated(url: str) -> None:
    """It may be a secret as a whole."""
    with pytest.raises(TicketsMisconfigured, match=r"tickets\.webhook: write it as") as raised:
        WebhookTickets(url)
    assert "S3cret" not in str(raised.value)
