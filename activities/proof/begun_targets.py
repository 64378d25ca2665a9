"""Which targets people have had a campaign begin, as far as workers sign what they have read of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from activities.proof.listed_targets import Targets
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.roots import Role, Roots, asking
from edgeshift.authority.starts import campaign_refused, target_refused
from edgeshift.authority.statements import StartStatement
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import ZoneStart

NO_START = "no start of the campaign with this specification and this target was signed"


class BegunTargets:
    """Asks signed starts for them. ``roots``: as they are now; raises ArchiveUnavailable where they cannot be
    read.
    """

    def __init__(self, roots: Callable[[], Roots | None], records: SignedRecords) -> None:
        self._roots, self._records = roots, records

    async def refuses(self, start: ZoneStart, spec: CampaignSpec, frozen: Targets) -> str | None:
        """Why what was read of a target is none of the campaign's business: it is of another campaign, or
        none of the targets of its signed start, whoever's key has signed that; or None. ``spec``: of
        ``start.spec``. Raises ArchiveError.
        """
        if refused := campaign_refused(start, spec):
            return refused
        why: str | None = NO_START
        async for statement in self._began_by(start.spec, spec):
            if statement is None:
                return None
            targets = await frozen(statement.targets)
            if (why := target_refused(start.index, start.target, statement, targets)) is None:
                return None
        return why

    async def refuses_list(self, digest: str, spec: CampaignSpec, targets: str) -> str | None:
        """As ``refuses``, of a whole frozen list. ``digest``: of ``spec``; ``targets``: of the list."""
        async for statement in self._began_by(digest, spec):
            if statement is None or statement.targets == targets:
                return None
        return NO_START

    async def _began_by(self, digest: str, spec: CampaignSpec) -> AsyncIterator[StartStatement | None]:
        """The signed starts of a campaign with this specification, also where the key was revoked since; None
        alone where nobody has to sign any. Raises ArchiveError.
        """
        if (roots := asking(self._roots())) is None:
            yield None
            return
        for said in await self._records.starts(spec.name):
            statement = said.statement
            if not isinstance(statement, StartStatement) or statement.spec != digest:
                continue
            if roots.forgiving.refuses(said, Role.STARTER, statement.issued) is None:
                yield statement
