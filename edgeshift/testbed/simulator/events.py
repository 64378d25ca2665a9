"""The security events of a zone: generated traffic, judged by both stand-ins (docs/service.md §4.3,
observed).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from edgeshift.testbed.simulator.fleet_models import FleetZone
from edgeshift.testbed.simulator.signatures import Shape
from edgeshift.testbed.simulator.traffic import Client, Request, Stream, requests, streams
from edgeshift.testbed.simulator.verdicts import NewWaf, PreviousWaf, Verdict

Event = dict[str, Any]
Mode = Literal["start", "default", "validation", "complete"]

STATUS = {"block": 403, "challenge": 403, "managed_challenge": 403, "js_challenge": 503}


def firewall_events(
    zone: FleetZone,
    *,
    since: datetime,
    until: datetime,
    mode: Mode,
    entry_point: Mapping[str, Any] | None,
    mode_since: datetime,
) -> list[Event]:
    """The events with `since` <= datetime < `until`, oldest first; the same call gives the same events.

    `mode` is the zone's migration state since `mode_since`; before that only the previous WAF ran. In
    `validation` the new WAF judges first: when it stops a request the previous verdict is never seen; when
    it logs, both appear with one `rayName`. In `complete` only the new one judges, and in
    `default` it always did. `entry_point` is the ruleset that is in force.
    """
    since, until, mode_since = (moment.astimezone(UTC) for moment in (since, until, mode_since))
    if mode == "start" or (mode != "default" and mode_since >= until):
        return _judged(zone, since, until, PreviousWaf(zone), None)
    new = NewWaf(entry_point)
    begun = since if mode == "default" else max(since, mode_since)
    before = _judged(zone, since, begun, PreviousWaf(zone), None) if since < begun else []
    return before + _judged(zone, begun, until, PreviousWaf(zone) if mode == "validation" else None, new)


def _judged(
    zone: FleetZone, since: datetime, until: datetime, previous: PreviousWaf | None, new: NewWaf | None
) -> list[Event]:
    if until <= since:
        return []
    by_client = any(waf is not None and waf.by_client for waf in (previous, new))
    known: dict[tuple[Shape, str], tuple[Verdict, ...]] = {}

    def verdicts(shape: Shape, client: Client) -> tuple[Verdict, ...]:
        # Most expressions do not look at the client; then one judgement a shape is enough.
        key = (shape, client.address if by_client else "")
        if key not in known:
            known[key] = _verdicts(shape, request_fields(zone, shape, client), previous, new)
        return known[key]

    def seen(stream: Stream) -> bool:
        return any(verdicts(shape, client) for shape in stream.shapes for client in stream.clients)

    found: list[Event] = []
    only = [stream for stream in streams(zone) if seen(stream)]
    for request in requests(zone, since, until, only):
        for place, verdict in enumerate(verdicts(request.shape, request.client)):
            found.append(_event(zone, request, verdict, place))
    found.sort(key=lambda event: (event["datetime"], event["rayName"], event["matchIndex"]))
    return found


def _verdicts(
    shape: Shape, values: Mapping[str, Any], previous: PreviousWaf | None, new: NewWaf | None
) -> tuple[Verdict, ...]:
    found = new(shape, values) if new else []
    if previous and not (found and found[-1].terminates):
        found = [*found, *previous(shape, values)]
    return tuple(found)


def request_fields(zone: FleetZone, shape: Shape, client: Client) -> dict[str, Any]:
    """The fields of a request by their names in expressions."""
    uri = shape.path + (f"?{shape.query}" if shape.query else "")
    return {
        "http.host": zone.name,
        "http.request.method": shape.method,
        "http.request.uri": uri,
        "http.request.uri.path": shape.path,
        "http.request.uri.query": shape.query,
        "http.request.full_uri": f"https://{zone.name}{uri}",
        "http.user_agent": shape.agent,
        "http.request.version": "HTTP/2",
        "ip.src": client.address,
        "ip.geoip.country": client.country,
        "ip.geoip.asnum": client.asn,
        "cf.client.bot": False,
        "cf.threat_score": 0,
        "cf.edge.server_port": 443,
        "ssl": True,
    }


def _event(zone: FleetZone, request: Request, verdict: Verdict, place: int) -> Event:
    shape = request.shape
    return {
        "action": verdict.action,
        "source": verdict.source,
        "ruleId": verdict.rule_id,
        "rulesetId": verdict.ruleset_id,
        "description": verdict.description,
        "rayName": request.ray,
        "originatorRayName": "00",
        "matchIndex": place,
        "kind": "firewall",
        "datetime": request.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "sampleInterval": request.stands_for,
        "clientIP": request.client.address,
        "clientCountryName": request.client.country,
        "clientAsn": str(request.client.asn),
        "clientRequestHTTPHost": request.host,
        "clientRequestHTTPMethodName": shape.method,
        "clientRequestHTTPProtocol": "HTTP/2",
        "clientRequestScheme": "https",
        "clientRequestPath": shape.path,
        "clientRequestQuery": f"?{shape.query}" if shape.query else "",
        "userAgent": request.agent,
        "edgeResponseStatus": STATUS.get(verdict.action, 200),
    }
