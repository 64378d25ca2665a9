"""What the service is like at a given time: limits, dates and parameters, as dated data (docs/service.md
§10). Pure.

It is the lowest of the packages, and the one that the simulator and the invariant checkers share with the
rest: facts, and no behaviour. What each side makes of a fact is its own.
"""

from edgeshift.profiles.known import DEFAULT, PROFILES, PUBLIC_2025_04, SPECIFICATION
from edgeshift.profiles.lookup import ProfileName, UnknownProfile, profile_named
from edgeshift.profiles.profile import Counting, LogJobParameter, RateFacts, ScoreSetting, ServiceProfile

__all__ = [
    "DEFAULT",
    "PROFILES",
    "PUBLIC_2025_04",
    "SPECIFICATION",
    "Counting",
    "LogJobParameter",
    "ProfileName",
    "RateFacts",
    "ScoreSetting",
    "ServiceProfile",
    "UnknownProfile",
    "profile_named",
]
