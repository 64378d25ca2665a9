"""The plan that the service tells of a zone just before a change (docs/rules.md, rule 3)."""

from __future__ import annotations

from collections.abc import Set

from activities.change.area_work import FencedStep, in_time
from activities.change.not_sent import NotSent
from activities.waf.zone import present_plan
from edgeshift.areas import waf
from edgeshift.messages import ChangeStatus
from edgeshift.model.fleet import Plan
from edgeshift.service_api import NotUnderstood, Outcome


async def refuse_other_plan(step: FencedStep) -> None:
    """Raises NotSent with a drift where the zone is not Enterprise any more: its reading may be a day old. A
    difference is believed when it stays. An answer without a plan says nothing: NotUnderstood.
    """
    plan = await _plan_now(step, {Plan.ENTERPRISE})
    if not plan:
        said = "the zone's plan is not in the answer"
        raise NotUnderstood(said, call="zones.get", path=step.zone.name, outcome=Outcome.READ)
    if plan != Plan.ENTERPRISE.value:
        raise NotSent(f"the zone's plan is {plan} since it was read", ChangeStatus.DRIFTED)


async def refuse_unknown_plan(step: FencedStep) -> None:
    """Raises NotSent with a drift where the list does not tell the zone's plan, and the service does not say
    that it is one without a validation window: it may be an Enterprise zone, which has to be validated first.
    The zone is read again, and blocked.
    """
    if step.zone.plan is not Plan.OTHER:
        return
    plan = await _plan_now(step, waf.WITHOUT_WINDOW)
    if plan not in waf.WITHOUT_WINDOW:
        said = f"the zone's plan is {plan or 'not told'}, and it was not validated"
        raise NotSent(said, ChangeStatus.DRIFTED)


async def _plan_now(step: FencedStep, right: Set[Plan]) -> str:
    """The zone's plan as the service says it now: asked for once more where it is none of ``right``."""

    async def read() -> str:
        plan = await present_plan(step.client, step.zone, urgent=True)
        return plan if plan in right else await present_plan(step.client, step.zone, urgent=True)

    return await in_time(step, read(), "the zone's plan")
