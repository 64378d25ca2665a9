"""The state machine of the migration (docs/service.md §3.2).

Effects are rows: what was accepted, when, how long it takes and how late it is seen. Nothing runs in the
background: whoever looks at a zone first brings it up to date, so the state follows the clock even while
the server is down.
"""

import json
from datetime import datetime
from typing import Any, Literal

from edgeshift.testbed.simulator import equivalent
from edgeshift.testbed.simulator.answers import refuse
from edgeshift.testbed.simulator.clock import Clock, parse_timestamp, timestamp
from edgeshift.testbed.simulator.database import Database
from edgeshift.testbed.simulator.options import Refusal, SimulatorOptions
from edgeshift.testbed.simulator.rulesets import MANAGED_PHASE, Rulesets
from edgeshift.testbed.simulator.zone_records import MIGRATED, MigrationState, ZoneRecord, Zones

Kind = Literal["validation", "complete"]
ModeSince = tuple[datetime, MigrationState, dict[str, Any] | None]
KINDS: dict[str, Kind] = {
    "pending": "complete",
    "1": "complete",
    "validation": "validation",
    "2": "validation",
}
_STAGES = ("check", "config", "put")


class Migrations:
    """Accepts transitions, and lets their effects take place when their time has come."""

    def __init__(self, database: Database, zones: Zones, rulesets: Rulesets, clock: Clock) -> None:
        self._connection = database.connection
        self._zones = zones
        self._rulesets = rulesets
        self._clock = clock

    def settle(self, record: ZoneRecord, now: datetime) -> None:
        """Let every effect that is due take place. Call it inside a transaction."""
        if not record.pending:
            return
        due: list[tuple[datetime, int, str, dict[str, Any], Kind]] = []
        for identity, kind, ruleset, requested, takes, late, stage in self._open(record.id):
            effective = parse_timestamp(requested) + self._clock.lasting(takes)
            visible = effective + self._clock.lasting(late)
            if stage == "scheduled" and effective <= now:
                due.append((effective, identity, "effective", json.loads(ruleset), kind))
            if visible <= now:
                due.append((visible, identity, "visible", json.loads(ruleset), kind))
        for moment, identity, stage, document, kind in sorted(due, key=lambda one: one[:2]):
            self._connection.execute("UPDATE effects SET stage = ? WHERE id = ?", (stage, identity))
            if stage == "effective":
                record.standing.actual = _further(record.standing.actual, kind)
                self.note_mode(record, moment, document)
            else:
                record.standing.visible = _further(record.standing.visible, kind)
                record.standing.created = timestamp(moment)
                record.pending -= 1
                self._rulesets.store(record.id, document)
        if due:
            self._zones.save_standing(record)

    def schedule(
        self,
        record: ZoneRecord,
        kind: Kind,
        document: dict[str, Any],
        now: datetime,
        options: SimulatorOptions,
    ) -> str:
        """Accept a transition; says whether its effect is `scheduled` or `applied` already."""
        if kind == "complete":
            self._supersede_validation(record)
        own = record.zone.migration
        usual = options.migration_seconds if kind == "complete" else options.validation_seconds
        takes = own.migration_seconds if own.migration_seconds is not None else usual
        late = own.visibility_seconds if own.visibility_seconds is not None else options.visibility_seconds
        self._connection.execute(
            "INSERT INTO effects "
            "(zone, kind, ruleset, requested_at, effect_seconds, visibility_seconds, stage) "
            "VALUES (?, ?, ?, ?, ?, ?, 'scheduled')",
            (record.id, kind, json.dumps(document), timestamp(now), takes, late),
        )
        record.pending += 1
        self._zones.save_standing(record)
        self.settle(record, now)
        return "scheduled" if record.pending else "applied"

    def pending(self, record: ZoneRecord) -> list[Kind]:
        """The transitions under way, oldest first: accepted, and not yet seen by reads."""
        return [row[1] for row in self._open(record.id)] if record.pending else []

    def latest(self, record: ZoneRecord) -> dict[str, Any] | None:
        """The entry point as it was last accepted, be it stored already or under way; None when there is
        none."""
        row = self._connection.execute(
            "SELECT ruleset FROM effects WHERE zone = ? AND stage IN ('scheduled', 'effective') "
            "ORDER BY id DESC LIMIT 1",
            (record.id,),
        ).fetchone()
        return json.loads(row[0]) if row else self._rulesets.of_phase(record.id, MANAGED_PHASE)

    def _supersede_validation(self, record: ZoneRecord) -> None:
        # A validation that ended after the commit would put its rules in place of the commit's.
        ended = self._connection.execute(
            "UPDATE effects SET stage = 'superseded' "
            "WHERE zone = ? AND kind = 'validation' AND stage IN ('scheduled', 'effective')",
            (record.id,),
        )
        record.pending -= ended.rowcount

    def drop_pending(self, record: ZoneRecord) -> None:
        """Forget the transitions under way: someone set the state by hand."""
        self._connection.execute(
            "UPDATE effects SET stage = 'dropped' WHERE zone = ? AND stage != 'visible'", (record.id,)
        )
        record.pending = 0

    def note_mode(self, record: ZoneRecord, since: datetime, entry_point: dict[str, Any] | None) -> None:
        """Remember from when on which WAFs judged the traffic, and by which rules."""
        self._connection.execute(
            "INSERT INTO modes (zone, since, mode, entry_point) VALUES (?, ?, ?, ?)",
            (
                record.id,
                timestamp(since),
                record.standing.actual,
                json.dumps(entry_point) if entry_point is not None else None,
            ),
        )

    def modes(self, zone: str) -> list[ModeSince]:
        """(since, mode, entry point) in the order in which they began; before the first, the mode is
        `start`."""
        rows = self._connection.execute(
            "SELECT since, mode, entry_point FROM modes WHERE zone = ? ORDER BY id", (zone,)
        )
        return [
            (parse_timestamp(since), mode, json.loads(body) if body else None) for since, mode, body in rows
        ]

    def set_state(
        self, record: ZoneRecord, state: MigrationState, entry_point: dict[str, Any] | None, now: datetime
    ) -> None:
        """Put a zone into a state at once, as if somebody had done so elsewhere."""
        self.drop_pending(record)
        record.standing.actual = record.standing.visible = state
        record.standing.created = timestamp(now)
        self._zones.save_standing(record)
        self.note_mode(record, now, entry_point)

    def _open(self, zone: str) -> list[tuple[int, Kind, str, str, float, float, str]]:
        return self._connection.execute(
            "SELECT id, kind, ruleset, requested_at, effect_seconds, visibility_seconds, stage FROM effects "
            "WHERE zone = ? AND stage IN ('scheduled', 'effective') ORDER BY id",
            (zone,),
        ).fetchall()


