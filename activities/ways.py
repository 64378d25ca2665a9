"""The ways out of a worker: the only place of the activities where references become secrets, and where what
they are sent with is made. tests/rules/test_ways.py sees to it that there is no other.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from pydantic import SecretStr

from activities.proof.authority import RootsUnreadable
from edgeshift.areas import area_of
from edgeshift.areas.section import AreaSection
from edgeshift.campaign_file.spec import CampaignSpec, CredentialSpec
from edgeshift.probes import Prober, prober_of
from edgeshift.rate_limit.pacing import Pacer
from edgeshift.runtime.clock import Clock
from edgeshift.runtime.secret_refs import SecretRef, said_or_kept
from edgeshift.service_api import Credential, Misconfigured, NotLet, RootsUnread, ServiceClient
from edgeshift.service_api.transport import connections_for
from edgeshift.stores.tickets import TicketSystem, ticket_system

Refuses = Callable[[CampaignSpec], str | None]
"""Says why nothing is sent where a campaign file says, or None; raises RootsUnreadable
(activities/proof/authority.py).
"""


class Ways:
    """Where a campaign file has things sent, once ``refuses`` has said that it may: whoever has one may send.
    It is made anew for each use, since the worker's roots may change. Raises NotLet where it may not,
    RootsUnread where nobody can say, before anything is looked up that could be sent.
    """

    def __init__(self, spec: CampaignSpec, refuses: Refuses) -> None:
        try:
            why = refuses(spec)
        except RootsUnreadable as unread:
            raise RootsUnread(str(unread)) from None
        if why:
            raise NotLet(why)
        self._spec = spec

    def credential(self, said: CredentialSpec) -> Credential:
        """One of the file's credentials with its secret, resolved here and now. Raises SecretRefError."""
        if said not in self._spec.service.credentials:
            raise Misconfigured(f"{said.reference} is no credential of the campaign file")
        if said.token is not None:
            return Credential(token=SecretRef(said.token).resolve(), named=said.reference)
        assert said.key is not None and said.email is not None
        secret, email = SecretRef(said.key).resolve(), said_or_kept(said.email)
        return Credential(key=secret, email=email, named=said.reference)

    def find_all(self, said: CredentialSpec) -> None:
        """Raises SecretRefError where something is not found that a call with this credential needs."""
        self.credential(said)
        said_or_kept(self._spec.service.proxy)

    def client(
        self, known: Credential, pacer: Pacer, *, assumed_block: timedelta | None = None
    ) -> ServiceClient:
        """A client of the service. Raises SecretRefError where its proxy is not found."""
        service = self._spec.service
        rate = service.rate
        return ServiceClient(
            service.base_url,
            known,
            pacer=pacer,
            proxy=said_or_kept(service.proxy),
            ca_file=service.ca_file,
            request_limit=service.request_limit,
            assumed_block=assumed_block,
            profile=service.facts,
            most_connections=connections_for(rate.requests / rate.per.total_seconds()),
        )

    def tickets(self, folder: str) -> TicketSystem:
        """The campaign's ticket system; ``folder`` where it names none. Raises SecretRefError, and
        TicketError where it cannot work.
        """
        return ticket_system(self._spec.tickets, folder, service=self._spec.service)

    def secret(self, section: type[AreaSection], path: str) -> SecretStr:
        """What the area's own section of the campaign file leads to, read here and now. ``section``: its
        model; ``path``: where its ``references`` say so, which the roots were asked of. Raises Misconfigured
        for anything else, SecretRefError.
        """
        own = area_of(self._spec.area).section
        mine = self._spec.section(section).references if own is not None and own.model is section else {}
        if path not in mine:
            raise Misconfigured(f"{path} is no reference of the campaign's own section")
        return SecretRef(mine[path]).resolve()

    def prober(self, clock: Clock) -> Prober:
        """What asks the edge, with a scope's secret and without."""
        return prober_of(self._spec, clock)
