"""Log jobs and the ownership of their destinations, as they are kept (docs/service.md §2.3, §4.2)."""

import hashlib
import json
import secrets
from typing import Any

from edgeshift.testbed.simulator.database import Database

Document = dict[str, Any]


class LogJobs:
    """The log jobs in the database, and which ownership challenges were given out for which places.

    A job's document is as the service answers it: with `destination_conf` as configured, without
    `ownership_challenge`. Every write is made inside a transaction.
    """

    def __init__(self, database: Database) -> None:
        self._connection = database.connection

    def of_zone(self, zone: str) -> list[Document]:
        """The jobs of a zone, oldest first."""
        rows = self._connection.execute(
            "SELECT id, document FROM log_jobs WHERE zone = ? ORDER BY id", (zone,)
        )
        return [{"id": row[0], **json.loads(row[1])} for row in rows]

    def get(self, zone: str, job: int) -> Document | None:
        row = self._connection.execute(
            "SELECT document FROM log_jobs WHERE zone = ? AND id = ?", (zone, job)
        ).fetchone()
        return None if row is None else {"id": job, **json.loads(row[0])}

    def add(self, zone: str, document: Document) -> Document:
        """Keep a new job; with the id that it got."""
        made = self._connection.execute(
            "INSERT INTO log_jobs (zone, document) VALUES (?, ?)", (zone, json.dumps(document))
        )
        return {"id": made.lastrowid, **document}

    def change(self, zone: str, job: int, patch: Document) -> Document | None:
        """Merge keys over a job's document; None when there is no such job."""
        there = self.get(zone, job)
        if there is None:
            return None
        changed = {**there, **patch}
        kept = {key: value for key, value in changed.items() if key != "id"}
        self._connection.execute("UPDATE log_jobs SET document = ? WHERE id = ?", (json.dumps(kept), job))
        return changed

    def remove(self, zone: str, job: int) -> None:
        """Forget a job."""
        self._connection.execute("DELETE FROM log_jobs WHERE zone = ? AND id = ?", (zone, job))

    def new_challenge(self, zone: str, place: str) -> str:
        """A challenge that proves the ownership of a place; it is kept as a digest alone."""
        challenge = secrets.token_urlsafe(32)
        self._connection.execute(
            "INSERT INTO log_challenges (zone, place, digest) VALUES (?, ?, ?)",
            (zone, place, _digest(challenge)),
        )
        return challenge

    def proves(self, zone: str, place: str, challenge: str) -> bool:
        """Whether a challenge was given out to the zone for this place."""
        row = self._connection.execute(
            "SELECT 1 FROM log_challenges WHERE zone = ? AND place = ? AND digest = ?",
            (zone, place, _digest(challenge)),
        ).fetchone()
        return row is not None


def _digest(challenge: str) -> str:
    return hashlib.sha256(challenge.encode("utf-8", "replace")).hexdigest()
