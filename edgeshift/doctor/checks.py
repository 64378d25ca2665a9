"""Checks of everything that a campaign stands on, each by really using it: what works, what does not,
what to fix.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from edgeshift.authority.roots import is_rehearsal
from edgeshift.campaign_file.spec import CampaignSpec, CredentialSpec
from edgeshift.doctor.archive_checks import check_campaigns, check_records
from edgeshift.doctor.area_checks import (
    check_accounts,
    check_area,
    check_permissions,
    check_rights,
    reached,
)
from edgeshift.doctor.check import Check, State, ok
from edgeshift.doctor.profile import check_profile
from edgeshift.doctor.roots_checks import check_roots
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.counts import counted
from edgeshift.model.durations import say_duration
from edgeshift.model.failures import hint_of
from edgeshift.model.fleet import Zone
from edgeshift.quota.by_hand import ByHand
from edgeshift.quota.leases import Quotas
from edgeshift.rate_limit.circuit import stops
from edgeshift.rate_limit.terms import Lane
from edgeshift.runtime.private_files import open_to_others
from edgeshift.runtime.queues import Queue
from edgeshift.runtime.secret_refs import SecretRef, SecretRefError, said_or_kept
from edgeshift.runtime.settings import Settings
from edgeshift.runtime.temporal import SEARCH_ATTRIBUTES, TemporalError, connect, polling
from edgeshift.service_api import Credential, InvalidCredential, ServiceClient, ServiceError
from edgeshift.service_api.dates import http_date
from edgeshift.service_api.prefix import without_prefix
from edgeshift.service_api.transport import Call, Transport
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.tickets import FolderTickets, TicketError, ticket_system

KEPT = timedelta(days=30)
"""Histories that are kept for less are gone before many a campaign has ended; they say who agreed to what."""

AGREES = 30.0
"""Seconds that two clocks may differ."""

NOT_MADE = (
    "the first worker that starts makes it, or `edgeshift plan`; where workers have run, put it back or mount"
    " its disk"
)
"""What is to be done about an archive whose folder is not there."""

_POLL = 75.0
"""Seconds after which a worker's long poll has surely been renewed."""


async def check_all(
    settings: Settings, spec: CampaignSpec | None, calls: ByHand | None = None
) -> list[Check]:
    """Every check, in the order in which things depend on each other. ``spec``: also what its file names.
    ``calls``: the pace of its calls, where those of other files count with them.
    """
    calls = calls or ByHand()
    found, client = await check_temporal(settings)
    if client is not None:
        found += [await check_attributes(client), await check_retention(client)]
        found += [await check_workers(client), *await check_roots(client, settings)]
        found.append(await check_clock(client))
    found.append(await check_archive(settings.archive))
    found += await check_records(settings.archive)
    if client is not None:
        found += await check_campaigns(client, settings.archive)
    found.append(await check_tickets(settings, spec))
    if spec is None:
        hint = "name a campaign file to check the service and its credentials"
        return [*found, Check(CheckCode.SERVICE, "service", State.SKIPPED, hint)]
    named = "queues" in settings.worker.model_fields_set
    served = settings.worker.served if named else None
    for number, credential in enumerate(spec.service.credentials):
        found += (checked := await check_credential(spec, credential, number, served, calls))
        if client is not None and not any(is_about_calls(check) for check in checked):
            found += await let_calls_go(client, spec, credential)
        if any(check.code is CheckCode.SERVICE and check.state is State.FAILED for check in checked):
            # The others would say the same.
            break
    return found


def is_about_calls(check: Check) -> bool:
    """Whether a check found that calls with the credential do not come through."""
    return check.state is State.FAILED and check.code in (CheckCode.SERVICE, CheckCode.CREDENTIAL)


