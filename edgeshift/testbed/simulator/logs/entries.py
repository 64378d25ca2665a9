"""One line of a request log: a job's fields, and the custom fields of the zone (docs/service.md §2.3, §8)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from edgeshift.profiles import ServiceProfile
from edgeshift.testbed.simulator.edge_exchange import EdgeExchange, Headers
from edgeshift.testbed.simulator.log_fields import CustomFields
from edgeshift.testbed.simulator.logs.field_names import NEUTRAL_FIELDS
from edgeshift.testbed.simulator.logs.pull_options import PullOptions, Timestamps
from edgeshift.testbed.simulator.options import LogFields

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# What is over the limit is cut off from the end of this order.
CUSTOM_OBJECTS = ("RequestHeaders", "Cookies", "ResponseHeaders")


@dataclass(frozen=True)
class Logged:
    """An exchange of a zone, with the custom fields that the zone had then."""

    exchange: EdgeExchange
    zone_name: str
    custom: CustomFields


def entry(logged: Logged, options: PullOptions, limits: LogFields, facts: ServiceProfile) -> bytes:
    """The line of an exchange, a JSON object and a newline: exactly the fields of the options, in their
    order, but for those that there are not."""
    objects = custom_objects(logged, options.fields, limits, facts)
    document: dict[str, Any] = {}
    for name in options.fields:
        if name in CUSTOM_OBJECTS:
            if objects[name] or limits.empty_carriers == "written":
                document[name] = objects[name]
        elif name in ("EdgeStartTimestamp", "EdgeEndTimestamp"):
            exchange = logged.exchange
            ended = exchange.ended_at or exchange.at
            moment = exchange.at if name == "EdgeStartTimestamp" else ended
            document[name] = written(moment, options.timestamps)
        elif name == "ZoneName":
            document[name] = logged.zone_name
        elif name in _VALUES:
            document[name] = _VALUES[name](logged.exchange)
        elif name in NEUTRAL_FIELDS:
            document[name] = NEUTRAL_FIELDS[name]
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace") + b"\n"


def written(moment: datetime, form: Timestamps) -> str | int:
    """A moment as the option `timestamps` wants it: seconds, nanoseconds, or RFC 3339 to the second."""
    since = moment - _EPOCH
    if form == "unix":
        return since // timedelta(seconds=1)
    if form == "unixnano":
        return since // timedelta(microseconds=1) * 1000
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def custom_objects(
    logged: Logged, fields: Sequence[str], limits: LogFields, facts: ServiceProfile
) -> dict[str, dict[str, str]]:
    """The custom fields that the exchange has, name to value, for each of the objects among `fields`.

    Of a request header the first instance counts, as it came from the client. Of a response header it is the
    one that the origin sent, or, where the profile says transformed, the one that went out; a rule may choose
    the origin's, and every instance, joined by commas. Together the values have at most `limits.data_bytes`
    bytes of UTF-8: what is over is cut off, in the order request headers, cookies, response headers, and
    within each in the order of the rules; a value of which nothing is left is empty.
    """
    exchange, custom = logged.exchange, logged.custom
    present = {
        "RequestHeaders": (custom.request_headers, _first(exchange.request_headers)),
        "Cookies": (custom.cookies, cookies(exchange.request_headers)),
        "ResponseHeaders": (
            (*custom.response_headers, *custom.raw_response_headers),
            _responded(exchange, custom, facts),
        ),
    }
    left = float("inf") if limits.data_bytes is None else limits.data_bytes
    found: dict[str, dict[str, str]] = {}
    for name in CUSTOM_OBJECTS:
        if name not in fields:
            continue
        wanted, there = present[name]
        found[name] = {}
        for field in wanted:
            if field in there:
                if limits.data_counts_names:
                    left = max(0, left - len(field.encode()))
                whole = there[field].encode("utf-8", "replace")
                value = whole if left >= len(whole) else whole[: int(left)]
                left -= len(value)
                # A character that the cut went through goes as a whole.
                found[name][field] = value.decode("utf-8", "ignore")
    return found


def _responded(exchange: EdgeExchange, custom: CustomFields, facts: ServiceProfile) -> dict[str, str]:
    """The values of the response headers that the zone logs, as they are logged."""
    changed = facts.response_headers == "transformed"
    found: dict[str, str] = {}
    for names, headers in (
        (custom.response_headers, exchange.response_headers if changed else exchange.origin_headers),
        (custom.raw_response_headers, exchange.origin_headers),
    ):
        for wanted in names:
            values = [value for name, value in headers if name == wanted]
            if values:
                found[wanted] = ", ".join(values) if wanted in custom.every_value else values[0]
    return found


def cookies(headers: Headers) -> dict[str, str]:
    """The cookies of a request, as sent; of several of one name, the first."""
    found: dict[str, str] = {}
    for name, value in headers:
        if name == "cookie":
            for part in value.split(";"):
                key, equals, content = part.strip().partition("=")
                if key and equals:
                    found.setdefault(key, content)
    return found


def _first(headers: Headers) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in headers:
        found.setdefault(name, value)
    return found


def _request(name: str) -> Callable[[EdgeExchange], str]:
    return lambda exchange: _first(exchange.request_headers).get(name, "")


def _origin(name: str) -> Callable[[EdgeExchange], str]:
    return lambda exchange: _first(exchange.origin_headers).get(name, "")


_VALUES: dict[str, Callable[[EdgeExchange], Any]] = {
    "ClientIP": lambda exchange: exchange.client_ip,
    "ClientRequestHost": lambda exchange: exchange.host,
    "ClientRequestMethod": lambda exchange: exchange.method,
    "ClientRequestPath": lambda exchange: exchange.path,
    "ClientRequestProtocol": lambda exchange: "HTTP/1.1",
    "ClientRequestReferer": _request("referer"),
    "ClientRequestScheme": lambda exchange: exchange.scheme,
    "ClientRequestURI": lambda exchange: (
        f"{exchange.path}?{exchange.query}" if exchange.query else exchange.path
    ),
    "ClientRequestUserAgent": _request("user-agent"),
    "ClientXRequestedWith": _request("x-requested-with"),
    "EdgeRequestHost": lambda exchange: exchange.host,
    "EdgeResponseBodyBytes": lambda exchange: exchange.response_bytes,
    "EdgeResponseBytes": lambda exchange: exchange.response_bytes,
    "EdgeResponseContentType": lambda exchange: _first(exchange.response_headers).get("content-type", ""),
    "EdgeResponseStatus": lambda exchange: exchange.status,
    "OriginResponseHTTPExpires": _origin("expires"),
    "OriginResponseHTTPLastModified": _origin("last-modified"),
    "OriginResponseStatus": lambda exchange: exchange.origin_status,
    "RayID": lambda exchange: exchange.ray,
}
