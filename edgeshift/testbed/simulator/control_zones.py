"""Zones as the control API shows and changes them."""

from typing import Any

from edgeshift.testbed.simulator.answers import ApiError
from edgeshift.testbed.simulator.clock import timestamp
from edgeshift.testbed.simulator.fleet_file import FleetZone
from edgeshift.testbed.simulator.journal import is_log_only
from edgeshift.testbed.simulator.ruleset_checks import checked_body
from edgeshift.testbed.simulator.rulesets import MANAGED_PHASE, new_id, prepared
from edgeshift.testbed.simulator.state import State
from edgeshift.testbed.simulator.zone_records import ZoneRecord

_LISTS = ("firewall_rules", "filters", "uri_overrides", "page_rules")
# Log fields and log jobs are only begun with: from then on they change by the service's calls.
_FIXED = ("id", "name", "account", "logs")
# What the service keeps to itself, here too.
_HIDDEN: dict[str, Any] = {
    "esc": {"with_secret"},
    "logs": {"jobs": {"__all__": {"destination"}}},
}
_STATES = ("default", "start", "validation", "complete")


class ZoneControl:
    """Reads and edits zones past the service's own rules."""

    def __init__(self, state: State) -> None:
        self._state = state

    def list(self) -> list[dict[str, Any]]:
        """A line for each zone, by name."""
        rows = self._state.database.connection.execute("SELECT id FROM zones ORDER BY name").fetchall()
        return [self._line(record) for (one,) in rows if (record := self._state.zones.get(one)) is not None]

    def show(self, record: ZoneRecord) -> dict[str, Any]:
        """Everything there is to know about a zone."""
        state = self._state
        return {
            **self._line(record),
            "settings": record.zone.model_dump(mode="json", exclude=_HIDDEN),
            "entry_point": state.rulesets.of_phase(record.id, MANAGED_PHASE),
            "rulesets": state.rulesets.of_zone(record.id),
            "log_jobs": [
                {key: value for key, value in job.items() if key != "destination_conf"}
                for job in state.log_jobs.of_zone(record.id)
            ],
            "modes": [
                {"since": timestamp(since), "mode": mode, "log_only": is_log_only(body)}
                for since, mode, body in state.migrations.modes(record.id)
            ],
            "traffic": record.zone.traffic.model_dump(mode="json"),
        }

    def change(self, record: ZoneRecord, patch: Any) -> None:
        """Merge `patch` over the zone's settings, in the fleet file's words; `add_...` and `remove_...`
        change its lists (`remove_...` by id), `state` sets the place in the migration and `entry_point` the
        stored rules.

        Raises ValueError (also pydantic's) naming the field; then nothing changed.
        """
        if not isinstance(patch, dict):
            raise ValueError("give an object with the settings that are to change")
        patch = dict(patch)
        if isinstance(patch.get("esc"), dict) and set(patch["esc"]) - {"behaviours"}:
            raise ValueError("esc: only behaviours change here; the setting is the service's calls'")
        new_state, entry_point = patch.pop("state", None), patch.pop("entry_point", None)
        document = record.zone.model_dump(mode="json")
        for key in _LISTS:
            added, removed = patch.pop(f"add_{key}", []), patch.pop(f"remove_{key}", [])
            if not isinstance(added, list) or not isinstance(removed, list):
                raise ValueError(f"add_{key} and remove_{key} must be arrays")
            present = {one["id"] for one in document[key]}
            if missing := [one for one in removed if one not in present]:
                raise ValueError(f"remove_{key}: there is none with the id {missing[0]!r}")
            document[key] = [one for one in document[key] if one["id"] not in removed]
            document[key] += [{"id": new_id(), **one} if isinstance(one, dict) else one for one in added]
        for key, value in patch.items():
            if key in _FIXED:
                raise ValueError(f"{key} cannot be changed")
            document[key] = _merged(document.get(key), value)
        zone = FleetZone.model_validate(document)
        self._check_state(new_state, entry_point)
        with self._state.database.transaction():
            self._state.zones.replace_settings(record, zone)
            if new_state is not None or entry_point is not None:
                self._set_state(record, new_state, entry_point)

    @staticmethod
    def _check_state(state: Any, entry_point: Any) -> None:
        if state is not None and state not in _STATES:
            raise ValueError(f"state must be one of {', '.join(_STATES)}")
        if entry_point is not None:
            try:
                checked_body(entry_point, MANAGED_PHASE)
            except ApiError as error:
                raise ValueError(f"entry_point: {error.errors[0]['message']}") from None

    def _set_state(self, record: ZoneRecord, state: Any, entry_point: Any) -> None:
        now = self._state.clock.now()
        rulesets = self._state.rulesets
        current = rulesets.of_phase(record.id, MANAGED_PHASE)
        if entry_point is not None:
            options = self._state.options
            found = prepared(entry_point, current, now, phase=MANAGED_PHASE, options=options)
            current = rulesets.store(record.id, found)
        self._state.migrations.set_state(record, state or record.standing.actual, current, now)

    def _line(self, record: ZoneRecord) -> dict[str, Any]:
        now = self._state.clock.now()
        if record.pending:
            with self._state.database.transaction():
                self._state.migrations.settle(record, now)
        zone, facts = record.zone, record.facts()
        return {
            "id": zone.id,
            "name": zone.name,
            "account": zone.account,
            "plan": zone.plan,
            **record.checker(list(self._state.migrations.pending(record))),
            "eligible": facts.eligible,
            "phase_one_eligible": facts.phase_one_eligible,
            "rules_to_migrate": facts.rules_to_migrate,
            "longest_expression_bytes": facts.longest_expression_bytes,
        }


def _merged(below: Any, above: Any) -> Any:
    """JSON merge patch, but for lists and single values, which replace."""
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    merged = {**below}
    for key, value in above.items():
        if value is None and key in merged:
            merged.pop(key)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged
