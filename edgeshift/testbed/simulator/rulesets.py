"""Rulesets as they are kept: current ones, earlier versions, and what the service assigns (docs/service.md
§2.2)."""

import copy
import json
import secrets
from datetime import datetime
from typing import Any

from edgeshift.testbed.simulator.clock import parse_timestamp, timestamp
from edgeshift.testbed.simulator.database import Database
from edgeshift.testbed.simulator.fleet_file import derived_id
from edgeshift.testbed.simulator.managed_rulesets import managed_ruleset
from edgeshift.testbed.simulator.options import SimulatorOptions

MANAGED_PHASE = "http_request_firewall_managed"
Document = dict[str, Any]


def new_id() -> str:
    """32 hex digits."""
    return secrets.token_hex(16)


def prepared(
    body: Document,
    current: Document | None,
    now: datetime,
    *,
    phase: str,
    kind: str = "zone",
    options: SimulatorOptions | None = None,
) -> Document:
    """The ruleset that a checked body makes of the current one: the next version, with ids, versions and
    refs. `options`: which say what else a rule is given (docs/service.md §2.4); the usual ones if absent.

    A rule keeps its id when the body names it by `id` or `ref`; its version moves on only when it changed.
    """
    written = timestamp(now)
    options = options or SimulatorOptions()
    before = {rule["id"]: rule for rule in (current or {}).get("rules", [])}
    by_ref = {rule["ref"]: rule for rule in before.values()}
    rules: list[Document] = []
    used: set[str] = set()
    for sent in body.get("rules") or []:
        known = before.get(sent.get("id") or "") or by_ref.get(sent.get("ref") or "")
        if known is not None and known["id"] in used:
            known = None
        rule = _rule(sent, known, written, options)
        used.add(rule["id"])
        rules.append(rule)
    return {
        "id": current["id"] if current else new_id(),
        "name": body.get("name", current["name"] if current else "default"),
        "description": body.get("description", current["description"] if current else ""),
        "kind": kind,
        "version": str(int(current["version"]) + 1 if current else 1),
        "rules": rules,
        "last_updated": written,
        "phase": phase,
    }


def _rule(sent: Document, known: Document | None, written: str, options: SimulatorOptions) -> Document:
    kept = {
        key: copy.deepcopy(value)
        for key, value in sent.items()
        if key not in ("id", "version", "ref", "last_updated")
    }
    kept.setdefault("description", "")
    kept.setdefault("enabled", True)
    versions = options.execute_version
    if options.skip_logging == "given" and kept.get("action") == "skip" and kept.get("logging") is None:
        kept["logging"] = {"enabled": True}
    if versions != "absent" and kept.get("action") == "execute":
        ruleset = kept["action_parameters"]["id"]
        given = managed_ruleset(ruleset)["version"] if versions == "number" else versions
        kept["action_parameters"].setdefault("version", given)
    identity = known["id"] if known else new_id()
    ref = sent.get("ref") or (known["ref"] if known else identity)
    unchanged = known is not None and all(known.get(key) == value for key, value in kept.items())
    if known and unchanged and known["ref"] == ref and len(known) == len(kept) + 4:
        return known
    return {
        "id": identity,
        "version": str(int(known["version"]) + 1 if known else 1),
        **kept,
        "ref": ref,
        "last_updated": written,
    }


def without_rules(document: Document) -> Document:
    """A ruleset as lists show it."""
    return {key: value for key, value in document.items() if key != "rules"}


class Rulesets:
    """The zone rulesets in the database: at most one a phase, each with every version it ever had."""

    def __init__(self, database: Database) -> None:
        self._connection = database.connection

    def of_zone(self, zone: str) -> list[Document]:
        rows = self._connection.execute(
            "SELECT document FROM rulesets WHERE zone = ? ORDER BY phase", (zone,)
        )
        return [json.loads(row[0]) for row in rows]

    def get(self, zone: str, ruleset: str) -> Document | None:
        return self._one("zone = ? AND id = ?", zone, ruleset)

    def of_phase(self, zone: str, phase: str) -> Document | None:
        return self._one("zone = ? AND phase = ?", zone, phase)

    def store(self, zone: str, document: Document) -> Document:
        """Make a prepared ruleset the current one, and keep it as a version.

        Its id and version give way to what was stored since it was prepared.
        """
        there = self.of_phase(zone, document["phase"])
        if there is not None and (there["id"] != document["id"] or _number(there) >= _number(document)):
            version = str(max(_number(there) + 1, _number(document)))
            document = {**document, "id": there["id"], "version": version}
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
        self._connection.execute(
            "INSERT INTO rulesets (id, zone, phase, document) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (id) DO UPDATE SET document = excluded.document",
            (document["id"], zone, document["phase"], text),
        )
        self._connection.execute(
            "INSERT OR REPLACE INTO ruleset_versions (ruleset, version, document) VALUES (?, ?, ?)",
            (document["id"], _number(document), text),
        )
        return document

    def delete(self, zone: str, ruleset: str) -> bool:
        gone = self._connection.execute("DELETE FROM rulesets WHERE zone = ? AND id = ?", (zone, ruleset))
        self._connection.execute("DELETE FROM ruleset_versions WHERE ruleset = ?", (ruleset,))
        return gone.rowcount > 0

    def versions(self, ruleset: str) -> list[Document]:
        """Every version, the newest first."""
        rows = self._connection.execute(
            "SELECT document FROM ruleset_versions WHERE ruleset = ? ORDER BY version DESC", (ruleset,)
        )
        return [json.loads(row[0]) for row in rows]

    def made_at(self, ruleset: str) -> datetime:
        """When a ruleset was created: its oldest version that there is."""
        row = self._connection.execute(
            "SELECT document FROM ruleset_versions WHERE ruleset = ? ORDER BY version LIMIT 1", (ruleset,)
        ).fetchone()
        return parse_timestamp(json.loads(row[0])["last_updated"])

    def version(self, ruleset: str, number: int) -> Document | None:
        row = self._connection.execute(
            "SELECT document FROM ruleset_versions WHERE ruleset = ? AND version = ?", (ruleset, number)
        ).fetchone()
        return None if row is None else json.loads(row[0])

    def delete_version(self, ruleset: str, number: int) -> None:
        self._connection.execute(
            "DELETE FROM ruleset_versions WHERE ruleset = ? AND version = ?", (ruleset, number)
        )

    def _one(self, where: str, *values: str) -> Document | None:
        row = self._connection.execute(f"SELECT document FROM rulesets WHERE {where}", values).fetchone()
        return None if row is None else json.loads(row[0])


def seeded(
    body: Document,
    zone: str,
    written: datetime,
    *,
    phase: str = MANAGED_PHASE,
    options: SimulatorOptions | None = None,
) -> Document:
    """A first version whose ids depend on the zone alone, for zones that begin with an entry point."""
    document = prepared(body, None, written, phase=phase, options=options)
    document["id"] = derived_id(zone, "ruleset", phase)
    for place, (rule, sent) in enumerate(zip(document["rules"], body.get("rules") or [], strict=True)):
        rule["id"] = derived_id(document["id"], "rule", str(place))
        rule["ref"] = sent.get("ref") or rule["id"]
    return document


def _number(document: Document) -> int:
    return int(document["version"])
