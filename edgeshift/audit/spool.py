"""What an audit file is made of, kept on the disk and not in memory until it is written: any number of zones.

A private file of SQLite's, which is gone when it is closed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from edgeshift.audit.chain import Kind
from edgeshift.model.digests import canonical_bytes
from edgeshift.model.fleet import Area, Target, Zone

_ORDER = {kind: number for number, kind in enumerate(Kind)}
_TABLES = (
    "CREATE TABLE line (kind INTEGER, place TEXT, data BLOB, PRIMARY KEY (kind, place)) WITHOUT ROWID",
    "CREATE TABLE zone (id TEXT, zone TEXT, PRIMARY KEY (id, zone)) WITHOUT ROWID",
)


def scratch(*tables: str) -> sqlite3.Connection:
    """An empty database on the disk that is nobody else's, and gone at its end."""
    found = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    found.execute("PRAGMA journal_mode = OFF")
    found.execute("PRAGMA synchronous = OFF")
    found.execute("BEGIN")
    for table in tables:
        found.execute(table)
    return found


class Spool:
    """Lines to be written, by their kinds and by their places among those. ``areas``: of the starts."""

    def __init__(self) -> None:
        self.areas: set[Area] = set()
        self._database = scratch(*_TABLES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, what: BaseException | None, where: TracebackType | None
    ) -> None:
        self._database.close()

    def add(self, kind: Kind, place: str, data: object) -> None:
        """Keep a line; the last one at a place stays. Raises NotCanonical."""
        row = (_ORDER[kind], place, canonical_bytes(data))
        self._database.execute("INSERT OR REPLACE INTO line VALUES (?, ?, ?)", row)

    def has(self, kind: Kind, place: str) -> bool:
        """Whether there is a line at this place."""
        row = (_ORDER[kind], place)
        found = self._database.execute("SELECT 1 FROM line WHERE kind = ? AND place = ?", row)
        return found.fetchone() is not None

    def remove(self, kind: Kind, under: str) -> None:
        """Keep no line of a kind any more whose place is under this one (``under/…``)."""
        row = (_ORDER[kind], f"{under}/", f"{under}0")
        self._database.execute("DELETE FROM line WHERE kind = ? AND place >= ? AND place < ?", row)

    def lines(self) -> Iterator[tuple[Kind, bytes]]:
        """All of them in their order."""
        kinds = tuple(Kind)
        for kind, data in self._database.execute("SELECT kind, data FROM line ORDER BY kind, place"):
            yield kinds[kind], data

    def add_target(self, listed: str, index: int, target: object) -> None:
        """Keep a target of the list with this digest. Raises NotCanonical."""
        self.add(Kind.TARGET, f"{listed}/{index:09d}", {"index": index, "list": listed, "target": target})

    def targets_at(self, index: int) -> list[Zone]:
        """The targets with this index: one for each list that has as many."""
        found = self._database.execute(
            "SELECT data FROM line WHERE kind = ? AND place IN (SELECT place || ? FROM line WHERE kind = ?)",
            (_ORDER[Kind.TARGET], f"/{index:09d}", _ORDER[Kind.TARGETS]),
        )
        return [Target.model_validate(json.loads(row[0])["target"]).zone for row in found.fetchall()]

    def add_zone(self, zone: Zone) -> None:
        """Keep a zone of the targets."""
        row = (zone.id, zone.model_dump_json())
        self._database.execute("INSERT OR REPLACE INTO zone VALUES (?, ?)", row)

    def zones(self, identifier: str) -> list[Zone]:
        """The zones of the targets with this identifier: several where lists say different things of it."""
        found = self._database.execute("SELECT zone FROM zone WHERE id = ?", (identifier,)).fetchall()
        # Not by the model itself, which keeps the texts of what it reads from JSON.
        return [Zone.model_validate(json.loads(row[0])) for row in found]
