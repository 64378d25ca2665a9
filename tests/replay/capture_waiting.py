"""The acts of the capture in which what is no zone waits: a campaign that halted, a plan's assessment."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from temporalio.client import Client

from edgeshift.messages import HoldCalls, QuotaStart, ZonePhase
from edgeshift.model.fleet import assessment_id, campaign_id
from edgeshift.operations import assess
from edgeshift.rate_limit.circuit import MOST_HELD, Circuit, OpenCircuit, Standing, Trouble
from edgeshift.rate_limit.terms import PaceTerms
from tests.harness.aimed.scene import Stalled
from tests.kit import eventually, fleet_of, scene
from tests.kit.closing import begin_at_the_close, comparison_waits
from tests.kit.faults import staged, zone
from tests.kit.halted import NONE_MAY_FAIL, REFUSED, halted_with_one_ready
from tests.kit.heeded_late import heeded_late
from tests.kit.held_late import held_late
from tests.kit.left_paused import left_paused
from tests.kit.missed import missed_while_looked_at
from tests.kit.put_back import say_twice
from tests.kit.rejected_before import rejected_before, told_in_vain
from tests.kit.signing import Roster
from tests.kit.starting import ended_while_starting
from tests.kit.support_unheard import asked_in_vain, support_unheard
from tests.orchestration.test_nonsense import running
from tests.replay.keeping import is_in, keep


async def crowded(client: Client, folder: Path) -> None:
    """A quota with as many holds as there is room for, that is told of one more."""
    now = datetime.now(UTC)
    held = {
        f"env:{number}": OpenCircuit(trouble=Trouble.REFUSED, said="x", credential=f"env:{number}", since=now)
        for number in range(MOST_HELD)
    }
    terms = PaceTerms(limit=1200, window=300)
    start = QuotaStart(
        user="crowded", terms=terms, circuit=Circuit(holds=held, probe_at=now.timestamp() + 60)
    )
    async with running(client, "Quota", start) as quota:
        hold = OpenCircuit(trouble=Trouble.REFUSED, said="x", credential="env:EDGE_TOKEN", since=now)
        await quota.signal("hold", HoldCalls(hold=hold))

        async def kept() -> bool:
            found: Standing = await quota.query("standing", result_type=Standing)
            return found.holds[-1] == hold

        await eventually(kept, 20, "it is held")
        await keep("quota-crowded", quota)


async def halted(client: Client, folder: Path) -> None:
    """A campaign of which more zones failed than it allows, and that a person has go on."""
    fleet = fleet_of({"name": "failed.example", "plan": "pro"}, {"name": "waits.example", "plan": "pro"})
    async with scene(client, folder, fleet, **NONE_MAY_FAIL) as play:
        match = {"zone": play.zone_id("failed.example"), "call": "entrypoint.put"}
        refusal = {"match": match, "kind": "server_error", "effect": "before", "times": 1}
        await play.control.send("POST", "faults", {**refusal, "status": 400, "body": REFUSED})
        for name in ("failed.example", "waits.example"):
            await play.zone_until(name, partial(is_in, ZonePhase.AWAITING_SIGN_OFF))
        await play.sign_zone("failed.example")
        await play.until(lambda seen: seen.state == "halted")
        await play.sign_zone("waits.example")
        await play.until(lambda seen: seen.places.get("ready") == 1)
        campaign = client.get_workflow_handle(campaign_id(play.spec.name))
        await keep("campaign-halted", campaign)
        await play.ask("resume", "looked at it")
        await play.result()
        await keep("campaign-halted-closed", campaign)


async def paused_while_halted(client: Client, folder: Path) -> None:
    """A campaign that halted, was paused by a person, and goes on with the second resume."""
    async with halted_with_one_ready(client, folder) as stage:
        play = stage.play
        for verb in ("pause", "resume", "resume"):
            await play.ask(verb)
        await play.result()
        await keep("campaign-paused-while-halted", play.campaign)


async def begun_at_the_close(client: Client, folder: Path) -> None:
    """A campaign in which a zone begins again while its outcomes are compared, once it has ended."""
    kept = {"urls": ["{zone}/x"], "groups": {}, "rules": {}}
    zones = ({"name": "a", "plan": "pro"}, {"name": "b", "plan": "pro", "uri_overrides": [kept]})
    with comparison_waits() as go:
        async with staged(client, folder, *zones, authority=Roster()) as stage:
            play = stage.play
            await play.sign([(await stage.waits("a")).fingerprint])
            await play.until(lambda seen: seen.state == "closed", 60)
            await begin_at_the_close(stage, ended="a", again="b")
            go.set()
            await play.result()
            await keep("campaign-begun-at-its-close", play.campaign)


async def missed(client: Client, folder: Path) -> None:
    """A campaign that hears, of a zone which it had missed and started since, what a look of before found."""
    async with missed_while_looked_at(client, folder) as stage:
        await stage.finish()
        await keep("campaign-missed-while-looked-at", stage.play.campaign)


async def ended_in_its_batch(client: Client, folder: Path) -> None:
    """A campaign of which a zone has ended while the batch was starting that it was begun with."""
    async with ended_while_starting(client, folder) as stage:
        await stage.finish()
        await keep("campaign-ended-while-starting", stage.play.campaign)


async def looked_late(client: Client, folder: Path) -> None:
    """A campaign whose calls go on before a look has answered that found them held."""
    async with held_late(client, folder) as play:
        await play.sign_everything(120)
        await play.result()
        await keep("campaign-held-late", play.campaign)


async def paused_as_it_leaves(client: Client, folder: Path) -> None:
    """The run of a campaign that was paused as it left, and stays until the holder of a permit is told."""
    async with left_paused(client, folder) as (play, run):
        left = client.get_workflow_handle(play.campaign.id, run_id=run)

        async def over() -> bool:
            return (await left.describe()).close_time is not None

        await eventually(over, 60, "the run ends")
        await keep("campaign-paused-as-it-leaves", left)


async def aborted_at_the_close(client: Client, folder: Path) -> None:
    """A campaign that finds a signed abort as it finds its only zone ended.
    ``campaign-closed-over-its-abort`` is what the version before ``a-signed-abort-is-heeded-at-the-close``
    made of it.
    """
    async with heeded_late(client, folder) as (stage, first):
        play = stage.play
        first.over.clear()
        await play.sign_word("abort", "enough")
        await play.sign_zone(stage.name("a"))
        await play.result()
        await keep("campaign-aborted-at-its-close", play.campaign)


async def support_asked(client: Client, folder: Path) -> None:
    """A zone that waits for support with a permit to validate, and is asked what it waits for.
    ``zone-needs_support-unheard`` is what the version before ``support-is-said-with-a-permit-N`` made of it.
    """
    async with support_unheard(client, folder) as stage:
        await stage.play.until(lambda seen: seen.places.get("support") == 1)
        await keep("zone-needs_support-said-again", stage.play.zone(stage.name("a")))


async def support_asked_in_vain(client: Client, folder: Path) -> None:
    """The same of a zone that such a version was asked, and that is asked again since."""
    async with asked_in_vain(client, folder) as stage:
        await stage.play.until(lambda seen: seen.places.get("support") == 1, 60)
        await keep("zone-needs_support-asked-in-vain-first", stage.play.zone(stage.name("a")))


async def put_back(client: Client, folder: Path) -> None:
    """A zone that is given a permit once more which it had put back."""
    async with staged(client, folder, zone("a")) as stage:
        await say_twice(stage, "a")
        await stage.finish()
        await keep("zone-given-twice-migrated", stage.play.zone(stage.name("a")))


async def assessing(client: Client, folder: Path) -> None:
    """A plan's assessment while its targets are read, which may take hours in a large fleet, and its end."""
    stalled = Stalled("assess_targets")
    fleet = fleet_of({"name": "pro.example", "plan": "pro"})
    async with scene(client, folder, fleet, begin=False, interceptors=[stalled]) as play:
        planned = asyncio.create_task(assess(client, play.archive, play.spec))
        await stalled.begun.wait()
        assessment = client.get_workflow_handle(assessment_id(play.spec.name))
        await keep("assessment-read-begun", assessment)
        stalled.go.set()
        await planned
        await keep("assessment-read-closed", assessment)


async def ruled_out(client: Client, folder: Path) -> None:
    """A zone that is signed by itself, and ends since its fingerprint was rejected in an earlier start."""
    async with rejected_before(client, folder) as stage:
        await stage.play.result()
        await keep("zone-rejected-before-by-fingerprint", stage.play.zone(stage.name("b")))


async def ruled_out_in_vain(client: Client, folder: Path) -> None:
    """The same of a zone that a version before ``a-rejected-fingerprint-ends-signed-by-zone-N`` was told so
    in vain, and that is told again since.
    """
    async with told_in_vain(client, folder) as stage:
        await stage.play.result()
        await keep("zone-rejected-before-told-in-vain-first", stage.play.zone(stage.name("b")))
