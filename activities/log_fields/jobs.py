"""Writing a zone's log jobs: what they list, and the first job of a zone (docs/service.md §2.3, §4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import SecretStr

from activities.change.area_work import FencedStep, in_time
from activities.change.not_sent import NotSent
from activities.log_fields.rollback_log import RollbackLog
from activities.log_fields.rulesets import ANSWERED, Written, write
from activities.stable_read import twice
from activities.ways import Ways
from edgeshift.areas import log_fields
from edgeshift.areas.log_fields.terms import LogFieldsSpec, NewJobSpec
from edgeshift.messages import ChangeResult, ChangeStatus
from edgeshift.runtime.redaction import register_destination, register_secret
from edgeshift.service_api import LogJob, NotFound
from edgeshift.service_api.caller import BeforeSend, Still
from edgeshift.stores.documents.areas.log_fields import JobBefore
from edgeshift.stores.log_entries import LogStore, LogStoreError

MOST_UPDATES = 5
"""How often one job is updated in one step, each time because somebody else wrote it meanwhile."""

OLD_AFTER = 5.0
"""Seconds after which what was read of a job is read again before it is sent back: it may have waited long
for its turn to call, and log jobs have no versions that would tell of what others wrote meanwhile.
"""

_LISTS = frozenset({"logpull_options", "output_options"})
_MOVING = frozenset({"last_complete", "last_error", "error_message"}) | _LISTS


class ReadTooLongAgo(NotSent):
    """Its turn came late: the job may be another one by now."""

    def __init__(self) -> None:
        super().__init__("what was read of a log job was too old when its turn to be sent came", turn=False)


class JobsWriter:
    """Has each pushing log job list what is needed, or takes that out again. ``seen``: the zone's log jobs,
    where they were read just now.
    """

    def __init__(
        self,
        step: FencedStep,
        trail: RollbackLog,
        written: Written,
        seen: Sequence[dict[str, Any]] | None = None,
    ) -> None:
        self._step, self._trail, self._written = step, trail, written
        self._seen = seen
        self._names: list[str] = step.body["jobs"]["list"]
        self._clock = step.fence.connections.clock

    async def list_fields(self, job: NewJobSpec | None, ways: Ways) -> ChangeResult:
        """The log fields into every job that pushes request logs; a new job where there is none, whose
        destination is of these ways. Raises NotSent.
        """
        there = await self._jobs()
        jobs = [one for one in there if log_fields.pushes(one.safe)]
        if not jobs and self._step.body["jobs"]["new"] and job is not None:
            return await self._new_job(job, self._destination(ways), there)
        if not jobs:
            raise NotSent("the zone has no log job that pushes request logs any more", ChangeStatus.DRIFTED)
        for one in jobs:
            result = await self._list(one)
            if result.status is not ChangeStatus.ANSWERED:
                return result
        return ANSWERED

    def _destination(self, ways: Ways) -> SecretStr:
        """The address of a new job's destination. Raises SecretRefError."""
        zone = self._step.zone
        text = ways.secret(LogFieldsSpec, "job.destination").get_secret_value()
        text = text.replace("{zone_id}", zone.id).replace("{zone}", zone.name)
        register_destination(text)
        return SecretStr(text)

    async def take_back(self, new: NewJobSpec | None) -> ChangeResult:
        """What was added to the jobs out again, and nothing else; a job that was created is turned off.
        ``new``: the one of the campaign's file, which an earlier step may have created though what was signed
        last has none created.
        """
        before = await self._trail.jobs()
        signed = log_fields.signed_job(self._step.body, self._step.zone)
        signed = signed or (log_fields.own_name(new, self._step.zone) if new else None)
        created = await self._trail.created_job(signed)
        for job in await self._jobs():
            result = ANSWERED
            if job.id in before:
                result = await self._update(job, lambda one: self._restored(one, before[one.id]))
            ours = created is not None and log_fields.is_created(job.safe, created)
            if result.status is ChangeStatus.ANSWERED and ours and job.enabled:
                result = await self._send(job, {"enabled": False}, f"-job-{job.id}-off")
            if result.status is not ChangeStatus.ANSWERED:
                return result
        return ANSWERED

    async def _jobs(self) -> list[LogJob]:
        """Every log job, read alike twice in a row: whoever has none gets one."""
        step, seen = self._step, self._seen
        self._seen = None

        async def read() -> list[LogJob]:
            return await step.client.log_jobs(step.zone.id, urgent=True)

        async def agreed() -> list[LogJob]:
            first = await read()
            if seen is not None and [lasting(job) for job in first] == [_lasting(job) for job in seen]:
                return first
            return await twice(
                "logpush.jobs.list", read, lambda jobs: [lasting(job) for job in jobs], first=first
            )

        return await in_time(step, agreed())

    async def _list(self, job: LogJob) -> ChangeResult:
        try:
            changes = self._updated(job) is not None
        except log_fields.OddOptions as odd:
            raise _too_odd(job, odd) from None
        if changes:
            await self._trail.changing_job(job)
        return await self._update(job, self._updated)

    def _updated(self, job: LogJob) -> dict[str, Any] | None:
        return log_fields.updated(job.safe, self._names, self._step.client.profile)

    def _restored(self, job: LogJob, before: JobBefore) -> dict[str, Any] | None:
        try:
            return log_fields.restored(job.safe, before.options, self._names, self._step.client.profile)
        except log_fields.OddOptions:
            # Somebody has rewritten the whole string since: nothing of ours is to be found in it.
            return None

    async def _update(self, job: LogJob, body_of: Callable[[LogJob], dict[str, Any] | None]) -> ChangeResult:
        """Read, write and read back, until the job is as it is to be and all else of it as it was."""
        lost: ChangeResult | None = None
        late: ReadTooLongAgo | None = None
        seen = job
        for number in range(1, MOST_UPDATES + 1):
            try:
                if number > 1:
                    seen = await in_time(self._step, self._job(job.id))
                # Its options are sent back as they are. That they were kept is looked at again by others.
                if number == 1 or lost is not None or not _needs_nothing(seen, body_of):
                    agreed = twice("logpush.jobs.get", partial(self._job, job.id), lasting, first=seen)
                    seen = await in_time(self._step, agreed)
                fresh, body = seen, body_of(seen)
            except NotFound:
                return ANSWERED
            except log_fields.OddOptions as odd:
                raise _too_odd(job, odd) from None
            if number > 1:
                self._note_changes(job, fresh)
            if body is None:
                if lost is not None:
                    # Its answer was lost, but it shows.
                    await self._step.fence.close()
                return ANSWERED
            if lost is not None:
                return lost
            late = None
            try:
                result = await self._send(
                    job, body, f"-job-{job.id}-{number}", made_of=self._clock.monotonic()
                )
            except ReadTooLongAgo as why:
                late = why
                continue
            if result.status is ChangeStatus.UNKNOWN:
                lost = result
            elif result.status is not ChangeStatus.ANSWERED:
                return result
        if late is not None:
            raise late
        return lost or ChangeResult(
            status=ChangeStatus.REFUSED,
            reason=f"log job {job.id} does not keep the fields that it is to list",
        )

    async def _job(self, identifier: int) -> LogJob:
        return await self._step.client.log_job(self._step.zone.id, identifier, urgent=True)

    def _note_changes(self, before: LogJob, after: LogJob) -> None:
        """What else of the job is another than it was, for the record; destinations are masked."""
        for key in sorted((before.safe.keys() | after.safe.keys()) - _MOVING):
            if before.safe.get(key) != after.safe.get(key):
                self._written.notes.append(f"log job {before.id}: {key} has changed meanwhile")

    async def _send(
        self, job: LogJob, body: dict[str, Any], what: str, made_of: float | None = None
    ) -> ChangeResult:
        """Update a job. ``made_of``: when that was read which the body was made of. Raises ReadTooLongAgo
        where that is long ago when its turn has come, or the next one, which a slow archive makes it wait
        for: then nothing comes of its intent.
        """
        step, intended = self._step, False

        def check_age() -> None:
            if made_of is not None and self._clock.monotonic() - made_of > OLD_AFTER:
                raise ReadTooLongAgo

        async def request(intend: BeforeSend) -> object:
            async def checked() -> Still:
                nonlocal intended
                check_age()
                still = await intend()
                intended = True

                def young_still() -> None:
                    check_age()
                    if still is not None:
                        still()

                return young_still

            return await step.client.update_log_job(step.zone.id, job.id, body, before_send=checked)

        try:
            result = await write(step, self._written, what, request)
        except ReadTooLongAgo as why:
            if intended:
                await step.fence.confirm(why.result)
            raise
        if result.status is ChangeStatus.ANSWERED and job.id not in self._written.jobs:
            self._written.jobs.append(job.id)
        return result

    # --- a new job

    async def _new_job(
        self, spec: NewJobSpec, destination: SecretStr, there: Sequence[LogJob]
    ) -> ChangeResult:
        """A new job, or the one of an earlier campaign turned on again, if it is as people have signed the
        new one. Raises NotSent.
        """
        step, zone = self._step, self._step.zone
        name = log_fields.own_name(spec, zone)
        same = [job for job in there if log_fields.is_created(job.safe, name)]
        elsewhere = [job for job in same if job.destination_conf != destination]
        if elsewhere:
            raise NotSent(
                f"log job {elsewhere[0].id} has the name {name} and pushes elsewhere: give log_fields.job"
                " another name",
                ChangeStatus.REFUSED,
            )
        for job in same:
            self._refuse_another(job, spec)
        await self._trail.creating_job(name)
        self._written.created_job = name
        for job in same:
            result = await self._list(job)
            if result.status is ChangeStatus.ANSWERED:
                result = await self._send(job, {"enabled": True}, f"-job-{job.id}-on")
            return result
        body: dict[str, Any] = {
            **log_fields.new_job(spec, self._names),
            "name": name,
            "destination_conf": destination,
        }
        del body["destination"]
        if needs_challenge(destination):
            challenge = await self._challenge(spec, destination)
            if isinstance(challenge, ChangeResult):
                return challenge
            body["ownership_challenge"] = challenge
        result = await write(
            step,
            self._written,
            "-job-new",
            lambda intend: step.client.create_log_job(zone.id, body, before_send=intend),
        )
        if result.status is ChangeStatus.UNKNOWN and any(
            log_fields.is_created(job.safe, name) for job in await self._jobs()
        ):
            await step.fence.close()
            return ANSWERED
        return result

    def _refuse_another(self, job: LogJob, spec: NewJobSpec) -> None:
        """Raises NotSent where a job, turned on again, would push something else than was signed."""
        try:
            said = log_fields.not_as_signed(job.safe, spec, self._names, self._step.client.profile)
        except log_fields.OddOptions as odd:
            raise _too_odd(job, odd) from None
        if said:
            raise NotSent(f"log job {job.id}: {said}"[:200], ChangeStatus.REFUSED)

    async def _challenge(self, spec: NewJobSpec, destination: SecretStr) -> SecretStr | ChangeResult:
        """The ownership challenge, read from where the service has put it, and proved. Raises NotSent."""
        step, zone = self._step, self._step.zone
        if spec.challenge is None:
            raise NotSent(
                "the destination wants an ownership challenge: say under log_fields.job.challenge where it"
                " can be read",
                ChangeStatus.REFUSED,
            )
        answers = []

        async def ask(intend: Any) -> None:
            answers.append(await step.client.ownership_challenge(zone.id, destination, before_send=intend))

        result = await write(step, self._written, "-challenge", ask)
        if result.status is not ChangeStatus.ANSWERED:
            return result
        answer = answers[0]
        if answer.valid is not True or not answer.filename:
            return ChangeResult(
                status=ChangeStatus.REFUSED,
                reason=f"the service could not put a challenge at the destination: {answer.message}"[:200],
            )
        try:
            LogStore(spec.challenge, zone)
        except LogStoreError as failure:
            return ChangeResult(status=ChangeStatus.REFUSED, reason=str(failure)[:200])
        try:
            challenge = SecretStr(await self._come(spec.challenge, answer.filename))
        except LogStoreError as failure:
            # That it has not come yet says nothing against the change: it is gone on with later.
            return ChangeResult(status=ChangeStatus.NOTHING_HAPPENED, reason=str(failure)[:200])
        register_secret(challenge.get_secret_value())
        if not await in_time(step, step.client.validate_ownership(zone.id, destination, challenge)):
            return ChangeResult(
                status=ChangeStatus.REFUSED, reason="the service does not take the ownership challenge"
            )
        return challenge

    async def _come(self, url: str, filename: str) -> str:
        """The challenge in its file, looked for while the step has time left to send the log job: the service
        puts it there, and nothing says how soon; and a bucket may not be readable for a moment
        (docs/service.md §4.2, observed). Raises LogStoreError as of the last look, NotSent.
        """
        poll = min(self._step.change.start.policy.poll, self._step.change.window / 10)
        while True:
            try:
                # Opened for each look: a folder that was not there yet stays empty for whoever has opened it.
                store = LogStore(url, self._step.zone)
                return await in_time(self._step, store.challenge(filename))
            except LogStoreError:
                if self._step.fence.time.left() < 2 * poll:
                    raise
            await self._step.fence.connections.clock.sleep(poll.total_seconds())


def _too_odd(job: LogJob, odd: log_fields.OddOptions) -> NotSent:
    return NotSent(f"log job {job.id}: {odd}"[:200], ChangeStatus.DRIFTED)


def _needs_nothing(job: LogJob, body_of: Callable[[LogJob], dict[str, Any] | None]) -> bool:
    try:
        return body_of(job) is None
    except log_fields.OddOptions:
        return False


def lasting(job: LogJob) -> object:
    """What of a job its pushing does not change."""
    return _lasting(job.safe)


def _lasting(job: Mapping[str, Any]) -> object:
    return {key: value for key, value in job.items() if key not in _MOVING - _LISTS}


def needs_challenge(destination: SecretStr) -> bool:
    """Whether the service asks for a challenge of such a destination (docs/service.md §4.2, observed)."""
    parts = urlsplit(destination.get_secret_value())
    endpoint = any(key == "endpoint" and value for key, value in parse_qsl(parts.query))
    return parts.scheme not in ("https", "http", "datadog", "splunk", "r2") and not endpoint
