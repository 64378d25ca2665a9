"""The paths of esc at each of whose activities a worker is killed."""

from __future__ import annotations

from typing import Any

from tests.harness.campaigns.stages import ESC, esc_zone, over
from tests.harness.kills.scene import Course
from tests.kit.faults import Stage

BEGIN = ("resolve_targets", "recall_rulings", "start_zones", "prepare_esc_scope")
SECRET = ("tell_campaign", "tell_zones", "change_zone", "prepare_esc_scope")
TURN_OFF = ("probe_esc_scope", "record_rulings", "tell_zones", "change_zone", "settle_esc_scope")
WATCH = ("tell_campaign", "watch_esc_scope")
BACK = ("change_zone", "settle_esc_scope", "watch_esc_scope")
ACCOUNT: dict[str, Any] = over(ESC, esc={"scope": "account"})

SET_SECRET = ("esc.set", "with_secret")
ALWAYS = ("esc.set", "always")
DELETE = ("esc.delete", "")


async def _off(stage: Stage) -> list[str]:
    return [f"{name} is on" for name in stage.names if not await stage.play.is_off(stage.name(name))]


async def _on(stage: Stage) -> list[str]:
    return [f"{name} is off" for name in stage.names if await stage.play.is_off(stage.name(name))]


COURSES: dict[str, Course] = {
    "test secret": Course(
        zones=(esc_zone("plain"),),
        terms=ESC,
        activities=(*BEGIN, *SECRET, *TURN_OFF, *WATCH, "tell_campaign"),
        changes=[SET_SECRET, ALWAYS],
        outcome="settled",
        holds=_off,
    ),
    "own secret": Course(
        zones=(esc_zone("own", own=True),),
        terms=ESC,
        activities=(*BEGIN, *TURN_OFF, *WATCH, "tell_campaign"),
        changes=[ALWAYS],
        outcome="settled",
        holds=_off,
    ),
    "account": Course(
        zones=(esc_zone("first"), esc_zone("second")),
        terms=ACCOUNT,
        activities=(
            *BEGIN,
            "hold_zones",
            *SECRET,
            *TURN_OFF,
            *WATCH,
            "release_zones",
            "tell_campaign",
        ),
        changes=[SET_SECRET, ALWAYS],
        outcome="settled",
        holds=_off,
    ),
    "rolled back": Course(
        zones=(esc_zone("worse", worse=True),),
        terms=ESC,
        activities=(*BEGIN, *SECRET, *TURN_OFF, *WATCH, *BACK, "tell_campaign"),
        changes=[SET_SECRET, ALWAYS, DELETE],
        outcome="rolled_back",
        holds=_on,
    ),
}
