"""The datasets of log jobs, and the log fields of the dataset of requests (docs/service.md §2.3)."""

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
