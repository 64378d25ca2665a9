"""Somebody else in the namespace, whose payloads nobody here can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import PayloadCodec

ENCODING = b"nobodys"


class Sealed(PayloadCodec):
    """Payloads of an encoding that is nobody's here, as encrypted ones are without their key."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Sealed."""
        return [Payload(metadata={"encoding": ENCODING}, data=one.SerializeToString()) for one in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """As they were, where they are sealed."""
        return [
            Payload.FromString(one.data) if one.metadata.get("encoding") == ENCODING else one
            for one in payloads
        ]


def sealed(client: Client) -> Client:
    """Another client of the same namespace, which seals what it sends."""
    return Client(
        client.service_client,
        namespace=client.namespace,
        data_converter=replace(client.data_converter, payload_codec=Sealed()),
    )
