"""Proving an audit file: by the file and people's public keys alone, in one pass, of any number of zones."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import groupby, islice
from typing import Any, BinaryIO

from pydantic import ValidationError

from edgeshift.audit.chain import Broken, Kind, Line, lines_of
from edgeshift.audit.earlier import Recorded, earlier_in
from edgeshift.audit.index import Index
from edgeshift.audit.judging import CampaignStatements, Request, is_of_any, judged
from edgeshift.audit.proof import MOST, Finding, Proof
from edgeshift.audit.rows import (
    AnswerRow,
    BodyRow,
    CampaignRow,
    Header,
    OddRow,
    OutcomeRow,
    RequestRow,
    Row,
    SignedRow,
    SpecRow,
    TargetRow,
    TargetsRow,
)
from edgeshift.audit.sealing import seal_of
from edgeshift.audit.statement_counts import People
from edgeshift.authority.roots import Role, Roots
from edgeshift.authority.statements import (
    AgainStatement,
    Attested,
    BadStatement,
    DecisionStatement,
    RepairStatement,
    ResultStatement,
    StartStatement,
    WordStatement,
    attested,
    stops,
)
from edgeshift.authority.worker_records import refused
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Step
from edgeshift.model.digests import NotCanonical, canonical_bytes, digest, fingerprint, named, sha256
from edgeshift.model.fleet import CLAIMS, ENDS, Zone, campaign_id
from edgeshift.stores.documents import Intent
from edgeshift.stores.documents.intents import EFFECTIVE, GIVEN_UP, OPENED

MOST_STATEMENTS = 2_000
"""Starts, and words, of one campaign that count: as many as a worker looks at."""

MOST_REQUESTS = 2_000
"""Records of requests to one target, up to which each is judged by those before it."""

_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
"""Between which a file was written and a request recorded: by other times nothing can be reckoned."""

_ORDER = {kind: number for number, kind in enumerate(Kind)}
_CLAIMED = frozenset(outcome.value for outcome in CLAIMS)


def prove(file: BinaryIO, roots: Roots, *, unsealed: bool = False, workers: bool = False) -> Proof:
    """What a file proves by these roots. ``unsealed``: also where nobody signed its end. ``workers``: whether
    the roots know the workers, so that a request counts only where one of them has recorded it. Raises
    NoAudit.
    """
    verifier = Verifier(roots, unsealed=unsealed, workers=workers)
    try:
        return verifier.read(file)
    finally:
        verifier.close()


class Verifier:
    """Reads one file."""

    def __init__(self, roots: Roots, *, unsealed: bool, workers: bool = False) -> None:
        self._roots = roots
        self._unsealed = unsealed
        self._workers = workers
        self._index = Index()
        self._proof = Proof()
        self._people = People()
        self._specs: dict[str, CampaignSpec] = {}
        self._lists: dict[str, int] = {}
        self._hashes: dict[str, tuple[int, Any]] = {}
        self._starts: list[Attested] = []
        self._revoked: list[Attested] = []
        self._words: list[Attested] = []
        self._agains: list[Attested] = []
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in ("sent", "agreed", "told")}
        self._at = 0
        self._read: Mapping[Kind, tuple[type[Row], Callable[[Any], None]]] = {
            Kind.HEADER: (Header, self._header),
            Kind.SPEC: (SpecRow, self._spec),
            Kind.TARGETS: (TargetsRow, self._targets),
            Kind.TARGET: (TargetRow, self._target),
            Kind.SIGNED: (SignedRow, self._signed),
            Kind.BODY: (BodyRow, self._body),
            Kind.REQUEST: (RequestRow, self._request),
            Kind.ANSWER: (AnswerRow, self._answer),
            Kind.CAMPAIGN: (CampaignRow, self._campaign),
            Kind.OUTCOME: (OutcomeRow, self._outcome),
            Kind.ODD: (OddRow, self._odd),
        }

    def close(self) -> None:
        """Give the disk back."""
        self._index.close()

    def read(self, file: BinaryIO) -> Proof:
        """Read all of it. Raises NoAudit."""
        last: Line | None = None
        try:
            for line in lines_of(file):
                self._one(line, last)
                last = line
        except Broken as broken:
            self._at = broken.line
            self._find(str(broken))
            self._proof.truncated = True
        if last is not None and last.kind is not Kind.SEAL and not self._proof.truncated:
            if last.kind in (Kind.REQUEST, Kind.ANSWER):
                self._judge_requests()
            self._find("its end is missing: there is no seal")
        return self._told()

    def _told(self) -> Proof:
        proof = self._proof
        proof.lines = self._at
        policies = {digest: self._roots.policy_for(spec.sign_off) for digest, spec in self._specs.items()}
        proof.people = self._people.by_name(
            {
                one.digest: (policies[one.statement.spec], one.statement.by)
                for one in self._starts
                if isinstance(one.statement, StartStatement) and one.statement.spec in policies
            }
        )
        proof.zones = self._index.sent
        proof.results = self._index.results
        proof.sent, proof.agreed, proof.told = (
            dict(self._counts[name]) for name in ("sent", "agreed", "told")
        )
        proof.holds = not proof.found
        return proof

    def _find(self, text: str, odd: str = "") -> None:
        self._proof.found += 1
        if len(self._proof.findings) < MOST:
            self._proof.findings.append(Finding(line=self._at, text=text, odd=odd))

    def _one(self, line: Line, last: Line | None) -> None:
        self._at = line.number
        before = last.kind if last else None
        once = (Kind.HEADER, Kind.SEAL)
        if before is not None and _ORDER[line.kind] < _ORDER[before] + (before in once):
            raise Broken(line.number, f"a line of kind {line.kind.value} does not stand here")
        if before in (Kind.SPEC, Kind.TARGETS, Kind.TARGET) and _ORDER[line.kind] > _ORDER[Kind.TARGET]:
            self._check_lists()
        if before in (Kind.REQUEST, Kind.ANSWER) and _ORDER[line.kind] > _ORDER[Kind.ANSWER]:
            self._judge_requests()
        if line.kind is Kind.SEAL:
            self._check_start()
            self._seal(line)
            return
        model, read = self._read[line.kind]
        try:
            read(model.model_validate(line.data))
        except ValidationError as why:
            place = ".".join(map(str, why.errors()[0]["loc"])) or "it"
            raise Broken(line.number, f"{place}: {why.errors()[0]['msg'][:80]}") from None
        except (RecursionError, NotCanonical):
            raise Broken(line.number, "it is nested too deeply to be read") from None

    def _header(self, row: Header) -> None:
        if not _EARLIEST <= row.at < _LATEST:
            raise Broken(self._at, "at: it is no time at which a file is written")
        self._proof.campaign = row.campaign
        self._proof.exported_at = row.at

    def _spec(self, row: SpecRow) -> None:
        if sha256(canonical_bytes(row.spec)) != row.digest:
            self._find("a specification that is not the one of its digest")
            return
        self._specs[row.digest] = CampaignSpec.model_validate(row.spec)

    def _targets(self, row: TargetsRow) -> None:
        self._lists[row.digest] = row.count
        self._hashes[row.digest] = (0, hashlib.sha256(b"["))

    def _target(self, row: TargetRow) -> None:
        count, found = self._hashes.get(row.list, (-1, None))
        if row.index != count:
            raise Broken(self._at, "a target that is not at its place in its list")
        found.update((b"," if count else b"") + canonical_bytes(row.target))
        self._hashes[row.list] = (count + 1, found)
        self._index.add_target(row.list, row.index, row.parsed)
        self._proof.targets += 1

    def _check_lists(self) -> None:
        for wanted, (count, found) in self._hashes.items():
            found.update(b"]")
            if count != self._lists[wanted] or found.hexdigest() != wanted:
                self._find(f"its targets are not those of the list {wanted[:12]}")
                del self._lists[wanted]

    def _signed(self, row: SignedRow) -> None:
        try:
            said = attested(row.statement, row.signature).model_copy(update={"stored": row.stored})
        except BadStatement as why:
            self._find(f"a statement whose signature does not count: {why}")
            return
        statement = said.statement
        if statement.campaign != self._proof.campaign:
            self._find(f"a statement of another campaign, {statement.campaign[:60]}")
            return
        lasts = stops(statement) or isinstance(statement, StartStatement)
        roots = self._roots.lasting if lasts else self._roots
        if roots.signers.may_sign(said.key, statement.by, statement.issued):
            self._proof.strangers += 1
            return
        self._people.add(said)
        match statement:
            case StartStatement():
                # With a key that was revoked since: nothing rests on it, nor on those before it.
                revoked = said.key.id in self._roots.signers.revoked
                self._keep(self._revoked if revoked else self._starts, said)
            case WordStatement():
                self._keep(self._words, said)
            case AgainStatement():
                self._keep(self._agains, said)
            case ResultStatement():
                if self._roots.refuses(said, Role.WORKER, statement.issued) is None:
                    outcome, run = statement.outcome.value, statement.run
                    self._index.add_result(statement.zone, statement.attempt, outcome, run)
                    ended = statement.outcome in ENDS and bool(statement.proposal)
                    if ended and is_of_any(self._starts, statement):
                        self._index.add_ended(statement.zone, run, statement.proposal, statement.issued)
            case DecisionStatement():
                self._index.add_decision(said, canonical_bytes(row.model_dump(exclude={"stored"})))
            case RepairStatement():
                pass  # Nothing rests on it.

    def _keep(self, some: list[Attested], said: Attested) -> None:
        if len(some) >= MOST_STATEMENTS:
            raise Broken(self._at, f"there are more than {MOST_STATEMENTS:,} statements of this kind")
        some.append(said)

    def _check_start(self) -> None:
        """That somebody who is known has started it, and that what they signed is there."""
        if not self._starts:
            self._find("nobody whose key is known has signed its start")
        for said in self._starts:
            statement = said.statement
            assert isinstance(statement, StartStatement)
            self._proof.service, self._proof.area = statement.service, statement.area.value
            if statement.spec not in self._specs:
                self._find(f"the specification that {statement.by} signed is not in it")
            if statement.targets not in self._lists:
                self._find(f"the targets that {statement.by} signed are not in it")

    def _body(self, row: BodyRow) -> None:
        if sha256(canonical_bytes(row.body)) != row.fingerprint:
            self._find("a body that is not the one of its fingerprint")
            return
        self._index.add_body(row.fingerprint, row.body)

    def _request(self, row: RequestRow) -> None:
        record, parts = row.parsed, row.key.split("/")
        if len(parts) != 4 or parts[0] != "intent" or record.campaign != campaign_id(self._proof.campaign):
            self._find(f"{row.key[:120]} is no request of this campaign")
            return
        sends = record.step not in (OPENED, GIVEN_UP)
        known = record.step in set(Step) and record.digest is not None and record.fingerprint is not None
        if not known and sends:
            self._find(f"{row.key[:120]} does not say what was sent")
            return
        if not _EARLIEST <= record.at < _LATEST:
            self._find(f"{row.key[:120]} does not say when it was sent")
            return
        # It may have been signed a while after the time that it names, by a process that was stopped between.
        written = max(record.at, self._proof.exported_at or record.at)
        if why := refused(row.key, canonical_bytes(row.record), self._roots, written):
            self._proof.unrecorded += sends
            if self._workers:
                # That a permit was given up as well: it may have the place of a request.
                self._find(f"{row.key[:120]} was recorded by no known worker: {why}")
                return
        if record.step != GIVEN_UP:
            self._index.add_request(self._at, row.key, record)

    def _judge_requests(self) -> None:
        """Each by what was sent to its target before: all of them have to be known for that, and what came of
        them.
        """
        at = self._at
        for (zone, _), found in groupby(self._index.requests(), lambda one: one.target):
            some = list(islice(found, MOST_REQUESTS + 1))
            for one in some[:MOST_REQUESTS]:
                self._at = one.line
                if one.record.step != OPENED:
                    self._judge(zone, one.record, some)
            if len(some) > MOST_REQUESTS:
                self._find(
                    f"there are more than {MOST_REQUESTS:,} requests to {zone[:40]}: not all are judged"
                )
        self._at = at

    def _judge(self, zone: str, record: Intent, some: Sequence[Recorded]) -> None:
        step, attempt = Step(record.step), record.in_attempt
        assert record.digest is not None and record.fingerprint is not None
        earlier = earlier_in(record, some, partial(self._index.ended, zone))
        request = Request(step, zone, record.at, record.digest, record.fingerprint, attempt, earlier)
        agreed = self._agreed(request)
        self._counts["sent"][step.value] += 1
        self._index.add_sent(request.zone)
        if isinstance(agreed, str):
            self._find(f"{step.value.replace('_', ' ')} to {request.zone[:40]} at {record.at}: {agreed}")
        elif agreed:
            self._counts["agreed"][", ".join(sorted(agreed))] += 1

    def _agreed(self, request: Request) -> frozenset[str] | str:
        """Who agreed to a request, by the first start on which it rests; or why it rests on none."""
        why = "nobody whose key is known has signed its start"
        signed = CampaignStatements([*self._starts, *self._revoked], self._words, self._agains)
        for start in sorted(self._starts, key=lambda said: said.statement.issued, reverse=True):
            statement = start.statement
            assert isinstance(statement, StartStatement)
            spec = self._specs.get(statement.spec)
            if spec is None or statement.targets not in self._lists:
                continue
            found = self._index.target(statement.targets, request.zone)
            if found is None:
                why = "its zone is none of the signed targets"
                continue
            place, target = found
            subjects = self._subjects(request, target.zone)
            if isinstance(subjects, str):
                return subjects
            decisions = self._index.decisions(subjects)
            said = judged(request, start, spec, place, target, signed, decisions, self._roots)
            if not isinstance(said, str):
                return said
            why = said
        return why

    def _subjects(self, request: Request, zone: Zone) -> tuple[str, ...] | str:
        """What a decision on this request may be about: its digest; and its fingerprint, where the file shows
        that the body with this digest has it.
        """
        try:
            alike = self._index.body(request.fingerprint)
            if alike is None:
                return (request.digest,)
            body = named(alike, zone)
            same = digest(body) == request.digest and fingerprint(body, zone) == request.fingerprint
        except (ValueError, NotCanonical, RecursionError):
            same = False
        return (request.digest, request.fingerprint) if same else "its body is another than was agreed to"

    def _answer(self, row: AnswerRow) -> None:
        """As workers recorded it: nothing is proved by it. Of what came to nothing, nothing was used."""
        if row.closed not in EFFECTIVE:
            self._index.add_nothing(row.key)

    def _campaign(self, row: CampaignRow) -> None:
        """As Temporal told it: nothing is proved by it."""

    def _outcome(self, row: OutcomeRow) -> None:
        self._counts["told"][row.outcome] += 1
        if row.outcome in _CLAIMED:
            zone = row.workflow.split("/")[1:2]
            signed = bool(zone) and self._index.has_result(
                zone[0], row.attempt, row.outcome, row.campaign_run
            )
            self._proof.unsigned += not signed

    def _odd(self, row: OddRow) -> None:
        said = f"{row.key}: {row.why}"
        if len(self._proof.odd) < MOST:
            self._proof.odd.append(said)
        if row.key.startswith(f"signed/{self._proof.campaign}/"):
            self._find(f"what may be a pause, an abort or a rejection cannot be read: {said}", said)
        elif row.key.startswith("intent/"):
            self._find(f"what may be a request cannot be read: {said}", said)

    def _seal(self, line: Line) -> None:
        found = seal_of(line, self._proof.campaign, self._roots, unsealed=self._unsealed)
        if isinstance(found, str):
            self._find(found)
        else:
            self._proof.sealed = found
