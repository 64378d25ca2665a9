"""What a verifier has read of an audit file and needs again: on the disk, so that it may be any number of
zones.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from edgeshift.audit.earlier import Recorded
from edgeshift.audit.spool import scratch
from edgeshift.authority.statements import Attested, DecisionStatement, opened
from edgeshift.model.fleet import Target
from edgeshift.stores.documents import Intent

_KEPT = 256
_TABLES = (
    "CREATE TABLE target (list TEXT, place INTEGER, zone TEXT, data TEXT, PRIMARY KEY (list, place))"
    " WITHOUT ROWID",
    "CREATE INDEX zones ON target (list, zone)",
    "CREATE TABLE decision (digest TEXT PRIMARY KEY, data BLOB, stored TEXT) WITHOUT ROWID",
    "CREATE TABLE subject (subject TEXT, digest TEXT, PRIMARY KEY (subject, digest)) WITHOUT ROWID",
    "CREATE TABLE sent (zone TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE result (zone TEXT, attempt INTEGER, outcome TEXT, run TEXT,"
    " PRIMARY KEY (zone, attempt, outcome, run)) WITHOUT ROWID",
    "CREATE TABLE ended (zone TEXT, run TEXT, proposal TEXT, issued TEXT,"
    " PRIMARY KEY (zone, run, proposal, issued)) WITHOUT ROWID",
    "CREATE TABLE request (line INTEGER PRIMARY KEY, key TEXT, data TEXT)",
    "CREATE INDEX requests ON request (key)",
    "CREATE TABLE came_to_nothing (key TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE body (fingerprint TEXT PRIMARY KEY, data TEXT) WITHOUT ROWID",
)


class Index:
    """Targets, decisions, bodies and requests of a file."""

    def __init__(self) -> None:
        self._database = scratch(*_TABLES)
        self._opened: OrderedDict[str, Attested] = OrderedDict()

    def close(self) -> None:
        """Give the disk back."""
        self._database.close()

    def _one(self, question: str, *values: object) -> Any:
        found = self._database.execute(question, values).fetchone()
        return None if found is None else found[0]

    def add_target(self, of: str, place: int, target: Target) -> None:
        """Keep a target of a list."""
        row = (of, place, target.zone.id, target.model_dump_json())
        self._database.execute("INSERT OR REPLACE INTO target VALUES (?, ?, ?, ?)", row)

    def target(self, of: str, zone: str) -> tuple[int, Target] | None:
        """Where a zone stands in a list, and as what."""
        question = "SELECT place, data FROM target WHERE list = ? AND zone = ?"
        found = self._database.execute(question, (of, zone)).fetchone()
        return None if found is None else (found[0], Target.model_validate(json.loads(found[1])))

    def add_decision(self, said: Attested, data: bytes) -> None:
        """Keep a decision. ``data``: it, signed."""
        assert isinstance(said.statement, DecisionStatement)
        stored = None if said.stored is None else said.stored.isoformat()
        self._database.execute(
            "INSERT OR REPLACE INTO decision VALUES (?, ?, ?)", (said.digest, data, stored)
        )
        rows = [(subject, said.digest) for subject in said.statement.subjects]
        self._database.executemany("INSERT OR REPLACE INTO subject VALUES (?, ?)", rows)

    def decisions(self, subjects: Sequence[str]) -> list[Attested]:
        """The decisions on these digests."""
        question = "SELECT digest FROM subject WHERE subject = ?"
        rows = [row for one in subjects for row in self._database.execute(question, (one,))]
        return [self._decision(digest) for digest in dict.fromkeys(row[0] for row in rows)]

    def _decision(self, digest: str) -> Attested:
        if digest not in self._opened:
            question = "SELECT data, stored FROM decision WHERE digest = ?"
            data, stored = self._database.execute(question, (digest,)).fetchone()
            when = None if stored is None else datetime.fromisoformat(stored)
            self._opened[digest] = opened(data).model_copy(update={"stored": when})
            while len(self._opened) > _KEPT:
                self._opened.popitem(last=False)
        self._opened.move_to_end(digest)
        return self._opened[digest]

    def add_body(self, fingerprint: str, body: dict[str, Any]) -> None:
        """Keep a body that names no zone."""
        row = (fingerprint, json.dumps(body))
        self._database.execute("INSERT OR REPLACE INTO body VALUES (?, ?)", row)

    def body(self, fingerprint: str) -> dict[str, Any] | None:
        """The body with this fingerprint."""
        found = self._one("SELECT data FROM body WHERE fingerprint = ?", fingerprint)
        return None if found is None else json.loads(found)

    def add_result(self, zone: str, attempt: int, outcome: str, run: str) -> None:
        """Keep that a worker has signed how an attempt of a zone ended. ``run``: the campaign's first one."""
        row = (zone, attempt, outcome, run)
        self._database.execute("INSERT OR IGNORE INTO result VALUES (?, ?, ?, ?)", row)

    def has_result(self, zone: str, attempt: int, outcome: str, run: str) -> bool:
        """Whether a worker has signed that; of whichever run, where it is not known of which."""
        question = "SELECT 1 FROM result WHERE zone = ? AND attempt = ? AND outcome = ? AND ? IN (run, '')"
        return self._one(question, zone, attempt, outcome, run) is not None

    def add_ended(self, zone: str, run: str, proposal: str, issued: datetime) -> None:
        """Keep when a worker has signed how a change of a zone ended, by which proposal."""
        row = (zone, run, proposal, issued.isoformat())
        self._database.execute("INSERT OR IGNORE INTO ended VALUES (?, ?, ?, ?)", row)

    def ended(self, zone: str, run: str, proposal: str) -> list[datetime]:
        """When workers have signed that."""
        question = "SELECT issued FROM ended WHERE zone = ? AND run = ? AND proposal = ?"
        rows = self._database.execute(question, (zone, run, proposal))
        return [datetime.fromisoformat(row[0]) for row in rows]

    def add_request(self, line: int, key: str, record: Intent) -> None:
        """Keep a record of what was about to be sent."""
        row = (line, key, record.model_dump_json())
        self._database.execute("INSERT OR REPLACE INTO request VALUES (?, ?, ?)", row)

    def add_nothing(self, key: str) -> None:
        """Keep that nothing came of a request."""
        self._database.execute("INSERT OR IGNORE INTO came_to_nothing VALUES (?)", (key,))

    def requests(self) -> Iterator[Recorded]:
        """All of them, those of a target together."""
        question = (
            "SELECT line, request.key, data, came_to_nothing.key IS NOT NULL FROM request"
            " LEFT JOIN came_to_nothing ON came_to_nothing.key = request.key ORDER BY request.key, line"
        )
        for line, key, data, nothing in self._database.execute(question):
            yield Recorded(line, key, Intent.model_validate(json.loads(data)), bool(nothing))

    @property
    def results(self) -> dict[str, int]:
        """How often workers have signed what, each attempt of a run once."""
        rows = self._database.execute("SELECT outcome, count(*) FROM result GROUP BY outcome")
        return {str(outcome): int(number) for outcome, number in rows}

    def add_sent(self, zone: str) -> None:
        """Keep that something was sent to a zone."""
        self._database.execute("INSERT OR IGNORE INTO sent VALUES (?)", (zone,))

    @property
    def sent(self) -> int:
        """To how many zones something was sent."""
        return int(self._one("SELECT count(*) FROM sent"))
