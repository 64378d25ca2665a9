"""Scenes of esc and log-fields that each go for one rule: sign-off, rollback, secrets, rules of others."""

from __future__ import annotations

from tests.harness.aimed.scene import judged
from tests.harness.campaigns.authority import ONE
from tests.harness.campaigns.play import STRANGER, keep_histories
from tests.harness.campaigns.stages import LISTS, LOG_FIELDS, esc_stage, esc_zone, log_stage, log_zone, over
from tests.harness.cases import World
from tests.harness.oracles.judging import STRANGERS, WANTED_FIELDS, shown
from tests.harness.oracles.reversible import (
    Ending,
    Logged,
    esc_complaints,
    log_complaints,
    own_secret_complaints,
)
from tests.harness.verdict import Verdict
from tests.kit.faults import Stage

STILL_OFF = '{"always": false}'


async def esc_plain(world: World) -> Verdict:
    """A scope that is turned off, one that gets worse by it, one with a secret of the customer's own. Every
    history is searched for secrets too.
    """
    zones = (esc_zone("plain"), esc_zone("worse", worse=True), esc_zone("own", own=True))
    histories = world.folder / "histories"
    async with esc_stage(world.client, world.folder, *zones, authority=ONE) as stage:

        async def as_said() -> list[str]:
            return await esc_as_said(stage, own={"own"})

        async def keep() -> None:
            await keep_histories(stage.play.client, histories)

        return await judged(stage, {3, 4, 7}, searched=[histories], closed=keep, beside=as_said)


async def esc_way_back_lost(world: World) -> Verdict:
    """It gets worse, and the service answers the rollback without making it."""
    async with esc_stage(
        world.client, world.folder, esc_zone("worse", worse=True), begin=False, authority=ONE
    ) as stage:
        await stage.fault("server_error", "esc.delete", "worse", effect="before", status=200, body=STILL_OFF)
        await stage.play.begin()

        async def as_said() -> list[str]:
            return await esc_as_said(stage, own=set())

        return await judged(stage, {3, 4, 7}, beside=as_said)


async def esc_as_said(stage: Stage, own: set[str]) -> list[str]:
    """What the edge and the setting have against each scope's outcome."""
    found = []
    for name in stage.names:
        result = await stage.play.zone(stage.name(name)).result()
        edge = await stage.play.oracle(stage.name(name))
        setting = edge["zone"]
        ending = Ending(name, result.outcome.value, result.reason)
        found += esc_complaints(ending, edge, setting, own_secret=name in own)
        if name in own:
            found += own_secret_complaints(ending, setting["history"])
    return found


async def stranger_writes(world: World) -> Verdict:
    """Somebody else writes the ruleset just before our rules are put over it."""
    terms = over(LOG_FIELDS, log_fields={"unverified": "roll_back", "verify": "4s"})
    async with log_stage(
        world.client, world.folder, log_zone("a", foreign=True), begin=False, authority=ONE, **terms
    ) as stage:
        before = await shown(stage)
        await stage.play.stranger(stage.name("a"), [STRANGER], when="before_put", how="append")
        await stage.play.begin()

        async def as_said() -> list[str]:
            result = await stage.play.zone(stage.name("a")).result()
            after = await shown(stage)
            return log_complaints(
                Ending("a", result.outcome.value, result.reason),
                Logged.of(before["a"]),
                Logged.of(after["a"]),
                WANTED_FIELDS,
                LISTS,
                STRANGERS,
            )

        async with stage.play.visited(stage.name("a"), count=4, every=1):
            return await judged(stage, {3, 4, 7}, beside=as_said)
