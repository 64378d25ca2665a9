"""Finding a profile by its name. Pure."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator

from edgeshift.profiles.known import PROFILES
from edgeshift.profiles.profile import ServiceProfile


class UnknownProfile(ValueError):
    """No profile has this name; the text lists those that there are."""

    def __init__(self, name: str) -> None:
        near = get_close_matches(name, PROFILES, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        super().__init__(
            f"{name[:60]!r} is no profile of the service{meant}; there are {', '.join(PROFILES)}"
        )


def profile_named(name: str) -> ServiceProfile:
    """The profile of this name. Raises UnknownProfile."""
    if name not in PROFILES:
        raise UnknownProfile(name)
    return PROFILES[name]


def _known(name: str) -> str:
    return profile_named(name).name


ProfileName = Annotated[str, AfterValidator(_known)]
"""The name of a profile that there is."""
