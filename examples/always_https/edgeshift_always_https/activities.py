"""Reading a zone, and watching what became of its setting."""

from __future__ import annotations

from temporalio import activity

from activities.boundary import heartbeating, named_failures
from activities.change.intents import close_intents, seen_through, taken_up
from activities.connections import Connections
from activities.polling import shown_in_time
from edgeshift.areas.assessment import Verdict
from edgeshift.messages import Prepare, Prepared, Settle, Shown, Watch, Watched
from edgeshift.stores.documents import Advice, WatchedRecord, put_document
from edgeshift_always_https.work import prepared_from, read


class AlwaysHttpsActivities:
    """Readings of one zone."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @activity.defn(name="prepare_always_https_zone")
    @named_failures
    @heartbeating
    async def prepare(self, message: Prepare) -> Prepared:
        """Read the zone, archive what was read, and propose."""
        start, zone = message.start, message.start.target.zone
        client = await self._connections.service(start.spec, zone)
        read_at = self._connections.clock.now()
        prepared = await prepared_from(self._connections, zone, start.area, await read(client, zone))
        if prepared.verdict is Verdict.ALREADY_SETTLED:
            # What an earlier attempt of this campaign sent is seen through.
            return await taken_up(self._connections, start, prepared, read_at)
        return prepared

    @activity.defn(name="settle_always_https_zone")
    @named_failures
    @heartbeating
    async def settle(self, message: Settle) -> Shown:
        """Read the setting until it shows what was sent, or may no longer be expected to."""
        start, zone = message.start, message.start.target.zone
        client = await self._connections.service(start.spec, zone)
        wanted = "on" if message.wanted else "off"

        async def look() -> Shown | None:
            if (await read(client, zone, urgent=True)).value != wanted:
                return None
            await close_intents(self._connections, zone, start.area)
            if not message.wanted:
                await seen_through(self._connections, zone, start.area)
            return Shown(reached=True, reason=f"the setting is {wanted}")

        shown, trouble = await shown_in_time(self._connections, message, look)
        if shown is not None:
            return shown
        if trouble:
            return Shown(reached=False, reason=f"the setting could not be read to the end: {trouble}")
        return Shown(reached=False, unchanged=True, reason=f"the setting did not become {wanted} in time")

    @activity.defn(name="watch_always_https_zone")
    @named_failures
    @heartbeating
    async def watch(self, message: Watch) -> Watched:
        """Look once: is the setting on still, or, after a way back, off?"""
        start, zone = message.start, message.start.target.zone
        reading = await read(await self._connections.service(start.spec, zone), zone)
        if message.back:
            if reading.value == "on":
                return Watched(worse="the setting is on again")
            said = "the setting is off, as before"
            return Watched(done=True, said=said, record=await self._record(message, said))
        if reading.value == "off":
            return Watched(worse="somebody has turned Always Use HTTPS off meanwhile")
        if not message.last:
            return Watched()
        await seen_through(self._connections, zone, start.area)
        said = "the setting is on"
        return Watched(done=True, said=said, record=await self._record(message, said))

    async def _record(self, message: Watch, said: str) -> str:
        """How it ended, archived: the digest."""
        prepared = message.prepared
        record = WatchedRecord(
            zone=message.start.target.zone,
            campaign=message.start.campaign,
            digest=prepared.digest,
            snapshot=prepared.snapshot,
            proposal=prepared.proposal,
            evidence="",
            why=message.why,
            said=said,
            changed_at=message.since,
            aftercare=Advice(),
        )
        return await put_document(self._connections.archive, record, verify=True)
