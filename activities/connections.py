"""What the activities of one worker share: Temporal, the archive, the service's clients, the ticket system,
the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from activities.boundary import or_server_time
from activities.effects import Effects
from activities.kept import Kept
from activities.proof.authority import Authority, NotSigned, RootsUnreadable
from activities.proof.records import WorkerRecords
from activities.proof.rejections import SignedRejections
from activities.proof.results import Results
from activities.proof.signed_starts import SignedStarts
from activities.reminders import was_reset
from activities.ways import Ways
from edgeshift.authority.loading import RootsFiles
from edgeshift.authority.worker_pen import WorkerPen
from edgeshift.campaign_file.spec import CampaignSpec, CredentialSpec
from edgeshift.messages import ZoneStart
from edgeshift.model.fleet import Target, Zone
from edgeshift.rate_limit.pacing import Pacer
from edgeshift.runtime.clock import Clock
from edgeshift.runtime.secret_refs import CredentialMissing, SecretRefError
from edgeshift.service_api import Credential, Misconfigured, RootsUnread, ServiceClient
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import FrozenTargets, PlannedReadings, get_document, get_list
from edgeshift.stores.tickets import TicketSystem

if TYPE_CHECKING:
    from temporalio.client import Client

MOST_RUNS = 100
"""Runs of campaigns of which is known whether they came out of a reset."""

MOST_TARGETS = 500_000
"""Of all frozen lists that are kept: about two kilobytes each. Each commit asks for its campaign's list."""

MOST_READINGS = 1_000_000
"""Of all plans' readings that are kept: a digest each, so that they are far lighter than targets."""

LISTS_IDLE = 3600.0
"""Seconds after which a list that nobody has asked for may go: a campaign at work asks more often."""

PacerSource = Callable[[CredentialSpec, CampaignSpec], Pacer]
"""Gives the pacer of the user that a credential counts against."""


