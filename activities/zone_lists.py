"""What the credentials of a campaign list: hundreds of pages each, of which none is to cost the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.boundary import KNOWN, LONGEST, hold_of, named
from activities.connections import Connections
from activities.stable_read import twice
from edgeshift.campaign_file.spec import CampaignSpec, CredentialSpec
from edgeshift.model.counts import agreed, counted
from edgeshift.model.failures import FAILURES, kind_of
from edgeshift.model.fleet import Plan, Zone
from edgeshift.rate_limit.circuit import OpenCircuit
from edgeshift.service_api import (
    ConnectionRefused,
    Misconfigured,
    NotUnderstood,
    NoTurn,
    OddPages,
    RateLimited,
    ServiceCircuitOpen,
    ServiceClient,
    ServiceError,
)
from edgeshift.service_api.caller import Again
from edgeshift.service_api.prefix import without_prefix


@dataclass(frozen=True)
class WithoutAccount:
    """A zone that the service lists without its account: no campaign can take it."""

    id: str
    name: str
    plan: Plan


@dataclass(frozen=True)
class Listed:
    """What a credential lists. ``zones``: each with the name of its account."""

    zones: tuple[tuple[Zone, str], ...]
    without: tuple[WithoutAccount, ...]


PAUSES_OF_A_PAGE = (0.2, 1.0, 3.0)
"""Seconds after which a page that failed is read again."""

PAUSES_OF_A_LIST = (1.0, 5.0, 20.0)
"""Seconds after which a credential's list begins again where others have theirs, which would be lost."""


@dataclass
class Address:
    """Whether the service is where a client looks for it. ``proved``: it has listed a zone there, so that its
    address is in question no more.
    """

    proved: bool = False

    def lacks_prefix(self, client: ServiceClient, failure: ServiceError) -> Misconfigured | None:
        """The error of an address without its prefix, where a failure fits that; else None."""
        return None if self.proved else without_prefix(client.base_url, failure)


async def listed(client: ServiceClient, again: Again | None = None, address: Address | None = None) -> Listed:
    """The zones of a credential. ``address``: what other looks have proved of it. Raises ServiceError, and
    Misconfigured where the service's address lacks its prefix: trying again does not help then.
    """
    found, without = list[tuple[Zone, str]](), list[WithoutAccount]()
    address = address or Address()
    try:
        async for zone in client.zones(again=again):
            address.proved = True
            plan = Plan.of(zone.plan.legacy_id if zone.plan else None)
            if zone.account is None:
                without.append(WithoutAccount(zone.id, zone.name, plan))
                continue
            made = Zone(id=zone.id, name=zone.name, account=zone.account.id, plan=plan)
            found.append((made, zone.account.name))
    except ServiceError as failure:
        raise address.lacks_prefix(client, failure) or failure from None
    return Listed(tuple(found), tuple(without))


async def listed_by_all(
    connections: Connections,
    digest: str,
    spec: CampaignSpec,
    is_over: Callable[[OpenCircuit], Awaitable[bool]],
) -> list[tuple[ServiceClient, Listed]]:
    """What each credential lists, side by side: one whose user is out of turns, or that is refused, keeps no
    other from it, and one that fails begins its own list again. ``is_over``: whether calls go on that are
    held since before, which is found out here where nothing else waits for it. Raises what the first of them
    failed by, those before the others for which trying again is no use; it names all that failed.
    """
    credentials = spec.service.credentials
    pauses = PAUSES_OF_A_LIST if len(credentials) > 1 else ()
    addresses: list[Address] = []

    async def once(client: ServiceClient, address: Address) -> Listed:
        try:
            return await _alike(connections, client, address)
        except ServiceCircuitOpen as held:
            if not await is_over(held.hold):
                raise
        return await _alike(connections, client, address)

    async def by(credential: CredentialSpec) -> tuple[ServiceClient, Listed]:
        address = Address()
        addresses.append(address)
        for pause in (*pauses, None):
            client = connections.client(digest, spec, credential)
            try:
                return client, await once(client, address)
            except ServiceError as failure:
                # Where nobody has had a zone, no list is lost: whoever plans hears soon that nobody is there.
                no_one = isinstance(failure, ConnectionRefused) and not any(one.proved for one in addresses)
                if pause is None or no_one or _is_final(failure):
                    raise
                activity.logger.info("listing the zones of %s again: %s", credential.reference, failure)
            await connections.clock.sleep(pause)
        raise AssertionError("the last try has returned")

    made = await asyncio.gather(*map(by, credentials), return_exceptions=True)
    failed = {
        credential.reference: failure
        for credential, failure in zip(credentials, made, strict=True)
        if isinstance(failure, BaseException)
    }
    if failed:
        raise _of_all(failed, len(credentials))
    return [found for found in made if not isinstance(found, BaseException)]


async def _alike(connections: Connections, client: ServiceClient, address: Address) -> Listed:
    """The list, alike twice in a row. One that does not fit what it says of itself, as where a zone comes or
    goes meanwhile, is a look like any other, and alike none.
    """

    async def again(failure: ServiceError, tried: int) -> None:
        no_use = _is_final(failure) or address.lacks_prefix(client, failure)
        # For a turn, and for the end of a block, whoever has nothing else to wait for waits longer.
        if tried > len(PAUSES_OF_A_PAGE) or no_use or isinstance(failure, NoTurn | RateLimited):
            raise failure
        activity.logger.info("reading a page again: %s", failure)
        await connections.clock.sleep(PAUSES_OF_A_PAGE[tried - 1])

    odd: OddPages | None = None

    async def look() -> Listed | OddPages:
        nonlocal odd
        try:
            odd = None
            return await listed(client, again, address)
        except OddPages as why:
            odd = why
            return why

    try:
        agreed = await twice("zones.list", look)
    except NotUnderstood as differs:
        raise odd or differs from None
    assert isinstance(agreed, Listed), "no failure is alike another"
    return agreed


def _is_final(failure: ServiceError) -> bool:
    """Whether there is no sense in asking again before somebody has fixed something."""
    kind = kind_of(type(failure))
    return hold_of(failure) is not None or (kind is not None and FAILURES[kind].tries is not None)


def _of_all(failed: Mapping[str, BaseException], count: int) -> BaseException:
    """The failure that stands for those of several credentials, by reference; of ``count`` in all."""
    each = {name: named(why) if isinstance(why, KNOWN) else why for name, why in failed.items()}

    def is_final(why: BaseException) -> bool:
        return isinstance(why, ApplicationError) and why.non_retryable

    first = min(each.values(), key=lambda why: not is_final(why))
    if count == 1 or not isinstance(first, ApplicationError):
        return first
    causes: dict[str, list[str]] = {}
    for name, why in each.items():
        # Some name their credential themselves.
        causes.setdefault(str(getattr(why, "message", why)).removeprefix(f"{name}: "), []).append(name)
    words = [f"{', '.join(names)}: {cause}" for cause, names in causes.items()]
    if len(causes) == 1 and len(failed) == count:
        # All of them, by one cause: none of them is to blame.
        words = list(causes)
    zones = agreed(len(failed), "cannot list its zones", "cannot list their zones")
    said = f"{len(failed)} of {counted(count, 'credential')} {zones}: {'; '.join(words)}"
    return ApplicationError(
        said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…",
        *first.details,
        type=first.type,
        non_retryable=first.non_retryable,
        next_retry_delay=first.next_retry_delay,
    )
