"""Checks of what one area's campaigns stand on beside the rest, as the area says. Each by really using it;
nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from edgeshift.areas import area_of
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.doctor.check import Check, State, ok
from edgeshift.doctor.parts import DOCTOR
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import Plan, Zone
from edgeshift.runtime.queues import Queue
from edgeshift.service_api import ServiceClient, ServiceError
from edgeshift.service_api.zones import ZONES_A_PAGE

LOOKED_THROUGH = 500
"""Zones that are looked through for one of the right plan."""

MOST_NAMED = 5
"""Zones that a check names."""


@dataclass(frozen=True)
class Reached:
    """What a credential reaches. ``zone``: one that has an account, Enterprise if the area needs that and
    there is one; ``seen``: how many zones were looked through; ``without``: those of them that are listed
    without their account, and ``meant``: those of these that the targets name, or may name.
    """

    zone: Zone | None
    seen: int
    without: tuple[str, ...]
    meant: tuple[str, ...]


async def reached(client: ServiceClient, spec: CampaignSpec) -> Reached:
    """What the credential reaches, of the first zones that it lists: until a zone is found, and to the end of
    that page, which costs no other call. Raises ServiceError.
    """
    first: Zone | None = None
    found: Zone | None = None
    seen, without, meant = 0, list[str](), list[str]()
    async for listed in client.zones():
        seen += 1
        plan = Plan.of(listed.plan.legacy_id if listed.plan else None)
        if listed.account is None:
            without.append(listed.name)
            # Any account may be its.
            if spec.targets.takes({listed.id, listed.name}, plan, in_account=bool(spec.targets.accounts)):
                meant.append(listed.name)
        elif found is None:
            zone = Zone(id=listed.id, name=listed.name, account=listed.account.id, plan=plan)
            first = first or zone
            if not area_of(spec.area).enterprise_only or plan is Plan.ENTERPRISE:
                found = zone
        if seen >= LOOKED_THROUGH or (found is not None and seen % ZONES_A_PAGE == 0):
            break
    return Reached(found or first, seen, tuple(without), tuple(meant))


def check_accounts(name: str, found: Reached) -> list[Check]:
    """That zones are listed without their account which the targets name, or may name, if there are such:
    unless another credential lists them with it, the plan ends by them.
    """
    if not found.meant:
        return []
    number = len(found.meant)
    of, have = counted(found.seen, "zone"), agreed(number, "is", "are")
    said = f"{number} of the first {of} {have} listed without {agreed(number, 'its', 'their')} account:"
    more = ", …" if number > MOST_NAMED else ""
    fix = f"targets mean {agreed(number, 'it', 'them')}, or may: leave {agreed(number, 'it', 'them')} out"
    return [
        Check(
            CheckCode.CREDENTIAL_ZONES,
            f"zones of {name}",
            State.WARNING,
            f"{said} {', '.join(found.meant[:MOST_NAMED])}{more}",
            f"{fix} by targets.exclude; `edgeshift plan` fails else",
        )
    ]


async def check_permissions(client: ServiceClient, spec: CampaignSpec, name: str, zone: Zone) -> Check:
    """What the credential may read of one zone, by reading it."""
    code = CheckCode.CREDENTIAL
    area, part = area_of(spec.area), DOCTOR.of(spec.area)
    refused = []
    for what, read in part.readings(client, spec, zone).items():
        try:
            await read()
        except ServiceError as problem:
            now = client.service_time() or datetime.now(UTC)
            if area.too_late and area.too_late(now, spec.service.facts):
                # That is said by the area's own check of its date.
                continue
            refused.append(f"{what} ({problem.status or 'no answer'})")
    if refused:
        said = f"works, but cannot read of {zone.name}: {', '.join(refused)}"
        return Check(code, name, State.WARNING, said, part.rights)
    if area.enterprise_only and zone.plan is not Plan.ENTERPRISE:
        said = f"works, but reaches no Enterprise zone among the first {LOOKED_THROUGH}"
        what = spec.area.value.replace("-", " ")
        return Check(code, name, State.WARNING, said, f"{what} are for Enterprise zones: check the targets")
    return ok(code, name, f"works; reads zones such as {zone.name} (writing is not tried)")


async def check_rights(
    client: ServiceClient, spec: CampaignSpec, name: str, zone: Zone, served: Sequence[Queue] | None
) -> Check:
    """Whether the credential may do what the worker of this machine needs, and no more, by what the service
    lists of it with a zone; nothing is written. ``served``: the task queues of that worker; None where none
    are named, as where people type.
    """
    code, name, part = CheckCode.CREDENTIAL_RIGHTS, f"rights of {name}", DOCTOR.of(spec.area)
    listed = (await client.zone(zone.id)).permissions
    edits = sorted(one for one in listed if one.endswith(":edit"))
    if not listed:
        return Check(code, name, State.SKIPPED, "the service does not list what the credential may do")
    may = f"may edit ({', '.join(edits)})" if edits else "may only read"
    if served is None:
        # Whatever it is for: this machine may be no worker's.
        return ok(code, name, f"{may}; a worker that serves {Queue.CHANGES.short} needs one that may edit")
    if Queue.CHANGES in served:
        if part.edits and f"{part.edits}:edit" not in listed:
            said = f"{may}, and not {part.edits}:edit: a worker with it makes no change"
            return Check(code, name, State.FAILED, said, part.rights)
        return ok(code, name, f"{may}, as a worker that makes changes has to")
    if edits:
        queues = ", ".join(queue.short for queue in served)
        said = f"{may}, and this machine's worker makes no change (it serves {queues})"
        return Check(
            code, name, State.WARNING, said, "give it a credential of the same user that may only read"
        )
    return ok(code, name, f"{may}, as is enough for a worker that makes no change")


async def check_area(client: ServiceClient, spec: CampaignSpec, zone: Zone) -> list[Check]:
    """What the area needs beside permissions."""
    return await DOCTOR.of(spec.area).checks(client, spec, zone)
