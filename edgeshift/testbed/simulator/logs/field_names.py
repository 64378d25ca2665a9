"""The datasets of log jobs, and the log fields of the dataset of requests (docs/service.md §2.3),
and what is known of those of the others (the provider's public list of log fields)."""

import re
from typing import Any

HTTP_REQUESTS = "http_requests"
DATASETS = (
    "dns_logs",
    "firewall_events",
    HTTP_REQUESTS,
    "nel_reports",
    "page_shield_events",
    "spectrum_events",
)
DEFAULT_FIELDS = (
    "ClientIP",
    "ClientRequestHost",
    "ClientRequestMethod",
    "ClientRequestURI",
    "EdgeEndTimestamp",
    "EdgeResponseBytes",
    "EdgeResponseStatus",
    "EdgeStartTimestamp",
    "RayID",
)
# What the simulated edge knows of a request; logs/entries.py says it of each.
KNOWN_FIELDS = (
    "ClientIP",
    "ClientRequestHost",
    "ClientRequestMethod",
    "ClientRequestPath",
    "ClientRequestProtocol",
    "ClientRequestReferer",
    "ClientRequestScheme",
    "ClientRequestURI",
    "ClientRequestUserAgent",
    "ClientXRequestedWith",
    "Cookies",
    "EdgeEndTimestamp",
    "EdgeRequestHost",
    "EdgeResponseBodyBytes",
    "EdgeResponseBytes",
    "EdgeResponseContentType",
    "EdgeResponseStatus",
    "EdgeStartTimestamp",
    "OriginResponseHTTPExpires",
    "OriginResponseHTTPLastModified",
    "OriginResponseStatus",
    "RayID",
    "RequestHeaders",
    "ResponseHeaders",
    "ZoneName",
)
# What it does not know, with the value that says so.
NEUTRAL_FIELDS: dict[str, Any] = {
    **dict.fromkeys(
        (
            "BotScoreSrc",
            "CacheCacheStatus",
            "ClientCountry",
            "ClientDeviceType",
            "ClientIPClass",
            "ClientMTLSAuthCertFingerprint",
            "ClientMTLSAuthStatus",
            "ClientRegionCode",
            "ClientRequestSource",
            "ClientSSLCipher",
            "ClientSSLProtocol",
            "EdgeColoCode",
            "EdgePathingOp",
            "EdgePathingSrc",
            "EdgePathingStatus",
            "EdgeRateLimitAction",
            "EdgeServerIP",
            "OriginIP",
            "OriginSSLProtocol",
            "SecurityLevel",
            "WAFAction",
            "WAFFlags",
            "WAFMatchedVar",
            "WAFProfile",
            "WAFRuleID",
            "WAFRuleMessage",
            "WorkerStatus",
        ),
        "",
    ),
    **dict.fromkeys(
        (
            "BotScore",
            "CacheResponseBytes",
            "CacheResponseStatus",
            "ClientASN",
            "ClientRequestBytes",
            "ClientSrcPort",
            "ClientTCPRTTMs",
            "EdgeColoID",
            "EdgeRateLimitID",
            "EdgeResponseCompressionRatio",
            "EdgeTimeToFirstByteMs",
            "OriginDNSResponseTimeMs",
            "OriginRequestHeaderSendDurationMs",
            "OriginResponseBytes",
            "OriginResponseDurationMs",
            "OriginResponseHeaderReceiveDurationMs",
            "OriginResponseTime",
            "OriginTCPHandshakeDurationMs",
            "OriginTLSHandshakeDurationMs",
            "SmartRouteColoID",
            "UpperTierColoID",
            "WorkerCPUTime",
            "WorkerSubrequestCount",
        ),
        0,
    ),
    **dict.fromkeys(
        ("CacheReserveUsed", "CacheTieredFill", "EdgeCFConnectingO2O", "WorkerSubrequest"), False
    ),
    **dict.fromkeys(
        ("BotTags", "FirewallMatchesActions", "FirewallMatchesRuleIDs", "FirewallMatchesSources"), ()
    ),
    "ParentRayID": "00",
    "ZoneID": 0,
}
HTTP_REQUESTS_FIELDS = frozenset(KNOWN_FIELDS) | frozenset(NEUTRAL_FIELDS)

