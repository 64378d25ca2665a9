"""What the doctor asks of the area: whether the setting can be read."""

from __future__ import annotations

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.parts import DoctorPart, Reads
from edgeshift.model.fleet import Zone
from edgeshift.service_api import ServiceClient
from edgeshift_always_https.rules import SETTING


class AlwaysHttpsDoctor(DoctorPart):
    """What the change stands on."""

    rights = "give it permission to read and edit settings of its zones"

    def readings(self, client: ServiceClient, spec: CampaignSpec, zone: Zone) -> Reads:
        """The setting of one zone."""
        return {"the setting Always Use HTTPS": lambda: client.setting(zone.id, SETTING)}


PART = AlwaysHttpsDoctor()
