"""The codes of what ``edgeshift doctor`` checks (edgeshift/doctor/check.py). Pure."""

from __future__ import annotations

from enum import StrEnum

from edgeshift.model.area_codes import of_an_area


class CheckCode(StrEnum):
    """What a check is about: programs decide by it, and its title is for people. Codes keep their names: they
    stand in JSON. Those of an installed area's own checks are not listed here: they begin with the area's
    name and a dot (``AREA.setting``).
    """

    # What every campaign stands on.
    TEMPORAL = "temporal"
    SEARCH_ATTRIBUTES = "search_attributes"
    RETENTION = "retention"
    WORKER = "worker"
    ROOTS = "roots"
    ROOTS_HERE = "roots_here"
    WORKER_KEYS = "worker_keys"
    CLOCK_TEMPORAL = "clock_temporal"
    ARCHIVE = "archive"
    ARCHIVE_RECORDS = "archive_records"
    ARCHIVE_CAMPAIGNS = "archive_campaigns"
    TICKETS = "tickets"

    # The service, from here.
    SERVICE = "service"
    CLOCK_SERVICE = "clock_service"
    CREDENTIAL = "credential"
    CREDENTIAL_RIGHTS = "credential_rights"
    CREDENTIAL_ZONES = "credential_zones"
    PROFILE = "profile"
    HELD_CALLS = "held_calls"

    # What areas stand on beside the service.
    REMOVAL_DATE = "removal_date"
    PROBE = "probe"
    LOG_ENTRIES = "log_entries"
    LOG_DESTINATION = "log_destination"

    @classmethod
    def _missing_(cls, value: object) -> CheckCode | None:
        return of_an_area(cls, value)
