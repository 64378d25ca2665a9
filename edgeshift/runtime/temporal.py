"""The way to Temporal: one connection with its data converter, and the search attributes of edgeshift."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel
from temporalio.api.enums.v1 import IndexedValueType, TaskQueueType
from temporalio.api.errordetails.v1 import NamespaceNotFoundFailure
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueue
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeTaskQueueRequest
from temporalio.client import Client, Interceptor, WorkflowExecution
from temporalio.common import SearchAttributeKey, SearchAttributePair
from temporalio.service import RPCError, RPCStatusCode, TLSConfig

from edgeshift.runtime.files import path_named
from edgeshift.runtime.payloads import data_converter
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.settings import SecretRefError, TemporalSettings
from edgeshift.runtime.temporal_core import set_up_core

Model = TypeVar("Model", bound=BaseModel)

__all__ = [
    "CAMPAIGN",
    "FAILS_OFTEN",
    "FINGERPRINT",
    "OUTCOME",
    "PERSON",
    "PHASE",
    "PLAN",
    "SEARCH_ATTRIBUTES",
    "UNREADABLE",
    "WAVE",
    "NamespaceMissing",
    "TemporalError",
    "TemporalSettings",
    "TemporalUnreachable",
    "connect",
    "ensure_search_attributes",
    "is_away",
    "is_loopback",
    "is_missing",
    "memo_has",
    "memo_of",
    "memo_value_of",
    "of_campaign",
    "origin_in",
    "polling",
    "targets_of",
]

CAMPAIGN = SearchAttributeKey.for_keyword("EdgeshiftCampaign")
WAVE = SearchAttributeKey.for_int("EdgeshiftWave")
PHASE = SearchAttributeKey.for_keyword("EdgeshiftPhase")
PLAN = SearchAttributeKey.for_keyword("EdgeshiftPlan")
FINGERPRINT = SearchAttributeKey.for_keyword("EdgeshiftFingerprint")
OUTCOME = SearchAttributeKey.for_keyword("EdgeshiftOutcome")
PERSON = SearchAttributeKey.for_keyword("EdgeshiftPerson")

SEARCH_ATTRIBUTES: tuple[SearchAttributeKey[str] | SearchAttributeKey[int], ...] = (
    CAMPAIGN,
    WAVE,
    PHASE,
    PLAN,
    FINGERPRINT,
    OUTCOME,
    PERSON,
)
"""Registered once a namespace: the embedded server has them, elsewhere `ensure_search_attributes` does it."""


def of_campaign(name: str, person: str) -> list[SearchAttributePair[str]]:
    """What every run of a campaign is found by: its name, and who started it, where that is known."""
    found = [SearchAttributePair(CAMPAIGN, name)]
    return [*found, SearchAttributePair(PERSON, person)] if person else found


NO_TARGETS = ("Campaign", "ZoneHold", "Assessment", "TargetList")
"""Workflows that a campaign is found by and that are none of its targets'."""


def targets_of(campaign: str) -> str:
    """What finds the workflows of a campaign's targets in Temporal's list."""
    others = ", ".join(f"'{kind}'" for kind in NO_TARGETS)
    return f"{CAMPAIGN.name} = '{campaign}' AND WorkflowType NOT IN ({others})"


UNREADABLE = (AttributeError, KeyError, RuntimeError, TypeError, ValueError)
"""What is raised where a payload is not what it should be: none, of another encoding, or no such model."""


async def memo_of(execution: WorkflowExecution) -> Mapping[str, Any] | None:
    """What the memo of an execution says; None where it cannot be read. An execution may be anybody's."""
    try:
        return await execution.memo()
    except UNREADABLE:
        return None


def origin_in(memo: Mapping[str, Any]) -> str:
    """The campaign's first run, as the memo of a target's workflow names it: each start of a campaign has
    another one. Empty where it names none.
    """
    return str(memo.get("origin") or memo.get("campaign_run") or "")


async def memo_value_of(execution: WorkflowExecution, key: str, kind: type[Model]) -> Model | None:
    """What the memo of an execution has under this key; None where that is nothing of this kind."""
    try:
        found = await execution.memo_value(key, None, type_hint=kind)
        return None if found is None else kind.model_validate(found)
    except UNREADABLE:
        return None


