"""The service's typed client (docs/service.md §4)."""

from __future__ import annotations

from edgeshift.service_api.esc import EscCalls
from edgeshift.service_api.events import EventCalls
from edgeshift.service_api.log_jobs import LogJobCalls
from edgeshift.service_api.migration import MigrationCalls
from edgeshift.service_api.previous_waf import PreviousWafCalls
from edgeshift.service_api.zone_settings import SettingCalls
from edgeshift.service_api.zones import ZoneCalls


class ServiceClient(
    ZoneCalls, MigrationCalls, PreviousWafCalls, EventCalls, EscCalls, LogJobCalls, SettingCalls
):
    """Every call that edgeshift makes of the service.

    One method is one call, or the pages of one list. Nothing is retried here, neither reads nor writes: a
    failure is raised as a ServiceError that says what can have come of it, and the caller decides; of the
    list of zones, the caller can ask page by page. Every call waits for its turn at the pacer, which is told
    when the service refuses further calls.
    """
