"""Rulesets of a zone and its entry points, and the managed rulesets it can run (docs/service.md §2.2,
§4.2)."""

from collections.abc import Callable

from edgeshift.testbed.simulator import log_fields
from edgeshift.testbed.simulator.answers import Answer, ApiError, Json, refuse, require_object, succeeded
from edgeshift.testbed.simulator.calls import Call, Route
from edgeshift.testbed.simulator.credentials import no_permission
from edgeshift.testbed.simulator.managed_rulesets import MANAGED_RULESETS, managed_ruleset
from edgeshift.testbed.simulator.routes import waf_migration
from edgeshift.testbed.simulator.routes.bodies import sent_object
from edgeshift.testbed.simulator.ruleset_checks import check_entitled, check_phase, checked_body
from edgeshift.testbed.simulator.rulesets import MANAGED_PHASE, Document, prepared, without_rules
from edgeshift.testbed.simulator.zone_records import MIGRATED

_GROUPS = {
    "http_request_firewall_managed": "waf",
    "http_request_firewall_custom": "firewall",
    "http_ratelimit": "firewall",
    "http_log_custom_fields": "logs",
}


def list_rulesets(call: Call) -> Answer:
    """Every ruleset of the zone, and the managed ones, without their rules."""
    late = call.options.log_fields.listed_seconds
    there = [one for one in call.state.rulesets.of_zone(call.zone.id) if _shows(call, one, late)]
    mine = [without_rules(one) for one in there]
    return succeeded(mine + [without_rules(managed_ruleset(one)) for one in MANAGED_RULESETS])


def get_ruleset(call: Call) -> Answer:
    """One ruleset with its rules."""
    return succeeded(_shown(call))


def create_ruleset(call: Call) -> Answer:
    """The zone's ruleset of a phase; there can be only one."""
    sent = _body(call)
    phase: str = sent.get("phase", "")
    for key in ("name", "kind", "phase"):
        if not isinstance(sent.get(key), str) or not sent[key]:
            raise refuse(400, f"{key} is required and must be a string", 20021, pointer=f"/{key}")
    check_phase(phase)
    body = checked_body(sent, phase, call.options)
    if body["kind"] != "zone":
        said = f"'{body['kind']}' is not a valid value for kind because a zone has rulesets of kind zone"
        raise refuse(400, said, 20021, pointer="/kind")
    _allow(call, phase)
    call.state.strangers.met(call.zone.id, phase, "before_create")
    if call.state.rulesets.of_phase(call.zone.id, phase) is not None:
        said = (
            "'zone' is not a valid value for kind because exceeded maximum number of zone rulesets "
            f"for phase {phase}"
        )
        raise refuse(400, said, 20217, pointer="/kind")
    return succeeded(_stored(call, _prepared(call, body, None, phase)))


def put_ruleset(call: Call) -> Answer:
    """Replace all rules of a ruleset; the next version."""
    phase = _own(call)["phase"]
    _allow(call, phase)
    call.state.strangers.met(call.zone.id, phase, "before_put")
    return _updated(call, phase, _own(call), _body(call))


def create_rule(call: Call) -> Answer:
    """Add one rule to a ruleset, at its end or at `position`; answers the whole ruleset."""
    return _with_rules(call, lambda rules: _placed(rules, sent_object(call)))


def patch_rule(call: Call) -> Answer:
    """Change one rule of a ruleset, or its place; answers the whole ruleset."""

    def changed(rules: list[Document]) -> list[Document]:
        known, sent = _rule(call, rules), sent_object(call)
        if "position" in sent:
            return _placed([rule for rule in rules if rule is not known], {**known, **sent})
        return [{**known, **sent} if rule is known else rule for rule in rules]

    return _with_rules(call, changed)


def delete_rule(call: Call) -> Answer:
    """Take one rule out of a ruleset; answers the whole ruleset."""

    def without(rules: list[Document]) -> list[Document]:
        known = _rule(call, rules)
        return [rule for rule in rules if rule is not known]

    return _with_rules(call, without)


def delete_ruleset(call: Call) -> Answer:
    """Remove a ruleset with all its versions; answers 204."""
    current = _own(call)
    _allow(call, current["phase"])
    if call.dry_run:
        return Answer(204)
    call.state.rulesets.delete(call.zone.id, current["id"])
    call.effect = "applied"
    _note_mode(call, current["phase"], None)
    return Answer(204)


def list_versions(call: Call) -> Answer:
    """Every version of a ruleset without rules, the newest first."""
    return _versions(call, _shown(call))


def get_version(call: Call) -> Answer:
    """One version of a ruleset with its rules."""
    return _version(call, _shown(call))


