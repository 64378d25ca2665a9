"""The GraphQL schema of the security events, as far as docs/service.md §4.3 shows it."""

from datetime import datetime
from typing import Any

from graphql import (
    GraphQLError,
    GraphQLScalarType,
    GraphQLSchema,
    StringValueNode,
    ValueNode,
    extend_schema,
    parse,
)

from edgeshift.testbed.simulator.clock import parse_timestamp, timestamp

TEXT_FIELDS = (
    "action",
    "clientASNDescription",
    "clientAsn",
    "clientCountryName",
    "clientIP",
    "clientRefererHost",
    "clientRequestHTTPHost",
    "clientRequestHTTPMethodName",
    "clientRequestHTTPProtocol",
    "clientRequestPath",
    "clientRequestQuery",
    "clientRequestScheme",
    "description",
    "kind",
    "rayName",
    "ref",
    "ruleId",
    "rulesetId",
    "source",
    "userAgent",
)
NUMBER_FIELDS = ("edgeResponseStatus", "originResponseStatus", "matchIndex", "sampleInterval")
ORDERABLE = ("datetime", *TEXT_FIELDS, *NUMBER_FIELDS)


def event_schema() -> GraphQLSchema:
    """The schema without resolvers, but with the scalar `Time`."""
    bare = GraphQLSchema(types=[_TIME])
    return extend_schema(bare, parse(_sdl()))


def _sdl() -> str:
    operators = [
        f"{name}: string {name}_neq: string {name}_in: [string!] {name}_notin: [string!] "
        f"{name}_like: string {name}_notlike: string"
        for name in TEXT_FIELDS
    ]
    operators += [
        f"{name}: uint64 {name}_neq: uint64 {name}_in: [uint64!] {name}_geq: uint64 {name}_gt: uint64 "
        f"{name}_leq: uint64 {name}_lt: uint64"
        for name in NUMBER_FIELDS
    ]
    orders = " ".join(f"{name}_ASC {name}_DESC" for name in ORDERABLE)
    fields = " ".join(f"{name}: string" for name in TEXT_FIELDS)
    numbers = " ".join(f"{name}: uint64" for name in NUMBER_FIELDS)
    return f"""
    scalar string
    scalar uint64
    schema {{ query: Query }}
    type Query {{ viewer: viewer! }}
    type viewer {{ zones(filter: ZoneFilter_InputObject!, limit: uint64): [zone!]! }}
    input ZoneFilter_InputObject {{ zoneTag: string zoneTag_in: [string!] }}
    type zone {{
        zoneTag: string!
        firewallEventsAdaptive(
            filter: FirewallEventsAdaptiveFilter_InputObject!, limit: uint64!,
            orderBy: [FirewallEventsAdaptiveOrderBy!]
        ): [ZoneFirewallEventsAdaptive!]!
    }}
    type ZoneFirewallEventsAdaptive {{ datetime: Time! {fields} {numbers} }}
    input FirewallEventsAdaptiveFilter_InputObject {{
        AND: [FirewallEventsAdaptiveFilter_InputObject!] OR: [FirewallEventsAdaptiveFilter_InputObject!]
        datetime: Time datetime_geq: Time datetime_gt: Time datetime_leq: Time datetime_lt: Time
        {" ".join(operators)}
    }}
    enum FirewallEventsAdaptiveOrderBy {{ {orders} }}
    """


def _parsed_time(value: Any) -> datetime:
    if not isinstance(value, str):
        raise GraphQLError("Time must be a string such as 2000-01-01T00:00:00Z")
    try:
        return parse_timestamp(value)
    except ValueError:
        raise GraphQLError(f"{value[:40]!r} is not a Time such as 2000-01-01T00:00:00Z") from None


def _literal_time(node: ValueNode, _variables: dict[str, Any] | None = None) -> datetime:
    return _parsed_time(node.value if isinstance(node, StringValueNode) else None)


_TIME = GraphQLScalarType("Time", serialize=timestamp, parse_value=_parsed_time, parse_literal=_literal_time)
