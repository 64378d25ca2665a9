"""Whether a worker has made the frozen list of a signed start of what the service lists.

The list says what a target is called, which account it is of and which plan it has, and nobody who signs a
start reads all of it. Whoever forges a plan's result and writes to the archive could have a list signed in
which a zone goes by another one's name. So workers record, with their key, each list that they make, and the
door believes no other where the start asks for that (docs/authority.md).
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence

from activities.proof.records import WorkerRecords
from edgeshift.authority.starts import target_foreign
from edgeshift.authority.statements import Attested, StartStatement
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import ZoneStart
from edgeshift.model.fleet import Target
from edgeshift.stores.documents import TargetsListed, listed_key

Targets = Callable[[str], Awaitable[Sequence[Target]]]
"""The frozen list with a digest."""

NOT_LISTED = (
    "no worker whose key counts has signed that it made the start's list of targets: have it made by"
    " `edgeshift plan FILE`, then `edgeshift start FILE --again`"
)

MOST_KNOWN = 100
"""Lists of which a worker remembers the record that counted."""


class ListedTargets:
    """What workers have recorded of lists, and what a signed start's list says."""

    def __init__(self, records: WorkerRecords) -> None:
        self._records = records
        self._known: OrderedDict[tuple[str, str], tuple[str, bytes]] = OrderedDict()

    async def record(self, spec: str, targets: str, said: TargetsListed) -> None:
        """Record that this worker has made a list for a specification (digests). Raises ArchiveError."""
        key = listed_key(spec, targets)
        if not await self._records.create(key, said) and not await self.have(spec, targets):
            # The key that signed it was revoked since, or a stranger has taken its name.
            await self._records.create(f"{key}-{uuid.uuid4().hex}", said)

    async def have(self, spec: str, targets: str) -> bool:
        """Whether a worker has recorded that it made this list for this specification. What was read of it
        once is not read again; whether its key counts is. Raises ArchiveError.
        """
        place = spec, targets
        known = self._known.get(place)
        if known is not None and await self._records.counts(*known):
            return True
        key = listed_key(spec, targets)
        found = await self._records.counting(key)
        if found is None:
            async for name in self._records.keys(key.rpartition("/")[0]):
                if name.startswith(f"{key}-") and (found := await self._records.counting(name)) is not None:
                    key = name
                    break
        if found is None:
            return False
        self._known[place] = key, found
        while len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return True

    async def foreign(
        self, start: ZoneStart, spec: CampaignSpec, found: Attested, frozen: Targets
    ) -> str | None:
        """Why the target of a message is none of a signed start, as it is said to be, or one that the
        campaign's file does not mean; or why the start's list says nothing; or None. Raises ArchiveError.
        """
        statement = found.statement
        assert isinstance(statement, StartStatement)
        targets = await frozen(statement.targets)
        if why := target_foreign(start, spec, statement, targets):
            return why
        # A start of an earlier version does not ask for it.
        if statement.listed and not await self.have(statement.spec, statement.targets):
            return NOT_LISTED
        return None
