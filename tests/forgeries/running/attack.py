"""A running campaign that an enemy attacks who can send Temporal anything and write into the archive: what he
sees and sends, and what came of it.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.service import RPCError

from edgeshift.authority.records import SignedRecords
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.statements import DecisionStatement, StartStatement, Statement, WaveSaid
from edgeshift.messages import Permit, Step, ZonePhase, ZoneStart, ZoneState
from edgeshift.model.digests import digest
from edgeshift.model.sign_off import Choice, Decision
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import Snapshot, get_document
from edgeshift.testbed.invariants.control import PAGE, Control
from edgeshift.testbed.invariants.requests import Request
from edgeshift.testbed.invariants.service import load_journal
from tests.forgeries.running.stranger import Stranger
from tests.kit import APPROVER, Looks
from tests.kit.faults import Stage
from tests.kit.signing import about, recorded

ENEMY = "mallory"
"""What the enemy's client calls itself, so that a history shows what came from there."""

BOTH = (APPROVER, "bob")
"""Who has to approve."""

REVOKED_KEY = 3
"""The number of a key that was taken from the first of them."""

WITHIN = 60.0
"""Seconds in which a zone comes to rest, on a busy machine."""

WORKFLOWS = {"waf": "WafZone", "esc": "EscScope", "log-fields": "LogFieldsZone"}
"""What the workflow of an area's zones is called."""

AT_REST = frozenset({ZonePhase.AWAITING_SIGN_OFF, ZonePhase.CLOSED})

Trace = WorkflowHandle[Any, Any] | str
"""Where an attack is on record: the history of a run, or ``archive``; or ``refused``, where whoever sent it
was told so and nothing else came of it.
"""

_FORWARD: dict[str, Callable[[Request], bool]] = {
    "waf": lambda request: request.commits or request.validates,
    "esc": lambda request: request.turns_off,
    "log-fields": lambda request: request.mutates and request.area == "log-fields",
}


_STARTS: WeakKeyDictionary[Stage, dict[str, ZoneStart]] = WeakKeyDictionary()
"""What zones were last seen to be started with."""


