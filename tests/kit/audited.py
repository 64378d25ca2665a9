"""An archive as a campaign leaves it: what people signed, what was sent to whom, what came of it."""

from __future__ import annotations

import io
import json
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from edgeshift.audit.chain import BEFORE_ALL, Kind, line_of
from edgeshift.audit.exporting import export
from edgeshift.audit.judging import roots_of
from edgeshift.audit.proof import Proof
from edgeshift.audit.proving import prove
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.roots import Roots
from edgeshift.authority.signers import line_of as signer_line
from edgeshift.authority.signers import parsed
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import (
    AgainStatement,
    DecisionStatement,
    RepairStatement,
    StartStatement,
    Statement,
    WaveSaid,
    WordStatement,
)
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Step
from edgeshift.model.digests import canonical_bytes, digest, fingerprint, sha256
from edgeshift.model.fleet import Area, Plan, Target, Zone, campaign_id
from edgeshift.model.sign_off import Choice
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import (
    Answered,
    FrozenTargets,
    Intent,
    NothingMore,
    Proposal,
    Seen,
    create_record,
    put_document,
    put_proposal,
)
from edgeshift.stores.documents.intents import ClosedAs

CAMPAIGN = "autumn"
SERVICE = "https://api.example.com/client/v4"
BEGAN = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)
AGREED, HALTED, SENT = (BEGAN + timedelta(hours=hours) for hours in (1, 2, 3))
PEOPLE = ("olga", "ada", "grace", "sam")
EVIDENCE = "e" * 64
SHOWS = NothingMore.of(ClosedAs.SHOWS)


def zone(number: int) -> Zone:
    """A zone of the fleet."""
    identifier = sha256(str(number).encode())[:32]
    return Zone(id=identifier, name=f"shop-{number}.example", account="a" * 32, plan=Plan.PRO)


def body(of: Zone, extra: str = "") -> dict[str, Any]:
    """What a zone proposes: alike for all, but for its name and identifier."""
    texts = [f'http.host eq "www.{of.name}"', f"zone {of.id}", f"\x00 and {of.id}\x00", "myshop-1.example"]
    rules = [{"action": "block", "expression": text, "enabled": True} for text in texts]
    return {"name": "default", "rules": rules + ([{"action": extra}] if extra else [])}


