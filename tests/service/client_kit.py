"""A client of a service of raw sockets, and the failure of its write; a client of the simulator."""

from __future__ import annotations

from typing import Any

import pytest

from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import Credential, ServiceClient, ServiceError
from tests.service.raw_service import Answer, RawService, raw_service
from tests.service.simulated import Caller

ZONE = "a" * 32
TOKEN = "secret-token-0123456789-0123456789-abcdef"
BODY = {"name": "default", "rules": [{"action": "execute", "expression": "true", "id": "", "ref": "x"}]}
EXPRESSION = 'http.host eq "shop.example" and ip.src in {10.0.0.0/8}'


def client(service: RawService | str, **options: Any) -> ServiceClient:
    base_url = service if isinstance(service, str) else service.base_url
    options.setdefault("pacer", Unpaced())
    return ServiceClient(base_url, Credential(token=TOKEN), **options)


def client_of(here: Caller) -> ServiceClient:
    """A client with the fleet's first credential."""
    return ServiceClient(
        here.server.base_url, Credential(token=here.fleet.credentials[0].value), pacer=Unpaced()
    )


async def failure_of_put(answer: Answer, **options: Any) -> ServiceError:
    """The error of a migrating PUT that is answered so; it was sent exactly once, whatever happened."""
    async with raw_service(lambda request: answer) as service, client(service, **options) as calls:
        with pytest.raises(ServiceError) as raised:
            await calls.put_entry_point(ZONE, BODY, "pending")
        assert len(service.requests) == 1
        return raised.value
