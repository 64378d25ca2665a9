"""A gate whose worker has roots: people with keys, what they sign, and what an enemy would forge."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from edgeshift.areas.evidence import EvidenceVerdict
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
from edgeshift.messages import ChangeResult, Step
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Plan, campaign_id
from edgeshift.model.sign_off import Choice
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import (
    FrozenTargets,
    Intent,
    create_record,
    gathered_key,
    intent_key,
    put_document,
)
from tests.kit.signing import signed
from tests.service.gate_kit import Gate, gate

ROLES = {"olga": ("starter", "operator"), "ada": ("approver",), "grace": ("approver",), "sam": ("operator",)}


@dataclass
class Guarded:
    """A zone, the door before it, and the keys of everybody. ``stranger``: a key that nobody knows.
    ``shown``: the evidence that messages name.
    """

    gate: Gate
    keyring: Keyring
    records: SignedRecords
    targets: str
    stranger: FileSigner
    roots: str
    base_url: str
    start: str = ""
    shown: str = ""

    def key(self, name: str) -> FileSigner:
        """The key of a person."""
        return self.keyring.signer(name, ROLES.get(name, ()))

    @property
    def campaign(self) -> str:
        """The campaign's name."""
        return self.gate.start.campaign.partition("/")[2]

    @property
    def archive(self) -> Archive:
        """The worker's archive."""
        return self.gate.connections.archive

    @property
    def digest(self) -> str:
        """Of what is proposed."""
        return digest(self.gate.body)

    @property
    def fingerprint(self) -> str:
        """Of what is proposed."""
        return fingerprint(self.gate.body, self.gate.zone)

    def least(self, **policy: Any) -> None:
        """Hold every campaign to this, by the roots."""
        found = self._roots()
        self.keyring.roots.write_text(json.dumps({**found, "policy": policy}))

    def without_service(self) -> None:
        """Take the campaign's service out of the roots; another one stays."""
        found = self._roots()
        elsewhere = {**found["services"][0], "base_url": "https://elsewhere.example/v4"}
        self.keyring.roots.write_text(json.dumps({**found, "services": [elsewhere]}))

    @contextmanager
    def without(self, name: str, *, key: bool = True) -> Iterator[None]:
        """A person taken out of the roots, and put back. ``key``: whether their key stays known."""
        roots, signers = self.keyring.roots, self.keyring.signers
        before = roots.read_text(), signers.read_text()
        found = self._roots()
        del found["people"][name]
        roots.write_text(json.dumps(found))
        if not key:
            kept = (line for line in before[1].splitlines() if not line.startswith(f"{name} "))
            signers.write_text("\n".join(kept) + "\n")
        yield
        roots.write_text(before[0])
        signers.write_text(before[1])

    def most_commits(self, number: int, of: str = "hour") -> None:
        """Let so many commits through, an hour, a ``wave`` or a ``campaign``."""
        name = f"most_commits_{'an' if of == 'hour' else 'a'}_{of}"
        self.keyring.roots.write_text(json.dumps({**self._roots(), name: number}))

    def grant(self, name: str, role: str) -> None:
        """Give a person one more role."""
        found = self._roots()
        found["people"][name]["roles"].append(role)
        self.keyring.roots.write_text(json.dumps(found))

    def limit(self, name: str, account: str) -> None:
        """Let a person decide on zones of this account alone."""
        found = self._roots()
        found["people"][name]["accounts"] = [account]
        self.keyring.roots.write_text(json.dumps(found))

    def _roots(self) -> dict[str, Any]:
        found: dict[str, Any] = YAML(typ="safe", pure=True).load(self.keyring.roots)
        return found

    def about(self, by: str, **more: Any) -> dict[str, Any]:
        """What every statement says."""
        now = datetime.now(UTC).replace(microsecond=0)
        base = {
            "service": more.pop("service", self.base_url),
            "campaign": self.campaign,
            "area": self.gate.start.area,
            "by": by,
            "issued": now - timedelta(seconds=5),
            "expires": now + timedelta(days=1),
            "nonce": secrets.token_hex(16),
        }
        return {**base, **more}

    async def put(self, statement: Statement, signer: FileSigner | None = None) -> str:
        """Record a statement, signed by its author or by somebody else."""
        used = signer or self.key(statement.by)
        return await self.records.put(statement, await used.sign(statement.bytes))

    async def begin(self, by: str = "olga", signer: FileSigner | None = None, **more: Any) -> str:
        """Sign the start."""
        said = {
            "spec": self.gate.start.spec,
            "targets": self.targets,
            "count": 1,
            "waves": (WaveSaid(name="all", first=0, end=1),),
        }
        statement = StartStatement(**{**self.about(by), **said, **more})
        self.start = await self.put(statement, signer)
        return self.start

    def decision(self, by: str = "ada", **more: Any) -> DecisionStatement:
        """An approval of exactly what is proposed."""
        said: dict[str, Any] = {
            **self.about(by),
            "start": self.start,
            "step": Step.COMMIT,
            "choice": Choice.APPROVE,
            "about": "proposal",
            "subjects": (self.digest,),
            "zone": self.gate.zone.id,
            "attempt": 1,
        }
        return DecisionStatement(**{**said, **more})

    async def approve(self, by: str = "ada", signer: FileSigner | None = None, **more: Any) -> str:
        """Sign an approval."""
        return await self.put(self.decision(by, **more), signer)

    async def approve_alike(self, by: str = "ada", **more: Any) -> str:
        """Sign an approval of its fingerprint."""
        said = {"about": "fingerprint", "subjects": (self.fingerprint,), "zone": None, "attempt": None}
        return await self.approve(by, **{**said, **more})

    async def say(self, word: str, number: int, by: str = "sam", **more: Any) -> str:
        """Sign a word."""
        said = {**self.about(by), "start": self.start, "word": word, "number": number}
        return await self.put(WordStatement(**{**said, **more}))

    async def again(self, verb: str, by: str = "sam", signer: FileSigner | None = None, **more: Any) -> str:
        """Sign that zones begin again."""
        said = {**self.about(by), "start": self.start, "verb": verb}
        return await self.put(AgainStatement(**{**said, **more}), signer)

    async def evidence(self, verdict: EvidenceVerdict, *, gathered: bool = True, **more: Any) -> str:
        """Archive what a window saw. ``gathered``: by the worker."""
        return await self.gate.evidence(verdict, gathered=gathered, **more)

    async def gathers(self, evidence: str, by: str) -> None:
        """Somebody else than the worker says to have gathered evidence, or the worker, for another run or
        zone; nobody says a word.
        """
        key, start = gathered_key(self.gate.zone, evidence), self.gate.start
        said = {"run": "other" if by == "another run" else start.campaign_run, "spec": start.spec}
        signer = {"a stranger": self.stranger, "an approver": self.key("ada")}.get(by, self.key(WORKER))
        name = "ada" if by == "an approver" else WORKER
        of = key.replace(self.gate.zone.id, "f" * 32) if by == "another zone" else key
        if by != "nobody":
            await self.archive.create_once(key, await signed(key, said, signer, by=name, of=of))

    async def sent_before(self, name: str, hours: float, *, by_worker: bool = True, **more: Any) -> str:
        """Record what the campaign has sent of this, so many hours ago; the record's name. ``by_worker``:
        signed by one.
        """
        start = self.gate.start
        said: dict[str, Any] = {
            "step": Step.COMMIT.value,
            "at": datetime.now(UTC) - timedelta(hours=hours),
            "campaign": start.campaign,
            "run": start.campaign_run,
            "digest": self.digest,
            "fingerprint": self.fingerprint,
            "attempt": 1,
        }
        key, record = intent_key(self.gate.zone, start.area, name), Intent(**{**said, **more})
        if by_worker:
            assert await self.gate.connections.records.create(key, record)
        else:
            assert await create_record(self.archive, key, record)
        return key

    async def commit(self, **how: Any) -> ChangeResult:
        """Let the door send the commit. The messages say that it was approved, always, and have the evidence
        that is in ``shown``.
        """
        return await self.gate.change(self.gate.body, self.gate.body, **{"evidence": self.shown, **how})

    async def sent(self) -> int:
        """How many changes the service was sent."""
        return len(await self.gate.sent())

    async def plant(self, data: bytes, digest: str) -> None:
        """Lay bytes where a statement with this digest would lie, and be found by what is proposed."""
        await self.archive.create_once(f"signed/{self.campaign}/statement/{digest}", data)
        await self.archive.create_once(f"signed/{self.campaign}/decision/{self.digest}/{digest}", b"{}")

    async def anew(self, name: str) -> Guarded:
        """The same zone in a campaign of another name, of which nothing is signed yet, with the roots as they
        were at first.
        """
        self.keyring.roots.write_text(self.roots)
        spec = (await self.gate.connections.spec(self.gate.start.spec)).model_copy(update={"name": name})
        stored = await put_document(self.archive, spec)
        start = self.gate.start.model_copy(update={"campaign": campaign_id(name), "spec": stored})
        return replace(self, gate=replace(self.gate, start=start), start="", shown="")

    def with_start(self, **more: Any) -> Guarded:
        """The same, whose messages say otherwise."""
        return replace(self, gate=replace(self.gate, start=self.gate.start.model_copy(update=more)))


@asynccontextmanager
async def guarded(folder: Path, *, plan: Plan = Plan.PRO, **more: Any) -> AsyncIterator[Guarded]:
    """A gate with roots, at which nothing is signed yet."""
    keyring = Keyring(folder / "authority")
    keyring.make()
    for name, roles in ROLES.items():
        keyring.signer(name, roles)
    pen = WorkerPen(FileSigner(PrivateKey(keyring.worker().read_bytes())), WORKER)
    async with gate(folder, roots=RootsFiles(keyring.roots), pen=pen, plan=plan, **more) as found:
        archive = found.connections.archive
        spec = await found.connections.spec(found.start.spec)
        targets = await put_document(archive, FrozenTargets((found.start.target,)))
        stranger = FileSigner(PrivateKey.made())
        yield Guarded(
            found,
            keyring,
            SignedRecords(archive),
            targets,
            stranger,
            keyring.roots.read_text(),
            spec.service.base_url,
        )
