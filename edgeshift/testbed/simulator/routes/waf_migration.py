"""The four calls of the migration (docs/service.md §4.3); the PUT itself is `start`, called by the entry
point."""

from typing import Any

from edgeshift.testbed.simulator.answers import Answer, Json, refuse, succeeded
from edgeshift.testbed.simulator.calls import Call, Route
from edgeshift.testbed.simulator.equivalent import equivalent_configuration, with_refs
from edgeshift.testbed.simulator.migration import KINDS, judge, refusal, refuse_unless_supported
from edgeshift.testbed.simulator.routes.bodies import sent_object
from edgeshift.testbed.simulator.ruleset_checks import checked_body
from edgeshift.testbed.simulator.rulesets import MANAGED_PHASE, prepared
from edgeshift.testbed.simulator.zone_records import MIGRATED


def check(call: Call) -> Answer:
    """Whether the zone can migrate; without `phase_two=1` by the conditions of phase 1 (docs/service.md
    §3.2)."""
    record = call.zone
    refuse_unless_supported(record, "check", call.options)
    facts = record.facts()
    compatible = facts.eligible if _phase_two(call) else facts.phase_one_eligible
    late = call.state.clock.lasting(call.options.override_check_late_seconds)
    compatible = compatible and not record.overrides_deleted_after(call.now - late)
    state = record.standing.visible
    begun = ("validation", *(MIGRATED if call.options.check_refused == "begun" else ()))
    if call.options.check_refused != "never" and state in begun:
        raise refusal(call.options.check_refusal)
    if state in MIGRATED:
        compatible = call.options.compatible_after_migration
    result: dict[str, Any] = {"compatible": compatible}
    if compatible or call.options.ineligible_check_shows_state:
        result["migration_state"] = state
    return succeeded(result)


def config(call: Call) -> Answer:
    """The equivalent of the zone's present settings, computed anew each time (docs/service.md §2.4)."""
    record = call.zone
    if not _phase_two(call):
        raise refusal(call.options.without_phase_two)
    if record.standing.actual in MIGRATED and call.options.config_of_migrated == "refuse":
        raise refusal(call.options.config_after_migration)
    if not record.facts().eligible and call.options.config_when_ineligible == "refuse":
        raise refusal(call.options.not_eligible)
    refuse_unless_supported(record, "config", call.options)
    found = equivalent_configuration(record.zone, call.options.facts)
    match call.options.config_rules:
        case "left_out":
            return succeeded({"name": found["name"]})
        case "empty" | "null" as without:
            return succeeded({**found, "rules": [] if without == "empty" else None})
    return succeeded(with_refs(found, record.zone) if call.options.config_refs == "given" else found)


def status(call: Call) -> Answer:
    """Which WAF is on and where the migration stands, as far as it is visible yet."""
    record = call.zone
    state = record.standing.visible
    new, old = record.waf_statuses(state)
    if call.options.new_status == "rules" and state in MIGRATED:
        stored = call.state.rulesets.of_phase(record.id, MANAGED_PHASE) or {}
        new = "enabled" if any(map(_runs, stored.get("rules", []))) else "disabled"
    return succeeded(
        {
            "created": record.standing.created,
            "migration_state": state,
            "new_waf_status": new,
            "old_waf_status": old,
            "source": "defaults" if state == "default" else "zone",
        }
    )


def start(call: Call, value: str) -> Answer:
    """The entry point's PUT with `waf_migration`: begin validation mode, or migrate."""
    record, options, state = call.zone, call.options, call.state
    kind = KINDS.get(value)
    if kind is None:
        raise refusal(options.unknown_migration_value)
    if not _phase_two(call):
        raise refusal(options.without_phase_two)
    body: dict[str, Json] = checked_body(sent_object(call), MANAGED_PHASE, call.options)
    if not isinstance(body.get("rules"), list):
        raise refuse(400, "rules are required", 20021, pointer="/rules")
    if kind == "complete" and options.bodies.without_assigned == "refuse":
        _refuse_without_assigned(body["rules"])
    decision = judge(record, kind, state.migrations.pending(record), options)
    current = state.migrations.latest(record)
    document = prepared(body, current, call.now, phase=MANAGED_PHASE, options=options)
    if call.dry_run:
        return succeeded(document)
    if decision == "go":
        call.effect = state.migrations.schedule(record, kind, document, call.now, options)
        if call.effect == "applied":
            document = state.rulesets.of_phase(record.id, MANAGED_PHASE) or document
    elif current is not None:
        document = current
    return succeeded(document)


def _runs(rule: dict[str, Any]) -> bool:
    return rule["action"] == "execute" and bool(rule.get("enabled", True))


def _refuse_without_assigned(rules: Any) -> None:
    """Raises a 400 for a rule that lacks what may be left out for validation alone (docs/service.md §4.3)."""
    for place, rule in enumerate(rules):
        for key in ("id", "version", "ref"):
            if key not in rule:
                raise refuse(400, f"{key} is required", 20021, pointer=f"/rules/{place}/{key}")


def _phase_two(call: Call) -> bool:
    return call.query.get("phase_two") == "1"


_READ = ("waf:read",)
ROUTES = [
    Route("GET", "/zones/{zone_id}/waf_migration/check", "waf.check", check, _READ),
    Route("GET", "/zones/{zone_id}/waf_migration/config", "waf.config", config, _READ),
    Route("GET", "/zones/{zone_id}/waf_migration/status", "waf.status", status, _READ),
]