@dataclass
class Attack:
    """An attack on one zone of a running campaign. ``enemy``: a client of his own. ``stranger``: a key that
    nobody knows. ``theirs``: runs of workflows that the enemy has started beside the campaign's. ``own``: the
    queue on which his own worker does his workflows. ``server``: his server, which listens. ``damaged``:
    statements that he has damaged or planted, under what the zone proposes. ``touched``: targets that his
    messages name. ``permits``: names of those that he has made up.
    """

    stage: Stage
    enemy: Client
    short: str
    stranger: FileSigner
    state: ZoneState
    theirs: set[str]
    own: str = ""
    server: Stranger = field(default_factory=Stranger)
    damaged: list[str] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    permits: set[str] = field(default_factory=set)

    @property
    def archive(self) -> Archive:
        """The worker's archive."""
        return self.stage.play.archive

    @property
    def folder(self) -> Path:
        """Where the archive's files lie."""
        return self.stage.play.folder / "state" / "archive"

    @property
    def name(self) -> str:
        """The campaign's name."""
        return self.stage.play.spec.name

    @property
    def enemys_name(self) -> str:
        """What the enemy calls a campaign of his own, much like the real one."""
        return f"{self.name}-{ENEMY}"

    @property
    def index(self) -> int:
        """The zone's place in the list."""
        return self.stage.play.index(self.stage.name(self.short))

    @property
    def zone(self) -> WorkflowHandle[Any, Any]:
        """The zone's workflow, by the enemy's client."""
        return self.enemy.get_workflow_handle(self.stage.play.zone(self.stage.name(self.short)).id)

    @property
    def campaign(self) -> WorkflowHandle[Any, Any]:
        """The campaign's workflow, by the enemy's client."""
        return self.enemy.get_workflow_handle(self.stage.play.campaign.id)

    async def configuration(self) -> str:
        """The digest of the zone's configuration as it was read, which a change of waf has to name: whoever
        can read the archive can work it out. Empty where there is none.
        """
        try:
            kept = await get_document(self.archive, Snapshot[dict[str, Any]], self.state.snapshot)
        except ArchiveError:
            return ""
        return digest(config) if (config := kept.reading.get("config")) else ""

    async def run(self) -> str:
        """The campaign's first run, by which its words are known."""
        return (await self.stage.play.campaign.describe()).run_id or ""

    async def started_with(self) -> ZoneStart:
        """What the zone's workflow was started with: anybody can read it there. What is somebody else's under
        its id is passed over.
        """
        known = _STARTS.setdefault(self.stage, {})
        if (found := await self._start_of(self.zone)) is not None:
            known[self.short] = found
        if self.short not in known:
            workflow = WORKFLOWS[self.stage.play.spec.area.value]
            asked = f"WorkflowId = '{self.zone.id}' AND WorkflowType = '{workflow}'"
            async for run in self.enemy.list_workflows(asked):
                before = self.enemy.get_workflow_handle(run.id, run_id=run.run_id)
                if (found := await self._start_of(before)) is not None:
                    known[self.short] = found
        return known[self.short]

    async def _start_of(self, handle: WorkflowHandle[Any, Any]) -> ZoneStart | None:
        """What this run was started with, if it is a zone's."""
        async for event in handle.fetch_history_events(page_size=1):
            begun = event.workflow_execution_started_event_attributes
            if begun.workflow_type.name not in WORKFLOWS.values():
                return None
            (start,) = await self.enemy.data_converter.decode(begun.input.payloads[:1], [ZoneStart])
            return ZoneStart.model_validate(start)
        return None

    # --- what is signed

    async def genuine(self, by: str = APPROVER) -> str:
        """What one of the two approvers has really signed of this zone, and told nobody."""
        return await self.sign(await self.decision(by))

    async def sign(self, statement: Statement, signer: FileSigner | None = None) -> str:
        """Record a statement, signed by its author or with another key; its digest."""
        return await recorded(self.archive, statement, signer)

    def _about(self, by: str) -> dict[str, Any]:
        spec = self.stage.play.spec
        return about(spec.service.base_url, self.name, spec.area, by)

    async def decision(self, by: str, **more: Any) -> DecisionStatement:
        """An approval of exactly what the zone proposes."""
        said = {
            **self._about(by),
            "start": (await self.starts())[0],
            "step": self.state.step or Step.COMMIT,
            "choice": Choice.APPROVE,
            "about": "proposal",
            "subjects": (self.state.digest,),
            "zone": self.state.zone.id,
            "attempt": self.state.attempt,
            "evidence": self.state.evidence,
        }
        return DecisionStatement(**{**said, **more})

    async def starts(self) -> list[str]:
        """Digests of the campaign's signed starts, the latest first."""
        return [said.digest for said in await SignedRecords(self.archive).starts(self.name)]

    async def earlier_start(self) -> str:
        """A genuine start from before the campaign was started anew."""
        start = self.stage.play.start
        assert start is not None
        waves = tuple(WaveSaid(name=one.name, first=one.first, end=one.end) for one in start.waves)
        before = datetime.now(UTC) - timedelta(hours=1)
        said = {**self._about("olga"), "issued": before, "spec": start.spec, "targets": start.targets}
        return await self.sign(StartStatement(**said, count=start.count, waves=waves))

    async def plant(self, data: bytes, digest: str) -> None:
        """Lay bytes where a statement with this digest would lie, and be found by what the zone proposes."""
        await self.archive.create_once(f"signed/{self.name}/statement/{digest}", data)
        await self.archive.create_once(f"signed/{self.name}/decision/{self.state.digest}/{digest}", b"{}")
        self.damaged.append(digest)

    def put_right(self) -> None:
        """Whoever looks after the archive removes what workers have named: it would hold the zone up."""
        while self.damaged:
            place = self.folder / "signed" / self.name / "decision" / self.state.digest
            (place / self.damaged.pop()).unlink()

    # --- what is said

    def word(self, by: str, choice: Choice = Choice.APPROVE, digest: str = "") -> Decision:
        """A decision in somebody's name, as anybody may send it."""
        said = digest or self.state.digest
        return Decision(choice=choice, digest=said, by=by, reason=ENEMY, at=datetime.now(UTC))

    async def claim(self, *names: str) -> Trace:
        """Tell the zone that these people, or all that it takes, approve what it proposes."""
        for name in names or BOTH:
            await self.zone.signal("sign_off", self.word(name))
        return await self.this_run()

    async def this_run(self) -> Trace:
        """The zone's run as it is now, whose history stays."""
        described = await self.zone.describe()
        return self.enemy.get_workflow_handle(self.zone.id, run_id=described.run_id)

    async def say(self, name: str, message: object) -> Trace:
        """Send the zone's run a signal; one that has ended takes none."""
        trace = await self.this_run()
        assert not isinstance(trace, str)
        try:
            await trace.signal(name, message)
        except RPCError:
            return "refused"
        return trace

    async def ask(self, handle: WorkflowHandle[Any, Any], name: str, message: object) -> Trace:
        """Send an update; the server keeps none that is refused."""
        try:
            await handle.execute_update(name, message, rpc_timeout=timedelta(seconds=30))
        except (WorkflowUpdateFailedError, RPCError):
            return "refused"
        return handle

    def permit(self, step: Step = Step.COMMIT) -> Permit:
        """A permit that no campaign has given."""
        number = 10**9 + self.state.attempt
        until = datetime.now(UTC) + timedelta(minutes=5)
        name = f"{ENEMY}-{self.state.zone.id[:8]}-{uuid.uuid4().hex[:8]}"
        self.permits.add(name)
        return Permit(number=number, name=name, index=self.index, step=step, expires_at=until)

    # --- what came of it

    async def rests(self) -> None:
        """Until the zone waits for people, or has come to an end, and stays there: also an end from outside,
        of a run that says nothing of itself.
        """
        looks, limit, before = Looks(0.2), asyncio.get_running_loop().time() + WITHIN, None
        while asyncio.get_running_loop().time() < limit:
            seen: tuple[str, ZoneState | None] | None = None
            with suppress(RPCError):
                seen = await self._seen()
            if seen is not None and seen == before:
                return
            before = seen
            await looks.pause()
        raise AssertionError(f"{self.short} does not come to rest: {before}")

    async def _seen(self) -> tuple[str, ZoneState | None] | None:
        """The run under the zone's id and its state, if it is at rest."""
        described = await self.zone.describe()
        is_over = described.status is not WorkflowExecutionStatus.RUNNING
        found = None
        with suppress(RPCError, WorkflowQueryFailedError):
            found = await self.stage.play.state(self.stage.name(self.short))
        at_rest = is_over or (found is not None and found.phase in AT_REST)
        return (described.run_id, found) if at_rest else None


