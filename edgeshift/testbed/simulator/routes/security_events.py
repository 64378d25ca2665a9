"""Security events by GraphQL (docs/service.md §4.3: the review of the validation window)."""

from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from graphql import (
    ASTValidationRule,
    DocumentNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLResolveInfo,
    VariablesInAllowedPositionRule,
    execute_sync,
    parse,
    specified_rules,
    validate,
)

from edgeshift.testbed.simulator.answers import Answer, Json
from edgeshift.testbed.simulator.calls import Call, Route
from edgeshift.testbed.simulator.clock import parse_timestamp, timestamp
from edgeshift.testbed.simulator.events import firewall_events
from edgeshift.testbed.simulator.migration import ModeSince
from edgeshift.testbed.simulator.routes.event_schema import event_schema
from edgeshift.testbed.simulator.state import State
from edgeshift.testbed.simulator.zone_records import ZoneRecord

Event = dict[str, Any]
MAX_QUERY_CHARACTERS = 32 * 1024
MAX_ZONES = 10
MAX_RANGE = timedelta(days=30)
USUAL_RANGE = timedelta(days=1)
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_BEFORE: ModeSince = (LONG_AGO, "start", None)


def query_events(call: Call) -> Answer:
    """Answer a GraphQL request; what is wrong with it is told in GraphQL's own form, with HTTP 200."""
    limit, queries = call.options.query_limit, call.state.queries
    if limit.queries is not None and not queries.admit(
        call.caller.user.id, call.now, limit.queries, limit.window_seconds
    ):
        words: Json = {"message": "rate limiter budget depleted, try again after 5 minutes", "code": "budget"}
        return graphql_refusal(int(limit.told), [words])
    body = call.json()
    if not isinstance(body, dict) or not isinstance(body.get("query"), str):
        return _graphql_error(400, 'the body must be {"query": "...", "variables": {...}}')
    variables = body.get("variables")
    if variables is not None and not isinstance(variables, dict):
        return _graphql_error(400, "variables must be an object")
    operation = body.get("operationName")
    if operation is not None and not isinstance(operation, str):
        return _graphql_error(400, "operationName must be a string")
    if len(body["query"]) > MAX_QUERY_CHARACTERS:
        return _graphql_error(400, "the query is too long")
    document = _understood(body["query"])
    if isinstance(document, list):
        return Answer(200, {"data": None, "errors": [_shown(one) for one in document]})
    result = execute_sync(
        _SCHEMA,
        document,
        context_value=call,
        variable_values=variables,
        operation_name=operation,
    )
    errors = [_shown(one) for one in result.errors] if result.errors else None
    return Answer(200, {"data": result.data, "errors": errors})


def graphql_refusal(status: int, errors: list[Json], headers: dict[str, str] | None = None) -> Answer:
    """A refusal before the query is read, in GraphQL's form."""
    shown = [
        {"message": one["message"], "path": None, "extensions": {"code": str(one.get("code", status))}}
        for one in errors
    ]
    return Answer(status, {"data": None, "errors": shown}, headers=dict(headers or {}))


def zone_events(state: State, record: ZoneRecord, since: datetime, until: datetime) -> list[Event]:
    """The events of a zone with since <= datetime < until, oldest first; `datetime` is a datetime.

    Each stretch of time is judged by the WAFs that were on in it. Under a time scale the zone lives as many
    hours as the scale says in each real one, and its events are as many more.
    """
    modes = [_BEFORE, *state.migrations.modes(record.id)]
    clock, anchor = state.clock, state.anchor
    found: list[Event] = []
    for number, (begins, mode, entry_point) in enumerate(modes):
        ends = modes[number + 1][0] if number + 1 < len(modes) else until
        first, last = max(since, begins), min(until, ends)
        if first >= last:
            continue
        # A mode that began before is not followed back: times a scale, that may lie before the year 1.
        start = clock.stretched(first, anchor)
        for event in firewall_events(
            record.zone,
            since=start,
            until=clock.stretched(last, anchor),
            mode="complete" if mode == "default" else mode,
            entry_point=entry_point or {"name": "default", "rules": []},
            mode_since=start,
        ):
            moment = clock.shortened(parse_timestamp(event["datetime"]), anchor)
            found.append({**event, "datetime": moment})
    return found


def _zones(call: Call, wanted: dict[str, Any]) -> list[ZoneRecord]:
    tags = wanted.get("zoneTag_in") or ([wanted["zoneTag"]] if wanted.get("zoneTag") else [])
    if not tags:
        raise GraphQLError("zoneTag is required in the filter of zones")
    if len(tags) > MAX_ZONES:
        raise GraphQLError(f"at most {MAX_ZONES} zones can be asked for at once")
    records: list[ZoneRecord] = []
    for tag in tags:
        record = call.state.zones.get(str(tag))
        if record is None or not call.caller.reaches(record.id, record.zone.account):
            raise GraphQLError(
                f"zone {str(tag)[:64]!r} does not exist or is not authorized", extensions={"code": "authz"}
            )
        call.state.migrations.settle(record, call.now)
        call.record = record
        records.append(record)
    return records


def _resolve_viewer(_root: Any, _info: GraphQLResolveInfo[Call]) -> dict[str, Any]:
    return {}


