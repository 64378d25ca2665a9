"""What the service says of a scope: its Edge Side Code, the zones it covers (docs/service.md §3.1, §4.1)."""

from __future__ import annotations

from http import HTTPStatus

from activities.boundary import refuse_held
from activities.connections import Connections
from edgeshift.areas import esc
from edgeshift.areas.esc.sendable import sendable
from edgeshift.model.fleet import Plan, ScopeKind, Zone
from edgeshift.model.reasons import Reason
from edgeshift.service_api import (
    EscSetting,
    Forbidden,
    NotUnderstood,
    Outcome,
    RateLimited,
    Refused,
    ServiceClient,
    Unsuccessful,
    of_the_target,
)
from edgeshift.stores.documents import CoveredZones, get_document


def shows(setting: EscSetting) -> tuple[bool, bool]:
    """Whether a setting shows Edge Side Code off; and whether it shows the secret alone, and so neither off
    nor on for certain (docs/service.md §4.1).
    """
    return setting.always is True, setting.always is None and setting.with_secret is not None


async def account_shows(client: ServiceClient, target: Zone) -> tuple[bool, bool]:
    """What ``shows`` says of the setting of a zone's account, which covers all its zones (docs/service.md
    §3.1). Neither where the account's setting may not be read; that it does not tell, where what answers is
    not understood. Raises ServiceError where the service did not answer, or is not to be called for now.
    """
    if target.kind is not ScopeKind.ZONE or not target.account:
        return False, False
    for _ in range(2):
        try:
            return shows(await client.esc(f"accounts/{target.account}"))
        except NotUnderstood as failure:
            # As of a gateway that lets the calls of zones through alone, if it stays.
            refuse_held(failure)
        except (Refused, Unsuccessful) as failure:
            refuse_held(failure)
            # A credential for zones alone need not reach the account: nothing is known of it then. A page of
            # something between says nothing of that either.
            refused = isinstance(failure, Forbidden | Unsuccessful) or failure.refused
            if isinstance(failure, RateLimited) or not refused:
                raise
            return False, False
    return False, True


async def account_is_off(client: ServiceClient, target: Zone) -> bool:
    """Whether a zone's account has Edge Side Code off for all its zones. Raises as ``account_shows``."""
    return (await account_shows(client, target))[0]


async def zones_of(client: ServiceClient, account: Zone) -> list[Zone]:
    """The zones of an account as the service lists them now, by identifier. Raises ServiceError, as
    NotUnderstood where one comes without its account: it may be of this one, and nobody has probed it.
    """
    found = []
    async for zone in client.zones(account=account.id):
        if zone.account is None:
            said = f"{zone.name} is listed without its account"
            raise NotUnderstood(said, call="zones.list", outcome=Outcome.READ)
        if zone.account.id == account.id:
            plan = Plan.of(zone.plan.legacy_id if zone.plan else None)
            found.append(Zone(id=zone.id, name=zone.name, account=account.id, plan=plan))
    return sorted(found, key=lambda zone: zone.id)


async def covered_zones(connections: Connections, target: Zone, covered: str) -> list[Zone]:
    """The zones that a target stands for: itself, or those of the archived list."""
    if target.kind is ScopeKind.ZONE:
        return [target]
    return list((await get_document(connections.archive, CoveredZones, covered)).root)


async def read_scope(
    connections: Connections, client: ServiceClient, target: Zone, covered: str, *, urgent: bool = False
) -> tuple[esc.Reading, Reason | None]:
    """What a scope has, and why nothing can be done with it any more, or None. Past the removal date the
    service may refuse the reading itself, and before it that of a scope that is not to have Edge Side Code.
    ``urgent``: it is about to be changed. Raises ServiceError.
    """
    try:
        setting = await client.esc(target.scope, urgent=urgent)
    except Refused as refusal:
        refuse_held(refusal)
        if gone := esc.too_late(connections.time_at(client), client.profile):
            return esc.Reading(covered=covered), gone
        if refusal.status == HTTPStatus.BAD_REQUEST and of_the_target(refusal):
            return esc.Reading(covered=covered, refused=refusal.answer[:200]), None
        raise
    secret = setting.with_secret.get_secret_value() if setting.with_secret else None
    off, alone = shows(setting)
    found = esc.Reading(
        always=off,
        secret=esc.whose(secret),
        covered=covered,
        told=not alone,
        sendable=not secret or sendable(secret),
    )
    return found, None