def get_entry_point(call: Call) -> Answer:
    """The zone's ruleset of a phase. 404/10003 when there is none."""
    return succeeded(_entry_point(call))


def put_entry_point(call: Call) -> Answer:
    """Replace the rules of a phase, creating the ruleset if absent.

    With the query parameter `waf_migration` on the phase of the managed rules it is the migration instead
    (docs/service.md §4.3); without it, an ordinary update that the zone must be entitled to.
    """
    phase = call.params["phase"]
    check_phase(phase)
    if phase == MANAGED_PHASE and "waf_migration" in call.query:
        _permit(call, phase)
        return waf_migration.start(call, call.query["waf_migration"])
    _allow(call, phase)
    call.state.strangers.met(call.zone.id, phase, "before_put")
    return _updated(call, phase, call.state.rulesets.of_phase(call.zone.id, phase), _body(call))


def list_entry_point_versions(call: Call) -> Answer:
    """Every version of an entry point without rules, the newest first."""
    return _versions(call, _entry_point(call))


def get_entry_point_version(call: Call) -> Answer:
    """One version of an entry point with its rules."""
    return _version(call, _entry_point(call))


def delete_version(call: Call) -> Answer:
    """Forget an earlier version of a ruleset; answers 204. The present one stays."""
    current = _own(call)
    found = _version(call, current).document["result"]
    if found["version"] == current["version"]:
        raise refuse(400, f"version {found['version']} is the latest one and cannot be deleted", 10016)
    _permit(call, current["phase"])
    if call.dry_run:
        return Answer(204)
    call.state.rulesets.delete_version(current["id"], int(found["version"]))
    call.effect = "applied"
    return Answer(204)


def _with_rules(call: Call, change: Callable[[list[Document]], list[Document]]) -> Answer:
    """A change of single rules, by the rules that there are when it takes place."""
    phase = _own(call)["phase"]
    _allow(call, phase)
    call.state.strangers.met(call.zone.id, phase, "before_put")
    current = _own(call)
    return _updated(call, phase, current, {"rules": change(current["rules"])})


def _rule(call: Call, rules: list[Document]) -> Document:
    wanted = call.params["rule_id"]
    for rule in rules:
        if rule["id"] == wanted:
            return rule
    raise refuse(404, f"could not find rule {wanted[:64]} in ruleset {call.params['ruleset_id']}", 10003)


def _placed(rules: list[Document], sent: Document) -> list[Document]:
    """The rules with one more: at the end, or where its `position` says, by another rule's id or by its
    number from 1."""
    rule = {key: value for key, value in sent.items() if key != "position"}
    position = require_object(sent.get("position", {}), "position")
    place = len(rules)
    ids = [one["id"] for one in rules]
    for key, shift in (("before", 0), ("after", 1)):
        if key in position and position[key] != "":
            if position[key] not in ids:
                raise refuse(400, f"there is no rule to stand {key}", 20021, pointer=f"/position/{key}")
            place = ids.index(position[key]) + shift
        elif key in position:
            place = 0 if key == "before" else len(rules)
    index = position.get("index", place + 1)
    if isinstance(index, bool) or not isinstance(index, int) or not 1 <= index <= len(rules) + 1:
        raise refuse(400, f"index must be 1 to {len(rules) + 1}", 20021, pointer="/position/index")
    return [*rules[: index - 1], rule, *rules[index - 1 :]]


def _updated(call: Call, phase: str, current: Document | None, sent: Document) -> Answer:
    body = checked_body(sent, phase, call.options)
    if current is not None and not isinstance(body.get("rules"), list):
        raise refuse(400, "rules are required", 20021, pointer="/rules")
    for key in ("kind", "phase"):
        expected = {"kind": "zone", "phase": phase}[key]
        if body.get(key, expected) != expected:
            raise refuse(400, f"{key} cannot be changed: it is {expected}", 20021, pointer=f"/{key}")
    stored = _stored(call, _prepared(call, body, current, phase))
    call.state.strangers.met(call.zone.id, phase, "after_put")
    return succeeded(stored)


def _prepared(call: Call, body: Document, current: Document | None, phase: str) -> Document:
    return prepared(body, current, call.now, phase=phase, options=call.options)


def _body(call: Call) -> dict[str, Json]:
    """The body; `rules` that are null are none, which is something else than no `rules` at all."""
    body = sent_object(call)
    if "rules" in call.object() and "rules" not in body:
        body["rules"] = []
    return body


def _stored(call: Call, document: Document) -> Document:
    if call.dry_run:
        return document
    stored = call.state.rulesets.store(call.zone.id, document)
    call.effect = "applied"
    _note_mode(call, document["phase"], stored)
    return stored


def _note_mode(call: Call, phase: str, document: Document | None) -> None:
    if phase == MANAGED_PHASE:
        call.state.migrations.note_mode(call.zone, call.now, document)


