"""The connection to Temporal: each way it can fail is named, with the address and what to do."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.converter import WorkflowSerializationContext
from temporalio.service import RPCError, RPCStatusCode

from edgeshift.cli.errors import ExitCode, described
from edgeshift.model.fleet import Plan, Zone
from edgeshift.operations.calls import errors_for_people
from edgeshift.operations.errors import TemporalTrouble
from edgeshift.runtime.settings import SecretRef, SecretRefError, TemporalSettings
from edgeshift.runtime.temporal import (
    NamespaceMissing,
    TemporalError,
    TemporalUnreachable,
    connect,
    ensure_search_attributes,
    is_away,
    is_loopback,
    is_missing,
)
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal


async def test_an_address_without_a_server_is_named() -> None:
    """A refused connection names the address and how to get a server."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(TemporalUnreachable, match=f"{address}.*edgeshift up"):
            await connect(TemporalSettings(address=address))


async def test_a_host_that_cannot_be_one_is_told_as_any_other_failure_of_temporal() -> None:
    """So that `pause` and `abort` are signed all the same, as where no server answers."""
    for host in ("<>", "%", "256.1.1.1"):
        with pytest.raises(TemporalError, match=f"the settings for Temporal at {host}:9") as caught:
            await connect(TemporalSettings(address=f"{host}:9", tls=True))
        problem = described(caught.value)
        assert problem is not None
        assert problem.code is ExitCode.TEMPORAL
        assert "HOST:PORT" in problem.hint


@contextlib.asynccontextmanager
async def _silent_server() -> AsyncIterator[str]:
    async def ignore(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        writer.close()

    server = await asyncio.start_server(ignore, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_a_server_that_says_nothing_is_given_up() -> None:
    """Something that accepts and stays silent is unreachable too, within seconds."""
    async with _silent_server() as address:
        begun = time.monotonic()
        with pytest.raises(TemporalUnreachable, match=address):
            await connect(TemporalSettings(address=address))
        assert time.monotonic() - begun < 15


async def test_a_missing_namespace_is_named(embedded: EmbeddedTemporal) -> None:
    """The namespace that is not there is named beside the address."""
    with pytest.raises(NamespaceMissing, match=f"{embedded.address} has no namespace 'nowhere'"):
        await connect(TemporalSettings(address=embedded.address, namespace="nowhere"))


async def test_what_is_not_found_is_the_workflow_or_the_namespace(
    embedded: EmbeddedTemporal, temporal_client: Client
) -> None:
    """A server without the namespace says nothing of the workflows in it: whoever asks is told that no
    Temporal answers, and not that there is no such campaign.
    """
    with pytest.raises(RPCError) as nothing:
        await temporal_client.get_workflow_handle("nothing/here").describe()
    assert is_missing(nothing.value) and not is_away(nothing.value)
    gone = await Client.connect(embedded.address, namespace="gone")
    for asked in (gone.get_workflow_handle("nothing/here").describe, gone.get_workflow_handle("n").cancel):
        with pytest.raises(RPCError) as stopping:
            await asked()
        assert stopping.value.status is RPCStatusCode.NOT_FOUND
        assert is_away(stopping.value) and not is_missing(stopping.value)
        with pytest.raises(TemporalTrouble, match="no longer answers"), errors_for_people("campaign x"):
            raise stopping.value


@pytest.mark.parametrize("address", ["192.0.2.1:7233", "temporal.example.org:7233", "localhost.example:7233"])
async def test_plain_text_beyond_this_machine_is_refused(address: str) -> None:
    """Nothing is sent in plain text to another machine."""
    with pytest.raises(TemporalError, match=f"plain text to Temporal at {address} is refused"):
        await connect(TemporalSettings(address=address))


def test_loopback_is_told_by_its_address() -> None:
    """localhost, 127/8 and [::1] are this machine; what merely begins like them is not."""
    for address in ("localhost:1", "127.0.0.1:1", "127.9.9.9:1", "[::1]:1"):
        assert is_loopback(address)
    for address in ("127.0.0.1.example:1", "10.0.0.1:1", "[::2]:1", "host:1"):
        assert not is_loopback(address)


async def test_tls_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """The setting and the file are named before anything is sent."""
    settings = TemporalSettings(address="127.0.0.1:1", tls_ca=tmp_path / "none.pem")
    with pytest.raises(TemporalError, match=r"EDGESHIFT_TEMPORAL_TLS_CA: .*none\.pem"):
        await connect(settings)


async def test_an_api_key_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference is named, with the server it is for."""
    monkeypatch.delenv("EDGESHIFT_TEST_UNSET", raising=False)
    settings = TemporalSettings(address="127.0.0.1:1", api_key=SecretRef("env:EDGESHIFT_TEST_UNSET"))
    with pytest.raises(SecretRefError, match=r"API key of Temporal at 127\.0\.0\.1:1.*EDGESHIFT_TEST_UNSET"):
        await connect(settings)


@pytest.mark.embedded
async def test_missing_search_attributes_are_registered(
    embedded: EmbeddedTemporal, temporal_client: Client
) -> None:
    """A namespace without any gets all of them; doing it again changes nothing."""
    client = await _in_new_namespace(embedded, temporal_client, "bare")
    await ensure_search_attributes(client)
    await ensure_search_attributes(client)


@pytest.mark.embedded
async def test_a_search_attribute_of_another_type_is_named(
    embedded: EmbeddedTemporal, temporal_client: Client
) -> None:
    """What somebody else registered under the same name is not silently used."""
    client = await _in_new_namespace(embedded, temporal_client, "clash")
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace="clash",
            search_attributes={"EdgeshiftWave": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD},
        )
    )
    with pytest.raises(TemporalError, match=r"EdgeshiftWave of namespace clash is of type keyword; .* int"):
        await ensure_search_attributes(client)


async def _in_new_namespace(embedded: EmbeddedTemporal, client: Client, name: str) -> Client:
    request = RegisterNamespaceRequest(namespace=name)
    request.workflow_execution_retention_period.FromSeconds(86_400)
    await client.workflow_service.register_namespace(request)
    settings = TemporalSettings(address=embedded.address, namespace=name)
    async with asyncio.timeout(30):
        while True:
            # The frontend learns of a new namespace by and by.
            with contextlib.suppress(NamespaceMissing):
                return await connect(settings)
            await asyncio.sleep(0.5)


async def test_payloads_are_encoded_alike_wherever_they_belong(temporal_client: Client) -> None:
    """So a worker need not know of a payload's workflow or activity (worker/forgetting.py)."""
    converter = temporal_client.data_converter
    assert (converter.payload_codec, converter.external_storage) == (None, None)
    there = converter.with_context(
        WorkflowSerializationContext(namespace="default", workflow_id="zone/1/waf")
    )
    given = [Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.PRO)]
    assert await there.encode(given) == await converter.encode(given)