# The fields of the other datasets, which nothing here logs.
OTHER_FIELDS: dict[str, tuple[str, ...]] = {
    "dns_logs": (
        "ColoCode",
        "EDNSSubnet",
        "EDNSSubnetLength",
        "QueryName",
        "QueryType",
        "ResponseCached",
        "ResponseCode",
        "SourceIP",
        "Timestamp",
    ),
    "firewall_events": (
        "Action",
        "ClientASN",
        "ClientASNDescription",
        "ClientCountry",
        "ClientIP",
        "ClientIPClass",
        "ClientRefererHost",
        "ClientRefererPath",
        "ClientRefererQuery",
        "ClientRefererScheme",
        "ClientRequestHost",
        "ClientRequestMethod",
        "ClientRequestPath",
        "ClientRequestProtocol",
        "ClientRequestQuery",
        "ClientRequestScheme",
        "ClientRequestUserAgent",
        "Datetime",
        "EdgeColoCode",
        "EdgeResponseStatus",
        "Kind",
        "MatchIndex",
        "Metadata",
        "OriginResponseStatus",
        "OriginatorRayID",
        "RayID",
        "RuleID",
        "Source",
    ),
    "nel_reports": (
        "ClientIPASN",
        "ClientIPASNDescription",
        "ClientIPCountry",
        "LastKnownGoodColoCode",
        "Phase",
        "Timestamp",
        "Type",
    ),
    "page_shield_events": (
        "Action",
        "CSPDirective",
        "Host",
        "PageURL",
        "PolicyID",
        "Timestamp",
        "URL",
        "URLContainsCDNCGIPath",
        "URLHost",
    ),
    "spectrum_events": (
        "Application",
        "ClientAsn",
        "ClientBytes",
        "ClientCountry",
        "ClientIP",
        "ClientPort",
        "ClientProto",
        "ColoCode",
        "ConnectTimestamp",
        "DisconnectTimestamp",
        "Event",
        "OriginBytes",
        "OriginIP",
        "OriginPort",
        "OriginProto",
        "ProxyProtocol",
        "Status",
        "Timestamp",
    ),
}
_OBJECTS = ("Cookies", "RequestHeaders", "ResponseHeaders", "Metadata")
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def described(dataset: str) -> dict[str, str]:
    """The fields of a dataset, each with what its value is; by name."""
    names = HTTP_REQUESTS_FIELDS if dataset == HTTP_REQUESTS else OTHER_FIELDS[dataset]
    return {name: _kind(name) for name in sorted(names)}


def fields_problem(names: list[str], dataset: str, *, any_field: bool = False) -> str | None:
    """What is wrong with a job's fields, in words; None if nothing. Of datasets that nothing here logs, any
    name will do, and with `any_field` of each."""
    for name in names:
        listed = dataset == HTTP_REQUESTS and not any_field
        known = name in HTTP_REQUESTS_FIELDS if listed else _FIELD.fullmatch(name)
        if not known:
            return f"'{name[:80]}' is not a log field of the dataset {dataset}"
    return "fields names a log field twice" if len(set(names)) < len(names) else None


def _kind(name: str) -> str:
    """Object, array, boolean, number or text, as far as the name or its empty value tells."""
    value = NEUTRAL_FIELDS.get(name, "")
    if name in _OBJECTS:
        return "object"
    if isinstance(value, tuple):
        return "array[string]"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int) or name.endswith(("Bytes", "Status", "Port")):
        return "int"
    return "int or string" if name.endswith(("Timestamp", "Datetime")) else "string"
