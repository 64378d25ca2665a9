"""What the archive holds of a campaign, collected for its audit file.

Requests are read before what people signed: whatever allowed one was recorded before it, so that it is in the
file also where the campaign goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from edgeshift.audit.arrays import NoArray, items_of
from edgeshift.audit.chain import Kind
from edgeshift.audit.spool import Spool
from edgeshift.authority.records import statement_at
from edgeshift.authority.roots import as_of, taken_late
from edgeshift.authority.statements import (
    AgainStatement,
    Attested,
    BadStatement,
    StartStatement,
    opened,
    orders,
)
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.digests import NotCanonical, anonymous, canonical_bytes, digest, sha256
from edgeshift.model.fleet import Target, Zone, campaign_id
from edgeshift.stores.archive import Archive, ArchiveCorrupt, ArchiveError
from edgeshift.stores.archive_keys import NO_KEY, is_key, no_folder_at, shown
from edgeshift.stores.documents import (
    DocumentUnreadable,
    Intent,
    NothingMore,
    Proposal,
    get_document,
    get_record,
)

AT_ONCE = 32
"""Records that are read side by side."""

_BY_PEOPLE = ("start", "word", "decision", "again", "repair")
"""Where the names lie of what people sign (authority/records.py)."""


class NothingSigned(Exception):
    """A campaign of which nobody has signed the start: there is nothing to prove."""

    hint = "`edgeshift status` lists the campaigns; one that no key has signed has a report, and no audit"


class Collector:
    """Collects one campaign's lines into ``spool``."""

    def __init__(self, archive: Archive, campaign: str, spool: Spool) -> None:
        self._archive = archive
        self._campaign = campaign
        self._spool = spool

    async def collect(self) -> None:
        """All that the archive has. Raises NothingSigned, ArchiveError."""
        if not await self._signed():
            where = f"in archive {self._archive.name}"
            raise NothingSigned(f"nobody has signed the start of campaign {self._campaign} {where}")
        async for keys in _batches(self._archive.list("intent", odd=True)):
            mine = filter(self._may_be_request, keys)
            await asyncio.gather(*(self._kept(self._request, key) for key in mine))
        await self._signed()
        await self._lost()

    def _may_be_request(self, key: str) -> bool:
        """Whether it is a request in one of the campaign's areas; or stands for a folder that is not listed,
        such as one behind a link, in which some may be.
        """
        match key.split("/")[1:]:
            case [_]:
                return True
            case [zone, area, *_]:
                return area in self._spool.areas or key == no_folder_at(f"intent/{zone}")
        return False

    async def _signed(self) -> bool:
        """What people signed since it was last asked for, and what the starts among it name; whether any
        start is known.
        """
        starts = [said.statement for said in await self._statements()]
        for start in starts:
            assert isinstance(start, StartStatement)
            self._spool.areas.add(start.area)
            if not self._spool.has(Kind.SPEC, start.spec):
                await self._guarded(f"objects/{start.spec}", self._spec(start.spec))
            if not self._spool.has(Kind.TARGETS, start.targets):
                await self._guarded(f"objects/{start.targets}", self._targets(start.targets))
        return bool(self._spool.areas)

    async def _guarded(self, name: str, work: Awaitable[None]) -> None:
        """Do the work; what cannot be read, and what is not there, is a line that says so."""
        try:
            await work
        except (ArchiveError, NoArray, NotCanonical, RecursionError, ValueError) as why:
            self._odd(name, str(why))

    async def _kept(self, work: Callable[[str], Awaitable[None]], key: str) -> None:
        """Do the work of one record. One that nobody can read, which whoever may write to the archive can put
        there, keeps nobody from having the others: it is a line that says so.
        """
        if not is_key(key):
            place = key.split("/")[1]
            every = key.startswith("signed/") or key == no_folder_at("intent")
            if every or (is_key(place) and self._spool.zones(place)):
                self._odd(shown(key), NO_KEY)
            return
        try:
            await work(key)
        except ArchiveError as why:
            self._odd(key, str(why))

    def _odd(self, key: str, why: str) -> None:
        self._spool.add(Kind.ODD, key, {"key": key, "why": " ".join(why.split())[:300]})

    async def _spec(self, wanted: str) -> None:
        found = await self._archive.get_json(wanted)
        CampaignSpec.model_validate(found)
        if sha256(canonical_bytes(found)) != wanted:
            raise ValueError("it is written in another way than specifications are")
        self._spool.add(Kind.SPEC, wanted, {"digest": wanted, "spec": found})

    async def _targets(self, wanted: str) -> None:
        """A list of targets; nothing of one that the file could not prove, whoever signed its digest."""
        try:
            count = await self._each_target(wanted)
        except Exception:
            self._spool.remove(Kind.TARGET, wanted)
            raise
        self._spool.add(Kind.TARGETS, wanted, {"count": count, "digest": wanted})

    async def _each_target(self, wanted: str) -> int:
        count, found = 0, hashlib.sha256(b"[")
        async for target in items_of(self._archive.object_parts(wanted)):
            self._spool.add_zone(Target.model_validate(target).zone)
            found.update((b"," if count else b"") + canonical_bytes(target))
            self._spool.add_target(wanted, count, target)
            count += 1
        found.update(b"]")
        if found.hexdigest() != wanted:
            raise NoArray("it is written in another way than lists of targets are")
        return count

    async def _statements(self) -> list[Attested]:
        """Every signed statement of the campaign that is not known yet; those that are starts."""
        starts: list[Attested] = []
        place = f"signed/{self._campaign}/statement"

        async def one(key: str) -> None:
            name = key.rpartition("/")[2]
            if self._spool.has(Kind.SIGNED, f"0{name}") or self._spool.has(Kind.SIGNED, f"1{name}"):
                return
            data = await self._archive.get_named(key) or b""
            try:
                said = opened(data)
                if said.digest != name or said.statement.campaign != self._campaign:
                    raise BadStatement("it lies in the place of another statement")
            except BadStatement as why:
                self._odd(key, f"it is no signed statement: {why}")
                return
            first = isinstance(said.statement, StartStatement)
            if first:
                starts.append(said)
            line = json.loads(data)
            if orders(said.statement):
                said = said.model_copy(update={"stored": await self._archive.stored_at(key)})
                late = isinstance(said.statement, AgainStatement) and taken_late(said)
                if said.stored is not None and (late or as_of(said) != said.statement.issued):
                    line["stored"] = said.stored.isoformat()
            self._spool.add(Kind.SIGNED, f"{0 if first else 1}{name}", line)

        async for keys in _batches(self._archive.list(place, odd=True)):
            await asyncio.gather(*(self._kept(one, key) for key in keys))
        return starts

    async def _lost(self) -> None:
        """A line for each name of something that people signed whose statement is not there: a name says that
        it was, and it may have been what stops. What is damaged has a line already.
        """

        async def one(key: str) -> None:
            name = key.rpartition("/")[2]
            if any(self._spool.has(Kind.SIGNED, f"{first}{name}") for first in (0, 1)):
                return
            # It may have come since the statements were read.
            if await self._archive.get_named(statement_at(self._campaign, name)) is None:
                self._odd(key, "its statement is missing")

        for kind in _BY_PEOPLE:
            async for keys in _batches(self._archive.list(f"signed/{self._campaign}/{kind}", odd=True)):
                await asyncio.gather(*(self._kept(one, key) for key in keys))

    async def _request(self, key: str) -> None:
        """A record of what was about to be sent, and what came of it, where it is one of this campaign's."""
        data = await self._archive.get_named(key) or b""
        zones, mine = self._spool.zones(key.split("/")[1]), False
        try:
            record = json.loads(data)
            if not isinstance(record, dict):
                raise ValueError
            if record.get("campaign") != campaign_id(self._campaign):
                return
            mine = True
            Intent.model_validate(record)
            self._spool.add(Kind.REQUEST, key, {"key": key, "record": record})
        except (ValueError, RecursionError, NotCanonical):
            # It may be another campaign's: that is for people to find out.
            if zones or mine:
                self._odd(key, "it cannot be read")
            return
        await self._answer(key)
        if zones:
            await self._body(record, zones)

    async def _answer(self, key: str) -> None:
        def beside(what: str) -> str:
            return key.replace("intent/", f"{what}/", 1)

        try:
            more = await get_record(self._archive, NothingMore, beside("nothing"))
        except DocumentUnreadable as why:
            self._odd(beside("nothing"), str(why))
            more = None
        found = {
            "answered": await self._archive.get_named(beside("over")) is not None,
            "closed_as": None if more is None else more.closed_as.value,
            "key": key,
            "nothing_more": None if more is None else more.reason,
            "seen": await self._archive.get_named(beside("seen")) is not None,
        }
        self._spool.add(Kind.ANSWER, key, found)

    async def _body(self, record: dict[str, Any], zones: Sequence[Zone]) -> None:
        """The body of a request, once a fingerprint: without what names the zone it is that of all.
        ``zones``: what the lists of targets say of the zone, which strangers may have put there too.
        """
        fingerprint, proposal = record.get("fingerprint"), record.get("proposal")
        if not isinstance(fingerprint, str) or not isinstance(proposal, str):
            return
        if self._spool.has(Kind.BODY, fingerprint):
            return
        try:
            body = (await get_document(self._archive, Proposal, proposal)).body
            for zone in zones:
                alike = anonymous(body, zone)
                if digest(body) == record.get("digest") and sha256(canonical_bytes(alike)) == fingerprint:
                    self._spool.add(Kind.BODY, fingerprint, {"body": alike, "fingerprint": fingerprint})
                    return
            raise ArchiveCorrupt("it is not the body of the request that names it")
        except (ArchiveError, NotCanonical, RecursionError) as why:
            self._odd(f"objects/{shown(proposal)}", str(why))


async def _batches(keys: AsyncIterator[str], size: int = AT_ONCE) -> AsyncIterator[Sequence[str]]:
    """Names, some at a time."""
    some: list[str] = []
    async for key in keys:
        some.append(key)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some
