"""Whether a worker has made the frozen list of a signed start of what the service lists.

The list says what a target is called, which account it is of and which plan it has, and nobody who signs a
start reads all of it. Whoever forges a plan's result and writes to the archive could have a list signed in
which a zone goes by another one's name. So workers record, with their key, which zones they have found, and
the door believes no others where the start asks for that (docs/authority.md).
"""

from __future__ import annotations

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

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
    "no worker whose key counts has signed that the service lists the start's targets so: have it looked by"
    " `edgeshift plan FILE`; if they are others, `edgeshift start FILE --again`"
)

MOST_KNOWN = 100
"""Lists of which a worker remembers the record that counted, and the name that it has to have."""


class ListedTargets:
    """What workers have recorded of lists, and what a signed start's list says."""

    def __init__(self, records: WorkerRecords) -> None:
        self._records = records
        self._keys: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._known: OrderedDict[str, tuple[str, bytes]] = OrderedDict()

    async def record(self, spec: str, targets: Sequence[Target], said: TargetsListed) -> None:
        """Record that this worker has found these zones for a specification (digest). Raises ArchiveError."""
        key = await asyncio.to_thread(listed_key, spec, targets)
        if not await self._records.create(key, said) and not await self._counts(key):
            # The key that signed it was revoked since, or a stranger has taken its name.
            await self._records.create(f"{key}-{uuid.uuid4().hex}", said)

    async def have(self, spec: str, digest: str, frozen: Targets) -> bool:
        """Whether a worker has recorded the zones of this list for this specification. What was read of it
        once is not read again; whether its key counts is. Raises ArchiveError.
        """
        place = spec, digest
        if (key := self._keys.get(place)) is None:
            # In a thread: a hundred thousand targets take a moment.
            key = await asyncio.to_thread(listed_key, spec, await frozen(digest))
            _keep(self._keys, place, key)
        return await self._counts(key)

    async def _counts(self, key: str) -> bool:
        known = self._known.get(key)
        if known is not None and await self._records.counts(*known):
            return True
        name, found = key, await self._records.counting(key)
        if found is None:
            async for beside in self._records.keys(key.rpartition("/")[0]):
                if not beside.startswith(f"{key}-"):
                    continue
                if (found := await self._records.counting(beside)) is not None:
                    name = beside
                    break
        if found is None:
            return False
        _keep(self._known, key, (name, found))
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
        if statement.listed and not await self.have(statement.spec, statement.targets, frozen):
            return NOT_LISTED
        return None


def _keep(kept: OrderedDict[Any, Any], place: object, value: object) -> None:
    kept[place] = value
    while len(kept) > MOST_KNOWN:
        kept.popitem(last=False)