def memo_has(execution: WorkflowExecution, key: str) -> bool:
    """Whether the memo of an execution has something under this key, be it readable or not."""
    return key in execution.raw_info.memo.fields


FAILS_OFTEN = 3
"""Attempts of a workflow's task from which on the workflow counts as stuck."""

_CONNECT_WITHIN = 10.0


class TemporalError(RuntimeError):
    """Temporal cannot be used as the settings say. ``text`` names the address, ``hint`` what to do."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(f"{text}; {hint}" if hint else text)
        self.text = text
        self.hint = hint


class TemporalUnreachable(TemporalError):
    """Nothing that speaks Temporal answers at the address."""


class NamespaceMissing(TemporalError):
    """The server is there, the namespace is not."""


async def connect(
    settings: TemporalSettings, *, identity: str | None = None, interceptors: Sequence[Interceptor] = ()
) -> Client:
    """A client for the server and namespace of `settings`, its payloads converted by pydantic.
    ``interceptors`` see its calls. The SDK's native core logs nothing, unless it was set up to
    (`bridge_temporal_core`).

    Raises TemporalUnreachable within about ten seconds, NamespaceMissing, SecretRefError for an API key
    that is not found, and TemporalError for plain text outside loopback, unreadable TLS files or a
    server that does not let this client in.
    """
    if not settings.encrypted and not is_loopback(settings.address):
        raise TemporalError(
            f"plain text to Temporal at {settings.address} is refused: it is not on this machine",
            "set EDGESHIFT_TEMPORAL_TLS=true, or give certificates or an API key",
        )
    set_up_core()
    try:
        async with asyncio.timeout(_CONNECT_WITHIN):
            client = await Client.connect(
                settings.address,
                namespace=settings.namespace,
                api_key=_api_key(settings),
                tls=_tls(settings),
                data_converter=data_converter,
                identity=identity,
                interceptors=interceptors,
                connect_timeout=timedelta(seconds=_CONNECT_WITHIN / 2),
            )
            await _check_namespace(client, settings)
    except SecretRefError as error:
        raise SecretRefError(f"the API key of Temporal at {settings.address}: {error}") from None
    except RPCError as error:
        raise _named(error, settings) from error
    except ValueError as error:
        # The SDK does not even try, as with a host that cannot be one.
        raise TemporalError(
            f"the settings for Temporal at {settings.address} cannot be used",
            "check the address, which is HOST:PORT, and the API key if there is one",
        ) from error
    except (RuntimeError, TimeoutError) as error:
        # The SDK names a failed connection by a bare RuntimeError; ours are let through.
        if isinstance(error, TemporalError):
            raise
        raise _unreachable(settings) from error
    return client


async def ensure_search_attributes(client: Client) -> None:
    """Register what of SEARCH_ATTRIBUTES the namespace lacks; nothing is done when all are there.

    Raises TemporalError for an attribute of another type, or when the server does not let us register.
    """
    registered = await _registered(client)
    for key in SEARCH_ATTRIBUTES:
        wanted = IndexedValueType.ValueType(key.indexed_value_type)
        found = registered.get(key.name)
        if found is None:
            await _register(client, key.name, wanted)
        elif found != wanted:
            raise TemporalError(
                f"search attribute {key.name} of namespace {client.namespace} is of type "
                f"{_type_name(found)}; edgeshift needs {_type_name(wanted)}",
                "register it in another namespace: a registered type cannot be changed",
            )


async def _registered(client: Client) -> Mapping[str, IndexedValueType.ValueType]:
    try:
        answer = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace), retry=True
        )
    except RPCError as error:
        # The time-skipping test server registers, but does not list.
        if error.status == RPCStatusCode.UNIMPLEMENTED:
            return {}
        raise TemporalError(
            f"the search attributes of namespace {client.namespace} cannot be read: {error.message}",
            "ask an administrator for the right to read them",
        ) from error
    return answer.custom_attributes


async def _register(client: Client, name: str, kind: IndexedValueType.ValueType) -> None:
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes={name: kind}),
            retry=True,
        )
    except RPCError as error:
        # Somebody else was faster: that is what we wanted.
        if error.status != RPCStatusCode.ALREADY_EXISTS:
            raise TemporalError(
                f"namespace {client.namespace} lacks the search attribute {name} ({_type_name(kind)}), and "
                f"this client cannot register it ({error.message})",
                "ask an administrator to create it",
            ) from error


def is_loopback(address: str) -> bool:
    """Whether HOST:PORT is on this machine: localhost, 127.0.0.0/8 or [::1]."""
    host = address.rpartition(":")[0].strip("[]")
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_away(error: RPCError) -> bool:
    """Whether a call met no server, or one that went away in the middle of it, or that has no namespace any
    more.
    """
    broke = error.status is RPCStatusCode.UNKNOWN and "transport error" in error.message
    stopping = error.status is RPCStatusCode.NOT_FOUND and not is_missing(error)
    return broke or stopping or error.status is RPCStatusCode.UNAVAILABLE


def is_missing(error: RPCError) -> bool:
    """Whether Temporal has no such workflow, or none that is open. A server that does not find the namespace,
    as one that is stopping does for a moment, says nothing of the workflows in it.
    """
    if error.status is not RPCStatusCode.NOT_FOUND:
        return False
    named = NamespaceNotFoundFailure.DESCRIPTOR
    return not any(detail.Is(named) for detail in error.grpc_status.details)


async def _check_namespace(client: Client, settings: TemporalSettings) -> None:
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=settings.namespace)
        )
    except RPCError as error:
        # A key may be good for workflows alone; the first real call tells then.
        if error.status not in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED):
            raise


def _named(error: RPCError, settings: TemporalSettings) -> TemporalError:
    if error.status == RPCStatusCode.NOT_FOUND:
        return NamespaceMissing(
            f"Temporal at {settings.address} has no namespace {settings.namespace!r}",
            f"create it with `temporal operator namespace create -n {settings.namespace}`, or name another"
            " with --namespace or EDGESHIFT_TEMPORAL_NAMESPACE",
        )
    if error.status in (RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.PERMISSION_DENIED):
        return TemporalError(
            f"Temporal at {settings.address} does not let this client into namespace {settings.namespace!r}",
            "check the API key or the certificate",
        )
    if is_away(error) or error.status == RPCStatusCode.DEADLINE_EXCEEDED:
        return _unreachable(settings)
    return TemporalError(f"Temporal at {settings.address}: {error.message}")


def _unreachable(settings: TemporalSettings) -> TemporalUnreachable:
    how = "with TLS" if settings.encrypted else "in plain text"
    return TemporalUnreachable(
        f"no Temporal answers at {settings.address} ({how})",
        "start one with `edgeshift up`, or name yours with --address or EDGESHIFT_TEMPORAL_ADDRESS",
    )


async def polling(client: Client, queue: Queue) -> list[PollerInfo]:
    """Who polls the task queue, as Temporal has seen it in the last minutes. Raises RPCError."""
    activities = queue in (Queue.CHANGES, Queue.LONG)
    found = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
            if activities
            else TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        ),
        # A server closes each connection after some minutes; what was just sent over it comes back cancelled.
        retry=True,
    )
    return list(found.pollers)


def _api_key(settings: TemporalSettings) -> str | None:
    return settings.api_key.resolve().get_secret_value() if settings.api_key else None


def _tls(settings: TemporalSettings) -> TLSConfig | bool:
    if not settings.encrypted:
        return False
    return TLSConfig(
        server_root_ca_cert=_pem("TLS_CA", settings.tls_ca),
        client_cert=_pem("TLS_CERT", settings.tls_cert),
        client_private_key=_pem("TLS_KEY", settings.tls_key),
        domain=settings.tls_server_name,
    )


def _pem(variable: str, path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path_named(path).read_bytes()
    except OSError as error:
        raise TemporalError(
            f"EDGESHIFT_TEMPORAL_{variable}: {path}: {error.strerror}", "name a PEM file that can be read"
        ) from None


def _type_name(kind: IndexedValueType.ValueType) -> str:
    return IndexedValueType.Name(kind).removeprefix("INDEXED_VALUE_TYPE_").replace("_", " ").lower()
