"""The append-only journal: every request that was answered, refused or cut off, as the service saw it.

It is the checker that a client's own records are checked against, so its digests are computed here and from
nothing but the bytes received.
"""

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

import rfc8785
from pydantic import BaseModel

from edgeshift.testbed.simulator.clock import timestamp
from edgeshift.testbed.simulator.database import Database

_ASSIGNED = ("id", "version", "ref", "last_updated")


class JournalEntry(BaseModel):
    """One request. Times are ISO 8601 in UTC: `time` by the simulator's clock, `wall_time` by the machine's.

    `credential` is the credential's label, never its value. `body_digest` is that of `body_digest()`.
    `status` is None when no answer was sent. `effect` is what the request changed: none, scheduled (it
    takes place later) or applied. `state_before` and `state_after` are the zone's, None for requests of no
    zone. `esc`, of the calls that disable Edge Side Code: `scope` ("zones/ID", "accounts/ID"), `operation`,
    the setting `before` and `after` (`always`, and whether there is a `secret`), and how many `zones` it
    covers; of a POST, which fields were `asked` and of how many `characters` a secret was; of a GET, what
    was `shown`. `log_fields`, of calls on the rules of custom log fields: the `ruleset` and `version` that
    was read or made, and the `rules` as sent. `log_job`: its settings as `sent`, `before` and `after`, never
    its destination. `setting`, of calls on a setting that is on or off: its `name`, what was
    `sent`, `before` and `after`.
    `ahead_seconds`: how far the simulator's clock was set ahead of its source.
    """

    seq: int = 0
    time: str
    wall_time: str
    credential: str | None = None
    user: str | None = None
    method: str
    path: str
    query: str = ""
    call: str
    zone: str | None = None
    body_sha256: str | None = None
    body_digest: str | None = None
    log_only: bool = False
    status: int | None = None
    effect: str = "none"
    fault: str | None = None
    refusal: str | None = None
    state_before: dict[str, Any] | None = None
    state_after: dict[str, Any] | None = None
    plan: str | None = None
    rules_to_migrate: int | None = None
    longest_expression_bytes: int | None = None
    esc: dict[str, Any] | None = None
    log_fields: dict[str, Any] | None = None
    log_job: dict[str, Any] | None = None
    setting: dict[str, Any] | None = None
    ahead_seconds: float = 0.0


def body_digest(document: Any) -> str | None:
    """SHA-256 (hex) of the RFC 8785 form of a ruleset body: its keys `name` and `rules` alone, without what
    the service assigns to a rule (id, version, ref, last_updated). None for what is no ruleset body.
    """
    if not isinstance(document, dict) or not isinstance(document.get("rules"), list):
        return None
    kept: dict[str, Any] = {key: document[key] for key in ("name", "rules") if key in document}
    kept["rules"] = [
        {key: value for key, value in rule.items() if key not in _ASSIGNED}
        if isinstance(rule, dict)
        else rule
        for rule in document["rules"]
    ]
    try:
        return hashlib.sha256(rfc8785.dumps(kept)).hexdigest()
    except rfc8785.CanonicalizationError:
        return None


def is_log_only(document: Any) -> bool:
    """Whether every managed ruleset that a body runs is overridden to `log`, without an exception to it.

    A body that runs none is not log-only.
    """
    if not isinstance(document, dict) or not isinstance(document.get("rules"), list):
        return False
    running = [
        rule
        for rule in document["rules"]
        if isinstance(rule, dict) and rule.get("action") == "execute" and rule.get("enabled", True)
    ]
    return bool(running) and all(_logs(rule) for rule in running)


def _logs(rule: dict[str, Any]) -> bool:
    parameters = rule.get("action_parameters")
    overrides = parameters.get("overrides") if isinstance(parameters, dict) else None
    if not isinstance(overrides, dict) or overrides.get("action") != "log":
        return False
    inner = [overrides.get(key) or [] for key in ("rules", "categories")]
    return all(isinstance(listed, list) for listed in inner) and all(
        isinstance(one, dict) and one.get("action", "log") == "log" for listed in inner for one in listed
    )


class Journal:
    """Appends entries and reads them back. The database refuses to change or delete one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, entry: JournalEntry, *, counted: bool) -> None:
        """Write one entry; `counted` says whether it counts against its user's rate limit."""
        document = {key: value for key, value in entry.__dict__.items() if key != "seq"}
        self._database.connection.execute(
            "INSERT INTO journal (time, zone, call, user, counted, entry) VALUES (?, ?, ?, ?, ?, ?)",
            (
                entry.time,
                entry.zone,
                entry.call,
                entry.user,
                int(counted),
                json.dumps(document, separators=(",", ":")),
            ),
        )

    def read(
        self, *, after: int = 0, limit: int = 1000, zone: str | None = None, call: str | None = None
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Entries with a greater `seq` than `after`, oldest first, and the `after` of the next page or
        None."""
        where, values = "seq > ?", list[object]([after])
        for column, value in (("zone", zone), ("call", call)):
            if value is not None:
                where += f" AND {column} = ?"
                values.append(value)
        # The columns are named above: no text of a request becomes part of the statement.
        rows = self._database.connection.execute(
            f"SELECT seq, entry FROM journal WHERE {where} ORDER BY seq LIMIT {limit + 1:d}", values
        ).fetchall()
        entries = [{"seq": seq, **json.loads(entry)} for seq, entry in rows[:limit]]
        return entries, entries[-1]["seq"] if len(rows) > limit else None

    def last(self) -> int:
        """The greatest `seq`, 0 when nothing was asked yet."""
        found = self._database.connection.execute("SELECT max(seq) FROM journal").fetchone()[0]
        return int(found or 0)

    def counted_since(self, moment: datetime) -> list[tuple[str, str, str]]:
        """(user, label of the credential, time) of the requests that count against rate limits since a
        moment, oldest first.
        """
        # Walked from the end, for only the tail is wanted. A delayed request lies later than its time says.
        since, stop = timestamp(moment), timestamp(moment - timedelta(minutes=5))
        found: list[tuple[str, str, str]] = []
        for user, time, counted, credential in self._database.connection.execute(
            "SELECT user, time, counted, json_extract(entry, '$.credential') FROM journal ORDER BY seq DESC"
        ):
            if time < stop:
                break
            if counted and user is not None and time >= since:
                found.append((time, user, credential))
        return [(user, credential, time) for time, user, credential in sorted(found)]
