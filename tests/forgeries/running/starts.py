"""Every workflow that edgeshift's workers register, started by the enemy: under ids of his own and ids like
those of the campaign, with state that nobody carried; and messages to those that take some from anybody.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel
from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.campaign.ledger import Ledger
from edgeshift.messages import (
    AskProbe,
    AssessmentStart,
    Blocked,
    CampaignCarried,
    Fixed,
    Hold,
    HoldCalls,
    LeaseRequest,
    PermitGrant,
    QuotaStart,
    ResolveTargets,
    ZoneCarried,
)
from edgeshift.model.fleet import migration_id, quota_id
from edgeshift.quota.leases import terms_of
from edgeshift.rate_limit.circuit import Circuit, OpenCircuit, Trouble
from edgeshift.rate_limit.terms import Lane, PaceTerms
from edgeshift.runtime.queues import Queue
from tests.forgeries.running.attack import ENEMY, WORKFLOWS, Attack, Trace
from tests.forgeries.running.dresses import (
    Dress,
    by_a_strangers_proxy,
    by_a_strangers_service,
    in_a_later_attempt,
    in_its_own_name,
    of_another_zone,
    with_a_planted_proposal,
    with_a_planted_proposal_on_the_way_back,
)
from tests.forgeries.running.foreign import ended
from tests.forgeries.running.kinds import KINDS, Kind
from tests.forgeries.running.starting import A_WHILE, beside, lasting, started

NOT_TRIED: dict[str, str] = {}
"""Workflows that workers register and that no forgery has started, each with the reason."""

SOON = timedelta(seconds=5)


# --- lists and assessments


@started("TargetList", Queue.CONTROL, in_its_own_name, by_a_strangers_service, by_a_strangers_proxy)
async def _listed(a: Attack, dress: Dress) -> Sequence[BaseModel]:
    return (ResolveTargets(spec=dress.spec),)


@started("Assessment", Queue.CONTROL, in_its_own_name, by_a_strangers_service, by_a_strangers_proxy)
async def _assessed(a: Attack, dress: Dress) -> Sequence[BaseModel]:
    return (AssessmentStart(name=a.name, spec=dress.spec, batch=-1, parallel=1_000),)


# --- zones


async def _carrying(a: Attack, dress: Dress) -> Sequence[BaseModel]:
    """A zone that has been approved by everybody, has a permit, has sent its change, and has shown what
    people ask for.
    """
    prepared = dress.prepared.model_copy(update={"begun": True, "way_back": dress.back})
    carried = ZoneCarried(
        sequence=50_000,
        resends=0,
        decisions=dress.decisions,
        evidence=a.state.evidence or "4" * 64,
        evidence_verdict=EvidenceVerdict.PASS,
        sent=prepared,
        begun=prepared,
        validated=prepared.proposal,
        asked_at=datetime.now(UTC),
        grant=PermitGrant(
            campaign_run=dress.start.campaign_run, permit=dress.permit, decisions=dress.decisions
        ),
    )
    return (dress.start.model_copy(update={"carried": carried, "permit": dress.permit}),)


async def _granted(a: Attack, dress: Dress) -> Sequence[BaseModel]:
    """A zone that has read nothing, by what is said to have been planned, with a permit."""
    return (dress.start.model_copy(update={"planned": dress.prepared, "permit": dress.permit}),)


def _id_of_ours(a: Attack, dress: Dress) -> str:
    return migration_id(dress.zone, dress.start.area)


def _id_like_ours(a: Attack, dress: Dress) -> str:
    return f"zone/{uuid.uuid4().hex}/{dress.start.area.value}"


for _area, _workflow in WORKFLOWS.items():
    _carried = (
        in_its_own_name,
        of_another_zone,
        in_a_later_attempt,
        by_a_strangers_service,
        with_a_planted_proposal,
        with_a_planted_proposal_on_the_way_back,
    )
    started(_workflow, Queue.ZONES, *_carried)(_carrying)
    started(
        _workflow,
        Queue.ZONES,
        in_its_own_name,
        areas=(_area,),
        as_=f"{_workflow}_under_an_id_like_ours",
        like=_id_like_ours,
    )(_carrying)
    started(
        _workflow,
        Queue.ZONES,
        in_its_own_name,
        areas=(_area,),
        as_=f"{_workflow}_under_the_id_of_ours",
        like=_id_of_ours,
    )(_carrying)
    started(
        _workflow,
        Queue.ZONES,
        in_its_own_name,
        with_a_planted_proposal,
        as_=f"{_workflow}_with_a_plan",
    )(_granted)


# --- campaigns


async def _campaign(a: Attack, dress: Dress) -> Sequence[BaseModel | bytes]:
    """A campaign of the same name that carries on what it never began: every target is known as new."""
    now = datetime.now(UTC)
    ledger = Ledger(dress.campaign.count, now, timedelta(seconds=1), waves=dress.campaign.waves)
    carried = CampaignCarried(
        ledger=ledger.packed(),
        started_at=now,
        wave=0,
        origin=dress.start.origin or dress.start.campaign_run,
        resumed_by_hand=True,
    )
    return dress.campaign.model_copy(update={"carried": carried, "started_by": ENEMY}).arguments()


async def _campaign_of_nonsense(a: Attack, dress: Dress) -> Sequence[BaseModel | bytes]:
    """The same, whose ledger is no ledger."""
    start, _ = await _campaign(a, dress)
    return start, b"\x01" + ENEMY.encode()


async def _new_campaign(a: Attack, dress: Dress) -> Sequence[BaseModel | bytes]:
    return dress.campaign.model_copy(update={"started_by": ENEMY}).arguments()


def _campaign_like_ours(a: Attack, dress: Dress) -> str:
    return f"campaign/{a.enemys_name}-{uuid.uuid4().hex[:6]}"


def _campaign_of_ours(a: Attack, dress: Dress) -> str:
    return str(dress.start.campaign)


for _as, _make in (("carried", _campaign), ("nonsense", _campaign_of_nonsense), ("new", _new_campaign)):
    started("Campaign", Queue.CONTROL, in_its_own_name, as_=f"Campaign_{_as}_under_an_own_id")(_make)
    started(
        "Campaign", Queue.CONTROL, in_its_own_name, as_=f"Campaign_{_as}_like_ours", like=_campaign_like_ours
    )(_make)
started(
    "Campaign", Queue.CONTROL, by_a_strangers_service, as_="Campaign_like_ours", like=_campaign_like_ours
)(_new_campaign)


# --- holds


async def _hold(a: Attack, dress: Dress) -> Sequence[BaseModel]:
    """For as long as can be, for a holder that does not go away."""
    return (
        Hold(
            zone_id=dress.zone.id,
            holder=a.campaign.id,
            campaign=dress.start.campaign,
            look_every=timedelta(days=365),
        ),
    )


started("ZoneHold", Queue.ZONES, in_its_own_name)(_hold)
started("ZoneHold", Queue.ZONES, in_its_own_name, as_="ZoneHold_like_ours", like=_id_like_ours)(_hold)


@beside
async def a_hold_that_is_let_go_of_by_nobody(a: Attack) -> Trace:
    """What is no message, what a zone is told, and the word itself."""
    dress = await in_its_own_name(a)
    handle = await a.enemy.start_workflow(
        "ZoneHold", args=await _hold(a, dress), id=_id_like_ours(a, dress), task_queue=Queue.ZONES
    )
    for name, message in (("stop", {"by": ENEMY}), ("release", {"by": ENEMY}), ("release", None)):
        with suppress(RPCError):
            await handle.signal(name, message)
    with suppress(WorkflowFailureError, TimeoutError):
        await asyncio.wait_for(handle.result(), A_WHILE)
    await ended(handle)
    return handle


@beside
async def a_zone_that_is_told_to_let_go(a: Attack) -> Trace:
    """As a hold is, by its id, which is the zone's."""
    return await a.say("release", {"by": ENEMY})


