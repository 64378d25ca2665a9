"""A worker sends Temporal the API key that its reference leads to now: keys end, and others take their place,
while it runs. TLS files are read once, when it connects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from temporalio.client import Client

from edgeshift.runtime.meanwhile import meanwhile
from edgeshift.runtime.settings import SecretRef, SecretRefError, TemporalSettings

log = structlog.get_logger("edgeshift.worker")

EVERY = 10.0
"""Seconds between two looks. Where a key is refused, the SDK's polls are tried again for a minute: a new one
that comes shortly after the old one's end is still in time.
"""


@asynccontextmanager
async def key_renewed(client: Client, settings: TemporalSettings) -> AsyncIterator[None]:
    """Look for a new key for as long as the block runs. Where none can be read, calls go on with the one
    before.
    """
    if settings.api_key is None:
        yield
        return
    async with meanwhile(_keep_looking(client, settings.api_key)):
        yield


async def _keep_looking(client: Client, reference: SecretRef) -> None:
    trouble = ""
    while True:
        await asyncio.sleep(EVERY)
        try:
            key = (await asyncio.to_thread(reference.resolve)).get_secret_value()
        except SecretRefError as why:
            if str(why) != trouble:
                log.warning(
                    "Temporal's API key cannot be read: calls go on with the one before", reason=str(why)
                )
            trouble = str(why)
            continue
        trouble = ""
        if key != client.api_key:
            client.api_key = key
            log.info("new API key of Temporal", reference=str(reference))
