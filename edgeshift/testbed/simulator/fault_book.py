"""The faults in force, with how often each was met; they survive a restart."""

from dataclasses import dataclass
from typing import Any

from edgeshift.testbed.simulator.database import Database
from edgeshift.testbed.simulator.faults import FaultSpec


@dataclass
class StandingFault:
    """A fault in force: `seen` matching requests so far, of which it `fired` at some."""

    id: int
    spec: FaultSpec
    seen: int = 0
    fired: int = 0

    def describe(self) -> dict[str, Any]:
        shown = self.spec.model_dump(mode="json", exclude_defaults=True)
        return {"id": self.id, **shown, "seen": self.seen, "fired": self.fired}


class FaultBook:
    """Adds, lists and removes faults, and says which strike a request."""

    def __init__(self, database: Database) -> None:
        self._connection = database.connection
        rows = self._connection.execute("SELECT id, spec, seen, fired FROM faults ORDER BY id")
        self._faults = {
            row[0]: StandingFault(row[0], FaultSpec.model_validate_json(row[1]), row[2], row[3])
            for row in rows
        }

    def add(self, spec: FaultSpec) -> StandingFault:
        """Put a fault in force. Call it inside a transaction."""
        row = self._connection.execute("INSERT INTO faults (spec) VALUES (?)", (spec.model_dump_json(),))
        fault = StandingFault(int(row.lastrowid or 0), spec)
        self._faults[fault.id] = fault
        return fault

    def all(self) -> list[StandingFault]:
        return list(self._faults.values())

    def get(self, identity: int) -> StandingFault | None:
        return self._faults.get(identity)

    def remove(self, identity: int) -> bool:
        """Take one out of force; False when there is none. Call it inside a transaction."""
        self._connection.execute("DELETE FROM faults WHERE id = ?", (identity,))
        return self._faults.pop(identity, None) is not None

    def clear(self) -> int:
        """Take all out of force; how many there were. Call it inside a transaction."""
        count = len(self._faults)
        self._connection.execute("DELETE FROM faults")
        self._faults.clear()
        return count

    def striking(
        self, *, zone: str | None, call: str, method: str, path: str, users: tuple[str, str], credential: str
    ) -> list[FaultSpec]:
        """What goes wrong with a request: any latencies, then at most one other fault (the oldest).

        Call it inside a transaction: the counts are kept.
        """
        latencies: list[FaultSpec] = []
        other: list[FaultSpec] = []
        for fault in self._faults.values():
            spec = fault.spec
            if other and spec.kind != "latency":
                continue
            if not spec.match.covers(
                zone=zone, call=call, method=method, path=path, users=users, credential=credential
            ):
                continue
            fault.seen += 1
            if spec.strikes(fault.seen, fault.fired):
                fault.fired += 1
                (latencies if spec.kind == "latency" else other).append(spec.as_met(fault.seen))
            self._connection.execute(
                "UPDATE faults SET seen = ?, fired = ? WHERE id = ?", (fault.seen, fault.fired, fault.id)
            )
        return latencies + other
