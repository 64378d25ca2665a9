"""Which signed start a campaign goes by, and what is of it: messages, and targets. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from edgeshift.authority.roots import Role, Roots
from edgeshift.authority.statements import Attested, StartStatement
from edgeshift.campaign_file.parts import TargetSpec
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import ZoneStart
from edgeshift.model.fleet import ScopeKind, Target, Zone, campaign_id
from edgeshift.model.zone_names import goes_by, is_identifier

_NOT_NAMED = "the campaign's file does not name it"


def start_of(
    spec: CampaignSpec, digest: str | None, starts: Iterable[Attested], roots: Roots, now: datetime
) -> Attested | str:
    """The signed start of the campaign with this specification, the latest first; or why there is none.
    ``digest``: of ``spec``; None for a start of that name with whichever.
    """
    why = _no_start(spec)
    for said in starts:
        if not _starts(said, spec, digest):
            continue
        if refused := roots.refuses(said, Role.STARTER, now):
            why = f"its start does not count: {refused}"
            continue
        return said
    return why


def starts_then(
    spec: CampaignSpec, digest: str, starts: Iterable[Attested], roots: Roots
) -> list[Attested] | str:
    """The signed starts of the campaign with this specification that counted when they were given; or why
    there is none. A key that was revoked since, and a start's end, hold up no rollback.
    """
    why, found, roots = _no_start(spec), list[Attested](), roots.forgiving
    for said in starts:
        if not _starts(said, spec, digest):
            continue
        if refused := roots.refuses(said, Role.STARTER, said.statement.issued):
            why = f"its start did not count: {refused}"
        else:
            found.append(said)
    return found or why


def starts_alike(start: Attested, starts: Iterable[Attested]) -> frozenset[str]:
    """The digests of those starts that have the targets of this one, each in the wave that it has there:
    their list says both.
    """
    return frozenset(said.digest for said, mine, its in _both(start, starts) if mine.targets == its.targets)


def starts_by_file(start: Attested, starts: Iterable[Attested]) -> frozenset[str]:
    """The digests of those starts that go by the same campaign file as this one."""
    return frozenset(said.digest for said, mine, its in _both(start, starts) if mine.spec == its.spec)


def _both(
    start: Attested, starts: Iterable[Attested]
) -> Iterator[tuple[Attested, StartStatement, StartStatement]]:
    mine = start.statement
    for said in starts:
        if isinstance(said.statement, StartStatement) and isinstance(mine, StartStatement):
            yield said, mine, said.statement


def _no_start(spec: CampaignSpec) -> str:
    return f"no start of campaign {spec.name} with this specification was signed"


def _starts(said: Attested, spec: CampaignSpec, digest: str | None) -> bool:
    """Whether a statement is about the start of this campaign with exactly this specification, if any."""
    statement = said.statement
    return (
        isinstance(statement, StartStatement)
        and digest in (None, statement.spec)
        and statement.campaign == spec.name
        and statement.area is spec.area
        and statement.service == spec.service.base_url
    )


def campaign_refused(start: ZoneStart, spec: CampaignSpec) -> str | None:
    """Why a message is not of the campaign whose specification it names, ``spec``; or None. Whoever can reach
    Temporal names any: by that of another campaign its times, targets and decisions would count for this one.
    """
    if start.area is spec.area and start.campaign == campaign_id(spec.name):
        return None
    return "it is of another campaign than its specification"


def not_meant(wanted: TargetSpec, zone: Zone) -> str | None:
    """Why a campaign file does not mean a zone, or an account, that stands in the signed list; or None. The
    list is what a plan made of the file, and whoever signs its digest does not read it. Names of accounts a
    list does not have, but of those that it is of.
    """
    if any(goes_by(name, zone.name, zone.id) for name in wanted.exclude):
        return "the campaign's file excludes it"
    if zone.kind is ScopeKind.ACCOUNT:
        named = any(goes_by(name, zone.name, zone.id) for name in wanted.accounts)
        return None if wanted.all or named else _NOT_NAMED
    if wanted.plans and zone.plan not in wanted.plans:
        return f"the campaign's file does not mean zones of plan {zone.plan.value}"
    if wanted.all or any(goes_by(name, zone.name, zone.id) for name in wanted.include):
        return None
    accounts = wanted.accounts
    return None if zone.account in accounts or not all(map(is_identifier, accounts)) else _NOT_NAMED


def target_refused(
    index: int, target: Target, statement: StartStatement, targets: Sequence[Target]
) -> str | None:
    """Why the zone is none of the signed targets, as it is said to be; or None."""
    if not 0 <= index < len(targets) or targets[index] != target:
        return "it is none of the signed targets, or another than was signed"
    wave = target.wave
    if not 0 <= wave < len(statement.waves):
        return "its wave is none of the signed ones"
    if not statement.waves[wave].first <= index < statement.waves[wave].end:
        return "it is not in its wave, as that was signed"
    return None


def target_foreign(
    start: ZoneStart, spec: CampaignSpec, statement: StartStatement, targets: Sequence[Target]
) -> str | None:
    """Why the target of a message is none of the signed ones, or one that the campaign's file does not mean;
    or None.
    """
    refused = target_refused(start.index, start.target, statement, targets)
    return refused or not_meant(spec.targets, start.target.zone)
