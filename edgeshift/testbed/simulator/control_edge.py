"""The edge as the control API shows and drives it: what is planted, what is in force, synthetic traffic."""

import asyncio
from collections import Counter
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from edgeshift.testbed.simulator.edge.behaviours import FEATURES
from edgeshift.testbed.simulator.edge.origin import known_paths
from edgeshift.testbed.simulator.edge.pipeline import esc_standing, serve
from edgeshift.testbed.simulator.edge.traffic import requests_of
from edgeshift.testbed.simulator.esc_settings import account_scope, zone_scope
from edgeshift.testbed.simulator.fleet_file import FleetZone
from edgeshift.testbed.simulator.state import State
from edgeshift.testbed.simulator.zone_records import ZoneRecord

MOST_REQUESTS = 20_000
BETWEEN_PAUSES = 100


class SyntheticTraffic(BaseModel):
    """Requests that are to be made at once: `count` for each of the `zones` (ids or names; all if absent)."""

    model_config = ConfigDict(extra="forbid")

    zones: list[str] | None = None
    count: int = Field(10, ge=1, le=MOST_REQUESTS)
    seed: int = 1
    headers: dict[str, str] = Field(default_factory=dict)
    cookies: dict[str, str] = Field(default_factory=dict)
    paths: list[str] = Field(default_factory=list)


class EdgeControl:
    """Looks at the edge past what its clients see, and sends it requests."""

    def __init__(self, state: State) -> None:
        self._state = state

    def overview(self) -> dict[str, Any]:
        """A line for each zone that has Edge Side Code, by name."""
        rows = self._state.database.connection.execute(
            # What is default is not written, so only these zones' documents have the word.
            "SELECT id FROM zones WHERE document LIKE '%\"behaviours\"%' ORDER BY name"
        ).fetchall()
        records = [record for (one,) in rows if (record := self._state.zones.get(one)) is not None]
        return {"removed": self._state.esc.removed, "zones": [self._line(one.zone) for one in records]}

    def zone(self, record: ZoneRecord) -> dict[str, Any]:
        """What is planted in a zone, each behaviour with the feature that replaces it, and what is so now."""
        zone = record.zone
        return {
            **self._line(zone),
            "planted": [
                {
                    **one.model_dump(mode="json", exclude_defaults=True),
                    "path": one.path,
                    "replaced_by": FEATURES[one.kind],
                }
                for one in zone.esc.behaviours
            ],
            "zone": self.scope(zone_scope(zone.id)),
            "account_setting": self.scope(account_scope(zone.account)),
            "edge": {**zone.edge.model_dump(mode="json"), "paths": known_paths(zone)},
        }

    def scope(self, scope: str) -> dict[str, Any]:
        """The setting of a scope: accepted, in force at the edge, visible to reads; and its changes."""
        esc = self._state.esc
        return {
            "scope": scope,
            "accepted": esc.accepted(scope).checker(),
            "in_force": esc.in_force(scope).checker(),
            "visible": esc.visible(scope).checker(),
            "history": esc.history(scope),
        }

    def plant(self, record: ZoneRecord, behaviours: Any) -> None:
        """Put other behaviours in the place of a zone's. Raises ValueError (also pydantic's)."""
        document = record.zone.model_dump(mode="json")
        document["esc"]["behaviours"] = behaviours
        zone = FleetZone.model_validate(document)
        with self._state.database.transaction():
            self._state.zones.replace_settings(record, zone)

    async def send(self, wanted: SyntheticTraffic) -> dict[str, Any]:
        """Serve synthetic requests. Raises ValueError for a zone that does not exist and for too many."""
        zones = self._zones(wanted.zones)
        if len(zones) * wanted.count > MOST_REQUESTS:
            raise ValueError(f"at most {MOST_REQUESTS} requests at once: give fewer zones or a lower count")
        statuses: Counter[int] = Counter()
        for zone in zones:
            for request in requests_of(
                zone,
                wanted.count,
                wanted.seed,
                headers=wanted.headers,
                cookies=wanted.cookies,
                paths=wanted.paths,
            ):
                statuses[serve(self._state, request).status] += 1
                if statuses.total() % BETWEEN_PAUSES == 0:
                    await asyncio.sleep(0)
        return {"served": sum(statuses.values()), "statuses": dict(sorted(statuses.items()))}

    def _zones(self, wanted: list[str] | None) -> list[FleetZone]:
        connection = self._state.database.connection
        if wanted is None:
            rows = connection.execute("SELECT id FROM zones WHERE status = 'active' ORDER BY name").fetchall()
        else:
            rows = []
            for one in wanted:
                row = connection.execute(
                    "SELECT id FROM zones WHERE id = ? OR name = ?", (one, one)
                ).fetchone()
                if row is None:
                    raise ValueError(f"zones: there is no zone {one!r}")
                rows.append(row)
        return [record.zone for (one,) in rows if (record := self._state.zones.get(one)) is not None]

    def _line(self, zone: FleetZone) -> dict[str, Any]:
        standing = esc_standing(self._state, zone)
        acts = bool(zone.esc.behaviours) and not (standing.off or standing.removed or zone.paused)
        return {
            "id": zone.id,
            "name": zone.name,
            "account": zone.account,
            "behaviours": len(zone.esc.behaviours),
            "active": acts and zone.status == "active",
            "off": standing.off,
            "removed": standing.removed,
        }
