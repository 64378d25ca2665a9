"""What the doctor asks of the area waf: permissions, and what the migration makes of a sensitivity."""

from __future__ import annotations

from edgeshift.areas import waf
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.parts import DoctorPart, Reads
from edgeshift.model.fleet import Zone
from edgeshift.service_api import ServiceClient


class WafDoctor(DoctorPart):
    """What a migration stands on."""

    rights = "give it permission to read and edit zone WAF and rulesets"
    edits = "#waf"

    def readings(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> Reads:
        """The migration's check, and the rules that it carries over."""
        return {
            "WAF migration": lambda: client.waf_check(zone.id),
            "rulesets": lambda: client.rulesets(zone.id),
            "page rules": lambda: client.page_rules(zone.id),
        }

    async def contradictions(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> list[str]:
        """Another paranoia level or threshold than the profile has for the zone's sensitivity."""
        status = (await client.waf_status(zone.id)).raw
        if waf.is_migrated(status) or waf.in_validation(status):
            return []
        core = [one for one in await client.waf_packages(zone.id) if one.detection_mode == "anomaly"]
        if not core or core[0].sensitivity in (None, "off"):
            return []
        sensitivity = str(core[0].sensitivity)
        setting = waf.score_of((await client.waf_config(zone.id)).raw)
        expected = spec.service.facts.score_setting(sensitivity)
        if setting is None or setting == (expected.paranoia_level, expected.score_threshold):
            return []
        level, threshold = setting
        return [
            f"{zone.name} would get paranoia level {level} with threshold {threshold} for the sensitivity"
            f" {sensitivity}, and not {expected.paranoia_level} with {expected.score_threshold}"
        ]


PART = WafDoctor()
