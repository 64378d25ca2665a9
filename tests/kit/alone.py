"""What a zone's workflow begins with that runs alone, without a campaign or a service."""

from __future__ import annotations

from typing import Any

from edgeshift.campaign.start import zone_policy
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import ZoneStart
from edgeshift.model.fleet import Area, Plan, Target, Zone


def zone_alone(name: str, **more: Any) -> ZoneStart:
    """A Professional zone of a campaign of waf with this name. ``more``: fields in place of its own."""
    spec = CampaignSpec.model_validate(
        {
            "name": name,
            "targets": {"all": True},
            "service": {"base_url": "http://127.0.0.1:9", "credentials": [{"token": "env:NOBODY"}]},
        }
    )
    start: dict[str, Any] = {
        "campaign": f"campaign/{name}",
        "campaign_run": "r",
        "index": 0,
        "attempt": 1,
        "target": Target(zone=Zone(id="1" * 32, name="a.example", account="2" * 32, plan=Plan.PRO), wave=0),
        "area": Area.WAF,
        "spec": "0" * 64,
        "policy": zone_policy(spec),
        "started_by": "olga",
    }
    return ZoneStart(**{**start, **more})
