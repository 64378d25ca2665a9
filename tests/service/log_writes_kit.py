"""An Enterprise zone of the simulator, and the writers of log-fields as one step of a campaign uses them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.testing import ActivityEnvironment

from activities.change.area_work import FencedStep
from activities.change.fence import Fence
from activities.change.not_sent import NotSent
from activities.log_fields.changes import LogFieldsWork
from activities.log_fields.jobs import JobsWriter
from activities.log_fields.rollback_log import RollbackLog
from activities.log_fields.rulesets import RulesetWriter, Written
from edgeshift.areas import log_fields
from edgeshift.areas.log_fields.rules import Rule
from edgeshift.areas.log_fields.terms import FieldSet, NewJobSpec
from edgeshift.messages import ChangeResult, Step
from edgeshift.model.fleet import Area
from edgeshift.rate_limit.pacing import Pacer
from edgeshift.runtime.clock import Clock
from edgeshift.service_api import ServiceClient
from tests.service.gate_kit import Gate, gate

WANTED = FieldSet(request_headers=("x-ours",))
FOREIGN = {"request_headers": ["x-team"], "description": "of another team"}
LATE: dict[str, Any] = {
    "action": "log_custom_field",
    "expression": "true",
    "description": "written meanwhile",
    "enabled": True,
    "action_parameters": {"request_fields": [{"name": "x-late"}]},
}

Made = Callable[[FencedStep, RollbackLog, Written], Awaitable[ChangeResult]]


@dataclass
class Writes:
    """The zone, and what one step after another writes to it."""

    play: Gate
    client: ServiceClient
    new: NewJobSpec | None = None
    written: list[Written] = field(default_factory=list)

    @property
    def zone_id(self) -> str:
        return self.play.zone.id

    async def step(
        self,
        make: Made,
        *,
        kind: Step = Step.COMMIT,
        window: timedelta = timedelta(minutes=30),
        **how: Any,
    ) -> ChangeResult:
        """One step under a permit of its own, as the door begins it. ``window``: for how long it may send.
        ``how``: its other times, as of a gate's message.
        """
        there, permit, new = self.play.connections, len(self.written) + 1, self.new
        names = log_fields.needed(WANTED)
        body = {
            "name": "log_fields",
            "fields": log_fields.fields_document(WANTED),
            "jobs": {"list": list(names), "new": log_fields.new_job(new, names) if new else None},
        }
        change = await self.play.message(body, body, step=kind, window=window, permit=permit, **how)
        self.written.append(Written())

        async def made() -> ChangeResult:
            fence = Fence(there, change, there.clock.monotonic())
            trail = RollbackLog(there, change.start, back=kind is Step.ROLL_BACK)
            if kind is Step.COMMIT:
                fence.trail = await trail.begin(change.permit.name)
            try:
                return await make(FencedStep(change, fence, body, self.client), trail, self.written[-1])
            except NotSent as why:
                return why.result

        environment = ActivityEnvironment()
        environment.info = dataclasses.replace(environment.info, started_time=datetime.now(UTC))
        return await environment.run(made)

    async def put_rules(self, **how: Any) -> ChangeResult:
        """Our fields into the rules."""

        def merged(rules: list[Rule], over: str) -> list[Rule]:
            return log_fields.merge(rules, WANTED, log_fields.marked("mine", over))

        async def make(step: FencedStep, trail: RollbackLog, written: Written) -> ChangeResult:
            return await RulesetWriter(step, trail, written, merged).put()

        return await self.step(make, **how)

    async def list_fields(self) -> ChangeResult:
        """Our log fields into the log jobs."""
        there = self.play.connections

        async def make(step: FencedStep, trail: RollbackLog, written: Written) -> ChangeResult:
            ways = there.ways(await there.spec(step.change.start.spec))
            return await JobsWriter(step, trail, written).list_fields(self.new, ways)

        return await self.step(make)

    async def take_back(self, job: NewJobSpec | None = None) -> ChangeResult:
        """Our log fields out of the log jobs again, and the one that we created turned off. ``job``: that of
        the campaign's file.
        """

        async def make(step: FencedStep, trail: RollbackLog, written: Written) -> ChangeResult:
            return await JobsWriter(step, trail, written).take_back(job)

        return await self.step(make, kind=Step.ROLL_BACK)

    async def whole(self, kind: Step, **how: Any) -> ChangeResult:
        """The whole step, as the door has it made: our fields into rules and log jobs, or out again. ``how``:
        its times.
        """

        async def make(step: FencedStep, trail: RollbackLog, written: Written) -> ChangeResult:
            return await LogFieldsWork(self.play.connections).send(step)

        return await self.step(make, kind=kind, **how)

    async def ruleset(self) -> dict[str, Any]:
        """The ruleset as the service has it."""
        found = await self.play.control.get(f"zones/{self.zone_id}")
        (one,) = [item for item in found["rulesets"] if item["phase"] == log_fields.PHASE]
        return dict(one)

    async def descriptions(self) -> list[str]:
        """Of its rules: each without what ours says in brackets."""
        return [rule["description"].partition(" (")[0] for rule in (await self.ruleset())["rules"]]

    async def stranger(self, when: str = "now", how: str = "append", *rules: Rule) -> None:
        """Somebody else writes the ruleset, now or around a call of ours."""
        body = {"how": how, "when": when, "rules": list(rules or (LATE,))}
        await self.play.control.send("POST", f"zones/{self.zone_id}/rulesets/{log_fields.PHASE}/write", body)

    async def fault(self, kind: str, call: str, **more: Any) -> None:
        """Something goes wrong with calls; ``nth``: from which on."""
        match = {"call": call, **({"nth": more.pop("nth")} if "nth" in more else {})}
        await self.play.control.send("POST", "faults", {"kind": kind, "match": match, **more})

    async def lags(self, ruleset: dict[str, Any], **more: Any) -> None:
        """Readings of the ruleset give it as it was."""
        answer = {"success": True, "errors": [], "messages": [], "result": ruleset}
        await self.fault("server_error", "rulesets.get", status=200, body=json.dumps(answer), **more)

    async def puts(self, call: str) -> int:
        """How many such writes the service has seen."""
        return sum(entry["call"] == call for entry in await self.play.control.journal())


@asynccontextmanager
async def log_writes(
    folder: Path,
    *jobs: dict[str, Any],
    new: NewJobSpec | None = None,
    pacer: Pacer | None = None,
    clock: Clock | None = None,
    bare: bool = False,
    simulator: dict[str, Any] | None = None,
) -> AsyncIterator[Writes]:
    """A zone with another team's rule and these log jobs. ``new``: what a zone without a job gets. ``pacer``,
    ``clock``: of the steps. ``bare``: it has no ruleset of log fields. ``simulator``: its options.
    """
    settings = {"logs": {"jobs": list(jobs), **({} if bare else {"fields": [FOREIGN]})}}
    fields = {"request_headers": ["x-ours"], **({"job": new.model_dump(mode="json")} if new else {})}
    terms: dict[str, Any] = {"area": "log-fields", "log_fields": fields, "commit": {"poll": "1s"}}
    how: dict[str, Any] = {"pacer": pacer, "clock": clock, "simulator": simulator}
    async with gate(folder, settings=settings, **how, **terms) as play:
        play.start = play.start.model_copy(update={"area": Area.LOG_FIELDS})
        yield Writes(play, await play.connections.service(play.start.spec, play.zone), new)