def _further(state: MigrationState, kind: Kind) -> MigrationState:
    """The migration never goes back: a late validation leaves a migrated zone migrated."""
    return "complete" if kind == "complete" else state if state in MIGRATED else kind


def refuse_unless_supported(
    record: ZoneRecord, stage: Literal["check", "config", "put"], options: SimulatorOptions
) -> None:
    """Refuse a zone that only support can migrate, at the call that reports it and at those after it.

    docs/service.md §7: more firewall rules to migrate, or an expression of more bytes of UTF-8, than the
    limits allow; of a rule to migrate or, by an option, of any.
    """
    limits = options.support
    reported_at = record.zone.migration.refuses_at or limits.at
    if _STAGES.index(stage) < _STAGES.index(reported_at):
        return
    facts = record.facts()
    if facts.rules_to_migrate > limits.firewall_rules:
        raise refusal(limits.refusal("too_many", record.id))
    longest = facts.longest_expression_bytes
    if limits.expressions_of == "all":
        longest = equivalent.longest_of(record.zone.firewall_rules)
    if longest > limits.expression_bytes:
        raise refusal(limits.refusal("too_long", record.id))


def judge(
    record: ZoneRecord, kind: Kind, pending: list[Kind], options: SimulatorOptions
) -> Literal["go", "ignore"]:
    """Whether a transition is carried out or answered without effect. Raises `ApiError` when it is
    refused."""
    if kind == "validation" and record.zone.plan != "enterprise":
        raise refusal(options.validation_not_entitled)
    state = record.standing.actual
    if state in MIGRATED or "complete" in pending:
        if kind == "complete":
            return _repeated(options.repeated_commit, options.repeated_commit_refusal)
        taken = ("always",) if state in MIGRATED else ("always", "accept")
        if options.validation_after_commit not in taken:
            raise refusal(options.repeated_commit_refusal)
        return "go"
    if not record.facts().eligible:
        raise refusal(options.not_eligible)
    refuse_unless_supported(record, "put", options)
    if kind == "validation" and (state == "validation" or "validation" in pending):
        return _repeated(options.repeated_validation, options.repeated_validation_refusal)
    return "go"


def _repeated(policy: str, answer: Refusal) -> Literal["go", "ignore"]:
    if policy == "refuse":
        raise refusal(answer)
    return "go" if policy == "accept" else "ignore"


def refusal(answer: Refusal) -> Exception:
    """A configured refusal as the error that is raised."""
    return refuse(answer.status, answer.message, answer.code)