class Connections:
    """The outside systems of one worker. ``clock``: tests let it follow skipped time.

    ``task_timeout``: of the zones' workflow tasks; local readings may take most of it without costing events.
    ``roots``: of authority; without them nothing but a rehearsal on this machine is called. ``pen``: with
    which it signs results and records.
    """

    def __init__(
        self,
        temporal: Client,
        archive: Archive,
        clock: Clock,
        pacer: PacerSource,
        ticket_folder: str,
        task_timeout: timedelta = timedelta(seconds=30),
        roots: RootsFiles | None = None,
        pen: WorkerPen | None = None,
    ) -> None:
        self.task_timeout = task_timeout
        self.temporal = temporal
        self.archive = archive
        self.clock = clock
        self.effects = Effects(archive)
        self.records = WorkerRecords(roots, archive, clock, pen)
        self.authority = Authority(roots, archive, self.records)
        self.results = Results(self.authority, archive, clock, self.spec, self.targets, pen)
        self.starts = SignedStarts(self.authority, archive, clock, self.spec)
        self.rejections = SignedRejections(self.authority, archive, clock, self.spec, self.targets)
        self._pacer = pacer
        self._ticket_folder = ticket_folder
        self._specs = Kept(16, self._load_spec)
        self._lists = Kept(MOST_TARGETS, self._load_targets, weighs=len, idle=LISTS_IDLE)
        self._readings = Kept(MOST_READINGS, self._load_readings, weighs=len, idle=LISTS_IDLE)
        self._resets = Kept(MOST_RUNS, self._load_reset)
        self._clients: dict[str, tuple[Credential, ServiceClient]] = {}
        self._replaced: list[ServiceClient] = []
        self._accounts: dict[str, dict[str, str]] = {}

    async def _load_spec(self, digest: str) -> CampaignSpec:
        return (await get_document(self.archive, CampaignSpec, digest)).scaled()

    async def _load_targets(self, digest: str) -> list[Target]:
        return await get_list(self.archive, FrozenTargets, digest)

    async def _load_readings(self, digest: str) -> list[str]:
        return await get_list(self.archive, PlannedReadings, digest)

    async def _load_reset(self, run: tuple[str, str]) -> bool:
        return await was_reset(self.temporal, *run)

    async def reset_of(self, campaign: str, runs: Iterable[str]) -> str:
        """The last of these runs of a campaign that came out of a reset, or empty."""
        found = ""
        for run in runs:
            if await self._resets.get((campaign, run)):
                found = run
        return found

    async def spec(self, digest: str) -> CampaignSpec:
        """A campaign's specification, its durations scaled."""
        return await self._specs.get(digest)

    async def targets(self, digest: str) -> list[Target]:
        """A campaign's frozen list."""
        return await self._lists.get(digest)

    async def readings(self, digest: str) -> list[str]:
        """A plan's readings, by the index of each target: the digest of its own, or empty."""
        return await self._readings.get(digest)

    async def service(self, spec_digest: str, zone: Zone) -> ServiceClient:
        """The client whose credential is for the zone's account."""
        spec = await self.spec(spec_digest)
        return self.client(spec_digest, spec, await self.credential(spec_digest, zone))

    async def credential(self, spec_digest: str, zone: Zone) -> CredentialSpec:
        """The credential that is for the zone's account."""
        spec = await self.spec(spec_digest)
        wildcard: CredentialSpec | None = None
        for credential in spec.service.credentials:
            if not credential.accounts:
                wildcard = wildcard or credential
            elif zone.account in credential.accounts or await self._named(
                spec_digest, credential, zone.account
            ):
                return credential
        return wildcard or spec.service.credentials[0]

    async def _named(self, spec_digest: str, credential: CredentialSpec, account: str) -> bool:
        """Whether the credential names the account by its name rather than by its identifier."""
        if all(len(name) == 32 for name in credential.accounts):
            return False
        key = f"{spec_digest}/{credential.accounts[0]}"
        if key not in self._accounts:
            client = self.client(spec_digest, await self.spec(spec_digest), credential)
            self._accounts[key] = {item.id: item.name for item in await client.accounts()}
        return self._accounts[key].get(account) in credential.accounts

    def client(self, spec_digest: str, spec: CampaignSpec, credential: CredentialSpec) -> ServiceClient:
        """The client of one credential, whose reference is resolved anew each time: a secret that was changed
        meanwhile is used from then on. Raises CredentialMissing where it leads nowhere, NotLet where the
        worker's roots do not let it be sent there.
        """
        key = f"{spec_digest}/{spec.service.credentials.index(credential)}"
        ways = self.ways(spec)
        try:
            known = ways.credential(credential)
        except SecretRefError as why:
            raise CredentialMissing(credential.reference, str(why)) from None
        kept, client = self._clients.get(key, (None, None))
        if kept is not None and client is not None:
            if kept.headers() == known.headers():
                return client
            # Whoever is in the middle of something with it sees it through.
            self._replaced.append(client)
        client = ways.client(known, self._pacer(credential, spec), assumed_block=spec.service.rate.per)
        self._clients[key] = (known, client)
        return client

    def time_at(self, client: ServiceClient) -> datetime:
        """What time it is at the service, by its last answer; by this machine before one has said it."""
        return client.service_time() or self.clock.now()

    def tickets(self, spec: CampaignSpec) -> TicketSystem:
        """The ticket system of a campaign; a folder of the worker where the campaign names none. Raises
        Misconfigured where its tickets may not be sent there.
        """
        return self.ways(spec).tickets(self._ticket_folder)

    async def refuse_foreign(self, start: ZoneStart) -> None:
        """Raises Misconfigured where the target of a message is none that people signed: its hosts, which the
        message names, may be anybody's.
        """
        spec = await self.spec(start.spec)
        # As at the door: by a clock that is behind, what was signed just now is from the future.
        now = or_server_time(self.clock.now())
        try:
            why = await self.authority.refuses_own_secret(start, spec, self.targets, now)
        except RootsUnreadable as unread:
            raise RootsUnread(str(unread)) from None
        except NotSigned as refused:
            why = str(refused)
        if why:
            raise Misconfigured(why)

    def ways(self, spec: CampaignSpec) -> Ways:
        """Where a campaign file has things sent. Raises NotLet where the worker's roots do not let it."""
        return Ways(spec, self.authority.refuses_service)

    async def close(self) -> None:
        """Close every connection to the service."""
        for client in (*(client for _, client in self._clients.values()), *self._replaced):
            await client.aclose()
        self._clients.clear()
        self._replaced.clear()
