"""What whoever waits for a plan is told of its batches' heartbeats, which anybody who reaches Temporal can
send.
"""

from __future__ import annotations

import pytest
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.client import Client

from edgeshift.operations.waits import _why_it_waits
from edgeshift.runtime.payloads import data_converter

WHY = Payload(metadata={"encoding": b"json/plain"}, data=b'{"why": "the service does not answer"}')

NONSENSE = {
    "an unknown encoding": Payload(metadata={"encoding": b"mallory"}, data=b"x"),
    "no encoding": Payload(data=b"x"),
    "no JSON": Payload(metadata={"encoding": b"json/plain"}, data=b"\xff{"),
    "nothing behind the codec": Payload(metadata={"encoding": b"binary/zlib"}, data=b"x"),
    "a number": Payload(metadata={"encoding": b"json/plain"}, data=b"7"),
}


@pytest.mark.parametrize("nonsense", NONSENSE.values(), ids=NONSENSE)
async def test_heartbeats_that_make_no_sense_end_nobodys_wait(nonsense: Payload) -> None:
    """They are left out."""
    client = await Client.connect("127.0.0.1:9", lazy=True, data_converter=data_converter)
    assert await _why_it_waits(client, Payloads(payloads=[WHY])) == ["the service does not answer"]
    assert await _why_it_waits(client, Payloads(payloads=[nonsense])) == []