class Journal:
    """What the service saw of a scene, read on from where the last look has come to."""

    def __init__(self) -> None:
        self._entries: list[Request] = []
        self._reading = asyncio.Lock()

    async def all(self, stage: Stage) -> list[Request]:
        """Every request until now."""
        async with self._reading:
            after = self._entries[-1].seq if self._entries else 0
            self._entries += await load_journal(_Since(stage.play.control, after), stage.play.strangers)
        return self._entries


class _Since(Control):
    """The journal from some entry on."""

    def __init__(self, control: Control, after: int) -> None:
        super().__init__(control.url)
        self._after = after

    async def journal(self) -> list[dict[str, Any]]:
        """Every request after that one, oldest first."""
        found: list[dict[str, Any]] = []
        after: int | None = self._after
        while after is not None:
            page = await self.get("journal", after=after, limit=PAGE)
            found += page["entries"]
            after = page["next"]
        return found


_JOURNALS: WeakKeyDictionary[Stage, Journal] = WeakKeyDictionary()


async def requests(stage: Stage) -> list[Request]:
    """Every request that the service saw."""
    return await _JOURNALS.setdefault(stage, Journal()).all(stage)


async def sent(stage: Stage) -> list[Request]:
    """The steps forward that the service was sent, of all zones. None of waf's is to be validated."""
    forward = _FORWARD[stage.play.spec.area.value]
    return [request for request in await requests(stage) if forward(request)]


async def on_record(trace: Trace) -> str:
    """Where an attack left its trace: ``history``, ``archive``, ``refused``; or empty."""
    if isinstance(trace, str):
        return trace
    with suppress(RPCError):
        async for event in trace.fetch_history_events():
            if ENEMY.encode() in event.SerializeToString():
                return "history"
    return ""