async def let_calls_go(client: Client, spec: CampaignSpec, credential: CredentialSpec) -> list[Check]:
    """Let calls go on that are held for this credential, which has just been found to work, if any are."""
    quotas, caller = Quotas(client, "doctor"), spec.service.caller(credential)
    code, name = CheckCode.HELD_CALLS, f"calls of {credential.user}"
    try:
        found = await quotas.standing(caller)
        if (hold := stops(found.holds, credential.reference)) is None:
            return []
        await quotas.fixed(caller, [credential.reference])
    except RPCError as problem:
        return [
            Check(code, name, State.WARNING, f"whether they are held cannot be read: {problem.message[:100]}")
        ]
    said = f"were held since {hold.since:%Y-%m-%d %H:%M} UTC, since {hold}; they go on now"
    env = "a worker has its variables from when it was started: start it again where one has changed"
    return [Check(code, name, State.OK, said, env if credential.reference.startswith("env:") else "")]


async def check_temporal(settings: Settings) -> tuple[list[Check], Client | None]:
    """Whether Temporal is there and lets this process into the namespace; a client if it does."""
    where = f"{settings.temporal.address}, namespace {settings.temporal.namespace}"
    try:
        client = await connect(settings.temporal, identity="edgeshift-doctor")
    except TemporalError as problem:
        return [Check(CheckCode.TEMPORAL, "Temporal", State.FAILED, problem.text, problem.hint)], None
    except SecretRefError as problem:
        return [
            Check(CheckCode.TEMPORAL, "Temporal", State.FAILED, str(problem), hint_of("SecretRefError"))
        ], None
    return [ok(CheckCode.TEMPORAL, "Temporal", f"reachable at {where}")], client


async def check_attributes(client: Client) -> Check:
    """Whether the search attributes are registered with their types."""
    code, name = CheckCode.SEARCH_ATTRIBUTES, "search attributes"
    try:
        found = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace), retry=True
        )
    except RPCError as problem:
        fix = "ask an administrator for the right to read them"
        return Check(code, name, State.WARNING, f"cannot be read: {problem.message[:150]}", fix)
    missing = [key.name for key in SEARCH_ATTRIBUTES if key.name not in found.custom_attributes]
    wrong = [
        key.name
        for key in SEARCH_ATTRIBUTES
        if found.custom_attributes.get(key.name, key.indexed_value_type) != key.indexed_value_type
    ]
    if wrong:
        fix = "register them in another namespace; a registered type cannot be changed"
        return Check(code, name, State.FAILED, f"of another type: {', '.join(wrong)}", fix)
    if missing:
        fix = "`edgeshift worker` registers them when it starts and may; else an administrator does"
        return Check(code, name, State.FAILED, f"missing: {', '.join(missing)}", fix)
    return ok(code, name, f"all {len(SEARCH_ATTRIBUTES)} are registered")


async def check_retention(client: Client) -> Check:
    """Whether histories are kept long enough."""
    code, name = CheckCode.RETENTION, "retention"
    try:
        described = await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace), retry=True
        )
    except RPCError as problem:
        return Check(code, name, State.WARNING, f"cannot be read: {problem.message[:150]}")
    kept = described.config.workflow_execution_retention_ttl.ToTimedelta()
    said = f"histories are kept for {say_duration(kept)} after their end"
    if kept < KEPT:
        fix = f"temporal operator namespace update -n {client.namespace} --retention 90d"
        return Check(code, name, State.WARNING, said, fix)
    return ok(code, name, said)


async def check_workers(client: Client) -> Check:
    """Whether each task queue is polled by a worker."""
    code, name = CheckCode.WORKER, "worker"
    seen: dict[Queue, set[str]] = {}
    try:
        for queue in Queue:
            seen[queue] = {poller.identity for poller in await polling(client, queue)}
    except RPCError as problem:
        return Check(code, name, State.FAILED, f"the task queues cannot be read: {problem.message[:150]}")
    if without := [queue for queue, pollers in seen.items() if not pollers]:
        said = f"no worker polls task queue {' nor '.join(without)}"
        return Check(code, name, State.FAILED, said, "start one: edgeshift worker")
    workers = sorted(set().union(*seen.values()))
    return ok(code, name, f"{counted(len(workers), 'worker')} connected: {', '.join(workers[:3])}")


