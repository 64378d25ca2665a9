"""Everything that goes wrong beside a campaign, one thing at a time, at each place where it can."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from tests.harness.cases import Case, World
from tests.harness.disturbances import Acting
from tests.harness.disturbances.freezing import frozen_at
from tests.harness.disturbances.scenes import Beside, play_beside
from tests.harness.disturbances.ways import PAST_EVERY_TIMEOUT, SHORT_LEASE, WAYS
from tests.harness.families import (
    disturbances_beside,
    disturbances_drift,
    disturbances_operator,
    disturbances_words,
)
from tests.harness.switches import FENCED, FIRST_BYTE, place_of
from tests.harness.verdict import Verdict

FAMILY = "freeze"

COMES_WITHIN = 150.0
"""Seconds within which somebody comes to each place, also on a busy machine."""

AFTERWARDS = 4.0
"""Seconds in which a process that was woken does what it had in hand."""

ACTIVITIES: dict[str, tuple[str, ...]] = {
    "professional": (
        "start_zones",
        "prepare_waf_zone",
        "tell_campaign",
        "tell_zones",
        "change_zone",
        "verify_waf_zone",
    ),
    "enterprise": ("change_zone", "gather_evidence"),
    "overrides": ("change_zone",),
    "support": ("open_ticket",),
    "secret": ("prepare_esc_scope", "probe_esc_scope", "change_zone", "settle_esc_scope", "watch_esc_scope"),
    "shared": ("prepare_log_fields_zone", "change_zone", "settle_log_fields_zone", "watch_log_fields_zone"),
}


def cases() -> list[Case]:
    """Of every family here."""
    return [
        *_freezes(),
        *disturbances_operator.cases(),
        *disturbances_beside.cases(),
        *disturbances_words.cases(),
        *disturbances_drift.cases(),
    ]


def _freezes() -> list[Case]:
    """A process frozen around each activity, and at each place within a change."""
    found = []
    for way, activities in ACTIVITIES.items():
        places = [place_of(name, moment) for name in activities for moment in ("before", "after")]
        for place in [*(FENCED if "change_zone" in activities else ()), *places]:
            identifier = f"{FAMILY}/{WAYS[way].area}/{way}/{place}"
            found.append(Case(identifier, FAMILY, 2, partial(_frozen, identifier, way, place)))
    return found


async def _frozen(identifier: str, way: str, place: str, world: World) -> Verdict:
    async def act(acting: Acting) -> None:
        await frozen_at(acting, place, PAST_EVERY_TIMEOUT, 0, COMES_WITHIN)
        # What it had in hand when it was stopped, it may do now.
        await asyncio.sleep(AFTERWARDS)

    beside = Beside(act, (f"frozen {place}",), armed=place, whole=True, terms={"commit": SHORT_LEASE})
    if way == "shared" and place in FENCED:
        # It was frozen between two of the requests of which the step is made: what it wrote is taken back.
        beside = replace(beside, outcomes=frozenset({"rolled_back"}))
    if (way, place) == ("professional", FIRST_BYTE):
        # What cannot be closed: it is sent after everybody has given it up. Nobody sends it again meanwhile,
        # unless the policy says so, and the zone is told as unknown.
        terms = {"commit": {**SHORT_LEASE, "resend_unchanged": 0}}
        beside = replace(beside, terms=terms, outcomes=frozenset({"unknown"}))
    return await play_beside(identifier, WAYS[way], beside, world)
