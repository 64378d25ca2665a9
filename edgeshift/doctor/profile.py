"""Which profile of the service a campaign relies on, and what the service's own answers contradict of it
(docs/service.md §10).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.check import Check, State, ok
from edgeshift.doctor.parts import DOCTOR
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.fleet import Zone
from edgeshift.profiles import PROFILES, ServiceProfile
from edgeshift.rate_limit.others import remaining_of
from edgeshift.service_api import ServiceClient, ServiceError

CODE, NAME = CheckCode.PROFILE, "profile"


async def check_profile(
    client: ServiceClient, spec: CampaignSpec, zone: Zone | None, headers: Mapping[str, str]
) -> Check:
    """The profile in force, and what speaks against it: in ``headers`` of an answer, and in what the area
    reads of a zone. Nothing is written.
    """
    profile = spec.service.facts
    found = list(of_headers(headers, profile, spec.time_scale))
    if zone is not None:
        # What cannot be read contradicts nothing; the check of permissions says so.
        with suppress(ServiceError):
            found += await DOCTOR.of(spec.area).contradictions(client, spec, zone)
    if not found:
        return ok(CODE, NAME, f"{profile}; nothing that the service answered contradicts it")
    others = ", ".join(name for name in PROFILES if name != profile.name)
    fix = f"see docs/service.md §10; another one is chosen by service.profile: {others}"
    return Check(CODE, NAME, State.WARNING, f"{profile}, but {'; '.join(found)}", fix)


def of_headers(headers: Mapping[str, str], profile: ServiceProfile, scale: float) -> list[str]:
    """What the rate limit that an answer tells has against the profile's. ``scale``: by which a rehearsal
    shortens its window.
    """
    said, rate = remaining_of(headers), profile.rate
    if said is None:
        return []
    window = rate.window_seconds / scale
    if said.limit == rate.requests and abs(said.window - window) <= 1:
        return []
    return [
        f"Ratelimit-Policy says {said.limit:,} requests in {said.window:g} s, and not {rate.requests:,} in"
        f" {window:g} s: set service.rate by it"
    ]