@dataclass
class Audited:
    """A campaign's archive, and the keys of its people. ``own``: the zone whose proposal was signed by
    itself, since its evidence was shown to people.
    """

    archive: Archive
    zones: list[Zone]
    keys: dict[str, PrivateKey] = field(default_factory=lambda: {name: PrivateKey.made() for name in PEOPLE})
    stranger: PrivateKey = field(default_factory=PrivateKey.made)
    start: str = ""

    @property
    def signers(self) -> str:
        """Their allowed_signers file."""
        return "".join(f"{signer_line(name, key.public.line)}\n" for name, key in self.keys.items())

    @property
    def roots(self) -> Roots:
        """Whose word counts, by that file alone."""
        return roots_of(parsed(self.signers))

    @property
    def own(self) -> Zone:
        """The zone with a body of its own."""
        return self.zones[-1]

    def about(self, by: str, issued: datetime, **more: Any) -> dict[str, Any]:
        """What every statement says."""
        base = {
            "service": SERVICE,
            "campaign": CAMPAIGN,
            "area": Area.WAF,
            "by": by,
            "issued": issued,
            "expires": issued + timedelta(days=90),
            "nonce": secrets.token_hex(16),
        }
        return {**base, **more}

    async def put(self, statement: Statement, key: PrivateKey | None = None) -> str:
        """Record a statement, signed by its author or by somebody else."""
        signed = (key or self.keys[statement.by]).sign(statement.bytes)
        return await SignedRecords(self.archive).put(statement, signed)

    async def begin(self) -> None:
        """Sign the start, over a specification and targets in two waves."""
        spec = CampaignSpec.model_validate(
            {
                "name": CAMPAIGN,
                "targets": {"all": True},
                "service": {"base_url": SERVICE, "credentials": [{"token": "env:TOKEN"}]},
                "sign_off": {"required": 2, "four_eyes": True, "approvers": ["ada", "bob", "grace", "olga"]},
            }
        )
        half = len(self.zones) // 2
        targets = tuple(Target(zone=one, wave=int(n >= half)) for n, one in enumerate(self.zones))
        statement = StartStatement(
            **self.about("olga", BEGAN),
            spec=await put_document(self.archive, spec),
            targets=await put_document(self.archive, FrozenTargets(targets)),
            count=len(targets),
            waves=(
                WaveSaid(name="first", first=0, end=half),
                WaveSaid(name="rest", first=half, end=len(targets)),
            ),
        )
        self.start = await self.put(statement)

    def decision(self, by: str, **more: Any) -> DecisionStatement:
        """An approval of what all zones propose."""
        some = self.zones[0]
        said: dict[str, Any] = {
            **self.about(by, AGREED),
            "start": self.start,
            "step": Step.COMMIT,
            "choice": Choice.APPROVE,
            "about": "fingerprint",
            "subjects": (fingerprint(body(some), some),),
        }
        return DecisionStatement(**{**said, **more})

    def of_own(self, by: str, **more: Any) -> DecisionStatement:
        """An approval of the zone's own proposal."""
        shown = {"about": "proposal", "subjects": (digest(body(self.own, "log")),), "zone": self.own.id}
        return self.decision(by, **{**shown, "attempt": 1, "evidence": EVIDENCE, **more})

    async def agree(self) -> None:
        """Two people approve what all propose, and what one proposes; a third's word counts for nothing."""
        for by in ("ada", "grace"):
            await self.put(self.decision(by))
            await self.put(self.of_own(by))
        await self.put(self.decision("ada", subjects=("f" * 64,), choice=Choice.REJECT, reason="no"))
        await self.put(self.decision("ada", subjects=("d" * 64,)), self.stranger)
        said: dict[str, Any] = {"start": self.start, "reason": "wait"}
        await self.put(WordStatement(**self.about("sam", HALTED), **said, word="pause", number=1))
        later = HALTED + timedelta(minutes=5)
        await self.put(WordStatement(**self.about("sam", later), **said, word="resume", number=2))
        await self.put(
            AgainStatement(
                **self.about("sam", later), start=self.start, verb="retry", zones=(self.zones[0].id,)
            )
        )
        await self.put(
            RepairStatement(
                **self.about("sam", later),
                start=self.start,
                workflow=f"zone/{self.zones[0].id}/waf",
                run="broken",
                task=4,
                reason="a build",
            )
        )

    def intent(self, of: Zone, proposed: dict[str, Any], **more: Any) -> Intent:
        """The record of a commit."""
        said: dict[str, Any] = {
            "step": "commit",
            "at": SENT,
            "campaign": campaign_id(CAMPAIGN),
            "digest": digest(proposed),
            "fingerprint": fingerprint(proposed, of),
            "attempt": 1,
            "run": "r",
        }
        return Intent(**{**said, **more})

    async def send(
        self, of: Zone, name: str = "p-1", extra: str = "", nothing: NothingMore = SHOWS, **more: Any
    ) -> str:
        """Record a commit to a zone, and that it was answered and seen; the name of the record. ``nothing``:
        why nothing more comes of it.
        """
        proposed = body(of, extra)
        stored = await put_proposal(self.archive, Proposal(body=proposed))
        key = f"intent/{of.id}/waf/{name}"
        await create_record(self.archive, key, self.intent(of, proposed, proposal=stored, **more))
        for what, record in (
            ("nothing", nothing),
            ("over", Answered()),
            ("seen", Seen()),
        ):
            await create_record(self.archive, key.replace("intent", what, 1), record)
        return key

    async def send_all(self) -> None:
        """To every zone what was agreed to; and a permit that was given up."""
        for one in self.zones:
            await self.send(one, extra="log" if one == self.own else "")
        record = Intent(step="given_up", at=SENT, campaign=campaign_id(CAMPAIGN))
        await create_record(self.archive, f"intent/{self.zones[0].id}/waf/p-2", record)

    async def export(self, by: str = "olga", key: PrivateKey | None = None, **more: Any) -> bytes:
        """The audit file; without a name its end is signed by nobody."""
        out = io.BytesIO()
        signer = FileSigner(key or self.keys[by]) if by else None
        await export(self.archive, CAMPAIGN, out, datetime.now(UTC), by=by, signer=signer, **more)
        return out.getvalue()

    def prove(self, data: bytes, *, unsealed: bool = False) -> Proof:
        """What a file proves by these people's keys."""
        return prove(io.BytesIO(data), self.roots, unsealed=unsealed)


async def audited(folder: Path, zones: int = 5) -> Audited:
    """The archive of a campaign that has changed all its zones."""
    found = Audited(Archive(folder / "archive"), [zone(number) for number in range(zones)])
    await found.begin()
    await found.agree()
    await found.send_all()
    return found


def rows(data: bytes) -> list[dict[str, Any]]:
    """The lines of a file, as they are."""
    return [json.loads(line) for line in data.splitlines()]


def chained(some: list[dict[str, Any]]) -> bytes:
    """Lines with their numbers and the chain made anew, as whoever has no key can."""
    before, out = BEFORE_ALL, []
    for number, row in enumerate(some):
        line = line_of(str(row["kind"]), canonical_bytes(row["data"]), number, before)
        before = sha256(line)
        out.append(line + b"\n")
    return b"".join(out)


def sealed(some: list[dict[str, Any]], seal: dict[str, Any]) -> bytes:
    """Lines with the chain made anew, and this seal at their end."""
    return chained([*(row for row in some if row["kind"] != Kind.SEAL), {"kind": "seal", "data": seal}])
