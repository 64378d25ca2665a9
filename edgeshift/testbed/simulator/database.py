"""The simulator's data folder: one SQLite file, opened once, that survives a kill at any moment."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FILE_NAME = "simulator.sqlite3"
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS zones (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, account TEXT NOT NULL, plan TEXT NOT NULL, status TEXT NOT NULL,
    document TEXT NOT NULL, state TEXT NOT NULL, pending INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS zones_by_name ON zones (name);
CREATE TABLE IF NOT EXISTS effects (
    id INTEGER PRIMARY KEY AUTOINCREMENT, zone TEXT NOT NULL, kind TEXT NOT NULL, ruleset TEXT NOT NULL,
    requested_at TEXT NOT NULL, effect_seconds REAL NOT NULL, visibility_seconds REAL NOT NULL,
    stage TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS effects_by_zone ON effects (zone, id);
CREATE TABLE IF NOT EXISTS modes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, zone TEXT NOT NULL, since TEXT NOT NULL, mode TEXT NOT NULL,
    entry_point TEXT
);
CREATE INDEX IF NOT EXISTS modes_by_zone ON modes (zone, id);
CREATE TABLE IF NOT EXISTS rulesets (
    id TEXT PRIMARY KEY, zone TEXT NOT NULL, phase TEXT NOT NULL, document TEXT NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS rulesets_one_a_phase ON rulesets (zone, phase);
CREATE TABLE IF NOT EXISTS ruleset_versions (
    ruleset TEXT NOT NULL, version INTEGER NOT NULL, document TEXT NOT NULL, PRIMARY KEY (ruleset, version)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS esc_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, operation TEXT NOT NULL, requested_at TEXT,
    effect_seconds REAL NOT NULL, visibility_seconds REAL NOT NULL, always INTEGER NOT NULL, secret TEXT
);
CREATE INDEX IF NOT EXISTS esc_changes_by_scope ON esc_changes (scope, id);
CREATE TABLE IF NOT EXISTS stranger_writes (id INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS log_jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, zone TEXT NOT NULL, document TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS log_jobs_by_zone ON log_jobs (zone, id);
CREATE TABLE IF NOT EXISTS log_challenges (
    zone TEXT NOT NULL, place TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (zone, place, digest)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS faults (
    id INTEGER PRIMARY KEY AUTOINCREMENT, spec TEXT NOT NULL, seen INTEGER NOT NULL DEFAULT 0,
    fired INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS blocks (user TEXT PRIMARY KEY, until TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS journal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, zone TEXT, call TEXT NOT NULL, user TEXT,
    counted INTEGER NOT NULL, entry TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS journal_by_zone ON journal (zone, seq) WHERE zone IS NOT NULL;
CREATE INDEX IF NOT EXISTS journal_by_call ON journal (call, seq);
CREATE TRIGGER IF NOT EXISTS journal_is_never_changed BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS journal_is_never_shortened BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
"""


class DataFolderError(ValueError):
    """A data folder that cannot be used; the text names it and what would be right."""


class Database:
    """The connection, with transactions and the little table of single values.

    Every write of a request goes in one transaction with its journal entry, so that a kill leaves both or
    neither. WAL with synchronous=NORMAL survives the death of the process, which is what is promised, not
    that of the machine.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.connection = sqlite3.connect(
                folder / FILE_NAME, isolation_level=None, check_same_thread=False, timeout=2
            )
            for pragma in (
                "journal_mode=WAL",
                "synchronous=NORMAL",
                "cache_size=-65536",
                "temp_store=MEMORY",
            ):
                self.connection.execute(f"PRAGMA {pragma}")
            self.connection.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise DataFolderError(
                f"data folder {folder}: cannot be used ({error}); name a folder that can be written, "
                "which no other simulator has open"
            ) from None

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; the write lock is taken at once."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield self.connection
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def value(self, key: str) -> Any:
        """A single value as it was kept, or None."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def keep(self, key: str, value: Any) -> None:
        """Keep a single JSON value."""
        self.connection.execute(
            "INSERT INTO meta (key, value) VALUES (?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, json.dumps(value)),
        )

    def belongs_to(self, fleet_digest: str) -> bool:
        """Whether the folder was filled from this fleet; False for an empty folder.

        Raises `DataFolderError` for a folder of another fleet or of another version of the simulator.
        """
        kept = self.value("fleet_digest")
        if kept is None:
            return False
        if self.value("schema") != SCHEMA_VERSION:
            raise DataFolderError(
                f"data folder {self.folder}: was written by another version of the simulator; "
                "give an empty folder"
            )
        if kept != fleet_digest:
            raise DataFolderError(
                f"data folder {self.folder}: belongs to another fleet ({kept[:12]}, and this is "
                f"{fleet_digest[:12]}); start it with the fleet file it was made from, or give "
                "an empty folder"
            )
        return True


def digest_of(document: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(document).hexdigest()