def _resolve_zones(
    _viewer: Any, info: GraphQLResolveInfo[Call], filter: dict[str, Any], limit: Any = None
) -> list[ZoneRecord]:
    found = _zones(info.context, filter)
    return found if limit is None else found[: int(limit)]


def _resolve_tag(record: ZoneRecord, _info: GraphQLResolveInfo[Call]) -> str:
    return record.id


def _resolve_events(
    record: ZoneRecord,
    info: GraphQLResolveInfo[Call],
    filter: dict[str, Any],
    limit: Any,
    orderBy: list[str] | None = None,
) -> list[Event]:
    call: Call = info.context
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= call.options.events_limit:
        raise GraphQLError(f"limit must be a whole number from 1 to {call.options.events_limit}")
    since, until = _bounds(filter, call.now)
    if until - since > MAX_RANGE:
        raise GraphQLError(f"the time range is too wide: at most {MAX_RANGE.days} days can be asked for")
    events = [
        one
        for one in zone_events(call.state, record, since, min(until, call.now))
        if _shows(call, one) and _passes(one, filter)
    ]
    for order in reversed(orderBy or []):
        name, _, direction = order.rpartition("_")
        events.sort(key=lambda one: _sortable(one.get(name)), reverse=direction == "DESC")
    return events[:limit]


def _shows(call: Call, event: Event) -> bool:
    """Whether an event can be seen by now: each WAF's events may come late."""
    options = call.options
    late = options.old_events_late_seconds if event["source"] == "waf" else options.new_events_late_seconds
    moment: datetime = event["datetime"]
    return not late or moment + call.state.clock.lasting(late) <= call.now


def _sortable(value: Any) -> tuple[bool, Any]:
    return value is not None, value if value is not None else 0


def _bounds(wanted: dict[str, Any], now: datetime) -> tuple[datetime, datetime]:
    """The time range that a filter allows at most, the end exclusive."""
    since, until = LONG_AGO, now
    after = timedelta(microseconds=1)
    for part in [wanted, *(wanted.get("AND") or [])]:
        starts = [part[key] for key in ("datetime", "datetime_geq", "datetime_gt") if part.get(key)]
        since = max([since, *starts])
        ends = [part[key] + after for key in ("datetime", "datetime_leq") if part.get(key)]
        until = min([until, *ends, *([part["datetime_lt"]] if part.get("datetime_lt") else [])])
    return (until - USUAL_RANGE if since == LONG_AGO else since), until


def _passes(event: Event, wanted: dict[str, Any]) -> bool:
    for key, value in wanted.items():
        if value is None:
            continue
        if key == "AND":
            if not all(_passes(event, part) for part in value):
                return False
        elif key == "OR":
            if not any(_passes(event, part) for part in value):
                return False
        elif not _holds(event, key, value):
            return False
    return True


def _holds(event: Event, key: str, value: Any) -> bool:
    name, _, operator = key.rpartition("_")
    if not name:
        return _compared(event.get(key), value) == 0
    own = event.get(name)
    match operator:
        case "in":
            return any(_compared(own, one) == 0 for one in value)
        case "notin":
            return all(_compared(own, one) != 0 for one in value)
        case "neq":
            return _compared(own, value) != 0
        case "like" | "notlike":
            found = fnmatchcase(str(own or ""), str(value).replace("%", "*"))
            return found is (operator == "like")
    order = _compared(own, value)
    if order is None:
        return False
    return {"geq": order >= 0, "gt": order > 0, "leq": order <= 0, "lt": order < 0}[operator]


def _compared(own: Any, value: Any) -> int | None:
    """-1, 0 or 1; None when the two cannot be compared."""
    if isinstance(own, str):
        # Products write their names in different cases; the comparison leaves the case out.
        own, value = own.lower(), str(value).lower()
    if own is None or type(own) is not type(value):
        return None
    return int(own > value) - int(own < value)


@lru_cache(maxsize=256)
def _understood(query: str) -> DocumentNode | list[GraphQLError]:
    try:
        document = parse(query)
    except GraphQLError as error:
        return [error]
    return validate(_SCHEMA, document, _RULES) or document


def _shown(error: GraphQLError) -> Json:
    shown = dict(error.formatted)
    shown.setdefault("path", None)
    shown["extensions"] = {"timestamp": timestamp(datetime.now(UTC)), **(error.extensions or {})}
    return shown


def _graphql_error(status: int, message: str) -> Answer:
    return graphql_refusal(status, [{"message": message}])


def _resolved_schema() -> Any:
    schema = event_schema()
    for kind, field, resolver in (
        ("Query", "viewer", _resolve_viewer),
        ("viewer", "zones", _resolve_zones),
        ("zone", "zoneTag", _resolve_tag),
        ("zone", "firewallEventsAdaptive", _resolve_events),
    ):
        holder = schema.type_map[kind]
        if isinstance(holder, GraphQLObjectType):
            holder.fields[field].resolve = resolver
    return schema


_SCHEMA = _resolved_schema()
# Clients declare their variables as `string` or as `String`: both are taken.
_RULES: list[type[ASTValidationRule]] = [
    rule for rule in specified_rules if rule is not VariablesInAllowedPositionRule
]

ROUTES = [
    Route("POST", "/graphql", "graphql", query_events, ("analytics:read",), refusal=graphql_refusal),
]
