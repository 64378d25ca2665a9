"""The zones as they are now: their previous settings, which change, and their place in the migration."""

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from edgeshift.testbed.simulator import equivalent
from edgeshift.testbed.simulator.clock import parse_timestamp, timestamp
from edgeshift.testbed.simulator.database import Database
from edgeshift.testbed.simulator.fleet_file import FleetZone

MigrationState = Literal["default", "start", "validation", "complete"]
MIGRATED: tuple[MigrationState, ...] = ("complete", "default")
"""The states in which the new WAF has taken over: by migration, or by default, as in zones that never had
another."""
CACHED_ZONES = 20_000


@dataclass
class Standing:
    """Where a zone stands: `actual` is what is so, `visible` what reads show (docs/service.md §3.2).

    `created` is when the migration record was made, `setting_changed` when the zone's setting `waf` last
    changed. `deleted` are URI-based overrides that reads may still show, each as (when it was deleted, what
    it was).
    """

    actual: MigrationState
    visible: MigrationState
    created: str
    setting_changed: str | None = None
    deleted: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


@dataclass
class Facts:
    """What follows from a zone's previous settings."""

    eligible: bool
    phase_one_eligible: bool
    rules_to_migrate: int
    longest_expression_bytes: int


@dataclass
class ZoneRecord:
    """One zone. `pending` counts its effects that are not visible yet."""

    zone: FleetZone
    standing: Standing
    pending: int = 0
    known_facts: Facts | None = None

    @property
    def id(self) -> str:
        return self.zone.id

    def facts(self) -> Facts:
        """Computed once for each change of the settings."""
        if self.known_facts is None:
            rules = equivalent.rules_to_migrate(self.zone)
            self.known_facts = Facts(
                eligible=equivalent.eligible(self.zone),
                phase_one_eligible=equivalent.phase_one_eligible(self.zone),
                rules_to_migrate=len(rules),
                longest_expression_bytes=equivalent.longest_of(rules),
            )
        return self.known_facts

    def overrides_deleted_after(self, moment: datetime) -> list[dict[str, Any]]:
        """The URI-based overrides that were deleted after a moment, of those that reads may still show."""
        return [override for at, override in self.standing.deleted if parse_timestamp(at) > moment]

    def waf_statuses(self, state: MigrationState) -> tuple[str, str]:
        """(new, old) WAF status, `enabled` or `disabled`, in a migration state (docs/service.md §2.4)."""
        new = state == "validation" or state in MIGRATED
        old = state not in MIGRATED and (self.zone.previous_waf.enabled or state == "validation")
        return _status(new), _status(old)

    def checker(self, pending: list[str]) -> dict[str, Any]:
        """The zone's state for the journal; `pending` are the effects under way, oldest first."""
        new, old = self.waf_statuses(self.standing.actual)
        return {
            "migration_state": self.standing.actual,
            "visible_state": self.standing.visible,
            "new_waf_status": new,
            "old_waf_status": old,
            "pending_effect": pending[-1] if pending else None,
        }


def _status(enabled: bool) -> str:
    return "enabled" if enabled else "disabled"


class Zones:
    """Reads and saves zone records; what was read lately is kept parsed."""

    def __init__(self, database: Database) -> None:
        self._connection = database.connection
        self._cache: OrderedDict[str, ZoneRecord] = OrderedDict()

    def fill(self, zones: Iterable[FleetZone], now: datetime) -> None:
        """Write the zones of a fleet that is new to this folder."""
        self._connection.executemany(
            "INSERT INTO zones (id, name, account, plan, status, document, state) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self._row(zone, now) for zone in zones),
        )

    def get(self, zone_id: str) -> ZoneRecord | None:
        """The record of a zone, the same object until it is forgotten."""
        record = self._cache.get(zone_id)
        if record is not None:
            self._cache.move_to_end(zone_id)
            return record
        row = self._connection.execute(
            "SELECT document, state, pending FROM zones WHERE id = ?", (zone_id,)
        ).fetchone()
        if row is None:
            return None
        record = ZoneRecord(FleetZone.model_validate_json(row[0]), Standing(**json.loads(row[1])), row[2])
        self._cache[zone_id] = record
        if len(self._cache) > CACHED_ZONES:
            self._cache.popitem(last=False)
        return record

    def some(self, most: int = 8) -> list[str]:
        """Identifiers of a few zones, the same ones each time."""
        rows = self._connection.execute("SELECT id FROM zones ORDER BY id LIMIT ?", (most,))
        return [row[0] for row in rows]

    def forget(self, zone_id: str) -> None:
        """Read it again next time: its transaction was rolled back."""
        self._cache.pop(zone_id, None)

    def save_settings(self, record: ZoneRecord) -> None:
        """Keep the previous settings after a change in place."""
        record.known_facts = None
        zone = record.zone
        self._connection.execute(
            "UPDATE zones SET document = ?, plan = ?, status = ? WHERE id = ?",
            (zone.model_dump_json(exclude_defaults=True), zone.plan, zone.status, zone.id),
        )

    def save_standing(self, record: ZoneRecord) -> None:
        """Keep the place in the migration after a change in place."""
        self._connection.execute(
            "UPDATE zones SET state = ?, pending = ? WHERE id = ?",
            (json.dumps(asdict(record.standing)), record.pending, record.id),
        )

    def replace_settings(self, record: ZoneRecord, zone: FleetZone) -> None:
        record.zone = zone
        self.save_settings(record)

    @staticmethod
    def _row(zone: FleetZone, now: datetime) -> tuple[str, ...]:
        since = timestamp(zone.migration.since or now)
        state = zone.migration.state
        return (
            zone.id,
            zone.name,
            zone.account,
            zone.plan,
            zone.status,
            zone.model_dump_json(exclude_defaults=True),
            json.dumps(asdict(Standing(state, state, since))),
        )
