"""The archive as a checker sees it: a folder of files, read without the code that wrote them."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from edgeshift.testbed.invariants.digests import is_signable
from edgeshift.testbed.invariants.keys import EvidenceFile, Signed, verified
from edgeshift.testbed.invariants.seen import IntentFile, SnapshotFile

_RECORD = re.compile(
    r"(?:^|/)snapshot/(?P<zone>[0-9a-f]{32})/(?P<area>[\w-]+)/(?P<digest>[0-9a-f]{64})[^/]*$"
)
_STATEMENT = re.compile(r"(?:^|/)signed/[^/]+/statement/(?P<digest>[0-9a-f]{64})$")
_PLACE = re.compile(r"(?:^|/)signed/.+/(?P<digest>[0-9a-f]{64})$")
_INTENT = re.compile(r"(?:^|/)intent/(?P<zone>[0-9a-f]{32})/(?P<area>[\w-]+)/[^/]+$")


class ArchiveFolder:
    """Every file of the archive by the SHA-256 of its content, whatever it is called."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._content: dict[str, bytes] = {}
        # What a process that died left half written lies beside its name, behind "#", and is no document.
        self._paths = [path for path in sorted(root.rglob("*")) if path.is_file() and "#" not in path.name]
        for path in self._paths:
            content = path.read_bytes()
            self._content[hashlib.sha256(content).hexdigest()] = content

    def document(self, digest: str) -> Any:
        """The JSON with this digest; None where the archive has no such content."""
        content = self._content.get(digest)
        return None if content is None else json.loads(content)

    def targets(self, digest: str) -> tuple[str, ...]:
        """The zones of a frozen list, in its order."""
        return tuple(target["zone"]["id"] for target in self.document(digest) or ())

    def bodies(self) -> tuple[dict[str, Any], ...]:
        """Every body among the proposals."""
        found = []
        for content in self._content.values():
            if content.startswith(b"{") and b'"body"' in content:
                document = json.loads(content)
                body = document.get("body")
                if isinstance(body, dict) and is_signable(body):
                    found.append(body)
        return tuple(found)

    def statements(self) -> tuple[Signed, ...]:
        """What people have signed, as far as it verifies and lies under its own digest."""
        found, places = [], self._places()
        for path in self._paths:
            record = _STATEMENT.search(path.relative_to(self._root).as_posix())
            one = verified(path.read_bytes()) if record else None
            if record and one and one.digest == record["digest"]:
                where = places.get(one.digest, [])
                more = {
                    "zones": self._zones(one),
                    "approvers": frozenset(map(str, self._policy(one).get("approvers") or ())),
                    "one_by_one": self._policy(one).get("per") == "zone",
                    # Workers look where it is found, and come to the statement from there.
                    "stored": max([*where, _stored(path)]) if where else None,
                }
                found.append(one.model_copy(update=more))
        return tuple(found)

    def _places(self) -> dict[str, list[datetime]]:
        """Since when each statement is found, by its digest: by the time of each name that leads to it."""
        found: dict[str, list[datetime]] = {}
        for path in self._paths:
            name = path.relative_to(self._root).as_posix()
            if (place := _PLACE.search(name)) and not _STATEMENT.search(name):
                found.setdefault(place["digest"], []).append(_stored(path))
        return found

    def _zones(self, one: Signed) -> tuple[str, ...]:
        targets = one.statement.get("targets")
        return self.targets(targets) if isinstance(targets, str) else ()

    def _policy(self, one: Signed) -> dict[str, Any]:
        """What the specification of a start asks of sign-offs."""
        spec = one.statement.get("spec") if one.statement.get("kind") == "start" else None
        document = self.document(spec) if isinstance(spec, str) else None
        policy = document.get("sign_off") if isinstance(document, dict) else None
        return policy if isinstance(policy, dict) else {}

    def evidence(self) -> tuple[EvidenceFile, ...]:
        """What validation windows have shown, and probes of scopes."""
        found = []
        for digest, content in self._content.items():
            if content.startswith(b"{") and b'"off_above"' in content and b'"controls"' in content:
                found.append(_probe(digest, json.loads(content)))
            if content.startswith(b"{") and b'"verdict"' in content and b'"false_positives"' in content:
                document = json.loads(content)
                known = {field: document.get(field) or "" for field in ("zone", "proposal", "verdict")}
                found.append(EvidenceFile(digest=digest, **known))
        return tuple(found)

    def intents(self) -> tuple[IntentFile, ...]:
        """What was about to be sent, as it was recorded before."""
        found = []
        for path in self._paths:
            if record := _INTENT.search(path.relative_to(self._root).as_posix()):
                document = json.loads(path.read_bytes())
                attempt = document.get("attempt")
                more = {"attempt": attempt if isinstance(attempt, int) else 0}
                found.append(IntentFile(**(document | record.groupdict() | more)))
        return tuple(found)

    def snapshots(self) -> tuple[SnapshotFile, ...]:
        """The recorded snapshots. A record is written once, after its snapshot, so its time is the later
        one.
        """
        found = []
        for path in self._paths:
            if record := _RECORD.search(path.relative_to(self._root).as_posix()):
                document = self.document(record["digest"])
                zone = (document or {}).get("zone")
                names = zone.get("id") if isinstance(zone, dict) else zone
                reading = (document or {}).get("reading") or {}
                found.append(
                    SnapshotFile(
                        zone=record["zone"],
                        area=record["area"],
                        path=str(path),
                        written_at=_stored(path),
                        intact=document is not None and names == record["zone"],
                        holds=frozenset(part for part, value in reading.items() if value is not None),
                    )
                )
        return tuple(found)


def _probe(digest: str, document: dict[str, Any]) -> EvidenceFile:
    """A probe as evidence: it passes where nothing of it says that it may have seen too little."""
    coverage, controls = (document.get(field) or {} for field in ("coverage", "controls"))
    silent = coverage.get("zones_covered", 0) != coverage.get("zones_probed", 0)
    doubts = document.get("off_above") or silent or coverage.get("hosts_unmarked") or controls.get("alarms")
    # Off may have been compared with off: what differs would prove that it was on.
    doubts = doubts or (document.get("untold_above") and not document.get("differences"))
    return EvidenceFile(
        area="esc",
        digest=digest,
        zone=document.get("zone") or "",
        proposal=document.get("proposal") or "",
        verdict="inconclusive" if doubts else "pass",
    )


def _stored(path: Path) -> datetime:
    """The file's own time."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
