"""A worker works for no campaign that keeps its documents in another archive than the worker's.

What was sent, given up and signed is on record in the campaign's archive. By another one, or by the empty
folder where a disk is not mounted, nothing would ever have been sent.
"""

from __future__ import annotations

from typing import Any

from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from activities.boundary import named
from edgeshift.stores.archive import Archive, ArchiveCorrupt, ArchiveUnavailable
from edgeshift.stores.identity import known_identity


class OwnArchive(Interceptor):
    """Asks before each activity that is for a campaign whether its archive is this worker's. One that is not
    makes no step, and says nothing of what others made: it fails as while the archive cannot be read, and is
    tried again.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._known = ""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """Ask before each activity."""
        return _Asked(next, self)

    async def check(self, wanted: str) -> None:
        """Raises ArchiveUnavailable where the worker's archive has another identity than this, or none. Once
        it was seen, the archive sees by itself whether it is still the same.
        """
        if wanted == self._known:
            return
        try:
            found = await known_identity(self._archive)
        except ArchiveCorrupt as why:
            raise ArchiveUnavailable(str(why)) from None
        if found != wanted:
            which = f"is archive {found[:12]}" if found else "has no identity (is its disk mounted?)"
            raise ArchiveUnavailable(
                f"this worker's archive is not the campaign's ({wanted[:12]}): {self._archive.name} {which};"
                " mount it, or give the worker the campaign's archive, and restart it"
            )
        self._known = found


class _Asked(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, own: OwnArchive) -> None:
        super().__init__(next)
        self._own = own

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        if wanted := archive_of(input.args[0] if input.args else None):
            try:
                await self._own.check(wanted)
            except ArchiveUnavailable as why:
                raise named(why) from None
        return await super().execute_activity(input)


def archive_of(message: object) -> str:
    """The identity of the archive that an activity's message is about; empty where it names none."""
    found = getattr(message, "archive", "") or getattr(getattr(message, "start", None), "archive", "")
    return found if isinstance(found, str) else ""
