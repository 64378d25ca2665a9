"""Words that only a campaign says to its zones, or zones to their campaign, or people to either, as anybody
may send them to Temporal.
"""

from __future__ import annotations

from edgeshift.authority.statements import ResultStatement
from edgeshift.messages import (
    Again,
    CampaignSignOff,
    Expire,
    PermitGrant,
    Person,
    ReportKind,
    Revoke,
    Ruling,
    SayAgain,
    Stop,
    SupportResolved,
    ZoneReport,
)
from edgeshift.messages.held_calls import GoOn
from edgeshift.model.fleet import ZoneOutcome
from edgeshift.model.sign_off import Choice
from tests.forgeries.running.attack import BOTH, ENEMY, Attack, Trace
from tests.forgeries.running.kinds import kind
from tests.kit import APPROVER
from tests.kit.signing import WORKER, about

# --- the campaign's words to a zone


@kind
async def a_permit_with_decisions(a: Attack) -> Trace:
    said = tuple(a.word(name, digest=a.state.fingerprint) for name in BOTH)
    grant = PermitGrant(campaign_run=await a.run(), permit=a.permit(), decisions=said)
    return await a.say("permit", grant)


@kind
async def a_permit_without_decisions(a: Attack) -> Trace:
    return await a.say("permit", PermitGrant(campaign_run=await a.run(), permit=a.permit()))


@kind
async def a_permit_of_another_campaign(a: Attack) -> Trace:
    said = tuple(a.word(name, digest=a.state.fingerprint) for name in BOTH)
    return await a.say("permit", PermitGrant(campaign_run="other", permit=a.permit(), decisions=said))


@kind
async def a_permit_beside_words(a: Attack) -> Trace:
    """The zone believes that it was approved, and that it may go on."""
    await a.claim()
    return await a.say("permit", PermitGrant(campaign_run=await a.run(), permit=a.permit()))


@kind
async def a_ruling_that_rejects(a: Attack) -> Trace:
    said = a.word(APPROVER, Choice.REJECT, a.state.fingerprint)
    return await a.say("ruling", Ruling(campaign_run=await a.run(), decision=said))


@kind
async def a_word_to_stop(a: Attack) -> Trace:
    return await a.say("stop", Stop(campaign_run=await a.run(), by=ENEMY, reason="forged"))


@kind
async def a_word_that_it_has_waited_too_long(a: Attack) -> Trace:
    return await a.say("expire", Expire(campaign_run=await a.run(), attempt=a.state.attempt))


@kind
async def a_word_that_takes_a_permit_back(a: Attack) -> Trace:
    return await a.say("revoke", Revoke(campaign_run=await a.run(), number=10**9))


@kind
async def a_word_to_go_on(a: Attack) -> Trace:
    return await a.say("go_on", GoOn(campaign_run=await a.run()))


@kind
async def a_word_to_say_it_again(a: Attack) -> Trace:
    return await a.say("say_again", SayAgain(campaign_run=await a.run()))


@kind
async def a_word_that_support_has_fixed_it(a: Attack) -> Trace:
    return await a.say("support_resolved", SupportResolved(by=ENEMY))


@kind
async def what_is_no_message(a: Attack) -> Trace:
    for name in ("sign_off", "permit", "ruling", "nobody"):
        trace = await a.say(name, {"by": {"name": ENEMY}})
    return trace


# --- words to the campaign


def _report(a: Attack, run: str, **more: object) -> ZoneReport:
    said: dict[str, object] = {
        "campaign_run": run,
        "index": a.index,
        "attempt": a.state.attempt,
        "sequence": 60_000,
        "kind": ReportKind.FINISHED,
        "outcome": ZoneOutcome.MIGRATED,
        "reason": ENEMY,
    }
    return ZoneReport.model_validate({**said, **more})


@kind
async def a_report_that_it_is_done(a: Attack) -> Trace:
    """With its run and its attempt, which anybody can read."""
    done = {"waf": ZoneOutcome.MIGRATED}.get(a.stage.play.spec.area.value, ZoneOutcome.SETTLED)
    await a.campaign.signal("zone_report", _report(a, await a.run(), outcome=done))
    return a.campaign


@kind
async def a_report_that_it_has_ended_otherwise(a: Attack) -> Trace:
    """So that nobody asks for it any more."""
    for outcome in (ZoneOutcome.BLOCKED, ZoneOutcome.FAILED, ZoneOutcome.ROLLED_BACK):
        await a.campaign.signal("zone_report", _report(a, await a.run(), outcome=outcome))
    return a.campaign


@kind
async def a_result_by_a_stranger(a: Attack) -> Trace:
    """A record that it is done, in the worker's name, and the word that says so."""
    start = await a.started_with()
    done = {"waf": ZoneOutcome.MIGRATED}.get(start.area.value, ZoneOutcome.SETTLED)
    result = ResultStatement(
        **about(a.stage.play.spec.service.base_url, a.name, start.area, WORKER),
        run=await a.run(),
        spec=start.spec,
        zone=a.state.zone.id,
        attempt=a.state.attempt,
        outcome=done,
    )
    await a.sign(result, a.stranger)
    await a.campaign.signal("zone_report", _report(a, await a.run(), outcome=done))
    return a.campaign


@kind
async def a_report_of_another_run(a: Attack) -> Trace:
    await a.campaign.signal("zone_report", _report(a, "another"))
    return a.campaign


@kind
async def a_report_of_an_attempt_that_nobody_began(a: Attack) -> Trace:
    await a.campaign.signal("zone_report", _report(a, await a.run(), attempt=200))
    return a.campaign


@kind
async def a_report_of_a_zone_that_is_none(a: Attack) -> Trace:
    for index in (-1, 10**9):
        await a.campaign.signal("zone_report", _report(a, await a.run(), index=index))
    return a.campaign


@kind
async def a_pause_by_nobody(a: Attack) -> Trace:
    """Whoever holds Temporal can stop a campaign there; its people have it go on."""
    trace = await a.ask(a.campaign, "pause", Person(by=ENEMY))
    await a.stage.play.ask("resume")
    return trace


@kind
async def a_retry_by_nobody(a: Attack) -> Trace:
    return await a.ask(a.campaign, "retry", Again(by=ENEMY, indexes=(a.index,)))


@kind
async def a_reopening_by_nobody(a: Attack) -> Trace:
    return await a.ask(a.campaign, "reopen", Again(by=ENEMY, indexes=(a.index,)))


@kind
async def a_sign_off_of_what_nobody_proposed(a: Attack) -> Trace:
    for name in BOTH:
        said = CampaignSignOff(choice=Choice.APPROVE, fingerprints=("7" * 64,), by=name, reason=ENEMY)
        trace = await a.ask(a.campaign, "sign_off", said)
    return trace
