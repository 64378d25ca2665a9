"""What the checks at the door cost: CPU of the worker's process for each change, from roots and archive alone
(docs/authority.md, "What is checked just before a change is sent").
"""

from __future__ import annotations

import os
import secrets
import statistics
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from ruamel.yaml import YAML
from temporalio.client import Client

from activities.change.beside import others_of
from activities.change.earlier import earlier_of
from activities.change.intents import request_answered
from activities.connections import Connections
from activities.proof.authority import Authority
from activities.snapshots import is_taken
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.authority.keyring import WORKER, Keyring
from edgeshift.authority.loading import RootsFiles
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import (
    AgainStatement,
    DecisionStatement,
    StartStatement,
    Statement,
    WaveSaid,
    WordStatement,
)
from edgeshift.authority.worker_pen import WorkerPen
from edgeshift.campaign.start import zone_policy
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Change, Permit, Step, ZoneStart
from edgeshift.model.digests import sha256
from edgeshift.model.fleet import Plan, Target, Zone, campaign_id
from edgeshift.model.sign_off import Choice
from edgeshift.runtime.clock import SystemClock
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import (
    EvidenceGathered,
    FrozenTargets,
    Intent,
    SnapshotTaken,
    TargetsListed,
    gathered_key,
    intent_key,
    listed_key,
    put_document,
    snapshot_key,
)

GOAL_MS = 10.0
"""Milliseconds of CPU that the checks of one change may take."""

CHANGES = 200
"""Changes of each scene that are checked, each of another zone; the first one by itself."""

FIGURES = (
    "first_cpu_ms",
    "cpu_ms",
    "cpu_ms_95",
    "clock_ms",
    "again_cpu_ms",
    "again_cpu_ms_95",
    "records_cpu_ms",
    "records_cpu_ms_95",
)

PASSED: dict[str, Any] = {
    "events": 40,
    "compared": 40,
    "requests": 40,
    "agreed": 40,
    "false_positives": 0,
    "gaps": 0,
}
"""What a window saw in which both WAFs agreed."""

BASE_URL = "http://127.0.0.1:1/client/v4"
PEOPLE = {"olga": ("starter", "operator"), "ada": ("approver",), "grace": ("approver",)}


@dataclass(frozen=True)
class Signed:
    """A campaign: how many targets it has, how many fingerprints each of two people approved in one
    statement, how many words stopped it or let it go on, how many times zones were begun again, how many
    commits an hour the roots let through, of which half are made; and whether each zone was validated, and
    joins its fingerprint by evidence of its own.
    """

    targets: int
    fingerprints: int
    words: int
    agains: int
    an_hour: int | None = None
    evidence: bool = False


SCENES: dict[str, Signed] = {
    "1,000 targets, 40 fingerprints": Signed(1_000, 40, 2, 10),
    "the same, 1,000 commits an hour": Signed(1_000, 40, 2, 10, 1_000),
    "the same, of Enterprise zones with evidence": Signed(1_000, 40, 2, 10, evidence=True),
    "100,000 targets, 2,000 fingerprints": Signed(100_000, 2_000, 20, 100),
    "the same, begun again 1,000 times": Signed(100_000, 2_000, 100, 1_000),
}


def _zone(index: int, plan: Plan) -> Zone:
    return Zone(id=f"{index:032x}", name=f"z{index}.example", account="a" * 32, plan=plan)


