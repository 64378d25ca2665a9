"""Scenes in which things go wrong: each on a task queue of its own, so that many are played at a time."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowQueryFailedError,
)
from temporalio.service import RPCError

from edgeshift.messages import (
    Again,
    Answer,
    CampaignResult,
    PlacesAsked,
    TargetsAt,
    ZonePhase,
    ZoneState,
)
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.reasons import ReasonCode
from edgeshift.operations.again import begin_again
from edgeshift.operations.errors import OperationError
from edgeshift.testbed.invariants.seen import Word
from tests.kit import OPERATOR, Scene, eventually, fleet_of, scene
from tests.kit.queue import on_queue
from tests.kit.signing import Roster

ASIDE = frozenset({3, 4, 7})
"""Rules that a scene without Enterprise zones, support cases and stops has no case of."""

QUICK: dict[str, Any] = {
    "validation": {"window": "2h"},
    "commit": {
        "resend_unchanged": 1,
        "migration_limit": "3s",
        "turn_window": "2s",
        "send_window": "3s",
        "margin": "1s",
        "lease": "30s",
    },
    "silence": "3s",
}
"""A campaign that notices lost work within seconds. Durations below their scaled floor stay as they are."""


LOOKS_AT_HELD_EVERY = 5.0
"""Seconds after which people look again why a zone is on hold."""

MOST_REOPENED = 3
"""How often people begin a zone again that the door has refused."""


def zone(name: str, plan: str = "pro", **more: Any) -> dict[str, Any]:
    """A zone of a fleet; ``name`` gets an ending that no other scene has when it is staged."""
    return {"name": name, "plan": plan, **more}


@asynccontextmanager
async def staged(
    client: Client,
    folder: Path,
    *zones: dict[str, Any],
    begin: bool = True,
    request_limit: str | None = None,
    patience: str | None = None,
    simulator: dict[str, Any] | None = None,
    serve: bool = True,
    authority: Roster | None = None,
    account: dict[str, Any] | None = None,
    **spec: Any,
) -> AsyncIterator[Stage]:
    """A scene on a task queue of its own, whose zones' and account's names no other scene has.

    ``authority``: whose keys count, by the roots of its workers; the campaign asks for as much as they do.
    ``account``: what its account has. ``spec``: over QUICK. ``commit`` and ``validation`` are merged with it.
    ``{zone}`` anywhere in a zone becomes its whole name.
    """
    tag = uuid.uuid4().hex[:8]
    named = [_named(item, f"{item['name']}.{tag}.example") for item in zones]
    chosen = {**QUICK, **spec}
    for part in ("commit", "validation"):
        chosen[part] = {**QUICK[part], **spec.get(part, {})}
    if authority is not None:
        chosen["sign_off"] = {**authority.policy, **spec.get("sign_off", {})}
    if chosen.get("area", "waf") != "waf" and "validation" not in spec:
        # Only the area waf validates.
        del chosen["validation"]
    own = on_queue(client, f"faults-{tag}")
    async with scene(
        own,
        folder,
        fleet_of(*named, accounts=[{"name": f"account {tag}", **(account or {})}]),
        begin=False,
        serve=serve,
        simulator=simulator,
        authority=authority,
        **chosen,
    ) as play:
        service = play.spec.service.model_dump()
        service |= {"request_limit": request_limit or "5s"}
        service |= {"patience": patience} if patience else {}
        play.spec = type(play.spec).model_validate({**play.spec.model_dump(), "service": service})
        stage = Stage(play, tag)
        if serve and begin:
            await play.begin()
        yield stage


def _named(item: dict[str, Any], name: str) -> dict[str, Any]:
    filled: dict[str, Any] = json.loads(json.dumps(item).replace("{zone}", name))
    return {**filled, "name": name}


class Stage:
    """A scene with short names for its zones, and with what people do while things go wrong."""

    def __init__(self, play: Scene, tag: str) -> None:
        self.play = play
        self.tag = tag
        self._booked: set[str] = set()
        self._signed: set[tuple[str, str]] = set()
        self._reopened: Counter[str] = Counter()
        self._left_until: dict[str, float] = {}
        self.anew = 0
        """How often a campaign has forgotten what was signed."""

    def name(self, short: str) -> str:
        """A zone's whole name; the account's is its own."""
        return short if short == self.account else f"{short}.{self.tag}.example"

    @property
    def account(self) -> str:
        """The name of the account of all zones."""
        return self.play.fleet.accounts[0].name

    @property
    def names(self) -> list[str]:
        """The short names of all zones."""
        return [item.name.removesuffix(f".{self.tag}.example") for item in self.play.fleet.zones]

    def id(self, short: str) -> str:
        """A zone's identifier."""
        return self.play.zone_id(self.name(short))

    async def fault(self, kind: str, call: str, short: str = "", times: int | None = 1, **more: Any) -> None:
        """Let a call go wrong, once, for one zone where it is named."""
        match = {"call": call, **({"zone": self.id(short)} if short else {})}
        body = {"kind": kind, "match": match, **more} | ({"times": times} if times else {})
        await self.play.control.send("POST", "faults", body)

    async def unfired(self) -> list[dict[str, Any]]:
        """Faults that were never met."""
        return [
            item for item in (await self.play.control.get("faults"))["faults"] if not item.get("fired", 0)
        ]

    async def change(self, short: str, **patch: Any) -> None:
        """Change a zone at the service, past its own rules."""
        await self.play.control.send("PATCH", f"zones/{self.id(short)}", patch)

    async def phase(self, short: str, *phases: ZonePhase, within: float = 60) -> ZoneState:
        """The zone's state once it is in one of these phases."""
        return await self.play.zone_until(self.name(short), lambda found: found.phase in phases, within)

    async def waits(self, short: str, within: float = 60) -> ZoneState:
        """The zone's state once it waits for a sign-off."""
        return await self.phase(short, ZonePhase.AWAITING_SIGN_OFF, within=within)

    async def cut_off(self, short: str, phase: ZonePhase) -> None:
        """Sign the zone off, terminate its workflow in this phase, and wait until its campaign has found that
        nobody knows what came of it. Another zone is to keep the campaign open.
        """
        for name in self.names:
            await self.waits(name)
        await self.play.sign_zone(self.name(short))
        await self.phase(short, phase)
        await self.play.zone(self.name(short)).terminate("by hand")
        await self.play.until(lambda seen: seen.places.get("unknown") == 1, 60)

    async def outcome(self, short: str, within: float = 60) -> ZoneOutcome:
        """The zone's outcome."""
        return await asyncio.wait_for(self.play.outcome(self.name(short)), within)

    async def changes(self, short: str = "") -> list[tuple[str, str]]:
        """What was sent to change a zone: call and step, in order, whatever came of it."""
        found = await self.play.journal(zone=self.name(short) if short else "")
        return [
            (entry["call"], _step(entry))
            for entry in found
            if entry["method"] in ("PUT", "POST", "DELETE", "PATCH") and entry["call"] != "graphql"
        ]

    async def finish(self, within: float = 90) -> CampaignResult:
        """Sign whatever comes to wait until the campaign closes, also while nobody answers; its end, once
        every zone's workflow has closed too.
        """

        async def sign() -> None:
            while True:
                try:
                    if not await self._sign_once():
                        return
                except (RPCError, WorkflowQueryFailedError):
                    pass
                await asyncio.sleep(0.3)

        try:
            await asyncio.wait_for(sign(), within)
        except TimeoutError:
            summary = await self.play.summary()
            raise AssertionError(
                f"still open after {within:g} s: {summary.places}, {summary.notes}"
            ) from None
        result = await self.play.result()
        await self.closed()
        return result

    def forget_signed(self) -> None:
        """A campaign that is started anew knows nothing of what was signed: it is signed again."""
        self._booked.clear()
        self._signed.clear()
        self.anew += 1

    async def _sign_once(self) -> bool:
        """Approve each fingerprint and each single zone that waits; whether the campaign is still open."""
        if await self.play.is_closed():
            return await self.reopen_refused()
        summary = await self.play.summary()
        if summary.places.get("on_hold") and await self.reopen_refused():
            return True
        waiting = [item for item in summary.waiting if item.zones > item.separate]
        if fresh := [item.fingerprint for item in waiting if item.fingerprint not in self._booked]:
            await self.play.sign(fresh)
            self._booked.update(fresh)
        for target in self.play.targets if any(item.separate for item in summary.waiting) else ():
            state = await self.play.state(target.zone.name)
            if (
                state.phase is ZonePhase.AWAITING_SIGN_OFF
                and (state.zone.id, state.digest) not in self._signed
            ):
                await self.play.sign_zone(target.zone.name, digest=state.digest)
                self._signed.add((state.zone.id, state.digest))
        return summary.state != "closed"

    async def reopen_refused(self) -> bool:
        """Begin those zones again that the door has refused since too few signatures counted, so that people
        sign them; whether there were any. What somebody has rejected or aborted stays so.
        """
        play = self.play
        if play.keys is None or any(stop.kind == "abort" for stop in play.stops):
            return False
        asked = PlacesAsked(places=("on_hold",))
        held = TargetsAt.model_validate(await play.campaign.query("targets_at", asked, result_type=TargetsAt))
        indexes = [found.index for found in held.targets if await self._was_refused(found.index)]
        if not indexes:
            return False
        zones = [play.targets[index].zone.id for index in indexes]
        self._reopened.update(zones)
        play.words += [Word(by=OPERATOR, at=play.now(), zone=one, reopens=True) for one in zones]
        # Nobody may answer now: they look again.
        with suppress(OperationError):
            await begin_again(
                play.client,
                play.spec.name,
                "reopen",
                by=OPERATOR,
                reason="to be signed",
                indexes=indexes,
                places=["on_hold"],
                pen=play.pen(OPERATOR),
                zones=zones,
            )
        # Another attempt is signed anew.
        self.forget_signed()
        return True

    async def _was_refused(self, index: int) -> bool:
        zone = self.play.targets[index].zone
        now = asyncio.get_running_loop().time()
        if self._reopened[zone.id] >= MOST_REOPENED or now < self._left_until.get(zone.id, 0):
            return False
        said = [why.said for why in (await self.play.state(zone.name)).why if _is_refusal(why)]
        if said and not any(word in said[0] for word in ("rejected", "aborted")):
            return True
        # Many may be on hold for other reasons, such as that nobody signed in time: not all at each look.
        self._left_until[zone.id] = now + LOOKS_AT_HELD_EVERY
        return False

    async def closed(self, within: float = 60) -> None:
        """Return once no zone's workflow is open, nor said to be by the server's list."""
        try:
            await eventually(self._all_closed, within, "every workflow of the scene closes")
        except AssertionError as why:
            raise AssertionError(f"{why}; open: {', '.join(await self._open())}") from None

    async def _all_closed(self) -> bool:
        handles = [self.play.zone(target.zone.name) for target in self.play.targets]
        return not await self._open() and not any([await _running(handle) for handle in handles])

    async def _open(self) -> list[str]:
        """Workflows of the scene that the server lists as open; a user's quota stays so."""
        listed = self.play.client.list_workflows("ExecutionStatus = 'Running' AND WorkflowType != 'Quota'")
        return [execution.id async for execution in listed]

    async def check(self, absent: Iterable[int] = ASIDE) -> None:
        """The checkers judge every rule but those that the scene has no case of."""
        await self.play.check_rules(absent=absent)


def _is_refusal(why: Any) -> bool:
    """Whether a reason says that the door did not find what it needs signed."""
    return why.code in (ReasonCode.NOT_SIGNED, ReasonCode.SIGN_OFF_NOT_COUNTED)


def _step(entry: dict[str, Any]) -> str:
    """Which of the things that one path does was asked for."""
    if (asked := (entry.get("esc") or {}).get("asked")) is not None:
        return "+".join(asked)
    return str(entry["query"]).split("&")[0].removeprefix("waf_migration=")


async def _running(handle: WorkflowHandle[Any, Any]) -> bool:
    try:
        return (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
    except RPCError:
        return False


def seconds(value: float) -> timedelta:
    """So many seconds."""
    return timedelta(seconds=value)


async def again(stage: Stage, update: str, *shorts: str) -> None:
    """Retry or reopen zones, and keep a record of the person's word."""
    play = stage.play
    indexes = tuple(play.index(stage.name(short)) for short in shorts)
    reopens = update == "reopen"
    play.words += [
        Word(by=OPERATOR, at=play.now(), zone=stage.id(short), reopens=reopens) for short in shorts
    ]
    await play.campaign.execute_update(
        update, Again(by=OPERATOR, reason="again", indexes=indexes), result_type=Answer
    )
