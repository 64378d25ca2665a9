"""What anything is recorded for: permits of a name that one can have, attempts and runs that a campaign can
have, and targets that people have signed.

Whoever can start activities names them as they like, and what a worker records is signed by it.
"""

from __future__ import annotations

from functools import cached_property

from activities.change.own import run_of
from activities.connections import Connections
from activities.proof.authority import NotSigned
from edgeshift.authority.records import SignedRecords, may_have_results
from edgeshift.authority.roots import Role, Roots, asking
from edgeshift.authority.starts import campaign_refused, starts_then, target_refused
from edgeshift.authority.statements import Attested, StartStatement
from edgeshift.messages import GiveUpPermits, Permit, ZoneStart
from edgeshift.model.fleet import campaign_id, campaign_name
from edgeshift.stores.archive import ArchiveUnavailable
from edgeshift.stores.archive_keys import is_part

NO_PERMIT = "its permit has a name that no campaign gives one"

NO_ATTEMPT = "it is of an attempt or a run that no campaign has"


def is_named(permit: Permit) -> bool:
    """Whether a permit has a name under which its records are found, and which is in nobody's way."""
    return is_part(permit.name)


def is_counted(start: ZoneStart) -> bool:
    """Whether a campaign can have the attempt and the run that a message names: only then can anybody begin
    it, and find what is recorded of it and how it ended.
    """
    return may_have_results(run_of(start), start.attempt)


class SignedTargets:
    """Whether people have started a campaign that has a target, whatever they said or revoked since."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @cached_property
    def _records(self) -> SignedRecords:
        return SignedRecords(self._connections.archive, self._connections.authority.knows)

    async def have(self, start: ZoneStart) -> bool:
        """Whether a start of this specification has the target in its list; True where nobody needs one.
        Raises ArchiveError, also where the roots cannot be read, as when somebody is replacing them: whoever
        asks does so again.
        """
        roots = self._roots()
        if isinstance(roots, NotSigned):
            raise ArchiveUnavailable(str(roots))
        if roots is None:
            return True
        spec = await self._connections.spec(start.spec)
        if campaign_refused(start, spec):
            return False
        found = starts_then(spec, start.spec, await self._starts(spec.name), roots)
        for said in () if isinstance(found, str) else found:
            assert isinstance(said.statement, StartStatement)
            targets = await self._connections.targets(said.statement.targets)
            if target_refused(start.index, start.target, said.statement, targets) is None:
                return True
        return False

    async def have_list(self, batch: GiveUpPermits) -> bool:
        """Whether a start of the campaign has this list; True where nobody needs one. Raises ArchiveError."""
        roots, name = self._roots(), campaign_name(batch.campaign)
        if roots is None or isinstance(roots, NotSigned):
            return roots is None
        if batch.campaign != campaign_id(name) or not is_part(name):
            return False
        return any(
            isinstance(said.statement, StartStatement)
            and (said.statement.targets, said.statement.area) == (batch.targets, batch.area)
            and roots.forgiving.refuses(said, Role.STARTER, said.statement.issued) is None
            for said in await self._starts(name)
        )

    async def _starts(self, campaign: str) -> tuple[Attested, ...]:
        read, _ = await self._records.starts_as_far(campaign)
        return read

    def _roots(self) -> Roots | NotSigned | None:
        """The roots, where they ask for signatures; why they cannot be read."""
        try:
            return asking(self._connections.authority.roots_or_none())
        except NotSigned as why:
            return why