class Scene:
    """A worker's authority, and what people have signed in its archive."""

    def __init__(self, folder: Path, scene: Signed) -> None:
        self.signed = scene
        self.keyring = Keyring(folder / "authority")
        self.keyring.make()
        for name, roles in PEOPLE.items():
            self.keyring.signer(name, roles)
        if scene.an_hour is not None:
            yaml = YAML(typ="safe", pure=True)
            found = yaml.load(self.keyring.roots)
            with self.keyring.roots.open("w") as file:
                yaml.dump({**found, "most_commits_an_hour": scene.an_hour}, file)
        self.archive = Archive(folder / "archive")
        self.shapes = [sha256(f"shape {number}".encode()) for number in range(scene.fingerprints)]
        plan = Plan.ENTERPRISE if scene.evidence else Plan.PRO
        self.targets = [Target(zone=_zone(index, plan), wave=0) for index in range(scene.targets)]
        self.shown: dict[int, str] = {}
        self.spec = CampaignSpec.model_validate(
            {
                "name": "measured",
                "targets": {"all": True},
                "service": {"base_url": BASE_URL, "credentials": [{"token": "env:T"}]},
                "sign_off": {"required": 2},
            }
        )

    async def signs(self) -> None:
        """Have everybody sign, and half of the hour's commits made."""
        self.digest = await put_document(self.archive, self.spec)
        self.listed = await put_document(self.archive, FrozenTargets(tuple(self.targets)))
        waves = (WaveSaid(name="all", first=0, end=len(self.targets)),)
        of: dict[str, Any] = {
            "spec": self.digest,
            "targets": self.listed,
            "count": len(self.targets),
            "listed": True,
        }
        start = await self._put(StartStatement(**self._about("olga"), **of, waves=waves))
        for by in ("ada", "grace"):
            await self._put(
                DecisionStatement(
                    **self._about(by),
                    start=start,
                    step=Step.COMMIT,
                    choice=Choice.APPROVE,
                    about="fingerprint",
                    subjects=tuple(self.shapes),
                )
            )
        for number in range(self.signed.words):
            word = "pause" if number % 2 == 0 else "resume"
            said = WordStatement(**self._about("olga"), start=start, word=word, number=number + 1)  # type: ignore[arg-type]
            await self._put(said)
        for number in range(self.signed.agains):
            zone = self.targets[-1 - number % len(self.targets)].zone.id
            await self._put(AgainStatement(**self._about("olga"), start=start, verb="retry", zones=(zone,)))
        for place in range((self.signed.an_hour or 0) // 2):
            await self.archive.create_once(f"commits/{datetime.now(UTC):%Y%m%dT%H}/{place}", b"before")

    async def _put(self, statement: Statement) -> str:
        signer = self.keyring.signer(statement.by, PEOPLE[statement.by])
        return await SignedRecords(self.archive).put(statement, await signer.sign(statement.bytes))

    def _about(self, by: str) -> dict[str, Any]:
        now = datetime.now(UTC).replace(microsecond=0)
        return {
            "service": BASE_URL,
            "campaign": "measured",
            "area": self.spec.area,
            "by": by,
            "issued": now,
            "expires": now + timedelta(days=1),
            "nonce": secrets.token_hex(16),
        }

    async def gathers(self, there: Connections) -> None:
        """Have a worker record its list of the targets, take the snapshot of each zone that is measured, and
        where the scene asks for it validate it and gather its evidence.
        """
        now = datetime.now(UTC)
        of_list = TargetsListed(at=now, count=len(self.targets))
        await there.records.create(listed_key(self.digest, self.targets), of_list)
        for index in range(CHANGES):
            zone, digest = self.targets[index].zone, sha256(f"body {index}".encode())
            key = snapshot_key(zone, self.spec.area, digest)
            await there.records.create(key, SnapshotTaken(taken_at=now))
        for index in range(CHANGES if self.signed.evidence else 0):
            zone = self.targets[index].zone
            seen: dict[str, Any] = {
                "zone": zone.id,
                "proposal": sha256(f"body {index}".encode()),
                "since": now - timedelta(days=8),
                "until": now - timedelta(minutes=1),
            }
            found = Evidence(mode="shadow", verdict=EvidenceVerdict.PASS, why="", **PASSED, **seen)
            self.shown[index] = await put_document(self.archive, found)
            said = EvidenceGathered(run="r", spec=self.digest)
            await there.records.create(gathered_key(zone, self.shown[index]), said)
            intent = Intent(step="validate", at=now - timedelta(days=9), campaign="campaign/measured")
            intent = intent.model_copy(update={"run": "r", "attempt": 1})
            await there.records.create(intent_key(zone, self.spec.area, "v"), intent)

    async def begins_again(self) -> None:
        """Have an operator sign that every zone begins again."""
        start = (await SignedRecords(self.archive).starts("measured"))[0].digest
        await self._put(AgainStatement(**self._about("olga"), start=start, verb="retry"))

    def change(self, index: int, attempt: int = 1) -> Change:
        """The commit of a target, as a workflow would ask for it."""
        target, digest = self.targets[index], sha256(f"body {index}".encode())
        start = ZoneStart(
            campaign=campaign_id("measured"),
            campaign_run="r",
            index=index,
            attempt=attempt,
            target=target,
            area=self.spec.area,
            spec=self.digest,
            policy=zone_policy(self.spec),
            started_by="olga",
        )
        name, until = f"p-{index}-{attempt}", datetime.now(UTC) + timedelta(hours=1)
        return Change(
            start=start,
            step=Step.COMMIT,
            permit=Permit(number=attempt, name=name, index=index, step=Step.COMMIT, expires_at=until),
            snapshot=digest,
            proposal=digest,
            digest=digest,
            fingerprint=self.shapes[index % len(self.shapes)],
            evidence=self.shown.get(index, ""),
        )


async def measure(console: Console, client: Client, folder: Path) -> dict[str, Any]:
    """Check changes of each scene; milliseconds of CPU of this process, and by the clock."""
    found: dict[str, Any] = {"load": os.getloadavg()[0], "goal": GOAL_MS, "changes": CHANGES, "scenes": {}}
    for number, (name, signed) in enumerate(SCENES.items()):
        scene = Scene(folder / str(number), signed)
        await scene.signs()
        there = Connections(
            client,
            scene.archive,
            SystemClock(),
            _calls_nothing,
            str(folder / "tickets"),
            roots=RootsFiles(scene.keyring.roots),
            pen=WorkerPen(FileSigner(PrivateKey(scene.keyring.worker().read_bytes())), WORKER),
        )
        await scene.gathers(there)
        found["scenes"][name] = asdict(signed) | await _checked(scene, there)
    return found


def _calls_nothing(*_: object) -> Any:
    raise AssertionError("the checks call the service")


async def _checked(scene: Scene, there: Connections) -> dict[str, Any]:
    first = await _check(there.authority, there, scene.change(0))
    rest = [await _check(there.authority, there, scene.change(index)) for index in range(1, CHANGES)]
    cpu, clock = sorted(cpu for cpu, _ in rest), [clock for _, clock in rest]
    records = sorted([await _recorded(there, scene.change(index)) for index in range(CHANGES)])
    await scene.begins_again()
    again = [await _check(there.authority, there, scene.change(index, 2)) for index in range(1, CHANGES)]
    again_cpu = sorted(cpu for cpu, _ in again)
    return {
        "first_cpu_ms": first[0],
        "cpu_ms": statistics.median(cpu),
        "cpu_ms_95": cpu[len(cpu) * 95 // 100],
        "clock_ms": statistics.median(clock),
        "again_cpu_ms": statistics.median(again_cpu),
        "again_cpu_ms_95": again_cpu[len(again_cpu) * 95 // 100],
        "records_cpu_ms": statistics.median(records),
        "records_cpu_ms_95": records[len(records) * 95 // 100],
    }


async def _check(authority: Authority, there: Connections, change: Change) -> tuple[float, float]:
    """What the check of a change takes, the one after its wait for the rate limit, the one of what was sent
    before (activities/change/fence.py), and that a worker has taken the snapshot it names
    (activities/waf/changes.py), together.
    """
    spec = await there.spec(change.start.spec)
    before, began = time.process_time(), time.perf_counter()
    await authority.check(change, spec, there.targets, datetime.now(UTC))
    await authority.check_again(change, spec, there.targets, datetime.now(UTC))
    earlier = await earlier_of(there, change, spec)
    await authority.check_earlier(change, spec, there.targets, datetime.now(UTC), earlier)
    lately = datetime.now(UTC) - timedelta(days=1)
    assert await is_taken(there, change.start.target.zone, spec.area, change.snapshot, lately)
    return (time.process_time() - before) * 1_000, (time.perf_counter() - began) * 1_000


async def _recorded(there: Connections, change: Change) -> float:
    """What a worker takes to see that no other commit may show, to record its own, to look once more, and to
    record that it was answered: milliseconds of CPU.
    """
    zone, area = change.start.target.zone, change.start.area
    key = intent_key(zone, area, change.permit.name)
    before = time.process_time()
    assert not await others_of(there, change)
    now = datetime.now(UTC)
    intent = Intent(
        step="commit",
        at=now,
        campaign="campaign/measured",
        run=change.start.campaign_run,
        digest=change.digest,
        fingerprint=change.fingerprint,
        attempt=change.start.attempt,
        permit=change.permit.name,
    )
    assert await there.records.create(key, intent)
    assert not await others_of(there, change, beside=change.permit.name)
    await request_answered(there, key)
    return (time.process_time() - before) * 1_000


def tell(console: Console, found: dict[str, Any]) -> None:
    """A table of it."""
    table = Table(title=f"Checks at the door: ms of CPU a change (goal: {found['goal']:g})")
    for heading in (
        "campaign",
        "first change",
        "each, median",
        "95 %",
        "by the clock",
        "attempt 2",
        "95 %",
        "records",
        "95 %",
    ):
        table.add_column(heading, justify="left" if heading == "campaign" else "right")
    for name, scene in found["scenes"].items():
        figures = (scene[key] for key in FIGURES)
        table.add_row(name, *(f"{value:,.1f}" for value in figures))
    console.print(table)
