"""Reading a zone, and watching what became of its setting."""

from __future__ import annotations

from temporalio import activity

from activities.boundary import heartbeating, named_failures
from activities.change.intents import close_intents, seen_through, taken_up
from activities.change.own_changes import NOT_OURS, OwnChange, last_change, last_change_if_known
from activities.change.settled import sign_settled, unless_settled
from activities.connections import Connections
from activities.polling import shown_in_time
from edgeshift.areas.assessment import Verdict
from edgeshift.messages import Confirm, Prepare, Prepared, Shown, Watch, Watched, ZoneStart
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reason_texts import text_of
from edgeshift.stores.documents import Advice, Intent, put_document
from edgeshift_always_https.documents import AlwaysHttpsRecord
from edgeshift_always_https.reasons import NotShown, OnOff, SetByOthers, Shows, Unreadable
from edgeshift_always_https.rules import other
from edgeshift_always_https.section import AlwaysHttpsSection
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
        reading, wanted = await read(client, zone), await self._wanted(start)
        prepared = await prepared_from(self._connections, zone, start.area, reading, wanted)
        if prepared.verdict is Verdict.ALREADY_SETTLED:
            # What an earlier attempt of this campaign sent is seen through.
            found = await taken_up(self._connections, start, prepared, read_at)
            if not found.begun:
                await self._connections.results.record(
                    start, ZoneOutcome.ALREADY_SETTLED, seen=prepared.snapshot
                )
            return found
        return prepared

    @activity.defn(name="settle_always_https_zone")
    @named_failures
    @heartbeating
    async def confirm(self, message: Confirm) -> Shown:
        """Read the setting until it shows what was sent, or may no longer be expected to."""
        start, zone = message.start, message.start.target.zone
        client = await self._connections.service(start.spec, zone)
        to = await self._wanted(start)
        wanted = to if message.wanted else other(to)

        async def look() -> Shown | None:
            # What is on record as sent before the reading: of that alone it says something.
            own = await last_change(self._connections, start)
            if (await read(client, zone, urgent=True)).value != wanted:
                return None
            if own is not None and message.wanted and not own.back:
                await close_intents(self._connections, zone, start.area, own.commits)
            if own is not None and not message.wanted and own.back and not own.may_show:
                await close_intents(self._connections, zone, start.area, own.sent)
                await seen_through(self._connections, zone, start.area, own.sent)
            return Shown(reached=True, why=(Shows(value=wanted).reason(),))

        shown, trouble = await shown_in_time(self._connections, message, look)
        if shown is not None:
            return shown
        if trouble:
            return Shown(reached=False, why=(Unreadable(trouble=trouble).reason(),))
        return Shown(reached=False, unchanged=True, why=(NotShown(value=wanted).reason(),))

    @activity.defn(name="watch_always_https_zone")
    @named_failures
    @heartbeating
    async def watch(self, message: Watch) -> Watched:
        """Look once: is the setting as it was set still, or, after a rollback, as it was before?"""
        return await unless_settled(self._connections, message, await self._watch(message))

    async def _watch(self, message: Watch) -> Watched:
        start, zone = message.start, message.start.target.zone
        to = await self._wanted(start)
        wanted = other(to) if message.back else to
        own = await last_change_if_known(self._connections, start)
        if own is not None:
            # What was sent, whatever a message tells of it.
            message = message.model_copy(update={"prepared": own.prepared(message.prepared)})
        reading = await read(await self._connections.service(start.spec, zone), zone)
        if reading.value != wanted:
            return Watched.as_worse(SetByOthers(value=reading.value).reason())
        if not (message.back or message.last):
            return Watched()

        async def sign(own: OwnChange) -> Watched:
            shows = Shows(value=wanted).reason()
            kept = await self._record(message, text_of(shows), wanted, own.record)
            return Watched.as_done(shows, record=kept)

        if not message.back:
            return await sign_settled(self._connections, start, own, sign)
        if own is None or not own.back or own.may_show:
            return Watched.not_looked_at(NOT_OURS)
        return await sign(own)

    async def _wanted(self, start: ZoneStart) -> OnOff:
        """The value that the campaign sets."""
        spec = await self._connections.spec(start.spec)
        return spec.section(AlwaysHttpsSection).value

    async def _record(self, message: Watch, said: str, value: OnOff, sent: Intent) -> str:
        """How it ended, archived: the digest."""
        prepared = message.prepared
        record = AlwaysHttpsRecord(
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
            value=value,
        )
        kept = await put_document(self._connections.archive, record, verify=True)
        await self._connections.results.record_watched(message, kept, sent)
        return kept