# --- quotas


def _quota(a: Attack) -> WorkflowHandle[Any, Any]:
    """The quota of the campaign's user."""
    service = a.stage.play.spec.service
    return a.enemy.get_workflow_handle(quota_id(service.caller(service.credentials[0])))


def _held(a: Attack) -> OpenCircuit:
    reference = a.stage.play.spec.service.credentials[0].reference
    return OpenCircuit(trouble=Trouble.REFUSED, said=ENEMY, credential=reference, since=datetime.now(UTC))


async def _told(handle: WorkflowHandle[Any, Any], name: str, message: object) -> Trace:
    with suppress(RPCError):
        await handle.signal(name, message)
        return handle
    return "refused"


@beside
async def a_quota_that_is_told_to_hold_calls(a: Attack) -> Trace:
    await _told(_quota(a), "hold", HoldCalls(hold=_held(a)))
    return await _told(_quota(a), "hold", HoldCalls(hold=_held(a).model_copy(update={"credential": ENEMY})))


@beside
async def a_quota_that_is_told_that_it_is_refused(a: Attack) -> Trace:
    """For a second; and for longer than can be, which is no message."""
    await _told(_quota(a), "blocked", {"seconds": 1e300, "by": ENEMY})
    return await _told(_quota(a), "blocked", Blocked(seconds=1))


