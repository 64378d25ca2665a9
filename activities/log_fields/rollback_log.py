"""What a campaign has written to a zone's ruleset and log jobs, kept in the archive before it is sent: what
was there before, so that exactly the campaign's own can be taken out again, and each write, so that what
others wrote meanwhile can be told from it.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TypeVar

from pydantic import BaseModel

from activities.change.intent_records import (
    ClosedAs,
    SentBefore,
    all_left_in,
    closed_as,
    intents_of,
    over_by_revoked,
    surely_now,
)
from activities.change.intents import shows_within, unproven_last
from activities.change.own import Own, own_of, run_of
from activities.connections import Connections
from edgeshift.areas import log_fields
from edgeshift.areas.log_fields.rules import Rule
from edgeshift.messages import Step, ZoneStart
from edgeshift.model.digests import sha256
from edgeshift.model.fleet import Area
from edgeshift.service_api import LogJob
from edgeshift.stores.archive import ArchiveCorrupt
from edgeshift.stores.documents import Intent, encoded
from edgeshift.stores.documents.areas.log_fields import JobBefore, JobCreated, RulesBefore, RulesSent

Model = TypeVar("Model", bound=BaseModel)

_JOB = re.compile(r"job-[0-9]{1,18}")
_WRITTEN = re.compile(rf"[^/]+/put-[^/]+|{_JOB.pattern}|new-job")
_WRITTEN_IN_RUN = re.compile(rf"(?:[^/]+/)?(?:{_WRITTEN.pattern})")
_BASE = re.compile(r"([0-9a-f]{32})/base")
_CREATES, _PUTS = re.compile(r"-ruleset-[0-9]+$"), re.compile(r"-rules-[0-9]+$")
_LEAVES_NOTHING = re.compile(rf"{_CREATES.pattern}|-challenge$")
"""Intents of requests that leave nothing to be taken back: a ruleset without rules, a challenge."""

CLOCKS_DIFFER = timedelta(minutes=1)
"""How much earlier than the record of a write its intent may have been stored, which comes after it: machines
that keep an archive together have a clock each.
"""


class RollbackLog:
    """The records of one zone and one campaign, over all the attempts in which something of it may be left in
    the zone, whichever run had it sent under the campaign's signed start: its trail. What was seen undone, or
    never came, is over: what others have made since is theirs, so that the next commit begins another trail,
    and records anew what is there. Where nothing is left there is no trail, and nothing is on record.

    What no worker has signed whom the roots know does not count, and ArchiveCorrupt names it: without it
    nobody can tell the campaign's own from what others have made; an intent as well, where none that counts
    says what is left in. So is what says that a trail is over, where its worker's key was revoked since.
    ``back``: for the rollback, where a record counts also if its worker's key was revoked since.
    """

    def __init__(self, connections: Connections, start: ZoneStart, *, back: bool = False) -> None:
        self._connections, self._start, self._back = connections, start, back
        self._archive, self._records = connections.archive, connections.records
        self._zone = f"before/{start.target.zone.id}/{Area.LOG_FIELDS.value}"
        self._run = self._of_run(run_of(start))
        self._trail: str | None = None
        self._whose: Own | None = None

    def _of_run(self, run: str) -> str:
        """Where the records of a run lie."""
        return f"{self._zone}/{sha256(run.encode())[:16]}"

    async def begin(self, permit: str) -> str | None:
        """The trail of a commit, as its intents name it: that of what is left in, or one of its own, by its
        permit's name; None for one that intents do not name. One that lies with another run's records, which
        was begun under the same signed start, is named with its folder. Raises ArchiveError.
        """
        if await self._found() is None:
            self._trail = f"{self._run}/{permit}"
        assert self._trail is not None
        if self._trail == self._run or self._trail.startswith(f"{self._run}/"):
            return self._trail.removeprefix(self._run).removeprefix("/") or None
        named = self._trail.removeprefix(f"{self._zone}/")
        return named if "/" in named else f"{named}/"

    async def _found(self) -> str | None:
        """Where the trail of what may be left in lies, the earliest where several are; None where there is
        none. Raises ArchiveCorrupt where nobody can tell, ArchiveError where that can be told another time.
        """
        if self._trail is None:
            for trail in dict.fromkeys(self._at(sent.record) for sent in await self._left()):
                if await self._is_written(trail):
                    self._trail = trail
                    break
            else:
                if (unread := (await self._own()).unread) is not None:
                    raise unread
                await self._refuse_lost_intents()
        return self._trail

    async def _own(self) -> Own:
        """Whose records count, asked once."""
        self._whose = self._whose or await own_of(self._connections, self._start)
        return self._whose

    async def _refuse_lost_intents(self) -> None:
        """Raises ArchiveCorrupt where something is on record as written, and an intent may say that it is
        left in that does not count: without it all would be taken for what others have made. One that was
        stored before anything was on record is no intent of the run's.
        """
        if not (written := await self._written(self._run, _WRITTEN_IN_RUN)):
            return
        start, archive = self._start, self._archive
        # The one that was stored last.
        key = await unproven_last(
            self._connections, start.target.zone, start.area, own=await self._own(), forgiving=True
        )
        if not key:
            return
        first = min([await archive.stored_at(record) for record in written])
        if await archive.stored_at(key) >= first - CLOCKS_DIFFER:
            raise ArchiveCorrupt(f"the record {key} in the archive does not count, and may be the campaign's")

    async def _left(self) -> list[SentBefore]:
        start = self._start
        # What a worker has sent whose key was revoked since is left in all the same.
        own = await self._own()
        found = await all_left_in(
            self._connections, start.target.zone, start.area, start.campaign, own, forgiving=True
        )
        found = [sent for sent in found if not _LEAVES_NOTHING.search(sent.key)]
        said = {sent.key: await over_by_revoked(self._connections, sent.key) for sent in found}
        sure = {self._at(sent.record) for sent in found if not said[sent.key]}
        left = []
        for sent in found:
            if self._at(sent.record) not in sure:
                if await self._was_over_before_another(sent, own):
                    continue
                if await self._is_written(self._at(sent.record)):
                    raise ArchiveCorrupt(
                        f"the record {said[sent.key]} in the archive does not count, since its worker's key"
                        " was revoked: nobody can tell whether what was sent is left in"
                    )
            left.append(sent)
        return left

    async def _was_over_before_another(self, sent: SentBefore, own: Own) -> bool:
        """Whether a worker whose key counts has begun another trail since: it saw that this one was over."""
        start, record = self._start, sent.record
        async for other in intents_of(self._connections, start.target.zone, start.area):
            later, mine = other.record, other.proven and other.record.campaign == start.campaign
            if not mine or later.step != Step.COMMIT.value or not own.names(later):
                continue
            if later.at > record.at and later.trail is not None and self._at(later) != self._at(record):
                return True
        return False

    async def _is_written(self, prefix: str) -> bool:
        return bool(await self._written(prefix))

    async def _written(self, prefix: str, names: re.Pattern[str] = _WRITTEN) -> list[str]:
        """The records of writes under a prefix."""
        keys = [key async for key in self._archive.list(prefix)]
        return [key for key in keys if names.fullmatch(key.removeprefix(f"{prefix}/"))]

    def _at(self, record: Intent) -> str:
        """Where the trail lies that an intent names: with the records of its run, or in the folder that it
        names too.
        """
        trail = record.trail or ""
        if "/" in trail:
            return f"{self._zone}/{trail}".removesuffix("/")
        of_run = self._run if record.run is None else self._of_run(record.run)
        return f"{of_run}/{trail}" if trail else of_run

    @property
    def _prefix(self) -> str:
        """Where the records of the trail lie, which was found or begun."""
        if self._trail is None:
            raise RuntimeError("nothing of the campaign is left in, and no commit has begun")
        return self._trail

    async def base(self, ruleset_id: str, present: log_fields.Version) -> log_fields.Version:
        """The version that the campaign read before its first write to this ruleset, recorded now where there
        has been none.
        """
        record = RulesBefore(version=present.number, rules=list(present.rules))
        await self._records.create_own(self.base_key(ruleset_id), record)
        return await self.first(ruleset_id) or present

    def base_key(self, ruleset_id: str) -> str:
        """Where that version lies."""
        return f"{self._prefix}/{ruleset_id}/base"

    async def first(self, ruleset_id: str) -> log_fields.Version | None:
        """The version before the campaign's first write to this ruleset, or None before there was one."""
        if await self._found() is None:
            return None
        found = await self._counted(RulesBefore, self.base_key(ruleset_id))
        return log_fields.Version(found.version, found.rules) if found else None

    async def _counted(self, model: type[Model], key: str) -> Model | None:
        """The record of this name, or None where there is none. Raises ArchiveCorrupt where it does not
        count: something was written, and nobody can tell what.
        """
        found = await self._records.find(model, key, forgiving=self._back)
        if found is not None and found.unproven is not None:
            raise ArchiveCorrupt(f"the record {key} in the archive does not count: {found.unproven}")
        return found.record if found else None

    async def sending(self, ruleset_id: str, over: int, rules: list[Rule], earlier: int = 0) -> None:
        """Record a write that is about to be sent. ``earlier``: those over the same version before it, each
        of which has a record of its own, also of the same rules.
        """
        record = RulesSent(over=over, rules=rules)
        again = f"-{earlier}" if earlier else ""
        key = f"{self._prefix}/{ruleset_id}/put-{over}-{sha256(encoded(record))[:12]}{again}"
        await self._records.create_own(key, record)

    async def sent(self, ruleset_id: str) -> list[log_fields.OwnWrite]:
        """Every write to this ruleset so far, whether it was answered or not."""
        found: list[log_fields.OwnWrite] = []
        if await self._found() is None:
            return found
        async for key in self._archive.list(f"{self._prefix}/{ruleset_id}"):
            if not key.rpartition("/")[2].startswith("put-"):
                continue
            if record := await self._counted(RulesSent, key):
                found.append(log_fields.OwnWrite(record.over, record.rules))
        return sorted(found, key=lambda item: item.over)

    async def rulesets(self) -> list[str]:
        """The identifiers of the rulesets that the campaign has written to, or was about to."""
        if await self._found() is None:
            return []
        keys = [key async for key in self._archive.list(self._prefix)]
        found = [_BASE.fullmatch(key.removeprefix(f"{self._prefix}/")) for key in keys]
        return [one[1] for one in found if one]

    async def created_lately(self) -> bool:
        """Whether a step has created the zone's ruleset, by whichever campaign, so lately that readings need
        not show it yet (docs/service.md §4.2). None has written rules to it since, which it shows for.
        """
        start = self._start
        since = surely_now(self._connections) - shows_within(start)
        created: list[datetime] = []
        put: list[datetime] = []
        async for sent in intents_of(self._connections, start.target.zone, start.area):
            if not sent.proven or sent.record.at < since:
                continue
            key, at = sent.key, sent.record.at
            if _PUTS.search(key):
                put.append(at)
            elif _CREATES.search(key) and await closed_as(self._connections, key) is ClosedAs.ANSWERED:
                created.append(at)
        return bool(created) and (not put or max(put) < max(created))

    async def any_sent(self) -> bool:
        """Whether the campaign has written anything to the zone that may be left in, or was about to."""
        return await self._found() is not None and await self._is_written(self._prefix)

    async def left_in(self) -> Intent | None:
        """The intent of what was written last, or may have been, in this attempt or an earlier one, and was
        not seen undone; or None.
        """
        found = await self.all_left_in()
        return found[-1] if found else None

    async def all_left_in(self) -> list[Intent]:
        """The intents of all of that, in the order of their times."""
        return [sent.record for sent in await self._left()] if await self.any_sent() else []

    async def changing_job(self, job: LogJob) -> None:
        """Record what a log job lists before that is changed for the first time."""
        record = JobBefore(logpull_options=job.logpull_options, output_options=job.output_options)
        await self._records.create_own(f"{self._prefix}/job-{job.id}", record)

    async def creating_job(self, name: str) -> None:
        """Record that a log job is about to be created, or turned on again."""
        await self._records.create_own(f"{self._prefix}/new-job", JobCreated(name=name))

    async def jobs(self) -> dict[int, JobBefore]:
        """What the changed log jobs listed before."""
        found: dict[int, JobBefore] = {}
        if await self._found() is None:
            return found
        async for key in self._archive.list(self._prefix):
            name = key.removeprefix(f"{self._prefix}/")
            if _JOB.fullmatch(name) and (record := await self._counted(JobBefore, key)):
                found[int(name.removeprefix("job-"))] = record
        return found

    async def created_job(self, signed: str | None) -> str | None:
        """The name of the log job that the campaign created, or was about to. ``signed``: the name of the one
        that people signed, if any: whoever may write to the archive can name somebody else's.
        """
        if signed is None or await self._found() is None:
            return None
        record = await self._counted(JobCreated, f"{self._prefix}/new-job")
        return record.name if record and record.name == signed else None
