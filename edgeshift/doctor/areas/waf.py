"""What the doctor asks of the area waf: permissions alone."""

from __future__ import annotations

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.parts import DoctorPart, Reads
from edgeshift.model.fleet import Zone
from edgeshift.service_api import ServiceClient


class WafDoctor(DoctorPart):
    """What a migration stands on."""

    rights = "give it permission to read and edit zone WAF and rulesets"

    def readings(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> Reads:
        """The migration's check, and the rules that it carries over."""
        return {
            "WAF migration": lambda: client.waf_check(zone.id),
            "rulesets": lambda: client.rulesets(zone.id),
            "page rules": lambda: client.page_rules(zone.id),
        }


PART = WafDoctor()
