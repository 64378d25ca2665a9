"""Everything a running simulator knows, opened from a data folder."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from edgeshift.testbed.simulator import log_fields
from edgeshift.testbed.simulator.clock import Clock, TimeSource, parse_timestamp, timestamp
from edgeshift.testbed.simulator.credentials import Credentials
from edgeshift.testbed.simulator.database import SCHEMA_VERSION, Database, digest_of
from edgeshift.testbed.simulator.equivalent import equivalent_configuration
from edgeshift.testbed.simulator.esc_settings import EscSettings, account_scope, zone_scope
from edgeshift.testbed.simulator.fault_book import FaultBook
from edgeshift.testbed.simulator.fleet_file import Fleet, FleetZone
from edgeshift.testbed.simulator.journal import Journal
from edgeshift.testbed.simulator.log_jobs import LogJobs
from edgeshift.testbed.simulator.log_pipeline import LogPipeline
from edgeshift.testbed.simulator.migration import Migrations
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.rate_limit import Addresses, RateLimits
from edgeshift.testbed.simulator.rulesets import Rulesets, seeded
from edgeshift.testbed.simulator.strangers import Strangers
from edgeshift.testbed.simulator.visits import Visits
from edgeshift.testbed.simulator.zone_records import Zones


class State:
    """The parts that handlers work with. One thread uses it; every change goes through
    `database.transaction()`.

    Options and clock changes made while it runs are kept in the data folder, and hold again when it is
    reopened.
    """

    options: SimulatorOptions

    def __init__(
        self,
        fleet: Fleet,
        data: Path,
        options: SimulatorOptions | None = None,
        source: TimeSource | None = None,
    ) -> None:
        """Raises `DataFolderError` when `data` cannot be used or belongs to another fleet."""
        self.database = Database(data)
        try:
            self._given = (options or SimulatorOptions()).of(fleet.profile)
            self.clock = Clock(source)
            self.zones = Zones(self.database)
            self.rulesets = Rulesets(self.database)
            self.migrations = Migrations(self.database, self.zones, self.rulesets, self.clock)
            self.faults = FaultBook(self.database)
            self.strangers = Strangers(self.database, self.rulesets, self.clock, lambda: self.options)
            self.log_jobs = LogJobs(self.database)
            self.logs = LogPipeline(self)
            self.esc = EscSettings(self.database, self.clock, self._removal)
            self.visits = Visits()
            self.edge_url: str | None = None  # known once somebody serves it
            fleet_digest = digest_of(fleet.model_dump_json(exclude_defaults=True).encode())
            if not self.database.belongs_to(fleet_digest):
                self._fill(fleet, fleet_digest)
        except BaseException:
            self.database.close()
            raise
        self.clock.offset_seconds = float(self.database.value("offset_seconds") or 0.0)
        self.options = _merged(self._given, self.database.value("options") or {})
        self.clock.time_scale = self.options.time_scale
        self.anchor = parse_timestamp(self.database.value("created"))
        self.credentials = Credentials(fleet)
        self._tokens = frozenset(one.label for one in fleet.credentials if one.kind == "token")
        self.accounts = {account.id: account for account in fleet.accounts}
        self.journal = Journal(self.database)
        now = self.clock.now()
        window = self.clock.lasting(self.options.rate_limit.window_seconds)
        self.addresses = Addresses(self.clock)
        self.queries = Addresses(self.clock)
        self.limits = RateLimits(self.database, self.clock, self.counted_since(now - window))

    def close(self) -> None:
        self.database.close()

    def counted_since(self, moment: datetime) -> list[tuple[str, str]]:
        """(who is counted, time) of the requests that count against rate limits since a moment."""
        by_user = self.options.rate_limit.counts_by == "user"
        tokens = () if by_user else self._tokens
        return [
            (credential if credential in tokens else user, time)
            for user, credential, time in self.journal.counted_since(moment)
        ]

    def _removal(self) -> datetime:
        return self._given.facts.esc_removed_at

    def change_options(self, patch: dict[str, Any]) -> None:
        """Merge `patch` over the options in force. Raises pydantic's ValidationError; then nothing
        changed."""
        changed = _patched(self.database.value("options") or {}, patch)
        options = _merged(self._given, changed)
        with self.database.transaction():
            self.database.keep("options", changed)
        self.options = options
        self.clock.time_scale = options.time_scale

    def keep_clock(self) -> None:
        """Keep the clock's shift."""
        with self.database.transaction():
            self.database.keep("offset_seconds", self.clock.offset_seconds)

    def _fill(self, fleet: Fleet, fleet_digest: str) -> None:
        if self._given.clock is not None:
            self.clock.set(self._given.clock)
        now = self.clock.now()
        with self.database.transaction():
            self.database.keep("offset_seconds", self.clock.offset_seconds)
            for account in fleet.accounts:
                self.esc.begin(account_scope(account.id), account.esc)
            for zone in fleet.zones:
                self.esc.begin(zone_scope(zone.id), zone.esc)
            self.zones.fill(fleet.zones, now)
            for zone in fleet.zones:
                if zone.migration.state != "start":
                    self._begin_migrated(zone)
                if zone.plan == "enterprise":
                    self._begin_logging(zone, now)
            for fault in self._given.faults:
                self.faults.add(fault)
            self.database.keep("schema", SCHEMA_VERSION)
            self.database.keep("created", timestamp(now))
            self.database.keep("fleet_digest", fleet_digest)

    def _begin_logging(self, zone: FleetZone, now: datetime) -> None:
        if zone.logs.fields is not None:
            body = {"name": "Custom log fields", "rules": [one.document() for one in zone.logs.fields]}
            self.rulesets.store(zone.id, seeded(body, zone.id, now, phase=log_fields.PHASE))
        for job in zone.logs.jobs:
            self.log_jobs.add(zone.id, job.document())

    def _begin_migrated(self, zone: FleetZone) -> None:
        record = self.zones.get(zone.id)
        if record is None:
            return
        given = zone.migration.entry_point
        body = given if isinstance(given, dict) else equivalent_configuration(zone, self._given.facts)
        if given == "log_only":
            body = _logging(body)
        since = parse_timestamp(record.standing.created)
        first = seeded(body, zone.id, since, options=self._given)
        document = self.rulesets.store(zone.id, first)
        self.migrations.note_mode(record, since - timedelta(microseconds=1), document)


def _logging(body: dict[str, Any]) -> dict[str, Any]:
    """A configuration whose managed rulesets only log."""
    changed: dict[str, Any] = json.loads(json.dumps(body))
    for rule in changed["rules"]:
        if rule["action"] == "execute":
            overrides = rule["action_parameters"].setdefault("overrides", {})
            overrides["action"] = "log"
            for inner in [*overrides.get("rules", []), *overrides.get("categories", [])]:
                if "action" in inner:
                    inner["action"] = "log"
    return changed


def _patched(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        there = merged.get(key)
        both = isinstance(value, dict) and isinstance(there, dict)
        merged[key] = _patched(there, value) if both and isinstance(there, dict) else value
    return merged


def _merged(options: SimulatorOptions, patch: dict[str, Any]) -> SimulatorOptions:
    return SimulatorOptions.model_validate(_patched(options.model_dump(mode="json"), patch))