async def check_clock(client: Client) -> Check:
    """Whether this machine's clock and Temporal's agree, by when Temporal last heard of a worker."""
    code, name = CheckCode.CLOCK_TEMPORAL, "clock, Temporal"
    try:
        found = await polling(client, Queue.CONTROL)
    except RPCError as problem:
        return Check(code, name, State.SKIPPED, f"the task queue cannot be read: {problem.message[:150]}")
    if not found:
        return Check(code, name, State.SKIPPED, "cannot be compared while no worker polls")
    newest = max(poller.last_access_time.ToDatetime(tzinfo=UTC) for poller in found)
    ago = (datetime.now(UTC) - newest).total_seconds()
    if not -AGREES <= ago <= _POLL + AGREES:
        said = f"Temporal last heard from a worker {abs(ago):.0f} s {'ago' if ago > 0 else 'in the future'}"
        return Check(
            code, name, State.WARNING, said, "let NTP set the clocks of this machine and of Temporal"
        )
    return ok(code, name, "agrees with this machine's")


async def check_archive(url: str) -> Check:
    """Whether the archive can be written and read, and whether it honours create-only."""
    code, name = CheckCode.ARCHIVE, "archive"
    try:
        archive = Archive(url, make=False)
        if not archive.is_made:
            said = f"the folder {archive.name} is not there"
            return Check(code, name, State.FAILED, said, NOT_MADE)
        await archive.check()
        # The same key each time: after the first, an archive that honours create-only never takes it again.
        await archive.create_once("checks/create-once", b"edgeshift\n")
        twice = await archive.create_once("checks/create-once", b"edgeshift\n")
    except ArchiveError as problem:
        fix = "check the URL (--archive, EDGESHIFT_ARCHIVE_URL), its permissions and credentials"
        return Check(code, name, State.FAILED, str(problem), fix)
    if twice:
        fix = "use a store with conditional writes: a step could be sent twice without them"
        return Check(code, name, State.FAILED, f"{url} does not honour create-only", fix)
    if archive.folder is not None and open_to_others(archive.folder):
        said = f"{url} works, but everybody on this machine can look into it"
        return Check(code, name, State.WARNING, said, f"chmod -R go= {archive.folder}")
    return ok(code, name, f"{url}: written, read back, create-only honoured")


async def check_tickets(settings: Settings, spec: CampaignSpec | None) -> Check:
    """Whether tickets can be opened; a webhook is not called, since that would open one."""
    code, name = CheckCode.TICKETS, "tickets"
    try:
        if spec is not None and spec.tickets.webhook:
            ticket_system(spec.tickets, settings.state_dir / "tickets", service=spec.service)
            return ok(code, name, "a webhook; its settings are complete (it is not called here)")
        folder = (spec.tickets.folder if spec else None) or str(settings.state_dir / "tickets")
        await FolderTickets(folder).check()
    except (TicketError, SecretRefError) as problem:
        return Check(code, name, State.FAILED, str(problem), "see tickets in the campaign file")
    return ok(code, name, f"folder {folder} can be written")


