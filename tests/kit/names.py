"""What scenes of tests have in common: their people, their pace, their fleets."""

from __future__ import annotations

import json
from typing import Any

from edgeshift.testbed.simulator.fleet_file import Fleet

SCALE = 14_400.0
"""Of scenes on a server that does not skip time: four hours a second."""

BEFORE_REMOVAL = "2023-10-02T08:00:00Z"
"""What the simulator says the time is in scenes of esc, unless they say it themselves."""

BUCKET = "request-logs"
"""The bucket that log jobs push to, as a fleet's ``s3://request-logs/ZONE?region=eu-west-1``."""

OPERATOR = "olga"
APPROVER = "ann"


STRANGER: dict[str, Any] = {
    "action": "log_custom_field",
    "expression": "true",
    "description": "written in between",
    "action_parameters": {"cookie_fields": [{"name": "Stranger"}]},
}
"""The rule of custom log fields that somebody else writes beside a campaign."""

TOO_MANY_RULES: list[dict[str, Any]] = [
    {"expression": f"ip.src eq 192.0.2.{number % 250}", "products": ["waf"]} for number in range(201)
]
"""One rule more than the service migrates."""


def refused_credential(said: str = "Invalid access token") -> dict[str, Any]:
    """A fault of the service's by which it takes no credential, in these words."""
    told = {
        "success": False,
        "errors": [{"code": 9109, "message": said}],
        "messages": [{"message": said}],
        "result": None,
    }
    return {"kind": "server_error", "effect": "before", "status": 403, "body": json.dumps(told)}


REVOKED = refused_credential()
OUT: dict[str, Any] = {"kind": "server_error", "effect": "before", "status": 500}


def fleet_of(*zones: dict[str, Any], **more: Any) -> Fleet:
    """A fleet of these zones, as a fleet file would have them, in one account with one token."""
    return Fleet.model_validate({"zones": list(zones), **more})