@beside
async def a_quota_that_is_told_that_all_is_well(a: Attack) -> Trace:
    return await _told(_quota(a), "fixed", Fixed(credentials=(ENEMY, _held(a).credential)))


@beside
async def what_is_no_message_to_a_quota(a: Attack) -> Trace:
    for name in ("hold", "blocked", "fixed", "nobody"):
        trace = await _told(_quota(a), name, {"by": {"name": ENEMY}})
    return trace


@beside
async def a_lease_of_slots_by_terms_of_nobodys(a: Attack) -> Trace:
    """A limit beyond all measure; and then the campaign's own, as the next who asks would say it."""
    handle = _quota(a)
    asked: dict[str, Any] = {"holder": ENEMY, "want": 100, "lane": Lane.URGENT}
    for terms in (PaceTerms(limit=1_000_000, window=0.1), terms_of(a.stage.play.spec.scaled())):
        with suppress(WorkflowUpdateFailedError, RPCError):
            await handle.execute_update("lease", LeaseRequest(terms=terms, **asked), rpc_timeout=SOON)
    return handle


@beside
async def a_probe_by_nobody(a: Attack) -> Trace:
    with suppress(WorkflowUpdateFailedError, RPCError):
        await _quota(a).execute_update(
            "probe", AskProbe(credentials=(ENEMY, _held(a).credential)), rpc_timeout=SOON
        )
    return "refused"


async def _starts_quota(a: Attack, identifier: str) -> Trace:
    """With a book that has no slots, and with all calls held."""
    held = _held(a)
    start = QuotaStart(
        user=identifier,
        terms=PaceTerms(limit=10, window=86_400.0),
        circuit=Circuit(holds={held.credential: held}, probe_at=4e9),
    )
    return await lasting(a, "Quota", (start,), identifier, Queue.QUOTA)


async def a_quota_under_an_own_id(a: Attack) -> Trace:
    return await _starts_quota(a, quota_id(f"{ENEMY}/{uuid.uuid4().hex[:8]}"))


async def a_quota_under_the_id_of_ours(a: Attack) -> Trace:
    return await _starts_quota(a, _quota(a).id)


for _work in (a_quota_under_an_own_id, a_quota_under_the_id_of_ours):
    KINDS[_work.__name__] = Kind(_work, beside=True, workflow="Quota")


# --- in the place of what runs


async def _in_the_place(
    enemy: Client, workflow: str, arguments: Sequence[BaseModel | bytes], identifier: str, queue: Queue
) -> WorkflowHandle[Any, Any]:
    """End what runs under this id, and start another there."""
    return await enemy.start_workflow(
        workflow,
        args=list(arguments),
        id=identifier,
        task_queue=queue,
        id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
    )


async def a_zone_in_the_place_of_ours(a: Attack) -> Trace:
    """The zone's workflow is ended, and one of the enemy's takes its id, with state that nobody carried;
    after a while it is ended too. The campaign finds out, and people begin the zone again.
    """
    dress = await in_its_own_name(a)
    handle = await _in_the_place(
        a.enemy, WORKFLOWS[dress.start.area.value], await _carrying(a, dress), a.zone.id, Queue.ZONES
    )
    a.theirs.add(handle.result_run_id or "")
    with suppress(WorkflowFailureError, WorkflowQueryFailedError, TimeoutError, RPCError):
        await asyncio.wait_for(handle.result(), A_WHILE)
    with suppress(RPCError):
        await ended(handle)
    return a.enemy.get_workflow_handle(handle.id, run_id=handle.result_run_id)


for _area, _workflow in WORKFLOWS.items():

    async def _replaced(a: Attack) -> Trace:
        return await a_zone_in_the_place_of_ours(a)

    KINDS[f"{_workflow}_in_the_place_of_ours"] = Kind(_replaced, (_area,), workflow=_workflow)
