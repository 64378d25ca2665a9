"""A scene for tests: the real simulator over HTTP, real workers on a real Temporal, a campaign, its people.

Whoever plays a scene ends it with ``check_rules``: the checkers judge every rule that it has a case of.
"""

from __future__ import annotations

from tests.kit.checkers import Scene
from tests.kit.clock import Looks, SkippedClock, eventually
from tests.kit.names import (
    APPROVER,
    BEFORE_REMOVAL,
    BUCKET,
    OPERATOR,
    OUT,
    REVOKED,
    SCALE,
    STRANGER,
    TOO_MANY_RULES,
    fleet_of,
    refused_credential,
)
from tests.kit.setting import scene

__all__ = [
    "APPROVER",
    "BEFORE_REMOVAL",
    "BUCKET",
    "OPERATOR",
    "OUT",
    "REVOKED",
    "SCALE",
    "STRANGER",
    "TOO_MANY_RULES",
    "Looks",
    "Scene",
    "SkippedClock",
    "eventually",
    "fleet_of",
    "refused_credential",
    "scene",
]