async def check_credential(
    spec: CampaignSpec,
    credential: CredentialSpec,
    number: int,
    served: Sequence[Queue] | None = None,
    calls: ByHand | None = None,
) -> list[Check]:
    """Whether the service answers, takes the credential, lets it read what the area needs, and lets it do
    what this machine's worker needs and no more; of the first one also whether what the area stands on beside
    the service is there. ``served``: the task queues of that worker, where they are named. ``calls``: the
    pace of what is called by hand, where more credentials are checked.
    """
    service = spec.service
    reference = credential.token or credential.key or ""
    code, name = CheckCode.CREDENTIAL, f"credential {number + 1}, {reference}"
    try:
        secret = SecretRef(reference).resolve()
        email, proxy = said_or_kept(credential.email), said_or_kept(service.proxy)
    except SecretRefError as problem:
        return [
            Check(code, name, State.FAILED, str(problem), "the worker needs it too, in its own surroundings")
        ]
    known = Credential(token=secret) if credential.token else Credential(key=secret, email=email or "")
    pacer = (calls or ByHand()).pacer(credential, spec)
    try:
        options = {"proxy": proxy, "ca_file": service.ca_file, "request_limit": service.request_limit}
        async with Transport(service.base_url, known, **options) as transport:  # type: ignore[arg-type]
            await pacer.acquire(Lane.NORMAL)
            received = await transport.exchange(Call("zones.list", "GET", "/zones", {"per_page": "5"}))
        found = [_service_clock(received.headers.get("date"), spec)] if number == 0 else []
        async with ServiceClient(
            service.base_url,
            known,
            pacer=pacer,
            profile=service.facts,
            **options,  # type: ignore[arg-type]
        ) as client:
            found = (
                [ok(CheckCode.SERVICE, "service", f"answers at {service.base_url}"), *found]
                if number == 0
                else found
            )
            permissions, zone = await _permissions(client, spec, name, token=credential.token is not None)
            found += permissions
            if zone is not None:
                found.append(await check_rights(client, spec, name, zone, served))
            if number == 0:
                found.append(await check_profile(client, spec, zone, received.headers))
            if zone is not None and number == 0:
                found += await check_area(client, spec, zone)
            return found
    except InvalidCredential as problem:
        return [
            Check(
                code,
                name,
                State.FAILED,
                str(problem),
                "make a new credential and put it where the reference points",
            )
        ]
    except ServiceError as problem:
        said = str(without_prefix(service.base_url, problem) or problem)
        return [
            Check(
                CheckCode.SERVICE,
                "service",
                State.FAILED,
                said,
                "see service.base_url, which is https://HOST/client/v4, proxy and ca_file",
            )
        ]


def _service_clock(date: str | None, spec: CampaignSpec) -> Check:
    code, name = CheckCode.CLOCK_SERVICE, "clock, service"
    if not date:
        return Check(code, name, State.SKIPPED, "the service does not say what time it is")
    if (said_at := http_date(date)) is None:
        return Check(code, name, State.SKIPPED, "the service says its time in an unknown way")
    ahead = (datetime.now(UTC) - said_at).total_seconds()
    if abs(ahead) > AGREES:
        apart = say_duration(timedelta(seconds=round(abs(ahead))))
        said = f"this machine is {apart} {'ahead of' if ahead > 0 else 'behind'} the service"
        if spec.time_scale != 1 and is_rehearsal(spec.service.base_url):
            # Nobody's clock is wrong: a simulator's can be set.
            return ok(code, name, f"{said}, which runs on it: a simulator's clock can be set (`--clock`)")
        return Check(code, name, State.WARNING, said, "let NTP set this machine's clock")
    return ok(code, name, "agrees with this machine's")


async def _permissions(
    client: ServiceClient, spec: CampaignSpec, name: str, *, token: bool
) -> tuple[list[Check], Zone | None]:
    """What the credential may read, by reading: its own state, a zone, and what the area needs of it; and
    whether zones are listed without their account.
    """
    code = CheckCode.CREDENTIAL
    if token:
        verified = await client.verify_token()
        if verified.status != "active":
            said = f"the token is {verified.status}"
            return [Check(code, name, State.FAILED, said, "make a new one")], None
    found = await reached(client, spec)
    unclear = check_accounts(name, found)
    if found.zone is None:
        said, fix = "it reaches no zone", "give it the zones that it is for"
        if found.without:
            said = f"each of the first {counted(found.seen, 'zone')} that it lists comes without its account"
            fix = "no campaign can take such zones: ask the service, or whoever is between"
        return [Check(code, name, State.FAILED, said, fix), *unclear], None
    return [await check_permissions(client, spec, name, found.zone), *unclear], found.zone
