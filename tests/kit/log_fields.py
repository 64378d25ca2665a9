"""A zone with a log job and another team's fields; its campaign takes its own back where nobody logs them."""

from __future__ import annotations

from typing import Any

from tests.kit import BUCKET, Scene

SPEC: dict[str, Any] = {
    "area": "log-fields",
    "log_fields": {
        "request_headers": ["user-agent"],
        "verify": "8h",
        "every": "2h",
        "unverified": "roll_back",
    },
    "commit": {"migration_limit": "8s", "poll": "1s"},
}
FOREIGN = {"request_headers": ["x-team"], "description": "of another team"}


def job_of(name: str) -> dict[str, str]:
    """The customer's log job of a zone."""
    return {
        "destination": f"s3://{BUCKET}/{name}?region=eu-west-1",
        "logpull_options": "fields=RayID&timestamps=rfc3339",
        "name": "customers",
    }


def logged_zone(name: str) -> dict[str, Any]:
    """The zone, for a fleet."""
    return {"name": name, "plan": "enterprise", "logs": {"jobs": [job_of(name)], "fields": [FOREIGN]}}


async def ruleset(play: Scene, name: str) -> dict[str, Any]:
    """The zone's ruleset of custom log fields."""
    found = await play.control.get(f"zones/{play.zone_id(name)}")
    (one,) = [item for item in found["rulesets"] if item["phase"] == "http_log_custom_fields"]
    return dict(one)
