"""Request logs in generated fleets, as data: the custom log fields and log jobs that zones have already."""

from collections.abc import Callable
from random import Random
from typing import Any

from edgeshift.profiles import SPECIFICATION
from edgeshift.testbed.simulator.fleet_logs import ZoneLogs
from edgeshift.testbed.simulator.fleet_models import FleetZone

Document = dict[str, Any]
BUCKET = "edge-logs"
"""The bucket of all generated jobs; a zone's entries lie below its name."""
MOST_FIELDS = SPECIFICATION.most_log_fields or 0

_PLAIN = "fields=RayID,EdgeStartTimestamp,ClientRequestHost,EdgeResponseStatus&timestamps=rfc3339"
_OWN = "timestamps=unixnano&fields=RayID,ClientIP,EdgeStartTimestamp,RequestHeaders&CVE-2021-44228=true"


def _job(name: str, options: str = _PLAIN, path: str = "http", **more: Any) -> Document:
    address = f"s3://{BUCKET}/{name}/{path}?region=eu-west-1"
    return {"name": path, "destination": address, "logpull_options": options, **more}


SHAPES: tuple[Callable[[str], Document], ...] = (
    lambda name: {"jobs": [_job(name)]},
    lambda name: {
        "fields": [
            {"description": "Tracing", "request_headers": ["x-request-id", "traceparent"]},
            {"description": "Shop", "cookies": ["Theme", "cart"], "response_headers": ["x-cache-key"]},
        ],
        "jobs": [_job(name, _OWN)],
    },
    lambda name: {
        "fields": [
            {
                "description": "Everything",
                "request_headers": [f"x-app-{number:02d}" for number in range(1, MOST_FIELDS + 1)],
            }
        ],
        "jobs": [_job(name)],
    },
    # No job at all, or none that can carry custom fields.
    lambda name: {},
    lambda name: {
        "fields": [],
        "jobs": [_job(name, "fields=QueryName&timestamps=unix", "dns", dataset="dns_logs")],
    },
    lambda name: {
        "fields": [{"description": "Not in use", "response_headers": ["server-timing"], "enabled": False}],
        "jobs": [_job(name), _job(name, _OWN, "archive", frequency="low")],
    },
)


def plant_logs(zones: list[FleetZone], seed: int, share: float) -> None:
    """Give a share of the Enterprise zones log fields and log jobs of their customers', in place; the first
    ones show each of `SHAPES`. Paused and pending zones get none."""
    random = Random(f"request logs {seed}")
    able = [
        zone for zone in zones if zone.plan == "enterprise" and zone.status == "active" and not zone.paused
    ]
    for place, zone in enumerate(random.sample(able, k=round(share * len(able)))):
        shape = SHAPES[place] if place < len(SHAPES) else random.choice(SHAPES)
        zone.logs = ZoneLogs.model_validate(shape(zone.name))