def _allow(call: Call, phase: str) -> None:
    _permit(call, phase)
    zone = call.zone
    managed = zone.standing.actual == "validation" or zone.standing.actual in MIGRATED
    check_entitled(phase, plan=zone.zone.plan, managed_waf=managed)


def _permit(call: Call, phase: str) -> None:
    if not call.caller.may((f"{_GROUPS.get(phase, 'zone')}:edit",)):
        raise no_permission(call.options)


def _entry_point(call: Call) -> Document:
    phase = call.params["phase"]
    check_phase(phase)
    found = call.state.rulesets.of_phase(call.zone.id, phase)
    if found is None or not _shows(call, found, call.options.log_fields.listed_seconds):
        raise refuse(404, f"could not find entrypoint ruleset in the {phase} phase", 10003)
    return found


def _shows(call: Call, document: Document, late: float) -> bool:
    """Whether a reading has a ruleset already, where one of custom log fields shows so many seconds late."""
    if not late or document["phase"] != log_fields.PHASE:
        return True
    made = call.state.rulesets.made_at(document["id"])
    # Those of the fleet were there before.
    return made <= call.state.anchor or call.now >= made + call.state.clock.lasting(late)


def _shown(call: Call) -> Document:
    """As a reading has it; a write finds what is there."""
    found = _found(call)
    if not _shows(call, found, call.options.log_fields.readable_seconds):
        raise _no_ruleset(call)
    return found


def _found(call: Call) -> Document:
    wanted = call.params["ruleset_id"]
    if wanted in MANAGED_RULESETS:
        return managed_ruleset(wanted)
    found = call.state.rulesets.get(call.zone.id, wanted)
    if found is None:
        raise _no_ruleset(call)
    return found


def _no_ruleset(call: Call) -> ApiError:
    return refuse(404, f"could not find ruleset {call.params['ruleset_id'][:64]}", 10003)


def _own(call: Call) -> Document:
    found = _found(call)
    if found["kind"] != "zone":
        raise refuse(403, "managed rulesets cannot be changed", 10015)
    return found


def _versions(call: Call, document: Document) -> Answer:
    if document["kind"] == "managed":
        return succeeded([without_rules(document)])
    return succeeded([without_rules(one) for one in call.state.rulesets.versions(document["id"])])


def _version(call: Call, document: Document) -> Answer:
    wanted = call.params["version"]
    found: Document | None = None
    if document["kind"] == "managed":
        found = document if wanted == document["version"] else None
    elif wanted.isascii() and wanted.isdigit() and len(wanted) < 10:
        found = call.state.rulesets.version(document["id"], int(wanted))
    if found is None:
        raise refuse(404, f"could not find version {wanted[:20]} of ruleset {document['id']}", 10003)
    return succeeded(found)


_READ = ("waf:read", "firewall:read", "logs:read", "zone:read")
_EDIT = ("waf:edit", "firewall:edit", "logs:edit", "zone:edit")
_ALL = "/zones/{zone_id}/rulesets"
_ONE = _ALL + "/{ruleset_id}"
_ENTRY = _ALL + "/phases/{phase}/entrypoint"
ROUTES = [
    Route("GET", _ALL, "rulesets.list", list_rulesets, _READ),
    Route("POST", _ALL, "rulesets.create", create_ruleset, _EDIT),
    Route("GET", _ONE, "rulesets.get", get_ruleset, _READ),
    Route("PUT", _ONE, "rulesets.put", put_ruleset, _EDIT),
    Route("DELETE", _ONE, "rulesets.delete", delete_ruleset, _EDIT),
    Route("POST", _ONE + "/rules", "rulesets.rules.create", create_rule, _EDIT),
    Route("PATCH", _ONE + "/rules/{rule_id}", "rulesets.rules.patch", patch_rule, _EDIT),
    Route("DELETE", _ONE + "/rules/{rule_id}", "rulesets.rules.delete", delete_rule, _EDIT),
    Route("GET", _ONE + "/versions", "rulesets.versions.list", list_versions, _READ),
    Route("GET", _ONE + "/versions/{version}", "rulesets.versions.get", get_version, _READ),
    Route("DELETE", _ONE + "/versions/{version}", "rulesets.versions.delete", delete_version, _EDIT),
    Route("GET", _ENTRY, "entrypoint.get", get_entry_point, _READ),
    Route("PUT", _ENTRY, "entrypoint.put", put_entry_point, _EDIT),
    Route("GET", _ENTRY + "/versions", "entrypoint.versions.list", list_entry_point_versions, _READ),
    Route("GET", _ENTRY + "/versions/{version}", "entrypoint.versions.get", get_entry_point_version, _READ),
]
