"""What needs a person now: alarms, each with a stable code that docs/runbook.md has an entry for. Pure."""

from edgeshift.alarms.facts import CampaignFact, CheckFact, Facts, QuotaFact, StuckFact, ZoneFact
from edgeshift.alarms.kinds import Kind, Severity
from edgeshift.alarms.of_zones import alarm_codes
from edgeshift.alarms.rules import KINDS, Alarm, alarms_of

__all__ = [
    "KINDS",
    "Alarm",
    "CampaignFact",
    "CheckFact",
    "Facts",
    "Kind",
    "QuotaFact",
    "Severity",
    "StuckFact",
    "ZoneFact",
    "alarm_codes",
    "alarms_of",
]
